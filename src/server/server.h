// A running integration server: reactors, the HTTP listener and the deployed applications, from
// start to graceful stop.
// Thread: create and stop on the main thread.
#pragma once
#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "admin/admin_server.h"
#include "admin/batch/batch_service.h"
#include "admin/mq/mq_rest.h"
#include "base/diagnostics.h"
#include "base/result.h"
#include "flow/services.h"
#include "http/server.h"
#include "net/reactor_pool.h"
#include "nodes/http/listener.h"
#include "observe/hub.h"
#include "server/application_host.h"
#include "server/deployment.h"
#include "server/flow_services.h"
#include "server/https_port.h"
#include "server/path_watch.h"
#include "server/queue_managers.h"
#include "server/wire_server.h"

namespace millstream::server {

constexpr int kDefaultAdminPort = 7600;
constexpr int kNoAdminPort = -1;
constexpr int kExitStoreFailed = 74;        // EX_IOERR
constexpr int kAdminPortFromSettings = -2;  // that of server.conf.yaml, else 7600 when it is free

// What flow tests put into a server. Must outlive it.
struct ServerHooks {
  net::ReactorOptions reactor;
  std::function<void(flow::Services&)> add_services;  // before anything is built
  // Each application when it is built and has not started. Its flows may be interposed here.
  std::function<void(ace::Application&)> on_built;
};

struct ServerOptions {
  DeploymentInput deployment;
  const ServerHooks* hooks = nullptr;  // null: none
  std::string host = "0.0.0.0";
  // -1: overrides/server.conf.yaml, server.conf.yaml, else 7800; 0: any free one.
  int http_port = -1;
  int https_port = HttpsPort::kPortFromSettings;  // else that of server.conf.yaml, else 7843
  std::string https_keystore;                     // PEM or PKCS#12; wins over server.conf.yaml
  std::string admin_keystore;                     // likewise; the admin port speaks HTTPS
  int admin_port = kNoAdminPort;                  // or kAdminPortFromSettings; 0: any free one
  int cores = 0;                                  // 0: as many as the machine has
  size_t in_flight_max = 10'000;
  size_t body_bytes_max = 64u << 20;
  bool is_watching = false;     // the paths may change
  bool is_partial = false;      // run what can run when some application was refused
  std::string statistics_file;  // snapshots are appended to it, one line a flow
  std::string otlp_url;         // of a collector of spans; empty: none unless set elsewhere
  std::vector<std::string> user_traced;  // flows; "*": all
  int statistics_interval_s = 20;
  std::vector<std::string> script_paths;  // where .mqsc files are looked for
  bool is_buffered = false;               // queue managers may write with fdatasync
  std::string queue_manager;  // made when it is not there, and the default one; empty: see below
  WireFlags wire;             // ports of messaging clients
  bool is_dev = false;        // loopback only, where everybody may do everything
};

// Owns all its parts.
class Server {
 public:
  static constexpr int kDefaultHttpPort = 7800;
  static constexpr int64_t kStopGraceNs = 30'000'000'000;

  // Builds, starts and listens. Diagnostics of loading are in `diagnostics` either way.
  static Result<std::unique_ptr<Server>> start(const ServerOptions& options,
                                               base::Diagnostics& diagnostics);
  ~Server();
  // New requests are refused, those in flight have up to 30 s. Idempotent.
  void stop();

  int http_port() const { return port_; }
  int https_port() const { return https_.is_open() ? https_.port() : 0; }  // 0: not open
  net::ReactorPool& reactors() { return *reactors_; }
  const admin::AdminServer* admin() const { return admin_.get(); }  // null: no admin port
  http::ServerStats http_statistics() const { return http_->stats(); }
  // Those that run now; the list and what is in it live as long as somebody holds it.
  std::shared_ptr<const Applications> applications() const { return host_->applications(); }
  ApplicationHost& host() { return *host_; }
  const ApplicationHost& host() const { return *host_; }
  // Reads the paths again whenever they change; reports come on a thread of the watch.
  Status watch(std::function<void(const ChangeReport&)> on_report);
  const std::string& name() const { return name_; }
  // One JSON record a flow and line; counting starts anew when `resets`.
  std::string statistics(bool resets) { return hub_.statistics_lines(resets); }
  observe::Hub& hub() { return hub_; }
  // Those of the work directory, and the default one when the command line, server.conf.yaml or an
  // .mqsc file among the paths asks for it.
  QueueManagers& queue_managers() { return *queue_managers_; }
  // Where messaging clients come in.
  std::vector<WireChannels::Open> client_ports() const { return wire_->ports(); }

 private:
  Server() = default;
  Status start_applications(const ServerOptions& options, base::Diagnostics& diagnostics);
  void configure_https(const ServerOptions& options, const HttpsConf& conf);
  Status reconfigure(const ServerConf& conf, base::Diagnostics& diagnostics);
  Status start_reactors(const ServerOptions& options);
  Status start_queue_managers(const ServerOptions& options);
  Status listen(const ServerOptions& options);
  Status listen_for_clients(const ServerOptions& options, base::Diagnostics& diagnostics);
  Status listen_for_admin(const ServerOptions& options, base::Diagnostics& diagnostics);
  void add_admin_routes(const AdminConf& conf, bool is_dev);
  Status observe_flows(const ServerOptions& options, const ServerConf& conf,
                       base::Diagnostics& diagnostics);
  void collect_http_metrics(base::MetricWriter& writer) const;

  std::string name_;
  observe::Hub hub_;  // outlives all flows
  flow::Services services_;
  nodes::http::HttpListener listener_;
  nodes::common::Credentials credentials_;
  std::unique_ptr<nodes::common::HttpClientSecurity> client_security_;
  FlowServices flow_services_;
  HttpsPort https_;
  std::unique_ptr<ApplicationHost> host_;
  const ServerHooks* hooks_ = nullptr;
  std::string https_keystore_;              // of the command line
  std::optional<ServerConf> refused_conf_;  // listeners that a change wanted and did not get
  std::unique_ptr<net::ReactorPool> reactors_;
  std::unique_ptr<QueueManagers> queue_managers_;
  std::unique_ptr<WireServer> wire_;
  std::unique_ptr<http::Server> http_;
  std::unique_ptr<admin::MqRest> mq_rest_;
  std::shared_ptr<admin::batch::BatchService> batches_;  // with its routes in `admin_`
  std::unique_ptr<admin::AdminServer> admin_;
  std::unique_ptr<PathWatch> watch_;
  int port_ = 0;
  bool is_stopped_ = false;
};

}  // namespace millstream::server
