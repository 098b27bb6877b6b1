// What a queue knows of its messages without reading them: one entry of 96 bytes a message, linked
// in delivery order into one of ten lanes (the priorities; a FIFO queue uses one lane), and hashed
// by message, correlation and group identifier and by sequence.
//
// An entry that is locked (got under syncpoint, on its way to a waiter, browsed with lock) leaves
// its lane, so that a get at the head never walks over locked ones, and goes back to its place by
// sequence. It stays in the hashes.
// The tables grow by one bucket at a time: no put ever pays for rehashing a million entries.
// Thread: under the lock of its queue. References to entries live until the entry is erased.
#pragma once
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "queue/core/message.h"
#include "queue/store/store.h"

namespace millstream::queue {

using Slot = uint32_t;
inline constexpr Slot kNoSlot = UINT32_MAX;
inline constexpr int kLanes = 10;

enum class EntryState : uint8_t {
  kFree,
  kAvailable,  // in its lane
  kLocked,     // by the unit of work, operation or handle in `owner`
  kLeaving,    // its get is on the way to the store; nobody sees it any more
  kDelayed,    // not due yet
};

// Bits of IndexEntry::flags, as they are stored.
enum EntryFlag : uint8_t {
  kEntryPersistent = 1,
  kEntryReportsExpiry = 2,
  kEntryDelayed = 4,     // the header says until when
  kEntryGrouped = 8,     // in a group, or a segment
  kEntryRecovered = 16,  // in memory only: found by an unclean start, possibly delivered before
  kEntryReportsCod = 32,
  kEntryOtherCid = 64,  // its JMS correlation id is not the descriptor's
};

struct Entry {
  Sequence sequence = 0;
  uint64_t message_id_hash = 0;
  uint64_t correlation_id_hash = 0;
  uint64_t group_id_hash = 0;
  int64_t expires_gmt_ms = 0;
  Location location;
  Message* message = nullptr;  // one count is the entry's; null: it has to be read
  Slot previous = kNoSlot;     // in the lane
  union {
    Slot next = kNoSlot;
    uint32_t owner;  // when kLocked
  };
  Slot next_by_message_id = kNoSlot;
  Slot next_by_correlation_id = kNoSlot;
  Slot previous_by_correlation_id = kNoSlot;
  Slot next_by_group_id = kNoSlot;
  Slot next_by_sequence = kNoSlot;
  uint32_t body_bytes = 0;
  uint32_t backout_count = 0;
  uint8_t lane = 0;
  uint8_t priority = 0;
  EntryState state = EntryState::kFree;
  uint8_t flags = 0;

  bool is_persistent() const { return (flags & kEntryPersistent) != 0; }
};
static_assert(sizeof(Entry) <= 104);

// Buckets of chains through the entries, in the order of insertion. Linear hashing.
class SlotChains {
 public:
  struct Bucket {
    Slot head = kNoSlot;
    Slot tail = kNoSlot;
  };
  Bucket& bucket_of(uint64_t hash) {
    size_t at = hash & (base_ * 2 - 1);
    if (at >= count_) at &= base_ - 1;
    return at_index(at);
  }
  const Bucket* find(uint64_t hash) const {
    if (count_ == 0) return nullptr;
    return &const_cast<SlotChains*>(this)->bucket_of(hash);
  }
  size_t count() const { return count_; }
  size_t memory_bytes() const { return chunks_.size() * kChunk * sizeof(Bucket); }
  void prefetch(uint64_t hash) const {
    if (count_ != 0) __builtin_prefetch(find(hash));
  }
  // Makes one more bucket; returns the one whose entries are to be distributed anew.
  Bucket split();
  void clear();

 private:
  static constexpr size_t kChunk = 64;
  Bucket& at_index(size_t at) { return chunks_[at / kChunk][at % kChunk]; }
  std::vector<std::unique_ptr<Bucket[]>> chunks_;
  size_t count_ = 0;
  size_t base_ = 1;  // a power of two; count_ is between base_ and twice that
};

class QueueIndex {
 public:
  QueueIndex() = default;
  ~QueueIndex() { clear(); }
  QueueIndex(const QueueIndex&) = delete;
  QueueIndex& operator=(const QueueIndex&) = delete;

  // Takes over the count of `entry.message`. State kAvailable: linked into its lane by sequence.
  Slot insert(const Entry& entry);
  Entry& at(Slot slot) { return chunks_[slot / kChunk][slot % kChunk]; }
  const Entry& at(Slot slot) const { return chunks_[slot / kChunk][slot % kChunk]; }
  void lock(Slot slot, uint32_t owner);  // leaves the lane
  void leave(Slot slot);                 // the same, for good: kLeaving
  void unlock(Slot slot);                // back to its place
  void erase(Slot slot);
  void clear();

  Slot slots() const { return used_; }    // places, free ones included
  size_t size() const { return count_; }  // in every state
  Slot head(int lane) const { return heads_[lane].head; }
  Slot tail(int lane) const { return heads_[lane].tail; }
  uint32_t lane_size(int lane) const { return heads_[lane].size; }
  // The first available entry of the lane behind `after`.
  Slot first_behind(int lane, Sequence after) const;
  // The same, with `from` itself if it is there.
  Slot first_from(int lane, Sequence from) const;
  uint32_t lanes_in_use() const { return lanes_in_use_; }  // a bit each
  Slot find(Sequence sequence) const;
  // What erase() and a reader of the message will touch, all at once instead of one after another.
  void prefetch(Slot slot) const;
  // Chains; go on with the entry's next_by_... and skip what has another hash.
  Slot first_by_message_id(uint64_t hash) const { return first(by_message_id_, hash); }
  Slot first_by_correlation_id(uint64_t hash) const { return first(by_correlation_id_, hash); }
  Slot first_by_group_id(uint64_t hash) const { return first(by_group_id_, hash); }
  size_t memory_bytes() const {
    return chunks_.size() * kChunk * sizeof(Entry) + by_message_id_.memory_bytes() +
           by_correlation_id_.memory_bytes() + by_group_id_.memory_bytes() +
           by_sequence_.memory_bytes();
  }
  // What is beyond this size is part of `total` from now on, which the queues of a manager share;
  // they may outlive it. An empty queue keeps no more than this.
  static constexpr size_t kUncountedBytes = 64 << 10;
  void count_in(std::shared_ptr<std::atomic<uint64_t>> total);

  // f(slot, entry) for every entry in any state.
  template <typename F>
  void for_each(F&& f) {
    for (Slot slot = 0; slot < used_; ++slot) {
      if (at(slot).state != EntryState::kFree) f(slot, at(slot));
    }
  }
  uint32_t count_of(EntryState state) const {
    uint32_t count = 0;
    for (Slot slot = 0; slot < used_; ++slot) count += at(slot).state == state;
    return count;
  }

 private:
  static constexpr Slot kChunk = 32;
  struct Lane {
    Slot head = kNoSlot;
    Slot tail = kNoSlot;
    uint32_t size = 0;
  };
  template <uint64_t Entry::* kKey, Slot Entry::* kNext>
  void chain(SlotChains& chains, Slot slot, size_t entries);
  template <uint64_t Entry::* kKey, Slot Entry::* kNext>
  void append(SlotChains& chains, Slot slot);
  template <uint64_t Entry::* kKey, Slot Entry::* kNext>
  void unchain(SlotChains& chains, Slot slot);
  static Slot first(const SlotChains& chains, uint64_t hash) {
    const SlotChains::Bucket* bucket = chains.find(hash);
    return bucket == nullptr ? kNoSlot : bucket->head;
  }
  void note_memory();
  void link(Slot slot);
  void unlink(Slot slot);

  std::vector<std::unique_ptr<Entry[]>> chunks_;
  Slot used_ = 0;
  Slot free_ = kNoSlot;  // chained by next
  size_t count_ = 0;
  std::array<Lane, kLanes> heads_;
  uint32_t lanes_in_use_ = 0;
  SlotChains by_message_id_;
  SlotChains by_correlation_id_;
  SlotChains by_group_id_;
  SlotChains by_sequence_;
  size_t correlated_ = 0;
  size_t grouped_ = 0;
  std::shared_ptr<std::atomic<uint64_t>> total_;
  size_t in_total_ = 0;
};

}  // namespace millstream::queue
