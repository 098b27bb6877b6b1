// Which nodes, terminals and lines of ESQL the tests have reached, summed up over all of them.
// Thread: any.
#pragma once
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "base/json_value.h"
#include "esql/line_hits.h"
#include "flowtest/flow_probe.h"

namespace millstream::flowtest {

using esql::LineHits;

class Coverage {
 public:
  // What one test has reached. Files below `folder` are shown as below `shown`.
  void add(const FlowProbe& probe, const LineHits& hits, const std::string& folder,
           const std::string& shown);
  bool is_empty() const { return flows_.empty() && files_.empty(); }

  std::string table() const;
  base::json::Value json() const;
  std::string lcov() const;

 private:
  struct Terminal {
    bool is_wired = false;
    uint64_t count = 0;
  };
  struct Node {
    std::string type;
    bool is_input = false;
    uint64_t count = 0;
    std::map<std::string, Terminal> terminals;
  };
  std::mutex mutex_;
  std::map<std::string, std::map<std::string, Node>> flows_;  // "application/flow", label
  std::map<std::string, std::map<uint32_t, uint64_t>> files_;
};

}  // namespace millstream::flowtest
