// HTTP/1.1 and HTTP/2 server, over TCP and TLS. Connections are state machines of a reactor; each
// complete request is handled in a fiber of that reactor. A handler replies at once or keeps the
// RequestRef and lets any fiber reply later; requests pipelined behind it wait.
//   auto server = Server::create(pool, options, handler);  server->listen("127.0.0.1", 0);
// Ownership: the reactor pool outlives the server, all RequestRefs die before the pool does.
// Thread: create, listen, stop and destroy on threads that are not reactors'.
#pragma once
#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "http/limits.h"
#include "http/request.h"
#include "net/reactor_pool.h"
#include "net/tls_reload.h"

namespace millstream::http {

struct ServerOptions {
  MessageLimits limits;
  // With a HeadCheck: bodies up to this are read without asking it.
  size_t unasked_body_bytes_max = 64 * 1024;
  size_t in_flight_max = 10'000;    // beyond: 503 with Retry-After
  size_t connections_max = 50'000;  // beyond: closed at once
  // Of requests being received or handled, on each reactor; a large body beyond it gets 503.
  size_t buffer_bytes_max = size_t{2} << 30;
  int64_t head_timeout_ns =
      10 * net::kSecond;  // from the first byte of a request to its last header
  int64_t idle_timeout_ns = 60 * net::kSecond;  // between requests
  // A body or a reply must advance by progress_bytes_min (or finish) in each such period.
  int64_t progress_timeout_ns = 30 * net::kSecond;
  size_t progress_bytes_min = 1024;
  int64_t reply_timeout_ns = 180 * net::kSecond;     // unless the handler sets another
  int64_t handshake_timeout_ns = 10 * net::kSecond;  // of TLS
  int64_t linger_timeout_ns = 5 * net::kSecond;      // after an error reply, so that it is seen
  std::string server_name;                           // Server header; empty: none
};

// What is special about one of the ports.
struct ListenOptions {
  std::shared_ptr<net::TlsServer> tls;  // null: plain HTTP
  bool offers_http2 = true;             // on plain ports to those who begin with it
};

// Sums over all reactors; consistent only when nothing runs.
struct ServerStats {
  uint64_t requests = 0;
  uint64_t refused = 0;  // 503 by limit or stop
  uint64_t bad_requests = 0;
  uint64_t reply_timeouts = 0;
  uint64_t connections_accepted = 0;
  uint64_t receive_calls = 0;
  uint64_t send_calls = 0;
  int64_t in_flight = 0;
  int64_t connections = 0;
};

class Server {
 public:
  // Runs in a fiber. The request is complete.
  using Handler = std::function<void(RequestRef)>;
  // Runs in a fiber before a large or chunked body is read, so that who may not send one does not:
  // the request has its head and no body. It replies, which ends the connection, or says how many
  // bytes the body may have; then they are read, and the handler gets the request as always, which
  // is another object. HTTP/1 only: such a server's ports must not offer HTTP/2.
  using HeadCheck = std::function<size_t(Request&)>;

  static std::unique_ptr<Server> create(net::ReactorPool& pool, ServerOptions options,
                                        Handler handler, HeadCheck head_check = {});
  ~Server();  // stop(0)
  // Returns the port, the given one or that which the system chose for 0. Several may be open.
  Result<int> listen(const std::string& host, int port, ListenOptions options = {});
  // Closes the listeners; new requests get 503 and Connection: close. Waits until the requests in
  // flight are answered or the grace is over, then closes all connections. Idempotent.
  void stop(int64_t grace_ns = 30 * net::kSecond);
  bool is_stopping() const { return is_stopping_.load(std::memory_order_acquire); }

  const ServerOptions& options() const { return options_; }
  ServerStats stats() const;
  net::ReactorPool& pool() { return pool_; }

 private:
  friend class Connection;
  friend class Http2Connection;
  friend class ServerShard;
  Server(net::ReactorPool& pool, ServerOptions options);
  ServerShard& shard_of(const net::Reactor& reactor);
  void adopt(net::Reactor& reactor, int fd, const ListenOptions& options);

  net::ReactorPool& pool_;
  ServerOptions options_;
  std::atomic<int64_t> in_flight_{0};
  std::atomic<int64_t> connections_{0};
  std::atomic<bool> is_stopping_{false};
  bool is_stopped_ = false;
  std::vector<ServerShard*> shards_;  // one a reactor; each ends with its last request
  std::vector<std::unique_ptr<ListenOptions>> ports_;  // outlive the connections
  std::vector<std::unique_ptr<net::Listener>> listeners_;
};

}  // namespace millstream::http
