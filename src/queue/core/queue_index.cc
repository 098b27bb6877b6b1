#include "queue/core/queue_index.h"

#include <algorithm>

#include "base/assert.h"

namespace millstream::queue {
namespace {

// Sequences are consecutive: spread enough by themselves for the low bits that choose a bucket.
uint64_t index_bucket_hash(uint64_t key) { return key; }

}  // namespace

SlotChains::Bucket SlotChains::split() {
  if (count_ == chunks_.size() * kChunk) {
    // Doubling would do, but the first chunk of a small queue should be small.
    chunks_.push_back(std::make_unique<Bucket[]>(kChunk));
  }
  ++count_;
  if (count_ == 1) return {};
  if (count_ > base_ * 2) base_ *= 2;
  Bucket& from = at_index(count_ - 1 - base_);
  return std::exchange(from, Bucket());
}

void SlotChains::clear() {
  chunks_.clear();
  count_ = 0;
  base_ = 1;
}

template <uint64_t Entry::* kKey, Slot Entry::* kNext>
void QueueIndex::append(SlotChains& chains, Slot slot) {
  Entry& entry = at(slot);
  SlotChains::Bucket& bucket = chains.bucket_of(index_bucket_hash(entry.*kKey));
  entry.*kNext = kNoSlot;
  if constexpr (kNext == &Entry::next_by_correlation_id) {
    entry.previous_by_correlation_id = bucket.tail;
  }
  if (bucket.tail == kNoSlot) {
    bucket.head = slot;
  } else {
    at(bucket.tail).*kNext = slot;
  }
  bucket.tail = slot;
}

template <uint64_t Entry::* kKey, Slot Entry::* kNext>
void QueueIndex::chain(SlotChains& chains, Slot slot, size_t entries) {
  if (chains.count() < entries) {
    for (Slot moved = chains.split().head; moved != kNoSlot;) {
      Slot next = at(moved).*kNext;
      append<kKey, kNext>(chains, moved);
      moved = next;
    }
  }
  append<kKey, kNext>(chains, slot);
}

template <uint64_t Entry::* kKey, Slot Entry::* kNext>
void QueueIndex::unchain(SlotChains& chains, Slot slot) {
  Entry& entry = at(slot);
  SlotChains::Bucket& bucket = chains.bucket_of(index_bucket_hash(entry.*kKey));
  Slot before = kNoSlot;
  if constexpr (kNext == &Entry::next_by_correlation_id) {
    before = entry.previous_by_correlation_id;
    Slot next = entry.*kNext;
    if (next != kNoSlot) at(next).previous_by_correlation_id = before;
  } else {
    for (Slot s = bucket.head; s != slot; s = at(s).*kNext) before = s;
  }
  if (before == kNoSlot) {
    bucket.head = entry.*kNext;
  } else {
    at(before).*kNext = entry.*kNext;
  }
  if (bucket.tail == slot) bucket.tail = before;
}

Slot QueueIndex::insert(const Entry& entry) {
  Slot slot = free_;
  if (slot != kNoSlot) {
    free_ = at(slot).next;
  } else {
    if (used_ == chunks_.size() * kChunk) chunks_.push_back(std::make_unique<Entry[]>(kChunk));
    slot = used_++;
  }
  at(slot) = entry;
  ++count_;
  chain<&Entry::message_id_hash, &Entry::next_by_message_id>(by_message_id_, slot, count_);
  chain<&Entry::sequence, &Entry::next_by_sequence>(by_sequence_, slot, count_);
  if (entry.correlation_id_hash != 0) {
    chain<&Entry::correlation_id_hash, &Entry::next_by_correlation_id>(by_correlation_id_, slot,
                                                                       ++correlated_);
  }
  if (entry.group_id_hash != 0) {
    chain<&Entry::group_id_hash, &Entry::next_by_group_id>(by_group_id_, slot, ++grouped_);
  }
  if (entry.state == EntryState::kAvailable) link(slot);
  note_memory();
  return slot;
}

void QueueIndex::count_in(std::shared_ptr<std::atomic<uint64_t>> total) {
  MS_ASSERT(total_ == nullptr);
  total_ = std::move(total);
  note_memory();
}

void QueueIndex::note_memory() {
  if (total_ == nullptr) return;
  const size_t now = std::max(memory_bytes(), kUncountedBytes) - kUncountedBytes;
  if (now == in_total_) return;
  total_->fetch_add(now - in_total_, std::memory_order_relaxed);
  in_total_ = now;
}

// Nearly always at the tail; a unit that became durable late, or was backed out, goes before what
// came after it.
void QueueIndex::link(Slot slot) {
  Entry& entry = at(slot);
  Lane& lane = heads_[entry.lane];
  Slot before = lane.tail;
  if (before != kNoSlot && at(before).sequence > entry.sequence) {
    if (at(lane.head).sequence > entry.sequence) {
      before = kNoSlot;
    } else {
      // From both ends at once: what comes back was mostly at the head, what is late at the tail.
      Slot front = lane.head;
      for (;;) {
        before = at(before).previous;
        if (at(before).sequence < entry.sequence) break;
        Slot next = at(front).next;
        if (at(next).sequence > entry.sequence) {
          before = front;
          break;
        }
        front = next;
      }
    }
  }
  entry.previous = before;
  entry.next = before == kNoSlot ? lane.head : at(before).next;
  (before == kNoSlot ? lane.head : at(before).next) = slot;
  (entry.next == kNoSlot ? lane.tail : at(entry.next).previous) = slot;
  entry.state = EntryState::kAvailable;
  ++lane.size;
  lanes_in_use_ |= 1u << entry.lane;
}

void QueueIndex::unlink(Slot slot) {
  Entry& entry = at(slot);
  Lane& lane = heads_[entry.lane];
  (entry.previous == kNoSlot ? lane.head : at(entry.previous).next) = entry.next;
  (entry.next == kNoSlot ? lane.tail : at(entry.next).previous) = entry.previous;
  --lane.size;
  if (lane.head == kNoSlot) lanes_in_use_ &= ~(1u << entry.lane);
  entry.previous = kNoSlot;
  entry.next = kNoSlot;
}

void QueueIndex::lock(Slot slot, uint32_t owner) {
  Entry& entry = at(slot);
  if (entry.state == EntryState::kAvailable) unlink(slot);
  entry.state = EntryState::kLocked;
  entry.owner = owner;
}

void QueueIndex::leave(Slot slot) {
  Entry& entry = at(slot);
  if (entry.state == EntryState::kAvailable) unlink(slot);
  entry.state = EntryState::kLeaving;
  entry.next = kNoSlot;
}

void QueueIndex::unlock(Slot slot) {
  MS_ASSERT(at(slot).state != EntryState::kAvailable && at(slot).state != EntryState::kFree);
  link(slot);
}

void QueueIndex::erase(Slot slot) {
  Entry& entry = at(slot);
  MS_ASSERT(entry.state != EntryState::kFree);
  if (entry.state == EntryState::kAvailable) unlink(slot);
  unchain<&Entry::message_id_hash, &Entry::next_by_message_id>(by_message_id_, slot);
  unchain<&Entry::sequence, &Entry::next_by_sequence>(by_sequence_, slot);
  if (entry.correlation_id_hash != 0) {
    unchain<&Entry::correlation_id_hash, &Entry::next_by_correlation_id>(by_correlation_id_, slot);
    --correlated_;
  }
  if (entry.group_id_hash != 0) {
    unchain<&Entry::group_id_hash, &Entry::next_by_group_id>(by_group_id_, slot);
    --grouped_;
  }
  if (entry.message != nullptr) entry.message->release();
  entry = Entry();
  entry.next = free_;
  free_ = slot;
  --count_;
  // A queue that was deep once and is empty gives its memory back.
  constexpr size_t kChunksKept = 16;
  if (count_ == 0 && chunks_.size() > kChunksKept) clear();
}

void QueueIndex::clear() {
  for_each([](Slot, Entry& entry) {
    if (entry.message != nullptr) entry.message->release();
  });
  chunks_.clear();
  used_ = 0;
  free_ = kNoSlot;
  count_ = correlated_ = grouped_ = 0;
  heads_ = {};
  lanes_in_use_ = 0;
  for (SlotChains* c : {&by_message_id_, &by_correlation_id_, &by_group_id_, &by_sequence_}) {
    c->clear();
  }
  note_memory();
}

Slot QueueIndex::first_behind(int lane, Sequence after) const {
  Slot slot = heads_[lane].head;
  if (slot == kNoSlot || at(slot).sequence > after) return slot;
  Slot at_hint = find(after);
  if (at_hint != kNoSlot && at(at_hint).state == EntryState::kAvailable &&
      at(at_hint).lane == lane) {
    return at(at_hint).next;
  }
  while (slot != kNoSlot && at(slot).sequence <= after) slot = at(slot).next;
  return slot;
}

void QueueIndex::prefetch(Slot slot) const {
  const Entry& entry = at(slot);
  if (entry.message != nullptr) {
    constexpr size_t kLine = 64;
    const char* from = reinterpret_cast<const char*>(entry.message);
    for (size_t i = 0; i < sizeof(Message); i += kLine) __builtin_prefetch(from + i);
  }
  for (Slot other : {entry.previous, entry.next, entry.next_by_correlation_id,
                     entry.previous_by_correlation_id}) {
    if (other != kNoSlot) __builtin_prefetch(&at(other));
  }
  by_message_id_.prefetch(entry.message_id_hash);
  by_sequence_.prefetch(entry.sequence);
}

Slot QueueIndex::first_from(int lane, Sequence from) const {
  Slot slot = find(from);
  if (slot != kNoSlot && at(slot).state == EntryState::kAvailable && at(slot).lane == lane) {
    return slot;
  }
  return first_behind(lane, from - 1);
}

Slot QueueIndex::find(Sequence sequence) const {
  for (Slot s = first(by_sequence_, sequence); s != kNoSlot; s = at(s).next_by_sequence) {
    if (at(s).sequence == sequence) return s;
  }
  return kNoSlot;
}

}  // namespace millstream::queue
