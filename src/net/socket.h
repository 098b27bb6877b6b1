// A connected TCP socket used by fibers: reads and writes suspend the calling fiber until the
// deadline. One reader and one writer fiber at a time.
// Thread: that of the reactor it was made on.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/result.h"
#include "net/address.h"
#include "net/reactor.h"

struct iovec;

namespace millstream::net {

class Socket final : private IoHandler {
 public:
  // On the current reactor, in a fiber.
  static Result<std::unique_ptr<Socket>> connect(const Address& address, int64_t deadline_ns);
  // Takes the descriptor, which must be non-blocking.
  static Result<std::unique_ptr<Socket>> adopt(Reactor& reactor, int fd);
  ~Socket() override;

  // At least one byte, 0 at the end of the stream.
  Result<size_t> read_some(char* data, size_t size, int64_t deadline_ns);
  // All of it. `parts` is changed on the way. `*sent`, when given, counts what went out, also on
  // failure.
  Status write_all(iovec* parts, int count, int64_t deadline_ns, size_t* sent = nullptr);
  // True when bytes or the end of the stream wait to be read: an idle connection of a pool is
  // stale.
  bool is_readable_now() const;
  int fd() const { return fd_; }

 private:
  Socket(Reactor& reactor, int fd) : reactor_(reactor), fd_(fd) {}
  void on_io(uint32_t events) override;
  Status wait_for(bool& flag, WaitTicket& ticket, const char* operation, int64_t deadline_ns);

  Reactor& reactor_;
  int fd_;
  bool is_readable_ = false;
  bool is_writable_ = false;
  bool is_peer_closed_ = false;
  WaitTicket reader_;
  WaitTicket writer_;
};

}  // namespace millstream::net
