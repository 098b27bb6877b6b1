// What a queue's name leads to: through aliases and remote definitions to a local queue, to a
// transmission queue for another queue manager, or to a topic. The reasons are those of MQOPEN.
// Thread: any.
#pragma once
#include <string>

#include "queue/core/object_table.h"
#include "queue/core/outcome.h"
#include "queue/core/unit_of_work.h"

namespace millstream::queue {

struct Resolved {
  NamedQueueRef object;    // what was named; null for a queue of another queue manager
  QueueRef queue;          // where messages go to or come from; null for a model and a topic
  bool is_remote = false;  // they get a MQXQH that says:
  std::string remote_queue;
  std::string remote_queue_manager;
  std::string topic_object;  // of an alias for a topic
  uint8_t default_priority = 0;
  bool default_persistent = false;
  int32_t expiry_cap = -1;  // the lowest CAPEXPRY on the way; -1: none
};

// Blanks and nulls at the end of a name do not count.
std::string_view trim_name(std::string_view name);

// `takes`: for input or browse, which a remote queue cannot.
Outcome resolve_queue(QueueManager& manager, std::string_view name, std::string_view where,
                      bool takes, Resolved& out);

// The message as it goes onto `to.queue`, in front of its body the MQXQH of a remote one.
void wrap_for_transmission(QueueManager& manager, const Resolved& to, Message& message);

// A put of the queue manager itself, reserved (2030, 2051, 2053, ...).
Outcome make_manager_put(QueueManager& manager, const Resolved& to, MessageRef message,
                         UnitPut& out);

}  // namespace millstream::queue
