#include "flow/invocation.h"

#include <doctest/doctest.h>

#include "flow/flow_test_util.h"
#include "net/reactor_pool.h"

namespace millstream::flow {
namespace {

using test::FlowFixture;
using test::FlowText;

TEST_CASE("invocation: everything wired to a terminal runs, in order, to its end") {
  FlowFixture f;
  FlowText text;
  text.nodes({{"In", "In"}, {"Say", "A"}, {"Say", "A1"}, {"Say", "B"}, {"Say", "C"}});
  text.wires({"In.out -> B", "In.out -> A", "A.out -> A1", "In.out -> C", "A1.out -> C"});
  REQUIRE(f.build(text));
  CHECK(f.run() == "B A A1 C C");
}

TEST_CASE("invocation: an exception in one branch keeps the later ones from running") {
  FlowFixture f;
  FlowText text;
  text.nodes({{"In", "In"}, {"Say", "A"}, {"Fail", "X"}, {"Say", "B"}});
  text.wires({"In.out -> A", "In.out -> X", "In.out -> B"});
  REQUIRE(f.build(text));
  CHECK(f.run() == "A X => F.X:1998");
}

TEST_CASE("invocation: a wired failure terminal handles the node's own exception") {
  FlowFixture f;
  FlowText text;
  text.nodes({{"In", "In"}, {"Fail", "X"}, {"Errors", "E"}, {"Say", "B"}});
  text.wires({"In.out -> X", "X.failure -> E", "In.out -> B"});
  REQUIRE(f.build(text));
  CHECK(f.run() == "X [F.X:2230>F.X:1998] B");
}

TEST_CASE("invocation: a failure terminal upstream does not see exceptions from further down") {
  FlowFixture f;
  FlowText text;
  text.nodes({{"In", "In"}, {"Say", "A"}, {"Fail", "X"}, {"Errors", "E"}});
  text.wires({"In.out -> A", "A.out -> X", "A.failure -> E"});
  REQUIRE(f.build(text));
  CHECK(f.run() == "A X => F.X:1998");
}

TEST_CASE("invocation: nodes that rethrow add their BIP2230, on the way up too") {
  FlowFixture f;
  FlowText text;
  text.nodes({{"In", "In"}, {"Rethrow", "R1"}, {"Rethrow", "R2"}, {"Fail", "X"}, {"Errors", "E"}});
  text.wires({"In.out -> R1", "R1.out -> R2", "R2.out -> X", "In.catch -> E"});
  REQUIRE(f.build(text));
  CHECK(f.run() == "X [F.In:2230>F.R1:2230>F.R2:2230>F.X:1998]");
}

TEST_CASE("invocation: catch takes what came from out, and the message counts as handled") {
  FlowFixture f;
  FlowText text;
  text.nodes({{"In", "In"}, {"Join", "J"}, {"Fail", "X"}, {"Errors", "E"}, {"Say", "F"}});
  text.wires({"In.out -> J", "J.out -> X", "In.catch -> E", "In.failure -> F"});
  REQUIRE(f.build(text));
  CHECK(f.run() == "J X [F.In:2230>F.X:1998] commit:J");
}

TEST_CASE("invocation: an exception in the catch path rolls back, then failure is told") {
  FlowFixture f;
  FlowText text;
  text.nodes(
      {{"In", "In"}, {"Join", "J"}, {"Fail", "X"}, {"Fail", "Y"}, {"Errors", "E"}, {"Join", "K"}});
  text.wires({"In.out -> J", "J.out -> X", "In.catch -> Y", "In.failure -> E", "E.out -> K"});
  REQUIRE(f.build(text));
  CHECK(f.run() == "J X Y rollback:J [F.In:2230>F.Y:1998] K commit:K");
}

TEST_CASE("invocation: without catch, rollback and the failure terminal") {
  FlowFixture f;
  FlowText text;
  text.nodes({{"In", "In"}, {"Join", "J"}, {"Fail", "X"}, {"Errors", "E"}});
  text.wires({"In.out -> J", "J.out -> X", "In.failure -> E"});
  REQUIRE(f.build(text));
  CHECK(f.run() == "J X rollback:J [F.In:2230>F.X:1998]");
}

TEST_CASE("invocation: an exception in the failure path comes out, after another rollback") {
  FlowFixture f;
  FlowText text;
  text.nodes({{"In", "In"}, {"Fail", "X"}, {"Join", "J"}, {"Fail", "Y"}});
  text.wires({"In.out -> X", "In.failure -> J", "J.out -> Y"});
  REQUIRE(f.build(text));
  CHECK(f.run() == "X J Y rollback:J => F.Y:1998");
}

TEST_CASE("invocation: TryCatch catches what try threw; what catch throws goes on up") {
  FlowFixture f;
  FlowText text;
  text.nodes({{"In", "In"},
              {"Try", "T"},
              {"Try", "U"},
              {"Fail", "X"},
              {"Errors", "E"},
              {"Fail", "Y"},
              {"Errors", "G"}});
  text.wires(
      {"In.out -> T", "T.try -> U", "U.try -> X", "U.catch -> E", "E.out -> Y", "T.catch -> G"});
  REQUIRE(f.build(text));
  CHECK(f.run() == "X [F.U:2230>F.X:1998] Y [F.T:2230>F.Y:1998]");
}

TEST_CASE("invocation: without a wired catch, TryCatch lets the exception pass") {
  FlowFixture f;
  FlowText text;
  text.nodes({{"In", "In"}, {"Try", "T"}, {"Fail", "X"}, {"Errors", "E"}});
  text.wires({"In.out -> T", "T.try -> X", "T.failure -> E"});
  REQUIRE(f.build(text));
  CHECK(f.run() == "X => F.X:1998");
}

TEST_CASE("invocation: Environment keeps its changes, the other trees are those on entry") {
  FlowFixture f;
  FlowText text;
  text.nodes(
      {{"In", "In"}, {"Mark", "a"}, {"Try", "T"}, {"Mark", "b"}, {"Fail", "X"}, {"Show", "S"}});
  text.wires({"In.out -> a", "a.out -> T", "T.try -> b", "b.out -> X", "T.catch -> S"});
  REQUIRE(f.build(text));
  CHECK(f.run() == "a b X S E.a E.b L.a");
}

TEST_CASE("invocation: a fresh message has an empty exception list and empty Environment") {
  FlowFixture f;
  FlowText text;
  text.nodes({{"In", "In"}, {"Errors", "E"}, {"Show", "S"}, {"Mark", "a"}});
  text.wires({"In.out -> E", "E.out -> S", "S.out -> a"});
  REQUIRE(f.build(text));
  for (int i = 0; i < 3; ++i) CHECK(f.run() == "[] S a");
}

TEST_CASE("invocation: the unit of work commits in the order of joining") {
  FlowFixture f;
  FlowText text;
  text.nodes({{"In", "In"}, {"Join", "a"}, {"Join", "b"}, {"Join", "c"}});
  text.wires({"In.out -> a", "a.out -> b", "b.out -> c"});
  REQUIRE(f.build(text));
  CHECK(f.run() == "a b c commit:a commit:b commit:c");
}

TEST_CASE("invocation: a failed commit rolls back the later ones and says so") {
  FlowFixture f;
  FlowText text;
  text.nodes({{"In", "In"}, {"Join", "a"}, {"Join", "bad"}, {"Join", "c"}});
  text.wires({"In.out -> a", "a.out -> bad", "bad.out -> c"});
  REQUIRE(f.build(text));
  CHECK(f.run() == "a bad c commit:a rollback:c => :1703>:1998");
  PooledArena arena(f.names);
  Invocation invocation(*f.flow, *arena);
  CHECK(invocation.unit_of_work().is_empty());
}

TEST_CASE("invocation: a failing input node and its other terminals end a unit of work too") {
  FlowFixture f;
  FlowText text;
  text.nodes({{"In", "In"}, {"Errors", "E"}, {"Join", "a"}, {"Fail", "X"}});
  text.wires({"In.failure -> E", "E.out -> a", "In.timeout -> a", "In.catch -> X"});
  REQUIRE(f.build(text));
  PooledArena arena(f.names);
  Invocation invocation(*f.flow, *arena);
  const Node& in = *f.flow->find_node("In");
  REQUIRE(invocation
              .run_failure_from_input(in, arena->make_assembly(), base::make_error(test::kOops), 5)
              .ok());
  CHECK(f.recorder.take() == "[F.In:2230>F.In:1998] a commit:a");
  REQUIRE(
      invocation.run_branch_from_input(in, in.find_output("timeout"), arena->make_assembly()).ok());
  CHECK(f.recorder.take() == "a commit:a");
}

TEST_CASE("invocation: labels are entered by name, an unknown one is an exception") {
  FlowFixture f;
  FlowText text;
  text.nodes({{"In", "In"}, {"Label", "L"}, {"Say", "A"}});
  text.wires({"L.out -> A"});
  REQUIRE(f.build(text));
  PooledArena arena(f.names);
  Invocation invocation(*f.flow, *arena);
  const Node& in = *f.flow->find_node("In");
  CHECK(invocation.propagate_to_label(in, "L", arena->make_assembly()).ok());
  CHECK(f.recorder.take() == "L A");
  Status status = invocation.propagate_to_label(in, "l", arena->make_assembly());
  REQUIRE_FALSE(status.ok());
  CHECK(std::string(status.error().code->id) == "BIP4241");
  CHECK(status.error().node_label == "F.In");
}

TEST_CASE("invocation: a loop of connections ends with an exception nobody in it can catch") {
  auto pool = net::ReactorPool::create(1);
  REQUIRE(pool.ok());
  FlowFixture f;
  FlowText text;
  text.nodes({{"In", "In"}, {"Try", "T"}, {"Rethrow", "R"}, {"Errors", "E"}});
  text.wires({"In.out -> T", "T.try -> R", "R.out -> T", "T.catch -> E", "R.failure -> E",
              "In.catch -> E"});
  REQUIRE(f.build(text));
  std::string result;
  std::move(pool).value()->run_on(0, [&] { result = f.run(); });
  CHECK(result.find("E") == std::string::npos);
  CHECK(result.find(":1701") != std::string::npos);
}

TEST_CASE("invocation: errors carry the node they come from, inner ones too") {
  FlowFixture f;
  FlowText text;
  text.nodes({{"In", "In"}, {"Say", "A"}});
  REQUIRE(f.build(text));
  Status status = base::wrap_error(base::make_error(test::kOops), base::make_error(test::kOops));
  status.error().causes[0]->node_label = "F.Other";
  label_error(status.error(), *f.flow->find_node("A"));
  CHECK(status.error().node_label == "F.A");
  CHECK(status.error().node_type == "Say");
  CHECK(status.error().node_name == "id1");
  CHECK(status.error().causes[0]->node_label == "F.Other");
}

}  // namespace
}  // namespace millstream::flow
