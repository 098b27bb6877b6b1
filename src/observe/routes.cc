#include "observe/routes.h"

#include "base/json_value.h"
#include "observe/errors_gen.h"
#include "observe/routes_internal.h"

namespace millstream::observe {
namespace {

namespace json = base::json;
using admin::AdminReply;
using admin::AdminRequest;
using Which = Hub::Which;

constexpr const char* kPrometheusType = "text/plain; version=0.0.4; charset=utf-8";

// ---------------------------------------------------------------- statistics of the server

const char* which_name(Which which) { return which == Which::kSnapshot ? "snapshot" : "archive"; }

const char* level_name(flow::NodeDataLevel level) {
  if (level == flow::NodeDataLevel::kNone) return "none";
  return level == flow::NodeDataLevel::kBasic ? "basic" : "advanced";
}

std::string formats_of(const StatisticsSettings& s) {
  std::string out;
  auto add = [&out](bool is_on, const char* name) {
    if (is_on) out += (out.empty() ? "" : ",") + std::string(name);
  };
  add(s.is_csv, "csv");
  add(s.is_json, "json");
  add(s.is_user_trace, "usertrace");
  return out;
}

json::Value properties_of(Which which, const StatisticsSettings& s) {
  json::Value p = json::Value::object();
  p.set("accountingOrigin", s.has_origins ? "basic" : "none");
  if (which == Which::kArchive) {
    p.set("archivalOn", s.is_on ? "active" : "inactive");
    p.set("majorInterval", s.interval_s / 60);
  } else {
    p.set("publicationOn", s.is_on ? "active" : "inactive");
  }
  p.set("nodeDataLevel", level_name(s.has_level ? s.node_level : flow::NodeDataLevel::kAdvanced));
  p.set("outputFormat", formats_of(s));
  p.set("threadDataLevel", s.has_threads ? "basic" : "none");
  return p;
}

AdminReply statistics_object(Hub& hub, Which which) {
  const std::string uri = std::string("/apiv2/statistics/") + which_name(which);
  json::Value out = json::Value::object();
  out.set("hasChildren", false);
  out.set("name", which_name(which));
  out.set("type", which_name(which));
  out.set("uri", uri);
  out.set("properties", properties_of(which, hub.statistics_settings(which)));
  out.set("descriptiveProperties", json::Value::object());
  json::Value active = json::Value::object();
  active.set("isRunning", hub.statistics_settings(which).is_on);
  out.set("active", std::move(active));
  json::Value available = json::Value::object();
  for (const char* action : {"start-collection", "stop-collection"}) {
    available.set(action, uri + "/" + action);
  }
  json::Value actions = json::Value::object();
  actions.set("available", std::move(available));
  actions.set("unavailable", json::Value::object());
  out.set("actions", std::move(actions));
  out.set("children", json::Value::object());
  return admin::json_reply(out);
}

// The properties of a PATCH; what is not there stays.
Status change_properties(const json::Value& properties, Which which, StatisticsSettings& s) {
  auto refuse = [](const std::string& name, const json::Value& value, const char* wanted) {
    return base::make_error(
        errors::kBadObserveRequest,
        {name, value.is_string() ? value.as_string() : json::write(value), wanted});
  };
  for (const json::Member& m : properties.members()) {
    const std::string& text = m.value.as_string();
    const bool is_switch = m.name == (which == Which::kArchive ? "archivalOn" : "publicationOn");
    if (is_switch) {
      if (text != "active" && text != "inactive") {
        return refuse(m.name, m.value, "active or inactive");
      }
      s.is_on = text == "active";
    } else if (m.name == "nodeDataLevel") {
      if (text != "none" && text != "basic" && text != "advanced") {
        return refuse(m.name, m.value, "none, basic or advanced");
      }
      s.has_level = true;
      s.node_level = text == "none"    ? flow::NodeDataLevel::kNone
                     : text == "basic" ? flow::NodeDataLevel::kBasic
                                       : flow::NodeDataLevel::kAdvanced;
    } else if (m.name == "threadDataLevel" || m.name == "accountingOrigin") {
      if (text != "none" && text != "basic") return refuse(m.name, m.value, "none or basic");
      (m.name == "threadDataLevel" ? s.has_threads : s.has_origins) = text == "basic";
    } else if (m.name == "outputFormat") {
      StatisticsSettings formats;
      for (size_t at = 0; at < text.size();) {
        const size_t comma = std::min(text.find(',', at), text.size());
        const std::string word = text.substr(at, comma - at);
        at = comma + 1;
        if (word == "json") formats.is_json = true;
        if (word == "csv") formats.is_csv = true;
        if (word == "usertrace") formats.is_user_trace = true;
        if (word != "json" && word != "csv" && word != "usertrace") {
          return refuse(m.name, m.value, "a list of json, csv and usertrace");
        }
      }
      s.is_json = formats.is_json;
      s.is_csv = formats.is_csv;
      s.is_user_trace = formats.is_user_trace;
    } else if (m.name == "majorInterval" && which == Which::kArchive) {
      const int64_t minutes = m.value.is_integer() ? m.value.as_integer() : 0;
      if (minutes < 1 || minutes > 43'200) return refuse(m.name, m.value, "1 to 43200 minutes");
      s.interval_s = static_cast<int>(minutes * 60);
    } else {
      return base::make_error(errors::kBadObserveRequest,
                              {"properties", m.name, "a property of these statistics"});
    }
  }
  return {};
}

AdminReply change_statistics(Hub& hub, Which which, std::string_view body) {
  Result<json::Value> document = json::parse(body);
  if (!document.ok()) return admin::error_reply(400, document.error());
  const json::Value* properties = document.value().find("properties");
  StatisticsSettings settings = hub.statistics_settings(which);
  Status status = change_properties(properties ? *properties : document.value(), which, settings);
  if (!status.ok()) return admin::error_reply(400, status.error());
  hub.set_statistics_settings(which, settings);
  return statistics_object(hub, which);
}

void add_statistics(Hub& hub, admin::AdminServer& admin, Which which) {
  const std::string path = std::string("/apiv2/statistics/") + which_name(which);
  add_route(admin, "GET", path,
            [&hub, which](const AdminRequest&) { return statistics_object(hub, which); });
  // Switching writes the last records of the old settings.
  add_route(admin, "PATCH", path,
            [&hub, which](const AdminRequest& r) { return change_statistics(hub, which, r.body); });
  for (const bool is_on : {true, false}) {
    add_route(admin, "POST", path + (is_on ? "/start-collection" : "/stop-collection"),
              [&hub, which, is_on](const AdminRequest&) {
                StatisticsSettings settings = hub.statistics_settings(which);
                settings.is_on = is_on;
                hub.set_statistics_settings(which, settings);
                return statistics_object(hub, which);
              });
  }
}

// ---------------------------------------------------------------- statistics of flows

json::Value flow_statistics(Hub& hub, flow::Flow& flow, Which which) {
  flow::RecordOptions options;
  options.server_name = hub.options().server_name;
  options.reader = which == Which::kSnapshot ? flow::StatisticsReader::kSnapshot
                                             : flow::StatisticsReader::kArchive;
  options.code = which == Which::kSnapshot ? "SnapShot" : "MajorInterval";
  options.has_threads = true;
  Result<json::Value> record = json::parse(flow::statistics_json(
      flow, flow.statistics().take(options.reader, /*resets=*/false), options));
  return record.ok() ? std::move(record).take_value() : json::Value();
}

// Everything since the flow was started, for `millstream stats`.
json::Value flow_totals(Hub& hub, flow::Flow& flow) {
  const flow::StatisticsTotals totals = flow.statistics().totals();
  flow::RecordOptions options;
  options.server_name = hub.options().server_name;
  Result<json::Value> record = json::parse(flow::statistics_json(flow, totals, options));
  json::Value out = json::Value::object();
  out.set("application", flow.application());
  out.set("flow", flow.name());
  out.set("inFlight", static_cast<uint64_t>(flow.instances().in_use()));
  out.set("instancesMax", static_cast<uint64_t>(flow.instances().limit()));
  json::Value bounds = json::Value::array(), counts = json::Value::array();
  for (uint64_t us : base::kDurationBoundsUs) bounds.push_back(us);
  for (uint64_t n : totals.flow.durations) counts.push_back(n);
  out.set("durationBoundsUs", std::move(bounds));
  out.set("durations", std::move(counts));
  out.set("record", record.ok() ? record.value().get("WMQIStatisticsAccounting") : json::Value());
  return out;
}

void add_flow_statistics(Hub& hub, admin::AdminServer& admin) {
  add_route(admin, "GET", "/apiv2/statistics/flows", [&hub](const AdminRequest& r) {
    json::Value flows = json::Value::array();
    const std::string* name = r.find_query("flow");
    auto add = [&](flow::Flow& flow) { flows.push_back(flow_totals(hub, flow)); };
    if (name && !name->empty()) {
      Status status = hub.with_flow(*name, add);
      if (!status.ok()) return admin::error_reply(404, status.error());
    } else {
      hub.for_each_flow(add);
    }
    json::Value out = json::Value::object();
    out.set("time", flow::statistics_now_us());
    out.set("flows", std::move(flows));
    return admin::json_reply(out);
  });
  for (Which which : {Which::kSnapshot, Which::kArchive}) {
    const std::string path = "/apiv2/applications/{application}/messageflows/{flow}/statistics/" +
                             std::string(which_name(which));
    add_route(admin, "GET", path, [&hub, which](const AdminRequest& r) {
      return answer_for_flow(hub, r, [&](flow::Flow& flow) {
        return admin::json_reply(flow_statistics(hub, flow, which));
      });
    });
    for (const bool is_on : {true, false}) {
      add_route(admin, "POST", path + (is_on ? "/start-collection" : "/stop-collection"),
                [&hub, which, is_on](const AdminRequest& r) {
                  return change_flow(hub, r, [&](FlowControl& control) {
                    (which == Which::kSnapshot ? control.snapshot : control.archive) = is_on;
                  });
                });
    }
  }
}

}  // namespace

// ---------------------------------------------------------------- shared with the other routes

std::string flow_name_of(const AdminRequest& request) {
  return request.parameter("application") + "/" + request.parameter("flow");
}

AdminReply answer_for_flow(Hub& hub, const AdminRequest& request,
                           const std::function<AdminReply(flow::Flow&)>& answer) {
  AdminReply reply;
  Status status =
      hub.with_flow(flow_name_of(request), [&](flow::Flow& flow) { reply = answer(flow); });
  return status.ok() ? std::move(reply) : admin::error_reply(404, status.error());
}

AdminReply change_flow(Hub& hub, const AdminRequest& request,
                       const std::function<void(FlowControl&)>& change) {
  FlowKey key;
  AdminReply reply = answer_for_flow(hub, request, [&](flow::Flow& flow) {
    key = {flow.application(), flow.name()};
    return AdminReply{};
  });
  if (reply.status != 200) return reply;
  hub.set_control(key, change);
  return admin::json_reply(control_json(hub, key));
}

json::Value control_json(Hub& hub, const FlowKey& key) {
  const FlowControl control = hub.control(key);
  auto word = [](const std::optional<bool>& own) {
    return !own ? "inherit" : *own ? "active" : "inactive";
  };
  json::Value out = json::Value::object();
  out.set("application", key.first);
  out.set("flow", key.second);
  out.set("snapshot", word(control.snapshot));
  out.set("archive", word(control.archive));
  out.set("openTelemetryEnabled", !control.tracing   ? "inherit"
                                  : *control.tracing ? "true"
                                                     : "false");
  out.set("userTrace", hub.has_user_trace(key));
  out.set("userTraceFile", hub.user_trace_place(key));
  out.set("activityLog", hub.has_activity_log(key));
  return out;
}

void add_routes(Hub& hub, admin::AdminServer& admin) {
  add_route(admin, "GET", "/metrics", [&hub](const AdminRequest&) {
    return admin::text_reply(hub.metrics_text(), kPrometheusType);
  });
  for (Which which : {Which::kSnapshot, Which::kArchive}) add_statistics(hub, admin, which);
  add_flow_statistics(hub, admin);
  add_trace_routes(hub, admin);
}

}  // namespace millstream::observe
