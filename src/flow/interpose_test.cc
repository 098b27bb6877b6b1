#include "flow/interpose.h"

#include <doctest/doctest.h>

#include "flow/flow_test_util.h"

namespace millstream::flow {
namespace {

using test::FlowFixture;
using test::FlowText;

// Writes what it sees to the recorder; nodes in `replaced` do not run.
class Watcher final : public Interposer {
 public:
  explicit Watcher(test::Recorder& recorder) : recorder_(recorder) {}
  Status evaluate(Node& node, Invocation& invocation, const tree::MessageAssembly& in,
                  int input) override {
    recorder_.add(">" + node.label());
    if (node.label() == broken) return base::make_error(test::kOops);
    if (node.label() == replaced) return invocation.propagate(node, node.find_output("out"), in);
    return node.evaluate(invocation, in, input);
  }
  void propagated(const Node& from, int output, Invocation&,
                  const tree::MessageAssembly&) override {
    recorder_.add(from.label() + "." + from.output_name(output));
  }
  std::string replaced, broken;

 private:
  test::Recorder& recorder_;
};

FlowText two_says() {
  FlowText text;
  text.nodes({{"In", "In"}, {"Say", "A"}, {"Say", "B"}});
  text.wires({"In.out -> A", "A.out -> B"});
  return text;
}

TEST_CASE("interpose: every node and terminal is seen, in order") {
  FlowFixture f;
  Watcher watcher(f.recorder);
  REQUIRE(f.build(two_says()) != nullptr);
  interpose(*f.flow, watcher);
  CHECK(f.run() == "In.out >A A A.out >B B B.out");
  watcher.replaced = "A";
  CHECK(f.run() == "In.out >A A.out >B B B.out");
}

TEST_CASE("interpose: an error is the node's own, and its wiring decides") {
  FlowFixture f;
  Watcher watcher(f.recorder);
  FlowText text = two_says();
  text.nodes({{"Errors", "C"}});
  text.wires({"B.failure -> C"});
  REQUIRE(f.build(text) != nullptr);
  interpose(*f.flow, watcher);
  watcher.broken = "B";
  CHECK(f.run() == "In.out >A A A.out >B B.failure >C [F.B:2230>F.B:1998] C.out");
  watcher.broken = "A";  // failure is not wired, and watching it must not make it so
  CHECK(f.run() == "In.out >A => F.A:1998");
}

TEST_CASE("interpose: labels lead to what stands for their nodes") {
  FlowFixture f;
  Watcher watcher(f.recorder);
  FlowText text;
  text.nodes({{"In", "In"}, {"Label", "L"}});
  REQUIRE(f.build(text) != nullptr);
  interpose(*f.flow, watcher);
  PooledArena arena(f.names);
  Invocation invocation(*f.flow, *arena);
  REQUIRE(
      invocation.propagate_to_label(*f.flow->find_node("In"), "L", arena->make_assembly()).ok());
  CHECK(f.recorder.take().find(">L") == 0);
}

TEST_CASE("interpose: a message can enter anywhere, with a unit of work of its own") {
  FlowFixture f;
  Watcher watcher(f.recorder);
  FlowText text;
  text.nodes({{"In", "In"}, {"Say", "A"}, {"Join", "J"}, {"Fail", "X"}});
  text.wires({"In.out -> A", "A.out -> J"});
  REQUIRE(f.build(text) != nullptr);
  interpose(*f.flow, watcher);
  PooledArena arena(f.names);
  Invocation invocation(*f.flow, *arena);
  Node& a = *f.flow->find_node("A");
  REQUIRE(enter_node(*f.flow, a, 0, invocation, arena->make_assembly()).ok());
  CHECK(f.recorder.take() == ">A A A.out >J J J.out commit:J");
  Status status =
      enter_node(*f.flow, *f.flow->find_node("X"), 0, invocation, arena->make_assembly());
  REQUIRE_FALSE(status.ok());
  CHECK(f.recorder.take() == ">X X");
}

TEST_CASE("interpose: nodes are counted as before, watching is not") {
  FlowFixture f;
  Watcher watcher(f.recorder);
  REQUIRE(f.build(two_says()) != nullptr);
  interpose(*f.flow, watcher);
  f.run();
  CHECK(f.flow->statistics().node(f.flow->find_node("A")->index()).invocations.get() == 1);
  CHECK(f.flow->statistics().node(f.flow->find_node("B")->index()).invocations.get() == 1);
}

}  // namespace
}  // namespace millstream::flow
