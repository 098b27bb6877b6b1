// The queue commands on any broker of AMQP 1.0: put, get, browse and move of amqp:// URLs, by the
// client of wire/amqp. Messages become what a queue of ours would give, and what it would take.
//
// - put: one transaction a request when the broker has them; without, message by message, and
//   what was not accepted is not on the queue.
// - get: messages are accepted with the next request or the end, which is when they leave.
// - move: in a transaction each is on one of both; without, a message may be on both after a kill.
// Thread: main.
#pragma once
#include <memory>

#include "cli/queue_client.h"

namespace millstream::cli {

Result<std::unique_ptr<QueueClient>> open_amqp_queue_client(const base::ParsedFlags& flags);

}  // namespace millstream::cli
