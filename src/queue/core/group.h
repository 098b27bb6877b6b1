// Message groups and segments: what a put in logical order fills in, which messages a get in
// logical order may take next, whether groups and messages are complete, and the segments that the
// queue manager makes of a message that is too long for its queue.
// Thread: GroupState belongs to a handle; the functions on queues run under the queue's lock.
#pragma once
#include <string>
#include <vector>

#include "queue/core/message.h"
#include "queue/core/outcome.h"
#include "queue/core/queue.h"

namespace millstream::queue {

class QueueManager;

// Where a handle is within a group or a segmented message, of its puts, gets or browses.
struct GroupState {
  bool is_in_group = false;
  bool is_in_segments = false;
  mqi::Id group_id;
  int32_t sequence_number = 0;  // of the last message
  int32_t next_offset = 0;      // when in segments
  int32_t persistence = 0;
  bool is_in_unit = false;
};

// Checks flags, identifier, number and offset of a put, and fills in what logical order means.
// `state` is changed by commit_group_put(), when the put has succeeded.
Outcome prepare_group_put(QueueManager& manager, const GroupState& state, bool is_logical,
                          bool is_in_unit, size_t bytes, mqi::MessageDescriptor& md);
void commit_group_put(GroupState& state, const mqi::MessageDescriptor& md, size_t bytes,
                      bool is_in_unit);

bool is_eligible(const Queue& queue, Slot slot, const LogicalRule& rule);
// Slots of a logical message, in order; empty when a part is missing or locked.
std::vector<Slot> segments_of(const Queue& queue, uint64_t group_hash, int32_t sequence_number);

// After a get or browse in logical order.
void note_logical(GroupState& state, const mqi::MessageDescriptor& md, size_t bytes,
                  bool is_in_unit);

// Pieces of at most `piece_bytes`, a multiple of 16 but for the last.
std::vector<MessageRef> split_message(QueueManager& manager, const Message& message,
                                      size_t piece_bytes);

}  // namespace millstream::queue
