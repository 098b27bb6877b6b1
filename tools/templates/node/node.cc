// @NAME@: src/nodes/@FAMILY@/@SNAKE@.yaml describes it.
#include <memory>
#include <utility>

#include "flow/invocation.h"
#include "flow/node.h"
#include "nodes/@FAMILY@/@SNAKE@_properties_gen.h"

namespace millstream::nodes::@FAMILY@ {
namespace {

// Output terminals, in the order of the record.
constexpr int k@PASCAL@Out = 0;

class @PASCAL@ final : public flow::Node {
 public:
  explicit @PASCAL@(@PASCAL@Properties properties) : properties_(std::move(properties)) {}

  Status evaluate(flow::Invocation& invocation, const tree::MessageAssembly& in, int) override {
    return invocation.propagate(*this, k@PASCAL@Out, in);
  }

 private:
  @PASCAL@Properties properties_;
};

}  // namespace

Result<std::unique_ptr<flow::Node>> create_@SNAKE@(flow::NodeBuildContext& context) {
  auto properties =
      MS_TRY(read_@SNAKE@_properties(context.definition.properties, context.diagnostics));
  std::unique_ptr<flow::Node> node = std::make_unique<@PASCAL@>(std::move(properties));
  return node;
}

}  // namespace millstream::nodes::@FAMILY@
