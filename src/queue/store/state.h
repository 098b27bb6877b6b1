// The store's memory of what is durable: which entries of which files are alive, definitions by
// key, prepared units, outcomes, the highest sequence of each queue. Units are applied here in the
// order of the journal, block by block, by the log worker and by recovery alike; a manifest is a
// snapshot of it between two blocks.
//
// Thread: everything under `mutex`, which is never held over I/O or a call of the listener.
#pragma once
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "queue/store/owned_unit.h"
#include "queue/store/tables.h"
#include "queue/store/unit_codec.h"

namespace millstream::queue::store {

struct MessageKey {
  QueueId queue = 0;
  Sequence sequence = 0;
  bool operator==(const MessageKey&) const = default;
};
struct MessageKeyHash {
  size_t operator()(const MessageKey& k) const {
    return (k.sequence * 0x9E3779B97F4A7C15ull) ^ (uint64_t{k.queue} * 0xC2B2AE3D27D4EB4Full);
  }
};

struct ClearMark {
  Sequence upto = 0;
  bool is_deleted = false;
  Position at;  // of the block that says so
};

struct PreparedUnit {
  OwnedUnit unit;  // without headers and bodies
  std::vector<Location> puts;
  std::vector<Location> records;
  Position at;
};

// Records that a prepared unit erased when it was settled. A replay that begins between its prepare
// and its outcome has to repeat that without the prepare.
struct LateErase {
  Position settled_at, prepared_at;
  std::string xid;
  std::vector<std::string> keys;
};

// Recovery knows messages by queue and sequence, not by the locations of a former process.
class ReplaySink {
 public:
  virtual ~ReplaySink() = default;
  virtual bool put(QueueId queue, const IndexEntry& index, Location location) = 0;
  virtual void get(QueueId queue, Sequence sequence) = 0;
  // False: the message is not one of the journal's.
  virtual bool backout(QueueId queue, Sequence sequence, uint32_t count) = 0;
  virtual void clear(QueueId queue, Sequence upto, bool is_deleted) = 0;
  virtual void record(const std::string& key, std::string_view value, bool is_erased) = 0;
};

class StoreState {
 public:
  std::mutex mutex;

  std::deque<JournalTable> journal;                   // by segment, without gaps
  std::map<uint32_t, SpillTable> spill;               // by number
  std::unordered_map<std::string, Location> records;  // by kind and key
  std::unordered_map<QueueId, Sequence> highest;
  std::map<std::string, PreparedUnit, std::less<>> prepared;
  std::map<std::string, uint8_t, std::less<>> heuristics;
  std::unordered_map<MessageKey, uint32_t, MessageKeyHash> backouts;  // newer than the entry says
  std::unordered_map<QueueId, ClearMark> cleared;
  std::vector<LateErase> late_erases;
  Position applied_end;        // page after the last applied block
  uint64_t next_sequence = 1;  // of the next block
  Position floor;  // where a replay that skips all applied units may begin: applied_end,
  uint64_t floor_sequence = 1;  // or the first chunk of a unit whose end is not written yet
  uint64_t units_applied = 0;   // in this process
  ReplaySink* replay = nullptr;
  Position replay_covered;  // of replay: units before it are in the manifest already
  std::unordered_set<std::string> replay_spilled;  // keys of records that the manifest has in spill

  // Opens the table of a segment, which follows the last one.
  JournalTable& open_segment(uint32_t segment);
  JournalTable* find_segment(uint32_t segment);
  SpillTable* find_spill(uint32_t number);

  // `image` lies at `place`; `block` is where its last byte's block begins. False: it cannot be
  // (only in replay: the journal contradicts itself). Locations for Pending::durable() go to `out`.
  bool apply(const UnitView& unit, const EntryPlace& place, Position block,
             std::vector<Location>* out);

  // Follows forwards to where the entry is now.
  Location resolve(Location location) const;
  bool is_live(Location location) const;
  void kill(Location location);
  // `from` now lives at `to`; the slot at `to` is alive iff `from` was.
  void forward(Location from, Location to);
  bool is_cleared(QueueId queue, Sequence sequence) const;
  // A file goes: whoever names places in it gets their final ones.
  void drop_forwards_through(bool is_spill_file, uint32_t number);

  static std::string record_key(uint8_t kind, std::string_view key);

 private:
  Location place_entry(const EntryPlace& place, uint64_t offset, QueueId queue, Sequence sequence,
                       uint32_t flags);
  bool message_arrives(QueueId queue, const IndexEntry& index, Location location);
  void message_leaves(QueueId queue, Sequence sequence, Location location);
  void count_backout(QueueId queue, Sequence sequence, uint32_t count, Position block);
  void set_record(const RedoRecord& record, Location location, Position block);
  bool settle_unknown(const UnitView& unit, Position block);
  void clear_queue(QueueId queue, Sequence upto, bool is_deleted, Position block);
  void apply_content(const UnitView& unit, const EntryPlace& place, Position block);
  bool prepare(const UnitView& unit, const EntryPlace& place, Position block,
               std::vector<Location>* out);
  bool settle(const UnitView& unit, Position block, std::vector<Location>* out);
  void unhold(Location location, Sequence sequence);
};

}  // namespace millstream::queue::store
