#include "queue/security/user_file.h"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/durable.h"
#include "io/file.h"
#include "net/credential_crypto.h"

namespace millstream::queue::security {
namespace {

struct UserFolder {
  std::string path;
  UserFolder() {
    char name[] = "/tmp/millstream_users_XXXXXX";
    path = ::mkdtemp(name);
  }
  ~UserFolder() { (void)io::remove_tree(path); }
};

TEST_CASE("security: the file of users") {
  UserFolder folder;
  std::string path = folder.path + "/config/users";
  CHECK(load_users(path).value().empty());
  base::SeededRandom random(3);
  PasswordCost cost{.scrypt = {.log2_cost = 5, .block = 8, .parallel = 1}, .scram_iterations = 10};
  std::vector<User> users(2);
  users[0].name = "app";
  users[0].groups = {"clients"};
  users[1].name = "boss";
  for (User& u : users) {
    REQUIRE(make_password(u, "a good passw0rd", cost, net::credential_crypto(), random).ok());
  }
  REQUIRE(save_users(path, users).ok());
  struct stat status;
  REQUIRE(::stat(path.c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0600);
  UserTable table;
  CHECK(refresh_users(path, table).value() == 2);
  CHECK(refresh_users(path, table).value() == 0);
  UserRef app = table.find("app");
  REQUIRE(app);
  CHECK(app->groups == std::vector<std::string>{"clients"});
  users.erase(users.begin() + 1);
  users[0].is_disabled = true;
  REQUIRE(save_users(path, users).ok());
  CHECK(refresh_users(path, table).value() == 2);  // one changed, one gone
  CHECK_FALSE(table.find("boss"));
  CHECK(table.find("app")->is_disabled);
  // Whatever is wrong with it, it says so, and the table stays.
  std::string good = io::read_file(path).value();
  for (const std::string& bad :
       {good.substr(0, good.size() - 1), std::string("millstream users 2\n"), good + "x y\n",
        good + "nothing\n", good + good.substr(good.find('\n') + 1),
        "millstream users 1\nother" + good.substr(good.find(' ', 19)), std::string("\n")}) {
    REQUIRE(io::write_file(path, bad).ok());
    auto refreshed = refresh_users(path, table);
    CHECK_FALSE(refreshed.ok());
    CHECK(table.find("app"));
  }
}

}  // namespace
}  // namespace millstream::queue::security
