// MQGET in logical order, and of complete messages: see group.h.
#include <algorithm>

#include "queue/core/get_operation.h"
#include "queue/core/group.h"
#include "queue/core/report.h"

namespace millstream::queue {

Outcome GetOperation::prepare_logical() {
  namespace gmo = mqi::gmo;
  int32_t o = call_->options;
  LogicalRule& rule = matcher.rule;
  rule.is_logical = (o & gmo::kLogicalOrder) != 0;
  rule.needs_all_messages = (o & gmo::kAllMessagesAvailable) != 0;
  rule.needs_all_segments =
      (o & (gmo::kAllSegmentsAvailable | gmo::kCompleteMessage)) != 0 || rule.needs_all_messages;
  if (!rule.is_logical) return Outcome::ok();
  if ((o & gmo::kBrowseFirst) != 0) handle_->browses = GroupState();
  const GroupState& state = browses() ? handle_->browses : handle_->gets;
  rule.is_inside = state.is_in_group || state.is_in_segments;
  if (!rule.is_inside) return Outcome::ok();
  constexpr int32_t kPlaces = mqi::mo::kSequenceNumber | mqi::mo::kOffset;
  if ((call_->match_options & kPlaces) != 0) {
    return Outcome::failed(mqi::reason::kMatchOptionsError);
  }
  if (!browses() && state.is_in_unit != is_in_unit()) {
    return Outcome::failed(mqi::reason::kInconsistentUow);
  }
  matcher.group_id = strip_nulls(state.group_id.view());
  matcher.group_id_hash = hash_identifier(matcher.group_id);
  matcher.sequence_number =
      state.is_in_segments ? state.sequence_number : state.sequence_number + 1;
  matcher.offset = state.is_in_segments ? state.next_offset : 0;
  return Outcome::ok();
}

bool GetOperation::is_first_segment(Slot slot) const {
  if ((call_->options & mqi::gmo::kCompleteMessage) == 0) return false;
  if ((queue_->index().at(slot).flags & kEntryGrouped) == 0) return false;
  constexpr int32_t kSegments = mqi::mf::kSegment | mqi::mf::kLastSegment;
  return (queue_->place_of(slot).flags & kSegments) != 0;
}

// As the first one, but delivered before as often as the one that was most often.
Entry GetOperation::whole_entry(const std::vector<Slot>& slots) const {
  Entry entry = queue_->index().at(slots.front());
  for (Slot slot : slots) {
    const Entry& part = queue_->index().at(slot);
    entry.backout_count = std::max(entry.backout_count, part.backout_count);
    entry.flags |= part.flags & kEntryRecovered;
  }
  return entry;
}

// All segments become one message. What is not in memory is read first, one after another.
Outcome GetOperation::whole(Slot first, std::unique_lock<std::mutex>& lock) {
  const Entry& head = queue_->index().at(first);
  std::vector<Slot> slots =
      segments_of(*queue_, head.group_id_hash, queue_->place_of(first).sequence_number);
  if (slots.empty()) return Outcome::failed(mqi::reason::kIncompleteMsg);
  std::vector<MessageRef> parts;
  for (Slot slot : slots) {
    const Entry& entry = queue_->index().at(slot);
    auto found = parts_.find(entry.sequence);
    if (entry.message == nullptr && found == parts_.end()) {
      is_gathering_ = true;
      from_ = start_;
      return read(slot, entry, lock);
    }
    parts.push_back(entry.message != nullptr ? MessageRef::share(entry.message) : found->second);
  }
  std::string body;
  for (const MessageRef& part : parts) body += part->body.view();
  MessageRef message = copy_message(*parts.front());
  message->body = Body::adopt(std::move(body));
  message->md.flags &= ~(mqi::mf::kSegment | mqi::mf::kLastSegment);
  message->md.flags |= parts.back()->md.flags & mqi::mf::kLastInGroup;
  message->md.offset = 0;
  message->md.original_length = -1;
  bool fits = formed(message)->body.size() <= call_->buffer_bytes ||
              (call_->options & mqi::gmo::kAcceptTruncated) != 0;
  if (browses() || !fits) {
    Entry copy = whole_entry(slots);
    if (browses()) queue_->place_cursor(handle_->cursor, first);
    lock.unlock();
    return deliver(copy, message);
  }
  return take_whole(slots, message, lock);
}

Outcome GetOperation::take_whole(const std::vector<Slot>& slots, const MessageRef& message,
                                 std::unique_lock<std::mutex>& lock) {
  namespace gmo = mqi::gmo;
  Entry copy = whole_entry(slots);
  bool in_unit = (call_->options & gmo::kSyncpoint) != 0 ||
                 ((call_->options & gmo::kSyncpointIfPersistent) != 0 && copy.is_persistent());
  if (in_unit && connection_->unit_.count() + slots.size() > manager_.settings().uncommitted_max) {
    return Outcome::failed(mqi::reason::kSyncpointLimitReached);
  }
  if ((handle_->options & mqi::oo::kSaveAllContext) != 0) {
    handle_->saved_context = std::make_unique<mqi::MessageDescriptor>(message->md);
  }
  UnitOfWork own;
  UnitOfWork& unit = in_unit ? connection_->unit_ : own;
  uint32_t unit_owner = in_unit ? connection_->unit_owner() : owner;
  for (Slot slot : slots) {
    const Entry& entry = queue_->index().at(slot);
    unit.gets.push_back({queue_, slot, entry.sequence, entry.is_persistent(), false});
    queue_->lock(slot, unit_owner);
  }
  lock.unlock();
  Outcome outcome = deliver(copy, message);
  if (wants_report(message->md.report, ReportKind::kDelivery)) {
    add_report(manager_, *message, ReportKind::kDelivery, 0, unit);
  }
  if (in_unit) return outcome;
  auto self = shared_from_this();
  auto* operation = new CommitOperation(manager_, std::move(own), &executor_,
                                        [self, outcome](const Outcome& committed) {
                                          self->complete(committed.is_ok() ? outcome : committed);
                                        });
  Outcome committed = operation->run();
  return committed.is_ok() ? outcome : committed;
}

}  // namespace millstream::queue
