// One request of the server from its last byte to the end of both its reply and its users. A
// Request owns the buffer its views point into, and the reply. It is pooled by its connection's
// reactor.
//
// Who wants to reply claims the reply first: of several flows, time-outs and refusals exactly one
// wins.
//   if (Response* r = request->claim_reply()) { r->body = ...; request->send_reply(); }
// Thread: claim and send on any thread; body and headers are read-only and may be read on any
// thread.
#pragma once
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "http/message_parser.h"
#include "http/response.h"

namespace millstream::net {
class Reactor;
struct TlsPeer;
}  // namespace millstream::net

namespace millstream::http {

class ServerShard;
class Request;

// The connection that a request came on, as the request sees it: HTTP/1.1 or HTTP/2.
class RequestHost {
 public:
  virtual void send(Request& request) = 0;  // the claimed reply
  virtual void set_reply_deadline(Request& request, int64_t deadline_ns) = 0;
  virtual std::string_view peer() = 0;
  virtual const net::TlsPeer* tls_peer() = 0;
  // A client that has sent its last byte counts as gone.
  virtual void set_ends_with_input() {}
  // Reads the body of a request whose head was looked at.
  virtual void go_on(Request&, size_t /*body_bytes_max*/) {}

 protected:
  ~RequestHost() = default;
};

// Looks at a reply after it was claimed and filled, before it goes out, and may change it: headers
// of the listener, checks against a document. Thread: that of whoever replies.
class ReplyFilter {
 public:
  virtual ~ReplyFilter() = default;
  virtual void before_send(Request& request, Response& response) = 0;
};

// Shared handle; the connection holds one, handlers and pending replies the others.
class RequestRef {
 public:
  RequestRef() = default;
  explicit RequestRef(Request* adopted) : request_(adopted) {}
  RequestRef(const RequestRef& other);
  RequestRef(RequestRef&& other) noexcept : request_(other.release()) {}
  RequestRef& operator=(RequestRef other) noexcept {
    std::swap(request_, other.request_);
    return *this;
  }
  ~RequestRef();
  Request* operator->() const { return request_; }
  Request& operator*() const { return *request_; }
  Request* get() const { return request_; }
  explicit operator bool() const { return request_ != nullptr; }
  Request* release() {
    Request* out = request_;
    request_ = nullptr;
    return out;
  }

 private:
  Request* request_ = nullptr;
};

class Request {
 public:
  const RequestHead& head() const { return head_; }
  std::string_view method() const { return head_.method; }
  std::string_view path() const { return head_.path; }
  std::string_view query() const { return head_.query; }
  const Headers& headers() const { return headers_; }
  // Contiguous, with at least net::Buffer::kPadding readable bytes behind it.
  std::string_view body() const { return body_; }
  // Another body in place of the received one, e.g. unpacked. Reactor thread, before it is read.
  void replace_body(net::Buffer buffer, size_t size) {
    body_buffer_ = std::move(buffer);
    body_ = {body_buffer_.data(), size};
  }
  // What such bodies may take before the server's limit of buffered bytes. Reactor thread.
  size_t buffer_room() const;
  bool has_replaced_body() const { return static_cast<bool>(body_buffer_); }
  uint64_t id() const { return id_; }                 // unique in the server's life
  int64_t arrival_ns() const { return arrival_ns_; }  // reactor clock, when complete
  net::Reactor& reactor() const;                      // of the connection
  // "address:port" of the client, empty once the exchange is over; valid until then. Reactor
  // thread.
  std::string_view peer() const;
  bool is_secure() const { return is_secure_; }  // came over TLS
  // The client's verified certificate; null without one, and once the exchange is over. Reactor
  // thread.
  const net::TlsPeer* tls_peer() const;

  // The response to fill, or null when somebody else has claimed the reply or the time is over.
  Response* claim_reply();
  // After a claim. False when the client is known to be gone.
  bool send_reply();
  // Claims, fills and sends; false when it was too late.
  bool reply(int status, std::string_view content_type, std::string body);
  bool is_replied() const { return is_claimed_.load(std::memory_order_acquire); }

  // Reactor thread. When the time is over without a claim, `on_timeout` runs in a fiber (it may
  // reply); without one, or if it does not claim, the client gets 504. kNever: wait for ever.
  void set_reply_deadline(int64_t deadline_ns, std::function<void(RequestRef)> on_timeout = {});

  // Reactor thread. Called there, outside fibers, when the exchange ends, replied to or not; at
  // once when it has ended. For whoever keeps a reference and would wait in vain for a time-out.
  void set_on_gone(std::function<void(Request&)> on_gone);

  // Reactor thread. A client that closes its side of the connection counts as gone, though it may
  // still read: for requests that wait and take something that nobody must lose. HTTP/1; over
  // HTTP/2 a closed connection is the end anyway.
  void end_with_input() {
    if (connection_) connection_->set_ends_with_input();
  }

  // Before the request is handed on: filters run in this order. They are shared with the request,
  // because a reply may come after whoever added them has gone. A time-out's own reply passes none.
  void add_reply_filter(std::shared_ptr<ReplyFilter> filter) {
    filters_.push_back(std::move(filter));
  }

  // One pointer for the user of the server, e.g. a per-URL context. Not owned.
  void* user = nullptr;

 private:
  friend class Connection;
  friend class Http2Connection;
  friend class RequestRef;
  friend class ServerShard;
  explicit Request(ServerShard& shard) : shard_(shard) {}
  void drop();  // one reference
  void recycle();

  ServerShard& shard_;
  std::atomic<uint32_t> references_{0};
  std::atomic<bool> is_claimed_{false};
  std::atomic<bool> is_gone_{false};
  RequestHost* connection_ = nullptr;  // reactor thread; null once the exchange is over
  bool is_secure_ = false;
  net::Buffer buffer_;
  net::Buffer body_buffer_;  // of replace_body()
  RequestHead head_;
  Headers headers_;
  std::string_view body_;
  uint64_t id_ = 0;
  int64_t arrival_ns_ = 0;
  Response response_;
  std::string head_out_;
  std::string head_text_;  // what head_ points into, when that is not the buffer
  std::function<void(RequestRef)> on_timeout_;
  std::function<void(Request&)> on_gone_;
  std::vector<std::shared_ptr<ReplyFilter>> filters_;
};

}  // namespace millstream::http
