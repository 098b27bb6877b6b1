// The users of a server in a file of its work directory, because they belong to all of its queue
// managers, and have to be there before any of them: W/config/users, readable for its owner alone.
//
//   millstream users 1
//   NAME BASE64 of User::encode()
//
// It is replaced in one step and flushed, so that a crash leaves the old or the new one. A line
// that cannot be read makes the whole file unusable, and that is said: a user who is silently
// missing is as bad as one too many.
// Thread: any; who changes it reads it before (the last writer wins).
#pragma once
#include <string>
#include <vector>

#include "base/result.h"
#include "queue/security/user_table.h"

namespace millstream::queue::security {

constexpr std::string_view kUserFileName = "users";

// No file: no users.
Result<std::vector<User>> load_users(const std::string& path);
Status save_users(const std::string& path, const std::vector<User>& users);

// Brings a table to what the file says; users that are the same keep their entries. Returns how
// many were added, changed or removed.
Result<size_t> refresh_users(const std::string& path, UserTable& table);

}  // namespace millstream::queue::security
