#include "http/http2_connection.h"

#include <errno.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>

#include "net/address.h"

namespace millstream::http {

namespace {
constexpr size_t kHttp2ReadBytes = 32 * 1024;
constexpr size_t kHttp2TurnBytes = 1024 * 1024;  // read before the reactor looks at the others
constexpr size_t kHttp2OutputBytes = 64 * 1024;  // made before it is sent
constexpr size_t kHttp2KeptBytes = 16 * 1024;    // capacity that an idle connection keeps
constexpr int64_t kHttp2ReplyGrace = 10 * net::kSecond;

char* http2_scratch() {
  thread_local std::unique_ptr<char[]> bytes(new char[kHttp2ReadBytes]);
  return bytes.get();
}

Http2Limits http2_limits(const ServerOptions& options) {
  Http2Limits limits;
  limits.message = options.limits;
  limits.buffer_bytes_max = options.buffer_bytes_max;
  return limits;
}
}  // namespace

void Http2Connection::open(ServerShard& shard, int fd, std::unique_ptr<net::TlsChannel> tls,
                           std::string_view received) {
  auto* connection = new Http2Connection(shard, fd, std::move(tls));  // deleted by close()
  const uint32_t events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET;
  shard.link(*connection);
  if (!connection->reactor_.watch(fd, *connection, events).ok()) return connection->close();
  connection->set_deadline(connection->reactor_.now_ns() +
                           shard.server().options().idle_timeout_ns);
  if (!received.empty()) connection->take(received);
  if (!connection->is_closed_) connection->process();
}

Http2Connection::Http2Connection(ServerShard& shard, int fd, std::unique_ptr<net::TlsChannel> tls)
    : shard_(shard),
      reactor_(shard.reactor()),
      fd_(fd),
      tls_(std::move(tls)),
      session_(*this, shard.reactor().buffers(), http2_limits(shard.server().options())) {
  timer_.owner = this;
  timer_.fire = [](net::Timer& timer) {
    static_cast<Http2Connection*>(timer.owner)->on_deadline();
  };
}

std::string_view Http2Connection::peer() {
  if (peer_.empty()) peer_ = net::peer_text(fd_);
  return peer_;
}

void Http2Connection::close() {
  if (is_closed_) return;
  is_closed_ = true;
  if (!is_lingering_) say_last();
  reactor_.cancel(timer_);
  reactor_.unwatch(fd_, *this);
  ::close(fd_);
  drop_exchanges();
  shard_.unlink(*this);
  shard_.server().connections_.fetch_sub(1, std::memory_order_relaxed);
  reactor_.post([this] { delete this; });  // callers up the stack still use the object
}

// As far as the socket takes it at once.
void Http2Connection::say_last() {
  session_.end();
  session_.produce(output_, output_.size() + kHttp2OutputBytes);
  send_out();
  if (tls_) tls_->finish();
}

void Http2Connection::drop_exchanges() {
  for (auto all = std::move(exchanges_); auto& exchange : all) {
    reactor_.cancel(exchange->timer);
    exchange->stream->user = nullptr;
    shard_.end_exchange(*exchange->request, exchange->is_counted);
  }
}

// Closing with unread input would reset the connection and destroy what was said last.
void Http2Connection::end() {
  if (is_closed_ || is_lingering_) return;
  is_lingering_ = true;
  say_last();
  if (is_closed_) return;
  drop_exchanges();
  if (is_blocked_) return close();
  ::shutdown(fd_, SHUT_WR);
  set_deadline(reactor_.now_ns() + shard_.server().options().linger_timeout_ns);
  is_readable_ = true;
  drain();
}

void Http2Connection::drain() {
  constexpr int kCallsMax = 64;  // a turn; the rest by a later event or the deadline
  constexpr size_t kDrainBytes = 256 * 1024;
  for (int i = 0; i < kCallsMax && is_readable_; ++i) {
    const ssize_t n = recv(fd_, nullptr, kDrainBytes, MSG_TRUNC);  // discards without copying
    if (n > 0 || (n < 0 && errno == EINTR)) continue;
    if (n == 0 || errno != EAGAIN) return close();
    is_readable_ = false;
  }
}

// RFC 9113 6.8: first only that the end is near, so that requests on their way are not lost.
void Http2Connection::begin_stop() {
  if (is_stopping_ || is_closed_ || is_lingering_) return;
  is_stopping_ = true;
  session_.announce_end();
  flush();
}

void Http2Connection::on_io(uint32_t events) {
  if (events & (EPOLLERR | EPOLLHUP)) return close();
  if (events & EPOLLRDHUP) is_peer_closed_ = true;
  if (events & (EPOLLIN | EPOLLRDHUP)) is_readable_ = true;
  if (is_lingering_) return drain();
  if (tls_) tls_->on_readable(is_peer_closed_);
  if (events & EPOLLOUT) {
    is_blocked_ = false;
    flush();
  }
  if (!is_closed_) process();
}

void Http2Connection::process() {
  if (is_resuming_) return;
  for (size_t turn_bytes = 0;
       !is_closed_ && !is_ending_ && !is_lingering_ && !is_blocked_ && is_readable_;
       turn_bytes += kHttp2ReadBytes) {
    if (turn_bytes >= kHttp2TurnBytes) {
      is_resuming_ = true;
      // Runs before the deletion that a close() would post.
      reactor_.post([this] {
        is_resuming_ = false;
        if (!is_closed_) process();
      });
      return;
    }
    if (!receive()) return;
  }
}

bool Http2Connection::receive() {
  char* scratch = http2_scratch();
  const ssize_t n =
      tls_ ? tls_->receive(scratch, kHttp2ReadBytes) : ::recv(fd_, scratch, kHttp2ReadBytes, 0);
  shard_.receive_calls.add();
  if (n < 0 && errno == EINTR) return true;
  if (n < 0 && errno == EAGAIN) {
    is_readable_ = false;
    return false;
  }
  if (n <= 0) {
    close();
    return false;
  }
  const bool is_short = static_cast<size_t>(n) < kHttp2ReadBytes && !is_peer_closed_;
  is_readable_ = tls_ ? tls_->may_have_more() : !is_short;
  take({scratch, static_cast<size_t>(n)});
  return true;
}

void Http2Connection::take(std::string_view bytes) {
  is_inside_ = true;
  if (!session_.feed(bytes, reactor_.now_ns())) is_ending_ = true;
  is_inside_ = false;
  flush();
}

// Sends until there is nothing to say or the socket is full.
void Http2Connection::flush() {
  if (is_inside_ || is_closed_ || is_lingering_) return;
  while (!is_blocked_) {
    // First what is left, which may be ciphertext alone.
    if (!send_out()) return;
    if (is_blocked_) break;
    output_.clear();
    output_sent_ = 0;
    is_inside_ = true;
    if (!session_.produce(output_, kHttp2OutputBytes)) is_ending_ = true;
    is_inside_ = false;
    if (output_.empty()) break;
  }
  finish_turn();
}

// False: the connection has been closed.
bool Http2Connection::send_out() {
  while (output_sent_ < output_.size() || (tls_ && !tls_->engine().output().empty())) {
    iovec part{output_.data() + output_sent_, output_.size() - output_sent_};
    const ssize_t n =
        tls_ ? tls_->send(&part, 1) : ::send(fd_, part.iov_base, part.iov_len, MSG_NOSIGNAL);
    shard_.send_calls.add();
    if (n >= 0) {
      output_sent_ += static_cast<size_t>(n);
      if (tls_ && output_sent_ == output_.size() && !tls_->engine().output().empty()) {
        is_blocked_ = true;
        return true;
      }
      continue;
    }
    if (errno == EINTR) continue;
    if (errno == EAGAIN) {
      is_blocked_ = true;
      return true;
    }
    if (is_closed_) return false;
    close();
    return false;
  }
  return true;
}

void Http2Connection::finish_turn() {
  if (is_closed_) return;
  const bool is_sent = output_sent_ == output_.size();
  if (is_sent && output_.capacity() > kHttp2KeptBytes) std::string().swap(output_);
  const bool is_idle = session_.stream_count() == 0;
  if (is_sent && (is_ending_ || session_.is_over() || (is_stopping_ && is_idle))) return end();
  const ServerOptions& options = shard_.server().options();
  if (is_idle && !is_blocked_) {
    deadline_ns_ = reactor_.now_ns() + options.idle_timeout_ns;
    if (!timer_.is_armed()) reactor_.arm(timer_, deadline_ns_);
  } else if (deadline_ns_ > reactor_.now_ns() + options.progress_timeout_ns) {
    set_deadline(reactor_.now_ns() + options.progress_timeout_ns);
  }
}

void Http2Connection::set_deadline(int64_t deadline_ns) {
  deadline_ns_ = deadline_ns;
  if (!timer_.is_armed() || deadline_ns < timer_.deadline_ns) reactor_.arm(timer_, deadline_ns);
}

// Either nothing goes on, or something that does not move: a request or a reply that is stuck.
void Http2Connection::on_deadline() {
  if (deadline_ns_ > reactor_.now_ns()) return reactor_.arm(timer_, deadline_ns_);
  if (is_lingering_) return close();
  const ServerOptions& options = shard_.server().options();
  bool is_waiting_for_client = is_blocked_ || session_.stream_count() == 0;
  // Streams that are not handed on yet have no exchange: their request is incomplete.
  if (session_.stream_count() > exchanges_.size()) is_waiting_for_client = true;
  for (const auto& exchange : exchanges_) {
    if (!exchange->stream->payload.empty()) is_waiting_for_client = true;
  }
  const uint64_t progress = session_.progress_bytes();
  const bool has_moved = progress - seen_progress_ >= options.progress_bytes_min;
  seen_progress_ = progress;
  if (is_waiting_for_client && !has_moved) return end();
  set_deadline(reactor_.now_ns() + options.progress_timeout_ns);
}

void Http2Connection::fill_head(Request& request, Http2Stream& stream) {
  // The texts of the head, behind each other in memory that the request keeps.
  std::string& text = request.head_text_;
  text = stream.method + stream.target + stream.authority;
  const std::string_view all = text;
  RequestHead& head = request.head_;
  head.method = all.substr(0, stream.method.size());
  head.target = all.substr(head.method.size(), stream.target.size());
  head.authority = all.substr(head.method.size() + head.target.size());
  const size_t question = head.target.find('?');
  head.path = head.target.substr(0, question);
  head.query =
      question == std::string_view::npos ? std::string_view() : head.target.substr(question + 1);
  head.major_version = 2;
  head.minor_version = 0;
  if (!stream.authority.empty() && !stream.headers.has("Host")) {
    stream.headers.add("Host", stream.authority);
  }
  std::swap(request.headers_, stream.headers);
}

void Http2Connection::on_request(Http2Stream& stream) {
  if (is_closed_) return;
  Request& request = *shard_.take_request();
  auto made = std::make_unique<Exchange>();
  Exchange& exchange = *made;
  exchanges_.push_back(std::move(made));
  exchange.connection = this;
  exchange.stream = &stream;
  exchange.request = &request;
  exchange.timer.owner = &exchange;
  exchange.timer.fire = [](net::Timer& timer) {
    auto& late = *static_cast<Exchange*>(timer.owner);
    net::Reactor& reactor = late.connection->reactor_;
    reactor.arm(timer, reactor.now_ns() + kHttp2ReplyGrace);
    late.connection->shard_.time_out(*late.request);
  };
  stream.user = &exchange;
  request.connection_ = this;
  request.is_secure_ = tls_ != nullptr;
  request.arrival_ns_ = reactor_.now_ns();
  fill_head(request, stream);
  if (stream.refused_status != 0) return refuse(exchange);
  request.buffer_ = std::move(stream.body);
  if (!request.buffer_) request.buffer_ = reactor_.buffers().take(1);  // for the padding
  request.body_ = {request.buffer_.data(), stream.body_size};
  if (!shard_.admit(request, exchange.is_counted)) return send(request);
  const int64_t reply_timeout = shard_.server().options().reply_timeout_ns;
  if (reply_timeout != net::kNever) {
    reactor_.arm(exchange.timer, reactor_.now_ns() + reply_timeout);
  }
  shard_.handle(request);
}

void Http2Connection::refuse(Exchange& exchange) {
  shard_.bad_requests.add();
  Response& response = *exchange.request->claim_reply();
  response.status = exchange.stream->refused_status;
  response.headers.add("Content-Type", "text/plain");
  response.body.assign(exchange.stream->refused_text).append("\n");
  send(*exchange.request);
}

void Http2Connection::on_stream_end(Http2Stream& stream) {
  auto* exchange = static_cast<Exchange*>(stream.user);
  if (!exchange) return;
  stream.user = nullptr;
  reactor_.cancel(exchange->timer);
  Request& request = *exchange->request;
  const bool is_counted = exchange->is_counted;
  std::erase_if(exchanges_, [&](const auto& e) { return e.get() == exchange; });
  shard_.end_exchange(request, is_counted);
}

Http2Connection::Exchange* Http2Connection::find(Request& request) {
  for (const auto& e : exchanges_) {
    if (e->request == &request) return e.get();
  }
  return nullptr;
}

void Http2Connection::send(Request& request) {
  Exchange* exchange = find(request);
  if (!exchange || is_closed_) return;
  Response& response = request.response_;
  const ServerOptions& options = shard_.server().options();
  if (!options.server_name.empty() && !response.headers.has("Server")) {
    response.headers.add("Server", options.server_name);
  }
  session_.reply(*exchange->stream, response, shard_.date(), request.head_.method == "HEAD");
  flush();
}

void Http2Connection::set_reply_deadline(Request& request, int64_t deadline_ns) {
  Exchange* exchange = find(request);
  if (!exchange) return;
  if (deadline_ns == net::kNever) {
    reactor_.cancel(exchange->timer);
  } else {
    reactor_.arm(exchange->timer, deadline_ns);
  }
}

}  // namespace millstream::http
