// What the server keeps on each reactor: connections, pooled requests, counters. Internal to http.
// Ownership: made by the server; deleted by retire() or with the last live request after it.
// Thread: the reactor's; counters are read from any thread.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/counter.h"
#include "http/date.h"
#include "http/server.h"

namespace millstream::http {

class Request;

// A connection in the list of its shard.
class ShardMember {
 public:
  virtual void close() = 0;
  virtual void begin_stop() {}  // the server is stopping; requests in flight are finished

 protected:
  ~ShardMember() = default;

 private:
  friend class ServerShard;
  ShardMember* previous_ = nullptr;
  ShardMember* next_ = nullptr;
};

class ServerShard {
 public:
  static constexpr size_t kFreeRequestsMax = 1024;
  static constexpr size_t kKeptBodyBytesMax = 64 * 1024;  // capacity a pooled reply may keep

  // Shares the handlers with the other shards and the server: it lives as long as a request does.
  struct Handlers {
    Server::Handler handle;
    Server::HeadCheck head_check;  // may be empty
  };
  using HandlersPtr = std::shared_ptr<const Handlers>;

  ServerShard(Server& server, net::Reactor& reactor, uint64_t index, HandlersPtr handlers)
      : server_(server),
        reactor_(reactor),
        handlers_(std::move(handlers)),
        next_id_(index << 48 | 1) {}
  ~ServerShard();
  Server& server() { return server_; }
  net::Reactor& reactor() const { return reactor_; }
  const Server::Handler& handler() const { return handlers_->handle; }
  bool has_head_check() const { return static_cast<bool>(handlers_->head_check); }
  std::string_view date() { return date_.text(reactor_.now_ns()); }

  Request* take_request();
  void recycle(Request* request);
  void link(ShardMember& connection);
  void unlink(ShardMember& connection);
  void close_all();
  void begin_stop();

  // What a connection does with a complete request, whatever its protocol. Counts it; the result
  // says whether it may be handled, else the refusal is filled in and must be sent.
  bool admit(Request& request, bool& is_counted);
  void handle(Request& request);  // runs the handler in a fiber
  void ask(Request& request);     // the same with the head check; the host's go_on() when it agrees
  // The exchange is over: the request loses its connection and the connection's reference.
  void end_exchange(Request& request, bool is_counted);
  // The time for a reply is over: runs the handler's on_timeout, or answers 504.
  void time_out(Request& request);
  void retire();  // the server ends: no connection is left

  base::Counter requests, refused, bad_requests, reply_timeouts, accepted, receive_calls,
      send_calls;

 private:
  Server& server_;
  net::Reactor& reactor_;
  HandlersPtr handlers_;
  DateCache date_;
  uint64_t next_id_;
  std::vector<Request*> free_requests_;
  size_t live_requests_ = 0;
  bool is_retired_ = false;
  ShardMember* first_ = nullptr;
};

}  // namespace millstream::http
