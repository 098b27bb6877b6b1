#include "cli/admin_client.h"

#include <fcntl.h>
#include <termios.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "base/base64.h"
#include "http/client.h"
#include "io/file.h"
#include "net/reactor_pool.h"

namespace millstream::cli {
namespace {

constexpr const char* kPasswordVariable = "MILLSTREAM_PASSWORD";
constexpr int64_t kAdminTimeoutNs = 600 * net::kSecond;
constexpr size_t kAdminReplyBytesMax = size_t{64} << 20;

std::string ask_password(std::string_view user) {
  std::fprintf(stderr, "Password for %.*s: ", static_cast<int>(user.size()), user.data());
  const int terminal = ::open("/dev/tty", O_RDWR | O_CLOEXEC);
  if (terminal < 0) return {};
  termios before{};
  ::tcgetattr(terminal, &before);
  termios silent = before;
  silent.c_lflag &= ~static_cast<tcflag_t>(ECHO);
  ::tcsetattr(terminal, TCSAFLUSH, &silent);
  std::string password;
  char c = 0;
  while (::read(terminal, &c, 1) == 1 && c != '\n') password += c;
  ::tcsetattr(terminal, TCSAFLUSH, &before);
  ::close(terminal);
  std::fputc('\n', stderr);
  return password;
}

// The value of an Authorization field; empty: nobody is named.
Result<std::string> authorization_of(const base::ParsedFlags& flags) {
  const std::string user(flags.text("user"));
  if (user.empty()) return std::string();
  const std::string password = MS_TRY(password_of(flags, user));
  return "Basic " + base::base64_encode(user + ":" + password);
}

Result<AdminAnswer> ask_in_fiber(const http::Url& url, const AdminTarget& target,
                                 const AdminCall& call) {
  http::ClientPool pool(*net::Reactor::current());
  http::ClientRequest request;
  request.method = call.method;
  request.url = url;
  request.tls = target.tls;
  if (!target.authorization.empty()) request.headers.add("Authorization", target.authorization);
  request.body = call.body;
  request.sends_empty_body = call.method != "GET";
  request.must_keep_alive = false;
  request.deadline_ns = net::Reactor::current()->refresh_now() + kAdminTimeoutNs;
  request.body_bytes_max = kAdminReplyBytesMax;
  if (!call.content_type.empty()) request.headers.add("Content-Type", call.content_type);
  if (!call.disposition.empty()) request.headers.add("Content-Disposition", call.disposition);
  const http::ClientResponse response = MS_TRY(pool.send(request));
  AdminAnswer answer;
  answer.status = response.status;
  answer.body = response.body;
  Result<base::json::Value> json = base::json::parse(answer.body);
  if (json.ok()) answer.json = std::move(json).value();
  return answer;
}

}  // namespace

std::vector<base::FlagSpec> with_admin_flags(std::vector<base::FlagSpec> own) {
  std::vector<base::FlagSpec> all{
      {.name = "url",
       .value_name = "URL",
       .help = "Admin port of the server.",
       .default_text = kDefaultAdminUrl},
      {.name = "user",
       .value_name = "NAME",
       .help = "Who asks. The password is in the file of --password-file, in the environment "
               "variable MILLSTREAM_PASSWORD, or asked for on the terminal. A server with "
               "--dev needs none.",
       .short_name = 'u'},
      {.name = "password-file",
       .value_name = "FILE",
       .help = "A file whose first line is the password."},
      {.name = "cacert",
       .value_name = "FILE",
       .help = "For https: PEM or PKCS#12 file with the authorities that the server's certificate "
               "may come from, or a folder of PEM files. Without: those of the system."},
      {.name = "cert",
       .value_name = "FILE",
       .help = "For https: PEM or PKCS#12 file with the key and certificate to show to a server "
               "that wants one."}};
  for (base::FlagSpec& flag : own) all.push_back(std::move(flag));
  return all;
}

Result<std::string> password_of(const base::ParsedFlags& flags, std::string_view user) {
  if (flags.has("password-file")) {
    const std::string text = MS_TRY(io::read_file(std::string(flags.text("password-file"))));
    return text.substr(0, text.find_first_of("\r\n"));
  }
  if (const char* variable = std::getenv(kPasswordVariable)) return std::string(variable);
  return ::isatty(STDERR_FILENO) ? ask_password(user) : std::string();
}

Result<std::shared_ptr<const net::TlsContext>> client_tls_of(const base::ParsedFlags& flags) {
  net::TlsClientSettings settings;
  settings.truststore.path = flags.text("cacert");
  settings.keystore.path = flags.text("cert");
  return net::TlsContext::create_client(settings);
}

Result<AdminTarget> admin_target_of(const base::ParsedFlags& flags) {
  AdminTarget target;
  target.url = flags.text("url");
  if (target.url.find("://") == std::string::npos) target.url = "http://" + target.url;
  while (target.url.ends_with('/')) target.url.pop_back();
  if (target.url.starts_with("https:")) target.tls = MS_TRY(client_tls_of(flags));
  target.authorization = MS_TRY(authorization_of(flags));
  return target;
}

std::optional<AdminTarget> open_admin(const base::ParsedFlags& flags) {
  Result<AdminTarget> target = admin_target_of(flags);
  if (target.ok()) return std::move(target).take_value();
  std::fprintf(stderr, "%s\n", target.error().describe().c_str());
  return {};
}

Result<http::Url> admin_url_of(const AdminTarget& target, std::string_view path) {
  return http::parse_url(target.url + std::string(path));
}

Result<AdminAnswer> ask_admin(const AdminTarget& target, const AdminCall& call) {
  const http::Url url = MS_TRY(admin_url_of(target, call.path));
  std::unique_ptr<net::ReactorPool> reactors = MS_TRY(net::ReactorPool::create(1));
  std::optional<Result<AdminAnswer>> answer;
  reactors->run_on(0, [&] { answer.emplace(ask_in_fiber(url, target, call)); });
  reactors->stop();
  return std::move(*answer);
}

int print_admin_failure(const Result<AdminAnswer>& answer, std::string_view url) {
  if (!answer.ok()) {
    std::fprintf(stderr,
                 "No server answers at %.*s: %s\nStart one with `millstream run`, or name its "
                 "admin port with --url.\n",
                 static_cast<int>(url.size()), url.data(), answer.error().innermost().text.c_str());
    return 1;
  }
  const AdminAnswer& reply = answer.value();
  const std::string& message = reply.json.get("message").as_string();
  if (message.empty()) {
    std::fprintf(stderr, "The server answered with status %d.\n", reply.status);
  } else {
    std::fprintf(stderr, "%sE: %s\n", reply.json.get("code").as_string().c_str(), message.c_str());
  }
  return 1;
}

}  // namespace millstream::cli
