#include "queue/store/tables.h"

#include <algorithm>

#include "base/assert.h"

namespace millstream::queue::store {

uint32_t JournalTable::add(const EntryPlace& place, QueueId queue, Sequence sequence,
                           uint32_t flags) {
  uint64_t at = 0;
  if (place.chunks) {
    at = bigs.size();
    bigs.push_back({place.chunks, place.offset});
    flags |= JournalSlot::kBig;
  } else {
    MS_ASSERT(place.segment == segment);
    MS_ASSERT(place.offset % 8 == 0);
    at = place.offset / 8;
  }
  MS_CHECK(at <= JournalSlot::kAtMask);
  slots.push_back({static_cast<uint32_t>(at) | flags, queue, sequence});
  ++live;
  return static_cast<uint32_t>(slots.size() - 1);
}

EntryPlace JournalTable::place(uint32_t slot) const {
  MS_CHECK(slot < slots.size());
  const uint32_t at = slots[slot].at;
  if (at & JournalSlot::kBig) {
    const Big& big = bigs[at & JournalSlot::kAtMask];
    return {segment, big.offset, big.chunks};
  }
  return {segment, uint64_t{at & JournalSlot::kAtMask} * 8, nullptr};
}

void JournalTable::release(uint32_t slot) {
  MS_CHECK(slot < slots.size());
  JournalSlot& s = slots[slot];
  if (!(s.at & JournalSlot::kLive)) return;
  s.at &= ~JournalSlot::kLive;
  MS_CHECK(live > 0);
  --live;
}

uint32_t SpillTable::add(uint64_t offset) {
  MS_ASSERT(offset % 8 == 0);
  MS_CHECK(offset / 8 <= UINT32_MAX);
  const auto slot = static_cast<uint32_t>(at.size());
  at.push_back(static_cast<uint32_t>(offset / 8));
  if (slot / 64 >= bits.size()) bits.push_back(0);
  bits[slot / 64] |= 1ull << (slot % 64);
  ++live;
  return slot;
}

uint64_t SpillTable::entry_bytes(uint32_t slot) const {
  MS_ASSERT(slot < at.size());
  const uint64_t next = slot + 1 < at.size() ? uint64_t{at[slot + 1]} * 8 : used_bytes;
  const uint64_t from = uint64_t{at[slot]} * 8;
  return next > from ? next - from : 0;
}

void SpillTable::release(uint32_t slot) {
  if (!is_live(slot)) return;
  bits[slot / 64] &= ~(1ull << (slot % 64));
  MS_CHECK(live > 0);
  --live;
  live_bytes -= std::min(live_bytes, entry_bytes(slot));
}

void SpillTable::extend_range(QueueId queue, Sequence sequence) {
  const auto found = std::lower_bound(ranges.begin(), ranges.end(), queue,
                                      [](const Range& r, QueueId q) { return r.queue < q; });
  if (found == ranges.end() || found->queue != queue) {
    ranges.insert(found, {queue, sequence, sequence});
    return;
  }
  found->lowest = std::min(found->lowest, sequence);
  found->highest = std::max(found->highest, sequence);
}

}  // namespace millstream::queue::store
