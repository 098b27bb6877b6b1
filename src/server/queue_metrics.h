// What the queue managers of a server tell a scrape of /metrics:
//   millstream_queue_depth{qmgr, queue}, millstream_queue_puts_total, millstream_queue_gets_total,
//   millstream_queue_uncommitted, millstream_queue_oldest_message_seconds and, without a queue,
//   millstream_queue_manager_*: connections, memory, journal, checkpoints, whether puts are
//   admitted and how many were refused.
// SYSTEM queues that nothing has ever been put on are left out. Thread: any.
#pragma once
#include "base/metrics.h"
#include "server/queue_managers.h"

namespace millstream::server {

void collect_queue_metrics(const QueueManagers& managers, base::MetricWriter& writer);

}  // namespace millstream::server
