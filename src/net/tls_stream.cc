#include "net/tls_stream.h"

#include <errno.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>

#include "net/errors_gen.h"

namespace millstream::net {

namespace {
constexpr size_t kCiphertextBytes = 32 * 1024;
constexpr size_t kWriteBytes = 64 * 1024;  // encrypted before it is sent

// Shared by all streams of a thread: what is received is either consumed or copied before anything
// can suspend.
char* tls_scratch() {
  thread_local std::unique_ptr<char[]> bytes(new char[kCiphertextBytes]);
  return bytes.get();
}
}  // namespace

Result<std::unique_ptr<TlsStream>> TlsStream::connect(std::unique_ptr<Socket> socket,
                                                      std::shared_ptr<const TlsContext> context,
                                                      const Target& target, int64_t deadline_ns) {
  std::unique_ptr<TlsEngine> engine =
      TlsEngine::connect(std::move(context), target.host, target.session);
  std::string peer = target.host + ":" + std::to_string(target.port);
  if (!engine) return base::make_error(errors::kTlsHandshake, {peer, "out of memory"});
  std::unique_ptr<TlsStream> made(
      new TlsStream(std::move(socket), std::move(engine), std::move(peer)));
  for (;;) {
    const TlsEngine::Outcome outcome = made->engine_->handshake();
    Status flushed = made->flush(deadline_ns);  // an alert goes out too
    if (outcome == TlsEngine::Outcome::kFailed) return made->failure();
    MS_TRY(std::move(flushed));
    if (outcome == TlsEngine::Outcome::kDone) return made;
    if (outcome == TlsEngine::Outcome::kClosed || MS_TRY(made->receive(deadline_ns)) == 0) {
      return base::make_error(errors::kTlsHandshake,
                              {made->peer_, "the other side closed the connection"});
    }
  }
}

TlsStream::~TlsStream() {
  engine_->close_notify();
  const std::string_view rest = engine_->output();
  if (!rest.empty()) ::send(socket_->fd(), rest.data(), rest.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
}

Status TlsStream::failure() const {
  const base::ErrorCode& code =
      engine_->is_established() ? errors::kTlsFailure : errors::kTlsHandshake;
  return base::make_error(code, {peer_, engine_->failure()});
}

Status TlsStream::flush(int64_t deadline_ns) {
  const std::string_view bytes = engine_->output();
  if (bytes.empty()) return {};
  iovec part{const_cast<char*>(bytes.data()), bytes.size()};
  Status status = socket_->write_all(&part, 1, deadline_ns);
  engine_->consume_output(bytes.size());
  return status;
}

Result<size_t> TlsStream::receive(int64_t deadline_ns) {
  char* scratch = tls_scratch();
  const size_t n = MS_TRY(socket_->read_some(scratch, kCiphertextBytes, deadline_ns));
  engine_->feed({scratch, n});
  engine_->keep_input();
  return n;
}

Result<size_t> TlsStream::read_some(char* data, size_t size, int64_t deadline_ns) {
  for (;;) {
    size_t got = 0;
    const TlsEngine::Outcome outcome = engine_->read(data, size, &got);
    if (outcome == TlsEngine::Outcome::kDone) return got;
    if (outcome == TlsEngine::Outcome::kClosed) return size_t{0};
    Status flushed = flush(deadline_ns);
    if (outcome == TlsEngine::Outcome::kFailed) return failure();
    MS_TRY(std::move(flushed));
    char* scratch = tls_scratch();
    const size_t n = MS_TRY(socket_->read_some(scratch, kCiphertextBytes, deadline_ns));
    if (n == 0) return size_t{0};
    engine_->feed({scratch, n});
    // Decrypted straight from the scratch; only what is left over is copied.
    const TlsEngine::Outcome again = engine_->read(data, size, &got);
    engine_->keep_input();
    if (again == TlsEngine::Outcome::kDone) return got;
  }
}

Status TlsStream::write_all(iovec* parts, int count, int64_t deadline_ns, size_t* sent) {
  size_t pending = 0;
  for (int i = 0; i < count; ++i) {
    std::string_view rest(static_cast<char*>(parts[i].iov_base), parts[i].iov_len);
    while (!rest.empty()) {
      const std::string_view piece = rest.substr(0, kWriteBytes);
      if (engine_->write(piece) != TlsEngine::Outcome::kDone) return failure();
      rest.remove_prefix(piece.size());
      pending += piece.size();
      const bool is_last = rest.empty() && i + 1 == count;
      if (!is_last && pending < kWriteBytes) continue;
      MS_TRY(flush(deadline_ns));
      if (sent) *sent += pending;
      pending = 0;
    }
  }
  MS_TRY(flush(deadline_ns));
  if (sent) *sent += pending;
  return {};
}

bool TlsStream::is_idle() {
  if (engine_->has_pending()) return false;
  char* scratch = tls_scratch();
  for (int i = 0; i < 4; ++i) {
    const ssize_t n = ::recv(socket_->fd(), scratch, kCiphertextBytes, MSG_DONTWAIT);
    if (n < 0) return errno == EAGAIN || errno == EINTR;
    if (n == 0) return false;
    engine_->feed({scratch, static_cast<size_t>(n)});
    char byte;
    size_t got = 0;
    const TlsEngine::Outcome outcome = engine_->read(&byte, 1, &got);
    engine_->keep_input();
    if (outcome != TlsEngine::Outcome::kWantInput) return false;
  }
  return false;
}

}  // namespace millstream::net
