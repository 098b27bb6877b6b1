#include "admin/mq/mq_rest.h"

#include <unistd.h>

#include <ctime>

#include "admin/errors_gen.h"
#include "admin/mq/mq_login.h"
#include "admin/mq/rest_error.h"
#include "admin/mq/rest_visit.h"
#include "base/clock.h"
#include "http/request.h"
#include "queue/core/object_admin.h"
#include "queue/mqsc/json_form.h"

namespace millstream::admin {
namespace {

using base::json::Value;

constexpr std::string_view kRoot = "/ibmmq/rest/v";
constexpr std::string_view kInstallation = "Millstream";

AdminReply no_manager(const std::string& name) {
  RestError error;
  error.status = 404;
  error.id = mqwb::kNoManager;
  error.message = "The queue manager '" + name + "' could not be asked.";
  error.explanation = "This server has no queue manager of that name. Case matters.";
  error.action = "Send the request again with the name of a queue manager.";
  error.completion = mqi::cc::kFailed;
  error.reason = mqi::reason::kQMgrNameError;
  return rest_error(error);
}

AdminReply too_busy() {
  RestError error;
  error.status = 503;
  error.id = "MS2242E";
  error.message = base::make_error(errors::kRestBusy, {MqRest::kRequestsMax}).error().text;
  error.retry_after_s = 1;
  return rest_error(error);
}

// What the admin port refuses before a handler is asked.
AdminReply server_error(int status, const base::Error& error) {
  if (status != 405) return rest_error(status, error);
  RestError out;
  out.status = status;
  out.id = mqwb::kMethod;
  out.message = error.text;
  return rest_error(out);
}

struct CountedRun {
  explicit CountedRun(std::atomic<int>& count)
      : count_(count), number_(count.fetch_add(1, std::memory_order_relaxed) + 1) {}
  ~CountedRun() { count_.fetch_sub(1, std::memory_order_relaxed); }
  CountedRun(const CountedRun&) = delete;
  CountedRun& operator=(const CountedRun&) = delete;
  int number() const { return number_; }

 private:
  std::atomic<int>& count_;
  int number_;
};

// A login is small: what is longer is refused without being read.
constexpr size_t kLoginRouteBytesMax = size_t{64} << 10;

bool is_wanted(const AdminRequest& request, std::string_view group) {
  const std::string* wanted = request.find_query(group == "extended" ? "attributes" : "status");
  return wanted && (*wanted == "*" || wanted->starts_with(group));
}

// "2026-11-30T14:05:09.000Z"
std::string rest_time(int64_t gmt_micros) {
  const std::time_t seconds = gmt_micros / 1'000'000;
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  char text[40];
  const size_t size = std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S.000Z", &parts);
  return std::string(text, size);
}

std::string rest_host_name() {
  char name[256] = {};
  return ::gethostname(name, sizeof name - 1) == 0 ? name : "";
}

}  // namespace

std::string MqRest::Visit::refusal(int32_t type, std::string_view object, uint32_t rights) const {
  const queue::AccessControl* rules = manager->options().access;
  return rules ? rules->refuses({user, type, object, rights}) : std::string();
}

std::optional<AdminReply> MqRest::Visit::connect(const MqAccess& access) {
  queue::ConnectOptions options;
  options.user = user;
  options.application_name = "REST API";
  options.channel = "REST";
  options.remote_address = address;
  options.executor = &access.executor(*net::Reactor::current());
  const queue::Outcome outcome = manager->connect(options, connection);
  if (!outcome.is_failed()) return {};
  return mqi_error(mqwb::kNoConnection, "There is no connection to " + manager->name() + ".",
                   outcome, refusal(mqi::ot::kQueueManager, manager->name(), queue::kRightConnect));
}

MqRest::MqRest(const MqAccess& access)
    : access_(access), sessions_(access, base::system_clock(), base::system_random()) {}

void MqRest::add_route(AdminServer& server, std::string_view method, std::string_view path,
                       Handler handler) {
  // These routes ask for a login always, and have limits of their own.
  const RouteRules rules{.right = AdminRight::kOwn,
                         .body_bytes_max = AdminOptions().body_bytes_max,
                         .check_head = [this](const AdminRequest& request) {
                           RestSessions::Caller caller;
                           return sessions_.authenticate(request, caller);
                         }};
  for (RestVersion version : {RestVersion::kV1, RestVersion::kV2, RestVersion::kV3}) {
    server.add(
        method, std::string(kRoot) + std::to_string(static_cast<int>(version)) + std::string(path),
        [this, version, handler](const AdminRequest& request) {
          return run(request, version, handler);
        },
        HandlerPlace::kReactor, rules);
  }
}

void MqRest::add_routes(AdminServer& server) {
  server.set_error_reply("/ibmmq/", server_error);
  const std::string queue = "/messaging/qmgr/{qmgr}/queue/{queue}/message";
  add_route(server, "POST", queue, &MqRest::put_message);
  add_route(server, "GET", queue, &MqRest::browse_message);
  add_route(server, "DELETE", queue, &MqRest::get_message);
  add_route(server, "GET", queue + "list", &MqRest::list_messages);
  add_route(server, "POST", "/messaging/qmgr/{qmgr}/topic/{topic}/message", &MqRest::publish);
  add_route(server, "POST", "/admin/action/qmgr/{qmgr}/mqsc", &MqRest::run_mqsc);
  add_route(server, "GET", "/admin/qmgr", &MqRest::show_managers);
  add_route(server, "GET", "/admin/qmgr/{qmgr}", &MqRest::show_managers);
  add_route(server, "GET", "/admin/installation", &MqRest::show_installation);
  add_route(server, "GET", "/admin/installation/{name}", &MqRest::show_installation);
  const RouteRules login_rules{
      .right = AdminRight::kOwn, .body_bytes_max = kLoginRouteBytesMax, .check_head = {}};
  for (const char* version : {"1", "2", "3"}) {
    const std::string login = std::string(kRoot) + version + "/login";
    server.add(
        "POST", login, [this](const AdminRequest& r) { return sessions_.log_in(r); },
        HandlerPlace::kReactor, login_rules);
    server.add(
        "GET", login, [this](const AdminRequest& r) { return sessions_.show(r); },
        HandlerPlace::kReactor, login_rules);
    server.add(
        "DELETE", login, [this](const AdminRequest& r) { return sessions_.log_out(r); },
        HandlerPlace::kReactor, login_rules);
  }
}

AdminReply MqRest::run(const AdminRequest& request, RestVersion version, Handler handler) {
  const CountedRun counted(running_);
  if (counted.number() > kRequestsMax) return too_busy();
  RestSessions::Caller caller;
  if (auto refusal = sessions_.authenticate(request, caller)) return std::move(*refusal);
  Visit visit;
  visit.user = std::move(caller.user);
  if (request.exchange) visit.address = address_of_peer(request.exchange->peer());
  for (const auto& [name, value] : request.parameters) {
    if (name != "qmgr") continue;
    visit.manager = value == "*" ? nullptr : access_.find(value);
    if (!visit.manager) return no_manager(value);
  }
  return (this->*handler)(request, version, visit);
}

AdminReply MqRest::run_mqsc(const AdminRequest& request, RestVersion, Visit& visit) {
  RestError error;
  error.status = 400;
  error.id = mqwb::kBadBody;
  error.message = "The body of the request cannot be read.";
  const http::ContentType type = http::parse_content_type(request.headers.get("Content-Type"));
  if (!http::equals_ignore_case(type.media_type, "application/json")) {
    error.status = 415;
    error.id = mqwb::kMediaType;
    error.message = "The media type is not supported for this request.";
    error.explanation = "A command is application/json.";
    return rest_error(error);
  }
  if (request.body.size() > kCommandBytesMax) {
    return rest_error(
        413,
        base::make_error(errors::kRestTooLong, {static_cast<int64_t>(kCommandBytesMax)}).error());
  }
  Result<Value> command = base::json::parse(
      request.body, {.depth_max = kCommandDepthMax, .values_max = kCommandValuesMax, .file = {}});
  if (!command.ok()) {
    error.explanation = command.error().text;
    return rest_error(error);
  }
  const std::string why =
      visit.refusal(mqi::ot::kQueueManager, visit.manager->name(), queue::kRightAdmin);
  if (!why.empty()) {
    return mqi_error(mqwb::kNotAuthorized,
                     "Not authorized to administer " + visit.manager->name() + ".",
                     queue::Outcome::failed(mqi::reason::kNotAuthorized), why);
  }
  const auto target = queue::make_admin_target(*visit.manager, visit.user);
  net::Awaiter<queue::mqsc::JsonAnswer> answer;
  queue::mqsc::run_json(*target, command.value(), answer.callback());
  queue::mqsc::JsonAnswer result = answer.wait();
  if (result.is_valid) return json_reply(result.body);
  error.explanation = result.problem;
  return rest_error(error);
}

AdminReply MqRest::show_managers(const AdminRequest& request, RestVersion, Visit& visit) {
  Value list = Value::array();
  for (const std::string& name : access_.names()) {
    if (visit.manager && name != visit.manager->name()) continue;
    const queue::QueueManager* manager = access_.find(name);
    if (!manager) continue;
    Value item = Value::object();
    item.set("name", name);
    const std::string state = manager->is_running() ? "running" : "ended";
    if (const std::string* wanted = request.find_query("state"); wanted && *wanted != state) {
      continue;
    }
    item.set("state", state);
    if (is_wanted(request, "extended")) {
      Value extended = Value::object();
      extended.set("installationName", kInstallation);
      extended.set("isDefaultQmgr", manager == access_.find(""));
      extended.set("permitStandby", "notApplicable");
      item.set("extended", std::move(extended));
    }
    if (is_wanted(request, "status")) {
      Value status = Value::object();
      status.set("channelInitiatorState", "stopped");
      status.set("connectionCount", static_cast<uint64_t>(manager->connection_count()));
      status.set("ldapConnectionState", "disconnected");
      status.set("publishSubscribeState", "running");
      status.set("started", rest_time(manager->started_gmt_micros()));
      item.set("status", std::move(status));
    }
    list.push_back(std::move(item));
  }
  Value body = Value::object();
  body.set("qmgr", std::move(list));
  return json_reply(body);
}

AdminReply MqRest::show_installation(const AdminRequest& request, RestVersion, Visit&) {
  const std::string& name = request.parameter("name");
  if (!name.empty() && name != kInstallation) {
    return rest_error(404, base::make_error(errors::kNoSuchResource, {request.path}).error());
  }
  Value item = Value::object();
  item.set("name", kInstallation);
  item.set("platform", "unix");
  item.set("version", MS_VERSION);
  if (is_wanted(request, "extended")) {
    Value extended = Value::object();
    extended.set("hostName", rest_host_name());
    extended.set("operatingSystem", "Linux");
    extended.set("primary", true);
    item.set("extended", std::move(extended));
  }
  Value list = Value::array();
  list.push_back(std::move(item));
  Value body = Value::object();
  body.set("installation", std::move(list));
  return json_reply(body);
}

}  // namespace millstream::admin
