#include "observe/flow_metrics.h"

namespace millstream::observe {
namespace {

using base::MetricType;
using base::MetricWriter;

void add_spread(flow::SpreadTotals& sum, const flow::SpreadTotals& other) {
  sum.count += other.count;
  sum.total += other.total;
}

double seconds_of(uint64_t us) { return static_cast<double>(us) / 1e6; }

struct CounterFamily {
  const char* name;
  const char* help;
  uint64_t (*value)(const FlowMetrics& flow);
};

constexpr CounterFamily kCounters[] = {
    {"millstream_flow_messages_total", "Messages that input nodes took.",
     [](const FlowMetrics& f) { return f.totals.input_bytes.count; }},
    {"millstream_flow_input_bytes_total", "Bytes of these messages.",
     [](const FlowMetrics& f) { return f.totals.input_bytes.total; }},
    {"millstream_flow_messages_with_errors_total", "Messages in which an exception was raised.",
     [](const FlowMetrics& f) { return f.totals.messages_with_errors; }},
    {"millstream_flow_errors_total", "Errors that went to a failure terminal or out of the flow.",
     [](const FlowMetrics& f) { return f.totals.processing_errors; }},
    {"millstream_flow_commits_total", "Units of work that were committed.",
     [](const FlowMetrics& f) { return f.totals.commits; }},
    {"millstream_flow_backouts_total", "Units of work that were rolled back.",
     [](const FlowMetrics& f) { return f.totals.backouts; }},
    {"millstream_flow_instance_waits_total", "Messages that waited for a free instance.",
     [](const FlowMetrics& f) { return f.totals.times_max_instances; }},
};

base::MetricLabels labels_of(const FlowKey& key) {
  return {{"application", key.first}, {"flow", key.second}};
}

void write_durations(const FlowMetricsMap& flows, MetricWriter& w) {
  double bounds[std::size(base::kDurationBoundsUs)];
  for (size_t i = 0; i < std::size(bounds); ++i) bounds[i] = seconds_of(base::kDurationBoundsUs[i]);
  w.family("millstream_flow_duration_seconds", MetricType::kHistogram,
           "Elapsed time of messages in the flow.");
  for (const auto& [key, f] : flows) {
    w.histogram(labels_of(key), bounds, f.totals.durations, seconds_of(f.totals.elapsed_us.total));
  }
}

}  // namespace

void FlowMetrics::add(const flow::Flow& flow, bool has_ended) {
  const flow::StatisticsTotals t = flow.statistics().totals();
  add_spread(totals.elapsed_us, t.flow.elapsed_us);
  add_spread(totals.cpu_us, t.flow.cpu_us);
  add_spread(totals.input_bytes, t.flow.input_bytes);
  totals.messages_with_errors += t.flow.messages_with_errors;
  totals.processing_errors += t.flow.processing_errors;
  totals.commits += t.flow.commits;
  totals.backouts += t.flow.backouts;
  totals.times_max_instances += t.flow.times_max_instances;
  for (size_t i = 0; i < base::kDurationBuckets; ++i) {
    totals.durations[i] += t.flow.durations[i];
  }
  for (size_t i = 0; i < flow.nodes().size(); ++i) {
    const flow::Node& node = *flow.nodes()[i];
    NodeMetrics* found = nullptr;
    for (NodeMetrics& n : nodes) {
      if (n.label == node.label()) found = &n;
    }
    if (!found) {
      found = &nodes.emplace_back();
      found->label = node.label();
      found->type = node.type().name;
    }
    found->invocations += t.nodes[i].invocations;
  }
  if (has_ended) return;
  ++flows;
  in_flight += flow.instances().in_use();
  instances_max = flow.instances().limit();
}

void write_flow_metrics(const FlowMetricsMap& flows, MetricWriter& w) {
  for (const CounterFamily& c : kCounters) {
    w.family(c.name, MetricType::kCounter, c.help);
    for (const auto& [key, f] : flows) w.sample(labels_of(key), c.value(f));
  }
  w.family("millstream_flow_cpu_seconds_total", MetricType::kCounter,
           "CPU time of messages in the flow.");
  for (const auto& [key, f] : flows) w.sample(labels_of(key), seconds_of(f.totals.cpu_us.total));
  w.family("millstream_flow_messages_in_flight", MetricType::kGauge,
           "Messages that are in the flow now.");
  for (const auto& [key, f] : flows) w.sample(labels_of(key), static_cast<uint64_t>(f.in_flight));
  w.family("millstream_flow_instances_max", MetricType::kGauge,
           "Messages that may be in the flow at once; 0: no limit of its own.");
  for (const auto& [key, f] : flows) {
    w.sample(labels_of(key), static_cast<uint64_t>(f.instances_max));
  }
  write_durations(flows, w);
  w.family("millstream_node_invocations_total", MetricType::kCounter, "Messages that nodes took.");
  for (const auto& [key, f] : flows) {
    for (const NodeMetrics& n : f.nodes) {
      base::MetricLabels labels = labels_of(key);
      labels.emplace_back("node", n.label);
      labels.emplace_back("type", n.type);
      w.sample(labels, n.invocations);
    }
  }
}

}  // namespace millstream::observe
