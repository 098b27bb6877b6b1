// Statistics records: member names and their order are those of ACE's JSON publications (spec D),
// irregular spellings included. The CSV files have the same fields.
#include <ctime>

#include "base/json_value.h"
#include "flow/flow.h"
#include "flow/statistics.h"

namespace millstream::flow {
namespace {

namespace json = base::json;

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

void set_spread(json::Value& record, const char* what, const SpreadTotals& s) {
  record.set(std::string("Total") + what, s.total);
  record.set(std::string("Maximum") + what, s.maximum);
  record.set(std::string("Minimum") + what, s.minimum);
}

// Time in which threads of the pool had nothing to do.
uint64_t waiting_us(const StatisticsTotals& totals, size_t pool) {
  const auto available =
      static_cast<uint64_t>(std::max<int64_t>(totals.end_us - totals.start_us, 0)) * pool;
  return available > totals.flow.elapsed_us.total ? available - totals.flow.elapsed_us.total : 0;
}

json::Value flow_record(const std::string& name, const std::string& application, size_t pool,
                        const StatisticsTotals& totals, const RecordOptions& options) {
  const FlowTotals& sum = totals.flow;
  const int64_t start = totals.start_us, end = totals.end_us;
  json::Value r = json::Value::object();
  r.set("BrokerLabel", options.server_name);
  r.set("BrokerUUID", "");
  r.set("ExecutionGroupName", options.server_name);
  r.set("ExecutionGroupUUID", "00000000-0000-0000-0000-000000000000");
  r.set("MessageFlowName", name);
  r.set("ApplicationName", application);
  r.set("StartDate", format_time(start, true, "%Y-%m-%d", false));
  r.set("StartTime", format_time(start, true, "%H:%M:%S", true));
  r.set("GMTStartTime", format_time(start, false, "%H:%M:%S", true));
  r.set("EndDate", format_time(end, true, "%Y-%m-%d", false));
  r.set("EndTime", format_time(end, true, "%H:%M:%S", true));
  r.set("GMTEndTime", format_time(end, false, "%H:%M:%S", true));
  set_spread(r, "ElapsedTime", sum.elapsed_us);
  set_spread(r, "CPUTime", sum.cpu_us);
  r.set("CPUTimeWaitingForInputMessage", 0);
  r.set("ElapsedTimeWaitingForInputMessage", waiting_us(totals, pool));
  r.set("TotalInputMessages", sum.input_bytes.count);
  set_spread(r, "SizeOfInputMessages", sum.input_bytes);
  r.set("NumberOfThreadsInPool", static_cast<uint64_t>(pool));
  r.set("TimesMaximumNumberOfThreadsReached", sum.times_max_instances);
  r.set("TotalNumberOfMQErrors", 0);
  r.set("TotalNumberOfMessagesWithErrors", sum.messages_with_errors);
  r.set("TotalNumberOfErrorsProcessingMessages", sum.processing_errors);
  r.set("TotalNumberOfTimeOutsWaitingForRepliesToAggregateMessages", sum.reply_timeouts);
  r.set("TotalNumberOfCommits", sum.commits);
  r.set("TotalNumberOfBackouts", sum.backouts);
  r.set("AccountingOrigin", options.origin);
  return r;
}

json::Value thread_record(const StatisticsTotals& totals, const ThreadTotals& thread,
                          uint64_t number) {
  StatisticsTotals own;  // for the time this thread waited
  own.start_us = totals.start_us;
  own.end_us = totals.end_us;
  own.flow.elapsed_us = thread.elapsed_us;
  json::Value t = json::Value::object();
  t.set("Number", number);
  t.set("TotalNumberOfInputMessages", thread.input_bytes.count);
  t.set("TotalElapsedTime", thread.elapsed_us.total);
  t.set("TotalCPUTime", thread.cpu_us.total);
  t.set("CPUTimeWaitingForInputMessage", 0);
  t.set("ElapsedTimeWaitingForInputMessage", waiting_us(own, 1));
  set_spread(t, "SizeOfInputMessages", thread.input_bytes);
  return t;
}

json::Value terminal_record(std::string_view label, const char* type, uint64_t count) {
  json::Value t = json::Value::object();
  t.set("Label", label);
  t.set("Type", type);
  t.set("CountOfInvocations", count);
  return t;
}

json::Value terminal_records(const Node& node, const NodeTotals& sum) {
  json::Value terminals = json::Value::array();
  for (const char* input : node.type().inputs) {
    terminals.push_back(terminal_record(input, "Input", sum.invocations));
  }
  for (size_t o = 0; o < sum.outputs.size(); ++o) {
    terminals.push_back(
        terminal_record(node.output_name(static_cast<int>(o)), "Output", sum.outputs[o]));
  }
  return terminals;
}

json::Value node_record(const Node& node, const NodeTotals& sum, bool has_terminals) {
  json::Value n = json::Value::object();
  n.set("Label", node.label());
  n.set("Type", node.type().statistics_type);
  set_spread(n, "ElapsedTime", sum.elapsed_us);
  set_spread(n, "CPUTime", sum.cpu_us);
  n.set("CountOfInvocations", sum.invocations);
  n.set("NumberOfInputTerminals", static_cast<uint64_t>(node.type().inputs.size()));
  n.set("NumberOfOutputTerminals", static_cast<uint64_t>(node.output_count()));
  if (has_terminals) n.set("TerminalStatistics", terminal_records(node, sum));
  return n;
}

json::Value record_value(const Flow& flow, const StatisticsTotals& totals,
                         const RecordOptions& options) {
  json::Value threads = json::Value::array();
  if (options.has_threads) {
    for (const ThreadTotals& t : totals.threads) {
      threads.push_back(thread_record(totals, t, threads.size() + 1));
    }
  }
  json::Value nodes = json::Value::array();
  if (options.node_level != NodeDataLevel::kNone) {
    // Counters of a flow under test have one entry more.
    for (size_t i = 0; i < totals.nodes.size() && i < flow.nodes().size(); ++i) {
      nodes.push_back(node_record(*flow.nodes()[i], totals.nodes[i],
                                  options.node_level == NodeDataLevel::kAdvanced));
    }
  }
  const size_t limit = flow.instances().limit();
  json::Value record = json::Value::object();
  record.set("RecordType", options.reader == StatisticsReader::kArchive ? "Archive" : "SnapShot");
  record.set("RecordCode", options.code);
  record.set("MessageFlow", flow_record(flow.name(), flow.application(),
                                        limit ? limit : totals.threads.size(), totals, options));
  record.set("NumberOfThreads", static_cast<uint64_t>(threads.size()));
  record.set("ThreadStatistics", std::move(threads));
  record.set("NumberOfNodes", static_cast<uint64_t>(nodes.size()));
  record.set("Nodes", std::move(nodes));
  return record;
}

// ---------------------------------------------------------------- CSV

void append_csv_field(std::string_view text, std::string& line) {
  if (!line.empty()) line += ',';
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) {
    line += text;
    return;
  }
  line += '"';
  for (const char c : text) {
    if (c == '"') line += '"';
    line += c;
  }
  line += '"';
}

// The members that are values, in their order.
void append_csv_values(const json::Value& object, bool is_header, std::string& line) {
  for (const json::Member& m : object.members()) {
    if (m.value.is_array() || m.value.is_object()) continue;
    if (is_header) {
      append_csv_field(m.name, line);
    } else {
      append_csv_field(
          m.value.is_string() ? m.value.as_string() : std::to_string(m.value.as_integer()), line);
    }
  }
}

// What the lines of nodes, terminals and threads begin with, so that they can be joined.
json::Value key_of(const json::Value& record) {
  json::Value key = json::Value::object();
  for (const char* name : {"RecordType", "RecordCode"}) key.set(name, record.get(name));
  const json::Value& flow = record.get("MessageFlow");
  for (const char* name : {"BrokerLabel", "BrokerUUID", "ExecutionGroupName", "ExecutionGroupUUID",
                           "MessageFlowName", "ApplicationName", "StartDate", "StartTime",
                           "GMTStartTime", "EndDate", "EndTime", "GMTEndTime"}) {
    key.set(name, flow.get(name));
  }
  return key;
}

void append_csv(const json::Value& record, bool is_header, StatisticsCsv& out) {
  const json::Value key = key_of(record);
  auto add = [&](std::string& file, std::initializer_list<const json::Value*> parts) {
    std::string line;
    for (const json::Value* part : parts) append_csv_values(*part, is_header, line);
    file += line + "\n";
  };
  json::Value head = json::Value::object();
  for (const char* name : {"RecordType", "RecordCode"}) head.set(name, record.get(name));
  add(out.flow, {&head, &record.get("MessageFlow")});
  for (const json::Value& node : record.get("Nodes").items()) {
    add(out.nodes, {&key, &node});
    json::Value label = json::Value::object();
    label.set("NodeLabel", node.get("Label"));
    label.set("NodeType", node.get("Type"));
    for (const json::Value& t : node.get("TerminalStatistics").items()) {
      add(out.terminals, {&key, &label, &t});
    }
  }
  for (const json::Value& t : record.get("ThreadStatistics").items()) add(out.threads, {&key, &t});
}

StatisticsCsv make_csv_headers() {
  // A record with one of everything has all field names.
  json::Value node = json::Value::object();
  for (const char* name : {"Label", "Type"}) node.set(name, "");
  set_spread(node, "ElapsedTime", {});
  set_spread(node, "CPUTime", {});
  for (const char* name :
       {"CountOfInvocations", "NumberOfInputTerminals", "NumberOfOutputTerminals"}) {
    node.set(name, 0);
  }
  json::Value terminals = json::Value::array();
  terminals.push_back(terminal_record("", "", 0));
  node.set("TerminalStatistics", std::move(terminals));
  json::Value record = json::Value::object();
  record.set("RecordType", "");
  record.set("RecordCode", "");
  json::Value nodes = json::Value::array();
  nodes.push_back(std::move(node));
  record.set("Nodes", std::move(nodes));
  json::Value threads = json::Value::array();
  threads.push_back(thread_record({}, {}, 1));
  record.set("ThreadStatistics", std::move(threads));
  record.set("MessageFlow", flow_record("", "", 0, {}, {}));
  StatisticsCsv out;
  append_csv(record, /*is_header=*/true, out);
  return out;
}

}  // namespace

std::string statistics_json(const Flow& flow, const StatisticsTotals& totals,
                            const RecordOptions& options) {
  json::Value document = json::Value::object();
  document.set("WMQIStatisticsAccounting", record_value(flow, totals, options));
  return json::write(document);
}

const StatisticsCsv& statistics_csv_headers() {
  static const StatisticsCsv headers = make_csv_headers();
  return headers;
}

void append_statistics_csv(const Flow& flow, const StatisticsTotals& totals,
                           const RecordOptions& options, StatisticsCsv& out) {
  append_csv(record_value(flow, totals, options), /*is_header=*/false, out);
}

}  // namespace millstream::flow
