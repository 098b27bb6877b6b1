// CallableFlowInvoke, CallableFlowAsyncInvoke and CallableFlowAsyncResponse: the side that calls
// (spec C7).
#include "base/clock.h"
#include "flow/errors_gen.h"
#include "nodes/callable/callable_flow_async_invoke_properties_gen.h"
#include "nodes/callable/callable_flow_async_response_properties_gen.h"
#include "nodes/callable/callable_flow_invoke_properties_gen.h"
#include "nodes/callable/callable_flows.h"
#include "nodes/callable/calling.h"
#include "nodes/callable/errors_gen.h"
#include "nodes/common/async_requests.h"
#include "nodes/common/http_observe.h"
#include "nodes/common/input_run.h"
#include "nodes/common/tree_codec.h"
#include "parsers/headers/properties.h"

namespace millstream::nodes::callable {
namespace {

bool is_of_callee(const base::Error& error) { return error.code == &errors::kCallFailed; }

template <typename Properties>
CallPlan plan_of(const Properties& p) {
  return {p.target_application, p.target_endpoint_name, p.request_timeout,
          static_cast<CallPreference>(p.call_preference)};
}

Status no_callable_flows(const CallPlan& plan) {
  return base::make_error(errors::kUnknownTarget, {plan.application, plan.endpoint,
                                                   "this process does not run callable flows"});
}

class CallableFlowInvoke final : public flow::Node {
 public:
  CallableFlowInvoke(const CallableFlowInvokeProperties& properties, CallableFlows* flows)
      : planned_(plan_of(properties)), flows_(flows) {}

  Status evaluate(flow::Invocation& invocation, const tree::MessageAssembly& in, int) override {
    Result<CallMessage> reply = call(invocation, in);
    if (!reply.ok()) {
      if (!is_of_callee(reply.error()) || !is_wired(kError)) return std::move(reply).take_status();
      flow::label_error(reply.error(), *this);
      return invocation.propagate(*this, kError,
                                  invocation.with_exception(*this, in, reply.error()));
    }
    tree::MessageAssembly out = in;
    out.root = reply.value().root;
    out.local_environment = reply.value().local_environment;
    // This flow may have been called itself: its own reply goes to its own caller.
    set_reply_identifier(invocation.context(), out.local_environment,
                         find_reply_identifier(in.local_environment));
    return invocation.propagate(*this, kOut, out);
  }

 private:
  static constexpr int kError = 1;
  static constexpr int kOut = 2;

  Result<CallMessage> call(flow::Invocation& invocation, const tree::MessageAssembly& in) {
    const CallPlan plan = choose_call(planned_, in.local_environment);
    if (!flows_) return no_callable_flows(plan);
    MS_TRY(complete_message(invocation.context(), in.root));
    const uint32_t depth = invocation.call_depth + 1;
    MS_TRY(check_depth(plan, depth));
    CallRoute route = MS_TRY(find_route(*flows_, plan));
    return call_with_trees(*flows_, plan, std::move(route), depth,
                           common::trace_to_pass_on(invocation, *this), invocation.context(), in);
  }

  const CallPlan planned_;
  CallableFlows* const flows_;
};

// What a reply to an asynchronous call is handed to.
class CallableResponder : public common::AsyncResponder {
 public:
  // In a fiber. `reply` is encoded.
  virtual void receive(const common::AsyncRequest& request, Result<std::string> reply) = 0;
};

class CallableFlowAsyncInvoke final : public flow::Node {
 public:
  CallableFlowAsyncInvoke(const CallableFlowAsyncInvokeProperties& properties,
                          const common::Application& application, CallableFlows* flows,
                          common::AsyncRequests* requests)
      : planned_(plan_of(properties)),
        correlator_(properties.async_response_correlator),
        application_(application),
        flows_(flows),
        requests_(requests) {}

  Status evaluate(flow::Invocation& invocation, const tree::MessageAssembly& in, int) override {
    const CallPlan plan = choose_call(planned_, in.local_environment);
    if (!flows_ || !requests_) return no_callable_flows(plan);
    const uint32_t depth = invocation.call_depth + 1;
    MS_TRY(check_depth(plan, depth));
    tree::Element* const trees[] = {in.root, in.local_environment};
    std::string bytes;
    MS_TRY(common::encode_trees(invocation.context(), trees, bytes));
    CallRoute route = MS_TRY(find_route(*flows_, plan));
    std::shared_ptr<common::AsyncRequest> pending = MS_TRY(requests_->begin(
        common::AsyncKind::kCallable, application_, correlator_, *this, invocation, in));
    pending->set_trace(common::trace_to_pass_on(invocation, *this));
    net::Reactor::current()->spawn([&flows = *flows_, plan, route = std::move(route), depth,
                                    bytes = std::move(bytes), pending]() mutable {
      Result<std::string> reply =
          call_with_bytes(flows, plan, std::move(route), depth, pending->trace(), std::move(bytes));
      flow::FlowHold hold;
      auto responder = std::static_pointer_cast<CallableResponder>(pending->responder(hold));
      responder->receive(*pending, std::move(reply));
    });
    return invocation.propagate(*this, kOut, in);
  }

 private:
  static constexpr int kOut = 1;
  const CallPlan planned_;
  const std::string correlator_;
  const common::Application& application_;
  CallableFlows* const flows_;
  common::AsyncRequests* const requests_;
};

class CallableFlowAsyncResponse final : public flow::Node {
 public:
  CallableFlowAsyncResponse(CallableFlowAsyncResponseProperties properties,
                            const common::Application& application, common::AsyncRequests* requests)
      : properties_(std::move(properties)), application_(application), requests_(requests) {}

  Status evaluate(flow::Invocation&, const tree::MessageAssembly&, int) override { return {}; }
  Status start() override {
    if (!requests_) return {};
    responder_ = std::make_shared<Responder>(*this);
    return requests_->add(common::AsyncKind::kCallable, application_,
                          properties_.async_response_correlator, full_label(), responder_);
  }
  void stop() override {
    if (responder_) requests_->remove(responder_.get());
  }

 private:
  static constexpr int kError = 1;

  class Responder final : public CallableResponder {
   public:
    explicit Responder(CallableFlowAsyncResponse& node) : node_(node) {}
    flow::Flow& flow() const override { return node_.flow(); }
    void receive(const common::AsyncRequest& request, Result<std::string> reply) override {
      node_.receive(request, std::move(reply));
    }

   private:
    CallableFlowAsyncResponse& node_;
  };

  void receive(const common::AsyncRequest& request, Result<std::string> reply) {
    // The server is stopping: no flow may handle that.
    if (!reply.ok() && !flow::is_catchable(reply.error())) return;
    common::InputRun run(flow());
    run.invocation().call_depth = request.call_depth();
    common::continue_trace(run.invocation(), request.trace());
    Status status = run_reply(request, std::move(reply), run);
    if (!status.ok()) common::log_input_exception(*this, std::move(status));
  }

  Status run_reply(const common::AsyncRequest& request, Result<std::string> reply,
                   common::InputRun& run) {
    tree::TreeContext& context = run.context();
    flow::Invocation& invocation = run.invocation();
    tree::MessageAssembly message = run.arena().make_assembly();
    Status status = make_message(request, reply, context, message);
    tree::Element* family = tree::ensure_child(context, message.environment,
                                               common::async_family(common::AsyncKind::kCallable));
    tree::set_child(context, family, "CorrelationID",
                    value::Value::make_blob(request.identifier()));
    if (status.ok()) return invocation.run_from_input(*this, message, reply.value().size());
    if (is_of_callee(status.error()) && is_wired(kError)) {
      flow::label_error(status.error(), *this);
      return invocation.run_branch_from_input(
          *this, kError, invocation.with_exception(*this, message, status.error()));
    }
    return invocation.run_failure_from_input(*this, message, std::move(status), 0);
  }

  // The reply, or an empty message when there is none; the context of the request in both cases.
  Status make_message(const common::AsyncRequest& request, Result<std::string>& reply,
                      tree::TreeContext& context, tree::MessageAssembly& message) {
    Status status;
    if (reply.ok()) {
      Result<std::vector<tree::Element*>> trees = common::decode_trees(context, reply.value());
      if (trees.ok() && trees.value().size() == 2 && trees.value()[0] && trees.value()[1]) {
        message.root = trees.value()[0];
        message.local_environment = trees.value()[1];
      } else if (!trees.ok()) {
        status = std::move(trees).take_status();
      }
    } else {
      status = std::move(reply).take_status();
    }
    if (!tree::first_child(message.root)) {
      parsers::headers::PropertiesInput properties;
      properties.creation_time_micros = base::system_clock().wall_gmt_micros();
      parsers::headers::make_properties(context, message.root, properties);
    }
    set_reply_identifier(context, message.local_environment, {});
    Status restored = common::restore_async_context(common::AsyncKind::kCallable, request.context(),
                                                    context, message);
    return status.ok() ? std::move(restored) : std::move(status);
  }

  const CallableFlowAsyncResponseProperties properties_;
  const common::Application& application_;
  common::AsyncRequests* const requests_;
  std::shared_ptr<Responder> responder_;
};

}  // namespace

Result<std::unique_ptr<flow::Node>> create_callable_flow_invoke(flow::NodeBuildContext& context) {
  CallableFlowInvokeProperties properties = MS_TRY(
      read_callable_flow_invoke_properties(context.definition.properties, context.diagnostics));
  return std::unique_ptr<flow::Node>(
      new CallableFlowInvoke(properties, context.services.find<CallableFlows>()));
}

Result<std::unique_ptr<flow::Node>> create_callable_flow_async_invoke(
    flow::NodeBuildContext& context) {
  CallableFlowAsyncInvokeProperties properties = MS_TRY(read_callable_flow_async_invoke_properties(
      context.definition.properties, context.diagnostics));
  return std::unique_ptr<flow::Node>(new CallableFlowAsyncInvoke(
      properties, *context.services.find<common::Application>(),
      context.services.find<CallableFlows>(), context.services.find<common::AsyncRequests>()));
}

Result<std::unique_ptr<flow::Node>> create_callable_flow_async_response(
    flow::NodeBuildContext& context) {
  CallableFlowAsyncResponseProperties properties =
      MS_TRY(read_callable_flow_async_response_properties(context.definition.properties,
                                                          context.diagnostics));
  return std::unique_ptr<flow::Node>(new CallableFlowAsyncResponse(
      std::move(properties), *context.services.find<common::Application>(),
      context.services.find<common::AsyncRequests>()));
}

}  // namespace millstream::nodes::callable
