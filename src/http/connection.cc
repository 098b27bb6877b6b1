#include "http/connection.h"

#include <errno.h>
#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "net/address.h"

namespace millstream::http {

namespace {
constexpr size_t kReadAhead = 16 * 1024;      // pipelined bytes read together with a known body
constexpr size_t kInlinePayloadBytes = 4096;  // copied behind the head: cheaper than a second part
// A length is only a promise: beyond this, memory follows what has really been received.
constexpr size_t kReserveBytes = 4 * 1024 * 1024;
constexpr size_t kAlwaysGrantedBytes = 128 * 1024;  // also when buffer_bytes_max is reached
// Beyond this share of buffer_bytes_max promises are not believed at all: a few hundred clients
// that announce much and send little must not take the memory from those that do send.
constexpr size_t kPromiseShare = 4;
// What one connection may do before the reactor looks at the others: a client that always has more
// to send must not keep it.
constexpr uint64_t kTurnRequests = 32;
constexpr size_t kTurnBytes = 4 * 1024 * 1024;
// Bytes behind a request that are cheaper to move than to keep where they are.
constexpr size_t kMovedRestBytes = 512;
constexpr int64_t kTimeoutReplyGrace = 10 * net::kSecond;
constexpr char kContinue[] = "HTTP/1.1 100 Continue\r\n\r\n";
}  // namespace

void Connection::open(ServerShard& shard, int fd) {
  auto* connection = new Connection(shard, fd);  // deleted by close()
  uint32_t events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET;
  if (!connection->reactor_.watch(fd, *connection, events).ok()) {
    ::close(fd);
    delete connection;
    return;
  }
  shard.accepted.add();
  shard.server().connections_.fetch_add(1, std::memory_order_relaxed);
  shard.link(*connection);
  connection->set_deadline(connection->reactor_.now_ns() +
                           shard.server().options().idle_timeout_ns);
}

Connection::Connection(ServerShard& shard, int fd)
    : shard_(shard),
      reactor_(shard.reactor()),
      fd_(fd),
      parser_(HeadParser::Kind::kRequest, shard.server().options().limits),
      chunks_(shard.server().options().limits) {
  timer_.owner = this;
  timer_.fire = [](net::Timer& timer) { static_cast<Connection*>(timer.owner)->on_deadline(); };
}

std::string_view Connection::peer() {
  if (peer_.empty()) peer_ = net::peer_text(fd_);
  return peer_;
}

void Connection::close() {
  if (state_ == State::kClosed) return;
  state_ = State::kClosed;
  reactor_.cancel(timer_);
  reactor_.unwatch(fd_, *this);
  ::close(fd_);
  drop_request();
  buffer_.release();
  shard_.unlink(*this);
  shard_.server().connections_.fetch_sub(1, std::memory_order_relaxed);
  reactor_.post([this] { delete this; });  // callers up the stack still use the object
}

void Connection::on_io(uint32_t events) {
  if (events & (EPOLLERR | EPOLLHUP)) return close();
  if (events & EPOLLRDHUP) is_peer_closed_ = true;
  if (events & (EPOLLIN | EPOLLRDHUP)) is_readable_ = true;
  if ((events & EPOLLOUT) && state_ == State::kWriting) write_out();
  if (state_ == State::kLingering) {
    drain_lingering();
  } else {
    process();
  }
}

// Reads and handles requests until there is nothing to read, a reply is pending or the turn is
// over. Not recursive: a handler that replies at once leaves the next request to the loop.
void Connection::process() {
  if (is_processing_ || is_resuming_) return;
  is_processing_ = true;
  turn_bytes_ = 0;
  const uint64_t first = shard_.requests.get();
  while (state_ == State::kHead || state_ == State::kBody) {
    if (is_turn_over(shard_.requests.get() - first)) break;
    State before = state_;
    uint64_t handled = shard_.requests.get();
    advance();
    // Something was completed: look at what is left in the buffer before reading more.
    if (state_ != before || shard_.requests.get() != handled) continue;
    if (!receive()) break;
  }
  is_processing_ = false;
}

bool Connection::is_turn_over(uint64_t requests) {
  if (requests < kTurnRequests && turn_bytes_ < kTurnBytes) return false;
  is_resuming_ = true;
  // Runs before the deletion that a close() would post.
  reactor_.post([this] {
    is_resuming_ = false;
    process();
  });
  return true;
}

size_t Connection::receive_target() const {
  const RequestHead& head = parser_.request();
  if (state_ == State::kBody && !head.is_chunked) {
    return parser_.head_bytes() + static_cast<size_t>(head.content_length);
  }
  return std::max(used_ + 1, std::min(expected_bytes_, kReserveBytes));
}

// Moves what is not handled yet to the front of the buffer.
void Connection::compact() {
  if (begin_ == 0) return;
  std::memmove(buffer_.data(), data(), used_);
  begin_ = 0;
}

// Room for more of a message of `target` bytes in all.
bool Connection::reserve(size_t target) {
  compact();
  if (state_ == State::kBody) target = std::max(target, used_ * 2);  // keeps chunked bodies linear
  net::BufferPool& pool = reactor_.buffers();
  const size_t limit = shard_.server().options().buffer_bytes_max;
  const bool is_promise_believed = pool.in_use_bytes() < limit / kPromiseShare;
  const size_t promised_max = is_promise_believed ? kReserveBytes : kAlwaysGrantedBytes;
  size_t capacity = std::max(std::min(target, std::max(used_ * 2, promised_max)), used_ + 1);
  if (buffer_.capacity() >= capacity) return true;
  bool is_granted = capacity <= kAlwaysGrantedBytes || pool.in_use_bytes() + capacity <= limit;
  if (is_granted && pool.grow(buffer_, used_, capacity)) return true;
  refuse(503, "too much memory in use");
  return false;
}

bool Connection::receive() {
  if (!is_readable_) return false;
  compact();
  size_t target = receive_target();
  if (buffer_.capacity() < target && !reserve(target)) return false;
  size_t room = std::min(buffer_.capacity() - used_, std::max(target - used_, kReadAhead));
  ssize_t n = recv(fd_, data() + used_, room, 0);
  shard_.receive_calls.add();
  if (n < 0) {
    if (errno == EINTR) return true;
    is_readable_ = false;
    if (errno != EAGAIN) close();
    return false;
  }
  if (n == 0) {
    close();
    return false;
  }
  // A short read has emptied the socket, unless the end of the stream is still to be read.
  if (static_cast<size_t>(n) < room && !is_peer_closed_) is_readable_ = false;
  used_ += static_cast<size_t>(n);
  progress_bytes_ += static_cast<size_t>(n);
  turn_bytes_ += static_cast<size_t>(n);
  return true;
}

void Connection::advance() {
  if (state_ == State::kBody) return advance_body();
  if (used_ == 0) return;
  switch (parser_.parse(data(), used_, headers_)) {
    case ParseStatus::kNeedMore:
      if (!has_head_deadline_) {
        has_head_deadline_ = true;
        set_deadline(reactor_.now_ns() + shard_.server().options().head_timeout_ns);
      }
      return;
    case ParseStatus::kError:
      return refuse(parser_.error().status, parser_.error().text);
    case ParseStatus::kDone:
      return begin_body();
  }
}

void Connection::begin_body() {
  const RequestHead& head = parser_.request();
  size_t head_bytes = parser_.head_bytes();
  if (!head.is_chunked && used_ >= head_bytes + head.content_length) {
    return dispatch(head_bytes + static_cast<size_t>(head.content_length));
  }
  state_ = State::kBody;
  progress_bytes_ = 0;
  set_deadline(reactor_.now_ns() + shard_.server().options().progress_timeout_ns);
  if (head.is_chunked) {
    chunks_.reset();
    body_in_ = body_out_ = head_bytes;
  } else if (!reserve(receive_target())) {
    return;
  }
  if (head.expects_continue && used_ == head_bytes) {
    shard_.send_calls.add();
    ssize_t n = ::send(fd_, kContinue, sizeof kContinue - 1, MSG_NOSIGNAL);
    if (n != static_cast<ssize_t>(sizeof kContinue - 1)) close();
  }
}

void Connection::advance_body() {
  const RequestHead& head = parser_.request();
  if (!head.is_chunked) {
    size_t end = parser_.head_bytes() + static_cast<size_t>(head.content_length);
    if (used_ >= end) dispatch(end);
    return;
  }
  if (body_in_ == used_) return;
  switch (chunks_.decode(data(), body_in_, used_, body_out_)) {
    case ParseStatus::kNeedMore:
      // Close the gap between the body and what is not decoded yet (at most a partial trailer
      // line).
      if (body_in_ != body_out_) {
        std::memmove(data() + body_out_, data() + body_in_, used_ - body_in_);
        used_ -= body_in_ - body_out_;
        body_in_ = body_out_;
      }
      return;
    case ParseStatus::kError:
      return refuse(chunks_.error().status, chunks_.error().text);
    case ParseStatus::kDone:
      return dispatch(body_in_);
  }
}

// Gives the first `end` bytes to the request; what follows stays. Either the message or the rest is
// copied, whichever is smaller, so that many small requests behind a large one cost what they
// weigh. Returns where the message is now, null when memory is short.
char* Connection::hand_over(Request& request, size_t end) {
  const size_t rest_bytes = used_ - end;
  used_ = rest_bytes;
  if (rest_bytes > std::max(end, kMovedRestBytes)) {
    request.buffer_ = reactor_.buffers().take(end);
    if (!request.buffer_) return nullptr;
    std::memcpy(request.buffer_.data(), data(), end);
    begin_ += end;
    return request.buffer_.data();
  }
  net::Buffer rest;
  if (rest_bytes > 0) {
    rest = reactor_.buffers().take(rest_bytes);
    if (!rest) return nullptr;
    std::memcpy(rest.data(), data() + end, rest_bytes);
  }
  char* message = data();
  request.buffer_ = std::move(buffer_);
  buffer_ = std::move(rest);
  begin_ = 0;
  return message;
}

// The request is complete and ends at `end`; bytes behind it belong to the next one.
void Connection::dispatch(size_t end) {
  Server& server = shard_.server();
  Request& request = *shard_.take_request();
  request_ = &request;
  request.connection_ = this;
  request.arrival_ns_ = reactor_.now_ns();
  std::swap(request.headers_, headers_);
  char* message = hand_over(request, end);
  if (!message) return close();
  // The buffer may have moved while the body came in.
  const RequestHead& head = parser_.request();
  request.head_ = parser_.request_in(message);
  request.headers_.borrow_from(message);
  size_t body_at = parser_.head_bytes();
  size_t body_end = head.is_chunked ? body_out_ : end;
  request.body_ = {message + body_at, body_end - body_at};
  expected_bytes_ = end;
  is_keep_alive_ = head.is_keep_alive;
  parser_.reset();
  has_head_deadline_ = false;
  state_ = State::kInFlight;
  shard_.requests.add();

  if (server.is_stopping()) return reply_unavailable(request, true);
  int64_t in_flight = server.in_flight_.fetch_add(1, std::memory_order_relaxed);
  is_counted_ = true;
  if (in_flight >= static_cast<int64_t>(server.options().in_flight_max)) {
    return reply_unavailable(request, false);
  }
  const int64_t reply_timeout = server.options().reply_timeout_ns;
  set_deadline(reply_timeout == net::kNever ? net::kNever : reactor_.now_ns() + reply_timeout);
  request.references_.fetch_add(1, std::memory_order_relaxed);
  reactor_.spawn_raw(
      [](void* argument) {
        // This reference keeps the shard, and with it the handler, for as long as the handler runs.
        RequestRef ref(static_cast<Request*>(argument));
        ref->shard_.handler()(ref);
      },
      &request);
}

void Connection::reply_unavailable(Request& request, bool must_close) {
  shard_.refused.add();
  Response& response = *request.claim_reply();
  response.status = 503;
  response.must_close = must_close;
  response.headers.add("Retry-After", "1");
  response.headers.add("Content-Type", "text/plain");
  response.body = must_close ? "The server is stopping.\n" : "Too many requests in flight.\n";
  send(request);
}

// An error reply to what is not a complete valid request; ends the connection.
void Connection::refuse(int status, const char* text) {
  shard_.bad_requests.add();
  Request& request = *shard_.take_request();
  request_ = &request;
  request.connection_ = this;
  Response& response = *request.claim_reply();
  response.status = status;
  response.must_close = true;
  response.headers.add("Content-Type", "text/plain");
  response.body.assign(text).append("\n");
  must_linger_ = true;
  state_ = State::kInFlight;
  send(request);
}

void Connection::send(Request& request) {
  if (request_ != &request || state_ != State::kInFlight) return;
  Server& server = shard_.server();
  Response& response = request.response_;
  if (response.must_close || list_has_token(response.headers.get("Connection"), "close") ||
      server.is_stopping()) {
    is_keep_alive_ = false;
  }
  HeadOptions options;
  options.minor_version = request.head_.minor_version;
  options.is_keep_alive = is_keep_alive_;
  options.is_head_request = request.head_.method == "HEAD";
  options.date = shard_.date();
  if (!server.options().server_name.empty() && !response.headers.has("Server")) {
    response.headers.add("Server", server.options().server_name);
  }
  write_response_head(response, options, request.head_out_, &has_payload_);
  if (has_payload_ && response.payload().size() <= kInlinePayloadBytes) {
    request.head_out_.append(response.payload());
    has_payload_ = false;
  }
  head_sent_ = payload_sent_ = 0;
  state_ = State::kWriting;
  write_out();
  process();
}

void Connection::write_out() {
  std::string_view head = request_->head_out_;
  std::string_view payload = has_payload_ ? request_->response_.payload() : std::string_view();
  for (;;) {
    iovec parts[2] = {
        {const_cast<char*>(head.data()) + head_sent_, head.size() - head_sent_},
        {const_cast<char*>(payload.data()) + payload_sent_, payload.size() - payload_sent_}};
    ssize_t n;
    if (parts[0].iov_len && parts[1].iov_len) {
      msghdr message{};
      message.msg_iov = parts;
      message.msg_iovlen = 2;
      n = sendmsg(fd_, &message, MSG_NOSIGNAL);
    } else {
      const iovec& part = parts[parts[0].iov_len ? 0 : 1];
      n = ::send(fd_, part.iov_base, part.iov_len, MSG_NOSIGNAL);
    }
    shard_.send_calls.add();
    if (n < 0) {
      if (errno == EINTR) continue;
      if (errno != EAGAIN) return close();
      progress_bytes_ = 0;
      set_deadline(reactor_.now_ns() + shard_.server().options().progress_timeout_ns);
      return;  // on_io goes on when there is room
    }
    size_t sent = static_cast<size_t>(n);
    progress_bytes_ += sent;
    size_t of_head = std::min(sent, parts[0].iov_len);
    head_sent_ += of_head;
    payload_sent_ += sent - of_head;
    if (head_sent_ == head.size() && payload_sent_ == payload.size()) return finish_exchange();
  }
}

void Connection::drop_request() {
  if (!request_) return;
  if (is_counted_) shard_.server().in_flight_.fetch_sub(1, std::memory_order_release);
  is_counted_ = false;
  Request& request = *std::exchange(request_, nullptr);
  request.connection_ = nullptr;
  request.is_gone_.store(true, std::memory_order_release);
  if (auto on_gone = std::move(request.on_gone_)) {
    request.on_gone_ = nullptr;
    on_gone(request);
  }
  request.drop();
}

void Connection::finish_exchange() {
  drop_request();
  if (!is_keep_alive_) {
    if (must_linger_ || used_ > 0) return begin_lingering();
    return close();
  }
  state_ = State::kHead;
  set_deadline(reactor_.now_ns() + shard_.server().options().idle_timeout_ns);
}

// RFC 9112 9.6: closing with unread input would reset the connection and could destroy the reply on
// its way. Say that we are done, then read and forget for a while.
void Connection::begin_lingering() {
  state_ = State::kLingering;
  buffer_.release();
  begin_ = used_ = 0;
  ::shutdown(fd_, SHUT_WR);
  set_deadline(reactor_.now_ns() + shard_.server().options().linger_timeout_ns);
  is_readable_ = true;
  drain_lingering();
}

void Connection::drain_lingering() {
  constexpr int kCallsMax = 64;  // a turn; the rest by a later event or the deadline
  constexpr size_t kDrainBytes = 256 * 1024;
  for (int i = 0; i < kCallsMax && is_readable_; ++i) {
    ssize_t n = recv(fd_, nullptr, kDrainBytes, MSG_TRUNC);  // discards without copying
    if (n > 0 || (n < 0 && errno == EINTR)) continue;
    if (n == 0 || errno != EAGAIN) return close();
    is_readable_ = false;
  }
}

// Lazily moved: the timer is re-armed only when the deadline comes earlier than it would fire.
void Connection::set_deadline(int64_t deadline_ns) {
  deadline_ns_ = deadline_ns;
  if (deadline_ns == net::kNever) return;
  if (!timer_.is_armed() || deadline_ns < timer_.deadline_ns) reactor_.arm(timer_, deadline_ns);
}

void Connection::on_deadline() {
  if (deadline_ns_ > reactor_.now_ns()) {
    if (deadline_ns_ != net::kNever) reactor_.arm(timer_, deadline_ns_);
    return;
  }
  switch (state_) {
    case State::kHead:
      return used_ == 0 ? close() : refuse(408, "request not received in time");
    case State::kBody:
      if (!has_progressed()) refuse(408, "request body not received in time");
      return;
    case State::kInFlight:
      return on_reply_deadline();
    case State::kWriting:
      if (!has_progressed()) close();
      return;
    case State::kLingering:
      return close();
    case State::kClosed:
      return;
  }
}

bool Connection::has_progressed() {
  const ServerOptions& options = shard_.server().options();
  bool has = progress_bytes_ >= options.progress_bytes_min;
  progress_bytes_ = 0;
  if (has) set_deadline(reactor_.now_ns() + options.progress_timeout_ns);
  return has;
}

void Connection::on_reply_deadline() {
  // Whoever has claimed the reply is about to send it.
  set_deadline(reactor_.now_ns() + kTimeoutReplyGrace);
  if (request_->is_replied()) return;
  if (request_->on_timeout_) {
    request_->references_.fetch_add(1, std::memory_order_relaxed);
    reactor_.spawn_raw(
        [](void* argument) {
          RequestRef ref(static_cast<Request*>(argument));
          auto on_timeout = std::move(ref->on_timeout_);
          ref->on_timeout_ = nullptr;
          on_timeout(std::move(ref));
        },
        request_);
    return;
  }
  shard_.reply_timeouts.add();
  request_->references_.fetch_add(1, std::memory_order_relaxed);
  RequestRef keep(request_);
  keep->reply(504, "text/plain", "No reply was made in time.\n");
}

}  // namespace millstream::http
