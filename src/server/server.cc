#include "server/server.h"

#include <sys/resource.h>
#include <unistd.h>

#include "base/log.h"
#include "io/file.h"
#include "server/errors_gen.h"
#include "server/ticker.h"

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

// Why a port could not be opened. The layers below say the address again, each; only the reason is
// new.
std::string reason_of(const base::Error& error) {
  const std::string text = error.innermost().text;
  const size_t reason = text.rfind(": ");
  std::string why = reason == std::string::npos ? text : text.substr(reason + 2);
  if (why.ends_with('.')) why.pop_back();
  return why;
}

}  // namespace

Result<std::unique_ptr<Server>> Server::start(const ServerOptions& options,
                                              base::Diagnostics& diagnostics) {
  raise_descriptor_limit();
  std::unique_ptr<Server> server(new Server);
  server->services_.set(&server->listener_);
  if (options.hooks && options.hooks->add_services) options.hooks->add_services(server->services_);
  MS_TRY(server->start_applications(options, diagnostics));
  MS_TRY(server->listen(options));
  MS_TRY(server->set_statistics(options));
  MS_TRY(server->listen_for_admin(options, diagnostics));
  return server;
}

Status Server::start_applications(const ServerOptions& options, base::Diagnostics& diagnostics) {
  deployment_ = build_deployment(options.deployment, services_, diagnostics);
  name_ =
      deployment_->conf.server_name.empty() ? "integration_server" : deployment_->conf.server_name;
  const ServerConf& conf = deployment_->conf;
  port_ = options.http_port >= 0 ? options.http_port : conf.http_port.value_or(kDefaultHttpPort);
  listener_.set_port(port_);

  std::vector<std::unique_ptr<ace::Application>> running;
  for (auto& application : deployment_->applications) {
    if (options.hooks && options.hooks->on_built) options.hooks->on_built(*application);
    Status status = application->start();
    if (status.ok()) {
      running.push_back(std::move(application));
    } else {
      diagnostics.error(status.error(), {});
      deployment_->refused.push_back(application->name());
    }
  }
  deployment_->applications = std::move(running);
  for (const std::string& name : deployment_->refused) {
    if (!options.is_partial) return base::make_error(errors::kApplicationRefused, {name});
  }
  if (!options.is_partial && diagnostics.has_errors()) {
    return base::make_error(errors::kNothingStarted);
  }
  if (deployment_->applications.empty()) return base::make_error(errors::kNothingStarted);
  return {};
}

Status Server::listen(const ServerOptions& options) {
  reactors_ = MS_TRY(net::ReactorPool::create(
      core_count(options.cores), options.hooks ? options.hooks->reactor : net::ReactorOptions()));
  http::ServerOptions http_options;
  http_options.in_flight_max = options.in_flight_max;
  http_options.limits.body_bytes_max = options.body_bytes_max;
  http_ = http::Server::create(*reactors_, std::move(http_options),
                               [this](http::RequestRef r) { listener_.handle(std::move(r)); });
  const std::string& configured = deployment_->conf.http_address;
  const std::string host = options.host == "0.0.0.0" && !configured.empty() && configured != "*"
                               ? configured
                               : options.host;
  Result<int> port = http_->listen(host, port_);
  if (!port.ok()) {
    return base::make_error(errors::kPortInUse, {host, port_, reason_of(port.error())});
  }
  port_ = port.value();
  listener_.set_port(port_);
  return {};
}

// A port that somebody asked for must be there; the usual one is taken when another server runs on
// this machine, and that is no reason not to run.
Status Server::listen_for_admin(const ServerOptions& options, base::Diagnostics& diagnostics) {
  const ServerConf& conf = deployment_->conf;
  const bool is_asked_for = options.admin_port != kAdminPortFromSettings;
  const int port = is_asked_for ? options.admin_port : conf.admin_port.value_or(kDefaultAdminPort);
  if (port == kNoAdminPort) return {};
  if (!is_asked_for && !conf.unmet_admin_protection.empty()) {
    Status status = base::make_error(errors::kAdminUnprotected, {conf.unmet_admin_protection});
    diagnostics.warning({}, status.error().code->id, status.error().text);
    return {};
  }
  const std::string host = conf.admin_host.empty() ? "127.0.0.1" : conf.admin_host;
  admin_ = std::make_unique<admin::AdminServer>();
  add_admin_routes();
  Status status = admin_->listen(*reactors_, host, port);
  if (status.ok()) return {};
  admin_.reset();
  const std::string why = reason_of(status.error());
  if (is_asked_for || conf.admin_port) {
    return base::make_error(errors::kPortInUse, {host, port, why});
  }
  status = base::make_error(errors::kAdminPortTaken, {host, port, why});
  diagnostics.warning({}, status.error().code->id, status.error().text);
  return {};
}

// One line for each family of routes.
void Server::add_admin_routes() {
  admin_->add("GET", "/apiv2", [this](const admin::AdminRequest&) {
    base::json::Value out = base::json::Value::object();
    out.set("name", name_);
    out.set("type", "integrationServer");
    out.set("uri", "/apiv2");
    return admin::json_reply(out);
  });
}

Status Server::set_statistics(const ServerOptions& options) {
  statistics_file_ = options.statistics_file;
  const ServerConf& conf = deployment_->conf;
  if (statistics_file_.empty() && conf.publishes_statistics) {
    const std::string folder = io::join_path(deployment_->work_folder, "log");
    if (io::make_folders(folder).ok()) statistics_file_ = io::join_path(folder, "statistics.json");
  }
  if (statistics_file_.empty()) return {};
  MS_TRY(io::append_file(statistics_file_, ""));  // a file that cannot be written is found now
  const bool has_no_nodes = conf.node_data_level == "none";
  for (const auto& application : deployment_->applications) {
    for (const auto& flow : application->flows()) {
      flow->statistics().set_node_data_level(has_no_nodes ? flow::NodeDataLevel::kNone
                                                          : flow::NodeDataLevel::kBasic);
    }
  }
  statistics_ticker_ =
      std::make_unique<Ticker>(options.statistics_interval_s, [this] { publish_statistics(); });
  return {};
}

std::string Server::statistics(bool resets) {
  std::string lines;
  for (const auto& application : deployment_->applications) {
    for (const auto& flow : application->flows()) {
      lines += flow->statistics().snapshot_json(*flow, name_, resets) + "\n";
    }
  }
  return lines;
}

void Server::publish_statistics() {
  // What could not be written goes with the next snapshot, as long as it does not grow for ever.
  if (unwritten_statistics_.size() > kUnwrittenBytesMax) unwritten_statistics_.clear();
  unwritten_statistics_ += statistics(/*resets=*/true);
  Status status = io::append_file(statistics_file_, unwritten_statistics_);
  if (status.ok()) unwritten_statistics_.clear();
  if (!status.ok()) base::log_error(status.error());
}

void Server::stop() {
  if (is_stopped_) return;
  is_stopped_ = true;
  if (admin_) admin_->stop();
  if (http_) http_->stop(kStopGraceNs);
  for (const auto& application : deployment_->applications) application->stop();
  statistics_ticker_.reset();
  if (!statistics_file_.empty()) publish_statistics();
}

Server::~Server() {
  stop();
  admin_.reset();
  if (reactors_) reactors_->stop();
  // Requests and flows go when no reactor can run them any more, the HTTP server after its last
  // request.
  listener_.requests().clear();
  deployment_.reset();
  http_.reset();
}

}  // namespace millstream::server
