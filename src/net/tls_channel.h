// TLS over a non-blocking socket, for state machines: receive() and send() behave as recv(2) and
// sendmsg(2) do, with plain text. The descriptor belongs to the owner, who watches it.
// Thread: one. What a record leaves over is kept; between messages nothing but OpenSSL's state is.
#pragma once
#include <sys/types.h>

#include <memory>

#include "net/tls_engine.h"

struct iovec;

namespace millstream::net {

class TlsChannel {
 public:
  static constexpr size_t kReceiveBytes = 32 * 1024;      // of ciphertext in one call
  static constexpr size_t kSendBytes = 64 * 1024;         // of plain text in one call
  static constexpr size_t kUnreadBytesMax = 1024 * 1024;  // beyond: the connection is broken

  // Null when memory is short.
  static std::unique_ptr<TlsChannel> accept(int fd, std::shared_ptr<const TlsContext> context);
  // The client's side; `host` is what the certificate must be for. receive() begins the handshake.
  static std::unique_ptr<TlsChannel> connect(int fd, std::shared_ptr<const TlsContext> context,
                                             const std::string& host);

  // Bytes; 0 at the end of the stream; -1 with errno: EAGAIN, EPROTO (see engine().failure()), ....
  ssize_t receive(char* data, size_t size);
  // How much was taken: encrypted, maybe not yet sent; -1 with errno.
  ssize_t send(const iovec* parts, int count);
  // Sends what is encrypted; true when all of it is out.
  bool flush();
  bool is_broken() const { return is_broken_; }
  // False: receive() would say EAGAIN.
  bool may_have_more() const { return !is_drained_ || engine_->has_pending(); }
  void on_readable(bool is_peer_closed) {
    is_drained_ = false;
    is_peer_closed_ = is_peer_closed_ || is_peer_closed;
  }
  void finish();  // says good-bye as far as the socket takes it at once
  TlsEngine& engine() { return *engine_; }
  uint64_t system_calls() const { return system_calls_; }

 private:
  TlsChannel(int fd, std::unique_ptr<TlsEngine> engine) : fd_(fd), engine_(std::move(engine)) {}
  int fd_;
  std::unique_ptr<TlsEngine> engine_;
  bool is_drained_ = false;
  bool is_peer_closed_ = false;
  bool is_broken_ = false;
  uint64_t system_calls_ = 0;
};

}  // namespace millstream::net
