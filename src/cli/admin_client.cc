#include "cli/admin_client.h"

#include <cstdio>
#include <optional>

#include "http/client.h"
#include "net/reactor_pool.h"

namespace millstream::cli {
namespace {

constexpr int64_t kAdminTimeoutNs = 600 * net::kSecond;
constexpr size_t kAdminReplyBytesMax = size_t{64} << 20;

Result<AdminAnswer> ask_in_fiber(const http::Url& url, const AdminCall& call) {
  http::ClientPool pool(*net::Reactor::current());
  http::ClientRequest request;
  request.method = call.method;
  request.url = url;
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

base::FlagSpec admin_url_flag() {
  return {.name = "url",
          .value_name = "URL",
          .help = "Admin port of the server.",
          .default_text = kDefaultAdminUrl};
}

Result<AdminAnswer> ask_admin(std::string_view url, const AdminCall& call) {
  std::string text(url);
  if (text.find("://") == std::string::npos) text = "http://" + text;
  while (text.ends_with('/')) text.pop_back();
  const http::Url parsed = MS_TRY(http::parse_url(text + call.path));
  std::unique_ptr<net::ReactorPool> reactors = MS_TRY(net::ReactorPool::create(1));
  std::optional<Result<AdminAnswer>> answer;
  reactors->run_on(0, [&] { answer.emplace(ask_in_fiber(parsed, call)); });
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
