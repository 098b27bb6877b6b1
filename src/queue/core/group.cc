#include "queue/core/group.h"

#include <algorithm>

#include "queue/core/queue_manager.h"
#include "queue/core/report.h"

namespace millstream::queue {
namespace {

namespace mf = mqi::mf;
namespace reason = mqi::reason;

constexpr int32_t kGroupBits = mf::kInGroup | mf::kLastInGroup;
constexpr int32_t kSegmentBits = mf::kSegment | mf::kLastSegment;
constexpr int32_t kNumberMax = 999'999'999;

Outcome group_check_fields(const mqi::MessageDescriptor& md, bool is_logical, size_t bytes) {
  constexpr int32_t kKnown = mf::kSegmentationAllowed | kGroupBits | kSegmentBits;
  if ((md.flags & ~kKnown & mf::kRejectUnsupportedMask) != 0) {
    return Outcome::failed(reason::kMsgFlagsError);
  }
  bool is_segment = (md.flags & kSegmentBits) != 0;
  bool is_last = (md.flags & mf::kLastSegment) != 0;
  if (is_segment && !is_last && bytes == 0) return Outcome::failed(reason::kSegmentLengthZero);
  if (is_logical) return Outcome::ok();
  if (md.sequence_number < 1 || md.sequence_number > kNumberMax) {
    return Outcome::failed(reason::kMsgSeqNumberError);
  }
  if (md.offset < 0 || md.offset > kNumberMax || (md.offset > 0 && !is_segment)) {
    return Outcome::failed(reason::kOffsetError);
  }
  bool is_report = md.message_type == mqi::mt::kReport;
  if (!is_report && md.original_length != -1) return Outcome::failed(reason::kOriginalLengthError);
  return Outcome::ok();
}

// What nobody has, and has not expired.
bool group_counts(const Queue& queue, const Entry& entry, uint64_t group_hash) {
  return entry.group_id_hash == group_hash && entry.state == EntryState::kAvailable &&
         !queue.is_expired(entry);
}

}  // namespace

Outcome prepare_group_put(QueueManager& manager, const GroupState& state, bool is_logical,
                          bool is_in_unit, size_t bytes, mqi::MessageDescriptor& md) {
  // The last one is one, too.
  if ((md.flags & mf::kLastInGroup) != 0) md.flags |= mf::kInGroup;
  if ((md.flags & mf::kLastSegment) != 0) md.flags |= mf::kSegment;
  if (Outcome o = group_check_fields(md, is_logical, bytes); !o.is_ok()) return o;
  bool is_group = (md.flags & kGroupBits) != 0;
  bool is_segment = (md.flags & kSegmentBits) != 0;
  bool may_segment = (md.flags & mf::kSegmentationAllowed) != 0;
  if (!is_logical) {
    if (!is_group && !is_segment && !may_segment) {
      md.group_id = {};
    } else if (md.group_id.is_null()) {
      manager.make_message_id(md.group_id);
    }
    return Outcome::ok();
  }
  bool is_inside = state.is_in_group || state.is_in_segments;
  if (is_inside) {
    if (state.is_in_segments && !is_segment) return Outcome::failed(reason::kIncompleteMsg);
    if (state.is_in_group && !is_group) return Outcome::failed(reason::kIncompleteGroup);
    if (state.persistence != md.persistence) {
      return Outcome::failed(reason::kInconsistentPersistence);
    }
    if (state.is_in_unit != is_in_unit) return Outcome::failed(reason::kInconsistentUow);
    md.group_id = state.group_id;
  } else if (is_group || is_segment || may_segment) {
    manager.make_message_id(md.group_id);
  } else {
    md.group_id = {};
  }
  md.offset = state.is_in_segments ? state.next_offset : 0;
  md.sequence_number = 1;
  if (state.is_in_segments) {
    md.sequence_number = state.sequence_number;
  } else if (state.is_in_group) {
    md.sequence_number = state.sequence_number + 1;
  }
  return Outcome::ok();
}

void commit_group_put(GroupState& state, const mqi::MessageDescriptor& md, size_t bytes,
                      bool is_in_unit) {
  bool is_segment = (md.flags & kSegmentBits) != 0;
  bool is_last_segment = (md.flags & mf::kLastSegment) != 0;
  bool is_group = (md.flags & kGroupBits) != 0;
  bool is_last = (md.flags & mf::kLastInGroup) != 0 && (!is_segment || is_last_segment);
  state.is_in_segments = is_segment && !is_last_segment;
  state.is_in_group = is_group && !is_last;
  state.group_id = md.group_id;
  state.sequence_number = md.sequence_number;
  state.next_offset = state.is_in_segments ? md.offset + static_cast<int32_t>(bytes) : 0;
  state.persistence = md.persistence;
  state.is_in_unit = is_in_unit;
}

std::vector<Slot> segments_of(const Queue& queue, uint64_t group_hash, int32_t sequence_number) {
  std::vector<std::pair<int32_t, Slot>> parts;
  const QueueIndex& index = queue.index();
  for (Slot slot = index.first_by_group_id(group_hash); slot != kNoSlot;
       slot = index.at(slot).next_by_group_id) {
    const Entry& entry = index.at(slot);
    if (!group_counts(queue, entry, group_hash)) continue;
    GroupPlace place = queue.place_of(slot);
    if (place.sequence_number == sequence_number) parts.emplace_back(place.offset, slot);
  }
  std::sort(parts.begin(), parts.end());
  std::vector<Slot> out;
  int64_t expected = 0;
  for (auto [offset, slot] : parts) {
    if (offset != expected) return {};
    expected += index.at(slot).body_bytes;
    out.push_back(slot);
    int32_t flags = queue.place_of(slot).flags;
    if ((flags & kSegmentBits) == 0 || (flags & mf::kLastSegment) != 0) return out;
  }
  return {};
}

namespace {

bool group_is_complete(const Queue& queue, uint64_t group_hash) {
  const QueueIndex& index = queue.index();
  std::vector<std::pair<int32_t, bool>> messages;  // number, whether it is the last
  for (Slot slot = index.first_by_group_id(group_hash); slot != kNoSlot;
       slot = index.at(slot).next_by_group_id) {
    const Entry& entry = index.at(slot);
    if (!group_counts(queue, entry, group_hash)) continue;
    GroupPlace place = queue.place_of(slot);
    if (place.offset == 0) {
      messages.emplace_back(place.sequence_number, (place.flags & mf::kLastInGroup) != 0);
    }
  }
  std::sort(messages.begin(), messages.end());
  int32_t expected = 1;
  for (auto [number, is_last] : messages) {
    if (number != expected++) return false;
    if (segments_of(queue, group_hash, number).empty()) return false;
    if (is_last) return true;
  }
  return false;
}

}  // namespace

bool is_eligible(const Queue& queue, Slot slot, const LogicalRule& rule) {
  const Entry& entry = queue.index().at(slot);
  if ((entry.flags & kEntryGrouped) == 0) return true;
  GroupPlace place = queue.place_of(slot);
  bool is_group = (place.flags & kGroupBits) != 0;
  bool is_segment = (place.flags & kSegmentBits) != 0;
  if (rule.is_logical && !rule.is_inside) {
    if (place.offset != 0 || (is_group && place.sequence_number != 1)) return false;
  }
  if (rule.needs_all_messages && is_group && !rule.is_inside &&
      !group_is_complete(queue, entry.group_id_hash)) {
    return false;
  }
  if (rule.needs_all_segments && is_segment) {
    if (place.offset != 0) return rule.is_inside;
    return !segments_of(queue, entry.group_id_hash, place.sequence_number).empty();
  }
  return true;
}

void note_logical(GroupState& state, const mqi::MessageDescriptor& md, size_t bytes,
                  bool is_in_unit) {
  commit_group_put(state, md, bytes, is_in_unit);
}

std::vector<MessageRef> split_message(QueueManager& manager, const Message& message,
                                      size_t piece_bytes) {
  constexpr size_t kUnit = 16;
  piece_bytes -= piece_bytes % kUnit;
  std::vector<MessageRef> out;
  size_t total = message.body.size();
  for (size_t at = 0; at < total; at += piece_bytes) {
    size_t size = std::min(piece_bytes, total - at);
    MessageRef piece = copy_message(message);
    piece->body = message.body.part(at, size);
    piece->md.offset = message.md.offset + static_cast<int32_t>(at);
    piece->md.flags |= mf::kSegment;
    bool is_last = at + size == total;
    bool was_segment = (message.md.flags & mf::kSegment) != 0;
    bool ends = !was_segment || (message.md.flags & mf::kLastSegment) != 0;
    piece->md.flags &= ~mf::kLastSegment;
    if (is_last && ends) piece->md.flags |= mf::kLastSegment;
    if (piece->md.group_id.is_null()) manager.make_message_id(piece->md.group_id);
    if (!out.empty()) piece->md.group_id = out.front()->md.group_id;
    out.push_back(std::move(piece));
  }
  return out;
}

}  // namespace millstream::queue
