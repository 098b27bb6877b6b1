// CallableInput and CallableReply: the side that is called (spec C7).
#include "base/log.h"
#include "nodes/callable/callable_flows.h"
#include "nodes/callable/callable_input_properties_gen.h"
#include "nodes/callable/callable_reply_properties_gen.h"
#include "nodes/callable/calling.h"
#include "nodes/callable/errors_gen.h"
#include "nodes/common/http_observe.h"
#include "nodes/common/input_run.h"

namespace millstream::nodes::callable {
namespace {

class CallableInput;

// What the table holds on to; calls in flight keep it and, by their hold, the node's flow.
class CallableInputTarget final : public CallableTarget,
                                  public std::enable_shared_from_this<CallableInputTarget> {
 public:
  explicit CallableInputTarget(CallableInput& node) : node_(node) {}
  void start_call(std::shared_ptr<Call> call, flow::FlowHold hold) override;
  flow::Flow& flow() const override;
  std::string node_label() const override;

 private:
  CallableInput& node_;
};

class CallableInput final : public flow::Node {
 public:
  CallableInput(CallableInputProperties properties, const common::Application& application,
                CallableFlows* flows)
      : properties_(std::move(properties)), application_(application), flows_(flows) {}

  Status evaluate(flow::Invocation&, const tree::MessageAssembly&, int) override { return {}; }
  Status start() override {
    if (!flows_) return {};
    target_ = std::make_shared<CallableInputTarget>(*this);
    return flows_->add(application_, properties_.callable_input_endpoint, target_);
  }
  void stop() override {
    if (target_) flows_->remove(target_.get());
  }
  std::string endpoint() const override {
    return "callable:" + application_.name + "/" + properties_.callable_input_endpoint;
  }

  void run(Call& call) {
    common::InputRun run(flow());
    Status status = run_call(call, run);
    if (status.ok()) return;
    Status copy = arrived_error(status.error());
    if (!call.fail(std::move(copy))) common::log_input_exception(*this, std::move(status));
  }

 private:
  Status run_call(Call& call, common::InputRun& run) {
    tree::MessageAssembly message = run.arena().make_assembly();
    if (!MS_TRY(call.take_request(run.context(), message))) return {};
    set_reply_identifier(run.context(), message.local_environment, call.identifier());
    run.invocation().call_depth = call.depth();
    common::continue_trace(run.invocation(), call.trace());
    return run.invocation().run_from_input(*this, message, 0);
  }

  const CallableInputProperties properties_;
  const common::Application& application_;
  CallableFlows* const flows_;
  std::shared_ptr<CallableInputTarget> target_;
};

void CallableInputTarget::start_call(std::shared_ptr<Call> call, flow::FlowHold hold) {
  net::Reactor::current()->spawn([self = shared_from_this(), call = std::move(call),
                                  hold = std::move(hold)] { self->node_.run(*call); });
}
flow::Flow& CallableInputTarget::flow() const { return node_.flow(); }
std::string CallableInputTarget::node_label() const { return node_.label(); }

class CallableReply final : public flow::Node {
 public:
  explicit CallableReply(CallableFlows* flows) : flows_(flows) {}

  Status evaluate(flow::Invocation& invocation, const tree::MessageAssembly& in, int) override {
    const std::string identifier = find_reply_identifier(in.local_environment);
    if (identifier.size() != Call::kIdentifierBytes || !flows_) {
      return base::make_error(
          errors::kNoCaller,
          {"LocalEnvironment.Destination.CallableFlow.ReplyIdentifier is missing"});
    }
    std::shared_ptr<Call> call = flows_->find_call(identifier);
    if (!call) {
      base::log_debug("A reply of node '" + full_label() + "' came after its caller had gone.");
    } else if (!MS_TRY(call->reply(invocation.context(), in))) {
      return base::make_error(errors::kNoCaller, {"it has its reply already"});
    }
    return invocation.propagate(*this, kOut, in);
  }

 private:
  static constexpr int kOut = 1;
  CallableFlows* const flows_;
};

}  // namespace

Result<std::unique_ptr<flow::Node>> create_callable_input(flow::NodeBuildContext& context) {
  CallableInputProperties properties =
      MS_TRY(read_callable_input_properties(context.definition.properties, context.diagnostics));
  return std::unique_ptr<flow::Node>(
      new CallableInput(std::move(properties), *context.services.find<common::Application>(),
                        context.services.find<CallableFlows>()));
}

Result<std::unique_ptr<flow::Node>> create_callable_reply(flow::NodeBuildContext& context) {
  MS_TRY(read_callable_reply_properties(context.definition.properties, context.diagnostics));
  return std::unique_ptr<flow::Node>(new CallableReply(context.services.find<CallableFlows>()));
}

}  // namespace millstream::nodes::callable
