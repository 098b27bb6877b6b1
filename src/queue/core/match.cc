#include "queue/core/match.h"

#include <algorithm>

#include "queue/core/message_properties.h"

namespace millstream::queue {

Verdict Matcher::check(const Entry& entry, const Message* message, const GroupPlace& place) const {
  if (message_id_hash != 0 && entry.message_id_hash != message_id_hash) return Verdict::kNo;
  if (correlation_id_hash != 0 && entry.correlation_id_hash != correlation_id_hash) {
    return Verdict::kNo;
  }
  if (group_id_hash != 0 && entry.group_id_hash != group_id_hash) return Verdict::kNo;
  if (passed_over != nullptr &&
      std::find(passed_over->begin(), passed_over->end(), entry.sequence) != passed_over->end()) {
    return Verdict::kNo;
  }
  if (token != 0 && entry.sequence != token) return Verdict::kNo;
  if (sequence_number >= 0 && place.sequence_number != sequence_number) return Verdict::kNo;
  if (offset >= 0 && place.offset != offset) return Verdict::kNo;
  bool has_identifier = message_id_hash != 0 || correlation_id_hash != 0 || group_id_hash != 0;
  if (!has_identifier && selector == nullptr) return Verdict::kYes;
  if (message == nullptr) return Verdict::kNeedsMessage;
  // Equal hashes are not yet equal identifiers.
  if (message_id_hash != 0 && message->message_id() != message_id) return Verdict::kNo;
  if (correlation_id_hash != 0 && message->correlation_id() != correlation_id) return Verdict::kNo;
  if (group_id_hash != 0 && message->group_id() != group_id) return Verdict::kNo;
  if (selector != nullptr) {
    MessageProperties properties(*message, entry.backout_count);
    if (!selector->matches(properties)) return Verdict::kNo;
  }
  return Verdict::kYes;
}

}  // namespace millstream::queue
