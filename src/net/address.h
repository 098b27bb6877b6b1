// Socket addresses and name look-up.
// Thread: any. resolve() suspends the calling fiber; the look-up runs in the blocking pool and may
// go on there, unheeded, after the deadline.
#pragma once
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "base/result.h"
#include "net/deadline.h"

struct sockaddr;

namespace millstream::net {

class Address {
 public:
  static constexpr uint32_t kBytesMax = 128;

  Address() = default;
  Address(const sockaddr* address, uint32_t size);
  sockaddr* data() { return reinterpret_cast<sockaddr*>(bytes_); }
  const sockaddr* data() const { return reinterpret_cast<const sockaddr*>(bytes_); }
  uint32_t size() const { return size_; }
  int family() const;
  int port() const;
  std::string text() const;  // "127.0.0.1:80", "[::1]:80"

 private:
  alignas(8) char bytes_[kBytesMax] = {};
  uint32_t size_ = 0;
};

Result<std::vector<Address>> resolve(const std::string& host, int port,
                                     int64_t deadline_ns = kNever);
// "" and "*": all addresses.
Result<Address> resolve_for_listening(const std::string& host, int port);
// The address of the other side of a connected socket; empty text when unknown.
std::string peer_text(int fd);

}  // namespace millstream::net
