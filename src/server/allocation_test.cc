// In steady state a message costs no allocation, one receive and one send call, from the socket
// through input node, ESQL and reply. This file replaces operator new for the test program.
#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <thread>

#include "server/server.h"

namespace {
std::atomic<uint64_t> g_allocations{0};
}  // namespace

// A sanitizer has operators of its own; what they count is not what is shipped.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
void* operator new(size_t size) {
  g_allocations.fetch_add(1, std::memory_order_relaxed);
  if (void* p = std::malloc(size ? size : 1)) return p;
  std::abort();
}
// Not inlined: g++ would take the free() for that of memory from a library's operator new.
[[gnu::noinline]] void operator delete(void* p) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, size_t) noexcept { std::free(p); }
#endif

namespace millstream::server {
namespace {

constexpr int kWarmRequests = 300;
constexpr int kRequests = 1000;

// A client that allocates nothing itself.
class RawClient {
 public:
  explicit RawClient(int port) : fd_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    REQUIRE(::connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
  }
  ~RawClient() { ::close(fd_); }

  // True when the whole reply is 200 and ends with `tail`.
  bool exchange(std::string_view request, std::string_view tail) {
    if (::send(fd_, request.data(), request.size(), 0) != static_cast<ssize_t>(request.size())) {
      return false;
    }
    size_t size = 0;
    for (;;) {
      const ssize_t n = ::recv(fd_, buffer_ + size, sizeof buffer_ - size, 0);
      if (n <= 0) return false;
      size += static_cast<size_t>(n);
      const std::string_view reply(buffer_, size);
      if (reply.substr(0, 12) != "HTTP/1.1 200") return false;
      if (size > tail.size() && reply.substr(size - tail.size()) == tail) return true;
    }
  }

 private:
  int fd_;
  char buffer_[16 * 1024];
};

// The reactor counts a send after its bytes have arrived here, so the last one may be missing for
// an instant.
http::ServerStats settled_statistics(Server& server) {
  http::ServerStats stats = server.http_statistics();
  for (int i = 0; i < 1'000'000 && stats.send_calls < stats.receive_calls; ++i) {
    std::this_thread::yield();
    stats = server.http_statistics();
  }
  return stats;
}

void check_steady_state(const char* project, std::string_view path, std::string_view body,
                        std::string_view tail) {
  ServerOptions options;
  options.deployment.paths = {project};
  options.host = "127.0.0.1";
  options.http_port = 0;
  options.cores = 1;
  base::Diagnostics diagnostics;
  auto server = Server::start(options, diagnostics).take_value();
  const std::string request = "POST " + std::string(path) +
                              " HTTP/1.1\r\nHost: localhost\r\nUser-Agent: test\r\n"
                              "Content-Length: " +
                              std::to_string(body.size()) + "\r\n\r\n" + std::string(body);
  auto client = std::make_unique<RawClient>(server->http_port());
  bool is_good = true;
  for (int i = 0; i < kWarmRequests; ++i) is_good &= client->exchange(request, tail);
  REQUIRE(is_good);
  const http::ServerStats before = settled_statistics(*server);
  const uint64_t allocations_before = g_allocations.load();
  for (int i = 0; i < kRequests; ++i) is_good &= client->exchange(request, tail);
  const uint64_t allocations = g_allocations.load() - allocations_before;
  const http::ServerStats after = settled_statistics(*server);
  CHECK(is_good);
  CHECK(allocations == 0);
  CHECK(after.receive_calls - before.receive_calls == kRequests);
  CHECK(after.send_calls - before.send_calls == kRequests);
  client.reset();
  server->stop();
}

TEST_CASE("an HTTP flow allocates nothing once it is warm") {
  check_steady_state("bench/projects/http-floor", "/floor", "some bytes", "some bytes");
}

TEST_CASE("an XML flow with ESQL allocates nothing once it is warm") {
  check_steady_state(
      "examples/http-xml-sum", "/xml/sum",
      "<SaleEnvelope><SaleList><Invoice><Item><Price>1.50</Price><Quantity>2"
      "</Quantity></Item><Balance>3.25</Balance></Invoice></SaleList></SaleEnvelope>",
      "<SaleEnvelopeResult><Sum>6.75</Sum></SaleEnvelopeResult>");
}

TEST_CASE("a JSON flow with ESQL allocates nothing once it is warm") {
  check_steady_state("examples/http-json-sum", "/json/sum",
                     R"({"SaleEnvelope":{"SaleList":[{"Invoice":[{"Item":[{"Price":1.50,)"
                     R"("Quantity":2}],"Balance":3.25}]}]}})",
                     R"({"Sum":6.75})");
}

}  // namespace
}  // namespace millstream::server
