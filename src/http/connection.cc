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

#include "http/http2_connection.h"
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
constexpr std::string_view kHttp2Preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
constexpr char kContinue[] = "HTTP/1.1 100 Continue\r\n\r\n";
}  // namespace

void Connection::open(ServerShard& shard, int fd, const ListenOptions& options) {
  auto* connection = new Connection(shard, fd, options);  // deleted by close()
  uint32_t events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET;
  const bool lacks_tls = options.tls && !connection->tls_;  // out of memory
  if (lacks_tls || !connection->reactor_.watch(fd, *connection, events).ok()) {
    ::close(fd);
    delete connection;
    return;
  }
  shard.accepted.add();
  shard.server().connections_.fetch_add(1, std::memory_order_relaxed);
  shard.link(*connection);
  const ServerOptions& times = shard.server().options();
  connection->set_deadline(connection->reactor_.now_ns() +
                           (options.tls ? times.handshake_timeout_ns : times.idle_timeout_ns));
}

Connection::Connection(ServerShard& shard, int fd, const ListenOptions& options)
    : shard_(shard),
      reactor_(shard.reactor()),
      fd_(fd),
      is_protocol_known_(!options.tls && !options.offers_http2),
      parser_(HeadParser::Kind::kRequest, shard.server().options().limits),
      chunks_(shard.server().options().limits) {
  if (options.tls) tls_ = net::TlsChannel::accept(fd, options.tls->current(reactor_.now_ns()));
  timer_.owner = this;
  timer_.fire = [](net::Timer& timer) { static_cast<Connection*>(timer.owner)->on_deadline(); };
}

std::string_view Connection::peer() {
  if (peer_.empty()) peer_ = net::peer_text(fd_);
  return peer_;
}

void Connection::close() {
  if (state_ == State::kClosed) return;
  if (tls_) tls_->finish();
  reactor_.unwatch(fd_, *this);
  ::close(fd_);
  shard_.server().connections_.fetch_sub(1, std::memory_order_relaxed);
  detach();
}

void Connection::set_ends_with_input() {
  ends_with_input_ = true;
  if (!is_peer_closed_) return;
  // Not under the caller's feet; runs before the deletion that a close() would post.
  reactor_.post([this] {
    if (ends_with_input_ && state_ == State::kInFlight) close();
  });
}

// The object ends; its descriptor is closed or somebody else's.
void Connection::detach() {
  state_ = State::kClosed;
  reactor_.cancel(timer_);
  drop_request();
  buffer_.release();
  shard_.unlink(*this);
  reactor_.post([this] { delete this; });  // callers up the stack still use the object
}

// Called before the first request; true: the connection is an Http2Connection's now.
bool Connection::has_turned_to_http2() {
  if (tls_) {
    if (!tls_->engine().is_established()) return false;
    is_protocol_known_ = true;
    const ServerOptions& options = shard_.server().options();
    set_deadline(reactor_.now_ns() + options.idle_timeout_ns);  // the handshake is over
    if (tls_->engine().protocol_chosen() != "h2") return false;
    become_http2();
    return true;
  }
  const std::string_view begin(data(), std::min(used_, kHttp2Preface.size()));
  if (begin != kHttp2Preface.substr(0, begin.size())) {
    is_protocol_known_ = true;
    return false;
  }
  if (begin.size() < kHttp2Preface.size()) return false;
  become_http2();
  return true;
}

void Connection::become_http2() {
  reactor_.unwatch(fd_, *this);
  Http2Connection::open(shard_, fd_, std::move(tls_), {data(), used_});
  detach();
}

void Connection::on_io(uint32_t events) {
  if (events & (EPOLLERR | EPOLLHUP)) return close();
  if (events & EPOLLRDHUP) is_peer_closed_ = true;
  if (events & (EPOLLIN | EPOLLRDHUP)) is_readable_ = true;
  if (is_peer_closed_ && ends_with_input_ && state_ == State::kInFlight) return close();
  if (tls_) {
    tls_->on_readable(is_peer_closed_);
    if ((events & EPOLLOUT) && !tls_->flush() && tls_->is_broken()) return close();
  }
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
  if (tls_) {
    const ssize_t n = tls_->receive(data() + used_, room);
    const bool has_ended = n == 0 || (n < 0 && errno != EAGAIN);
    shard_.receive_calls.add();
    if (has_ended) {
      close();
      return false;
    }
    if (n > 0) take_count(n, room);
    is_readable_ = n > 0 && tls_->may_have_more();
    if (!is_protocol_known_ && has_turned_to_http2()) return false;
    return n > 0;
  }
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
  take_count(n, room);
  return true;
}

void Connection::take_count(ssize_t n, size_t room) {
  // A short read has emptied the socket, unless the end of the stream is still to be read.
  if (static_cast<size_t>(n) < room && !is_peer_closed_) is_readable_ = false;
  used_ += static_cast<size_t>(n);
  progress_bytes_ += static_cast<size_t>(n);
  turn_bytes_ += static_cast<size_t>(n);
}

void Connection::advance() {
  if (state_ == State::kBody) return advance_body();
  if (used_ == 0) return;
  if (!is_protocol_known_) {
    if (has_turned_to_http2()) return;
    if (!is_protocol_known_) return await_head();
  }
  switch (parser_.parse(data(), used_, headers_)) {
    case ParseStatus::kNeedMore:
      return await_head();
    case ParseStatus::kError:
      return refuse(parser_.error().status, parser_.error().text);
    case ParseStatus::kDone:
      return begin_body();
  }
}

void Connection::await_head() {
  if (has_head_deadline_) return;
  has_head_deadline_ = true;
  set_deadline(reactor_.now_ns() + shard_.server().options().head_timeout_ns);
}

void Connection::begin_body() {
  const RequestHead& head = parser_.request();
  size_t head_bytes = parser_.head_bytes();
  if (!head.is_chunked && used_ >= head_bytes + head.content_length) {
    return dispatch(head_bytes + static_cast<size_t>(head.content_length));
  }
  if (head.is_chunked) chunks_.reset();
  if (needs_asking()) return ask();
  read_body();
}

bool Connection::needs_asking() const {
  if (!shard_.has_head_check()) return false;
  const RequestHead& head = parser_.request();
  return head.is_chunked || head.content_length > shard_.server().options().unasked_body_bytes_max;
}

// Hands on a request of the head alone. What follows stays where it is: nothing is read meanwhile.
void Connection::ask() {
  Request& request = *shard_.take_request();
  request_ = &request;
  request.connection_ = this;
  request.is_secure_ = tls_ != nullptr;
  request.arrival_ns_ = reactor_.now_ns();
  const size_t head_bytes = parser_.head_bytes();
  request.buffer_ = reactor_.buffers().take(head_bytes);
  if (!request.buffer_) return close();
  std::memcpy(request.buffer_.data(), data(), head_bytes);
  request.head_ = parser_.request_in(request.buffer_.data());
  request.headers_ = headers_;
  request.headers_.borrow_from(request.buffer_.data());
  is_keep_alive_ = false;  // of a refusal
  must_linger_ = true;
  state_ = State::kInFlight;
  ends_with_input_ = false;
  const int64_t reply_timeout = shard_.server().options().reply_timeout_ns;
  set_deadline(reply_timeout == net::kNever ? net::kNever : reactor_.now_ns() + reply_timeout);
  shard_.ask(request);
}

void Connection::go_on(Request& request, size_t body_bytes_max) {
  if (request_ != &request || state_ != State::kInFlight) return;
  drop_request();
  must_linger_ = false;
  const RequestHead& head = parser_.request();
  if (!head.is_chunked && head.content_length > body_bytes_max) {
    return refuse(413, "body too large");
  }
  chunks_.set_body_bytes_max(body_bytes_max);
  read_body();
  process();
}

void Connection::read_body() {
  const RequestHead& head = parser_.request();
  const size_t head_bytes = parser_.head_bytes();
  state_ = State::kBody;
  progress_bytes_ = 0;
  set_deadline(reactor_.now_ns() + shard_.server().options().progress_timeout_ns);
  if (head.is_chunked) {
    body_in_ = body_out_ = head_bytes;
  } else if (!reserve(receive_target())) {
    return;
  }
  if (head.expects_continue && used_ == head_bytes) {
    iovec parts[2] = {{const_cast<char*>(kContinue), sizeof kContinue - 1}, {nullptr, 0}};
    const ssize_t n = send_parts(parts);
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
  request.is_secure_ = tls_ != nullptr;
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
  ends_with_input_ = false;
  is_protocol_known_ = true;

  if (!shard_.admit(request, is_counted_)) return send(request);
  const int64_t reply_timeout = server.options().reply_timeout_ns;
  set_deadline(reply_timeout == net::kNever ? net::kNever : reactor_.now_ns() + reply_timeout);
  shard_.handle(request);
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
    const ssize_t n = send_parts(parts);
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
    if (head_sent_ < head.size() || payload_sent_ < payload.size()) continue;
    if (!tls_ || tls_->flush()) return finish_exchange();
    if (tls_->is_broken()) return close();
    // All is encrypted, not all is out: on_io goes on.
    return set_deadline(reactor_.now_ns() + shard_.server().options().progress_timeout_ns);
  }
}

ssize_t Connection::send_parts(iovec* parts) {
  shard_.send_calls.add();
  if (tls_) return tls_->send(parts, 2);
  if (parts[0].iov_len && parts[1].iov_len) {
    msghdr message{};
    message.msg_iov = parts;
    message.msg_iovlen = 2;
    return sendmsg(fd_, &message, MSG_NOSIGNAL);
  }
  const iovec& part = parts[parts[0].iov_len ? 0 : 1];
  return ::send(fd_, part.iov_base, part.iov_len, MSG_NOSIGNAL);
}

void Connection::drop_request() {
  if (!request_) return;
  shard_.end_exchange(*std::exchange(request_, nullptr), std::exchange(is_counted_, false));
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
  if (tls_) tls_->finish();
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
  set_deadline(reactor_.now_ns() + kTimeoutReplyGrace);
  shard_.time_out(*request_);
}

}  // namespace millstream::http
