// What hostile clients do to a server: hold its memory by promises, keep a reactor busy, go away.
#include <doctest/doctest.h>

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "http/server_for_test.h"
#include "net/waiting.h"

namespace {
namespace net = millstream::net;
namespace http = millstream::http;
using http::testing::body_of;
using http::testing::echo_request;
using http::testing::kGet;
using http::testing::post_text;
using http::testing::RawClient;
using http::testing::status_of;
using http::testing::TestServer;
}  // namespace

TEST_CASE("hostile: a flood of pipelined requests does not keep the reactor from the others") {
  constexpr int kFlood = 1000;  // fits into the buffers of a socket
  std::atomic<int> handled{0}, seen_by_other{0};
  TestServer t([&](http::RequestRef request) {
    ++handled;
    if (request->path() == "/other") seen_by_other = handled.load();
    echo_request(std::move(request));
  });
  RawClient flood(t.port), other(t.port);
  for (RawClient* client : {&flood, &other}) {
    client->send(kGet);
    CHECK(status_of(client->read_reply()) == 200);
  }
  handled = 0;
  std::string many;
  for (int i = 0; i < kFlood; ++i) many += kGet;
  net::FiberEvent is_blocked, release;
  t.pool->reactor(0).post([&] {  // both have sent everything before the reactor looks
    is_blocked.set();
    release.wait();
  });
  is_blocked.wait();
  flood.send(many);
  other.send("GET /other HTTP/1.1\r\nHost: a\r\n\r\n");
  release.set();
  CHECK(status_of(other.read_reply()) == 200);
  for (int i = 0; i < kFlood; ++i) REQUIRE(status_of(flood.read_reply()) == 200);
  CHECK(seen_by_other > 0);
  CHECK(seen_by_other < kFlood / 2);
}

TEST_CASE("hostile: a large request and many small ones behind it in one stream") {
  TestServer t(echo_request);
  RawClient client(t.port);
  const std::string body(1'500'000, 'b');
  std::string all;
  for (int round = 0; round < 3; ++round) {
    all += post_text(body);
    for (int i = 0; i < 1000; ++i) all += post_text("small " + std::to_string(i));
    all += "POST /c HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n";
  }
  std::thread sender([&] { client.send(all); });
  for (int round = 0; round < 3; ++round) {
    CHECK(body_of(client.read_reply()) == body);
    for (int i = 0; i < 1000; ++i) {
      REQUIRE(body_of(client.read_reply()) == "small " + std::to_string(i));
    }
    CHECK(body_of(client.read_reply()) == "abc");
  }
  sender.join();
}

TEST_CASE("hostile: clients that promise much and send nothing leave memory to the others") {
  http::ServerOptions options;
  options.buffer_bytes_max = size_t{32} << 20;
  TestServer t(echo_request, options);
  std::vector<std::unique_ptr<RawClient>> promising;
  for (int i = 0; i < 40; ++i) {
    promising.push_back(std::make_unique<RawClient>(t.port));
    promising.back()->send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 60000000\r\n\r\nx");
  }
  size_t in_use = 0;
  t.wait_for([&] {
    t.pool->run_on(0, [&] { in_use = t.pool->reactor(0).buffers().in_use_bytes(); });
    return in_use > 40 * 128 * 1024;
  });
  RawClient honest(t.port);
  const std::string body(3'000'000, 'h');
  honest.send(post_text(body));
  CHECK(body_of(honest.read_reply()) == body);
}

TEST_CASE("hostile: whoever waits to reply learns that the client has gone") {
  std::atomic<int> gone{0};
  std::atomic<bool> was_replied{true};
  http::RequestRef kept;
  TestServer t([&](http::RequestRef request) {
    if (request->path() == "/reply") {
      request->set_on_gone([&](http::Request&) { gone += 100; });
      return echo_request(std::move(request));
    }
    kept = request;
    request->set_on_gone([&](http::Request& r) {
      was_replied = r.is_replied();
      kept = {};
      ++gone;
    });
  });
  {
    RawClient client(t.port);
    client.send(kGet);
    t.wait_for([&] { return t.server->stats().in_flight == 1; });
    t.pool->run_on(0, [] {});
    CHECK(gone == 0);
    client.send(kGet);  // unread when the client goes: a reset, so that the server sees it leave
  }
  RawClient other(t.port);
  other.send("GET /reply HTTP/1.1\r\nHost: a\r\n\r\n");
  CHECK(status_of(other.read_reply()) == 200);
  t.pool->run_on(0, [] {});
  CHECK(gone >= 100);
  t.server->stop(0);
  CHECK(gone == 101);
  CHECK_FALSE(was_replied);
}

namespace {
// A server that takes bodies from those alone who say so in their head.
struct AskingServer {
  AskingServer() {
    net::ReactorOptions reactor_options;
    pool = net::ReactorPool::create(1, reactor_options).take_value();
    http::ServerOptions options;
    options.unasked_body_bytes_max = 100;
    server = http::Server::create(
        *pool, options,
        [this](http::RequestRef request) {
          ++handled;
          echo_request(std::move(request));
        },
        [this](http::Request& request) -> size_t {
          ++asked;
          CHECK(request.body().empty());
          CHECK(request.head().method == "POST");
          if (request.headers().get("Who") == "nobody") request.reply(401, "text/plain", "no\n");
          net::sleep_for(net::kMillisecond);  // as a check of a password does
          return request.headers().get("Who") == "some" ? 1000 : 1'000'000;
        });
    auto bound = server->listen("127.0.0.1", 0, {.tls = nullptr, .offers_http2 = false});
    REQUIRE(bound.ok());
    port = bound.value();
  }
  std::atomic<int> asked{0}, handled{0};
  std::unique_ptr<net::ReactorPool> pool;
  std::unique_ptr<http::Server> server;
  int port = 0;
};

std::string post_of(const std::string& who, size_t length) {
  return "POST /p HTTP/1.1\r\nHost: a\r\nWho: " + who +
         "\r\nContent-Length: " + std::to_string(length) + "\r\n\r\n";
}
}  // namespace

TEST_CASE("hostile: a head that is refused gets its answer before the body comes") {
  AskingServer t;
  RawClient client(t.port);
  client.send(post_of("nobody", 50'000));
  CHECK(status_of(client.read_reply()) == 401);
  RawClient chunks(t.port);
  chunks.send("POST /p HTTP/1.1\r\nHost: a\r\nWho: nobody\r\nTransfer-Encoding: chunked\r\n\r\n");
  CHECK(status_of(chunks.read_reply()) == 401);
  RawClient expecting(t.port);
  expecting.send(
      "POST /p HTTP/1.1\r\nHost: a\r\nWho: nobody\r\nExpect: 100-continue\r\n"
      "Content-Length: 5000\r\n\r\n");
  CHECK(status_of(expecting.read_reply()) == 401);
  CHECK(t.handled == 0);
  CHECK(t.asked == 3);
}

TEST_CASE("hostile: a body goes no further than its head was granted") {
  AskingServer t;
  RawClient client(t.port);
  client.send(post_of("some", 1001));
  CHECK(status_of(client.read_reply()) == 413);
  RawClient chunks(t.port);
  chunks.send(
      "POST /p HTTP/1.1\r\nHost: a\r\nWho: some\r\nTransfer-Encoding: chunked\r\n\r\n3e9\r\n");
  CHECK(status_of(chunks.read_reply()) == 413);
  CHECK(t.handled == 0);
}

TEST_CASE("hostile: who may send gets through, on one connection, also in pieces and pipelined") {
  AskingServer t;
  RawClient client(t.port);
  const std::string body(200'000, 'b');
  for (int round = 0; round < 3; ++round) {
    client.send(post_of("all", body.size()));
    client.send(body.substr(0, 70'000));
    client.send(body.substr(70'000) + post_of("all", 3) + "abc");
    CHECK(body_of(client.read_reply()) == body);
    CHECK(body_of(client.read_reply()) == "abc");
    client.send(
        "POST /c HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n"
        "3\r\ndef\r\n0\r\n\r\n");
    CHECK(body_of(client.read_reply()) == "abcdef");
  }
  CHECK(t.handled == 9);
  RawClient gone(t.port);  // while it is being asked
  gone.send(post_of("all", body.size()));
}
