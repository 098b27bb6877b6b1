// In steady state a request allocates nothing. This file replaces operator new for the test
// program.
#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <new>
#include <string>

#include "http/server.h"
#include "net/reactor_pool.h"

namespace {
thread_local uint64_t t_allocations = 0;
}  // namespace

void* operator new(size_t size) {
  ++t_allocations;
  if (void* p = std::malloc(size ? size : 1)) return p;
  std::abort();
}
// Not inlined: g++ would take the free() for that of memory from a library's operator new.
[[gnu::noinline]] void operator delete(void* p) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, size_t) noexcept { std::free(p); }

namespace net = millstream::net;
namespace http = millstream::http;

TEST_CASE("a request allocates nothing once the server is warm") {
  auto pool = net::ReactorPool::create(1).take_value();
  uint64_t seen = 0, warm = 0, last = 0;
  auto server = http::Server::create(*pool, {}, [&](http::RequestRef request) {
    if (++seen == 100) warm = t_allocations;
    last = t_allocations;
    http::Response* response = request->claim_reply();
    response->headers.add("Content-Type", "text/xml; charset=utf-8");
    response->body_view = request->body();
    request->send_reply();
  });
  auto port = server->listen("127.0.0.1", 0);
  REQUIRE(port.ok());
  int fd = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port.value()));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  REQUIRE(connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
  std::string body(20'000, 'b');
  std::string text =
      "POST /x?y=z HTTP/1.1\r\nHost: a\r\nUser-Agent: test\r\nContent-Length: 20000\r\n\r\n" + body;
  for (int i = 0; i < 1100; ++i) {
    REQUIRE(send(fd, text.data(), text.size(), 0) == static_cast<ssize_t>(text.size()));
    std::string reply;
    char chunk[32768];
    while (reply.find("\r\n\r\nb") == std::string::npos || reply.back() != 'b' ||
           reply.size() < body.size()) {
      ssize_t n = recv(fd, chunk, sizeof chunk, 0);
      REQUIRE(n > 0);
      reply.append(chunk, static_cast<size_t>(n));
      if (reply.size() >= body.size() + reply.find("\r\n\r\n") + 4) break;
    }
  }
  close(fd);
  server->stop();
  CHECK(seen == 1100);
  CHECK(last == warm);
}
