// Users, logins and rights of a server's queue managers, put together: the file of users
// (W/config/users), passwords hashed on a thread of their own, and a RuleAccess a queue manager.
//
// The first start makes the user `admin` with a generated password and prints it once, on standard
// output; it is kept nowhere. It counts a moment later, when its hash is computed: the start does
// not wait for that. With `is_dev` there is no need of users.
// The file is looked at every second, so that `millstream user` counts without a restart; a file
// that cannot be read is logged and what was known stays.
// Thread: start() the owner's; the rest any. It outlives the queue managers and all logins.
#pragma once
#include <memory>
#include <string>

#include "base/executor.h"
#include "queue/security/authenticator.h"
#include "queue/security/rule_access.h"
#include "queue/security/user_table.h"

namespace millstream::server {

class QueueSecurity {
 public:
  struct Options {
    std::string work_folder;
    bool is_dev = false;
    base::WorkerFactory* workers = nullptr;
    const base::Clock* clock = nullptr;
    queue::security::PasswordCost cost;
    // Where the first password goes; null: standard output.
    std::function<void(std::string_view text)> print;
  };
  static Result<std::unique_ptr<QueueSecurity>> start(Options options);

  queue::security::Authenticator& authenticator() { return *authenticator_; }
  const queue::security::UserTable& users() const { return users_; }
  // For QueueManagerOptions::access; attach() the manager's tables before its first connection.
  std::unique_ptr<queue::security::RuleAccess> make_access(std::string queue_manager) const;

 private:
  explicit QueueSecurity(Options options) : options_(std::move(options)) {}
  void tell_first_password();
  Status make_first_user();
  void look_again();

  Options options_;
  std::string path_;
  int64_t file_stamp_ = 0;
  std::string first_password_;  // until its hash is there
  queue::security::UserTable users_;
  std::unique_ptr<queue::security::Authenticator> authenticator_;
  base::Worker* watching_ = nullptr;       // the same, for its own steps, until the last has ended
  std::unique_ptr<base::Worker> watcher_;  // last: it stops first
};

// Where a server keeps its users.
std::string user_file_of(std::string_view work_folder);

}  // namespace millstream::server
