#include "queue/security/user_table.h"

#include <mutex>

#include "queue/security/errors_gen.h"

namespace millstream::queue::security {

Status UserTable::put(User user) {
  MS_TRY(check_user_name(user.name));
  if (user.name == kAdministrators) return base::make_error(errors::kUserName, {user.name});
  for (const std::string& group : user.groups) MS_TRY(check_user_name(group));
  if (user.groups.size() > kUserGroupsMax) {
    return base::make_error(errors::kUserName, {user.groups.back()});
  }
  auto ref = std::make_shared<const User>(std::move(user));
  std::unique_lock lock(mutex_);
  if (users_.size() >= kUsersMax && !users_.contains(ref->name)) {
    return base::make_error(errors::kTooManyUsers, {users_.size()});
  }
  users_[ref->name] = ref;
  return {};
}

bool UserTable::erase(std::string_view name) {
  std::unique_lock lock(mutex_);
  auto at = users_.find(name);
  if (at == users_.end()) return false;
  users_.erase(at);
  return true;
}

UserRef UserTable::find(std::string_view name) const {
  std::shared_lock lock(mutex_);
  auto at = users_.find(name);
  return at == users_.end() ? nullptr : at->second;
}

std::vector<UserRef> UserTable::all() const {
  std::shared_lock lock(mutex_);
  std::vector<UserRef> out;
  for (const auto& [name, user] : users_) out.push_back(user);
  return out;
}

bool UserTable::empty() const {
  std::shared_lock lock(mutex_);
  return users_.empty();
}

std::vector<std::string> UserTable::groups_of(std::string_view name) const {
  UserRef user = find(name);
  return user ? user->groups : std::vector<std::string>();
}

}  // namespace millstream::queue::security
