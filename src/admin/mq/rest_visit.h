// A request of the REST API on its way: who sent it, for which queue manager, and its connection.
// Thread: a fiber of the request's reactor.
#pragma once
#include <memory>
#include <string>

#include "admin/admin_request.h"
#include "admin/mq/mq_access.h"
#include "admin/mq/mq_rest.h"
#include "net/awaiter.h"

namespace millstream::admin {

struct MqRest::Visit {
  ~Visit() {
    if (connection) connection->abandon();
  }
  // 2035 or 2059 as a reply.
  std::optional<AdminReply> connect(const MqAccess& access);
  // Which rule refused; empty when none did.
  std::string refusal(int32_t type, std::string_view object, uint32_t rights) const;

  std::string user;
  std::string address;  // of the client
  queue::QueueManager* manager = nullptr;
  std::shared_ptr<queue::Connection> connection;
};

// Calls `call` with a Done and waits for what it ends with.
template <typename Call>
queue::Outcome finish_call(Call&& call) {
  net::Awaiter<queue::Outcome> answer;
  queue::Outcome outcome = call(queue::Done(answer.callback()));
  return outcome.is_pending() ? answer.wait() : outcome;
}

}  // namespace millstream::admin
