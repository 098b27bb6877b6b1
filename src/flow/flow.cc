#include "flow/flow.h"

#include <algorithm>
#include <charconv>

#include "flow/errors_gen.h"
#include "flow/node_registry.h"

namespace millstream::flow {

const NodeType* NodeRegistry::find(std::string_view xmi_type) const {
  for (const NodeType& t : types_) {
    if (xmi_type == t.xmi_type) return &t;
  }
  return nullptr;
}

int Node::find_output(std::string_view terminal) const {
  for (size_t i = 0; i < output_names_.size(); ++i) {
    if (output_names_[i] == terminal) return static_cast<int>(i);
  }
  return -1;
}

const std::string* FlowDefinition::find_user_defined(size_t scope,
                                                     std::string_view property) const {
  while (true) {
    for (const UserDefinedProperty& p : scopes[scope].user_defined) {
      if (p.name == property) return &p.value;
    }
    if (scope == 0) return nullptr;
    scope = scopes[scope].parent;
  }
}

Node* Flow::find_label(std::string_view label, const Node& from) const {
  for (size_t scope = from.scope();; scope = scope_parents_[scope]) {
    for (const LabelEntry& e : labels_) {
      if (e.scope == scope && e.label == label) return e.node;
    }
    if (scope == 0) break;
  }
  Node* found = nullptr;
  for (const LabelEntry& e : labels_) {
    if (e.label != label) continue;
    if (found) return nullptr;
    found = e.node;
  }
  return found;
}

Node* Flow::find_node(std::string_view label) const {
  for (const auto& node : nodes_) {
    if (node->label() == label) return node.get();
  }
  return nullptr;
}

Status Flow::add_label(const std::string& label, Node* node, size_t scope,
                       const std::string& node_label) {
  for (const LabelEntry& e : labels_) {
    if (e.scope == scope && e.label == label) {
      return base::make_error(errors::kDuplicateLabel, {label, e.node_label, node_label});
    }
  }
  labels_.push_back({label, node, scope, node_label});
  return {};
}

Flow::~Flow() {
  if (listener_) listener_->flow_ends(*this);
}

Status Flow::start() {
  if (listener_) listener_->flow_starts(*this);
  is_running_.store(true, std::memory_order_relaxed);
  // Input nodes start last, so that nothing runs before everything is ready.
  for (const bool inputs_only : {false, true}) {
    for (const auto& node : nodes_) {
      if (node->type().is_input != inputs_only) continue;
      MS_TRY(node->start());
    }
  }
  return {};
}

void Flow::stop() {
  is_running_.store(false, std::memory_order_relaxed);
  for (const auto& node : nodes_) node->stop();
  if (listener_) listener_->flow_stops(*this);
}

class FlowBuilder {
 public:
  FlowBuilder(const FlowDefinition& definition, const NodeRegistry& registry,
              const Services& services, const std::shared_ptr<base::NameTable>& names,
              base::Diagnostics& diagnostics)
      : definition_(definition),
        registry_(registry),
        services_(services),
        names_(names),
        diagnostics_(diagnostics),
        flow_(std::make_unique<Flow>()) {}

  std::unique_ptr<Flow> build(const std::string& server_name) {
    const size_t errors_before = diagnostics_.error_count();
    flow_->name_ = definition_.name;
    flow_->application_ = definition_.application;
    flow_->server_name_ = server_name;
    for (const ScopeDefinition& scope : definition_.scopes) {
      flow_->scope_parents_.push_back(scope.parent);
    }
    flow_->names_ = names_;
    for (const NodeDefinition& node : definition_.nodes) add_node(node);
    flow_->instances_ = std::make_unique<Instances>(instance_limit());
    if (diagnostics_.error_count() != errors_before) return nullptr;
    for (const ConnectionDefinition& connection : definition_.connections) connect(connection);
    check_has_input();
    if (diagnostics_.error_count() != errors_before) return nullptr;
    std::vector<size_t> outputs;
    for (const auto& node : flow_->nodes_) outputs.push_back(node->output_count());
    flow_->statistics_ = std::make_unique<Statistics>(std::move(outputs));
    flow_->listener_ = services_.find<FlowListener>();
    return std::move(flow_);
  }

 private:
  size_t instance_limit() {
    const Property* property = definition_.properties.find("additionalInstances");
    if (!property || property->value.empty()) return flow_->has_shared_state_ ? 1 : 0;
    size_t additional = 0;
    const std::string& text = property->value;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), additional);
    if (error != std::errc() || end != text.data() + text.size() || additional > 100'000) {
      diagnostics_.error(
          property->position, "MS1713",
          "additionalInstances is '" + text + "'; it must be a number from 0 to 100000.");
      return 1;
    }
    return additional + 1;
  }

  void add_node(const NodeDefinition& definition) {
    const NodeType* type = registry_.find(definition.type);
    if (!type) {
      Status status =
          base::make_error(errors::kUnknownNodeType, {definition.type, definition.label});
      diagnostics_.error(status.error(), definition.properties.position);
      return;
    }
    NodeBuildContext context{definition, definition_, *flow_, services_, *names_, diagnostics_};
    Result<std::unique_ptr<Node>> node = type->create(context);
    if (!node.ok()) {
      diagnostics_.error(node.error(), definition.properties.position);
      return;
    }
    Node& made = *node.value();
    made.type_ = type;
    made.flow_ = flow_.get();
    made.label_ = definition.label;
    made.full_label_ = definition_.name + "." + definition.label;
    made.id_ = definition.id;
    made.index_ = flow_->nodes_.size();
    made.scope_ = definition.scope;
    for (const char* output : type->outputs) made.output_names_.emplace_back(output);
    for (const std::string& output : definition.dynamic_outputs) {
      made.output_names_.push_back(output);
    }
    made.targets_.resize(made.output_names_.size());
    made.failure_output_ = made.find_output("failure");
    flow_->nodes_.push_back(std::move(node).value());
  }

  void connect(const ConnectionDefinition& connection) {
    Node& source = *flow_->nodes_[connection.source];
    Node& target = *flow_->nodes_[connection.target];
    int output = source.find_output(connection.source_terminal);
    if (output < 0) {
      refuse_terminal(connection, source, "output", connection.source_terminal,
                      source.output_names_);
      return;
    }
    const std::vector<const char*>& inputs = target.type().inputs;
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (connection.target_terminal == inputs[i]) {
        source.targets_[static_cast<size_t>(output)].push_back({&target, static_cast<int>(i)});
        return;
      }
    }
    refuse_terminal(connection, target, "input", connection.target_terminal,
                    std::vector<std::string>(inputs.begin(), inputs.end()));
  }

  void refuse_terminal(const ConnectionDefinition& connection, const Node& node, const char* side,
                       const std::string& terminal, const std::vector<std::string>& known) {
    std::string list;
    for (const std::string& name : known) list += (list.empty() ? "" : ", ") + name;
    if (list.empty()) list = "none";
    Status status = base::make_error(errors::kUnknownTerminal,
                                     {node.label(), node.type().name, side, terminal, list});
    diagnostics_.error(status.error(), connection.position);
  }

  void check_has_input() {
    for (const auto& node : flow_->nodes_) {
      if (node->type().is_input) return;
    }
    Status status = base::make_error(errors::kNoInputNode, {definition_.name});
    diagnostics_.warning({definition_.file, 0, 0}, status.error().code->id, status.error().text);
  }

  const FlowDefinition& definition_;
  const NodeRegistry& registry_;
  const Services& services_;
  const std::shared_ptr<base::NameTable>& names_;
  base::Diagnostics& diagnostics_;
  std::unique_ptr<Flow> flow_;
};

std::unique_ptr<Flow> build_flow(const FlowDefinition& definition, const NodeRegistry& registry,
                                 const Services& services,
                                 const std::shared_ptr<base::NameTable>& names,
                                 const std::string& server_name, base::Diagnostics& diagnostics) {
  return FlowBuilder(definition, registry, services, names, diagnostics).build(server_name);
}

}  // namespace millstream::flow
