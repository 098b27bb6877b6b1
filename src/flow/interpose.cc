#include "flow/interpose.h"

#include <map>

namespace millstream::flow {
namespace {

const NodeType& tap_type() {
  static const NodeType kType{"Tap", "tap", "Tap", "Tap", {"in"}, {}, false, false, false, nullptr};
  return kType;
}

const NodeType& entrance_type() {
  static const NodeType kType{"Entrance", "entrance", "Entrance", "Entrance", {},
                              {"out"},    false,      false,      false,      nullptr};
  return kType;
}

// Their wiring decides where errors go, so that nothing may be added where nothing is.
bool decides_by_wiring(const std::string& terminal) {
  return terminal == "failure" || terminal == "catch" || terminal == "error" ||
         terminal == "timeout";
}

// In the wiring in place of a node, with its name and its terminals.
class InterposedNode final : public Node {
 public:
  InterposedNode(Interposer& interposer, Node& real) : interposer_(interposer), real_(real) {}
  Status evaluate(Invocation& invocation, const tree::MessageAssembly& in, int input) override {
    return interposer_.evaluate(real_, invocation, in, input);
  }

 private:
  Interposer& interposer_;
  Node& real_;
};

// First at a terminal: sees what leaves it.
class Tap final : public Node {
 public:
  Tap(Interposer& interposer, const Node& from, int output)
      : interposer_(interposer), from_(from), output_(output) {}
  Status evaluate(Invocation& invocation, const tree::MessageAssembly& in, int) override {
    interposer_.propagated(from_, output_, invocation, in);
    return {};
  }

 private:
  Interposer& interposer_;
  const Node& from_;
  const int output_;
};

// Where messages of tests come in.
class Entrance final : public Node {
 public:
  Status evaluate(Invocation&, const tree::MessageAssembly&, int) override { return {}; }
};

}  // namespace

class FlowInterposer {
 public:
  static void interpose(Flow& flow, Interposer& interposer) {
    std::map<const Node*, Node*> stand_ins;
    for (const auto& node : flow.nodes_) {
      auto made = std::make_unique<InterposedNode>(interposer, *node);
      copy_identity(*node, *made);
      stand_ins[node.get()] = made.get();
      flow.interposed_.push_back(std::move(made));
    }
    const size_t tap_index = flow.nodes_.size();
    for (const auto& node : flow.nodes_) {
      for (size_t output = 0; output < node->targets_.size(); ++output) {
        std::vector<Target>& targets = node->targets_[output];
        for (Target& t : targets) t.node = stand_ins[t.node];
        if (targets.empty() && decides_by_wiring(node->output_names_[output])) continue;
        auto tap = std::make_unique<Tap>(interposer, *node, static_cast<int>(output));
        name(*tap, flow, tap_type(), node->label_, tap_index);
        targets.insert(targets.begin(), {tap.get(), 0});
        flow.interposed_.push_back(std::move(tap));
      }
    }
    // The stand-ins' own wiring matters for what the engine does with errors.
    for (auto& [node, stand_in] : stand_ins) stand_in->targets_ = node->targets_;
    for (Flow::LabelEntry& e : flow.labels_) e.node = stand_ins[e.node];
    // Taps and entrances count in entries of their own, which no snapshot shows.
    std::vector<size_t> outputs;
    for (const auto& node : flow.nodes_) outputs.push_back(node->output_count());
    outputs.push_back(1);
    flow.statistics_ = std::make_unique<Statistics>(std::move(outputs));
  }

  static Status enter(Flow& flow, Node& node, int input, Invocation& invocation,
                      const tree::MessageAssembly& assembly) {
    Entrance entrance;
    name(entrance, flow, entrance_type(), node.label_, flow.nodes_.size());
    entrance.output_names_ = {"out"};
    entrance.targets_ = {{{flow.interposed_[node.index_].get(), input}}};
    return invocation.run_branch_from_input(entrance, 0, assembly);
  }

 private:
  static void copy_identity(const Node& from, Node& to) {
    name(to, *from.flow_, *from.type_, from.label_, from.index_);
    to.id_ = from.id_;
    to.scope_ = from.scope_;
    to.failure_output_ = from.failure_output_;
    to.output_names_ = from.output_names_;
  }

  static void name(Node& node, Flow& flow, const NodeType& type, const std::string& label,
                   size_t index) {
    node.type_ = &type;
    node.flow_ = &flow;
    node.label_ = label;
    node.full_label_ = flow.name_ + "." + label;
    node.index_ = index;
  }
};

void interpose(Flow& flow, Interposer& interposer) { FlowInterposer::interpose(flow, interposer); }

Status enter_node(Flow& flow, Node& node, int input, Invocation& invocation,
                  const tree::MessageAssembly& assembly) {
  return FlowInterposer::enter(flow, node, input, invocation, assembly);
}

}  // namespace millstream::flow
