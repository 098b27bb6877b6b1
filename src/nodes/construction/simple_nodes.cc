// The nodes that only hand the message on: FlowOrder, Passthrough, Input, Output, TryCatch, Throw.
#include "flow/invocation.h"
#include "nodes/common/errors_gen.h"
#include "nodes/construction/errors_gen.h"
#include "nodes/construction/flow_order_properties_gen.h"
#include "nodes/construction/passthrough_properties_gen.h"
#include "nodes/construction/throw_properties_gen.h"
#include "nodes/construction/try_catch_properties_gen.h"

namespace millstream::nodes::construction {
namespace {

// Input, Output, Passthrough: everything to out.
class PassOn final : public flow::Node {
 public:
  Status evaluate(flow::Invocation& invocation, const tree::MessageAssembly& in, int) override {
    return invocation.propagate(*this, 0, in);
  }
};

class FlowOrder final : public flow::Node {
 public:
  Status evaluate(flow::Invocation& invocation, const tree::MessageAssembly& in, int) override {
    MS_TRY(invocation.propagate(*this, kFirst, in));
    return invocation.propagate(*this, kSecond, in);
  }

 private:
  static constexpr int kFirst = 1;
  static constexpr int kSecond = 2;
};

class TryCatch final : public flow::Node {
 public:
  Status evaluate(flow::Invocation& invocation, const tree::MessageAssembly& in, int) override {
    Status status = invocation.propagate(*this, kTry, in);
    if (status.ok() || !is_wired(kCatch) || !flow::is_catchable(status.error())) return status;
    return invocation.propagate(*this, kCatch,
                                invocation.with_exception(*this, in, status.error()));
  }

 private:
  static constexpr int kTry = 1;
  static constexpr int kCatch = 2;
};

class Throw final : public flow::Node {
 public:
  explicit Throw(ThrowProperties properties) : properties_(std::move(properties)) {}

  Status evaluate(flow::Invocation&, const tree::MessageAssembly&, int) override {
    Status status = base::make_error(errors::kThrown, {properties_.message_text, full_label()});
    base::Error& error = status.error();
    error.number = static_cast<int>(properties_.message_number);
    if (!properties_.message_catalog.empty()) error.catalog = properties_.message_catalog;
    error.function = "ThrowNode::evaluate";
    return status;
  }

 private:
  const ThrowProperties properties_;
};

}  // namespace

Result<std::unique_ptr<flow::Node>> create_flow_order(flow::NodeBuildContext& context) {
  MS_TRY(read_flow_order_properties(context.definition.properties, context.diagnostics));
  return std::unique_ptr<flow::Node>(new FlowOrder);
}

Result<std::unique_ptr<flow::Node>> create_passthrough(flow::NodeBuildContext& context) {
  MS_TRY(read_passthrough_properties(context.definition.properties, context.diagnostics));
  return std::unique_ptr<flow::Node>(new PassOn);
}

Result<std::unique_ptr<flow::Node>> create_try_catch(flow::NodeBuildContext& context) {
  MS_TRY(read_try_catch_properties(context.definition.properties, context.diagnostics));
  return std::unique_ptr<flow::Node>(new TryCatch);
}

Result<std::unique_ptr<flow::Node>> create_throw(flow::NodeBuildContext& context) {
  ThrowProperties properties =
      MS_TRY(read_throw_properties(context.definition.properties, context.diagnostics));
  return std::unique_ptr<flow::Node>(new Throw(std::move(properties)));
}

// Input and Output nodes have no properties; what a file writes on them is layout.
Result<std::unique_ptr<flow::Node>> create_input(flow::NodeBuildContext&) {
  return std::unique_ptr<flow::Node>(new PassOn);
}
Result<std::unique_ptr<flow::Node>> create_output(flow::NodeBuildContext&) {
  return std::unique_ptr<flow::Node>(new PassOn);
}

}  // namespace millstream::nodes::construction
