// What tests came to, and how that is told: lines for people, JSON and JUnit XML for programs.
// Thread: any (no sharing).
#pragma once
#include <string>
#include <vector>

#include "base/json_value.h"

namespace millstream::flowtest {

struct TestFailure {
  size_t line = 0;
  std::string text;               // may have several lines
  bool can_be_rewritten = false;  // by --rebaseline
};

struct TestOutcome {
  std::string file, name;
  size_t line = 0;
  double seconds = 0;
  std::vector<TestFailure> failures;  // none: passed
  std::string log;                    // of a flow test that failed
  bool has_failed() const { return !failures.empty(); }
};

// "file:line: name: what", as compilers write it; with the log of the test behind.
std::string failure_text(const TestOutcome& outcome);
base::json::Value report_json(const std::vector<TestOutcome>& outcomes);
std::string report_junit(const std::vector<TestOutcome>& outcomes);

}  // namespace millstream::flowtest
