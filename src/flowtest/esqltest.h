// Runs ESQL tests written as text (esqltest_file.h): `millstream test`, and the suite tests/esql.
//
// Every case runs by itself, with a fixed clock (2024-02-29 12:34:56.789012 GMT) and zone
// (Europe/London unless the case states another). Thread: one.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "flowtest/test_report.h"
#include "value/value.h"

namespace millstream::flowtest {

constexpr int64_t kTestClockMicros = 1'709'210'096'789'012;  // 2024-02-29 12:34:56.789012

struct EsqlTestOptions {
  bool rebaseline = false;  // write what was found into the files instead of comparing
  std::string filter;       // only cases whose "file: name" contains this
  bool is_verbose = false;  // a line for each case that passes, too
  // Predeclared constants of other layers (MQ constants).
  std::function<bool(std::string_view, value::Value&)> find_constant;
};

struct EsqlTestSummary {
  size_t passed = 0;  // a line of an `exprs` table counts as a case
  size_t failed = 0;
  size_t rewritten = 0;               // cases whose text has changed, a line of `exprs` each
  std::vector<TestOutcome> outcomes;  // of all of them
};

// `paths`: files, or folders searched for *.esqltest. Reports go to `out` line by line. An error
// means that a file cannot be read or has a wrong format.
Result<EsqlTestSummary> run_esqltests(const std::vector<std::string>& paths,
                                      const EsqlTestOptions& options,
                                      const std::function<void(std::string_view)>& out);

}  // namespace millstream::flowtest
