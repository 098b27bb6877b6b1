// Whether a message on a queue is one that a get asks for: match options, selector, marks. Most of
// it is decided by the index entry alone; a selector needs the message.
// Thread: under the queue's lock; views belong to the operation that made it.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "queue/core/queue_index.h"
#include "queue/selector/selector.h"

namespace millstream::queue {

// Where in a group or a segmented message a message stands.
struct GroupPlace {
  int32_t sequence_number = 1;
  int32_t offset = 0;
  int32_t flags = 0;
  int32_t original_length = -1;
};

// What logical order and the "available" options let a get take (group.h).
struct LogicalRule {
  bool is_logical = false;
  bool needs_all_messages = false;
  bool needs_all_segments = false;
  bool is_inside = false;  // of a group or message: the matcher names the next one
  bool is_any() const { return is_logical || needs_all_messages || needs_all_segments; }
};

enum class Verdict : uint8_t { kNo, kYes, kNeedsMessage };

struct Matcher {
  std::string message_id;  // empty: any
  std::string correlation_id;
  std::string group_id;
  uint64_t message_id_hash = 0;
  uint64_t correlation_id_hash = 0;
  uint64_t group_id_hash = 0;
  int32_t sequence_number = -1;
  int32_t offset = -1;
  Sequence token = 0;
  std::shared_ptr<const selector::Selector> selector;
  LogicalRule rule;
  std::shared_ptr<const std::vector<Sequence>> passed_over;  // that are not wanted; null: none

  bool matches_any() const {
    return message_id_hash == 0 && correlation_id_hash == 0 && group_id_hash == 0 && token == 0 &&
           sequence_number < 0 && offset < 0 && selector == nullptr && passed_over == nullptr &&
           !rule.is_any();
  }
  bool needs_place() const { return sequence_number >= 0 || offset >= 0; }
  // `message`: what the entry's message is, null when it is not in memory.
  Verdict check(const Entry& entry, const Message* message, const GroupPlace& place) const;
};

}  // namespace millstream::queue
