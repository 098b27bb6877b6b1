#include "flow/statistics.h"

#include <doctest/doctest.h>

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

}  // namespace
}  // namespace millstream::flow
