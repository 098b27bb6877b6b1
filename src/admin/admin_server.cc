#include "admin/admin_server.h"

#include <algorithm>

#include "admin/errors_gen.h"
#include "http/url.h"
#include "net/blocking_pool.h"

namespace millstream::admin {
namespace {

constexpr std::string_view kDigitsAndDots = "0123456789.";

std::string_view without_port(std::string_view authority) {
  if (authority.starts_with('[')) return authority.substr(0, authority.find(']') + 1);
  return authority.substr(0, authority.find(':'));
}

}  // namespace

bool is_loopback_host(std::string_view host) {
  return host == "localhost" || queue::security::is_loopback_address(host);
}

bool is_unforgeable_host(std::string_view authority) {
  const std::string_view host = without_port(authority);
  if (host.empty()) return true;  // HTTP/1.0 tools
  if (host.front() == '[' || http::equals_ignore_case(host, "localhost")) return true;
  return host.find_first_not_of(kDigitsAndDots) == std::string_view::npos;
}

AdminServer::~AdminServer() {
  stop(0);
  // Polled: the end of a server is rare, and handlers may use what goes after this object.
  while (running_.load(std::memory_order_acquire) > 0) net::sleep_for(2 * net::kMillisecond);
}

void AdminServer::add(std::string_view method, std::string_view path_template, AdminHandler handler,
                      HandlerPlace place, RouteRules rules) {
  router_.add(method, path_template, std::move(handler), place, std::move(rules));
}

void AdminServer::set_error_reply(std::string prefix, ErrorReply reply) {
  error_replies_.emplace_back(std::move(prefix), std::move(reply));
}

Status AdminServer::listen(net::ReactorPool& reactors, const std::string& host, int port,
                           std::shared_ptr<net::TlsServer> tls) {
  http::ServerOptions options;
  options.limits.body_bytes_max = options_.body_bytes_max;
  options.in_flight_max = options_.in_flight_max;
  options.connections_max = options_.connections_max;
  options.buffer_bytes_max = 2 * options_.body_bytes_max;
  options.reply_timeout_ns = options_.reply_timeout_ns;
  auto server = http::Server::create(
      reactors, std::move(options), [this](http::RequestRef r) { handle(std::move(r)); },
      [this](http::Request& r) { return check_head(r); });
  host_ = host;
  is_loopback_ = is_loopback_host(host);
  is_secure_ = tls != nullptr;
  // HTTP/2 has no look at heads before the body.
  port_ = MS_TRY(server->listen(host, port, {std::move(tls), /*offers_http2=*/false}));
  http_ = std::move(server);
  return {};
}

void AdminServer::stop(int64_t grace_ns) {
  if (http_) http_->stop(grace_ns);
}

std::string AdminServer::url() const {
  const bool is_any = host_.empty() || host_ == "0.0.0.0" || host_ == "::" || host_ == "*";
  const std::string host = is_any ? "127.0.0.1" : host_;
  const bool is_v6 = host.find(':') != std::string::npos;
  return std::string(is_secure_ ? "https://" : "http://") + (is_v6 ? "[" + host + "]" : host) +
         ":" + std::to_string(port_);
}

void AdminServer::handle(http::RequestRef request) {
  running_.fetch_add(1, std::memory_order_relaxed);
  AdminReply reply = answer(*request);
  running_.fetch_sub(1, std::memory_order_release);
  send(*request, std::move(reply));
}

// A large body is read when its sender may do what he asks for, and no further than that needs.
size_t AdminServer::check_head(http::Request& request) const {
  Router::Match match;
  std::optional<AdminReply> refusal = find_route(request, match);
  if (!refusal) {
    const RouteRules& rules = match.route->rules;
    if (request.head().content_length > rules.body_bytes_max) {
      refusal = refuse_body(request, rules);
    } else {
      running_.fetch_add(1, std::memory_order_relaxed);
      refusal = check_right(make_request(request, match), rules);
      running_.fetch_sub(1, std::memory_order_release);
    }
    if (!refusal) return rules.body_bytes_max;
  }
  send(request, std::move(*refusal));
  return 0;
}

void AdminServer::send(http::Request& request, AdminReply reply) {
  http::Response* response = request.claim_reply();
  if (!response) return;
  response->status = reply.status;
  if (!reply.body.empty()) response->headers.add("Content-Type", reply.content_type);
  if (!reply.allow.empty()) response->headers.add("Allow", reply.allow);
  for (const auto& [name, value] : reply.headers) response->headers.add(name, value);
  response->headers.add("Cache-Control", "no-store");
  response->headers.add("X-Content-Type-Options", "nosniff");
  response->body = std::move(reply.body);
  request.send_reply();
}

AdminReply AdminServer::refuse(std::string_view path, int status, const base::Error& error) const {
  for (const auto& [prefix, reply] : error_replies_) {
    if (path.starts_with(prefix)) return reply(status, error);
  }
  return error_reply(status, error);
}

std::optional<AdminReply> AdminServer::find_route(const http::Request& request,
                                                  Router::Match& match) const {
  Status sender = check_sender(request);
  if (!sender.ok()) return refuse(request.path(), 403, sender.error());
  match = router_.find(request.method(), request.path());
  if (match.route) return {};
  if (match.allowed.empty()) {
    return refuse(request.path(), 404,
                  base::make_error(errors::kNoSuchResource, {request.path()}).error());
  }
  Status status = base::make_error(errors::kMethodNotAllowed,
                                   {request.method(), request.path(), match.allowed});
  AdminReply reply = refuse(request.path(), 405, status.error());
  reply.allow = match.allowed;
  return reply;
}

AdminRequest AdminServer::make_request(http::Request& request, Router::Match& match) {
  return {request.method(),
          request.path(),
          request.headers(),
          request.body(),
          http::parse_query(request.query()),
          std::move(match.parameters),
          &request};
}

std::optional<AdminReply> AdminServer::check_right(const AdminRequest& admin,
                                                   const RouteRules& rules) const {
  if (rules.right == AdminRight::kOwn) {
    return rules.check_head ? rules.check_head(admin) : std::nullopt;
  }
  if (!gate_) return {};
  const bool is_reading = admin.method == "GET" || admin.method == "HEAD";
  const AdminRight by_method = is_reading ? AdminRight::kRead : AdminRight::kExecute;
  const bool is_by_method = rules.right == AdminRight::kByMethod;
  return gate_->check(admin, is_by_method ? by_method : rules.right);
}

AdminReply AdminServer::refuse_body(const http::Request& request, const RouteRules& rules) const {
  Status status = base::make_error(errors::kBodyTooLong,
                                   {request.path(), static_cast<int64_t>(rules.body_bytes_max)});
  return refuse(request.path(), 413, status.error());
}

AdminReply AdminServer::answer(http::Request& request) const {
  Router::Match match;
  if (auto refusal = find_route(request, match)) return std::move(*refusal);
  const RouteRules& rules = match.route->rules;
  const AdminRequest admin = make_request(request, match);
  if (rules.right != AdminRight::kOwn) {  // which ask in their handler
    if (auto refusal = check_right(admin, rules)) return std::move(*refusal);
  }
  if (admin.body.size() > rules.body_bytes_max) return refuse_body(request, rules);
  if (match.route->place == HandlerPlace::kReactor) return match.route->handler(admin);
  AdminReply reply;
  net::run_blocking([&] { reply = match.route->handler(admin); });
  return reply;
}

Status AdminServer::check_sender(const http::Request& request) const {
  const std::string_view host = request.headers().get("Host");
  if (is_loopback_ && !is_unforgeable_host(host)) {
    return base::make_error(errors::kForeignHost, {host});
  }
  std::string_view origin = request.headers().get("Origin");
  const size_t scheme = origin.find("://");
  const std::string_view from =
      scheme == std::string_view::npos ? origin : origin.substr(scheme + 3);
  if (!origin.empty() && !http::equals_ignore_case(from, host)) {
    return base::make_error(errors::kForeignOrigin, {origin});
  }
  return {};
}

}  // namespace millstream::admin
