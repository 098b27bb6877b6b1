#include "server/queue_security.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include "base/sim_executor.h"
#include "io/durable.h"
#include "io/file.h"
#include "net/credential_crypto.h"
#include "queue/security/user_file.h"

namespace millstream::server {
namespace {

struct SecurityFixture {
  std::string folder;
  base::SimScheduler sim{11};
  base::SimExecutor executor{sim};
  base::SimWorkerFactory workers{sim};
  std::string printed;

  SecurityFixture() {
    char name[] = "/tmp/millstream_security_XXXXXX";
    folder = ::mkdtemp(name);
  }
  ~SecurityFixture() { (void)io::remove_tree(folder); }
  QueueSecurity::Options options(bool is_dev = false) {
    QueueSecurity::Options o;
    o.work_folder = folder;
    o.is_dev = is_dev;
    o.workers = &workers;
    o.clock = &sim.clock();
    o.cost = {.scrypt = {.log2_cost = 5, .block = 8, .parallel = 1}, .scram_iterations = 10};
    o.print = [this](std::string_view text) { printed += text; };
    return o;
  }
  queue::security::LoginResult login(QueueSecurity& security, std::string user,
                                     std::string password) {
    queue::security::LoginResult result;
    bool is_done = false;
    security.authenticator().login({std::move(user), std::move(password), "192.0.2.1"}, executor,
                                   [&](queue::security::LoginResult r) {
                                     result = std::move(r);
                                     is_done = true;
                                   });
    CHECK(sim.run_until([&] { return is_done; }, 10'000));
    return result;
  }
};

TEST_CASE("queue security: the first start tells a password once") {
  SecurityFixture f;
  std::string password;
  {
    auto security = QueueSecurity::start(f.options());
    REQUIRE(security.ok());
    const std::string before = "with the password ";
    size_t at = f.printed.find(before);
    REQUIRE(at != std::string::npos);
    password = f.printed.substr(at + before.size(), 23);
    // The hash is computed by a worker, before any login is looked at.
    CHECK(security.value()->users().empty());
    CHECK(f.login(*security.value(), "admin", password).is_accepted);
    CHECK_FALSE(f.login(*security.value(), "admin", "admin").is_accepted);
    auto access = security.value()->make_access("QM1");
    CHECK(access->refuses({"admin", 1, "Q", queue::kRightPut}).empty());
    CHECK_FALSE(access->refuses({"app", 1, "Q", queue::kRightPut}).empty());
  }
  CHECK(io::read_file(user_file_of(f.folder)).value().find(password) == std::string::npos);
  f.printed.clear();
  auto again = QueueSecurity::start(f.options());
  REQUIRE(again.ok());
  CHECK(f.printed.empty());
  CHECK(f.login(*again.value(), "admin", password).is_accepted);
}

TEST_CASE("queue security: the file is read again when it changes") {
  SecurityFixture f;
  auto security = QueueSecurity::start(f.options());
  REQUIRE(security.ok());
  f.sim.run_ready();
  std::string path = user_file_of(f.folder);
  auto users = queue::security::load_users(path);
  REQUIRE(users.ok());
  queue::security::User app{.name = "app"};
  REQUIRE(queue::security::make_password(app, "a good passw0rd", f.options().cost,
                                         net::credential_crypto(), base::system_random())
              .ok());
  users.value().push_back(app);
  REQUIRE(queue::security::save_users(path, users.value()).ok());
  CHECK_FALSE(security.value()->users().find("app"));
  f.sim.run_for_ns(1'100'000'000);
  CHECK(security.value()->users().find("app"));
  CHECK(f.login(*security.value(), "app", "a good passw0rd").is_accepted);
  REQUIRE(io::write_file(path, "nonsense\n").ok());
  f.sim.run_for_ns(1'100'000'000);
  CHECK(security.value()->users().find("app"));  // what was known stays
  CHECK_FALSE(QueueSecurity::start(f.options()).ok());
}

TEST_CASE("queue security: --dev makes no user") {
  SecurityFixture f;
  auto security = QueueSecurity::start(f.options(true));
  REQUIRE(security.ok());
  CHECK(f.printed.empty());
  CHECK(security.value()->users().empty());
  CHECK(security.value()->make_access("QM1")->refuses({"x", 1, "Q", queue::kRightPut}).empty());
}

}  // namespace
}  // namespace millstream::server
