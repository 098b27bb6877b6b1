#include "admin/mq/rest_session.h"

#include <algorithm>

#include "admin/errors_gen.h"
#include "admin/mq/mq_login.h"
#include "admin/mq/rest_error.h"
#include "base/ascii.h"
#include "base/credential_crypto.h"
#include "http/request.h"
#include "net/awaiter.h"
#include "net/reactor.h"

namespace millstream::admin {
namespace {

using base::json::Value;

constexpr size_t kTokenBytes = 32;
constexpr size_t kLoginBytesMax = 16 * 1024;
constexpr uint32_t kLoginDepthMax = 4;

AdminReply not_authenticated(std::string_view id, std::string why) {
  RestError error;
  error.status = 401;
  error.id = id;
  error.message = "The request is not authenticated.";
  error.explanation = std::move(why);
  error.action = "Send the name and password of a user of this server, or a token from /login.";
  return rest_error(error);
}

AdminReply no_csrf_header(std::string_view method) {
  RestError error;
  error.status = 403;
  error.id = mqwb::kNoCsrfHeader;
  error.message = "The header " + std::string(RestSessions::kCsrfHeader) + " is missing.";
  error.explanation = "A " + std::string(method) + " needs it, so that pages of other sites " +
                      "cannot make a browser send one. Any value will do, also none.";
  error.action = "Send the header.";
  return rest_error(error);
}

// The value of our cookie; empty when it did not come.
std::string_view token_of(const AdminRequest& request) {
  for (size_t i = request.headers.find_index("Cookie"); i != http::Headers::kNone;
       i = request.headers.find_index("Cookie", i + 1)) {
    std::string_view rest = request.headers.value(i);
    while (!rest.empty()) {
      const size_t end = std::min(rest.find(';'), rest.size());
      std::string_view pair = rest.substr(0, end);
      rest.remove_prefix(std::min(end + 1, rest.size()));
      while (pair.starts_with(' ')) pair.remove_prefix(1);
      if (!pair.starts_with(RestSessions::kCookie)) continue;
      pair.remove_prefix(RestSessions::kCookie.size());
      if (!pair.starts_with('=')) continue;
      pair.remove_prefix(1);
      if (pair.size() > 1 && pair.front() == '"' && pair.back() == '"') {
        pair = pair.substr(1, pair.size() - 2);
      }
      return pair;
    }
  }
  return {};
}

AdminReply token_cookie(std::string_view token, bool is_secure, bool is_end) {
  AdminReply reply;
  reply.status = 204;
  std::string cookie = std::string(RestSessions::kCookie) + "=" + std::string(token) +
                       "; Path=/; HttpOnly; SameSite=Strict";
  if (is_secure) cookie += "; Secure";
  if (is_end) cookie += "; Max-Age=0";
  reply.headers.emplace_back("Set-Cookie", std::move(cookie));
  return reply;
}

bool is_over_tls(const AdminRequest& request) {
  return request.exchange && request.exchange->is_secure();
}

}  // namespace

std::optional<AdminReply> RestSessions::check_password(const AdminRequest& request,
                                                       std::string user, std::string password,
                                                       std::string& accepted) {
  queue::security::Authenticator* authenticator = access_.authenticator();
  queue::security::LoginRequest login{std::move(user), std::move(password), {}};
  if (request.exchange) login.address = address_of_peer(request.exchange->peer());
  net::Awaiter<queue::security::LoginResult> answer;
  authenticator->login(std::move(login), access_.executor(*net::Reactor::current()),
                       answer.callback());
  queue::security::LoginResult result = answer.wait();
  if (result.is_accepted) {
    accepted = std::move(result.user);
    return {};
  }
  if (result.retry_after_ms > 0) {
    RestError error;
    error.status = 429;
    error.id = "MS2223E";
    error.message = base::make_error(errors::kLoginLater).error().text;
    error.action = "Wait as long as Retry-After says.";
    error.retry_after_s = (result.retry_after_ms + 999) / 1000;
    return rest_error(error);
  }
  return not_authenticated(mqwb::kNotAuthenticated,
                           "There is no such user, or the password is wrong.");
}

std::optional<AdminReply> RestSessions::authenticate(const AdminRequest& request, Caller& out) {
  const queue::security::Authenticator* authenticator = access_.authenticator();
  if (!authenticator) {
    return rest_error(503, base::make_error(errors::kNoQueueManagers).error());
  }
  std::string user, password;
  if (request.headers.has("Authorization")) {
    if (!read_basic_authorization(request.headers.get("Authorization"), user, password)) {
      return not_authenticated(mqwb::kNotAuthenticated,
                               "The Authorization header is none of basic authentication.");
    }
    std::optional<AdminReply> refusal =
        check_password(request, std::move(user), std::move(password), out.user);
    if (refusal) return refusal;
  } else if (const std::string_view token = token_of(request); !token.empty()) {
    std::lock_guard lock(mutex_);
    const auto session = sessions_.find(token);
    if (session == sessions_.end() || session->second.until_ms <= now_ms() ||
        session->second.stamp != access_.user_stamp(session->second.user)) {
      if (session != sessions_.end()) sessions_.erase(session);
      return not_authenticated(mqwb::kBadToken, "The token of the cookie is not valid any more.");
    }
    out.user = session->second.user;
    out.token = token;
  } else if (authenticator->is_dev()) {
    std::optional<AdminReply> refusal = check_password(request, {}, {}, out.user);
    if (refusal) return refusal;
  } else {  // no attempt: it must not slow down anybody
    return not_authenticated(mqwb::kNotAuthenticated, "There is no anonymous access.");
  }
  const bool is_reading = request.method == "GET" || request.method == "HEAD";
  if (!is_reading && !request.headers.has(kCsrfHeader)) return no_csrf_header(request.method);
  return {};
}

std::string RestSessions::begin_session(std::string user) {
  std::string bytes(kTokenBytes, '\0');
  random_.fill(bytes.data(), bytes.size());
  std::string token;
  base::append_hex(token, bytes);
  std::shared_ptr<const void> stamp = access_.user_stamp(user);
  std::lock_guard lock(mutex_);
  if (sessions_.size() >= kSessionsMax) {
    std::erase_if(sessions_, [&](const auto& s) { return s.second.until_ms <= now_ms(); });
  }
  if (sessions_.size() >= kSessionsMax) {  // the one that would end first
    sessions_.erase(std::min_element(
        sessions_.begin(), sessions_.end(),
        [](const auto& a, const auto& b) { return a.second.until_ms < b.second.until_ms; }));
  }
  sessions_[token] = {std::move(user), std::move(stamp), now_ms() + kSessionMs};
  return token;
}

AdminReply RestSessions::log_in(const AdminRequest& request) {
  if (!access_.authenticator()) {
    return rest_error(503, base::make_error(errors::kNoQueueManagers).error());
  }
  const http::ContentType type = http::parse_content_type(request.headers.get("Content-Type"));
  RestError error;
  error.status = 400;
  error.id = mqwb::kBadBody;
  error.message = "The body of the request cannot be read.";
  error.explanation = R"(It is {"username": "...", "password": "..."}.)";
  if (!http::equals_ignore_case(type.media_type, "application/json")) {
    error.status = 415;
    error.id = mqwb::kMediaType;
    error.message = "The media type is not supported for this request.";
    error.explanation = "A login is application/json.";
    return rest_error(error);
  }
  if (request.body.size() > kLoginBytesMax) return rest_error(error);
  Result<Value> body =
      base::json::parse(request.body, {.depth_max = kLoginDepthMax, .values_max = 100, .file = {}});
  if (!body.ok()) return rest_error(error);
  const Value& user = body.value().get("username");
  const Value& password = body.value().get("password");
  if (!user.is_string() || user.as_string().empty() || !password.is_string()) {
    return rest_error(error);
  }
  std::string accepted;
  std::optional<AdminReply> refusal =
      check_password(request, user.as_string(), password.as_string(), accepted);
  if (refusal) return std::move(*refusal);
  return token_cookie(begin_session(std::move(accepted)), is_over_tls(request), false);
}

AdminReply RestSessions::show(const AdminRequest& request) {
  Caller caller;
  if (std::optional<AdminReply> refusal = authenticate(request, caller)) return std::move(*refusal);
  Value user = Value::object();
  user.set("name", caller.user);
  user.set("authenticationMechanism", caller.token.empty() ? "basic" : "form");
  Value roles = Value::array();
  const queue::QueueManager* manager = access_.find("");
  const queue::AccessControl* rules = manager ? manager->options().access : nullptr;
  const bool is_admin =
      rules &&
      rules->refuses({caller.user, mqi::ot::kQueueManager, manager->name(), queue::kRightAdmin})
          .empty();
  if (is_admin) roles.push_back("MQWebAdmin");
  roles.push_back("MQWebUser");
  user.set("role", std::move(roles));
  Value users = Value::array();
  users.push_back(std::move(user));
  Value body = Value::object();
  body.set("user", std::move(users));
  return json_reply(body);
}

AdminReply RestSessions::log_out(const AdminRequest& request) {
  Caller caller;
  if (std::optional<AdminReply> refusal = authenticate(request, caller)) return std::move(*refusal);
  if (!caller.token.empty()) {
    std::lock_guard lock(mutex_);
    sessions_.erase(caller.token);
  }
  return token_cookie("", is_over_tls(request), true);
}

}  // namespace millstream::admin
