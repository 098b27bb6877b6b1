// What the queue manager asks of durable memory, and nothing else: units of redo go in and are
// durable later, in order; messages are read back by location; after a start everything live is
// told again. The journal store is the shipped one; a store in memory serves tests of the core.
//
// Invariants:
//  - Redo only. Nothing is written for a unit of work before it commits or prepares, so there is
//    nothing to undo after a crash.
//  - append() calls made under a queue's lock fix the order of journal and queue alike.
//  - Pending::durable() runs in the order of append(), and only when the unit and all before it
//    survive a power cut. Nothing may be visible to others or acknowledged before.
//  - After an I/O error the store calls StoreListener::failed() once, and no Pending ever again.
// Thread: append(), read(), admit() and usage() any. Pending and StoreListener are called on the
// store's workers, never inside append().
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace millstream::queue {

using QueueId = uint32_t;   // never used again when its queue is deleted; 0 is none
using Sequence = uint64_t;  // place of a message on its queue, from 1, never used again

// Where the store keeps a message; meaningful to the store alone. 0 is nowhere.
struct Location {
  uint64_t at = 0;
  explicit operator bool() const { return at != 0; }
  bool operator==(const Location&) const = default;
};

// What an index knows of a message without reading it. Written with the message, so that a start
// reads no bodies. Hashes are of the whole identifier, which may be longer than 24 bytes; 0 is "no
// identifier", and equal hashes still have to be compared.
struct IndexEntry {
  Sequence sequence = 0;
  uint64_t message_id_hash = 0;
  uint64_t correlation_id_hash = 0;
  uint64_t group_id_hash = 0;
  int64_t expires_gmt_ms = 0;  // 0: never
  uint32_t header_bytes = 0;
  uint32_t body_bytes = 0;
  uint32_t backout_count = 0;
  uint8_t priority = 0;  // 0..9
  uint8_t flags = 0;     // of the core
};

// Views stay valid until Pending::durable(): the store copies, or writes from where they are.
struct RedoPut {
  QueueId queue = 0;
  IndexEntry index;         // in a prepare: without sequence
  std::string_view header;  // MQMD, properties, origin bytes, as queue/core/message_codec.h writes
  std::string_view body;
};
// `location` as the index has it under the queue's lock.
struct RedoGet {
  QueueId queue = 0;
  Sequence sequence = 0;
  Location location;
};
struct RedoBackout {  // the new count of a message that was backed out
  QueueId queue = 0;
  Sequence sequence = 0;
  Location location;
  uint32_t backout_count = 0;
};
// Everything durable that is not a message: a value by kind and key. An object definition, an
// authority, a subscription, an applied script. Kinds belong to the core.
struct RedoRecord {
  uint8_t kind = 0;
  std::string_view key;
  std::string_view value;
  bool is_erased = false;
};
// All messages of the queue up to the sequence are gone, and no lower sequence is ever used; with
// `is_deleted` the queue, too.
struct RedoClear {
  QueueId queue = 0;
  Sequence upto = 0;
  bool is_deleted = false;
};

enum class RedoKind : uint8_t {
  kCommit,
  kPrepare,           // all content, under an xid
  kCommitPrepared,    // makes a prepare count; sequences of its puts in `prepared_sequences`
  kRollbackPrepared,  // drops it
  kHeuristic,         // remembers the outcome (`outcome`) until kForget
  kForget,
};

// Content applies in the order puts, gets, backouts, records, clears. A kCommitPrepared or
// kRollbackPrepared may have content of its own, which applies after the settled one's.
struct RedoUnit {
  RedoKind kind = RedoKind::kCommit;
  std::string_view xid;  // of all kinds but kCommit; at most 140 bytes
  // Of kHeuristic: the core's. Not 0 in a kCommitPrepared or kRollbackPrepared: settles the prepare
  // and remembers the outcome in one step.
  uint8_t outcome = 0;
  std::vector<RedoPut> puts;  // any number; a unit larger than a block is chunked by the store
  std::vector<RedoGet> gets;
  std::vector<RedoBackout> backouts;
  std::vector<RedoRecord> records;
  std::vector<RedoClear> clears;
  std::vector<Sequence> prepared_sequences;
};

class Pending {
 public:
  virtual ~Pending() = default;
  // One location for each put of the unit (of a kCommitPrepared: of its prepare), in order.
  virtual void durable(std::span<const Location> puts) = 0;
};

struct StoredMessage {
  std::string header;
  std::string body;
};

class ReadDone {
 public:
  virtual ~ReadDone() = default;
  virtual void read(Result<StoredMessage> message) = 0;
};

class StoreListener {
 public:
  virtual ~StoreListener() = default;
  // The checkpoint has copied a message. False: it was got or cleared meanwhile. Called without
  // any lock of the store; `from` stays readable until the next checkpoint but one begins.
  virtual bool moved(QueueId queue, Sequence sequence, Location from, Location to) = 0;
  // Fail-stop. The error names file and offset.
  virtual void failed(const base::Error& error) = 0;
  // Space went below or above the watermark: admit() has changed its mind.
  virtual void space_changed(bool admits_puts) = 0;
};

// What a start found; called in this order: records, messages (by queue, in order of sequence),
// sequences, prepared units, heuristic outcomes.
class RecoveryHandler {
 public:
  virtual ~RecoveryHandler() = default;
  virtual Status record(uint8_t kind, std::string_view key, std::string_view value) = 0;
  virtual Status message(QueueId queue, const IndexEntry& index, Location location) = 0;
  // The highest sequence ever used on the queue, also when it is empty.
  virtual Status sequence(QueueId queue, Sequence highest) = 0;
  // The unit's puts carry a location each in `puts`; headers and bodies are read through it.
  virtual Status prepared(const RedoUnit& unit, std::span<const Location> puts) = 0;
  virtual Status heuristic(std::string_view xid, uint8_t outcome) = 0;
};

struct StoreUsage {
  uint64_t journal_bytes = 0;  // between the oldest position needed and the end
  uint64_t journal_bytes_max = 0;
  uint64_t spill_bytes = 0;
  uint64_t spill_live_bytes = 0;
  uint64_t disk_free_bytes = 0;
  uint64_t blocks_written = 0;  // = flushes, for the journal
  uint64_t units_written = 0;
  uint64_t checkpoints = 0;
  bool admits_puts = true;
};

class Store {
 public:
  virtual ~Store() = default;
  // Never waits for the disk. `pending` belongs to the caller and lives until it was called.
  virtual void append(const RedoUnit& unit, Pending& pending) = 0;
  // `done` is called on a worker, or at once when the bytes are in memory.
  virtual void read(Location location, ReadDone& done) = 0;
  // Whether a put of so many bytes may enter: false below the watermarks of journal and disk. Gets,
  // commits and rollbacks never ask.
  virtual bool admit(uint64_t bytes) const = 0;
  virtual StoreUsage usage() const = 0;
  // Begins a checkpoint now.
  virtual void checkpoint() = 0;
  // Waits for everything appended, makes a checkpoint, closes. Blocks; no calls after it.
  virtual Status close() = 0;
};

}  // namespace millstream::queue
