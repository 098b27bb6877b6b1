// The snapshot record: member names and their order are those of ACE's JSON publications (spec D),
// irregular spellings included.
#include <ctime>

#include "base/json_value.h"
#include "flow/flow.h"
#include "flow/statistics.h"

namespace millstream::flow {
namespace {

namespace json = base::json;

struct SpreadSum {
  uint64_t count = 0, total = 0, maximum = 0, minimum = 0;
  void add(const Spread& s) {
    if (s.count.get() == 0) return;
    const uint64_t low = s.minimum.get() - 1;
    minimum = count == 0 || low < minimum ? low : minimum;
    if (s.maximum.get() > maximum) maximum = s.maximum.get();
    count += s.count.get();
    total += s.total.get();
  }
};

struct NodeSum {
  SpreadSum elapsed, cpu;
  uint64_t invocations = 0;
  std::vector<uint64_t> outputs;
};

struct FlowSum {
  SpreadSum elapsed, cpu, bytes;
  uint64_t with_errors = 0, errors = 0, commits = 0, backouts = 0, timeouts = 0, at_limit = 0;
  std::vector<NodeSum> nodes;
  size_t threads = 0;

  void add(const FlowCounters& f) {
    elapsed.add(f.elapsed_us);
    cpu.add(f.cpu_us);
    bytes.add(f.input_bytes);
    with_errors += f.messages_with_errors.get();
    errors += f.processing_errors.get();
    commits += f.commits.get();
    backouts += f.backouts.get();
    timeouts += f.reply_timeouts.get();
    at_limit += f.times_max_instances.get();
  }
};

void add_node(NodeSum& sum, const NodeCounters& n) {
  sum.elapsed.add(n.elapsed_us);
  sum.cpu.add(n.cpu_us);
  sum.invocations += n.invocations.get();
  sum.outputs.resize(n.outputs.size());
  for (size_t o = 0; o < n.outputs.size(); ++o) sum.outputs[o] += n.outputs[o].get();
}

void reset_spread(Spread& s) {
  for (Counter* c : {&s.count, &s.total, &s.maximum, &s.minimum}) c->set(0);
}

void reset_flow(FlowCounters& f) {
  for (Spread* s : {&f.elapsed_us, &f.cpu_us, &f.input_bytes}) reset_spread(*s);
  for (Counter* c : {&f.messages_with_errors, &f.processing_errors, &f.commits, &f.backouts,
                     &f.reply_timeouts, &f.times_max_instances}) {
    c->set(0);
  }
}

void reset_node(NodeCounters& n) {
  reset_spread(n.elapsed_us);
  reset_spread(n.cpu_us);
  n.invocations.set(0);
  for (Counter& c : n.outputs) c.set(0);
}

std::string format_time(int64_t us, bool is_local, const char* pattern, bool has_millis) {
  time_t seconds = us / 1'000'000;
  tm fields{};
  if (is_local) {
    localtime_r(&seconds, &fields);
  } else {
    gmtime_r(&seconds, &fields);
  }
  char buffer[40];
  std::string out(buffer, strftime(buffer, sizeof buffer, pattern, &fields));
  if (has_millis) {
    char millis[8];
    snprintf(millis, sizeof millis, ".%03d", static_cast<int>(us / 1000 % 1000));
    out += millis;
  }
  return out;
}

void set_spread(json::Value& record, const char* what, const SpreadSum& s) {
  record.set(std::string("Total") + what, s.total);
  record.set(std::string("Maximum") + what, s.maximum);
  record.set(std::string("Minimum") + what, s.minimum);
}

json::Value flow_record(const Flow& flow, const std::string& server_name, const FlowSum& sum,
                        int64_t start, int64_t end) {
  json::Value r = json::Value::object();
  r.set("BrokerLabel", server_name);
  r.set("BrokerUUID", "");
  r.set("ExecutionGroupName", server_name);
  r.set("ExecutionGroupUUID", "00000000-0000-0000-0000-000000000000");
  r.set("MessageFlowName", flow.name());
  r.set("ApplicationName", flow.application());
  r.set("StartDate", format_time(start, true, "%Y-%m-%d", false));
  r.set("StartTime", format_time(start, true, "%H:%M:%S", true));
  r.set("GMTStartTime", format_time(start, false, "%H:%M:%S", true));
  r.set("EndDate", format_time(end, true, "%Y-%m-%d", false));
  r.set("EndTime", format_time(end, true, "%H:%M:%S", true));
  r.set("GMTEndTime", format_time(end, false, "%H:%M:%S", true));
  set_spread(r, "ElapsedTime", sum.elapsed);
  set_spread(r, "CPUTime", sum.cpu);
  r.set("CPUTimeWaitingForInputMessage", 0);
  r.set("ElapsedTimeWaitingForInputMessage", 0);
  r.set("TotalInputMessages", sum.bytes.count);
  set_spread(r, "SizeOfInputMessages", sum.bytes);
  const size_t limit = flow.instances().limit();
  r.set("NumberOfThreadsInPool", static_cast<uint64_t>(limit ? limit : sum.threads));
  r.set("TimesMaximumNumberOfThreadsReached", sum.at_limit);
  r.set("TotalNumberOfMQErrors", 0);
  r.set("TotalNumberOfMessagesWithErrors", sum.with_errors);
  r.set("TotalNumberOfErrorsProcessingMessages", sum.errors);
  r.set("TotalNumberOfTimeOutsWaitingForRepliesToAggregateMessages", sum.timeouts);
  r.set("TotalNumberOfCommits", sum.commits);
  r.set("TotalNumberOfBackouts", sum.backouts);
  r.set("AccountingOrigin", "Anonymous");
  return r;
}

json::Value terminal_record(std::string_view label, const char* type, uint64_t count) {
  json::Value t = json::Value::object();
  t.set("Label", label);
  t.set("Type", type);
  t.set("CountOfInvocations", count);
  return t;
}

json::Value node_record(const Node& node, const NodeSum& sum) {
  json::Value terminals = json::Value::array();
  for (const char* input : node.type().inputs) {
    terminals.push_back(terminal_record(input, "Input", sum.invocations));
  }
  for (size_t o = 0; o < sum.outputs.size(); ++o) {
    terminals.push_back(
        terminal_record(node.output_name(static_cast<int>(o)), "Output", sum.outputs[o]));
  }
  json::Value n = json::Value::object();
  n.set("Label", node.label());
  n.set("Type", node.type().statistics_type);
  set_spread(n, "ElapsedTime", sum.elapsed);
  set_spread(n, "CPUTime", sum.cpu);
  n.set("CountOfInvocations", sum.invocations);
  n.set("NumberOfInputTerminals", static_cast<uint64_t>(node.type().inputs.size()));
  n.set("NumberOfOutputTerminals", static_cast<uint64_t>(node.output_count()));
  n.set("TerminalStatistics", std::move(terminals));
  return n;
}

}  // namespace

std::string Statistics::snapshot_json(const Flow& flow, const std::string& server_name,
                                      bool resets) {
  const int64_t start = start_us_.load();
  const int64_t end = statistics_now_us();
  FlowSum sum;
  sum.nodes.resize(output_counts_.size());
  for (size_t i = 0; i < sum.nodes.size(); ++i) sum.nodes[i].outputs.resize(output_counts_[i]);
  for (auto& slot : shards_) {
    Shard* shard = slot.load(std::memory_order_acquire);
    if (!shard) continue;
    ++sum.threads;
    sum.add(shard->flow);
    for (size_t i = 0; i < sum.nodes.size(); ++i) add_node(sum.nodes[i], shard->nodes[i]);
    if (resets) {
      reset_flow(shard->flow);
      for (NodeCounters& n : shard->nodes) reset_node(n);
    }
  }
  if (resets) start_us_.store(end);

  json::Value nodes = json::Value::array();
  for (size_t i = 0; i < sum.nodes.size(); ++i) {
    nodes.push_back(node_record(*flow.nodes()[i], sum.nodes[i]));
  }
  json::Value record = json::Value::object();
  record.set("RecordType", "SnapShot");
  record.set("RecordCode", "SnapShot");
  record.set("MessageFlow", flow_record(flow, server_name, sum, start, end));
  record.set("NumberOfThreads", 0);
  record.set("ThreadStatistics", json::Value::array());
  record.set("NumberOfNodes", static_cast<uint64_t>(sum.nodes.size()));
  record.set("Nodes", std::move(nodes));
  json::Value document = json::Value::object();
  document.set("WMQIStatisticsAccounting", std::move(record));
  return json::write(document);
}

}  // namespace millstream::flow
