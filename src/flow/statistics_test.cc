#include "flow/statistics.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "base/json_value.h"
#include "flow/flow_test_util.h"

namespace millstream::flow {
namespace {

using test::FlowFixture;
using test::FlowText;
namespace json = base::json;

FlowText small_flow() {
  FlowText text;
  text.nodes({{"In", "In"}, {"Say", "A"}, {"Fail", "X"}, {"Say", "H"}});
  text.wires({"In.out -> A", "A.out -> X", "X.failure -> H"});
  return text;
}

json::Value snapshot(Flow& flow, bool resets = false) {
  Result<json::Value> v = json::parse(flow.statistics().snapshot_json(flow, "server", resets));
  REQUIRE(v.ok());
  return v.value().get("WMQIStatisticsAccounting");
}

std::string names_of(const json::Value& object) {
  std::string out;
  for (const json::Member& m : object.members()) out += m.name + " ";
  return out;
}

TEST_CASE("statistics: member names are those of the product, irregular ones too") {
  FlowFixture f;
  REQUIRE(f.build(small_flow()));
  f.run();
  const json::Value record = snapshot(*f.flow);
  CHECK(names_of(record) ==
        "RecordType RecordCode MessageFlow NumberOfThreads ThreadStatistics NumberOfNodes Nodes ");
  CHECK(names_of(record.get("MessageFlow")) ==
        "BrokerLabel BrokerUUID ExecutionGroupName ExecutionGroupUUID MessageFlowName "
        "ApplicationName StartDate StartTime GMTStartTime EndDate EndTime GMTEndTime "
        "TotalElapsedTime MaximumElapsedTime MinimumElapsedTime TotalCPUTime MaximumCPUTime "
        "MinimumCPUTime CPUTimeWaitingForInputMessage ElapsedTimeWaitingForInputMessage "
        "TotalInputMessages TotalSizeOfInputMessages MaximumSizeOfInputMessages "
        "MinimumSizeOfInputMessages NumberOfThreadsInPool TimesMaximumNumberOfThreadsReached "
        "TotalNumberOfMQErrors TotalNumberOfMessagesWithErrors "
        "TotalNumberOfErrorsProcessingMessages "
        "TotalNumberOfTimeOutsWaitingForRepliesToAggregateMessages TotalNumberOfCommits "
        "TotalNumberOfBackouts AccountingOrigin ");
  const json::Value& node = record.get("Nodes").items()[0];
  CHECK(names_of(node) ==
        "Label Type TotalElapsedTime MaximumElapsedTime MinimumElapsedTime TotalCPUTime "
        "MaximumCPUTime MinimumCPUTime CountOfInvocations NumberOfInputTerminals "
        "NumberOfOutputTerminals TerminalStatistics ");
  CHECK(names_of(node.get("TerminalStatistics").items()[0]) == "Label Type CountOfInvocations ");
  CHECK(record.get("RecordType").as_string() == "SnapShot");
  CHECK(record.get("RecordCode").as_string() == "SnapShot");
}

int64_t terminal_count(const json::Value& node, std::string_view terminal) {
  for (const json::Value& t : node.get("TerminalStatistics").items()) {
    if (t.get("Label").as_string() == terminal) return t.get("CountOfInvocations").as_integer();
  }
  return -1;
}

TEST_CASE("statistics: counts of messages, nodes and terminals") {
  FlowFixture f;
  REQUIRE(f.build(small_flow()));
  for (int i = 0; i < 5; ++i) f.run();
  const json::Value record = snapshot(*f.flow);
  const json::Value& flow = record.get("MessageFlow");
  CHECK(flow.get("MessageFlowName").as_string() == "F");
  CHECK(flow.get("ApplicationName").as_string() == "App");
  CHECK(flow.get("BrokerLabel").as_string() == "server");
  CHECK(flow.get("TotalInputMessages").as_integer() == 5);
  CHECK(flow.get("TotalSizeOfInputMessages").as_integer() == 500);
  CHECK(flow.get("MaximumSizeOfInputMessages").as_integer() == 100);
  CHECK(flow.get("MinimumSizeOfInputMessages").as_integer() == 100);
  CHECK(flow.get("TotalNumberOfCommits").as_integer() == 5);
  CHECK(flow.get("TotalNumberOfBackouts").as_integer() == 0);
  CHECK(flow.get("TotalNumberOfMessagesWithErrors").as_integer() == 0);
  CHECK(flow.get("TotalNumberOfErrorsProcessingMessages").as_integer() == 5);  // handled by X
  CHECK(flow.get("StartDate").as_string().size() == 10);
  CHECK(flow.get("StartTime").as_string().size() == 12);
  const auto& nodes = record.get("Nodes").items();
  REQUIRE(nodes.size() == 4);
  for (const json::Value& n : nodes) CHECK(n.get("CountOfInvocations").as_integer() == 5);
  CHECK(terminal_count(nodes[0], "out") == 5);
  CHECK(terminal_count(nodes[0], "catch") == 0);
  CHECK(terminal_count(nodes[1], "in") == 5);
  CHECK(terminal_count(nodes[2], "failure") == 5);
  CHECK(terminal_count(nodes[2], "out") == 0);
  CHECK(terminal_count(nodes[3], "out") == 0);  // not wired: nothing goes there
  CHECK(nodes[0].get("NumberOfOutputTerminals").as_integer() == 4);
}

TEST_CASE("statistics: messages that nobody handled") {
  FlowFixture f;
  FlowText text;
  text.nodes({{"In", "In"}, {"Fail", "X"}});
  text.wires({"In.out -> X"});
  REQUIRE(f.build(text));
  f.run();
  f.run();
  const json::Value flow = snapshot(*f.flow).get("MessageFlow");
  CHECK(flow.get("TotalNumberOfCommits").as_integer() == 0);
  CHECK(flow.get("TotalNumberOfBackouts").as_integer() == 2);
  CHECK(flow.get("TotalNumberOfMessagesWithErrors").as_integer() == 2);
  CHECK(flow.get("TotalNumberOfErrorsProcessingMessages").as_integer() == 2);
}

TEST_CASE("statistics: node times are taken when asked for") {
  FlowFixture f;
  REQUIRE(f.build(small_flow()));
  f.run();
  auto timed = [&] {
    uint64_t count = 0;
    for (size_t i = 0; i < 4; ++i) count += f.flow->statistics().node(i).elapsed_us.count.get();
    return count;
  };
  CHECK(timed() == 0);
  f.flow->statistics().set_node_data_level(NodeDataLevel::kBasic);
  f.run();
  CHECK(timed() == 3);  // all but the input node
}

TEST_CASE("statistics: a reset begins a new interval") {
  FlowFixture f;
  REQUIRE(f.build(small_flow()));
  f.run();
  CHECK(snapshot(*f.flow, true).get("MessageFlow").get("TotalInputMessages").as_integer() == 1);
  CHECK(snapshot(*f.flow).get("MessageFlow").get("TotalInputMessages").as_integer() == 0);
  f.run();
  CHECK(snapshot(*f.flow).get("MessageFlow").get("TotalInputMessages").as_integer() == 1);
}

TEST_CASE("statistics: shards of several threads add up") {
  FlowFixture f;
  REQUIRE(f.build(small_flow()));
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 1000; ++i) {
        f.flow->statistics().flow().input_bytes.record(static_cast<uint64_t>(t * 1000 + i));
        f.flow->statistics().node(1).invocations.add(1);
      }
    });
  }
  for (std::thread& t : threads) t.join();
  const json::Value record = snapshot(*f.flow);
  CHECK(record.get("MessageFlow").get("TotalInputMessages").as_integer() == 4000);
  CHECK(record.get("MessageFlow").get("MinimumSizeOfInputMessages").as_integer() == 0);
  CHECK(record.get("MessageFlow").get("MaximumSizeOfInputMessages").as_integer() == 3999);
  CHECK(record.get("Nodes").items()[1].get("CountOfInvocations").as_integer() == 4000);
}

TEST_CASE("statistics: records taken while others count lose nothing") {
  FlowFixture f;
  REQUIRE(f.build(small_flow()));
  constexpr uint64_t kEach = 200'000;
  std::atomic<int> running{3};
  std::atomic<uint64_t> records{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&] {
      FlowCounters& counters = f.flow->statistics().flow();
      for (uint64_t i = 0; i < kEach; ++i) {
        counters.input_bytes.record(7);
        counters.commits.add();
        // Half of it waits for a record to be taken, so that they meet however threads are run.
        if (i == kEach / 2) records.wait(0);
      }
      --running;
    });
  }
  uint64_t messages = 0, bytes = 0, commits = 0;
  auto take = [&] {
    const StatisticsTotals t = f.flow->statistics().take(StatisticsReader::kSnapshot, true);
    messages += t.flow.input_bytes.count;
    bytes += t.flow.input_bytes.total;
    commits += t.flow.commits;
    ++records;
    records.notify_all();
  };
  while (running > 0) take();
  for (std::thread& t : threads) t.join();
  take();
  CHECK(records > 1);
  CHECK(messages == 3 * kEach);
  CHECK(bytes == 7 * 3 * kEach);
  CHECK(commits == 3 * kEach);
  CHECK(f.flow->statistics().totals().flow.commits == 3 * kEach);
}

TEST_CASE("statistics: snapshots and archives have intervals and extremes of their own") {
  FlowFixture f;
  REQUIRE(f.build(small_flow()));
  Statistics& statistics = f.flow->statistics();
  auto snapshot_of = [&] { return statistics.take(StatisticsReader::kSnapshot, true).flow; };
  auto record = [&](uint64_t bytes) { statistics.flow().input_bytes.record(bytes); };
  record(50);
  record(10);
  FlowTotals first = snapshot_of();
  CHECK(first.input_bytes.maximum == 50);
  CHECK(first.input_bytes.minimum == 10);
  FlowTotals idle = snapshot_of();
  CHECK(idle.input_bytes.count == 0);
  CHECK(idle.input_bytes.maximum == 0);
  CHECK(idle.input_bytes.minimum == 0);
  record(20);
  FlowTotals third = snapshot_of();
  CHECK(third.input_bytes.maximum == 20);
  CHECK(third.input_bytes.minimum == 20);
  record(30);
  const FlowTotals archive = statistics.take(StatisticsReader::kArchive, true).flow;
  CHECK(archive.input_bytes.count == 4);
  CHECK(archive.input_bytes.total == 110);
  CHECK(archive.input_bytes.maximum == 50);
  CHECK(archive.input_bytes.minimum == 10);
  CHECK(snapshot_of().input_bytes.minimum == 30);
  CHECK(statistics.take(StatisticsReader::kArchive, true).flow.input_bytes.count == 0);
}

TEST_CASE("statistics: what a record says of nodes and threads is a matter of the level") {
  FlowFixture f;
  REQUIRE(f.build(small_flow()));
  f.run();
  const StatisticsTotals totals = f.flow->statistics().take(StatisticsReader::kArchive, false);
  RecordOptions options;
  options.reader = StatisticsReader::kArchive;
  options.code = "MajorInterval";
  auto record_at = [&](NodeDataLevel level, bool has_threads) {
    options.node_level = level;
    options.has_threads = has_threads;
    auto v = json::parse(statistics_json(*f.flow, totals, options));
    REQUIRE(v.ok());
    return v.value().get("WMQIStatisticsAccounting");
  };
  const json::Value none = record_at(NodeDataLevel::kNone, false);
  CHECK(none.get("RecordType").as_string() == "Archive");
  CHECK(none.get("RecordCode").as_string() == "MajorInterval");
  CHECK(none.get("Nodes").size() == 0);
  CHECK(none.get("NumberOfNodes").as_integer() == 0);
  const json::Value basic = record_at(NodeDataLevel::kBasic, true);
  CHECK(basic.get("Nodes").size() == 4);
  CHECK(!basic.get("Nodes").items()[0].find("TerminalStatistics"));
  REQUIRE(basic.get("ThreadStatistics").size() == 1);
  CHECK(basic.get("NumberOfThreads").as_integer() == 1);
  CHECK(names_of(basic.get("ThreadStatistics").items()[0]) ==
        "Number TotalNumberOfInputMessages TotalElapsedTime TotalCPUTime "
        "CPUTimeWaitingForInputMessage ElapsedTimeWaitingForInputMessage "
        "TotalSizeOfInputMessages MaximumSizeOfInputMessages MinimumSizeOfInputMessages ");
}

TEST_CASE("statistics: CSV lines have as many fields as their headers") {
  FlowFixture f;
  REQUIRE(f.build(small_flow()));
  f.run();
  RecordOptions options;
  options.server_name = "a, \"b\"";
  options.has_threads = true;
  StatisticsCsv lines;
  append_statistics_csv(*f.flow, f.flow->statistics().totals(), options, lines);
  const StatisticsCsv& headers = statistics_csv_headers();
  CHECK(headers.flow.substr(0, 34) == "RecordType,RecordCode,BrokerLabel,");
  CHECK(lines.flow.substr(0, 33) == "SnapShot,SnapShot,\"a, \"\"b\"\"\",,\"a,");
  auto fields = [](const std::string& text) {
    size_t count = 1;
    bool is_quoted = false;
    for (const char c : text.substr(0, text.find('\n'))) {
      if (c == '"') is_quoted = !is_quoted;
      count += c == ',' && !is_quoted;
    }
    return count;
  };
  CHECK(fields(lines.flow) == fields(headers.flow));
  CHECK(fields(lines.nodes) == fields(headers.nodes));
  CHECK(fields(lines.terminals) == fields(headers.terminals));
  CHECK(fields(lines.threads) == fields(headers.threads));
  auto count_lines = [](const std::string& text) {
    return std::count(text.begin(), text.end(), '\n');
  };
  CHECK(count_lines(lines.flow) == 1);
  CHECK(count_lines(lines.nodes) == 4);
  CHECK(count_lines(lines.terminals) > 8);
}

}  // namespace
}  // namespace millstream::flow
