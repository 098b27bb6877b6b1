#include "wire/common/transport.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/assert.h"
#include "wire/common/flush_list.h"
#include "wire/common/websocket.h"

namespace millstream::wire {
namespace {

constexpr uint32_t kTransportEvents = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET;
constexpr size_t kJoinedBytesMax = 32 * 1024;  // small pieces are joined up to here
constexpr int kPartsMax = 64;
constexpr std::string_view kWebSocketBegin = "GET ";

// Used and left within one call.
char* transport_scratch() {
  thread_local std::unique_ptr<char[]> bytes(new char[Transport::kReadBytes]);
  return bytes.get();
}

// A peer whose machine has gone says nothing, and a session without heart-beats would wait for
// ever: the connection breaks after two minutes.
void set_keep_alive(int fd) {
  constexpr int kOn = 1, kIdleSeconds = 60, kBetweenSeconds = 15, kProbes = 4;
  setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &kOn, sizeof kOn);
  setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &kIdleSeconds, sizeof kIdleSeconds);
  setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &kBetweenSeconds, sizeof kBetweenSeconds);
  setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &kProbes, sizeof kProbes);
}

}  // namespace

std::string_view close_reason_text(CloseReason reason) {
  switch (reason) {
    case CloseReason::kPeer:
      return "the peer has closed the connection";
    case CloseReason::kOurs:
      return "closed by the server";
    case CloseReason::kTimeout:
      return "it took too long";
    case CloseReason::kTlsFailed:
      return "TLS failed";
    case CloseReason::kWebSocket:
      return "not a WebSocket of RFC 6455";
    case CloseReason::kInputTooLong:
      return "more input than the limit";
  }
  return "";
}

Transport::Transport(net::Reactor& reactor, int fd, const TransportLimits& limits)
    : reactor_(reactor), fd_(fd), limits_(limits) {
  timer_.owner = this;
  timer_.fire = [](net::Timer& timer) { static_cast<Transport*>(timer.owner)->on_timer(); };
}

std::unique_ptr<Transport> Transport::accept(net::Reactor& reactor, int fd,
                                             std::shared_ptr<const net::TlsContext> tls,
                                             const TransportLimits& limits) {
  std::unique_ptr<Transport> transport(new Transport(reactor, fd, limits));
  transport->peer_ = net::peer_text(fd);
  set_keep_alive(fd);
  if (tls) {
    transport->tls_ = net::TlsChannel::accept(fd, std::move(tls));
    if (transport->tls_ == nullptr) return nullptr;
  }
  return transport;
}

std::unique_ptr<Transport> Transport::connect(net::Reactor& reactor, ConnectOptions options) {
  std::unique_ptr<Transport> transport(new Transport(reactor, -1, options.limits));
  transport->connect_ = std::make_unique<ConnectOptions>(std::move(options));
  return transport;
}

Transport::~Transport() {
  *self_ = nullptr;
  handler_ = nullptr;
  close(CloseReason::kOurs);
}

std::string Transport::peer_host() const {
  size_t colon = peer_.rfind(':');
  std::string host = peer_.substr(0, colon);
  if (host.size() > 2 && host.front() == '[') host = host.substr(1, host.size() - 2);
  return host;
}

void Transport::start(TransportHandler& handler) {
  MS_ASSERT(state_ == State::kNew);
  handler_ = &handler;
  if (connect_ != nullptr) return connect_next();
  state_ = State::kOpen;
  if (!reactor_.watch(fd_, *this, kTransportEvents).ok()) close(CloseReason::kPeer);
}

void Transport::allow_websocket(std::vector<std::string> subprotocols, bool sends_text) {
  may_be_websocket_ = true;
  sends_text_ = sends_text;
  subprotocols_ = std::move(subprotocols);
}

std::string_view Transport::subprotocol() const {
  return websocket_ == nullptr ? std::string_view() : websocket_->subprotocol();
}

// --- connecting ---

void Transport::connect_next() {
  state_ = State::kConnecting;
  if (!timer_.is_armed()) reactor_.arm(timer_, reactor_.refresh_now() + connect_->timeout_ns);
  while (connect_at_ < connect_->addresses.size()) {
    const net::Address& address = connect_->addresses[connect_at_++];
    fd_ = ::socket(address.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd_ < 0) {
      failure_ = std::strerror(errno);
      continue;
    }
    int one = 1;
    setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    int code = ::connect(fd_, address.data(), address.size());
    bool is_under_way = code == 0 || errno == EINPROGRESS;
    if (!is_under_way) failure_ = std::strerror(errno);
    if (is_under_way && reactor_.watch(fd_, *this, kTransportEvents).ok()) {
      peer_ = address.text();
      return;
    }
    ::close(std::exchange(fd_, -1));
  }
  close(CloseReason::kPeer);
}

void Transport::finish_connect() {
  int error = 0;
  socklen_t size = sizeof error;
  getsockopt(fd_, SOL_SOCKET, SO_ERROR, &error, &size);
  if (error != 0) {
    failure_ = std::strerror(error);
    reactor_.unwatch(fd_, *this);
    ::close(std::exchange(fd_, -1));
    return connect_next();
  }
  if (connect_->tls == nullptr) return opened();
  tls_ = net::TlsChannel::connect(fd_, connect_->tls, connect_->host);
  if (tls_ == nullptr) return close(CloseReason::kTlsFailed);
  advance_connect();
}

// The handshake of TLS, in which reading gives no bytes until it is over.
void Transport::advance_connect() {
  char* scratch = transport_scratch();
  ssize_t n = tls_->receive(scratch, kReadBytes);
  int error = errno;
  bool has_ended = n == 0 || (n < 0 && error != EAGAIN);
  if (!has_ended && !tls_->engine().is_established()) return;
  if (has_ended) {
    failure_ = n == 0 ? "closed within the handshake of TLS" : tls_->engine().failure();
    if (failure_.empty()) failure_ = std::strerror(error);
    return close(CloseReason::kTlsFailed);
  }
  is_readable_ = tls_->may_have_more();
  opened();
  if (n > 0 && state_ == State::kOpen) (void)take({scratch, static_cast<size_t>(n)});
}

void Transport::opened() {
  connect_.reset();
  reactor_.cancel(timer_);
  failure_.clear();
  state_ = State::kOpen;
  handler_->on_connected();
}

// --- receiving ---

void Transport::on_io(uint32_t events) {
  if (state_ == State::kConnecting) {
    if (tls_ == nullptr) return finish_connect();
    tls_->on_readable((events & EPOLLRDHUP) != 0);
    if ((events & EPOLLOUT) != 0) (void)tls_->flush();
    advance_connect();
    if (state_ == State::kOpen && is_readable_) read();
    return;
  }
  if ((events & (EPOLLERR | EPOLLHUP)) != 0) {
    return close(state_ == State::kShutting ? shut_reason_ : CloseReason::kPeer);
  }
  if ((events & EPOLLRDHUP) != 0) is_peer_closed_ = true;
  if ((events & (EPOLLIN | EPOLLRDHUP)) != 0) {
    is_readable_ = true;
    if (tls_) tls_->on_readable(is_peer_closed_);
  }
  if ((events & EPOLLOUT) != 0) {
    is_writable_ = true;
    if (tls_ && !tls_->flush() && tls_->is_broken()) return close(CloseReason::kPeer);
    if (outgoing_bytes_ > 0 && !write_out()) return;
  }
  read();
}

void Transport::read() {
  if (is_reading_ || state_ == State::kClosed || state_ == State::kNew) return;
  is_reading_ = true;
  size_t turn_bytes = 0;
  while (is_readable_ && (!is_paused_ || state_ == State::kShutting) && state_ != State::kClosed) {
    if (turn_bytes >= kTurnBytesMax) {
      resume_later();
      break;
    }
    if (!read_once(turn_bytes)) break;
  }
  is_reading_ = false;
  if (is_flush_scheduled_ && state_ != State::kClosed) flush();
}

// False: nothing more for now, or closed.
bool Transport::read_once(size_t& turn_bytes) {
  bool is_kept = input_bytes_ > 0 && state_ == State::kOpen;
  char* to = transport_scratch();
  size_t room = kReadBytes;
  if (is_kept) {
    size_t wanted = std::max(expected_bytes_, input_bytes_ + kReadBytes / 4);
    wanted = std::min(wanted, std::max(input_bytes_ * 2, 4 * kReadBytes));
    if (input_.capacity() < wanted && !reactor_.buffers().grow(input_, input_bytes_, wanted)) {
      close(CloseReason::kInputTooLong);
      return false;
    }
    to = input_.data() + input_bytes_;
    room = input_.capacity() - input_bytes_;
  }
  ssize_t n = receive(to, room);
  if (n < 0) return false;
  if (n == 0) {
    close(state_ == State::kShutting ? shut_reason_ : CloseReason::kPeer);
    return false;
  }
  turn_bytes += static_cast<size_t>(n);
  if (state_ == State::kShutting) return true;
  bytes_received_ += static_cast<size_t>(n);
  if (!is_kept) return take({to, static_cast<size_t>(n)});
  input_bytes_ += static_cast<size_t>(n);
  return take({});
}

// As recv(2), but that -1 also says closed.
ssize_t Transport::receive(char* data, size_t size) {
  for (;;) {
    ++receive_calls_;
    ssize_t n = tls_ ? tls_->receive(data, size) : ::recv(fd_, data, size, 0);
    if (n > 0) {
      // A short read has emptied the socket, unless the end of the stream is still to be read.
      is_readable_ = tls_ ? tls_->may_have_more() || is_peer_closed_
                          : static_cast<size_t>(n) == size || is_peer_closed_;
      return n;
    }
    if (n == 0) return 0;
    if (errno == EINTR) continue;
    is_readable_ = false;
    if (errno == EAGAIN) return -1;
    if (tls_ && errno == EPROTO) failure_ = tls_->engine().failure();
    close(tls_ && errno == EPROTO ? CloseReason::kTlsFailed : CloseReason::kPeer);
    return -1;
  }
}

// What is kept, or what is fresh: to whoever takes it, and the rest is kept. False: closed.
bool Transport::take(std::string_view fresh) {
  bool is_kept = input_bytes_ > 0;
  std::string_view all = is_kept ? std::string_view(input_.data(), input_bytes_) : fresh;
  size_t consumed = give(all);
  if (state_ != State::kOpen) return false;
  MS_ASSERT(consumed <= all.size());
  size_t rest = all.size() - consumed;
  if (rest > limits_.input_bytes_max) {
    close(CloseReason::kInputTooLong);
    return false;
  }
  if (rest == 0) {
    input_bytes_ = 0;
    input_.release();
    return true;
  }
  if (!is_kept) return append_input(all.substr(consumed));
  if (consumed > 0) std::memmove(input_.data(), input_.data() + consumed, rest);
  input_bytes_ = rest;
  return true;
}

bool Transport::append_input(std::string_view bytes) {
  if (!input_) input_ = reactor_.buffers().take(std::max(bytes.size(), net::BufferPool::kMinBytes));
  if (!input_) {
    close(CloseReason::kInputTooLong);
    return false;
  }
  std::memcpy(input_.data(), bytes.data(), bytes.size());
  input_bytes_ = bytes.size();
  return true;
}

size_t Transport::give(std::string_view bytes) {
  if (may_be_websocket_) {
    bool is_known = false;
    if (detect_websocket(bytes, is_known)) {
      websocket_ = std::make_unique<WebSocket>(*this, std::move(subprotocols_));
    } else if (!is_known) {
      return 0;
    }
    may_be_websocket_ = false;
  }
  return websocket_ ? websocket_->receive(bytes) : give_to_handler(bytes);
}

bool Transport::detect_websocket(std::string_view bytes, bool& is_known) {
  size_t size = std::min(bytes.size(), kWebSocketBegin.size());
  bool is_begin = bytes.substr(0, size) == kWebSocketBegin.substr(0, size);
  is_known = !is_begin;
  return is_begin && size == kWebSocketBegin.size();
}

size_t Transport::give_to_handler(std::string_view bytes) {
  if (is_paused_ || bytes.size() < expected_bytes_) return 0;
  expected_bytes_ = 0;
  return handler_->on_received(bytes);
}

void Transport::resume_reading() {
  if (!is_paused_) return;
  is_paused_ = false;
  resume_later();
}

void Transport::resume_later() {
  if (is_resuming_) return;
  is_resuming_ = true;
  reactor_.post([self = self_] {
    Transport* transport = *self;
    if (transport == nullptr) return;
    transport->is_resuming_ = false;
    if (transport->state_ != State::kOpen || transport->is_paused_) return;
    transport->is_reading_ = true;  // what it sends goes out below
    bool is_open = true;
    if (transport->websocket_) transport->websocket_->give_kept();
    if (transport->input_bytes_ > 0) is_open = transport->take({});
    transport->is_reading_ = false;
    if (is_open && transport->state_ == State::kOpen) transport->read();
    if (transport->is_flush_scheduled_) transport->flush();
  });
}

// --- sending ---

void Transport::send(std::string_view bytes) {
  if (state_ != State::kOpen || bytes.empty()) return;
  append(bytes);
  schedule_flush();
}

void Transport::send(std::string&& bytes) {
  if (state_ != State::kOpen || bytes.empty()) return;
  append(std::move(bytes));
  schedule_flush();
}

void Transport::send(const queue::Body& body) {
  if (state_ != State::kOpen || body.empty()) return;
  append(body);
  schedule_flush();
}

void Transport::append(std::string_view bytes) {
  outgoing_bytes_ += bytes.size();
  size_t framed = websocket_ ? websocket_->framed_pieces() : 0;
  if (pieces_.size() > std::max(framed, first_piece_)) {
    Piece& last = pieces_.back();
    if (last.body.empty() && last.text.size() + bytes.size() <= kJoinedBytesMax) {
      last.text.append(bytes);
      return;
    }
  }
  pieces_.emplace_back().text.assign(bytes);
}

void Transport::append(std::string&& bytes) {
  if (bytes.size() <= kSharedBytesMin) return append(std::string_view(bytes));
  outgoing_bytes_ += bytes.size();
  pieces_.emplace_back().text = std::move(bytes);
}

void Transport::append(const queue::Body& body) {
  if (body.size() < kSharedBytesMin) return append(body.view());
  outgoing_bytes_ += body.size();
  pieces_.emplace_back().body = body;
}

void Transport::schedule_flush() {
  if (outgoing_bytes_ > kDrainedBytes) is_above_drained_ = true;
  if (is_flush_scheduled_) return;
  is_flush_scheduled_ = true;
  if (!is_reading_) FlushList::add(reactor_, self_);
}

void Transport::flush() {
  is_flush_scheduled_ = false;
  if (outgoing_bytes_ > 0 && is_writable_) (void)write_out();
}

// False: closed.
bool Transport::write_out() {
  if (websocket_) websocket_->frame();
  while (outgoing_bytes_ > 0 && is_writable_) {
    iovec parts[kPartsMax];
    int count = 0;
    size_t offset = first_offset_;
    size_t wanted = 0;
    for (size_t i = first_piece_; i < pieces_.size() && count < kPartsMax; ++i) {
      parts[count].iov_base = const_cast<char*>(pieces_[i].data() + offset);
      parts[count].iov_len = pieces_[i].size() - offset;
      wanted += parts[count++].iov_len;
      offset = 0;
    }
    ssize_t n = write_parts(parts, count);
    if (n < 0) {
      if (errno == EINTR) continue;
      if (errno != EAGAIN) {
        close(CloseReason::kPeer);
        return false;
      }
      is_writable_ = false;
      break;
    }
    consumed(static_cast<size_t>(n));
    if (static_cast<size_t>(n) < wanted && tls_ == nullptr) is_writable_ = false;
  }
  if (outgoing_bytes_ == 0) {
    sent_all();
  } else if (!timer_.is_armed()) {
    arm_timer();
  }
  if (is_above_drained_ && outgoing_bytes_ <= kDrainedBytes) {
    is_above_drained_ = false;
    if (state_ == State::kOpen) handler_->on_drained();
  }
  return state_ != State::kClosed;
}

ssize_t Transport::write_parts(iovec* parts, int count) {
  ++send_calls_;
  if (tls_) return tls_->send(parts, count);
  msghdr message{};
  message.msg_iov = parts;
  message.msg_iovlen = static_cast<size_t>(count);
  return ::sendmsg(fd_, &message, MSG_NOSIGNAL);
}

void Transport::consumed(size_t bytes) {
  bytes_sent_ += bytes;
  outgoing_bytes_ -= bytes;
  bytes += first_offset_;
  while (first_piece_ < pieces_.size() && bytes >= pieces_[first_piece_].size()) {
    bytes -= pieces_[first_piece_].size();
    Piece& gone = pieces_[first_piece_++];
    gone.body = queue::Body();
    std::string().swap(gone.text);
  }
  first_offset_ = bytes;
  constexpr size_t kPiecesMovedMin = 256;
  if (first_piece_ < kPiecesMovedMin || first_piece_ * 2 < pieces_.size()) return;
  if (websocket_) websocket_->pieces_removed(first_piece_);
  pieces_.erase(pieces_.begin(), pieces_.begin() + static_cast<ptrdiff_t>(first_piece_));
  first_piece_ = 0;
}

void Transport::sent_all() {
  constexpr size_t kPiecesKept = 16;
  if (websocket_) websocket_->pieces_removed(pieces_.size());
  pieces_.clear();
  if (pieces_.capacity() > kPiecesKept) pieces_.shrink_to_fit();
  first_piece_ = 0;
  first_offset_ = 0;
  if (state_ == State::kOpen) reactor_.cancel(timer_);
  if (starts_tls_) {
    starts_tls_ = false;
    tls_ = net::TlsChannel::accept(fd_, std::move(pending_tls_));
    if (tls_ == nullptr) return close(CloseReason::kTlsFailed);
    tls_->on_readable(is_peer_closed_);
    is_readable_ = true;
    resume_later();
  }
  // The peer may send for a while; closing now would take from it what it has not read yet.
  if (state_ == State::kShutting && (tls_ == nullptr || tls_->engine().output().empty())) {
    if (tls_) tls_->finish();
    ::shutdown(fd_, SHUT_WR);
  }
}

void Transport::start_tls(std::shared_ptr<const net::TlsContext> context) {
  starts_tls_ = true;
  pending_tls_ = std::move(context);
  is_readable_ = false;
  schedule_flush();
}

// --- the end ---

void Transport::shut(int64_t linger_ns) {
  if (state_ == State::kNew || state_ == State::kConnecting) return close(CloseReason::kOurs);
  if (state_ != State::kOpen) return;
  if (websocket_) websocket_->say_goodbye();
  state_ = State::kShutting;
  reactor_.arm(timer_, reactor_.now_ns() + linger_ns);
  reactor_.post([self = self_] {
    Transport* transport = *self;
    if (transport == nullptr || transport->state_ != State::kShutting) return;
    transport->is_flush_scheduled_ = false;
    if (transport->outgoing_bytes_ == 0) {
      transport->sent_all();
    } else if (transport->is_writable_ && !transport->write_out()) {
      return;
    }
    transport->read();
  });
}

void Transport::abort(CloseReason reason) { close(reason); }

void Transport::close(CloseReason reason) {
  if (state_ == State::kClosed) return;
  bool was_watched = fd_ >= 0 && state_ != State::kNew;
  state_ = State::kClosed;
  reactor_.cancel(timer_);
  if (fd_ >= 0) {
    if (tls_ && handler_ != nullptr) tls_->finish();
    if (was_watched) reactor_.unwatch(fd_, *this);
    ::close(std::exchange(fd_, -1));
  }
  if (!is_reading_) {
    input_bytes_ = 0;
    input_.release();
  }
  pieces_.clear();
  outgoing_bytes_ = 0;
  if (handler_ == nullptr) return;
  reactor_.post([self = self_, reason] {
    Transport* transport = *self;
    if (transport == nullptr || transport->handler_ == nullptr) return;
    std::exchange(transport->handler_, nullptr)->on_closed(reason);
  });
}

void Transport::arm_timer() {
  if (state_ != State::kOpen) return;
  sent_at_check_ = bytes_sent_;
  reactor_.arm(timer_, reactor_.now_ns() + limits_.stall_ns);
}

void Transport::on_timer() {
  switch (state_) {
    case State::kConnecting:
      failure_ = "the time for connecting is over";
      return close(CloseReason::kTimeout);
    case State::kShutting:
      return close(shut_reason_);
    case State::kOpen:
      if (outgoing_bytes_ == 0) return;
      if (bytes_sent_ == sent_at_check_) return close(CloseReason::kTimeout);
      return arm_timer();
    default:
      return;
  }
}

}  // namespace millstream::wire
