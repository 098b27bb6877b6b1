// Filter: a module decides which way the message goes, unchanged.
#include "nodes/compute/esql_node.h"
#include "nodes/compute/filter_properties_gen.h"

namespace millstream::nodes::compute {
namespace {

class Filter final : public EsqlNode {
 public:
  Status evaluate(flow::Invocation& invocation, const tree::MessageAssembly& in, int) override {
    NodeHost host(*this, invocation, facts());
    const esql::Tri result = MS_TRY(run(invocation, host, in, in));
    return invocation.propagate(*this, output_of(result), in);
  }

 private:
  static int output_of(esql::Tri result) {
    switch (result) {
      case esql::Tri::kTrue:
        return 3;
      case esql::Tri::kFalse:
        return 2;
      case esql::Tri::kUnknown:
        return 1;
    }
    return 1;
  }
};

}  // namespace

Result<std::unique_ptr<flow::Node>> create_filter(flow::NodeBuildContext& context) {
  FilterProperties properties =
      MS_TRY(read_filter_properties(context.definition.properties, context.diagnostics));
  auto node = std::make_unique<Filter>();
  MS_TRY(node->bind(context, properties.filter_expression, database_choice(properties)));
  return std::unique_ptr<flow::Node>(std::move(node));
}

}  // namespace millstream::nodes::compute
