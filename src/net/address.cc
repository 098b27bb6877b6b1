#include "net/address.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <memory>

#include "net/blocking_pool.h"
#include "net/errors_gen.h"
#include "net/waiting.h"

namespace millstream::net {

Address::Address(const sockaddr* address, uint32_t size) : size_(std::min(size, kBytesMax)) {
  std::memcpy(bytes_, address, size_);
}

int Address::family() const { return data()->sa_family; }

int Address::port() const {
  if (family() == AF_INET) return ntohs(reinterpret_cast<const sockaddr_in*>(bytes_)->sin_port);
  if (family() == AF_INET6) return ntohs(reinterpret_cast<const sockaddr_in6*>(bytes_)->sin6_port);
  return 0;
}

std::string Address::text() const {
  char host[INET6_ADDRSTRLEN] = "";
  if (family() == AF_INET) {
    inet_ntop(AF_INET, &reinterpret_cast<const sockaddr_in*>(bytes_)->sin_addr, host, sizeof host);
    return std::string(host) + ":" + std::to_string(port());
  }
  if (family() == AF_INET6) {
    inet_ntop(AF_INET6, &reinterpret_cast<const sockaddr_in6*>(bytes_)->sin6_addr, host,
              sizeof host);
    return "[" + std::string(host) + "]:" + std::to_string(port());
  }
  return "";
}

namespace {
Status look_up_addresses(const std::string& host, int port, int flags, std::vector<Address>* out) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags | AI_NUMERICSERV;
  addrinfo* list = nullptr;
  std::string service = std::to_string(port);
  int code = getaddrinfo(host.empty() ? nullptr : host.c_str(), service.c_str(), &hints, &list);
  if (code != 0) return base::make_error(errors::kNameLookup, {host, gai_strerror(code)});
  for (addrinfo* at = list; at; at = at->ai_next) out->emplace_back(at->ai_addr, at->ai_addrlen);
  freeaddrinfo(list);
  return {};
}

struct NameLookup {
  Status status;
  std::vector<Address> addresses;
  FiberEvent done;
};
}  // namespace

Result<std::vector<Address>> resolve(const std::string& host, int port, int64_t deadline_ns) {
  std::vector<Address> out;
  if (host.empty()) return base::make_error(errors::kNameLookup, {host, "the name is empty"});
  // A numeric address needs no look-up and no thread.
  if (look_up_addresses(host, port, AI_NUMERICHOST, &out).ok()) return out;
  // Shared by this fiber and the look-up, which cannot be interrupted.
  auto lookup = std::make_shared<NameLookup>();
  BlockingPool::shared().submit([lookup, host, port] {
    lookup->status = look_up_addresses(host, port, AI_ADDRCONFIG, &lookup->addresses);
    lookup->done.set();
  });
  switch (lookup->done.wait(deadline_ns)) {
    case WakeReason::kWoken:
      break;
    case WakeReason::kTimeout:
      return base::make_error(errors::kSocketTimeout, {"name look-up"});
    case WakeReason::kCancelled:
      return base::make_error(errors::kCancelled, {"name look-up"});
  }
  MS_TRY(std::move(lookup->status));
  return std::move(lookup->addresses);
}

Result<Address> resolve_for_listening(const std::string& host, int port) {
  std::vector<Address> out;
  std::string name = host.empty() || host == "*" ? "0.0.0.0" : host;
  MS_TRY(look_up_addresses(name, port, AI_PASSIVE, &out));
  return out.front();
}

std::string peer_text(int fd) {
  Address address;
  socklen_t size = Address::kBytesMax;
  if (getpeername(fd, address.data(), &size) != 0) return "";
  return address.text();
}

}  // namespace millstream::net
