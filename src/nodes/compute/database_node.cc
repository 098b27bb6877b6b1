// Database: a module works on databases, the message goes on unchanged.
#include "nodes/compute/database_properties_gen.h"
#include "nodes/compute/errors_gen.h"
#include "nodes/compute/esql_node.h"

namespace millstream::nodes::compute {
namespace {

class DatabaseNode final : public EsqlNode {
 public:
  Status evaluate(flow::Invocation& invocation, const tree::MessageAssembly& in, int) override;

  Status send(flow::Invocation& invocation, const tree::MessageAssembly& in,
              const esql::PropagateRequest& request) const;
};

class DatabaseNodeHost final : public NodeHost {
 public:
  DatabaseNodeHost(const DatabaseNode& node, flow::Invocation& invocation, const EsqlFacts& facts,
                   const tree::MessageAssembly& in)
      : NodeHost(node, invocation, facts), database_(node), in_(in) {}
  Status propagate(const esql::PropagateRequest& request) override {
    return database_.send(invocation_, in_, request);
  }

 private:
  const DatabaseNode& database_;
  const tree::MessageAssembly& in_;
};

Status DatabaseNode::evaluate(flow::Invocation& invocation, const tree::MessageAssembly& in, int) {
  DatabaseNodeHost host(*this, invocation, facts(), in);
  const esql::Tri result = MS_TRY(run(invocation, host, in, in));
  // FALSE and UNKNOWN: the module has propagated what there was to propagate.
  return result == esql::Tri::kTrue ? invocation.propagate(*this, find_output("out"), in)
                                    : Status();
}

Status DatabaseNode::send(flow::Invocation& invocation, const tree::MessageAssembly& in,
                          const esql::PropagateRequest& request) const {
  tree::MessageAssembly leaving = in;
  if (request.message) leaving.root = request.message;
  if (request.local_environment) leaving.local_environment = request.local_environment;
  if (request.exception_list) leaving.exception_list = request.exception_list;
  if (request.to == esql::PropagateRequest::To::kLabel) {
    return invocation.propagate_to_label(*this, request.name, leaving);
  }
  int output = -1;
  if (request.to == esql::PropagateRequest::To::kTerminalName) {
    output = find_output(request.name);
  } else if (request.number == 0) {
    output = find_output("out");
  } else if (request.number == -1) {
    output = failure_output();
  }
  return is_wired(output) ? invocation.propagate(*this, output, leaving) : Status();
}

}  // namespace

Result<std::unique_ptr<flow::Node>> create_database(flow::NodeBuildContext& context) {
  DatabaseProperties properties =
      MS_TRY(read_database_properties(context.definition.properties, context.diagnostics));
  auto node = std::make_unique<DatabaseNode>();
  MS_TRY(node->bind(context, properties.statement, database_choice(properties)));
  return std::unique_ptr<flow::Node>(std::move(node));
}

}  // namespace millstream::nodes::compute
