#include "nodes/callable/calling.h"

#include <charconv>

#include "flow/errors_gen.h"
#include "nodes/callable/errors_gen.h"
#include "nodes/common/tree_codec.h"
#include "text/utf8.h"
#include "tree/edit.h"

namespace millstream::nodes::callable {
namespace {

using value::Value;

constexpr int64_t kTimeoutSecondsMax = 2'147'483;
constexpr const char* kReplyIdentifier = "ReplyIdentifier";

tree::Element* find_in_any_case(tree::Element* parent, std::string_view name) {
  for (tree::Element* e = parent ? tree::first_child(parent) : nullptr; e;
       e = tree::next_sibling(e)) {
    if (text::equals_ignoring_ascii_case(e->local_name(), name)) return e;
  }
  return nullptr;
}

tree::Element* call_folder(tree::Element* local_environment) {
  tree::Element* destination = tree::find_child(local_environment, "Destination");
  return destination ? tree::find_child(destination, "CallableFlow") : nullptr;
}

void override_text(tree::Element* folder, const char* name, std::string& out) {
  tree::Element* e = find_in_any_case(folder, name);
  if (!e) return;
  const Value v = tree::scalar_value(e);
  if (v.kind == value::Kind::kCharacter && !v.text().empty()) out = v.text();
}

void override_seconds(tree::Element* folder, const char* name, int64_t& out) {
  tree::Element* e = find_in_any_case(folder, name);
  if (!e) return;
  const Value v = tree::scalar_value(e);
  int64_t seconds = -1;
  if (v.kind == value::Kind::kInteger) seconds = v.integer;
  if (v.kind == value::Kind::kCharacter) {
    const std::string_view t = v.text();
    const auto [end, error] = std::from_chars(t.data(), t.data() + t.size(), seconds);
    // Something that is no number must not change the time-out.
    if (error != std::errc() || end != t.data() + t.size()) seconds = -1;
  }
  if (seconds >= 0 && seconds <= kTimeoutSecondsMax) out = seconds;
}

Status call_error(const CallPlan& plan, Status cause) {
  return base::wrap_error(base::make_error(errors::kCallFailed, {plan.application, plan.endpoint}),
                          std::move(cause));
}

// Starts a call in this server and waits; the call is done or given up afterwards.
Status run_local(CallableFlows& flows, const CallPlan& plan, CallRoute route,
                 const std::shared_ptr<Call>& call) {
  flows.add_call(call);
  const int64_t deadline = deadline_of(plan);
  route.target->start_call(call, std::move(route.hold));
  const net::WakeReason reason = call->wait(deadline);
  call->give_up();
  flows.remove_call(*call);
  if (reason == net::WakeReason::kWoken) return {};
  if (reason == net::WakeReason::kCancelled) return base::make_error(flow::errors::kCancelled);
  return base::make_error(errors::kCallTimedOut, {plan.application, plan.endpoint, plan.timeout_s});
}

}  // namespace

CallPlan choose_call(const CallPlan& planned, tree::Element* local_environment) {
  CallPlan plan = planned;
  tree::Element* folder = call_folder(local_environment);
  override_text(folder, "TargetApplication", plan.application);
  override_text(folder, "TargetEndpointName", plan.endpoint);
  override_seconds(folder, "RequestTimeout", plan.timeout_s);
  return plan;
}

Result<CallRoute> find_route(const CallableFlows& flows, const CallPlan& plan) {
  CallRoute route;
  if (plan.preference != CallPreference::kRemoteOnly) {
    route.target = flows.find(plan.application, plan.endpoint, route.hold);
    if (route.target) return route;
  }
  if (plan.preference != CallPreference::kLocalOnly && flows.remote()) {
    route.server = flows.remote()->find_server(plan.application, plan.endpoint);
    if (!route.server.empty()) return route;
  }
  const std::string known = flows.endpoints();
  const std::string why =
      plan.preference == CallPreference::kRemoteOnly
          ? "the configuration names no server for it, and callPreference is RemoteOnly"
          : "this server runs " + (known.empty() ? std::string("no callable flow") : known);
  return base::make_error(errors::kUnknownTarget, {plan.application, plan.endpoint, why});
}

Status check_depth(const CallPlan& plan, uint32_t depth) {
  if (depth <= Call::kDepthMax) return {};
  return base::make_error(errors::kCallsTooDeep, {plan.application, plan.endpoint, depth});
}

int64_t deadline_of(const CallPlan& plan) {
  if (plan.timeout_s == 0) return net::kNever;
  return net::Reactor::current()->refresh_now() + plan.timeout_s * net::kSecond;
}

Result<CallMessage> call_with_trees(CallableFlows& flows, const CallPlan& plan, CallRoute route,
                                    uint32_t depth, flow::TraceHeaders trace,
                                    tree::TreeContext& context,
                                    const tree::MessageAssembly& message) {
  auto call = std::make_shared<Call>(plan.application, plan.endpoint, depth);
  call->set_trace(std::move(trace));
  if (!route.target) {
    tree::Element* const trees[] = {message.root, message.local_environment};
    std::string request;
    MS_TRY(common::encode_trees(context, trees, request));
    const std::string reply =
        MS_TRY(flows.remote()->call(route.server, *call, request, deadline_of(plan)));
    std::vector<tree::Element*> back = MS_TRY(common::decode_trees(context, reply));
    back.resize(2);
    return CallMessage{back[0] ? back[0] : tree::make_root(context, "Root"),
                       back[1] ? back[1] : tree::make_root(context, "LocalEnvironment")};
  }
  call->send_trees(context, message);
  MS_TRY(run_local(flows, plan, std::move(route), call));
  Result<CallMessage> reply = call->take_reply(context);
  if (!reply.ok()) return call_error(plan, std::move(reply).take_status());
  return reply;
}

Result<std::string> call_with_bytes(CallableFlows& flows, const CallPlan& plan, CallRoute route,
                                    uint32_t depth, flow::TraceHeaders trace, std::string request) {
  auto call = std::make_shared<Call>(plan.application, plan.endpoint, depth);
  call->set_trace(std::move(trace));
  if (!route.target) return flows.remote()->call(route.server, *call, request, deadline_of(plan));
  call->send_bytes(std::move(request));
  MS_TRY(run_local(flows, plan, std::move(route), call));
  Result<std::string> reply = call->take_reply_bytes();
  if (!reply.ok()) return call_error(plan, std::move(reply).take_status());
  return reply;
}

void set_reply_identifier(tree::TreeContext& context, tree::Element* local_environment,
                          std::string_view identifier) {
  if (identifier.empty()) {
    tree::Element* folder = call_folder(local_environment);
    tree::Element* e = folder ? tree::find_child(folder, kReplyIdentifier) : nullptr;
    if (e) tree::detach(e);
    return;
  }
  tree::Element* destination = tree::ensure_child(context, local_environment, "Destination");
  tree::Element* folder = tree::ensure_child(context, destination, "CallableFlow");
  tree::set_child(context, folder, kReplyIdentifier, Value::make_blob(identifier));
}

std::string find_reply_identifier(tree::Element* local_environment) {
  tree::Element* folder = call_folder(local_environment);
  tree::Element* e = folder ? tree::find_child(folder, kReplyIdentifier) : nullptr;
  if (!e) return {};
  const Value v = tree::scalar_value(e);
  return v.kind == value::Kind::kBlob ? std::string(v.text()) : std::string();
}

}  // namespace millstream::nodes::callable
