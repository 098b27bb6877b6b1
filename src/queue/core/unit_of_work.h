// What a connection has done since its last commit: puts that nobody sees yet, gets that nobody
// else sees any more. Redo only: nothing of it is in the store before commit or prepare.
// A commit is a CommitOperation: it fixes the order on all queues under their locks, hands the redo
// to the store, and makes everything visible when that is durable; with nothing persistent in it
// that is at once.
// Thread: a unit belongs to its connection's executor; a CommitOperation to whoever has it.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "base/executor.h"
#include "queue/core/message.h"
#include "queue/core/outcome.h"
#include "queue/core/queue.h"
#include "queue/store/store.h"

namespace millstream::queue {

class QueueManager;

struct UnitPut {
  QueueRef queue;
  MessageRef message;
  IndexEntry index;  // its sequence is given at commit
  GroupPlace place;
  bool is_stored = false;  // by append(); then durable() has a location for it
  Location location;       // of a prepared one; its message may be null then
};

struct UnitGet {
  QueueRef queue;
  Slot slot = kNoSlot;
  Sequence sequence = 0;
  bool is_persistent = false;
  bool skips_backout = false;  // MQGMO_MARK_SKIP_BACKOUT
};

struct UnitRecord {
  uint8_t kind = 0;
  std::string key;
  std::string value;
  bool is_erased = false;
};

struct UnitOfWork {
  uint32_t owner = 0;  // of the locks of its gets
  std::vector<UnitPut> puts;
  std::vector<UnitGet> gets;
  std::vector<UnitRecord> records;
  std::vector<std::pair<std::string, MessageRef>> retained;  // by topic
  std::vector<DirectDelivery> direct;
  std::vector<RedoClear> clears;
  uint64_t bytes = 0;
  int32_t rollback_only = 0;  // the reason, when something in it failed for good

  size_t count() const { return puts.size() + gets.size(); }
  bool empty() const {
    return puts.empty() && gets.empty() && records.empty() && clears.empty() && retained.empty() &&
           direct.empty();
  }
  bool is_persistent() const;
};

// The descriptor's fields as the store's index wants them. `message` is complete.
IndexEntry make_index_entry(const Message& message);
Entry make_entry(const IndexEntry& index, Message* message, Location location, bool is_fifo);

// The value of a record of a retained publication.
Result<MessageRef> decode_retained(std::string_view value);

class CommitOperation final : public Pending {
 public:
  CommitOperation(QueueManager& manager, UnitOfWork unit, base::Executor* executor, Done done);
  // Returns the outcome, or pending; then `done` is called on the executor. The object destroys
  // itself in either case.
  Outcome run(RedoKind kind = RedoKind::kCommit, std::string_view xid = {});
  void durable(std::span<const Location> puts) override;
  // Of a prepare: gets the unit back when it is durable, before `done`. Of another record of a
  // branch: called then, with no unit.
  void set_prepared(std::function<void(UnitOfWork)> prepared) { prepared_ = std::move(prepared); }
  void set_heuristic(uint8_t outcome) { redo_.outcome = outcome; }
  // The store has failed: nobody knows what became of it.
  void abandon();

 private:
  void lock(LockedQueues& queues) const;
  void build(RedoKind kind);
  void build_content();
  void record_retained();
  static UnitRecord retained_record(const std::string& topic, const Message& message);
  bool is_stored(const UnitPut& put) const;
  void publish(std::span<const Location> locations);
  void finish(const Outcome& outcome);

  QueueManager& manager_;
  UnitOfWork unit_;
  base::Executor* executor_;
  Done done_;
  std::function<void(UnitOfWork)> prepared_;
  RedoUnit redo_;
  std::string xid_;
  std::vector<std::string> headers_;
  Effects effects_;
};

}  // namespace millstream::queue
