#include "queue/security/user_file.h"

#include <sys/stat.h>

#include <set>

#include "base/base64.h"
#include "io/durable.h"
#include "io/file.h"
#include "queue/security/errors_gen.h"

namespace millstream::queue::security {
namespace {

constexpr std::string_view kFirstLine = "millstream users 1";
constexpr uint64_t kUserFileBytesMax = 64u << 20;

Status user_line_error(const std::string& path, size_t line, std::string_view reason) {
  return base::make_error(errors::kUserFile, {path, line, reason});
}

}  // namespace

Result<std::vector<User>> load_users(const std::string& path) {
  std::vector<User> users;
  if (io::path_kind(path) == io::PathKind::kMissing) return users;
  std::string content = MS_TRY(io::read_file(path, kUserFileBytesMax));
  std::string_view rest = content;
  std::set<std::string, std::less<>> names;
  for (size_t line = 1; !rest.empty(); ++line) {
    size_t end = rest.find('\n');
    if (end == std::string_view::npos) return user_line_error(path, line, "it is cut off");
    std::string_view text = rest.substr(0, end);
    rest.remove_prefix(end + 1);
    if (line == 1) {
      if (text != kFirstLine) return user_line_error(path, line, "the version is not known");
      continue;
    }
    size_t blank = text.find(' ');
    auto bytes = base::base64_decode(blank == std::string_view::npos ? std::string_view("?")
                                                                     : text.substr(blank + 1));
    if (!bytes) return user_line_error(path, line, "it is no name and record");
    auto user = User::decode(*bytes);
    if (!user.ok()) return user_line_error(path, line, user.error().text);
    if (user.value().name != text.substr(0, blank) || !names.insert(user.value().name).second) {
      return user_line_error(path, line, "the name is another's");
    }
    if (users.size() == UserTable::kUsersMax) return user_line_error(path, line, "too many users");
    users.push_back(std::move(user).take_value());
  }
  return users;
}

Status save_users(const std::string& path, const std::vector<User>& users) {
  std::string content(kFirstLine);
  content += '\n';
  for (const User& u : users) content += u.name + " " + base::base64_encode(u.encode()) + "\n";
  std::string folder(path.substr(0, path.rfind('/')));
  MS_TRY(io::make_folders(folder));
  std::string fresh = path + ".new";
  // Nobody else may read it, not even while it is being written.
  MS_TRY(io::remove_tree(fresh));
  MS_TRY(io::write_file(fresh, ""));
  if (::chmod(fresh.c_str(), S_IRUSR | S_IWUSR) != 0) {
    return user_line_error(fresh, 0, "its permissions cannot be set");
  }
  MS_TRY(io::write_file_synced(fresh, content));
  MS_TRY(io::rename_path(fresh, path));
  return io::sync_folder(folder);
}

Result<size_t> refresh_users(const std::string& path, UserTable& table) {
  std::vector<User> users = MS_TRY(load_users(path));
  std::set<std::string, std::less<>> names;
  size_t changes = 0;
  for (User& u : users) {
    names.insert(u.name);
    UserRef known = table.find(u.name);
    if (known && known->encode() == u.encode()) continue;
    MS_TRY(table.put(std::move(u)));
    ++changes;
  }
  for (const UserRef& known : table.all()) {
    if (names.contains(known->name)) continue;
    table.erase(known->name);
    ++changes;
  }
  return changes;
}

}  // namespace millstream::queue::security
