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
#include "nodes/common/async_response.h"
#include "nodes/common/http_observe.h"
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
      common::hand_over(*pending, plan.endpoint,
                        call_with_bytes(flows, plan, std::move(route), depth, pending->trace(),
                                        std::move(bytes)));
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

class CallableFlowAsyncResponse final : public common::AsyncResponseNode<std::string> {
 public:
  CallableFlowAsyncResponse(const CallableFlowAsyncResponseProperties& properties,
                            const common::Application& application, common::AsyncRequests* requests)
      : AsyncResponseNode(common::AsyncKind::kCallable, properties.async_response_correlator,
                          application, requests) {}

 private:
  static constexpr int kError = 1;

  // The reply is encoded.
  Status run_answer(const common::AsyncRequest& request, const std::string&,
                    Result<std::string> reply, common::InputRun& run) override {
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
  return std::unique_ptr<flow::Node>(
      new CallableFlowAsyncResponse(properties, *context.services.find<common::Application>(),
                                    context.services.find<common::AsyncRequests>()));
}

}  // namespace millstream::nodes::callable
