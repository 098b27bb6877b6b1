// Talks to the admin port of a server, for the commands that look at one or change it: its options,
// which are the same for all of them, and one call.
// Thread: main.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/flags.h"
#include "base/json_value.h"
#include "base/result.h"
#include "http/url.h"
#include "net/tls_context.h"

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

// The server that the options name, and who asks.
struct AdminTarget {
  std::string url;                             // as it is shown, without a slash at the end
  std::string authorization;                   // value of the field; empty: nobody is named
  std::shared_ptr<const net::TlsContext> tls;  // of https URLs
};

// --url, --user, --password-file, --cacert, --cert: the options of every such command, before
// its own.
std::vector<base::FlagSpec> with_admin_flags(std::vector<base::FlagSpec> own);
// The password of --password-file, the environment or the terminal.
Result<std::string> password_of(const base::ParsedFlags& flags, std::string_view user);
// For --cacert and --cert.
Result<std::shared_ptr<const net::TlsContext>> client_tls_of(const base::ParsedFlags& flags);
// Reads passwords and certificates.
Result<AdminTarget> admin_target_of(const base::ParsedFlags& flags);
// The same; what is wrong is printed.
std::optional<AdminTarget> open_admin(const base::ParsedFlags& flags);
Result<http::Url> admin_url_of(const AdminTarget& target, std::string_view path);

Result<AdminAnswer> ask_admin(const AdminTarget& target, const AdminCall& call);
// Prints what went wrong to standard error: the message of an error reply, or that nobody answers.
int print_admin_failure(const Result<AdminAnswer>& answer, std::string_view url);

}  // namespace millstream::cli
