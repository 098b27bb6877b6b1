// The admin port: an HTTP listener of its own beside that of the flows, on the same reactors, with
// handlers by method and path.
//   AdminServer admin(options);
//   admin.add("GET", "/apiv2/applications/{application}", [&](const AdminRequest& r) { ... });
//   MS_TRY(admin.listen(reactors, "127.0.0.1", 0));
//
// Without a gate whoever reaches the port may deploy: such a port is for the loopback address
// alone, which is its owner's to see to. There it refuses what a web page of another site could
// send through the browser of somebody on this machine: foreign Origin headers, and Host names that
// only a rebound DNS name would have. Lifetime: handlers may use what outlives stop(). Thread: add,
// listen and stop by the owner; a handler runs in a fiber of any reactor or on a thread of the
// blocking pool.
#pragma once
#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "admin/admin_gate.h"
#include "admin/router.h"
#include "base/result.h"
#include "http/server.h"
#include "net/reactor_pool.h"

namespace millstream::admin {

struct AdminOptions {
  size_t body_bytes_max = size_t{256} << 20;  // a BAR file
  size_t connections_max = 1'024;
  size_t in_flight_max = 512;                     // many may wait for a message
  int64_t reply_timeout_ns = 600 * net::kSecond;  // a large deployment
};

class AdminServer {
 public:
  explicit AdminServer(AdminOptions options = {}) : options_(options) {}
  ~AdminServer();  // stops, and waits for handlers that still run
  // Before listen(). Of several routes of a path the most literal one answers.
  void add(std::string_view method, std::string_view path_template, AdminHandler handler,
           HandlerPlace place = HandlerPlace::kReactor, RouteRules rules = {});
  // What the server itself refuses below a prefix (no such path or method, a foreign sender) is
  // told as this says. Before listen().
  using ErrorReply = std::function<AdminReply(int status, const base::Error& error)>;
  void set_error_reply(std::string prefix, ErrorReply reply);
  // From listen() on every route but those of AdminRight::kOwn passes it. Null: none.
  void set_gate(std::unique_ptr<const AdminGate> gate) { gate_ = std::move(gate); }
  // With `tls` the port speaks HTTPS only.
  Status listen(net::ReactorPool& reactors, const std::string& host, int port,
                std::shared_ptr<net::TlsServer> tls = nullptr);
  // Requests in flight have the grace to finish. Idempotent.
  void stop(int64_t grace_ns = 5 * net::kSecond);
  int port() const { return port_; }
  const std::string& host() const { return host_; }
  // What a client on this machine uses: "http://127.0.0.1:7600".
  std::string url() const;

 private:
  void handle(http::RequestRef request);
  size_t check_head(http::Request& request) const;
  AdminReply answer(http::Request& request) const;
  static void send(http::Request& request, AdminReply reply);
  std::optional<AdminReply> find_route(const http::Request& request, Router::Match& match) const;
  static AdminRequest make_request(http::Request& request, Router::Match& match);
  std::optional<AdminReply> check_right(const AdminRequest& admin, const RouteRules& rules) const;
  AdminReply refuse_body(const http::Request& request, const RouteRules& rules) const;
  AdminReply refuse(std::string_view path, int status, const base::Error& error) const;
  Status check_sender(const http::Request& request) const;

  const AdminOptions options_;
  Router router_;
  std::unique_ptr<const AdminGate> gate_;
  std::vector<std::pair<std::string, ErrorReply>> error_replies_;
  std::unique_ptr<http::Server> http_;
  std::string host_;
  int port_ = 0;
  bool is_loopback_ = true;
  bool is_secure_ = false;
  mutable std::atomic<int> running_{0};  // handlers and checks
};

// "localhost", an IPv4 or a bracketed IPv6 address: what DNS cannot have been made to point here.
bool is_unforgeable_host(std::string_view authority);
// "localhost", "127.0.0.1", "::1": an address to listen on that only this machine reaches.
bool is_loopback_host(std::string_view host);

}  // namespace millstream::admin
