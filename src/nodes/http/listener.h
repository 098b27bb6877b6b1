// The HTTP connector of a server: which HTTPInput node answers which URL. The most specific path
// wins: an exact one before patterns, longer patterns ("/orders/*") before shorter ones.
// Thread: add and remove while deploying (any thread); handle() from every reactor, which takes a
// reference to an immutable table.
#pragma once
#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "http/request.h"
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

class HttpListener {
 public:
  // The port is for endpoint texts and X-Server-Port; set once it is bound.
  void set_port(int port) { port_.store(port, std::memory_order_relaxed); }
  int port() const { return port_.load(std::memory_order_relaxed); }
  Status add(const UrlPattern& pattern, std::shared_ptr<UrlHandler> handler);
  void remove(const UrlHandler* handler);
  // In a fiber: the server's handler. Unknown URL: 404.
  void handle(millstream::http::RequestRef request);
  RequestTable& requests() { return requests_; }

 private:
  struct Entry {
    UrlPattern pattern;
    std::shared_ptr<UrlHandler> handler;
  };
  using Table = std::vector<Entry>;  // exact ones sorted by path, then prefixes, longest first
  static UrlHandler* find(const Table& table, std::string_view path);
  std::shared_ptr<const Table> table() const { return std::atomic_load(&table_); }

  std::mutex mutex_;  // serialises changes; leaf lock
  std::shared_ptr<const Table> table_ = std::make_shared<Table>();
  RequestTable requests_;
  std::atomic<int> port_{0};  // requests may come before the server has told it
};

}  // namespace millstream::nodes::http
