// What the store knows in memory of each file: which entries are alive, and where dead-looking ones
// went. 16 bytes a message in the journal, 4 bytes and a bit in spill.
//
// A Location is a file's number in its order of use and a slot, the number of the entry in it. An
// entry that was copied keeps a forward to its copy, so that units which name the old place still
// find it; forwards go when their file does.
// Thread: under the store's state mutex.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "io/disk.h"
#include "queue/store/format.h"

namespace millstream::queue::store {

inline constexpr uint64_t kSpillLocation = 1ull << 63;

constexpr Location make_location(bool is_spill, uint32_t file, uint32_t slot) {
  return Location{(is_spill ? kSpillLocation : 0) | static_cast<uint64_t>(file) << 32 | slot};
}
constexpr bool is_spill(Location l) { return l.at & kSpillLocation; }
constexpr uint32_t location_file(Location l) {
  return static_cast<uint32_t>((l.at & ~kSpillLocation) >> 32);
}
constexpr uint32_t location_slot(Location l) { return static_cast<uint32_t>(l.at); }

// The pieces of a unit that was written as chunks.
struct ChunkList {
  struct Piece {
    uint32_t segment = 0;
    uint32_t bytes = 0;
    uint64_t offset = 0;  // of the data within the segment
  };
  std::vector<Piece> pieces;
  uint64_t image_bytes = 0;
};

// Where an entry lies: in one piece, or within the image of a chunked unit (the slots of the unit
// share its list).
struct EntryPlace {
  uint32_t segment = 0;
  uint64_t offset = 0;
  std::shared_ptr<const ChunkList> chunks;
};

struct JournalSlot {
  static constexpr uint32_t kLive = 1u << 31;   // counts
  static constexpr uint32_t kMoved = 1u << 30;  // `sequence` is the forward
  static constexpr uint32_t kBig = 1u << 29;    // the rest of `at` is a number in `bigs`
  static constexpr uint32_t kHeld = 1u << 28;   // content of a prepare, not of a queue
  static constexpr uint32_t kAtMask = kHeld - 1;
  uint32_t at = 0;    // offset / 8 and the bits above
  QueueId queue = 0;  // 0: a record
  uint64_t sequence = 0;
};

struct JournalTable {
  struct Big {
    std::shared_ptr<const ChunkList> chunks;
    uint64_t offset = 0;
  };
  uint32_t segment = 0;
  uint32_t live = 0;
  uint32_t pins = 0;
  std::vector<JournalSlot> slots;
  std::vector<Big> bigs;

  uint32_t add(const EntryPlace& place, QueueId queue, Sequence sequence, uint32_t flags);
  EntryPlace place(uint32_t slot) const;
  void release(uint32_t slot);
};

struct SpillSection {
  uint64_t index_offset = 0;  // of its first index block
  uint64_t index_bytes = 0;   // padded, all blocks
  uint32_t rows = 0;
};

// One file of survivors. Its sections are immutable; new ones are appended until it is full.
struct SpillTable {
  struct Range {
    QueueId queue = 0;
    Sequence lowest = 0, highest = 0;
  };
  uint32_t number = 0;
  SpillKind kind = SpillKind::kMessages;
  uint64_t incarnation = 0;
  uint64_t file_bytes = 0;
  uint64_t used_bytes = 0;
  uint64_t data_bytes = 0;  // of all entries
  uint64_t live_bytes = 0;  // about
  uint32_t live = 0;
  uint32_t pins = 0;
  bool is_open = false;     // the next section goes here
  uint64_t retired_at = 0;  // generation of the first manifest without it; 0: in use
  std::vector<SpillSection> sections;
  std::vector<uint32_t> at;    // by slot: offset / 8
  std::vector<uint64_t> bits;  // by slot: alive
  std::vector<Range> ranges;   // sorted by queue
  std::unordered_map<uint32_t, Location> forwards;
  std::shared_ptr<io::DiskFile> file;  // shared with reads in flight

  bool is_live(uint32_t slot) const {
    return slot / 64 < bits.size() && (bits[slot / 64] >> (slot % 64) & 1);
  }
  uint32_t add(uint64_t offset);
  void release(uint32_t slot);
  uint64_t entry_bytes(uint32_t slot) const;
  void extend_range(QueueId queue, Sequence sequence);
};

}  // namespace millstream::queue::store
