#include "admin/batch/batch_routes.h"

#include "admin/errors_gen.h"
#include "admin/mq/mq_login.h"
#include "http/request.h"

namespace millstream::admin::batch {
namespace {

// The listener does not see that a client is gone while it owes him a reply (he may have closed his
// half only), so that guards are short.
constexpr int64_t kGuardNs = 2 * net::kSecond;

int status_of(const base::Error& error) {
  if (error.code == &errors::kNoSuchQueueManager) return 404;
  if (error.code == &errors::kNoBatchSession) return 410;
  if (error.code == &errors::kBatchSessionsFull) return 503;
  return 400;
}

Result<Answer> guard(BatchService& service, const std::string& user, const Request& frame,
                     const AdminRequest& request) {
  Answer answer;
  const bool lives_on =
      MS_TRY(service.guard(user, frame.token, kGuardNs, [&request](std::function<void()> on_gone) {
        if (!request.exchange) return;
        request.exchange->set_on_gone(
            [on_gone = std::move(on_gone)](http::Request&) { on_gone(); });
      }));
  if (!lives_on) answer.flags |= kNoMore;
  return answer;
}

AdminReply answer_frame(BatchService& service, const MqAccess& access,
                        const AdminRequest& request) {
  MqLogin login = log_in(access, request);
  if (!login.is_accepted()) return std::move(login.refusal);
  const Result<Request> frame = decode_request(request.body);
  if (!frame.ok()) return error_reply(400, frame.error());
  const Result<Answer> answer =
      frame.value().operation == Operation::kGuard
          ? guard(service, login.user, frame.value(), request)
          : service.run(request.parameter("queueManager"), login.user, frame.value());
  if (!answer.ok()) return error_reply(status_of(answer.error()), answer.error());
  AdminReply reply;
  reply.content_type = kContentType;
  reply.body = encode(answer.value());
  return reply;
}

}  // namespace

std::shared_ptr<BatchService> add_batch_routes(AdminServer& admin, const MqAccess& access) {
  std::shared_ptr<BatchService> service = BatchService::create(access);
  admin.add("POST", "/millstream/v1/qmgr/{queueManager}/batch",
            [service, &access](const AdminRequest& request) {
              return answer_frame(*service, access, request);
            },
            HandlerPlace::kReactor,
            {.right = AdminRight::kOwn,
             .body_bytes_max = AdminOptions().body_bytes_max,
             .check_head = [&access](const AdminRequest& request) -> std::optional<AdminReply> {
               MqLogin login = log_in(access, request);
               if (login.is_accepted()) return {};
               return std::move(login.refusal);
             }});
  return service;
}

}  // namespace millstream::admin::batch
