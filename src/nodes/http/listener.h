// The HTTP connector of a server: which HTTPInput node answers which URL. The most specific path
// wins: an exact one before patterns, longer patterns ("/orders/*") before shorter ones.
// Thread: add and remove while deploying (any thread); handle() from every reactor, which takes a
// reference to an immutable table.
#pragma once
#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "flow/endpoint_registry.h"
#include "http/request.h"
#include "nodes/http/cors.h"
#include "nodes/http/request_table.h"

namespace millstream::nodes::http {

// An HTTPInput node as the listener sees it.
class UrlHandler {
 public:
  virtual ~UrlHandler() = default;
  virtual void handle(millstream::http::RequestRef request) = 0;
  virtual std::string node_label() const = 0;
  virtual std::string flow_name() const = 0;
  virtual std::string application_name() const = 0;
};

// A path, and whether everything below it is meant too.
struct UrlPattern {
  std::string path;  // begins with '/'; without the '*'
  bool is_prefix = false;
};
Result<UrlPattern> parse_url_specifier(std::string_view specifier);

class HttpListener final : public flow::EndpointRegistry {
 public:
  // The port is for endpoint texts and X-Server-Port; set once it is bound.
  void set_port(int port) { port_.store(port, std::memory_order_relaxed); }
  int port() const { return port_.load(std::memory_order_relaxed); }
  // The same of the HTTPS port.
  void set_secure_port(int port) { secure_port_.store(port, std::memory_order_relaxed); }
  int secure_port() const { return secure_port_.load(std::memory_order_relaxed); }
  // Asked before the first URL on HTTPS is added, and each time after that: whether it can be
  // listened to. Without one it cannot.
  void set_secure_opener(std::function<Status()> opener) { open_secure_ = std::move(opener); }
  // Every URL is on HTTPS, whatever its node says. Before deployment.
  void set_forces_secure(bool forces) { forces_secure_ = forces; }
  bool forces_secure() const { return forces_secure_; }
  // There is no HTTPS port, and no URL is kept from the other one: flow tests. Before deployment.
  void set_has_one_port(bool has) { has_one_port_ = has; }
  // Cross-origin requests to either port; null: not for them. Before deployment.
  void set_cors(std::shared_ptr<Cors> plain, std::shared_ptr<Cors> secure) {
    cors_ = std::move(plain);
    secure_cors_ = std::move(secure);
  }
  // `is_secure`: reachable on the HTTPS port alone, else on the HTTP port alone.
  Status add(const UrlPattern& pattern, std::shared_ptr<UrlHandler> handler,
             bool is_secure = false);
  void remove(const UrlHandler* handler);
  void begin_change() override;
  void end_change() override;
  // In a fiber: the server's handler. Unknown URL: 404.
  void handle(millstream::http::RequestRef request);
  // Of a request body, also when it is unpacked.
  void set_body_bytes_max(size_t bytes) { body_bytes_max_ = bytes; }
  size_t body_bytes_max() const { return body_bytes_max_; }
  RequestTable& requests() { return requests_; }

 private:
  struct Entry {
    UrlPattern pattern;
    std::shared_ptr<UrlHandler> handler;
  };
  using Entries = std::vector<Entry>;  // exact ones sorted by path, then prefixes, longest first
  struct Table {
    Entries plain, secure;
  };
  static UrlHandler* find(const Entries& entries, std::string_view path);
  std::shared_ptr<const Table> table() const { return std::atomic_load(&table_); }

  std::shared_ptr<Table> editable_table() const;
  void publish(std::shared_ptr<Table> changed);

  std::mutex mutex_;                // serialises changes; leaf lock
  std::shared_ptr<Table> pending_;  // between begin_change() and end_change()
  std::shared_ptr<const Table> table_ = std::make_shared<Table>();
  RequestTable requests_;
  std::shared_ptr<Cors> cors_, secure_cors_;  // shared with replies on their way
  std::function<Status()> open_secure_;
  bool forces_secure_ = false;
  bool has_one_port_ = false;
  size_t body_bytes_max_ = size_t{64} << 20;
  std::atomic<int> secure_port_{0};
  std::atomic<int> port_{0};  // requests may come before the server has told it
};

}  // namespace millstream::nodes::http
