// A TLS connection over a connected socket, used by fibers: the client's side of HTTPS.
// One reader and one writer fiber at a time, and not both at once. Thread: that of the socket.
#pragma once
#include <memory>
#include <string>

#include "base/result.h"
#include "net/socket.h"
#include "net/tls_engine.h"

namespace millstream::net {

class TlsStream {
 public:
  struct Target {
    std::string host;  // for SNI, the certificate's check and error texts
    int port = 443;
    ssl_session_st* session = nullptr;  // to resume
  };
  static Result<std::unique_ptr<TlsStream>> connect(std::unique_ptr<Socket> socket,
                                                    std::shared_ptr<const TlsContext> context,
                                                    const Target& target, int64_t deadline_ns);
  ~TlsStream();  // says good-bye when the socket takes it at once

  Result<size_t> read_some(char* data, size_t size, int64_t deadline_ns);
  Status write_all(iovec* parts, int count, int64_t deadline_ns, size_t* sent = nullptr);
  // False when the other side has closed or sent something. Records without data, such as session
  // tickets, are taken in.
  bool is_idle();
  TlsEngine& engine() { return *engine_; }

 private:
  TlsStream(std::unique_ptr<Socket> socket, std::unique_ptr<TlsEngine> engine, std::string peer)
      : socket_(std::move(socket)), engine_(std::move(engine)), peer_(std::move(peer)) {}
  Status flush(int64_t deadline_ns);
  Result<size_t> receive(int64_t deadline_ns);
  Status failure() const;

  std::unique_ptr<Socket> socket_;
  std::unique_ptr<TlsEngine> engine_;
  std::string peer_;  // "host:port"
};

}  // namespace millstream::net
