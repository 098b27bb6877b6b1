// Routes that switch traces. The product's own switch whole servers; those of a flow are ours.
#include "base/json_value.h"
#include "observe/errors_gen.h"
#include "observe/routes_internal.h"

namespace millstream::observe {
namespace {

namespace json = base::json;
using admin::AdminReply;
using admin::AdminRequest;

constexpr const char* kFlowPath = "/apiv2/applications/{application}/messageflows/{flow}";

// All flows that run now.
std::vector<FlowKey> all_keys(Hub& hub) {
  std::vector<FlowKey> keys;
  hub.for_each_flow([&](flow::Flow& flow) { keys.emplace_back(flow.application(), flow.name()); });
  return keys;
}

void add_switch(Hub& hub, admin::AdminServer& admin, const std::string& what,
                std::optional<bool> FlowControl::* member) {
  for (const bool is_on : {true, false}) {
    const std::string action = (is_on ? "/start-" : "/stop-") + what;
    add_route(admin, "POST", kFlowPath + action, [&hub, member, is_on](const AdminRequest& r) {
      return change_flow(hub, r, [&](FlowControl& c) { c.*member = is_on; });
    });
    add_route(admin, "POST", "/apiv2" + action, [&hub, member, is_on](const AdminRequest&) {
      json::Value flows = json::Value::array();
      for (const FlowKey& key : all_keys(hub)) {
        hub.set_control(key, [&](FlowControl& c) { c.*member = is_on; });
        flows.push_back(control_json(hub, key));
      }
      return admin::json_reply(flows);
    });
  }
}

// "openTelemetryEnabled": "true", "false" or "inherit", as the product's PATCH of a flow has it.
// "true", "false" or "inherit" for openTelemetryEnabled; an error reply otherwise.
std::optional<AdminReply> read_tracing(const AdminRequest& request, std::optional<bool>& out) {
  Result<json::Value> document = json::parse(request.body);
  if (!document.ok()) return admin::error_reply(400, document.error());
  const json::Value* properties = document.value().find("properties");
  const json::Value& value =
      (properties ? *properties : document.value()).get("openTelemetryEnabled");
  const std::string word =
      value.is_bool() ? (value.as_bool() ? "true" : "false") : value.as_string();
  if (word != "true" && word != "false" && word != "inherit") {
    Status status = base::make_error(errors::kBadObserveRequest,
                                     {"openTelemetryEnabled", word, "true, false or inherit"});
    return admin::error_reply(400, status.error());
  }
  if (word != "inherit") out = word == "true";
  return std::nullopt;
}

AdminReply patch_tracing(Hub& hub, const AdminRequest& request) {
  std::optional<bool> is_on;
  if (std::optional<AdminReply> refusal = read_tracing(request, is_on)) return std::move(*refusal);
  return change_flow(hub, request, [&](FlowControl& c) { c.tracing = is_on; });
}

// Of all flows of an application that say nothing of their own.
AdminReply patch_application(Hub& hub, const AdminRequest& request) {
  std::optional<bool> is_on;
  if (std::optional<AdminReply> refusal = read_tracing(request, is_on)) return std::move(*refusal);
  const std::string& name = request.parameter("application");
  bool is_there = false;
  hub.for_each_flow([&](flow::Flow& flow) { is_there |= flow.application() == name; });
  if (!is_there) {
    Status status = base::make_error(errors::kNoSuchFlow, {name + "/*", ""});
    return admin::error_reply(404, status.error());
  }
  hub.set_control({name, ""}, [&](FlowControl& c) { c.tracing = is_on; });
  json::Value out = json::Value::object();
  out.set("application", name);
  out.set("openTelemetryEnabled", !is_on ? "inherit" : *is_on ? "true" : "false");
  return admin::json_reply(out);
}

AdminReply start_trace(Hub& hub, const AdminRequest& request) {
  MessageTrace::Options options;
  if (const std::string* count = request.find_query("count")) {
    options.messages = std::atoi(count->c_str());
    if (options.messages < 1 || options.messages > MessageTrace::kMessagesMax) {
      Status status = base::make_error(
          errors::kBadObserveRequest,
          {"count", *count, "a number from 1 to " + std::to_string(MessageTrace::kMessagesMax)});
      return admin::error_reply(400, status.error());
    }
  }
  const std::string* esql = request.find_query("esql");
  options.has_statements = esql && *esql == "true";
  const std::string* trees = request.find_query("trees");
  options.has_trees = !trees || *trees != "false";
  const std::string* name = request.find_query("flow");
  FlowKey key;
  Status status = hub.with_flow(name ? *name : std::string(),
                                [&](flow::Flow& flow) { key = {flow.application(), flow.name()}; });
  if (!status.ok()) return admin::error_reply(404, status.error());
  Result<std::string> id = hub.start_trace(key, options);
  if (!id.ok()) return admin::error_reply(409, id.error());
  json::Value out = json::Value::object();
  out.set("id", id.value());
  out.set("application", key.first);
  out.set("flow", key.second);
  out.set("uri", "/apiv2/message-traces/" + id.value());
  return admin::json_reply(out, 201);
}

void add_message_traces(Hub& hub, admin::AdminServer& admin) {
  add_route(admin, "POST", "/apiv2/message-traces",
            [&hub](const AdminRequest& r) { return start_trace(hub, r); });
  add_route(admin, "GET", "/apiv2/message-traces/{id}", [&hub](const AdminRequest& r) {
    Result<json::Value> steps = hub.take_trace(r.parameter("id"));
    return steps.ok() ? admin::json_reply(steps.value()) : admin::error_reply(404, steps.error());
  });
  add_route(admin, "DELETE", "/apiv2/message-traces/{id}", [&hub](const AdminRequest& r) {
    hub.end_trace(r.parameter("id"));
    return admin::json_reply(json::Value::object());
  });
}

}  // namespace

void add_trace_routes(Hub& hub, admin::AdminServer& admin) {
  add_switch(hub, admin, "user-trace", &FlowControl::user_trace);
  add_switch(hub, admin, "activity-log", &FlowControl::activity_log);
  add_route(admin, "POST", std::string(kFlowPath) + "/reset-user-trace",
            [&hub](const AdminRequest& r) {
              return answer_for_flow(hub, r, [&](flow::Flow& flow) {
                const FlowKey key{flow.application(), flow.name()};
                hub.reset_user_trace(key);
                return admin::json_reply(control_json(hub, key));
              });
            });
  add_route(admin, "GET", std::string(kFlowPath) + "/observability", [&hub](const AdminRequest& r) {
    return answer_for_flow(hub, r, [&](flow::Flow& flow) {
      return admin::json_reply(control_json(hub, {flow.application(), flow.name()}));
    });
  });
  add_route(admin, "PATCH", "/apiv2/applications/{application}",
            [&hub](const AdminRequest& r) { return patch_application(hub, r); });
  // At the flow itself as in the product.
  for (const char* tail : {"", "/observability"}) {
    add_route(admin, "PATCH", std::string(kFlowPath) + tail,
              [&hub](const AdminRequest& r) { return patch_tracing(hub, r); });
  }
  add_route(admin, "GET", std::string(kFlowPath) + "/activity-log", [&hub](const AdminRequest& r) {
    return answer_for_flow(hub, r, [&](flow::Flow& flow) {
      json::Value out = json::Value::object();
      out.set("activityLogEntries", hub.activity({flow.application(), flow.name()}));
      return admin::json_reply(out);
    });
  });
  add_message_traces(hub, admin);
}

}  // namespace millstream::observe
