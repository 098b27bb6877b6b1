// The expectations of a flow test against what the last step did.
// Thread: that of the test, when no step runs.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "flowtest/mxml.h"
#include "flowtest/test_bed.h"
#include "flowtest/test_report.h"

namespace millstream::flowtest {

// What a section should say instead; for --rebaseline.
struct Rewrite {
  const TestSection* section;
  std::string heading;  // whole line; empty: stays
  std::string body;
  bool has_body = false;
};

class FlowChecker {
 public:
  // `usual_flow`: where nodes are looked for first.
  FlowChecker(TestBed& bed, std::vector<TestFailure>& failures, std::vector<Rewrite>& rewrites)
      : bed_(bed), failures_(failures), rewrites_(rewrites) {}
  void check(const FlowAction& action, const StepOutcome& outcome);
  void fail(size_t line, std::string text) { failures_.push_back({line, std::move(text)}); }

 private:
  void dispatch(const FlowAction& action, const StepOutcome& outcome);
  void check_reply(const FlowAction& action, const StepOutcome& outcome);
  void check_calls(const FlowAction& action);
  void check_tree(const FlowAction& action);
  void check_recorded(const FlowAction& action, const Snapshot& found);
  void check_paths(const FlowAction& action);
  void check_backend(const FlowAction& action);
  void check_log(const FlowAction& action);
  void check_load(const FlowAction& action);
  void check_statistics(const FlowAction& action);
  void check_exception(const FlowAction& action, const StepOutcome& outcome);

  void compare_headers(const FlowAction& action, const HttpText& wanted,
                       const std::vector<std::pair<std::string, std::string>>& found);
  // True when equal.
  bool compare_bodies(const FlowAction& action, const std::string& wanted, const std::string& found,
                      std::string_view content_type, const HttpText* around);
  void compare_forests(const FlowAction& action, TextForest wanted, TextForest found);
  bool find_message(const FlowAction& action, Snapshot& out);
  void rewrite(const FlowAction& action, std::string body);

  TestBed& bed_;
  std::vector<TestFailure>& failures_;
  std::vector<Rewrite>& rewrites_;
};

}  // namespace millstream::flowtest
