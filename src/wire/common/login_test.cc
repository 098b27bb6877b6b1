// Logins by SASL and the rules of channels.
#include <doctest/doctest.h>

#include "wire/common/wire_for_test.h"

namespace millstream::wire {
namespace {

using testing::eventually;
using testing::kTestPassword;
using testing::kTestUser;
using testing::WireWorld;

Caller caller_from(std::string address) {
  return {.protocol = "test", .channel = "TEST.CHANNEL", .address = std::move(address)};
}

SaslServer::Step step_of(WireWorld& world, SaslServer& server, std::string_view response) {
  std::shared_ptr<SaslServer::Step> answer;
  std::atomic<bool> is_done{false};
  world.on_reactor([&] {
    server.step(response, [&](SaslServer::Step step) {
      answer = std::make_shared<SaslServer::Step>(std::move(step));
      is_done = true;
    });
  });
  REQUIRE(eventually([&] { return is_done.load(); }));
  return *answer;
}

std::string plain_response(std::string_view other, std::string_view user, std::string_view word) {
  std::string out(other);
  out += '\0';
  out += user;
  out += '\0';
  return out += word;
}

using Kind = SaslServer::Step::Kind;

TEST_CASE("wire login: PLAIN, right and wrong") {
  WireWorld world({.is_dev = false});
  Caller caller = caller_from("192.0.2.1");
  CHECK(SaslServer::mechanisms(*world.broker, caller) ==
        std::vector<std::string>{"SCRAM-SHA-512", "SCRAM-SHA-256", "PLAIN"});
  CHECK(SaslServer::create(*world.broker, caller, "ANONYMOUS", *world.executors[0]) == nullptr);
  CHECK(SaslServer::create(*world.broker, caller, "EXTERNAL", *world.executors[0]) == nullptr);
  CHECK(SaslServer::create(*world.broker, caller, "GSSAPI", *world.executors[0]) == nullptr);
  struct Case {
    std::string response;
    bool is_accepted;
  };
  for (const Case& c :
       {Case{plain_response("", kTestUser, kTestPassword), true},
        Case{plain_response(kTestUser, kTestUser, kTestPassword), true},
        Case{plain_response("other", kTestUser, kTestPassword), false},
        Case{plain_response("", kTestUser, "wrong"), false},
        Case{plain_response("", kTestUser, ""), false}, Case{plain_response("", "", ""), false},
        Case{plain_response("", "nobody", kTestPassword), false}, Case{"no nulls", false},
        Case{"", false}}) {
    auto server = SaslServer::create(*world.broker, caller, "PLAIN", *world.executors[0]);
    REQUIRE(server != nullptr);
    SaslServer::Step step = step_of(world, *server, c.response);
    CHECK((step.kind == Kind::kAccepted) == c.is_accepted);
    if (c.is_accepted) CHECK(step.login.user == kTestUser);
    if (!c.is_accepted) CHECK(step.why != "");
  }
}

TEST_CASE("wire login: SCRAM") {
  WireWorld world({.is_dev = false});
  Caller caller = caller_from("192.0.2.1");
  for (base::Digest digest : {base::Digest::kSha256, base::Digest::kSha512}) {
    for (bool is_right : {true, false}) {
      queue::security::ScramClient client(digest, std::string(kTestUser),
                                          is_right ? std::string(kTestPassword) : "wrong-word",
                                          "nonce-of-client", net::credential_crypto());
      auto server = SaslServer::create(
          *world.broker, caller, queue::security::scram_mechanism(digest), *world.executors[0]);
      REQUIRE(server != nullptr);
      SaslServer::Step step = step_of(world, *server, client.first());
      REQUIRE(step.kind == Kind::kChallenge);
      auto answer = client.answer(step.data);
      REQUIRE(answer.ok());
      step = step_of(world, *server, answer.value());
      CHECK((step.kind == Kind::kAccepted) == is_right);
      if (is_right) CHECK(client.check(step.data).ok());
      if (is_right) CHECK(step.login.user == kTestUser);
    }
  }
  auto server = SaslServer::create(*world.broker, caller, "SCRAM-SHA-256", *world.executors[0]);
  CHECK(step_of(world, *server, "nonsense").kind == Kind::kRefused);
}

TEST_CASE("wire login: ANONYMOUS with --dev from this machine, EXTERNAL with a certificate") {
  WireWorld world;
  Caller local = caller_from("127.0.0.1");
  auto server = SaslServer::create(*world.broker, local, "ANONYMOUS", *world.executors[0]);
  REQUIRE(server != nullptr);
  CHECK(step_of(world, *server, "trace").kind == Kind::kAccepted);
  CHECK(SaslServer::create(*world.broker, caller_from("192.0.2.1"), "ANONYMOUS",
                           *world.executors[0]) == nullptr);
  Caller with = caller_from("192.0.2.1");
  with.certificate_name = "batch";
  CHECK(SaslServer::mechanisms(*world.broker, with).front() == "EXTERNAL");
  server = SaslServer::create(*world.broker, with, "EXTERNAL", *world.executors[0]);
  REQUIRE(server != nullptr);
  SaslServer::Step step = step_of(world, *server, "");
  CHECK(step.kind == Kind::kAccepted);
  CHECK(step.login.user == "batch");
  server = SaslServer::create(*world.broker, with, "EXTERNAL", *world.executors[0]);
  CHECK(step_of(world, *server, "admin").kind == Kind::kRefused);
}

TEST_CASE("wire login: rules of the channel decide who may connect, and as whom") {
  WireWorld world({.is_dev = false});
  auto connect = [&](std::string channel, std::string address, Login login, std::string& user) {
    std::string why;
    world.on_reactor([&] {
      Caller caller = caller_from(std::move(address));
      caller.channel = std::move(channel);
      std::shared_ptr<queue::Connection> connection;
      queue::Outcome o =
          world.broker->connect(caller, login, "test", *world.executors[0], connection, &why);
      user = o.is_ok() ? connection->options().user : "#" + std::to_string(o.reason);
      if (connection) connection->abandon();
    });
    return why;
  };
  std::string user;
  // The developer configuration: nobody but by another rule.
  CHECK(connect("SOME.CHANNEL", "192.0.2.1", {"app", true}, user) != "");
  CHECK(user == "#2035");
  CHECK(connect("DEV.APP.SVRCONN", "192.0.2.1", {"app", true}, user) == "");
  CHECK(user == "app");
  CHECK(connect("DEV.APP.SVRCONN", "192.0.2.1", {"app", false}, user).find("password") !=
        std::string::npos);
  CHECK(user == "#2035");
  world.run_mqsc(
      "SET CHLAUTH(OTHER) TYPE(ADDRESSMAP) ADDRESS('10.*') USERSRC(MAP) MCAUSER('app') "
      "ACTION(REPLACE)");
  CHECK(connect("OTHER", "10.1.2.3", {"somebody", false}, user) == "");
  CHECK(user == "app");
  CHECK(connect("OTHER", "11.1.2.3", {"app", true}, user) != "");
  CHECK(user == "#2035");
  world.run_mqsc("ALTER QMGR CHLAUTH(DISABLED)");
  CHECK(connect("OTHER", "11.1.2.3", {"app", true}, user) == "");
  CHECK(user == "app");
  CHECK(connect("OTHER", "11.1.2.3", {"unknown", true}, user) != "");
}

}  // namespace
}  // namespace millstream::wire
