#include "server/server.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "admin/batch/batch_routes.h"
#include "base/log.h"
#include "io/file.h"
#include "observe/routes.h"
#include "server/activity_conf.h"
#include "server/admin_routes.h"
#include "server/errors_gen.h"
#include "server/port_error.h"
#include "server/queue_metrics.h"
#include "sql/data_source.h"

namespace millstream::server {
namespace {

int core_count(int wanted) {
  if (wanted > 0) return wanted;
  const long online = ::sysconf(_SC_NPROCESSORS_ONLN);
  return online > 0 ? static_cast<int>(online) : 1;
}

// Every connection needs a descriptor; the usual soft limit of 1,024 is far below what a reactor
// can serve.
void raise_descriptor_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

// A work directory that is named and not there yet is made, as `millstream create-workdir` does.
Status make_work_folder(const std::string& folder) {
  if (folder.empty()) return {};
  const io::PathKind kind = io::path_kind(folder);
  const bool is_empty = kind == io::PathKind::kFolder && MS_TRY(io::list_folder(folder)).empty();
  if (kind != io::PathKind::kMissing && !is_empty) return {};
  return io::make_folders(io::join_path(folder, "run"));
}

}  // namespace

Result<std::unique_ptr<Server>> Server::start(const ServerOptions& options,
                                              base::Diagnostics& diagnostics) {
  raise_descriptor_limit();
  MS_TRY(make_work_folder(options.deployment.work_folder));
  std::unique_ptr<Server> server(new Server);
  server->services_.set_registry(&server->listener_);
  server->flow_services_.add_to(server->services_);
  server->services_.set<flow::FlowListener>(&server->hub_);
  server->services_.set<flow::TraceSink>(&server->hub_);
  if (options.hooks && options.hooks->add_services) options.hooks->add_services(server->services_);
  MS_TRY(server->start_applications(options, diagnostics));
  MS_TRY(server->start_reactors(options));
  MS_TRY(server->start_queue_managers(options));
  MS_TRY(server->listen(options));
  server->flow_services_.attach(*server->reactors_);
  server->host_->accept_changes(*server->reactors_);
  MS_TRY(server->listen_for_clients(options, diagnostics));
  MS_TRY(server->listen_for_admin(options, diagnostics));
  return server;
}

Status Server::start_applications(const ServerOptions& options, base::Diagnostics& diagnostics) {
  hooks_ = options.hooks;
  host_ = std::make_unique<ApplicationHost>(options.deployment, services_,
                                            ApplicationHost::Hooks{[this](ace::Application& a) {
                                                                     if (hooks_ && hooks_->on_built)
                                                                       hooks_->on_built(a);
                                                                   },
                                                                   [](ace::Application&) {}});
  Status observing, configured;
  host_->on_settings = [&](const ServerConf& conf) {
    name_ = conf.server_name.empty() ? "integration_server" : conf.server_name;
    port_ = options.http_port >= 0 ? options.http_port : conf.http_port.value_or(kDefaultHttpPort);
    listener_.set_port(port_);
    listener_.set_cors(nodes::http::Cors::create(conf.cors),
                       nodes::http::Cors::create(conf.secure_cors));
    configure_https(options, conf.https);
    // Timers of flow tests end with the test.
    configured = flow_services_.configure(options.hooks ? std::string() : host_->work_folder(),
                                          conf.remote_calls, listener_, services_);
    observing = observe_flows(options, conf, diagnostics);
  };
  host_->on_changed_settings = [this](const ServerConf& conf, base::Diagnostics& found) {
    return reconfigure(conf, found);
  };
  const bool is_changeable = options.admin_port != kNoAdminPort || options.is_watching;
  MS_TRY(host_->start(options.is_partial, is_changeable, diagnostics));
  MS_TRY(std::move(configured));
  MS_TRY(std::move(observing));
  const size_t errors_before = diagnostics.error_count();
  hub_.add_activity_outputs(
      activity_policies(host_->containers(), host_->conf().observe.activity.outputs, diagnostics));
  if (diagnostics.error_count() > errors_before) return base::make_error(errors::kNothingStarted);
  // A server that can be deployed to may begin with nothing.
  const bool may_be_empty =
      (is_changeable || !options.queue_manager.empty()) && host_->has_run_folder();
  if (!may_be_empty && applications()->empty()) return base::make_error(errors::kNothingStarted);
  return {};
}

void Server::configure_https(const ServerOptions& options, const HttpsConf& conf) {
  credentials_ = conf.credentials;
  client_security_ = std::make_unique<nodes::common::HttpClientSecurity>(conf.client);
  services_.set(&credentials_);
  services_.set(client_security_.get());
  listener_.set_body_bytes_max(options.body_bytes_max);
  // Flow tests have no ports of their own: all URLs are on the one that they use.
  listener_.set_has_one_port(options.hooks != nullptr);
  https_keystore_ = options.https_keystore;
  HttpsConf own = conf;
  if (!https_keystore_.empty()) own.tls.keystore = {https_keystore_, "", ""};
  https_.configure(listener_, own, options.https_port,
                   options.host == "0.0.0.0" ? std::string() : options.host);
}

// A change of what the listeners are to be, by a policy or a file.
Status Server::reconfigure(const ServerConf& conf, base::Diagnostics& diagnostics) {
  HttpsConf own = conf.https;
  if (!https_keystore_.empty()) own.tls.keystore = {https_keystore_, "", ""};
  MS_TRY(https_.reconfigure(own));
  const ServerConf& before = refused_conf_ ? *refused_conf_ : host_->conf();
  auto warn = [&](const char* what) {
    Status status = base::make_error(errors::kListenerStays, {what});
    diagnostics.warning({}, status.error().code->id, status.error().text);
  };
  if (conf.http_port != before.http_port) warn("HTTP port");
  if (conf.http_address != before.http_address) warn("HTTP address");
  if (conf.https.port != before.https.port) warn("HTTPS port");
  if (conf.https.address != before.https.address) warn("HTTPS address");
  if (conf.cors != before.cors || conf.secure_cors != before.secure_cors) warn("CORS settings");
  refused_conf_ = conf;
  return {};
}

// Before anything is built, so that every flow is watched from its first message on.
Status Server::observe_flows(const ServerOptions& options, const ServerConf& conf,
                             base::Diagnostics& diagnostics) {
  observe::HubOptions hub;
  hub.settings = conf.observe;
  hub.settings.snapshot.interval_s = options.statistics_interval_s;
  hub.settings.user_traced = options.user_traced;
  if (options.hooks) {
    hub.settings.tracing.is_on = false;  // tests of flows report nothing
  } else {
    observe::apply_otel([](const char* name) -> const char* { return std::getenv(name); },
                        options.otlp_url, hub.settings.tracing, diagnostics);
  }
  hub.server_name = name_;
  hub.version = MS_VERSION;
  hub.work_folder = host_->work_folder();
  hub.statistics_file = options.statistics_file;
  hub_.metrics().add([this](base::MetricWriter& writer) {
    collect_http_metrics(writer);
    if (queue_managers_) collect_queue_metrics(*queue_managers_, writer);
    if (wire_) wire_->collect_metrics(writer);
  });
  return hub_.configure(std::move(hub));
}

void Server::collect_http_metrics(base::MetricWriter& w) const {
  if (!http_) return;
  using base::MetricType;
  const http::ServerStats s = http_->stats();
  auto add = [&w](const char* name, MetricType type, const char* help, int64_t value) {
    w.family(name, type, help);
    w.sample({}, static_cast<uint64_t>(std::max<int64_t>(value, 0)));
  };
  auto count = [&add](const char* name, const char* help, uint64_t value) {
    add(name, MetricType::kCounter, help, static_cast<int64_t>(value));
  };
  count("millstream_http_server_requests_total", "Requests that came in whole.", s.requests);
  count("millstream_http_server_refused_total", "Requests answered with 503.", s.refused);
  count("millstream_http_server_bad_requests_total", "Requests that were not HTTP.",
        s.bad_requests);
  count("millstream_http_server_reply_timeouts_total", "Requests that nobody answered in time.",
        s.reply_timeouts);
  count("millstream_http_server_connections_total", "Connections that were accepted.",
        s.connections_accepted);
  add("millstream_http_server_requests_in_flight", MetricType::kGauge,
      "Requests that are being handled.", s.in_flight);
  add("millstream_http_server_connections", MetricType::kGauge, "Connections that are open.",
      s.connections);
  w.family("millstream_database_connections", MetricType::kGauge,
           "Connections to databases, by data source and state.");
  for (const sql::DataSources::PoolUse& p : sql::DataSources::process().use()) {
    w.sample({{"source", p.name}, {"state", "idle"}}, static_cast<uint64_t>(p.idle));
    w.sample({{"source", p.name}, {"state", "used"}}, static_cast<uint64_t>(p.used));
  }
}

Status Server::start_reactors(const ServerOptions& options) {
  reactors_ = MS_TRY(net::ReactorPool::create(
      core_count(options.cores), options.hooks ? options.hooks->reactor : net::ReactorOptions()));
  return {};
}

// Before a port is open: whoever can ask finds the queues that the scripts define.
Status Server::start_queue_managers(const ServerOptions& options) {
  wire_ = std::make_unique<WireServer>();
  queue_managers_ = std::make_unique<QueueManagers>();
  if (options.hooks) return {};  // flow tests have none
  const std::vector<MqscFile> scripts = MS_TRY(find_mqsc_files(options.script_paths));
  QueueManagersOptions managers;
  managers.work_folder = host_->work_folder();
  std::string who;
  if (!scripts.empty()) who = scripts.front().path;
  if (!host_->conf().default_queue_manager.empty()) {
    managers.default_name = host_->conf().default_queue_manager;
    who = "defaultQueueManager of server.conf.yaml";
  }
  if (!options.queue_manager.empty()) {
    managers.default_name = options.queue_manager;
    who = "--qmgr";
  }
  if (who.empty()) who = wire_->who_needs_manager(options.wire, host_->conf().wire);
  managers.is_default_wanted = !who.empty();
  managers.is_buffered = options.is_buffered;
  managers.is_dev = options.is_dev;
  managers.needs_users = host_->conf().admin.needs_login;
  managers.channels = [this](const std::string& name) { return &wire_->channels_of(name); };
  managers.on_failure = [](const base::Error& error) {
    base::log_event(base::LogLevel::kError, "MS2041E",
                    "A queue manager cannot keep its promises any more, and the server ends at "
                    "once: " +
                        error.describe());
    std::_Exit(kExitStoreFailed);
  };
  if (managers.work_folder.empty()) {
    if (who.empty()) return {};
    return base::make_error(errors::kQueueManagerNeedsFolder, {managers.default_name, who});
  }
  MS_TRY(queue_managers_->start(std::move(managers), *reactors_));
  return queue_managers_->apply_scripts(scripts);
}

Status Server::listen(const ServerOptions& options) {
  http::ServerOptions http_options;
  http_options.in_flight_max = options.in_flight_max;
  http_options.limits.body_bytes_max = options.body_bytes_max;
  http_ = http::Server::create(*reactors_, std::move(http_options),
                               [this](http::RequestRef r) { listener_.handle(std::move(r)); });
  const std::string& configured = host_->conf().http_address;
  const std::string host = options.host == "0.0.0.0" && !configured.empty() && configured != "*"
                               ? configured
                               : options.host;
  Result<int> port = http_->listen(host, port_);
  if (!port.ok()) return port_in_use(host, port_, port.error());
  port_ = port.value();
  listener_.set_port(port_);
  if (options.hooks) return {};
  return https_.start(*http_, host);
}

Status Server::listen_for_clients(const ServerOptions& options, base::Diagnostics& diagnostics) {
  if (queue_managers_->empty()) return {};
  WireServer::Options wire;
  wire.flags = options.wire;
  wire.conf = host_->conf().wire;
  wire.host = options.host;
  wire.is_dev = options.is_dev;
  return wire_->start(std::move(wire), *queue_managers_, *reactors_, diagnostics);
}

// A port that somebody asked for must be there; the usual one is taken when another server runs on
// this machine, and that is no reason not to run.
Status Server::listen_for_admin(const ServerOptions& options, base::Diagnostics& diagnostics) {
  const ServerConf& conf = host_->conf();
  const bool is_asked_for = options.admin_port != kAdminPortFromSettings;
  const int port = is_asked_for ? options.admin_port : conf.admin.port.value_or(kDefaultAdminPort);
  if (port == kNoAdminPort) return {};
  AdminConf own = conf.admin;
  if (!options.admin_keystore.empty()) own.tls.keystore = {options.admin_keystore, "", ""};
  const bool has_host = !own.host.empty() && !options.is_dev;
  const std::string host = has_host ? own.host : "127.0.0.1";
  if (!options.is_dev) MS_TRY(check_admin_conf(own, host));
  std::shared_ptr<net::TlsServer> tls;
  if (!own.tls.keystore.path.empty()) tls = MS_TRY(net::TlsServer::create(own.tls));
  admin_ = std::make_unique<admin::AdminServer>();
  add_admin_routes(own, options.is_dev);
  Status status = admin_->listen(*reactors_, host, port, std::move(tls));
  if (status.ok()) return {};
  admin_.reset();
  if (is_asked_for || conf.admin.port) return port_in_use(host, port, status.error());
  status =
      base::make_error(errors::kAdminPortTaken, {host, port, reason_of_listening(status.error())});
  diagnostics.warning({}, status.error().code->id, status.error().text);
  return {};
}

Status Server::watch(std::function<void(const ChangeReport&)> on_report) {
  watch_ = MS_TRY(PathWatch::start(*host_, std::move(on_report)));
  return {};
}

// One line for each family of routes.
void Server::add_admin_routes(const AdminConf& conf, bool is_dev) {
  if (conf.needs_login && !is_dev) {  // who reaches a server with --dev may do everything
    admin_->set_gate(std::make_unique<admin::AdminGate>(
        *queue_managers_, admin::AdminGateOptions{conf.has_roles, conf.roles}));
  }
  observe::add_routes(hub_, *admin_);
  add_resource_routes(*admin_, *this);
  add_deploy_routes(*admin_, *this);
  batches_ = admin::batch::add_batch_routes(*admin_, *queue_managers_);
  mq_rest_ = std::make_unique<admin::MqRest>(*queue_managers_);
  mq_rest_->add_routes(*admin_);
}

void Server::stop() {
  if (is_stopped_) return;
  is_stopped_ = true;
  // First, so that nobody waits for a version that is still being compiled.
  if (host_) host_->cancel_changes();
  if (batches_) batches_->stop();  // whoever waits for messages
  if (admin_) admin_->stop();
  if (host_) host_->stop_changes();
  watch_.reset();
  if (http_) http_->stop(kStopGraceNs);
  if (host_) {
    const std::shared_ptr<const Applications> running = applications();
    for (const auto& application : *running) application->stop();
  }
  flow_services_.detach();
  if (wire_) wire_->stop();
  if (queue_managers_) queue_managers_->stop();
  hub_.stop();
}

Server::~Server() {
  stop();
  admin_.reset();
  if (reactors_) reactors_->stop();
  // What protocols keep of their clients belongs to queue managers.
  wire_.reset();
  queue_managers_.reset();
  // Requests and flows go when no reactor can run them any more, the HTTP server after its last
  // request.
  listener_.requests().clear();
  host_.reset();
  http_.reset();
}

}  // namespace millstream::server
