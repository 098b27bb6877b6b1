#include "net/tls_channel.h"

#include <errno.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>

namespace millstream::net {

namespace {
// Shared by all channels of a thread: used and left within one call.
char* channel_scratch() {
  thread_local std::unique_ptr<char[]> bytes(new char[TlsChannel::kReceiveBytes]);
  return bytes.get();
}
}  // namespace

std::unique_ptr<TlsChannel> TlsChannel::accept(int fd, std::shared_ptr<const TlsContext> context) {
  std::unique_ptr<TlsEngine> engine = TlsEngine::accept(std::move(context));
  if (!engine) return nullptr;
  return std::unique_ptr<TlsChannel>(new TlsChannel(fd, std::move(engine)));
}

std::unique_ptr<TlsChannel> TlsChannel::connect(int fd, std::shared_ptr<const TlsContext> context,
                                                const std::string& host) {
  std::unique_ptr<TlsEngine> engine = TlsEngine::connect(std::move(context), host, nullptr);
  if (!engine) return nullptr;
  return std::unique_ptr<TlsChannel>(new TlsChannel(fd, std::move(engine)));
}

ssize_t TlsChannel::receive(char* data, size_t size) {
  for (;;) {
    size_t got = 0;
    const TlsEngine::Outcome outcome = engine_->read(data, size, &got);
    engine_->keep_input();
    if (!engine_->output().empty()) flush();  // the handshake, or an alert
    // Who makes us answer and does not read the answers must not fill the memory.
    if (engine_->output().size() > kUnreadBytesMax) is_broken_ = true;
    switch (outcome) {
      case TlsEngine::Outcome::kDone:
        return static_cast<ssize_t>(got);
      case TlsEngine::Outcome::kClosed:
        return 0;
      case TlsEngine::Outcome::kFailed:
        is_broken_ = true;
        errno = EPROTO;
        return -1;
      case TlsEngine::Outcome::kWantInput:
        break;
    }
    if (is_broken_ || is_drained_) {
      errno = is_broken_ ? EPIPE : EAGAIN;
      return -1;
    }
    char* scratch = channel_scratch();
    const ssize_t n = ::recv(fd_, scratch, kReceiveBytes, 0);
    ++system_calls_;
    if (n < 0) {
      if (errno == EINTR) continue;
      if (errno == EAGAIN) is_drained_ = true;
      return -1;
    }
    if (n == 0) return 0;
    // A short read has emptied the socket, unless the end of the stream is still to be read.
    is_drained_ = static_cast<size_t>(n) < kReceiveBytes && !is_peer_closed_;
    engine_->feed({scratch, static_cast<size_t>(n)});
  }
}

bool TlsChannel::flush() {
  for (;;) {
    const std::string_view bytes = engine_->output();
    if (bytes.empty()) return true;
    if (is_broken_) return false;
    const ssize_t n = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    ++system_calls_;
    if (n >= 0) {
      engine_->consume_output(static_cast<size_t>(n));
    } else if (errno != EINTR) {
      if (errno != EAGAIN) is_broken_ = true;
      return false;
    }
  }
}

ssize_t TlsChannel::send(const iovec* parts, int count) {
  if (!flush()) {
    errno = is_broken_ ? EPIPE : EAGAIN;
    return -1;
  }
  size_t taken = 0;
  for (int i = 0; i < count && taken < kSendBytes; ++i) {
    const size_t piece = std::min(parts[i].iov_len, kSendBytes - taken);
    if (piece == 0) continue;
    const TlsEngine::Outcome outcome =
        engine_->write({static_cast<const char*>(parts[i].iov_base), piece});
    if (outcome != TlsEngine::Outcome::kDone) {
      is_broken_ = true;
      errno = EPROTO;
      return -1;
    }
    taken += piece;
  }
  flush();
  if (is_broken_) {
    errno = EPIPE;
    return -1;
  }
  return static_cast<ssize_t>(taken);
}

void TlsChannel::finish() {
  if (is_broken_) return;
  engine_->close_notify();
  flush();
}

}  // namespace millstream::net
