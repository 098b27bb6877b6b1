#include "http/server.h"

#include <doctest/doctest.h>

#include <atomic>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "http/server_for_test.h"
#include "net/waiting.h"

namespace {
namespace net = millstream::net;
namespace http = millstream::http;
using http::testing::body_of;
using http::testing::echo_request;
using http::testing::has_text;
using http::testing::kGet;
using http::testing::post_text;
using http::testing::RawClient;
using http::testing::status_of;
using http::testing::TestServer;
}  // namespace

TEST_CASE("keep-alive: many requests, one connection, one receive and one send each") {
  TestServer t(echo_request);
  RawClient client(t.port);
  for (int i = 0; i < 50; ++i) {
    std::string body = "hello " + std::to_string(i);
    client.send(post_text(body));
    std::string reply = client.read_reply();
    CHECK(status_of(reply) == 200);
    CHECK(body_of(reply) == body);
    CHECK(has_text(reply, "X-Method: POST\r\nX-Path: /p\r\n"));
    CHECK(has_text(reply, "\r\nDate: "));
  }
  t.pool->run_on(0, [] {});  // the reactor has counted its last send
  http::ServerStats stats = t.server->stats();
  CHECK(stats.connections_accepted == 1);
  CHECK(stats.requests == 50);
  CHECK(stats.send_calls == 50);
  CHECK(stats.receive_calls <= 52);
}

TEST_CASE("pipelined requests are answered in order, also when the first is slow") {
  net::FiberEvent release;
  TestServer t([&](http::RequestRef request) {
    if (request->path() == "/slow") release.wait();
    request->reply(200, "", std::string(request->path()));
  });
  RawClient client(t.port);
  std::string all;
  for (const char* path : {"/slow", "/b", "/c", "/d"}) {
    all += "GET " + std::string(path) + " HTTP/1.1\r\nHost: a\r\n\r\n";
  }
  client.send(all);
  t.wait_for([&] { return t.server->stats().requests == 1; });
  release.set();
  for (const char* path : {"/slow", "/b", "/c", "/d"}) CHECK(body_of(client.read_reply()) == path);
  std::string many;
  for (int i = 0; i < 2000; ++i)
    many += "GET /" + std::to_string(i) + " HTTP/1.1\r\nHost: a\r\n\r\n";
  std::thread sender([&] { client.send(many); });
  for (int i = 0; i < 2000; ++i) {
    REQUIRE(body_of(client.read_reply()) == "/" + std::to_string(i));
  }
  sender.join();
}

TEST_CASE("a reply may come later, from another reactor") {
  std::unique_ptr<TestServer> t;
  t = std::make_unique<TestServer>(
      [&](http::RequestRef request) {
        net::Reactor& other = t->pool->reactor(&request->reactor() == &t->pool->reactor(0) ? 1 : 0);
        other.spawn([request] {
          CHECK(request->body() == "later");
          CHECK(request->reply(201, "text/plain", "done"));
          CHECK_FALSE(request->reply(200, "", "twice"));
        });
      },
      http::ServerOptions{}, 2);
  std::vector<std::unique_ptr<RawClient>> clients;
  for (int i = 0; i < 4; ++i) clients.push_back(std::make_unique<RawClient>(t->port));
  for (int round = 0; round < 50; ++round) {
    for (auto& client : clients) client->send(post_text("later"));
    for (auto& client : clients) {
      std::string reply = client->read_reply();
      CHECK(status_of(reply) == 201);
      CHECK(body_of(reply) == "done");
    }
  }
}

TEST_CASE("bodies of all sizes by length and chunked, with readable padding") {
  TestServer t([](http::RequestRef request) {
    volatile char last = 0;
    for (size_t i = 0; i < net::Buffer::kPadding; ++i) {
      last = request->body().data()[request->body().size() + i];
    }
    (void)last;
    echo_request(std::move(request));
  });
  RawClient client(t.port);
  for (size_t size : {0, 1, 100, 16'000, 16'300, 16'384, 70'000, 1'000'000, 5'000'000}) {
    CAPTURE(size);
    std::string body(size, '\0');
    for (size_t i = 0; i < size; ++i) body[i] = static_cast<char>(i * 31 + i / 1000);
    std::thread sender([&] { client.send(post_text(body)); });
    CHECK(body_of(client.read_reply()) == body);
    sender.join();

    std::string chunked = "POST /c HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
    for (size_t at = 0; at < size;) {
      size_t step = std::min(size - at, at % 5000 + 1000);
      char line[20];
      snprintf(line, sizeof line, "%zx\r\n", step);
      chunked += line + body.substr(at, step) + "\r\n";
      at += step;
    }
    chunked += "0\r\nX-Trailer: t\r\n\r\n" + kGet;  // and one behind it
    std::thread chunk_sender([&] { client.send(chunked); });
    CHECK(body_of(client.read_reply()) == body);
    chunk_sender.join();
    CHECK(has_text(client.read_reply(), "X-Path: /x"));
  }
}

TEST_CASE("requests arrive byte by byte") {
  TestServer t(echo_request);
  RawClient client(t.port);
  std::string text = post_text("hello") +
                     "POST /c HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
                     "3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n";
  for (char c : text) client.send({&c, 1});
  CHECK(body_of(client.read_reply()) == "hello");
  CHECK(body_of(client.read_reply()) == "abcde");
}

TEST_CASE("Expect: 100-continue") {
  TestServer t(echo_request);
  RawClient client(t.port);
  client.send("POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n");
  CHECK(client.read_reply() == "HTTP/1.1 100 Continue\r\n\r\n");
  client.send("hello");
  CHECK(body_of(client.read_reply()) == "hello");
  // Not when the body is there already.
  client.send(
      "POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\nworld");
  CHECK(body_of(client.read_reply()) == "world");
  // A body that is too large is refused before it is sent.
  client.send(
      "POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 99999999\r\n\r\n");
  CHECK(status_of(client.read_reply()) == 413);
}

TEST_CASE("HEAD, HTTP/1.0 and Connection: close") {
  TestServer t([](http::RequestRef request) { request->reply(200, "text/plain", "12345"); });
  RawClient client(t.port);
  client.send("HEAD / HTTP/1.1\r\nHost: a\r\n\r\n");
  std::string reply = client.read_reply(false);
  CHECK(has_text(reply, "Content-Length: 5\r\n"));
  client.send("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
  reply = client.read_reply();
  CHECK(has_text(reply, "HTTP/1.0 200 OK\r\n"));
  CHECK(has_text(reply, "Connection: keep-alive\r\n"));
  CHECK(body_of(reply) == "12345");
  client.send("GET / HTTP/1.0\r\n\r\n" + kGet);
  reply = client.read_to_end();
  CHECK(has_text(reply, "Connection: close\r\n"));
  CHECK(body_of(reply) == "12345");  // what came behind is not answered
}

TEST_CASE("what could be smuggled is refused and ends the connection") {
  TestServer t(echo_request);
  const std::string attacks[] = {
      "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 6\r\nTransfer-Encoding: "
      "chunked\r\n\r\n0\r\n\r\nG",
      "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nContent-Length: 30\r\n\r\nabc",
      "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding : chunked\r\n\r\n0\r\n\r\n",
      "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding:\x0b"
      "chunked\r\n\r\n0\r\n\r\n",
      "POST / HTTP/1.1\r\nHost: a\r\nX: y\r\n Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
      "POST / HTTP/1.1\r\nHost: a\r\nX: y\nContent-Length: 30\r\n\r\n",
      "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\nhello\r\n0\r\n\r\n",
      "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n-5\r\nhello\r\n0\r\n\r\n",
      "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
      "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
  };
  for (const std::string& attack : attacks) {
    CAPTURE(attack);
    RawClient client(t.port);
    client.send(attack + kGet);
    client.finish_sending();
    std::string all = client.read_to_end();
    CHECK(status_of(all) == 400);
    CHECK(has_text(all, "Connection: close\r\n"));
    CHECK(all.find("HTTP/1.1", 5) == std::string::npos);  // exactly one reply
  }
  CHECK(t.server->stats().requests == 0);
}

TEST_CASE("limits: body 413 with and without length, target 414, fields 431") {
  http::ServerOptions options;
  options.limits.body_bytes_max = 100'000;
  TestServer t(echo_request, options);
  {
    RawClient client(t.port);
    // The client goes on sending long after the refusal and must still see it.
    client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100000000\r\n\r\n");
    std::string piece(1'000'000, 'x');
    for (int i = 0; i < 20; ++i) client.send(piece);
    client.finish_sending();
    std::string all = client.read_to_end();
    CHECK(status_of(all) == 413);
    CHECK(has_text(all, "Connection: close\r\n"));
  }
  RawClient chunked(t.port);
  chunked.send("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n");
  for (int i = 0; i < 101; ++i) chunked.send("3e8\r\n" + std::string(1000, 'c') + "\r\n");
  CHECK(status_of(chunked.read_reply()) == 413);
  RawClient exact(t.port);
  exact.send(post_text(std::string(100'000, 'e')));
  CHECK(status_of(exact.read_reply()) == 200);
  RawClient target(t.port);
  target.send("GET /" + std::string(20'000, 't') + " HTTP/1.1\r\nHost: a\r\n\r\n");
  CHECK(status_of(target.read_reply()) == 414);
  RawClient fields(t.port);
  fields.send("GET / HTTP/1.1\r\nHost: a\r\nx: " + std::string(70'000, 'v') + "\r\n\r\n");
  CHECK(status_of(fields.read_reply()) == 431);
}

TEST_CASE("the memory of requests on a reactor is bounded") {
  http::ServerOptions options;
  options.buffer_bytes_max = 6'000'000;
  TestServer t(echo_request, options);
  RawClient first(t.port), second(t.port), small(t.port);
  std::string body(3'000'000, 'm');
  first.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3000000\r\n\r\n" + body.substr(1));
  size_t in_use = 0;
  t.wait_for([&] {
    t.pool->run_on(0, [&] { in_use = t.pool->reactor(0).buffers().in_use_bytes(); });
    return in_use > 4'000'000;
  });
  second.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3000000\r\n\r\n" + body.substr(1));
  CHECK(status_of(second.read_reply()) == 503);
  small.send(post_text("small"));
  CHECK(status_of(small.read_reply()) == 200);
  first.send("m");
  CHECK(body_of(first.read_reply()) == body);
}

TEST_CASE("a body that is unpacked counts like one that was sent") {
  http::ServerOptions options;
  options.buffer_bytes_max = 1'000'000;
  std::atomic<size_t> before{0}, after{0};
  TestServer t(
      [&](http::RequestRef r) {
        before = r->buffer_room();
        r->replace_body(r->reactor().buffers().take(400'000), 400'000);
        after = r->buffer_room();
        r->reply(200, "text/plain", "ok");
      },
      options);
  RawClient client(t.port);
  client.send(post_text("x"));
  CHECK(status_of(client.read_reply()) == 200);
  CHECK(before <= 1'000'000);
  CHECK(before - after >= 400'000);
}

TEST_CASE("slow clients: heads 408, bodies 408, idle connections closed") {
  TestServer t(echo_request);
  RawClient head(t.port), body(t.port), idle(t.port), steady(t.port);
  head.send("GET / HTTP/1.1\r\nHost:");
  body.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\nabc");
  steady.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3000\r\n\r\n");
  t.wait_for([&] { return t.server->stats().receive_calls >= 3; });
  for (int i = 0; i < 2; ++i) t.pool->run_on(0, [] {});
  t.advance(9 * net::kSecond);
  t.advance(2 * net::kSecond);
  CHECK(status_of(head.read_to_end()) == 408);
  for (int i = 0; i < 2; ++i) {
    uint64_t calls = t.server->stats().receive_calls;
    steady.send(std::string(1500, 's'));
    t.wait_for([&] { return t.server->stats().receive_calls > calls; });
    if (i == 0) t.advance(20 * net::kSecond);
  }
  CHECK(body_of(steady.read_reply()).size() == 3000);
  CHECK(status_of(body.read_to_end()) == 408);
  t.advance(50 * net::kSecond);
  CHECK(idle.read_to_end().empty());
  t.advance(20 * net::kSecond);
  CHECK(steady.read_to_end().empty());
}

TEST_CASE("a reply that never comes is answered by the time-out") {
  std::vector<http::RequestRef> kept;
  TestServer t([&](http::RequestRef request) {
    if (request->path() == "/own") {
      int64_t deadline = request->reactor().now_ns() + 5 * net::kSecond;
      request->set_reply_deadline(
          deadline, [](http::RequestRef late) { late->reply(500, "text/xml", "<late/>"); });
    }
    kept.push_back(request);
  });
  RawClient own(t.port), usual(t.port);
  own.send("GET /own HTTP/1.1\r\nHost: a\r\n\r\n");
  usual.send("GET /usual HTTP/1.1\r\nHost: a\r\n\r\n");
  t.wait_for([&] { return t.server->stats().requests == 2; });
  t.pool->run_on(0, [] {});
  t.advance(6 * net::kSecond);
  CHECK(body_of(own.read_reply()) == "<late/>");
  t.advance(180 * net::kSecond);
  CHECK(status_of(usual.read_reply()) == 504);
  CHECK(t.server->stats().reply_timeouts == 1);
  t.pool->run_on(0, [&] {
    for (auto& request : kept) CHECK_FALSE(request->reply(200, "", "too late"));
    kept.clear();
  });
}

TEST_CASE("requests beyond the limit in flight get 503") {
  http::ServerOptions options;
  options.in_flight_max = 2;
  net::FiberEvent release;
  TestServer t(
      [&](http::RequestRef request) {
        release.wait();
        request->reply(200, "", "ok");
      },
      options);
  RawClient a(t.port), b(t.port), c(t.port);
  a.send(kGet);
  b.send(kGet);
  t.wait_for([&] { return t.server->stats().requests == 2; });
  c.send(kGet);
  std::string refused = c.read_reply();
  CHECK(status_of(refused) == 503);
  CHECK(has_text(refused, "Retry-After: 1\r\n"));
  release.set();
  CHECK(status_of(a.read_reply()) == 200);
  CHECK(status_of(b.read_reply()) == 200);
  c.send(kGet);  // the connection lives on
  CHECK(status_of(c.read_reply()) == 200);
}

TEST_CASE("graceful stop: requests in flight finish, new ones get 503, connections close") {
  net::FiberEvent release;
  TestServer t([&](http::RequestRef request) {
    release.wait();
    request->reply(200, "", "finished");
  });
  RawClient busy(t.port), open(t.port);
  busy.send(kGet);
  t.wait_for(
      [&] { return t.server->stats().in_flight == 1 && t.server->stats().connections == 2; });
  std::thread stopper([&] { t.server->stop(); });
  t.wait_for([&] { return t.server->is_stopping(); });
  open.send(kGet);
  std::string refused = open.read_to_end();
  CHECK(status_of(refused) == 503);
  CHECK(has_text(refused, "Connection: close\r\n"));
  release.set();
  std::string last = busy.read_to_end();
  CHECK(status_of(last) == 200);
  CHECK(has_text(last, "Connection: close\r\n"));
  CHECK(body_of(last) == "finished");
  stopper.join();
  CHECK(t.server->stats().connections == 0);
}

TEST_CASE("a client that goes away does not disturb the handler or the others") {
  net::FiberEvent release, replied;
  std::atomic<bool> was_sent{true};
  TestServer t([&](http::RequestRef request) {
    if (request->path() == "/gone") {
      release.wait();
      CHECK(request->body() == "still here");
      was_sent = request->reply(200, "", std::string(1'000'000, 'r'));
      replied.set();
      return;
    }
    echo_request(std::move(request));
  });
  {
    RawClient client(t.port);
    client.send("POST /gone HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nstill here");
    t.wait_for([&] { return t.server->stats().requests == 1; });
  }
  release.set();
  replied.wait();
  RawClient next(t.port);
  next.send(kGet);
  CHECK(status_of(next.read_reply()) == 200);
  t.wait_for([&] { return t.server->stats().connections == 1; });
  t.pool->run_on(0, [] {});
  CHECK(t.server->stats().in_flight == 0);
}

TEST_CASE("a reader that takes nothing is closed, a slow one gets all") {
  std::string large(20'000'000, 'L');
  TestServer t([&](http::RequestRef request) {
    http::Response* response = request->claim_reply();
    response->body_view = large;
    request->send_reply();
  });
  RawClient stuck(t.port), slow(t.port);
  stuck.send(kGet);
  slow.send(kGet);
  t.wait_for([&] { return t.server->stats().requests == 2; });
  CHECK(body_of(slow.read_reply()).size() == large.size());
  CHECK(t.server->stats().connections == 2);
  t.pool->run_on(0, [] {});
  t.advance(31 * net::kSecond);
  t.wait_for([&] { return t.server->stats().connections == 1; });
}

TEST_CASE("a request outlives its server") {
  http::RequestRef kept;
  net::FiberEvent has_request;
  auto t = std::make_unique<TestServer>([&](http::RequestRef request) {
    kept = request;
    request->reply(200, "", "ok");
    has_request.set();
  });
  RawClient client(t->port);
  client.send(post_text("kept"));
  CHECK(status_of(client.read_reply()) == 200);
  has_request.wait();
  t->server.reset();
  CHECK(kept->body() == "kept");
  kept = {};
  t->pool->run_on(0, [] {});
}

TEST_CASE("a server may end after its reactors have") {
  http::RequestRef kept;
  net::FiberEvent never, has_request;
  auto t = std::make_unique<TestServer>([&](http::RequestRef request) {
    kept = request;
    has_request.set();
    CHECK(never.wait() == net::WakeReason::kCancelled);
  });
  RawClient client(t->port);
  client.send(kGet);
  has_request.wait();
  t->pool->stop();
  t->server.reset();
  CHECK(client.read_to_end().empty());
  CHECK_FALSE(kept->reply(200, "", "too late"));
  kept = {};
}
