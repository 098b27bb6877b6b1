#include "flow/flow.h"

#include <doctest/doctest.h>

#include "flow/flow_test_util.h"

namespace millstream::flow {
namespace {

using test::FlowFixture;
using test::FlowText;

TEST_CASE("flow: what is wrong with a graph is said with its place") {
  FlowFixture f;
  FlowText text;
  text.nodes({{"In", "In"}, {"Say", "A"}});
  text.wires({"In.out -> A", "In.Out -> A", "A.out -> A.In", "A.nothing -> A"});
  CHECK(f.build(text) == nullptr);
  CHECK(f.problems() == "101:7 MS1710; 102:7 MS1710; 103:7 MS1710; ");
  const std::string& said = f.diagnostics.all()[0].text;
  CHECK(said.find("failure, timeout, out, catch") != std::string::npos);
  CHECK(f.diagnostics.all()[1].text.find("input terminal 'In'") != std::string::npos);
}

TEST_CASE("flow: unknown nodes and nodes that cannot be made, all in one go") {
  FlowFixture f;
  FlowText text;
  text.nodes({{"In", "In"}, {"Strange", "X"}});
  text.node("Say", "B").properties.set("bad", {"1", {}, "flow"});
  CHECK(f.build(text) == nullptr);
  CHECK(f.problems() == "11:1 BIP2241; 12:1 MS1998; ");
}

TEST_CASE("flow: dynamic terminals are those the definition names") {
  FlowFixture f;
  FlowText text;
  text.nodes({{"In", "In"}, {"Say", "A"}});
  text.node("Choice", "C").dynamic_outputs = {"Match"};
  text.wires({"In.out -> C", "C.Match -> A"});
  Flow* flow = f.build(text);
  REQUIRE(flow != nullptr);
  const Node* choice = flow->find_node("C");
  CHECK(choice->find_output("Match") == 1);
  CHECK(choice->is_wired(1));
  CHECK(choice->find_output("match") == -1);
  CHECK(choice->failure_output() == 0);
  CHECK_FALSE(choice->is_wired(-1));
  CHECK(choice->full_label() == "F.C");
}

TEST_CASE("flow: one without an input node is only warned about") {
  FlowFixture f;
  FlowText text;
  text.nodes({{"Say", "A"}});
  CHECK(f.build(text) != nullptr);
  CHECK(f.problems() == "0:0 MS1712; ");
  CHECK_FALSE(f.diagnostics.has_errors());
}

TEST_CASE("flow: input nodes start last and everything stops") {
  FlowFixture f;
  FlowText text;
  text.nodes({{"In", "In"}, {"Say", "A"}, {"Say", "B"}});
  REQUIRE(f.build(text) != nullptr);
  REQUIRE(f.flow->start().ok());
  CHECK(f.recorder.take() == "start:A start:B start:In");
  f.flow->stop();
  CHECK(f.recorder.take() == "stop:In stop:A stop:B");
}

TEST_CASE("flow: a label is looked up from the inner flow outwards") {
  FlowFixture f;
  FlowText text;
  text.definition.scopes = {{0, "", {}}, {0, "S1", {}}, {0, "S2", {}}, {1, "S1.T", {}}};
  text.nodes({{"In", "In", 0},
              {"Label", "go", 0},
              {"Label", "go", 1},
              {"Say", "A", 0},
              {"Say", "B", 1},
              {"Say", "C", 2},
              {"Say", "D", 3},
              {"Label", "only", 3}});
  Flow* flow = f.build(text);
  REQUIRE(flow != nullptr);
  auto scope_of = [&](const char* from, const char* label) {
    Node* found = flow->find_label(label, *flow->find_node(from));
    return found ? static_cast<int>(found->scope()) : -1;
  };
  CHECK(scope_of("A", "go") == 0);
  CHECK(scope_of("B", "go") == 1);
  CHECK(scope_of("C", "go") == 0);
  CHECK(scope_of("D", "go") == 1);
  CHECK(scope_of("A", "only") == 3);  // there is only one
  CHECK(scope_of("A", "Only") == -1);
}

TEST_CASE("flow: two labels of one name in one scope are refused") {
  FlowFixture f;
  FlowText text;
  text.nodes({{"In", "In"}, {"Label", "x"}, {"Label", "x"}});
  CHECK(f.build(text) == nullptr);
  CHECK(f.problems() == "12:1 MS1711; ");
}

TEST_CASE("flow: user-defined properties are looked up from the inner scope outwards") {
  FlowDefinition d;
  d.scopes = {{0, "", {{"a", "flow", ""}, {"b", "flow", ""}}}, {0, "S", {{"a", "sub", ""}}}};
  CHECK(*d.find_user_defined(1, "a") == "sub");
  CHECK(*d.find_user_defined(1, "b") == "flow");
  CHECK(*d.find_user_defined(0, "a") == "flow");
  CHECK(d.find_user_defined(1, "c") == nullptr);
}

TEST_CASE("flow: how many messages at once") {
  struct Case {
    const char* additional;  // null: not set
    bool shares;
    size_t limit;
    bool is_good;
  };
  for (const Case& c :
       {Case{nullptr, false, 0, true}, Case{nullptr, true, 1, true}, Case{"", true, 1, true},
        Case{"0", false, 1, true}, Case{"0", true, 1, true}, Case{"4", true, 5, true},
        Case{"-1", false, 0, false}, Case{"x", false, 0, false}, Case{"1x", false, 0, false},
        Case{"100001", false, 0, false}, Case{"100000", false, 100001, true}}) {
    FlowFixture f;
    FlowText text;
    text.nodes({{"In", "In"}});
    if (c.shares) text.node("Say", "A").properties.set("shares", {"1", {}, "flow"});
    if (c.additional) {
      text.definition.properties.set("additionalInstances", {c.additional, {"F", 3, 4}, "flow"});
    }
    CAPTURE(c.additional);
    Flow* flow = f.build(text);
    CHECK((flow != nullptr) == c.is_good);
    if (flow) CHECK(flow->instances().limit() == c.limit);
    if (!flow) CHECK(f.problems() == "3:4 MS1713; ");
  }
}

}  // namespace
}  // namespace millstream::flow
