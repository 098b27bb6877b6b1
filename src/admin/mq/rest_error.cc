#include "admin/mq/rest_error.h"

#include "mqi/constants.h"
#include "mqi/reasons.h"

namespace millstream::admin {

using base::json::Value;

AdminReply rest_error(const RestError& error) {
  Value item = Value::object();
  item.set("type", error.type);
  item.set("msgId", error.id);
  item.set("messageId", error.id);
  item.set("message", std::string(error.id) + ": " + error.message);
  item.set("explanation", error.explanation.empty() ? error.message : error.explanation);
  item.set("action", error.action);
  if (error.completion != 0) {
    item.set("completionCode", error.completion);
    item.set("reasonCode", error.reason);
  }
  Value list = Value::array();
  list.push_back(std::move(item));
  Value body = Value::object();
  body.set("error", std::move(list));
  AdminReply reply = json_reply(body, error.status);
  if (error.status == 401) {
    reply.headers.emplace_back("WWW-Authenticate", "Basic realm=\"millstream\"");
  }
  if (error.retry_after_s > 0) {
    reply.headers.emplace_back("Retry-After", std::to_string(error.retry_after_s));
  }
  return reply;
}

AdminReply rest_error(int status, const base::Error& error) {
  const std::string name = std::string(error.code->id) + "E";
  RestError out;
  out.status = status;
  out.id = name;
  out.message = error.text;
  out.action = "`millstream describe " + std::string(error.code->id) + "` tells more.";
  return rest_error(out);
}

int status_of_reason(int32_t reason) {
  switch (reason) {
    case mqi::reason::kNotAuthorized:
      return 403;
    case mqi::reason::kUnknownObjectName:
    case mqi::reason::kUnknownObjectQMgr:
    case mqi::reason::kUnknownRemoteQMgr:
    case mqi::reason::kUnknownAliasBaseQ:
    case mqi::reason::kQMgrNameError:
      return 404;
    case mqi::reason::kMsgTooBigForQ:
    case mqi::reason::kMsgTooBigForQMgr:
    case mqi::reason::kSelectorSyntaxError:
    case mqi::reason::kPriorityError:
    case mqi::reason::kExpiryError:
      return 400;
    case mqi::reason::kQMgrNotAvailable:
    case mqi::reason::kQMgrQuiescing:
    case mqi::reason::kQMgrStopping:
    case mqi::reason::kConnectionBroken:
    case mqi::reason::kConnectionQuiescing:
    case mqi::reason::kConnectionStopping:
      return 503;
    default:
      return 500;
  }
}

AdminReply mqi_error(std::string_view id, std::string what, const queue::Outcome& outcome,
                     const std::string& why) {
  RestError error;
  error.status = status_of_reason(outcome.reason);
  error.type = "messaging";
  error.id = outcome.reason == mqi::reason::kNotAuthorized ? mqwb::kNotAuthorized : id;
  error.message = std::move(what);
  const std::string_view name = mqi::reason_code_name(outcome.reason);
  error.explanation = "The queue manager answered with reason " + std::to_string(outcome.reason) +
                      (name.empty() ? "." : " (" + std::string(name) + ").");
  if (!why.empty()) error.explanation += " It was refused because " + why + ".";
  error.action = "Look the reason code up and correct its cause.";
  error.completion = outcome.completion;
  error.reason = outcome.reason;
  return rest_error(error);
}

}  // namespace millstream::admin
