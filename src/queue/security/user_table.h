// All users, by name. An entry is replaced whole, so that whoever holds one sees one state.
// Limit: kUsersMax. Thread: any; readers do not wait for each other. Lock: leaf.
#pragma once
#include <map>
#include <memory>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "queue/security/user.h"

namespace millstream::queue::security {

using UserRef = std::shared_ptr<const User>;  // shared by the table and the logins under way

class UserTable {
 public:
  static constexpr size_t kUsersMax = 10'000;

  Status put(User user);  // adds or replaces; the name is checked
  bool erase(std::string_view name);
  UserRef find(std::string_view name) const;  // null: no such user
  std::vector<UserRef> all() const;           // by name
  bool empty() const;
  std::vector<std::string> groups_of(std::string_view name) const;

 private:
  mutable std::shared_mutex mutex_;
  std::map<std::string, UserRef, std::less<>> users_;
};

}  // namespace millstream::queue::security
