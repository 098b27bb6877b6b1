#include "http/server.h"

#include <unistd.h>

#include "http/connection.h"
#include "http/errors_gen.h"
#include "http/server_shard.h"
#include "net/waiting.h"

namespace millstream::http {

ServerShard::~ServerShard() {
  for (Request* request : free_requests_) delete request;
}

Request* ServerShard::take_request() {
  Request* request;
  if (free_requests_.empty()) {
    request = new Request(*this);  // pooled; see recycle()
  } else {
    request = free_requests_.back();
    free_requests_.pop_back();
  }
  ++live_requests_;
  request->id_ = next_id_++;
  request->references_.store(1, std::memory_order_relaxed);
  return request;
}

void ServerShard::recycle(Request* request) {
  request->buffer_.release();
  request->body_buffer_.release();
  request->response_.clear();
  if (request->response_.body.capacity() > kKeptBodyBytesMax) {
    std::string().swap(request->response_.body);
  }
  request->headers_.clear();
  request->head_ = {};
  request->body_ = {};
  request->head_out_.clear();
  request->head_text_.clear();
  request->is_secure_ = false;
  request->on_timeout_ = nullptr;
  request->on_gone_ = nullptr;
  request->filters_.clear();
  request->connection_ = nullptr;
  request->user = nullptr;
  request->is_claimed_.store(false, std::memory_order_relaxed);
  request->is_gone_.store(false, std::memory_order_relaxed);
  --live_requests_;
  if (free_requests_.size() < kFreeRequestsMax) {
    free_requests_.push_back(request);
  } else {
    delete request;
  }
  if (is_retired_ && live_requests_ == 0) delete this;
}

void ServerShard::link(ShardMember& connection) {
  connection.next_ = first_;
  if (first_) first_->previous_ = &connection;
  first_ = &connection;
}

void ServerShard::unlink(ShardMember& connection) {
  (connection.previous_ ? connection.previous_->next_ : first_) = connection.next_;
  if (connection.next_) connection.next_->previous_ = connection.previous_;
  connection.previous_ = connection.next_ = nullptr;
}

void ServerShard::close_all() {
  while (first_) first_->close();
}

void ServerShard::begin_stop() {
  for (ShardMember* at = first_; at;) {
    ShardMember* next = at->next_;  // it may close itself
    at->begin_stop();
    at = next;
  }
}

bool ServerShard::admit(Request& request, bool& is_counted) {
  requests.add();
  const bool is_stopping = server_.is_stopping();
  if (!is_stopping) {
    const int64_t in_flight = server_.in_flight_.fetch_add(1, std::memory_order_relaxed);
    is_counted = true;
    if (in_flight < static_cast<int64_t>(server_.options().in_flight_max)) return true;
  }
  refused.add();
  Response& response = *request.claim_reply();
  response.status = 503;
  response.must_close = is_stopping;
  response.headers.add("Retry-After", "1");
  response.headers.add("Content-Type", "text/plain");
  response.body = is_stopping ? "The server is stopping.\n" : "Too many requests in flight.\n";
  return false;
}

void ServerShard::handle(Request& request) {
  request.references_.fetch_add(1, std::memory_order_relaxed);
  reactor_.spawn_raw(
      [](void* argument) {
        // This reference keeps the shard, and with it the handler, for as long as the handler runs.
        RequestRef ref(static_cast<Request*>(argument));
        ref->shard_.handler()(ref);
      },
      &request);
}

void ServerShard::ask(Request& request) {
  request.references_.fetch_add(1, std::memory_order_relaxed);
  reactor_.spawn_raw(
      [](void* argument) {
        RequestRef ref(static_cast<Request*>(argument));
        const size_t body_bytes_max = ref->shard_.handlers_->head_check(*ref);
        if (!ref->is_replied() && ref->connection_) ref->connection_->go_on(*ref, body_bytes_max);
      },
      &request);
}

void ServerShard::end_exchange(Request& request, bool is_counted) {
  if (is_counted) server_.in_flight_.fetch_sub(1, std::memory_order_release);
  request.connection_ = nullptr;
  request.is_gone_.store(true, std::memory_order_release);
  if (auto on_gone = std::move(request.on_gone_)) {
    request.on_gone_ = nullptr;
    on_gone(request);
  }
  request.drop();
}

void ServerShard::time_out(Request& request) {
  // Whoever has claimed the reply is about to send it.
  if (request.is_replied()) return;
  request.references_.fetch_add(1, std::memory_order_relaxed);
  if (request.on_timeout_) {
    reactor_.spawn_raw(
        [](void* argument) {
          RequestRef ref(static_cast<Request*>(argument));
          // What on_timeout uses lives only as long as the exchange.
          if (ref->is_gone_.load(std::memory_order_acquire)) return;
          auto on_timeout = std::move(ref->on_timeout_);
          ref->on_timeout_ = nullptr;
          on_timeout(std::move(ref));
        },
        &request);
    return;
  }
  reply_timeouts.add();
  RequestRef keep(&request);
  keep->reply(504, "text/plain", "No reply was made in time.\n");
}

void ServerShard::retire() {
  is_retired_ = true;
  if (live_requests_ == 0) delete this;
}

Server::Server(net::ReactorPool& pool, ServerOptions options)
    : pool_(pool), options_(std::move(options)) {}

std::unique_ptr<Server> Server::create(net::ReactorPool& pool, ServerOptions options,
                                       Handler handler, HeadCheck head_check) {
  std::unique_ptr<Server> server(new Server(pool, std::move(options)));
  auto shared = std::make_shared<const ServerShard::Handlers>(
      ServerShard::Handlers{std::move(handler), std::move(head_check)});
  for (int i = 0; i < pool.size(); ++i) {
    server->shards_.push_back(
        new ServerShard(*server, pool.reactor(i), static_cast<uint64_t>(i) + 1, shared));
  }
  return server;
}

namespace {
// Runs the task on the reactor outside fibers and waits.
void run_on_reactor(net::Reactor& reactor, const std::function<void()>& task) {
  net::FiberEvent done;
  reactor.post([&] {
    task();
    done.set();
  });
  done.wait(net::kNever, false);
}
}  // namespace

Server::~Server() {
  stop(0);
  for (ServerShard* shard : shards_) {
    run_on_reactor(shard->reactor(), [shard] { shard->retire(); });
  }
}

Result<int> Server::listen(const std::string& host, int port, ListenOptions options) {
  ports_.push_back(std::make_unique<ListenOptions>(std::move(options)));
  auto on_accept = [this, port_options = ports_.back().get()](net::Reactor& reactor, int fd) {
    adopt(reactor, fd, *port_options);
  };
  auto listener = net::Listener::open(pool_, host, port, on_accept);
  if (!listener.ok()) {
    std::string why = listener.error().text;
    if (!why.empty() && why.back() == '.') why.pop_back();  // goes into another sentence
    return base::wrap_error(base::make_error(errors::kServerStart, {why}),
                            std::move(listener).take_status());
  }
  int bound = listener.value()->port();
  listeners_.push_back(std::move(listener).take_value());
  return bound;
}

ServerShard& Server::shard_of(const net::Reactor& reactor) {
  for (ServerShard* shard : shards_) {
    if (&shard->reactor() == &reactor) return *shard;
  }
  return *shards_.front();
}

void Server::adopt(net::Reactor& reactor, int fd, const ListenOptions& options) {
  if (connections_.load(std::memory_order_relaxed) >=
          static_cast<int64_t>(options_.connections_max) ||
      is_stopping()) {
    ::close(fd);
    return;
  }
  Connection::open(shard_of(reactor), fd, options);
}

void Server::stop(int64_t grace_ns) {
  if (is_stopped_) return;
  is_stopped_ = true;
  is_stopping_.store(true, std::memory_order_release);
  for (auto& listener : listeners_) listener->close();
  for (ServerShard* shard : shards_) {
    run_on_reactor(shard->reactor(), [shard] { shard->begin_stop(); });
  }
  // Polled: a stop is rare, and nothing on the request path has to pay for it.
  int64_t until = base::system_clock().monotonic_ns() + grace_ns;
  while (in_flight_.load(std::memory_order_acquire) > 0 &&
         base::system_clock().monotonic_ns() < until) {
    net::sleep_for(2 * net::kMillisecond);
  }
  // Two rounds: connections handed over by the listener may still be in the queues of the first.
  for (int round = 0; round < 2; ++round) {
    for (ServerShard* shard : shards_) {
      run_on_reactor(shard->reactor(), [shard] { shard->close_all(); });
    }
  }
}

ServerStats Server::stats() const {
  ServerStats out;
  for (const ServerShard* shard : shards_) {
    out.requests += shard->requests.get();
    out.refused += shard->refused.get();
    out.bad_requests += shard->bad_requests.get();
    out.reply_timeouts += shard->reply_timeouts.get();
    out.connections_accepted += shard->accepted.get();
    out.receive_calls += shard->receive_calls.get();
    out.send_calls += shard->send_calls.get();
  }
  out.in_flight = in_flight_.load(std::memory_order_relaxed);
  out.connections = connections_.load(std::memory_order_relaxed);
  return out;
}

}  // namespace millstream::http
