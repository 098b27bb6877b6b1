// HTTP/1.1 client over TCP and TLS: one pool of keep-alive connections a reactor, used by fibers.
// Connecting, sending and receiving suspend the calling fiber. Redirects are the caller's (see
// is_redirect and resolve_redirect).
//
// Failures of the transport come as BIP3152 (host, port, path) with the cause nested: BIP3150
// socket error, BIP3151 time-out, BIP3161 closed too early, MS1300 name look-up. A request on a
// pooled connection that turns out to be closed is sent once more on a new one when that cannot do
// it twice: nothing of a reply has come, and the method is idempotent or not all of the request was
// sent. Ownership: a ClientPool belongs to one reactor and dies on its thread, or after the reactor
// has ended. Thread: the reactor's, in fibers.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "http/headers.h"
#include "http/limits.h"
#include "http/url.h"
#include "net/buffer_pool.h"
#include "net/deadline.h"
#include "net/reactor.h"
#include "net/tls_engine.h"

struct iovec;

namespace millstream::net {
class Socket;
}

namespace millstream::http {

// What carries bytes: plain TCP, TLS.
class Transport {
 public:
  virtual ~Transport() = default;
  // At least one byte, 0 at the end of the stream.
  virtual Result<size_t> read_some(char* data, size_t size, int64_t deadline_ns) = 0;
  virtual Status write_all(iovec* parts, int count, int64_t deadline_ns, size_t* sent) = 0;
  // False when the other side has closed or sent something unasked.
  virtual bool is_idle() = 0;
  // What a later connection may resume; empty when there is nothing new.
  virtual net::TlsSession take_session() { return {}; }
};

// http URLs are asked of it in absolute form, https URLs through a tunnel (CONNECT).
struct Proxy {
  std::string host;  // empty: none
  int port = 0;
  std::string authorization;  // value of Proxy-Authorization; empty: none
  Headers connect_headers;    // more fields of the CONNECT request
};

struct ClientRequest {
  std::string method = "POST";
  Url url;
  std::shared_ptr<const net::TlsContext> tls;  // for https URLs
  Headers headers;        // Host, Content-Length and Connection are added; Host may be given
  std::string_view body;  // must live until send() returns
  bool sends_empty_body = false;  // Content-Length: 0 also for methods that usually have no body
  int64_t deadline_ns = net::kNever;
  bool is_http10 = false;
  bool must_keep_alive = true;  // false: Connection: close
  Proxy proxy;
  size_t body_bytes_max = 64 * 1024 * 1024;  // of the reply
};

struct ClientResponse {
  int status = 0;
  std::string_view reason;
  Headers headers;
  std::string_view body;  // contiguous, with net::Buffer::kPadding readable bytes behind it
  net::Buffer buffer;     // what the views point into
  size_t sent_bytes = 0;
  size_t received_bytes = 0;
};

// Answers requests in place of the network, as the back ends of flow tests do.
class ClientStandIn {
 public:
  // Fills `response`; its views point into its buffer, which comes from the reactor's pool. May
  // suspend the fiber.
  virtual Status answer(const ClientRequest& request, net::Reactor& reactor,
                        ClientResponse& response) = 0;

 protected:
  ~ClientStandIn() = default;
};
// For the pools of the calling thread that do not ask for the network; null: none.
void set_client_stand_in(ClientStandIn* stand_in);

struct ClientOptions {
  size_t idle_connections_max = 2000;  // a host and port
  int64_t idle_timeout_ns = 55 * net::kSecond;
  MessageLimits limits;            // of reply heads; the body limit is the request's
  bool is_always_network = false;  // also where a stand-in is set
};

class ClientPool {
 public:
  static constexpr int64_t kSweepNs = 10 * net::kSecond;
  static constexpr size_t kSessionsMax = 1000;  // beyond: all are forgotten

  explicit ClientPool(net::Reactor& reactor, ClientOptions options = {});
  ~ClientPool();

  Result<ClientResponse> send(const ClientRequest& request);
  void close_idle();
  size_t idle_connections() const { return idle_count_; }
  uint64_t connections_made() const { return connections_made_; }

 private:
  struct Idle {
    std::unique_ptr<Transport> transport;
    int64_t until_ns;
  };
  struct Exchange;
  Result<std::unique_ptr<net::Socket>> connect_socket(const std::string& host, int port,
                                                      int64_t deadline_ns);
  Result<std::unique_ptr<Transport>> connect(const ClientRequest& request, const std::string& key);
  void keep_session(const std::string& key, net::TlsSession session);
  std::unique_ptr<Transport> take_idle(const std::string& key);
  void sweep();
  void give_back(const std::string& key, std::unique_ptr<Transport> transport);
  Status run(Exchange& exchange);
  Status read_response(Exchange& exchange);
  Status read_head(Exchange& exchange);
  Status read_body(Exchange& exchange);
  Status read_chunked(Exchange& exchange);
  Status receive(Exchange& exchange, size_t target);

  net::Reactor& reactor_;
  ClientOptions options_;
  std::unordered_map<std::string, std::vector<Idle>> idle_;
  size_t idle_count_ = 0;
  std::unordered_map<std::string, net::TlsSession> sessions_;  // the newest of each target
  uint64_t connections_made_ = 0;
  net::Timer sweep_timer_;  // drops idle connections that are over or closed
};

// 301, 302, 303, 307 or 308 with a Location.
bool is_redirect(const ClientResponse& response);
// The method of the request that follows: 303, and 301 or 302 after POST, become GET without a
// body.
std::string redirect_method(int status, const std::string& method);

}  // namespace millstream::http
