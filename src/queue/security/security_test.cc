#include <doctest/doctest.h>

#include "base/base64.h"
#include "base/sim_executor.h"
#include "net/credential_crypto.h"
#include "queue/security/authenticator.h"
#include "queue/security/rule_access.h"
#include "text/saslprep.h"

namespace millstream::queue::security {
namespace {

// Cheap, so that tests are quick; what is shipped is in PasswordCost.
constexpr PasswordCost kQuickCost = {.scrypt = {.log2_cost = 6, .block = 8, .parallel = 1},
                                     .scram_iterations = 50};

User quick_user(const std::string& name, const std::string& password,
                std::vector<std::string> groups = {}) {
  base::SeededRandom random(name.size() + password.size());
  User u{.name = name, .groups = std::move(groups)};
  REQUIRE(make_password(u, password, kQuickCost, net::credential_crypto(), random).ok());
  return u;
}

TEST_CASE("security: a user's record and its password") {
  User u = quick_user("app", "passw0rd-of-app", {"clients", "mqm"});
  u.description = "an application";
  u.is_disabled = true;
  u.altered_gmt_ms = 1'700'000'000'000;
  auto read = User::decode(u.encode());
  REQUIRE(read.ok());
  const User& r = read.value();
  CHECK(r.name == "app");
  CHECK(r.groups == u.groups);
  CHECK(r.description == u.description);
  CHECK(r.is_disabled);
  CHECK(r.is_administrator());
  CHECK(r.altered_gmt_ms == u.altered_gmt_ms);
  CHECK(r.scram.size() == 2);
  CHECK(r.encode() == u.encode());
  CHECK(u.encode().find("passw0rd") == std::string::npos);
  const auto& crypto = net::credential_crypto();
  CHECK(is_password(r.password, "passw0rd-of-app", crypto).value());
  CHECK_FALSE(is_password(r.password, "passw0rd-of-apq", crypto).value());
  CHECK_FALSE(is_password(r.password, "", crypto).value());
  CHECK_FALSE(is_password(PasswordHash(), "", crypto).value());  // no hash: nobody
  std::string bytes = u.encode();
  for (size_t n = 0; n < bytes.size(); ++n) {
    CHECK_FALSE(User::decode(std::string_view(bytes).substr(0, n)).ok());
  }
  CHECK_FALSE(User::decode(bytes + "x").ok());
  u.password.cost.log2_cost = 30;  // would take all memory at the next login
  CHECK_FALSE(User::decode(u.encode()).ok());
  base::SeededRandom random(5);
  for (int i = 0; i < 5'000; ++i) {
    std::string s = bytes;
    s[random.next_u64() % s.size()] = static_cast<char>(random.next_u64());
    auto damaged = User::decode(s);
    if (damaged.ok()) REQUIRE(damaged.value().password.cost.log2_cost <= 18);
  }
}

TEST_CASE("security: names and passwords that cannot be") {
  CHECK(check_user_name("a").ok());
  CHECK(check_user_name("svc.app_1-x@host").ok());
  for (const char* name : {"", ".a", "a b", "a/b", "\xC3\xBC", "-a"}) {
    CHECK_FALSE(check_user_name(name).ok());
  }
  CHECK(check_user_name(std::string(64, 'a')).ok());
  CHECK_FALSE(check_user_name(std::string(65, 'a')).ok());
  CHECK_FALSE(check_new_password("seven77").ok());
  CHECK(check_new_password("eight888").ok());
  CHECK_FALSE(check_new_password(std::string(257, 'x')).ok());
  UserTable table;
  CHECK_FALSE(table.put({.name = "mqm"}).ok());
  CHECK_FALSE(table.put({.name = "a", .groups = {"b c"}}).ok());
  REQUIRE(table.put({.name = "a", .groups = {"g"}}).ok());
  CHECK(table.groups_of("a") == std::vector<std::string>{"g"});
  CHECK(table.groups_of("b").empty());
  for (size_t i = 1; i < UserTable::kUsersMax; ++i) {
    REQUIRE(table.put({.name = "u" + std::to_string(i)}).ok());
  }
  CHECK_FALSE(table.put({.name = "one.more"}).ok());
  CHECK(table.put({.name = "a"}).ok());  // replaces
  CHECK(table.erase("a"));
  CHECK_FALSE(table.erase("a"));
}

TEST_CASE("security: generated passwords") {
  base::SeededRandom random(1);
  std::string first = generate_password(random);
  CHECK(first.size() == 23);
  CHECK(check_new_password(first).ok());
  CHECK(generate_password(random) != first);
  CHECK(first_user().is_administrator());
}

TEST_CASE("security: saslprep") {
  CHECK(text::saslprep("plain") == "plain");
  CHECK(text::saslprep("I\xC2\xADX") == "IX");       // a soft hyphen is nothing
  CHECK(text::saslprep("\xC2\xAA") == "a");          // compatibility forms
  CHECK(text::saslprep("a\xCC\x88") == "\xC3\xA4");  // composed
  CHECK(text::saslprep("\xFF") == "\xFF");           // not UTF-8: as it is
}

// RFC 7677, section 3.
TEST_CASE("security: SCRAM-SHA-256 as the RFC shows it") {
  const auto& crypto = net::credential_crypto();
  User user{.name = "user"};
  auto verifier =
      make_scram_verifier(base::Digest::kSha256, "pencil",
                          *base::base64_decode("W22ZaJ0SNY7soEsUEjb6gQ=="), 4096, crypto);
  REQUIRE(verifier.ok());
  user.scram.push_back(verifier.value());
  auto shared = std::make_shared<const User>(user);
  ScramServer server({.digest = base::Digest::kSha256,
                      .crypto = &crypto,
                      .find_user = [&](std::string_view) { return shared; },
                      .nonce = "%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0"});
  ScramClient client(base::Digest::kSha256, "user", "pencil", "rOprNGfwEbeRWgbNEkqO", crypto);
  CHECK(client.first() == "n,,n=user,r=rOprNGfwEbeRWgbNEkqO");
  auto challenge = server.first(client.first());
  REQUIRE(challenge.ok());
  CHECK(challenge.value() ==
        "r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096");
  auto proof = client.answer(challenge.value());
  REQUIRE(proof.ok());
  CHECK(proof.value() ==
        "c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,"
        "p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=");
  auto end = server.last(proof.value());
  REQUIRE(end.ok());
  CHECK(end.value() == "v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=");
  CHECK(server.is_accepted());
  CHECK(client.check(end.value()).ok());
  CHECK_FALSE(client.check("v=AAAA").ok());
  CHECK_FALSE(client.check("e=invalid-proof").ok());
}

struct LoginFixture {
  base::SimScheduler sim{42};
  base::SimExecutor executor{sim};
  base::SimWorkerFactory workers{sim};
  base::SeededRandom random{7};
  UserTable users;
  std::unique_ptr<Authenticator> authenticator;
  int answers = 0;

  void start(bool is_dev = false) {
    authenticator =
        std::make_unique<Authenticator>(Authenticator::Options{.users = &users,
                                                               .crypto = &net::credential_crypto(),
                                                               .random = &random,
                                                               .clock = &sim.clock(),
                                                               .workers = &workers,
                                                               .is_dev = is_dev,
                                                               .cost = kQuickCost});
  }
  LoginResult login(const std::string& user, const std::string& password,
                    const std::string& address = "192.0.2.1") {
    LoginResult result;
    bool is_done = false;
    authenticator->login({user, password, address}, executor, [&](LoginResult r) {
      result = std::move(r);
      is_done = true;
    });
    CHECK_FALSE(is_done);  // always on the executor
    CHECK(sim.run_until([&] { return is_done; }));
    return result;
  }
};

TEST_CASE("security: login by password") {
  LoginFixture f;
  REQUIRE(f.users.put(quick_user("app", "passw0rd-of-app", {"clients"})).ok());
  f.start();
  LoginResult r = f.login("app", "passw0rd-of-app");
  CHECK(r.is_accepted);
  CHECK(r.user == "app");
  CHECK(r.groups == std::vector<std::string>{"clients"});
  CHECK(f.login("app", "passw0rd-of-app").is_accepted);  // remembered
  CHECK_FALSE(f.login("app", "passw0rd-of-apq").is_accepted);
  CHECK_FALSE(f.login("app", "").is_accepted);
  CHECK_FALSE(f.login("", "").is_accepted);
  CHECK_FALSE(f.login("mqm", "x").is_accepted);
  CHECK_FALSE(f.login("nobody", "passw0rd-of-app").is_accepted);
  CHECK_FALSE(f.login("app", std::string(100'000, 'x')).is_accepted);
  // A new password, and a disabled user: what was remembered is forgotten.
  REQUIRE(f.users.put(quick_user("app", "another-passw0rd")).ok());
  CHECK_FALSE(f.login("app", "passw0rd-of-app", "192.0.2.2").is_accepted);
  CHECK(f.login("app", "another-passw0rd", "192.0.2.2").is_accepted);
  User disabled = *f.users.find("app");
  disabled.is_disabled = true;
  REQUIRE(f.users.put(disabled).ok());
  CHECK(f.login("app", "another-passw0rd", "192.0.2.2").why == "the user is disabled");
}

TEST_CASE("security: failed logins are slowed down") {
  LoginFixture f;
  REQUIRE(f.users.put(quick_user("app", "passw0rd-of-app")).ok());
  f.start();
  for (uint32_t i = 0; i < LoginLimiter::kFreeFailures; ++i) {
    CHECK(f.login("app", "wrong").retry_after_ms == 0);
  }
  LoginResult r = f.login("app", "passw0rd-of-app");  // right, but too early
  CHECK_FALSE(r.is_accepted);
  CHECK(r.retry_after_ms == 1000);
  CHECK(f.login("app", "passw0rd-of-app", "192.0.2.9").is_accepted);  // nobody is locked out
  f.sim.clock().advance_ns(1'001'000'000);
  CHECK(f.login("app", "wrong").retry_after_ms == 0);
  CHECK(f.login("app", "wrong").retry_after_ms == 2000);  // doubled
  f.sim.clock().advance_ns(2'001'000'000);
  CHECK(f.login("app", "passw0rd-of-app").is_accepted);
  CHECK(f.login("app", "wrong").retry_after_ms == 0);  // a success wipes the slate
}

TEST_CASE("security: the limiter's own limits") {
  base::VirtualClock clock;
  LoginLimiter limiter(clock);
  for (uint32_t i = 0; i < LoginLimiter::kFreeFailuresOfAddress; ++i) {
    CHECK(limiter.wait_ms("u" + std::to_string(i), "a") == 0);
    limiter.failed("u" + std::to_string(i), "a");
  }
  CHECK(limiter.wait_ms("fresh", "a") == 1000);  // many users from one address
  CHECK(limiter.wait_ms("fresh", "b") == 0);
  for (int i = 0; i < 20; ++i) limiter.failed("u", "c");
  CHECK(limiter.wait_ms("u", "c") == LoginLimiter::kWaitMaxMs);
  clock.advance_ns((LoginLimiter::kForgetMs + 1) * 1'000'000);
  CHECK(limiter.wait_ms("u", "c") == 0);
  for (size_t i = 0; i < 2 * LoginLimiter::kEntriesMax; ++i) {
    limiter.failed("u", std::to_string(i));
  }
  CHECK(limiter.entries() <= LoginLimiter::kEntriesMax);
}

TEST_CASE("security: only so many logins wait") {
  LoginFixture f;
  f.start();
  size_t busy = 0, done = 0;
  for (size_t i = 0; i < Authenticator::kPendingMax + 5; ++i) {
    f.authenticator->login({"u" + std::to_string(i), "x", "a" + std::to_string(i)}, f.executor,
                           [&](LoginResult r) {
                             ++done;
                             busy += r.why == "too many logins are being checked";
                           });
  }
  f.sim.run();
  CHECK(done == Authenticator::kPendingMax + 5);
  CHECK(busy == 5);
}

TEST_CASE("security: --dev takes anybody, but only from this machine") {
  LoginFixture f;
  f.start(true);
  for (const char* address : {"127.0.0.1", "127.5.5.5", "::1", "::ffff:127.0.0.1"}) {
    CHECK(f.login("whoever", "", address).is_accepted);
    CHECK(f.login("", "", address).user == "dev");
  }
  for (const char* address : {"192.0.2.1", "::2", "127.0.0.1.example.com", "", "::ffff:10.0.0.1"}) {
    CHECK_FALSE(f.login("whoever", "", address).is_accepted);
  }
}

TEST_CASE("security: login by SCRAM") {
  LoginFixture f;
  REQUIRE(f.users.put(quick_user("app,=x", "passw0rd-of-app")).ok() == false);  // no such names
  REQUIRE(f.users.put(quick_user("app", "passw0rd-of-app", {"clients"})).ok());
  f.start();
  const auto& crypto = net::credential_crypto();
  auto login = [&](const std::string& user, const std::string& password, base::Digest digest) {
    auto server = f.authenticator->begin_scram(digest, "192.0.2.1");
    ScramClient client(digest, user, password, make_scram_nonce(f.random), crypto);
    auto challenge = server.step(client.first());
    REQUIRE(challenge.ok());
    if (server.is_done()) return server.result();
    auto proof = client.answer(challenge.value());
    REQUIRE(proof.ok());
    auto end = server.step(proof.value());
    REQUIRE(end.ok());
    CHECK(server.is_done());
    CHECK(client.check(end.value()).ok() == server.result().is_accepted);
    return server.result();
  };
  for (base::Digest digest : {base::Digest::kSha256, base::Digest::kSha512}) {
    LoginResult r = login("app", "passw0rd-of-app", digest);
    CHECK(r.is_accepted);
    CHECK(r.groups == std::vector<std::string>{"clients"});
    CHECK_FALSE(login("app", "wrong", digest).is_accepted);
    CHECK_FALSE(login("nobody", "passw0rd-of-app", digest).is_accepted);
  }
  for (int i = 0; i < 4; ++i) login("app", "wrong", base::Digest::kSha256);
  CHECK(login("app", "passw0rd-of-app", base::Digest::kSha256).retry_after_ms > 0);
  // The salt of an unknown user does not change, or it would tell.
  auto salt = [&] {
    auto server = f.authenticator->begin_scram(base::Digest::kSha256, "192.0.2.7");
    std::string s = server.step("n,,n=ghost,r=abc").value();
    return s.substr(s.find(",s="));
  };
  CHECK(salt() == salt());
}

TEST_CASE("security: SCRAM messages that do not fit") {
  LoginFixture f;
  REQUIRE(f.users.put(quick_user("app", "passw0rd-of-app")).ok());
  f.start();
  auto first_fails = [&](std::string_view message) {
    auto server = f.authenticator->begin_scram(base::Digest::kSha256, "192.0.2.1");
    return !server.step(message).ok() && server.is_done() && !server.result().is_accepted;
  };
  CHECK(first_fails(""));
  CHECK(first_fails("n"));
  CHECK(first_fails("p=tls-unique,,n=app,r=abc"));
  CHECK(first_fails("n,,m=x,n=app,r=abc"));
  CHECK(first_fails("n,,n=,r=abc"));
  CHECK(first_fails("n,,n=a=2Xb,r=abc"));
  CHECK(first_fails("n,,n=app"));
  CHECK(first_fails("n,,n=app,r="));
  CHECK(first_fails("n,,n=app,r=a\x01"));
  CHECK(first_fails("n,a=other,n=app,r=abc"));
  CHECK(first_fails("n,,n=app,r=" + std::string(kScramMessageBytesMax, 'x')));
  CHECK_FALSE(first_fails("y,,n=app,r=abc"));
  CHECK_FALSE(first_fails("n,a=app,n=app,r=abc,x=ext"));
  auto last_fails = [&](const std::function<std::string(const std::string& nonce)>& make) {
    auto server = f.authenticator->begin_scram(base::Digest::kSha256, "192.0.2.1");
    std::string challenge = server.step("n,,n=app,r=abc").value();
    return !server.step(make(challenge.substr(2, challenge.find(',') - 2))).ok();
  };
  std::string proof = base::base64_encode(std::string(32, 'x'));
  CHECK(last_fails([&](const std::string&) { return "c=biws,r=abc,p=" + proof; }));
  CHECK(last_fails([&](const std::string& n) { return "c=eSws,r=" + n + ",p=" + proof; }));
  CHECK(last_fails([&](const std::string& n) { return "c=biws,r=" + n; }));
  CHECK(last_fails([&](const std::string& n) { return "c=biws,r=" + n + ",p=short"; }));
  CHECK(last_fails([&](const std::string&) { return std::string(); }));
  CHECK_FALSE(last_fails([&](const std::string& n) { return "c=biws,r=" + n + ",p=" + proof; }));
}

TEST_CASE("security: rights come from authority records, and a refusal names the rule") {
  UserTable users;
  REQUIRE(users.put({.name = "app", .groups = {"staff"}}).ok());
  REQUIRE(users.put({.name = "boss", .groups = {"mqm"}}).ok());
  REQUIRE(users.put({.name = "gone", .groups = {"mqm"}, .is_disabled = true}).ok());
  objects::AuthorityTable table;
  using objects::AuthorityObject;
  namespace a = objects::authority;
  table.put({"", AuthorityObject::kQmgr, "staff", true, a::kConnect | a::kInq});
  table.put({"ORDERS.**", AuthorityObject::kQueue, "app", false, a::kGet | a::kBrowse});
  table.put({"ORDERS.IN", AuthorityObject::kQueue, "staff", true, a::kPut});
  table.put({"ORDERS.SHUT", AuthorityObject::kQueue, "app", false, 0});
  table.put({"SPORT", AuthorityObject::kTopic, "app", false, a::kSub});
  RuleAccess access({.users = &users,
                     .authorities = &table,
                     .topic_objects =
                         [](std::string_view topic) {
                           std::vector<std::string> objects;
                           if (topic.substr(0, 12) == "sport/soccer") objects.push_back("SOCCER");
                           if (topic.substr(0, 5) == "sport") objects.push_back("SPORT");
                           objects.push_back("SYSTEM.BASE.TOPIC");
                           return objects;
                         },
                     .queue_manager = "QM1"});
  auto refuses = [&](std::string_view user, int32_t type, std::string_view object,
                     uint32_t rights) { return access.refuses({user, type, object, rights}); };
  CHECK(refuses("app", 5, "QM1", kRightConnect).empty());
  CHECK(refuses("app", 1, "ORDERS.X", kRightGet | kRightBrowse).empty());
  CHECK(refuses("app", 1, "ORDERS.X", kRightPut) ==
        "user app has no +put on queue ORDERS.X: profile ORDERS.** of user app allows BROWSE,GET");
  CHECK(refuses("app", 1, "ORDERS.IN", kRightPut | kRightGet).empty());  // user and group add up
  CHECK(refuses("app", 1, "ORDERS.SHUT", kRightGet) ==
        "user app has no +get on queue ORDERS.SHUT: profile ORDERS.SHUT of user app allows NONE");
  CHECK(refuses("app", 1, "OTHER", kRightGet | kRightPut) ==
        "user app has no +get +put on queue OTHER: no authority record matches");
  CHECK(refuses("stranger", 5, "QM1", kRightConnect) ==
        "user stranger has no +connect on queue manager QM1: no authority record matches");
  CHECK_FALSE(refuses("app", 1, "ORDERS.X", kRightAdmin).empty());
  CHECK_FALSE(refuses("app", 1, "ORDERS.X", kRightGet | kRightAlternateUser).empty());
  CHECK(refuses("app", 5, "QM1", kRightInquire).empty());
  CHECK(refuses("app", 8, "sport/soccer/x", kRightSubscribe).empty());  // from the object above
  CHECK_FALSE(refuses("app", 8, "sport/soccer/x", kRightPublish).empty());
  CHECK_FALSE(refuses("app", 8, "news", kRightSubscribe).empty());
  CHECK(refuses("boss", 1, "ANY", kRightAdmin | kRightPut).empty());
  CHECK(refuses("mqm", 1, "ANY", kRightPut).empty());
  CHECK(refuses("gone", 1, "ANY", kRightPut) == "user gone is disabled");
  RuleAccess dev({.users = &users, .authorities = &table, .is_dev = true});
  CHECK(dev.refuses({"whoever", 1, "ANY", kRightPut}).empty());
}

}  // namespace
}  // namespace millstream::queue::security
