#include "server/queue_security.h"

#include <sys/stat.h>

#include <cstdio>

#include "base/log.h"
#include "io/file.h"
#include "net/credential_crypto.h"
#include "queue/security/user_file.h"

namespace millstream::server {
namespace {

constexpr int64_t kUserFileLookNs = 1'000'000'000;

// Changes whenever the file does: it is replaced, never written in place.
int64_t stamp_of_file(const std::string& path) {
  struct stat status;
  if (::stat(path.c_str(), &status) != 0) return 0;
  return static_cast<int64_t>(status.st_mtim.tv_sec) * 1'000'000'007 + status.st_mtim.tv_nsec +
         static_cast<int64_t>(status.st_ino);
}

}  // namespace

std::string user_file_of(std::string_view work_folder) {
  return io::join_path(io::join_path(std::string(work_folder), "config"),
                       std::string(queue::security::kUserFileName));
}

Result<std::unique_ptr<QueueSecurity>> QueueSecurity::start(Options options) {
  std::unique_ptr<QueueSecurity> security(new QueueSecurity(std::move(options)));
  QueueSecurity& s = *security;
  s.path_ = user_file_of(s.options_.work_folder);
  s.file_stamp_ = stamp_of_file(s.path_);
  (void)MS_TRY(queue::security::refresh_users(s.path_, s.users_));
  // An administrator who deleted the last user does not get a new one at each start.
  const bool is_first = !s.options_.is_dev && s.file_stamp_ == 0;
  if (is_first) s.tell_first_password();
  queue::security::Authenticator::Options login;
  login.users = &s.users_;
  login.crypto = &net::credential_crypto();
  login.random = &base::system_random();
  login.clock = s.options_.clock;
  login.workers = s.options_.workers;
  login.is_dev = s.options_.is_dev;
  login.cost = s.options_.cost;
  if (is_first) {
    login.prepare = [&s] {
      Status made = s.make_first_user();
      if (!made.ok()) base::log_error(made.error());
    };
  }
  s.authenticator_ = std::make_unique<queue::security::Authenticator>(std::move(login));
  s.watcher_ = s.options_.workers->start("users", [&s] {
    s.look_again();
    s.watching_->wake_at(s.options_.clock->monotonic_ns() + kUserFileLookNs);
    return false;
  });
  s.watching_ = s.watcher_.get();
  s.watching_->wake_at(s.options_.clock->monotonic_ns() + kUserFileLookNs);
  return security;
}

// Before it counts: a password that was kept but never seen would lock everybody out.
void QueueSecurity::tell_first_password() {
  first_password_ = queue::security::generate_password(base::system_random());
  const std::string name = queue::security::first_user().name;
  std::string text = "User " + name + " was made, with the password " + first_password_ +
                     "\nIt is shown only now. Change it with: millstream user password " + name +
                     " --work-dir " + options_.work_folder + "\n";
  if (options_.print) {
    options_.print(text);
  } else {
    std::fputs(text.c_str(), stdout);
    std::fflush(stdout);
  }
  base::wipe(text);
}

Status QueueSecurity::make_first_user() {
  queue::security::User user = queue::security::first_user();
  user.altered_gmt_ms = options_.clock->wall_gmt_micros() / 1000;
  Status status = queue::security::make_password(user, first_password_, options_.cost,
                                                 net::credential_crypto(), base::system_random());
  base::wipe(first_password_);
  MS_TRY(std::move(status));
  MS_TRY(queue::security::save_users(path_, {user}));
  return users_.put(std::move(user));
}

void QueueSecurity::look_again() {
  const int64_t stamp = stamp_of_file(path_);
  if (stamp == file_stamp_) return;
  file_stamp_ = stamp;
  auto changes = queue::security::refresh_users(path_, users_);
  if (!changes.ok()) {
    base::log_error(changes.error());
    return;
  }
  if (changes.value() == 0) return;  // our own first user
  base::log_event(base::LogLevel::kInfo, "MS2657I",
                  path_ + ": " + std::to_string(changes.value()) + " users were changed");
}

std::unique_ptr<queue::security::RuleAccess> QueueSecurity::make_access(
    std::string queue_manager) const {
  queue::security::RuleAccess::Options access;
  access.users = &users_;
  access.queue_manager = std::move(queue_manager);
  access.is_dev = options_.is_dev;
  return std::make_unique<queue::security::RuleAccess>(std::move(access));
}

}  // namespace millstream::server
