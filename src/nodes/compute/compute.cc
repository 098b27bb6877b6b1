// Compute: a module makes new trees from the message (spec B5, A3 PROPAGATE).
#include "nodes/compute/compute_properties_gen.h"
#include "nodes/compute/errors_gen.h"
#include "nodes/compute/esql_node.h"
#include "parsers/headers/mq_headers.h"
#include "parsers/headers/properties.h"

namespace millstream::nodes::compute {
namespace {

using Mode = ComputeProperties::ComputeMode;

struct Leaving {
  bool message, local_environment, exception_list;
};

Leaving trees_of(Mode mode) {
  switch (mode) {
    case Mode::kMessage:
      return {true, false, false};
    case Mode::kDestination:
      return {false, true, false};
    case Mode::kDestinationAndMessage:
      return {true, true, false};
    case Mode::kException:
      return {false, false, true};
    case Mode::kExceptionAndMessage:
      return {true, false, true};
    case Mode::kExceptionAndDestination:
      return {false, true, true};
    case Mode::kAll:
      return {true, true, true};
  }
  return {true, false, false};
}

// The message as output nodes expect it: Properties is there, and first; MQ headers announce what
// follows them.
void finalise(tree::TreeContext& context, tree::Element* root) {
  tree::Element* first = tree::first_child(root);
  if (!first || first->local_name() != "Properties") {
    if (tree::Element* properties = tree::find_child(root, "Properties")) {
      tree::detach(properties);
      tree::prepend_child(root, properties);
    } else {
      parsers::headers::make_properties(context, root, {});
    }
  }
  parsers::headers::repair_mq_chain(context, root, {});
}

class Compute final : public EsqlNode {
 public:
  Compute(Mode mode, const tree::RootNames& names) : leaving_(trees_of(mode)), names_(names) {}

  Status evaluate(flow::Invocation& invocation, const tree::MessageAssembly& in,
                  int input) override;

  // `request` is null for the implicit propagation after Main.
  Status send(flow::Invocation& invocation, const tree::MessageAssembly& in,
              const tree::MessageAssembly& out, const esql::PropagateRequest& request) const;

 private:
  int output_of(const esql::PropagateRequest& request) const {
    if (request.to == esql::PropagateRequest::To::kTerminalName) return find_output(request.name);
    if (request.number == -1) return failure_output();
    static constexpr const char* kNames[] = {"out", "out1", "out2", "out3", "out4"};
    return request.number >= 0 && request.number <= 4 ? find_output(kNames[request.number]) : -1;
  }

  const Leaving leaving_;
  const tree::RootNames names_;
};

class ComputeHost final : public NodeHost {
 public:
  ComputeHost(const Compute& node, flow::Invocation& invocation, const EsqlFacts& facts,
              const tree::MessageAssembly& in, const tree::MessageAssembly& out)
      : NodeHost(node, invocation, facts), compute_(node), in_(in), out_(out) {}

  Status propagate(const esql::PropagateRequest& request) override {
    return compute_.send(invocation_, in_, out_, request);
  }

 private:
  const Compute& compute_;
  const tree::MessageAssembly& in_;
  const tree::MessageAssembly& out_;
};

Status Compute::evaluate(flow::Invocation& invocation, const tree::MessageAssembly& in, int) {
  tree::TreeContext& context = invocation.context();
  tree::MessageAssembly out;
  out.root = tree::make_element(context, names_.root, tree::kName);
  out.local_environment = tree::make_element(context, names_.local_environment, tree::kName);
  out.exception_list = tree::make_element(context, names_.exception_list, tree::kName);
  out.environment = in.environment;
  ComputeHost host(*this, invocation, facts(), in, out);
  const esql::Tri result = MS_TRY(run(invocation, host, in, out));
  if (result != esql::Tri::kTrue) return {};
  return send(invocation, in, out, {});
}

Status Compute::send(flow::Invocation& invocation, const tree::MessageAssembly& in,
                     const tree::MessageAssembly& out,
                     const esql::PropagateRequest& request) const {
  tree::MessageAssembly leaving = in;
  const bool has_choice = request.message || request.local_environment || request.exception_list;
  if (request.message) leaving.root = request.message;
  if (request.local_environment) leaving.local_environment = request.local_environment;
  if (request.exception_list) leaving.exception_list = request.exception_list;
  if (!has_choice) {
    if (leaving_.message) leaving.root = out.root;
    if (leaving_.local_environment) leaving.local_environment = out.local_environment;
    if (leaving_.exception_list) leaving.exception_list = out.exception_list;
  }
  const bool is_label = request.to == esql::PropagateRequest::To::kLabel;
  const int output = is_label ? -1 : output_of(request);
  if (!is_label && !is_wired(output)) return {};
  if (leaving.root == out.root) {
    if (!tree::first_child(leaving.root)) {
      return base::make_error(errors::kEmptyMessage,
                              {is_label ? request.name : std::string_view(output_name(output))});
    }
    if (request.is_finalized) finalise(invocation.context(), leaving.root);
  }
  return is_label ? invocation.propagate_to_label(*this, request.name, leaving)
                  : invocation.propagate(*this, output, leaving);
}

}  // namespace

Result<std::unique_ptr<flow::Node>> create_compute(flow::NodeBuildContext& context) {
  ComputeProperties properties =
      MS_TRY(read_compute_properties(context.definition.properties, context.diagnostics));
  auto node =
      std::make_unique<Compute>(properties.compute_mode, tree::intern_root_names(context.names));
  MS_TRY(node->bind(context, properties.compute_expression, database_choice(properties)));
  return std::unique_ptr<flow::Node>(std::move(node));
}

}  // namespace millstream::nodes::compute
