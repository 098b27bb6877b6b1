#include "queue/core/queue.h"

#include <algorithm>

#include "base/assert.h"
#include "queue/core/group.h"

namespace millstream::queue {

void Queue::alter(QueueSettings settings) {
  bool tells = settings.inhibits_get && !settings_.inhibits_get;
  EventSettings before = settings_.events;
  settings_ = std::move(settings);
  arm_events(before);
  if (tells) wake_all();
}

void Queue::mark_deleted() {
  is_deleted_ = true;
  wake_all();
}

void Queue::wake_all() {
  for (Waiter* waiter : waiters_.take_lookers(true)) waiter->granted(kNoSlot, 0);
}

Outcome Queue::check_put(uint64_t bytes) const {
  if (is_deleted_) return Outcome::failed(mqi::reason::kQDeleted);
  if (settings_.inhibits_put) return Outcome::failed(mqi::reason::kPutInhibited);
  if (bytes > settings_.message_bytes_max) return Outcome::failed(mqi::reason::kMsgTooBigForQ);
  if (depth() >= settings_.depth_max) return Outcome::failed(mqi::reason::kQFull);
  return Outcome::ok();
}

Slot Queue::publish(const Entry& entry, const GroupPlace* place, Effects& effects) {
  Slot slot = index_.insert(entry);
  if (entry.expires_gmt_ms != 0) ++expiring;
  if ((entry.flags & kEntryOtherCid) != 0) ++other_cids;
  if (place != nullptr) places_[entry.sequence] = *place;
  note_put(effects);
  if (entry.state == EntryState::kAvailable) offer(slot, effects);
  return slot;
}

void Queue::recover(const Entry& entry) {
  (void)index_.insert(entry);
  if (entry.expires_gmt_ms != 0) ++expiring;
  if ((entry.flags & kEntryOtherCid) != 0) ++other_cids;
}

void Queue::release(Slot slot, Effects& effects) {
  index_.unlock(slot);
  offer(slot, effects);
}

void Queue::offer(Slot slot, Effects& effects) {
  Entry& entry = index_.at(slot);
  if (is_expired(entry)) return expire(slot, effects);
  if (!waiters_.empty() && !settings_.inhibits_get) {
    GroupPlace place = place_of(slot);
    Waiter* waiter = waiters_.take_for(entry, entry.message, place);
    if (waiter != nullptr) {
      index_.lock(slot, waiter->owner);
      waiter->granted(slot, entry.sequence);
    } else {
      bool is_for_all = (entry.flags & kEntryOtherCid) != 0;
      for (Waiter* looker : waiters_.take_lookers(is_for_all)) looker->granted(kNoSlot, 0);
    }
  }
  if (settings_.is_triggered) consider_trigger(entry, effects);
}

void Queue::lock(Slot slot, uint32_t owner) {
  fix_cursors(slot);
  index_.lock(slot, owner);
}

void Queue::leave(Slot slot) {
  if (index_.at(slot).state == EntryState::kLeaving) return;  // expired
  fix_cursors(slot);
  index_.leave(slot);
  ++leaving_;
}

void Queue::erase(Slot slot) {
  Entry& entry = index_.at(slot);
  fix_cursors(slot);
  if (entry.state == EntryState::kLeaving) --leaving_;
  if (entry.expires_gmt_ms != 0) --expiring;
  if ((entry.flags & kEntryOtherCid) != 0) --other_cids;
  if (!places_.empty()) places_.erase(entry.sequence);
  if (!marks_.empty()) marks_.erase(entry.sequence);
  index_.erase(slot);
}

int64_t Queue::oldest_put_gmt_micros() const {
  const Entry* oldest = nullptr;
  for (int lane = 0; lane < kLanes; ++lane) {
    Slot slot = index_.head(lane);
    if (slot == kNoSlot) continue;
    const Entry& entry = index_.at(slot);
    if (oldest == nullptr || entry.sequence < oldest->sequence) oldest = &entry;
  }
  if (oldest == nullptr || oldest->message == nullptr) return 0;
  const mqi::MessageDescriptor& md = oldest->message->md;
  return mqi::parse_put_time(md.put_date.view(), md.put_time.view());
}

// A cursor on a message that leaves its lane goes back by one, so that it still goes on with the
// next.
void Queue::fix_cursors(Slot slot) {
  if (cursors_.empty()) return;
  const Entry& entry = index_.at(slot);
  if (entry.state != EntryState::kAvailable) return;
  Sequence before = entry.previous == kNoSlot ? 0 : index_.at(entry.previous).sequence;
  for (Cursor* cursor : cursors_) {
    if (cursor->sequence == entry.sequence && cursor->lane == entry.lane) cursor->sequence = before;
  }
}

void Queue::place_cursor(Cursor& cursor, Slot slot) {
  const Entry& entry = index_.at(slot);
  if (!cursor.is_placed) {
    cursor.is_placed = true;
    cursors_.push_back(&cursor);
  }
  cursor.lane = entry.lane;
  cursor.sequence = cursor.under = entry.sequence;
}

void Queue::reset_cursor(Cursor& cursor) {
  if (cursor.is_placed) std::erase(cursors_, &cursor);
  cursor = Cursor();
}

GroupPlace Queue::place_of(Slot slot) const {
  const Entry& entry = index_.at(slot);
  if ((entry.flags & kEntryGrouped) == 0) return {};
  auto found = places_.find(entry.sequence);
  return found == places_.end() ? GroupPlace() : found->second;
}

void Queue::set_place(Sequence sequence, const GroupPlace& place) {
  if (index_.find(sequence) == kNoSlot) return;
  places_[sequence] = place;
  for (Waiter* looker : waiters_.take_lookers(false)) looker->granted(kNoSlot, 0);
}

bool Queue::is_marked_for(Sequence sequence, uint64_t handle, bool is_cooperative, int64_t at_ns) {
  auto found = marks_.find(sequence);
  if (found == marks_.end()) return false;
  Mark& mark = found->second;
  if (std::find(mark.handles.begin(), mark.handles.end(), handle) != mark.handles.end()) {
    return true;
  }
  if (!mark.is_cooperative || !is_cooperative) return false;
  if (mark.until_ns > at_ns) return true;
  mark.is_cooperative = false;
  if (mark.handles.empty()) marks_.erase(found);
  return false;
}

Verdict Queue::verdict(const Matcher& matcher, Slot slot, const Loaded& loaded, uint64_t marker) {
  const Entry& entry = index_.at(slot);
  ++scan_steps;
  if (marker != 0 && !marks_.empty()) {
    constexpr uint64_t kCooperativeBit = 1ull << 63;
    if (is_marked_for(entry.sequence, marker & ~kCooperativeBit, (marker & kCooperativeBit) != 0,
                      clock_.monotonic_ns())) {
      return Verdict::kNo;
    }
  }
  const Message* message = entry.message;
  if (message == nullptr && loaded.sequence == entry.sequence) message = loaded.message.get();
  GroupPlace place;
  if (matcher.needs_place()) place = place_of(slot);
  if (matcher.rule.is_any() && !is_eligible(*this, slot, matcher.rule)) return Verdict::kNo;
  return matcher.check(entry, message, place);
}

Queue::Found Queue::find(const Matcher& matcher, Position from, const Loaded& loaded,
                         uint64_t marker, Effects& effects) {
  if (matcher.message_id_hash != 0 || matcher.correlation_id_hash != 0 ||
      matcher.group_id_hash != 0 || matcher.token != 0) {
    return find_by_identifier(matcher, from, loaded, marker, effects);
  }
  bool takes_any = matcher.matches_any() && marker == 0;
  for (int lane = from.lane; lane >= 0; --lane) {
    if ((index_.lanes_in_use() & (1u << lane)) == 0) continue;
    bool is_first_lane = lane == from.lane;
    Slot slot = index_.head(lane);
    if (is_first_lane && from.sequence != 0) slot = index_.first_behind(lane, from.sequence);
    if (is_first_lane && from.resume_at != 0) slot = index_.first_from(lane, from.resume_at);
    while (slot != kNoSlot) {
      Entry& entry = index_.at(slot);
      Slot next = entry.next;
      if (is_expired(entry)) {
        expire(slot, effects);
        slot = next;
        continue;
      }
      Verdict v = takes_any ? Verdict::kYes : verdict(matcher, slot, loaded, marker);
      if (v != Verdict::kNo) return {slot, v == Verdict::kNeedsMessage};
      slot = next;
    }
  }
  return {};
}

Queue::Found Queue::find_by_identifier(const Matcher& matcher, Position from, const Loaded& loaded,
                                       uint64_t marker, Effects& effects) {
  Slot Entry::* next_in_chain = &Entry::next_by_group_id;
  Slot slot;
  if (matcher.token != 0) {
    next_in_chain = &Entry::next_by_sequence;
    slot = index_.find(matcher.token);
  } else if (matcher.message_id_hash != 0) {
    next_in_chain = &Entry::next_by_message_id;
    slot = index_.first_by_message_id(matcher.message_id_hash);
  } else if (matcher.correlation_id_hash != 0) {
    next_in_chain = &Entry::next_by_correlation_id;
    slot = index_.first_by_correlation_id(matcher.correlation_id_hash);
  } else {
    slot = index_.first_by_group_id(matcher.group_id_hash);
  }
  Found best;
  while (slot != kNoSlot) {
    Slot current = slot;
    const Entry& entry = index_.at(current);
    slot = entry.*next_in_chain;
    if (entry.state != EntryState::kAvailable) continue;
    index_.prefetch(current);
    bool is_behind =
        entry.lane < from.lane || (entry.lane == from.lane && entry.sequence > from.sequence &&
                                   entry.sequence >= from.resume_at);
    if (!is_behind) continue;
    if (best.slot != kNoSlot) {
      const Entry& other = index_.at(best.slot);
      if (other.lane > entry.lane ||
          (other.lane == entry.lane && other.sequence < entry.sequence)) {
        continue;
      }
    }
    if (is_expired(entry)) {
      expire(current, effects);
      continue;
    }
    Verdict v = verdict(matcher, current, loaded, marker);
    if (v == Verdict::kNo) continue;
    // Identifiers are verified when the message has been read; a selector decides here.
    best = {current, v == Verdict::kNeedsMessage};
    bool is_best_lane = (index_.lanes_in_use() >> (index_.at(current).lane + 1)) == 0;
    if (is_best_lane) break;  // chains are in order of arrival
  }
  return best;
}

void Queue::expire(Slot slot, Effects& effects) {
  Entry& entry = index_.at(slot);
  fix_cursors(slot);
  // It stays in the index, unseen, until its get is durable and its report is made.
  effects.expired.push_back({shared_from_this(), entry.sequence});
  index_.leave(slot);
  ++leaving_;
}

uint32_t Queue::available_from(uint8_t priority) const {
  uint32_t count = 0;
  if (settings_.is_fifo) return index_.lane_size(0);
  for (int lane = priority; lane < kLanes; ++lane) count += index_.lane_size(lane);
  return count;
}

void Queue::consider_trigger(const Entry& entry, Effects& effects) {
  if (entry.priority < settings_.trigger_priority || settings_.initiation_queue.empty()) return;
  switch (settings_.trigger_type) {
    case TriggerType::kNone:
      return;
    case TriggerType::kFirst:
      if (open_input > 0) return;
      // From none to one; or after TRIGINT, should the first trigger have been in vain.
      if (available_from(settings_.trigger_priority) > 1 &&
          clock_.monotonic_ns() < trigger_again_ns) {
        return;
      }
      break;
    case TriggerType::kEvery:
      break;
    case TriggerType::kDepth:
      if (open_input > 0) return;
      if (available_from(settings_.trigger_priority) < settings_.trigger_depth) return;
      break;
  }
  effects.triggers.push_back({shared_from_this(), settings_});
}

void Queue::reconsider_trigger(Effects& effects) {
  if (!settings_.is_triggered || settings_.initiation_queue.empty() || open_input > 0) return;
  uint32_t count = available_from(settings_.trigger_priority);
  bool counts = (settings_.trigger_type == TriggerType::kFirst && count > 0) ||
                (settings_.trigger_type == TriggerType::kDepth && count >= settings_.trigger_depth);
  if (counts) effects.triggers.push_back({shared_from_this(), settings_});
}

Slot Queue::sweep(Slot from, Slot count, int64_t& earliest, Effects& effects) {
  Slot end = std::min<Slot>(index_.slots(), from + count);
  int64_t now = clock_.wall_gmt_micros() / 1000;
  for (Slot slot = from; slot < end; ++slot) {
    const Entry& entry = index_.at(slot);
    if (entry.expires_gmt_ms == 0 || entry.state == EntryState::kFree) continue;
    if (entry.expires_gmt_ms > now) {
      earliest = std::min(earliest, entry.expires_gmt_ms);
    } else if (entry.state == EntryState::kAvailable || entry.state == EntryState::kDelayed) {
      expire(slot, effects);
      if (index_.size() == 0) return 0;  // the index may have given its memory back
    }
  }
  return end < index_.slots() ? end : 0;
}

void LockedQueues::add(Queue* queue) {
  if (queues_.empty() || queues_.back() != queue) queues_.push_back(queue);
}

void LockedQueues::lock() {
  std::sort(queues_.begin(), queues_.end(),
            [](const Queue* a, const Queue* b) { return a->id() < b->id(); });
  queues_.erase(std::unique(queues_.begin(), queues_.end()), queues_.end());
  for (Queue* queue : queues_) queue->mutex().lock();
  is_locked_ = true;
}

void LockedQueues::unlock() {
  if (!is_locked_) return;
  for (Queue* queue : queues_) queue->mutex().unlock();
  is_locked_ = false;
}

}  // namespace millstream::queue
