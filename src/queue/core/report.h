// What the queue manager writes itself: report messages (COA, COD, expiration, exception), and
// messages for the dead-letter queue with their MQDLH.
// Thread: any.
#pragma once
#include <string_view>

#include "queue/core/message.h"
#include "queue/core/outcome.h"
#include "queue/core/unit_of_work.h"

namespace millstream::queue {

enum class ReportKind : uint8_t { kArrival, kDelivery, kExpiration, kException };

// Whether `report` (of a descriptor) asks for the kind.
bool wants_report(int32_t report, ReportKind kind);

// The report goes into `unit` as one more put; where it cannot go, to the dead-letter queue; and
// where that cannot be either, nowhere: nobody waits for it.
// `feedback`: of kException the reason; the others have theirs.
void add_report(QueueManager& manager, const Message& original, ReportKind kind, int32_t feedback,
                UnitOfWork& unit);

// Adds `original` for the dead-letter queue to the unit, with the reason and where it was to go.
// 2085 when there is none, and what a put of it gets.
Outcome add_dead_letter(QueueManager& manager, const Message& original, int32_t reason,
                        std::string_view queue, std::string_view queue_manager, UnitOfWork& unit);

// A copy that may be changed; the body is shared.
MessageRef copy_message(const Message& message);

}  // namespace millstream::queue
