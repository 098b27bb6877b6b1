#include "admin/admin_server.h"

#include <doctest/doctest.h>

#include "http/server_for_test.h"

namespace millstream::admin {
namespace {

using http::testing::body_of;
using http::testing::has_text;
using http::testing::RawClient;
using http::testing::status_of;

struct AdminFixture {
  AdminFixture() : pool(net::ReactorPool::create(1).take_value()) {
    admin.add("GET", "/things/{thing}", [](const AdminRequest& r) {
      const std::string* depth = r.find_query("depth");
      return text_reply(r.parameter("thing") + (depth ? " " + *depth : ""));
    });
    admin.add("GET", "/things/all", [](const AdminRequest&) { return text_reply("all"); });
    admin.add(
        "POST", "/things/{thing}/start",
        [](const AdminRequest& r) { return text_reply(std::to_string(r.body.size())); },
        HandlerPlace::kBlockingPool);
    REQUIRE(admin.listen(*pool, "127.0.0.1", 0).ok());
  }
  std::string ask(const std::string& line, const std::string& more = "",
                  const std::string& body = "") {
    RawClient client(admin.port());
    client.send(line + " HTTP/1.1\r\nHost: localhost\r\n" + more +
                "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body);
    return client.read_reply();
  }
  std::unique_ptr<net::ReactorPool> pool;
  AdminServer admin{{.body_bytes_max = 1000}};
};

}  // namespace

TEST_CASE("the most literal route answers, with its parameters decoded") {
  AdminFixture f;
  CHECK(body_of(f.ask("GET /things/a%2Fb%20c?depth=2")) == "a/b c 2");
  CHECK(body_of(f.ask("GET /things/all")) == "all");
  CHECK(body_of(f.ask("GET /things/all/")) == "all");
  CHECK(body_of(f.ask("POST /things/x/start", "", "12345")) == "5");
  CHECK(f.admin.url() == "http://127.0.0.1:" + std::to_string(f.admin.port()));
}

TEST_CASE("what is not there says so as JSON") {
  AdminFixture f;
  std::string reply = f.ask("GET /nothing");
  CHECK(status_of(reply) == 404);
  CHECK(has_text(reply, "\"code\": \"MS2200\""));
  reply = f.ask("DELETE /things/x");
  CHECK(status_of(reply) == 405);
  CHECK(has_text(reply, "Allow: GET\r\n"));
  std::string deep;
  for (int i = 0; i < 100; ++i) deep += "/a";
  CHECK(status_of(f.ask("GET " + deep)) == 404);
}

TEST_CASE("other sites cannot use a browser on this machine") {
  AdminFixture f;
  CHECK(status_of(f.ask("POST /things/x/start", "Origin: http://evil.example\r\n")) == 403);
  CHECK(status_of(f.ask("POST /things/x/start", "Origin: null\r\n")) == 403);
  CHECK(status_of(f.ask("POST /things/x/start", "Origin: http://localhost\r\n")) == 200);
  RawClient rebound(f.admin.port());
  rebound.send("GET /things/x HTTP/1.1\r\nHost: evil.example:7600\r\n\r\n");
  CHECK(status_of(rebound.read_reply()) == 403);
  CHECK(is_unforgeable_host("127.0.0.1:7600"));
  CHECK(is_unforgeable_host("[::1]:7600"));
  CHECK_FALSE(is_unforgeable_host("1.2.3.4.example"));
}

TEST_CASE("a body is read when its sender may do what he asks for, and no further") {
  std::unique_ptr<net::ReactorPool> pool = net::ReactorPool::create(1).take_value();
  AdminServer admin;
  int checks = 0, calls = 0;
  admin.add("POST", "/own",
            [&](const AdminRequest& r) {
              ++calls;
              return text_reply(std::to_string(r.body.size()));
            },
            HandlerPlace::kReactor,
            {.right = AdminRight::kOwn,
             .body_bytes_max = 200'000,
             .check_head = [&](const AdminRequest& r) -> std::optional<AdminReply> {
               ++checks;
               CHECK(r.body.empty());
               if (r.headers.get("Who") == "me") return {};
               return text_reply("who is it?", "text/plain", 401);
             }});
  REQUIRE(admin.listen(*pool, "127.0.0.1", 0).ok());
  auto ask = [&](const std::string& who, size_t length, const std::string& body) {
    RawClient client(admin.port());
    client.send("POST /own HTTP/1.1\r\nHost: localhost\r\nWho: " + who +
                "\r\nContent-Length: " + std::to_string(length) + "\r\n\r\n" + body);
    return client.read_reply();
  };
  CHECK(body_of(ask("you", 150'000, "")) == "who is it?");
  CHECK(status_of(ask("me", 200'001, "")) == 413);
  CHECK(calls == 0);
  CHECK(checks == 1);
  CHECK(body_of(ask("me", 150'000, std::string(150'000, 'x'))) == "150000");
  CHECK(body_of(ask("me", 3, "abc")) == "3");  // small: the handler alone asks
  CHECK(calls == 2);
  CHECK(checks == 2);
}

TEST_CASE("a body beyond the limit is refused before it is read") {
  AdminFixture f;
  RawClient client(f.admin.port());
  client.send("POST /things/x/start HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1001\r\n\r\n");
  CHECK(status_of(client.read_reply()) == 413);
}

}  // namespace millstream::admin
