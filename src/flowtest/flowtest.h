// Runs flow tests written as text: `millstream test`. Every case runs in a server of its own
// (test_bed.h), as many at once as is asked for; what is reported is in the order of the files.
// Thread: one caller.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "flowtest/coverage.h"
#include "flowtest/test_report.h"

namespace millstream::flowtest {

struct FlowTestOptions {
  bool rebaseline = false;  // write what was found into the files instead of failing
  std::string filter;       // only cases whose "file: name" contains this
  int jobs = 1;
  Coverage* coverage = nullptr;  // null: not measured
};

struct FlowTestSummary {
  std::vector<TestOutcome> outcomes;
  size_t rewritten = 0;  // cases whose text has changed
};

// `on_outcome`: each case, in order, as soon as it and all before it are done. An error means that
// a file cannot be read, written or understood.
Result<FlowTestSummary> run_flowtests(const std::vector<std::string>& files,
                                      const FlowTestOptions& options,
                                      const std::function<void(const TestOutcome&)>& on_outcome);

}  // namespace millstream::flowtest
