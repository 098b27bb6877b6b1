#include "http/client.h"

#include <doctest/doctest.h>
#include <sys/uio.h>

#include <functional>
#include <string>
#include <vector>

#include "http/errors_gen.h"
#include "http/server.h"
#include "net/errors_gen.h"
#include "net/reactor_pool.h"
#include "net/socket.h"
#include "net/waiting.h"

namespace {
namespace net = millstream::net;
namespace http = millstream::http;

// A server that answers the n-th request it sees (a head, and as many body bytes as Content-Length
// says) with the n-th script, literally; "" closes the connection, a leading '!' closes after
// sending.
class ScriptedServer {
 public:
  explicit ScriptedServer(std::vector<std::string> scripts, bool is_virtual = false)
      : scripts_(std::move(scripts)) {
    net::ReactorOptions reactor_options;
    reactor_options.clock = is_virtual ? &time : nullptr;
    pool_ = net::ReactorPool::create(1, reactor_options).take_value();
    auto on_accept = [this](net::Reactor& reactor, int fd) {
      ++connections;
      reactor.spawn([this, &reactor, fd] { serve(reactor, fd); });
    };
    listener_ = net::Listener::open(*pool_, "127.0.0.1", 0, on_accept).take_value();
  }
  ~ScriptedServer() {
    listener_->close();
    pool_->stop();
  }
  http::Url url(const std::string& target = "/t") {
    http::Url out;
    out.host = "127.0.0.1";
    out.port = listener_->port();
    out.target = target;
    return out;
  }
  void on_reactor(const std::function<void(http::ClientPool&)>& task,
                  http::ClientOptions options = {}) {
    pool_->run_on(0, [&] {
      http::ClientPool clients(*net::Reactor::current(), options);
      task(clients);
    });
  }
  millstream::base::VirtualClock time;
  std::vector<std::string> seen;
  int connections = 0;

 private:
  void serve(net::Reactor& reactor, int fd) {
    auto socket = net::Socket::adopt(reactor, fd).take_value();
    std::string input;
    for (;;) {
      size_t end = input.find("\r\n\r\n");
      if (end != std::string::npos) {
        size_t at = input.find("Content-Length: ");
        size_t need = end + 4 + (at < end ? std::stoul(input.substr(at + 16)) : 0);
        if (input.size() >= need) {
          seen.push_back(input.substr(0, need));
          input.erase(0, need);
          if (next_ >= scripts_.size()) return;
          std::string script = scripts_[next_++];
          bool must_close = script.empty() || script[0] == '!';
          if (must_close && !script.empty()) script.erase(0, 1);
          iovec part{script.data(), script.size()};
          if (!socket->write_all(&part, 1, net::kNever).ok() || must_close) return;
          continue;
        }
      }
      char chunk[65536];
      auto n = socket->read_some(chunk, sizeof chunk, net::kNever);
      if (!n.ok() || n.value() == 0) return;
      input.append(chunk, n.value());
    }
  }
  std::vector<std::string> scripts_;
  size_t next_ = 0;
  std::unique_ptr<net::ReactorPool> pool_;
  std::unique_ptr<net::Listener> listener_;
};

const std::string kOk = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

http::ClientRequest make_get(http::Url url) {
  http::ClientRequest request;
  request.method = "GET";
  request.url = std::move(url);
  return request;
}

const millstream::base::ErrorCode* cause_of(
    const millstream::Result<http::ClientResponse>& result) {
  if (result.ok() || result.error().code != &http::errors::kWebServiceSocket) return nullptr;
  return result.error().innermost().code;
}
}  // namespace

TEST_CASE("client: framing of replies") {
  std::string large(300'000, 'L');
  ScriptedServer server({
      kOk,
      "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early\r\nX: 1\r\n\r\n" + kOk,
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nX-Y: "
      "z\r\n\r\n3\r\nabc\r\n4\r\ndefg\r\n0\r\n\r\n",
      "HTTP/1.1 204 No Content\r\n\r\n",
      "HTTP/1.1 200 OK\r\nContent-Length: 300000\r\n\r\n" + large,
      "!HTTP/1.1 404 Not Found\r\nX: y\r\n\r\nto the end",
  });
  server.on_reactor([&](http::ClientPool& clients) {
    http::ClientRequest request = make_get(server.url());
    auto first = clients.send(request);
    REQUIRE(first.ok());
    CHECK(first.value().status == 200);
    CHECK(first.value().body == "ok");
    CHECK(first.value().reason == "OK");
    auto interim = clients.send(request);
    REQUIRE(interim.ok());
    CHECK(interim.value().body == "ok");
    CHECK(interim.value().headers.get("content-length") == "2");
    auto chunked = clients.send(request);
    REQUIRE(chunked.ok());
    CHECK(chunked.value().body == "abcdefg");
    CHECK(chunked.value().headers.get("x-y") == "z");
    auto none = clients.send(request);
    REQUIRE(none.ok());
    CHECK(none.value().status == 204);
    auto big = clients.send(request);
    REQUIRE(big.ok());
    CHECK(big.value().body == large);
    CHECK(big.value().received_bytes > large.size());
    CHECK(clients.idle_connections() == 1);
    auto to_end = clients.send(request);
    REQUIRE(to_end.ok());
    CHECK(to_end.value().body == "to the end");
    CHECK(clients.idle_connections() == 0);
    CHECK(clients.connections_made() == 1);
  });
  CHECK(server.connections == 1);
}

TEST_CASE("client: what is sent") {
  ScriptedServer server({kOk, kOk, kOk, kOk});
  server.on_reactor([&](http::ClientPool& clients) {
    http::ClientRequest request;
    request.url = server.url("/a?b");
    request.headers.add("X-One", "1");
    request.headers.add("Content-Length", "77");
    request.headers.add("Transfer-Encoding", "chunked");
    request.body = "hello";
    REQUIRE(clients.send(request).ok());
    std::string authority = server.url().authority();
    CHECK(server.seen[0] == "POST /a?b HTTP/1.1\r\nHost: " + authority +
                                "\r\nX-One: 1\r\nContent-Length: 5\r\n\r\nhello");
    request.is_http10 = true;
    request.headers.clear();
    request.headers.add("Host", "virtual");
    REQUIRE(clients.send(request).ok());
    CHECK(server.seen[1] ==
          "POST /a?b HTTP/1.0\r\nHost: virtual\r\nContent-Length: 5\r\n"
          "Connection: keep-alive\r\n\r\nhello");
    http::ClientRequest proxied = make_get(server.url());
    proxied.url.host = "far.example";
    proxied.url.port = 80;
    proxied.proxy = {"127.0.0.1", server.url().port};
    proxied.must_keep_alive = false;
    REQUIRE(clients.send(proxied).ok());
    CHECK(server.seen[2] ==
          "GET http://far.example/t HTTP/1.1\r\nHost: far.example\r\n"
          "Connection: close\r\n\r\n");
  });
}

TEST_CASE("client: header injection is refused before anything is sent") {
  ScriptedServer server({kOk});
  server.on_reactor([&](http::ClientPool& clients) {
    for (auto [name, value] :
         std::vector<std::pair<std::string, std::string>>{{"X", "a\r\nEvil: 1"},
                                                          {"X", "a\nb"},
                                                          {"X", std::string("a\0b", 3)},
                                                          {"X\r\nEvil", "1"},
                                                          {"X Y", "1"},
                                                          {"", "1"}}) {
      http::ClientRequest request = make_get(server.url());
      request.headers.add(name, value);
      auto result = clients.send(request);
      REQUIRE_FALSE(result.ok());
      CHECK(result.error().code == &http::errors::kHeaderInjection);
    }
    http::ClientRequest bad_method = make_get(server.url());
    bad_method.method = "GET / HTTP/1.1\r\nX:";
    CHECK_FALSE(clients.send(bad_method).ok());
    CHECK_FALSE(clients.send(make_get(server.url("/a HTTP/1.1\r\nX: y"))).ok());
    CHECK_FALSE(clients.send(make_get(server.url("/a b"))).ok());
    CHECK(clients.connections_made() == 0);
  });
}

TEST_CASE("client: failures carry their cause") {
  ScriptedServer server({
      "!HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nshort",
      "!nonsense\r\n\r\n",
      "HTTP/1.1 200 OK\r\nContent-Length: 1001\r\n\r\n" + std::string(1001, 'x'),
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3e9\r\n" + std::string(1001, 'x'),
      "!HTTP/1.1 200 OK\r\n\r\n" + std::string(1001, 'x'),
      "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nslow",
  });
  server.on_reactor([&](http::ClientPool& clients) {
    http::ClientRequest request = make_get(server.url());
    request.body_bytes_max = 1000;
    CHECK(cause_of(clients.send(request)) == &net::errors::kSocketClosed);
    CHECK(cause_of(clients.send(request)) == &http::errors::kBadResponse);
    for (int i = 0; i < 3; ++i) {
      CHECK(cause_of(clients.send(request)) == &http::errors::kResponseTooLarge);
    }
    request.deadline_ns = net::Reactor::current()->now_ns() + 20 * net::kMillisecond;
    auto late = clients.send(request);
    CHECK(cause_of(late) == &net::errors::kSocketTimeout);
    CHECK(late.error().id_with_letter() == "BIP3152E");
    http::ClientRequest nobody = make_get(server.url());
    nobody.url.port = 1;
    CHECK(cause_of(clients.send(nobody)) == &net::errors::kSocketOperation);
    nobody.url.host = "no-such-host.invalid";
    CHECK(cause_of(clients.send(nobody)) == &net::errors::kNameLookup);
    CHECK(clients.idle_connections() == 0);
  });
}

TEST_CASE("client: stale pooled connections") {
  // The second request finds its connection closed: GET is sent again, POST that went out is not.
  ScriptedServer server({kOk, "", kOk, kOk, ""});
  server.on_reactor([&](http::ClientPool& clients) {
    http::ClientRequest get = make_get(server.url());
    REQUIRE(clients.send(get).ok());
    auto again = clients.send(get);
    REQUIRE(again.ok());
    CHECK(again.value().body == "ok");
    CHECK(clients.connections_made() == 2);
    http::ClientRequest post;
    post.url = server.url();
    post.body = "x";
    REQUIRE(clients.send(post).ok());
    CHECK(cause_of(clients.send(post)) == &net::errors::kSocketClosed);
  });
  CHECK(server.seen.size() == 5);
}

TEST_CASE("client: idle connections are bounded and expire") {
  ScriptedServer server({kOk, kOk, kOk, kOk}, true);
  http::ClientOptions options;
  options.idle_connections_max = 2;
  millstream::base::VirtualClock& time = server.time;
  server.on_reactor(
      [&](http::ClientPool& clients) {
        net::FiberEvent done;
        int left = 4;
        for (int i = 0; i < 4; ++i) {
          net::Reactor::current()->spawn([&] {
            CHECK(clients.send(make_get(server.url())).ok());
            if (--left == 0) done.set();
          });
        }
        done.wait();
        CHECK(clients.connections_made() == 4);
        CHECK(clients.idle_connections() == 2);
        time.advance_ns(60 * net::kSecond);
        net::Fiber::current()->yield();
        net::Fiber::current()->yield();
        CHECK(clients.idle_connections() == 0);
      },
      options);
}

TEST_CASE("client against our own server, 200 requests at once on two reactors") {
  auto pool = net::ReactorPool::create(2).take_value();
  auto server = http::Server::create(*pool, {}, [](http::RequestRef request) {
    net::sleep_for(net::kMillisecond);
    request->reply(200, "text/plain", std::string(request->body()) + "!");
  });
  auto port = server->listen("127.0.0.1", 0);
  REQUIRE(port.ok());
  std::vector<std::unique_ptr<http::ClientPool>> clients;
  for (int i = 0; i < 2; ++i)
    clients.push_back(std::make_unique<http::ClientPool>(pool->reactor(i)));
  std::atomic<int> left{200}, good{0};
  net::FiberEvent done;
  for (int i = 0; i < 200; ++i) {
    pool->reactor(i % 2).spawn([&, i] {
      http::ClientRequest request;
      request.url.host = "127.0.0.1";
      request.url.port = port.value();
      request.url.target = "/";
      std::string body = "b" + std::to_string(i);
      request.body = body;
      for (int round = 0; round < 3; ++round) {
        auto response = clients[static_cast<size_t>(i % 2)]->send(request);
        if (response.ok() && response.value().body == body + "!") ++good;
      }
      if (--left == 0) done.set();
    });
  }
  done.wait();
  CHECK(good == 600);
  server->stop();
  for (int i = 0; i < 2; ++i) pool->run_on(i, [&] { clients[static_cast<size_t>(i)].reset(); });
}

TEST_CASE("redirect helpers") {
  http::ClientResponse response;
  response.status = 302;
  CHECK_FALSE(http::is_redirect(response));
  response.headers.add("Location", "/x");
  CHECK(http::is_redirect(response));
  CHECK(http::redirect_method(302, "POST") == "GET");
  CHECK(http::redirect_method(307, "POST") == "POST");
  CHECK(http::redirect_method(303, "PUT") == "GET");
}
