#include "net/socket.h"

#include <doctest/doctest.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <string>

#include "net/errors_gen.h"
#include "net/reactor_pool.h"
#include "net/waiting.h"

namespace {
namespace net = millstream::net;

std::unique_ptr<net::ReactorPool> make_socket_pool() {
  auto pool = net::ReactorPool::create(2);
  REQUIRE(pool.ok());
  return std::move(pool).take_value();
}
}  // namespace

TEST_CASE("a large message goes to an echoing peer and back") {
  auto pool = make_socket_pool();
  auto on_accept = [](net::Reactor& reactor, int fd) {
    reactor.spawn([&reactor, fd] {
      auto socket = net::Socket::adopt(reactor, fd);
      REQUIRE(socket.ok());
      char chunk[4096];
      for (;;) {
        auto n = socket.value()->read_some(chunk, sizeof chunk, net::kNever);
        if (!n.ok() || n.value() == 0) return;
        iovec part{chunk, n.value()};
        if (!socket.value()->write_all(&part, 1, net::kNever).ok()) return;
      }
    });
  };
  auto listener = net::Listener::open(*pool, "127.0.0.1", 0, on_accept);
  REQUIRE(listener.ok());
  std::string sent(3'000'000, '\0'), received;
  for (size_t i = 0; i < sent.size(); ++i) sent[i] = static_cast<char>(i * 7);
  pool->run_on(1, [&] {
    auto addresses = net::resolve("localhost", listener.value()->port());
    REQUIRE(addresses.ok());
    net::Address numeric = net::resolve("127.0.0.1", listener.value()->port()).take_value().front();
    auto socket = net::Socket::connect(numeric, net::kNever);
    REQUIRE(socket.ok());
    net::Socket& s = *socket.value();
    net::FiberEvent written;
    net::Reactor::current()->spawn([&] {
      iovec parts[2] = {{sent.data(), 10}, {sent.data() + 10, sent.size() - 10}};
      CHECK(s.write_all(parts, 2, net::kNever).ok());
      written.set();
    });
    char chunk[16384];
    while (received.size() < sent.size()) {
      auto n = s.read_some(chunk, sizeof chunk, net::kNever);
      REQUIRE(n.ok());
      REQUIRE(n.value() > 0);
      received.append(chunk, n.value());
    }
    written.wait();
  });
  CHECK(received == sent);
  listener.value()->close();
}

TEST_CASE("waiting for bytes ends with the deadline, connecting to nobody is refused") {
  auto pool = make_socket_pool();
  int accepted = -1;
  net::FiberEvent has_accepted;
  auto listener = net::Listener::open(*pool, "127.0.0.1", 0, [&](net::Reactor&, int fd) {
    accepted = fd;
    has_accepted.set();
  });
  REQUIRE(listener.ok());
  int port = listener.value()->port();
  const millstream::base::ErrorCode* timeout = nullptr;
  const millstream::base::ErrorCode* refused = nullptr;
  pool->run_on(0, [&] {
    net::Address address = net::resolve("127.0.0.1", port).take_value().front();
    auto socket = net::Socket::connect(address, net::kNever);
    REQUIRE(socket.ok());
    char byte;
    int64_t now = net::Reactor::current()->now_ns();
    auto n = socket.value()->read_some(&byte, 1, now + 2 * net::kMillisecond);
    REQUIRE_FALSE(n.ok());
    timeout = n.error().code;
  });
  has_accepted.wait();
  listener.value()->close();
  pool->run_on(0, [&] {
    net::Address address = net::resolve("127.0.0.1", port).take_value().front();
    auto socket = net::Socket::connect(address, net::kNever);
    REQUIRE_FALSE(socket.ok());
    refused = socket.error().code;
  });
  close(accepted);
  CHECK(timeout == &net::errors::kSocketTimeout);
  CHECK(refused == &net::errors::kSocketOperation);
}

TEST_CASE("names that cannot be resolved and ports in use are errors") {
  auto pool = make_socket_pool();
  pool->run_on(0, [] {
    auto none = net::resolve("no-such-host.invalid", 80);
    REQUIRE_FALSE(none.ok());
    CHECK(none.error().code == &net::errors::kNameLookup);
  });
  auto first = net::Listener::open(*pool, "127.0.0.1", 0, [](net::Reactor&, int fd) { close(fd); });
  REQUIRE(first.ok());
  auto second = net::Listener::open(*pool, "127.0.0.1", first.value()->port(),
                                    [](net::Reactor&, int fd) { close(fd); });
  REQUIRE_FALSE(second.ok());
  CHECK(second.error().code == &net::errors::kListen);
}
