// Talks to the admin port of a server, for the commands that change one.
// Thread: main.
#pragma once
#include <string>
#include <string_view>

#include "base/flags.h"
#include "base/json_value.h"
#include "base/result.h"

namespace millstream::cli {

struct AdminAnswer {
  int status = 0;
  std::string body;
  base::json::Value json;  // null when the body is none
};

struct AdminCall {
  std::string method;
  std::string path;  // with its query
  std::string_view body = {};
  std::string content_type = {};
  std::string disposition = {};
};

inline constexpr std::string_view kDefaultAdminUrl = "http://localhost:7600";

// The option --url of every such command.
base::FlagSpec admin_url_flag();
// `url`: that of the server, "http://localhost:7600".
Result<AdminAnswer> ask_admin(std::string_view url, const AdminCall& call);
// Prints what went wrong to standard error: the message of an error reply, or that nobody answers.
int print_admin_failure(const Result<AdminAnswer>& answer, std::string_view url);

}  // namespace millstream::cli
