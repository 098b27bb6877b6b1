// The counters of flows as metrics. Flows come and go with redeployments: what ended flows counted
// is kept for those that follow under the same name, so that counters never go back.
// Thread: any, not at once.
#pragma once
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/metrics.h"
#include "flow/flow.h"

namespace millstream::observe {

struct NodeMetrics {
  std::string label, type;
  uint64_t invocations = 0;
};

// Of all flows of one name.
struct FlowMetrics {
  flow::FlowTotals totals;
  std::vector<NodeMetrics> nodes;
  size_t in_flight = 0, instances_max = 0, flows = 0;

  // What `flow` counted so far; a flow that has ended is not in flight.
  void add(const flow::Flow& flow, bool has_ended);
};

using FlowKey = std::pair<std::string, std::string>;  // application, flow
using FlowMetricsMap = std::map<FlowKey, FlowMetrics>;

void write_flow_metrics(const FlowMetricsMap& flows, base::MetricWriter& writer);

}  // namespace millstream::observe
