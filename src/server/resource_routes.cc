// GET of what is deployed, and start and stop.
#include <unistd.h>

#include "base/clock.h"
#include "http/url.h"
#include "server/admin_routes.h"
#include "server/errors_gen.h"
#include "server/server.h"

namespace millstream::server {
namespace {

using ace::ContainerKind;
using admin::AdminReply;
using admin::AdminRequest;
using base::json::Value;

constexpr int kDepthMax = 5;

// The collections of a server: what its documents and its addresses call them.
struct Collection {
  const char* segment;  // of the address
  const char* member;   // of the server's document
  const char* type;     // of the collection
  const char* item;     // type of what is in it
  std::vector<ContainerKind> kinds;
};
const std::vector<Collection>& collections() {
  static const std::vector<Collection> kAll = {
      {"applications",
       "applications",
       "applications",
       "application",
       {ContainerKind::kApplication, ContainerKind::kIndependent}},
      {"rest-apis", "restApis", "restApis", "restApi", {ContainerKind::kRestApi}},
      {"services", "services", "services", "service", {ContainerKind::kService}},
      {"shared-libraries",
       "sharedLibraries",
       "sharedLibraries",
       "sharedLibrary",
       {ContainerKind::kSharedLibrary, ContainerKind::kStaticLibrary}},
      {"policies", "policies", "policies", "policyProject", {ContainerKind::kPolicyProject}},
  };
  return kAll;
}

bool holds_kind(const Collection& collection, ContainerKind kind) {
  for (ContainerKind k : collection.kinds) {
    if (k == kind) return true;
  }
  return false;
}

Value resource_head(std::string_view name, std::string_view type, const std::string& uri,
                    bool has_children) {
  Value out = Value::object();
  out.set("hasChildren", has_children);
  out.set("name", name);
  out.set("type", type);
  out.set("uri", uri);
  return out;
}

// All members that every resource has, in the product's order.
Value resource(std::string_view name, std::string_view type, const std::string& uri,
               bool has_children) {
  Value out = resource_head(name, type, uri, has_children);
  for (const char* member : {"properties", "descriptiveProperties", "active"}) {
    out.set(member, Value::object());
  }
  Value actions = Value::object();
  actions.set("available", Value::object());
  actions.set("unavailable", Value::object());
  out.set("actions", std::move(actions));
  return out;
}

void set_action(Value& of, const char* action, bool is_possible, const std::string& uri) {
  Value& group = *of.find("actions")->find(is_possible ? "available" : "unavailable");
  group.set(action, uri + "/" + action);
}

int depth_of(const AdminRequest& request) {
  const std::string* text = request.find_query("depth");
  if (!text || text->size() != 1 || (*text)[0] < '0' || (*text)[0] > '9') return 1;
  return std::min((*text)[0] - '0', kDepthMax);
}

Value flow_json(const flow::Flow& flow, const std::string& uri) {
  Value out = resource(flow.name(), "messageFlow", uri, /*has_children=*/true);
  const bool is_running = flow.is_running();
  Value& active = *out.find("active");
  active.set("isRunning", is_running);
  active.set("state", is_running ? "started" : "stopped");
  active.set("threadsInUse", static_cast<uint64_t>(flow.instances().in_use()));
  if (flow.instances().limit() > 0) {
    active.set("threadsCapacity", static_cast<uint64_t>(flow.instances().limit()));
    out.find("properties")
        ->set("additionalInstances", static_cast<uint64_t>(flow.instances().limit() - 1));
  }
  set_action(out, "start", !is_running, uri);
  set_action(out, "stop", is_running, uri);
  Value nodes = Value::array();
  for (const auto& node : flow.nodes()) {
    Value entry = resource_head(node->label(), node->type().statistics_type,
                                uri + "/nodes/" + http::percent_encode(node->label()), false);
    const std::string endpoint = node->endpoint();
    if (!endpoint.empty()) entry.set("endpoint", endpoint);
    nodes.push_back(std::move(entry));
  }
  out.set("children", std::move(nodes));
  return out;
}

Value flows_json(const ace::Application& application, const std::string& uri, int depth) {
  Value out = resource("messageflows", "messageFlows", uri, !application.flows().empty());
  set_action(out, "start", true, uri);
  set_action(out, "stop", true, uri);
  Value children = Value::array();
  for (const auto& flow : application.flows()) {
    if (depth < 1) break;
    const std::string at = uri + "/" + http::percent_encode(flow->name());
    children.push_back(depth > 1 ? flow_json(*flow, at)
                                 : resource_head(flow->name(), "messageFlow", at, true));
  }
  out.set("children", std::move(children));
  return out;
}

Value application_json(const ace::Application& application, const Collection& collection,
                       const std::string& uri, int depth) {
  Value out = resource(application.name(), collection.item, uri, /*has_children=*/true);
  bool is_running = false;
  for (const auto& flow : application.flows()) is_running |= flow->is_running();
  Value& active = *out.find("active");
  active.set("isRunning", is_running);
  active.set("state", is_running ? "started" : "stopped");
  set_action(out, "start", true, uri);
  set_action(out, "stop", is_running, uri);
  if (!application.library_names().empty()) {
    Value libraries = Value::array();
    for (const std::string& l : application.library_names()) libraries.push_back(l);
    out.find("descriptiveProperties")->set("libraries", std::move(libraries));
  }
  Value children = Value::object();
  const std::string flows = uri + "/messageflows";
  children.set("messageFlows", depth > 1 ? flows_json(application, flows, depth - 1)
                                         : resource_head("messageflows", "messageFlows", flows,
                                                         !application.flows().empty()));
  out.set("children", std::move(children));
  return out;
}

Value container_json(const ace::Container& container, const Collection& collection,
                     const std::string& uri) {
  Value out = resource(container.name, collection.item, uri, false);
  out.find("descriptiveProperties")->set("locationOnDisk", container.location);
  out.set("children", Value::array());
  return out;
}

Value collection_json(const Server& server, const Collection& collection, int depth) {
  const std::string uri = std::string("/apiv2/") + collection.segment;
  Value children = Value::array();
  auto add = [&](const std::string& name, bool has_children, auto make) {
    const std::string at = uri + "/" + http::percent_encode(name);
    children.push_back(depth > 1 ? make(at)
                                 : resource_head(name, collection.item, at, has_children));
  };
  if (ace::has_flows_to_run(collection.kinds[0])) {
    const std::shared_ptr<const Applications> running = server.applications();
    for (const auto& a : *running) {
      if (!holds_kind(collection, a->kind())) continue;
      add(a->name(), true,
          [&](const std::string& at) { return application_json(*a, collection, at, depth - 1); });
    }
  } else {
    for (const auto& c : server.host().containers()) {
      if (!holds_kind(collection, c->kind)) continue;
      add(c->name, false,
          [&](const std::string& at) { return container_json(*c, collection, at); });
    }
  }
  Value out = resource(collection.segment, collection.type, uri, children.size() > 0);
  if (depth < 1) children = Value::array();
  out.set("children", std::move(children));
  return out;
}

Value server_json(const Server& server, int depth) {
  Value out = resource(server.name(), "integrationServer", "/apiv2", true);
  Value& facts = *out.find("descriptiveProperties");
  facts.set("productName", "Millstream");
  facts.set("version", MS_VERSION);
  Value& active = *out.find("active");
  active.set("isRunning", true);
  active.set("state", "started");
  active.set("processId", static_cast<int64_t>(::getpid()));
  active.set("httpPort", server.http_port());
  active.set("versionsDraining", static_cast<uint64_t>(server.host().draining()));
  Value refused = Value::array();
  for (const std::string& name : server.host().refused()) refused.push_back(name);
  active.set("refused", std::move(refused));
  out.find("actions")->find("available")->set("deploy", "/apiv2/deploy");
  Value children = Value::object();
  for (const Collection& c : collections()) {
    Value one = collection_json(server, c, depth - 1);
    if (depth <= 1) {
      one = resource_head(c.segment, c.type, std::string("/apiv2/") + c.segment,
                          one.get("hasChildren").as_bool());
    }
    children.set(c.member, std::move(one));
  }
  out.set("children", std::move(children));
  return out;
}

AdminReply not_deployed(const std::string& what) {
  return admin::error_reply(404, base::make_error(errors::kNotDeployed, {what}).error());
}

void add_action_routes(admin::AdminServer& admin, Server& server, const std::string& item_path) {
  for (const bool runs : {true, false}) {
    auto handler = [&server, runs](const AdminRequest& r) {
      Status status = server.host().set_running(r.parameter("name"), r.parameter("flow"), runs);
      if (status.ok()) return admin::text_reply("");
      const bool is_missing = status.error().code == &errors::kNotDeployed;
      return admin::error_reply(is_missing ? 404 : 409, status.error());
    };
    const std::string action = runs ? "/start" : "/stop";
    for (const char* of : {"", "/messageflows", "/messageflows/{flow}"}) {
      admin.add("POST", item_path + of + action, handler, admin::HandlerPlace::kBlockingPool);
    }
  }
}

void add_flow_routes(admin::AdminServer& admin, Server& server, const Collection& collection) {
  const std::string base = std::string("/apiv2/") + collection.segment;
  const std::string item_path = base + "/{name}";
  auto find = [&server, &collection](const AdminRequest& r) -> std::shared_ptr<ace::Application> {
    std::shared_ptr<ace::Application> found = server.host().find(r.parameter("name"));
    if (found && !holds_kind(collection, found->kind())) found = nullptr;
    return found;
  };
  admin.add("GET", item_path, [find, &collection, base](const AdminRequest& r) {
    const auto application = find(r);
    if (!application) return not_deployed(r.parameter("name"));
    const std::string uri = base + "/" + http::percent_encode(application->name());
    return admin::json_reply(application_json(*application, collection, uri, depth_of(r)));
  });
  admin.add("GET", item_path + "/messageflows", [find, base](const AdminRequest& r) {
    const auto application = find(r);
    if (!application) return not_deployed(r.parameter("name"));
    const std::string uri = base + "/" + http::percent_encode(application->name());
    return admin::json_reply(flows_json(*application, uri + "/messageflows", depth_of(r)));
  });
  admin.add("GET", item_path + "/messageflows/{flow}", [find, base](const AdminRequest& r) {
    const auto application = find(r);
    const flow::Flow* flow = application ? application->find_flow(r.parameter("flow")) : nullptr;
    if (!flow) return not_deployed(r.parameter("name") + "/" + r.parameter("flow"));
    return admin::json_reply(
        flow_json(*flow, base + "/" + http::percent_encode(application->name()) + "/messageflows/" +
                             http::percent_encode(flow->name())));
  });
  add_action_routes(admin, server, item_path);
}

}  // namespace

void add_resource_routes(admin::AdminServer& admin, Server& server) {
  admin.add("GET", "/apiv2", [&server](const AdminRequest& r) {
    return admin::json_reply(server_json(server, depth_of(r)));
  });
  for (const Collection& collection : collections()) {
    const std::string base = std::string("/apiv2/") + collection.segment;
    admin.add("GET", base, [&server, &collection](const AdminRequest& r) {
      return admin::json_reply(collection_json(server, collection, depth_of(r)));
    });
    if (ace::has_flows_to_run(collection.kinds[0])) {
      add_flow_routes(admin, server, collection);
      continue;
    }
    admin.add("GET", base + "/{name}", [&server, &collection, base](const AdminRequest& r) {
      for (const auto& c : server.host().containers()) {
        if (c->name != r.parameter("name") || !holds_kind(collection, c->kind)) continue;
        return admin::json_reply(
            container_json(*c, collection, base + "/" + http::percent_encode(c->name)));
      }
      return not_deployed(r.parameter("name"));
    });
  }
}

}  // namespace millstream::server
