// millstream user: who may log in to the queue managers of a work directory.
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <string>

#include "base/clock.h"
#include "base/random.h"
#include "cli/commands.h"
#include "io/file.h"
#include "net/credential_crypto.h"
#include "queue/security/user_file.h"
#include "server/queue_security.h"

namespace millstream::cli {
namespace {

using queue::security::User;

// Without echo when a person types it, else the first line of what is piped in.
std::string read_password(const std::string& name) {
  const bool is_terminal = ::isatty(STDIN_FILENO) != 0;
  termios before{};
  if (is_terminal) {
    std::fprintf(stderr, "Password for %s: ", name.c_str());
    ::tcgetattr(STDIN_FILENO, &before);
    termios silent = before;
    silent.c_lflag &= ~static_cast<tcflag_t>(ECHO);
    ::tcsetattr(STDIN_FILENO, TCSAFLUSH, &silent);
  }
  std::string password;
  std::getline(std::cin, password);
  if (is_terminal) {
    ::tcsetattr(STDIN_FILENO, TCSAFLUSH, &before);
    std::fputc('\n', stderr);
  }
  if (!password.empty() && password.back() == '\r') password.pop_back();
  return password;
}

Status set_password(User& user, const base::ParsedFlags& flags) {
  const bool is_generated = flags.is_on("generate");
  std::string password = is_generated ? queue::security::generate_password(base::system_random())
                                      : read_password(user.name);
  Status status = queue::security::make_password(user, password, queue::security::PasswordCost(),
                                                 net::credential_crypto(), base::system_random());
  if (status.ok() && is_generated) std::printf("%s\n", password.c_str());
  base::wipe(password);
  return status;
}

void take_groups(User& user, const base::ParsedFlags& flags) {
  user.groups.clear();
  for (std::string_view group : flags.all("group")) user.groups.emplace_back(group);
}

void print_user(const User& user) {
  std::string groups;
  for (const std::string& group : user.groups) groups += (groups.empty() ? "" : ",") + group;
  std::printf("%-20s %-9s %-30s %s\n", user.name.c_str(), user.is_disabled ? "disabled" : "enabled",
              groups.c_str(), user.description.c_str());
}

int refuse(const std::string& text) {
  std::fprintf(stderr, "%s\n", text.c_str());
  return 1;
}

// Changes `users`; an error says why not. `action` is one of those of the command's table.
Status change_users(std::string_view action, const std::string& name, std::vector<User>& users,
                    std::vector<User>::iterator user, const base::ParsedFlags& flags) {
  if (action == "delete") {
    users.erase(user);
    return {};
  }
  if (action == "add") {
    MS_TRY(queue::security::check_user_name(name));
    users.emplace_back().name = name;
    user = users.end() - 1;
  }
  if (action == "add" || action == "groups") take_groups(*user, flags);
  for (const std::string& group : user->groups) {
    MS_TRY(queue::security::check_user_name(group));
  }
  if (flags.has("description")) user->description = flags.text("description");
  if (action == "enable" || action == "disable") user->is_disabled = action == "disable";
  if (action == "add" || action == "password") MS_TRY(set_password(*user, flags));
  user->altered_gmt_ms = base::system_clock().wall_gmt_micros() / 1000;
  // The same checks as the table of the server, before it is written.
  queue::security::UserTable table;
  return table.put(*user);
}

}  // namespace

const base::CommandSpec& user_command() {
  static const base::CommandSpec kSpec{
      .name = "user",
      .arguments = "list|add|password|groups|enable|disable|delete [NAME]",
      .summary = "List and change who may log in to the queue managers of a work directory.",
      .description =
          "Passwords are read from standard input, without echo from a terminal, and kept as "
          "scrypt hashes and SCRAM verifiers in config/users of the work directory. A server that "
          "runs takes changes within a second. Members of the group mqm may do everything; what "
          "others may do is said with SET AUTHREC.",
      .arguments_min = 1,
      .arguments_max = 2,
      .flags = {{.name = "work-dir",
                 .value_name = "FOLDER",
                 .help = "The work directory of the server. Without: the folder it is called in."},
                {.name = "group",
                 .value_name = "GROUP",
                 .help = "With add and groups: a group that the user belongs to.",
                 .is_repeated = true},
                {.name = "description", .value_name = "TEXT", .help = "What the user is for."},
                {.name = "generate",
                 .help = "With add and password: make a password and print it.",
                 .kind = base::FlagKind::kSwitch}},
      .examples = {{"millstream user add app --group clients --work-dir /var/millstream/orders",
                    "asks for the password"},
                   {"millstream user password app --generate", ""},
                   {"millstream user list", ""}}};
  return kSpec;
}

int run_user(const base::ParsedFlags& flags) {
  const std::string& action = flags.arguments()[0];
  constexpr std::string_view kActions[] = {"list",   "add",     "password", "groups",
                                           "enable", "disable", "delete"};
  if (std::find(std::begin(kActions), std::end(kActions), action) == std::end(kActions)) {
    std::fprintf(stderr, "'%s' is none of list, add, password, groups, enable, disable, delete.\n",
                 action.c_str());
    return 2;
  }
  const std::string folder(flags.has("work-dir") ? flags.text("work-dir") : ".");
  const std::string path = server::user_file_of(folder);
  auto loaded = queue::security::load_users(path);
  if (!loaded.ok()) return refuse(loaded.error().describe());
  std::vector<User>& users = loaded.value();
  if (action == "list") {
    for (const User& user : users) print_user(user);
    return 0;
  }
  if (flags.arguments().size() != 2) {
    std::fprintf(stderr, "The name of the user is missing.\n");
    return 2;
  }
  const std::string& name = flags.arguments()[1];
  if (io::path_kind(folder) != io::PathKind::kFolder) {
    return refuse("There is no folder " + folder + ".");
  }
  auto user =
      std::find_if(users.begin(), users.end(), [&](const User& u) { return u.name == name; });
  if (action == "add" && user != users.end())
    return refuse("There is a user " + name + " already.");
  if (action != "add" && user == users.end()) return refuse("There is no user " + name + ".");
  Status status = change_users(action, name, users, user, flags);
  if (status.ok()) status = queue::security::save_users(path, users);
  return status.ok() ? 0 : refuse(status.error().describe());
}

}  // namespace millstream::cli
