// Flows of fake nodes for the engine's tests. What happens is written to Recorder::events, one word
// a step, so that a test compares one string.
//   In      input node: failure, out, catch, timeout
//   Say     writes its label, passes on; out, failure
//   Fail    writes its label, fails with "oops"
//   Rethrow passes on to out and adds BIP2230 when an exception leaves it
//   Try     try and catch, like TryCatch
//   Mark    sets Environment.<label>, replaces LocalEnvironment, passes on
//   Join    enlists a participant named after itself; a label with "bad" fails to commit
//   Errors  writes the chain of the exception list it receives, passes on
//   Wait    suspends until its gate opens, then passes on
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "flow/arena_pool.h"
#include "flow/flow.h"
#include "flow/invocation.h"
#include "flow/node_registry.h"
#include "net/waiting.h"

namespace millstream::flow::test {

inline constexpr base::ErrorCode kOops = {"MS1998", 1998, base::ExceptionKind::kUser,
                                          base::Severity::kError, "oops"};

struct Recorder {
  std::string events;
  net::FiberEvent gate;  // of Wait nodes
  std::vector<std::unique_ptr<Participant>> participants;
  void add(std::string_view event) {
    if (!events.empty()) events += ' ';
    events += event;
  }
  std::string take() { return std::exchange(events, {}); }
};

class FakeNode final : public Node {
 public:
  FakeNode(std::string kind, Recorder& recorder) : kind_(std::move(kind)), recorder_(recorder) {}
  Status evaluate(Invocation& invocation, const tree::MessageAssembly& in, int) override;
  Status start() override {
    recorder_.add("start:" + label());
    return {};
  }
  void stop() override { recorder_.add("stop:" + label()); }

 private:
  void write_errors(const tree::MessageAssembly& in);
  std::string kind_;
  Recorder& recorder_;
};

class FakeParticipant final : public Participant {
 public:
  FakeParticipant(std::string name, Recorder& recorder)
      : name_(std::move(name)), recorder_(recorder) {}
  std::string_view name() const override { return name_; }
  Status commit() override {
    if (name_.find("bad") != std::string::npos) return base::make_error(kOops);
    recorder_.add("commit:" + name_);
    return {};
  }
  void rollback() override { recorder_.add("rollback:" + name_); }

 private:
  std::string name_;
  Recorder& recorder_;
};

inline void FakeNode::write_errors(const tree::MessageAssembly& in) {
  std::string chain;
  tree::Element* e = tree::first_child(in.exception_list);
  while (e) {
    tree::Element* next = nullptr;
    chain += chain.empty() ? "" : ">";
    for (tree::Element* c = tree::first_child(e); c; c = tree::next_sibling(c)) {
      if (c->local_name() == "Number") chain += std::to_string(tree::scalar_value(c).integer);
      if (c->local_name() == "Label") chain += std::string(tree::scalar_value(c).text()) + ":";
      if (c->local_name().find("Exception") != std::string_view::npos) next = c;
    }
    e = next;
  }
  recorder_.add("[" + chain + "]");
}

inline Status FakeNode::evaluate(Invocation& invocation, const tree::MessageAssembly& in, int) {
  tree::TreeContext& context = invocation.context();
  const int out = find_output("out");
  if (kind_ == "Try") {
    Status status = invocation.propagate(*this, find_output("try"), in);
    const int handler = find_output("catch");
    if (status.ok() || !is_wired(handler) || !is_catchable(status.error())) return status;
    return invocation.propagate(*this, handler,
                                invocation.with_exception(*this, in, status.error()));
  }
  if (kind_ == "Errors") {
    write_errors(in);
    return invocation.propagate(*this, out, in);
  }
  if (kind_ != "Rethrow") recorder_.add(label());
  if (kind_ == "Fail") return base::make_error(kOops);
  if (kind_ == "Wait" && recorder_.gate.wait() != net::WakeReason::kWoken)
    return base::make_error(kOops);
  if (kind_ == "Join") {
    recorder_.participants.push_back(std::make_unique<FakeParticipant>(label(), recorder_));
    invocation.unit_of_work().enlist(recorder_.participants.back().get());
    invocation.unit_of_work().enlist(recorder_.participants.back().get());
  }
  if (kind_ == "Mark") {
    tree::set_child(context, in.environment, label(), value::Value::make_integer(1));
    tree::MessageAssembly changed = in;
    changed.local_environment = tree::make_root(context, "LocalEnvironment");
    tree::set_child(context, changed.local_environment, label(), value::Value::make_integer(1));
    return invocation.propagate(*this, out, changed);
  }
  if (kind_ == "Show") {
    for (tree::Element* t : {in.environment, in.local_environment}) {
      for (tree::Element* c = tree::first_child(t); c; c = tree::next_sibling(c)) {
        recorder_.add((t == in.environment ? "E." : "L.") + std::string(c->local_name()));
      }
    }
  }
  return invocation.propagate(*this, out, in);
}

inline Result<std::unique_ptr<Node>> create_fake(NodeBuildContext& context) {
  if (context.definition.properties.find("bad")) return base::make_error(kOops);
  if (context.definition.properties.find("shares")) context.flow.note_shared_state();
  auto* recorder = context.services.find<Recorder>();
  std::unique_ptr<Node> node(new FakeNode(context.definition.type, *recorder));
  if (context.definition.type == "Label") {
    MS_TRY(context.flow.add_label(context.definition.label, node.get(), context.definition.scope,
                                  context.definition.label));
  }
  return node;
}

inline const NodeRegistry& fake_registry() {
  static const NodeRegistry registry = [] {
    std::vector<NodeType> types;
    for (const char* name : {"Say", "Fail", "Rethrow", "Mark", "Show", "Join", "Errors", "Wait"}) {
      NodeType type{name,  name,  name,  name,        {"in"}, {"failure", "out"},
                    false, false, false, &create_fake};
      type.rethrows = type.name == std::string_view("Rethrow");
      types.push_back(type);
    }
    types.push_back({"In",
                     "In",
                     "InNode",
                     "In",
                     {},
                     {"failure", "timeout", "out", "catch"},
                     false,
                     true,
                     false,
                     &create_fake});
    types.push_back(
        {"Label", "Label", "Label", "Label", {}, {"out"}, false, false, false, &create_fake});
    types.push_back({"Try",
                     "Try",
                     "TryNode",
                     "Try",
                     {"in"},
                     {"failure", "try", "catch"},
                     false,
                     false,
                     false,
                     &create_fake});
    types.push_back({"Choice",
                     "Choice",
                     "Choice",
                     "Choice",
                     {"in"},
                     {"failure"},
                     true,
                     false,
                     false,
                     &create_fake});
    return NodeRegistry(std::move(types));
  }();
  return registry;
}

struct FakeNodeSpec {
  std::string type, label;
  size_t scope = 0;
};

// A definition from nodes and "A.out -> B" lines (into terminal in unless stated).
struct FlowText {
  FlowDefinition definition;

  explicit FlowText(std::string name = "F") {
    definition.name = std::move(name);
    definition.application = "App";
    definition.file = definition.name + ".msgflow";
  }
  NodeDefinition& node(std::string type, std::string label, size_t scope = 0) {
    NodeDefinition n;
    n.type = std::move(type);
    n.label = std::move(label);
    n.id = "id" + std::to_string(definition.nodes.size());
    n.scope = scope;
    n.properties.position = {definition.file, static_cast<uint32_t>(10 + definition.nodes.size()),
                             1};
    definition.nodes.push_back(std::move(n));
    return definition.nodes.back();
  }
  FlowText& nodes(std::initializer_list<FakeNodeSpec> list) {
    for (const FakeNodeSpec& n : list) node(n.type, n.label, n.scope);
    return *this;
  }
  FlowText& wires(std::initializer_list<std::string_view> list) {
    for (std::string_view text : list) wire(text);
    return *this;
  }
  void wire(std::string_view text) {
    const size_t arrow = text.find(" -> ");
    const std::string_view from = text.substr(0, arrow), to = text.substr(arrow + 4);
    const size_t dot = from.rfind('.'), to_dot = to.rfind('.');
    ConnectionDefinition c;
    c.source = index_of(from.substr(0, dot));
    c.source_terminal = from.substr(dot + 1);
    c.target = index_of(to.substr(0, to_dot));
    c.target_terminal = to_dot == std::string_view::npos ? "in" : to.substr(to_dot + 1);
    c.position = {definition.file, static_cast<uint32_t>(100 + definition.connections.size()), 7};
    definition.connections.push_back(c);
  }
  size_t index_of(std::string_view label) const {
    for (size_t i = 0; i < definition.nodes.size(); ++i) {
      if (definition.nodes[i].label == label) return i;
    }
    return 0;
  }
};

struct FlowFixture {
  Recorder recorder;
  Services services;
  std::shared_ptr<base::NameTable> names = std::make_shared<base::NameTable>();
  base::Diagnostics diagnostics;
  std::unique_ptr<Flow> flow;

  FlowFixture() { services.set(&recorder); }
  Flow* build(const FlowText& text) {
    flow = build_flow(text.definition, fake_registry(), services, names, "server", diagnostics);
    return flow.get();
  }
  // One message from the input node "In": what happened, and "=> number" when an error came out.
  std::string run() {
    PooledArena arena(names);
    Invocation invocation(*flow, *arena);
    Status status = invocation.run_from_input(*flow->find_node("In"), arena->make_assembly(), 100);
    if (!status.ok()) recorder.add("=> " + chain_of(status.error()));
    return recorder.take();
  }
  static std::string chain_of(const base::Error& error) {
    std::string out;
    for (const base::Error* e = &error; e; e = e->causes.empty() ? nullptr : e->causes[0].get()) {
      out += (out.empty() ? "" : ">") + e->node_label + ":" + std::to_string(e->number);
    }
    return out;
  }
  std::string problems() const {
    std::string out;
    for (const base::Diagnostic& d : diagnostics.all()) {
      out += std::to_string(d.position.line) + ":" + std::to_string(d.position.column) + " " +
             d.code + "; ";
    }
    return out;
  }
};

}  // namespace millstream::flow::test
