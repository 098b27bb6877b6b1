#include "admin/mq/mq_login.h"

#include "admin/errors_gen.h"
#include "base/base64.h"
#include "http/request.h"
#include "net/awaiter.h"
#include "net/reactor.h"

namespace millstream::admin {
namespace {

constexpr std::string_view kBasic = "Basic ";

AdminReply ask_for_login(int64_t retry_after_ms) {
  const base::ErrorCode& code = retry_after_ms > 0 ? errors::kLoginLater : errors::kLoginRefused;
  const int status = retry_after_ms > 0 ? 429 : 401;
  AdminReply reply = error_reply(status, base::make_error(code).error());
  if (retry_after_ms > 0) {
    reply.headers.emplace_back("Retry-After", std::to_string((retry_after_ms + 999) / 1000));
  } else {
    reply.headers.emplace_back("WWW-Authenticate", "Basic realm=\"millstream\"");
  }
  return reply;
}

}  // namespace

bool read_basic_authorization(std::string_view field, std::string& user, std::string& password) {
  if (field.size() < kBasic.size()) return false;
  if (!http::equals_ignore_case(field.substr(0, kBasic.size()), kBasic)) return false;
  field.remove_prefix(kBasic.size());
  while (field.starts_with(' ')) field.remove_prefix(1);
  const std::optional<std::string> pair = base::base64_decode(field);
  if (!pair) return false;
  const size_t colon = pair->find(':');
  if (colon == std::string::npos) return false;
  user = pair->substr(0, colon);
  password = pair->substr(colon + 1);
  return true;
}

std::string_view address_of_peer(std::string_view peer) {
  const size_t colon = peer.rfind(':');
  if (colon != std::string_view::npos) peer = peer.substr(0, colon);
  if (peer.starts_with('[') && peer.ends_with(']')) peer = peer.substr(1, peer.size() - 2);
  return peer;
}

MqLogin log_in(const MqAccess& access, const AdminRequest& request) {
  MqLogin out;
  queue::security::Authenticator* authenticator = access.authenticator();
  if (!authenticator) {
    out.refusal = error_reply(404, base::make_error(errors::kNoQueueManagers).error());
    return out;
  }
  queue::security::LoginRequest login;
  const bool is_named =
      read_basic_authorization(request.headers.get("Authorization"), login.user, login.password);
  if (request.exchange) login.address = address_of_peer(request.exchange->peer());
  if (!is_named && !authenticator->is_dev()) {  // no attempt: it must not slow down anybody
    out.refusal = ask_for_login(0);
    return out;
  }
  net::Awaiter<queue::security::LoginResult> answer;
  authenticator->login(std::move(login), access.executor(*net::Reactor::current()),
                       answer.callback());
  queue::security::LoginResult result = answer.wait();
  if (result.is_accepted) {
    out.user = std::move(result.user);
    out.groups = std::move(result.groups);
  } else {
    out.refusal = ask_for_login(result.retry_after_ms);
  }
  return out;
}

}  // namespace millstream::admin
