// The background work of a store: copies survivors from the journal to spill, writes manifests,
// frees segments and files, keeps spares, and decides whether puts may enter.
//
// One checkpoint: sweep cleared messages out of spill; copy every live entry older than the last
// manifest's floor, and what is left in sparse spill files; make the copies durable; forward the
// old places and tell the listener; write prepared units again whose frames are as old; wait until
// all that was appended meanwhile is durable; write the manifest; free what neither manifest needs.
// Each step is short and holds no lock over I/O: commits go on throughout.
// Thread: step() and finish() on one worker; request(), admits() and usage() any.
#pragma once
#include <atomic>
#include <deque>
#include <memory>
#include <vector>

#include "queue/store/entry_reader.h"
#include "queue/store/journal_writer.h"
#include "queue/store/recovery.h"
#include "queue/store/spill_writer.h"

namespace millstream::queue::store {

class Checkpoint {
 public:
  Checkpoint(StoreShared& shared, JournalWriter& writer);
  ~Checkpoint();

  // After recovery and the new epoch's first block; writes the first manifest of a new store.
  Status start(Recovered recovered);
  // True: there is more to do at once.
  bool step();
  void request() { is_requested_ = true; }
  // Runs what is needed for a last manifest; no worker runs any more.
  Status finish();
  bool admits(uint64_t bytes) const;
  StoreUsage usage() const;

 private:
  enum class Phase : uint8_t { kIdle, kSweep, kCollect, kCopy, kSwitch, kRelog, kWait, kManifest };
  struct Move {
    QueueId queue = 0;  // 0: a record
    Sequence sequence = 0;
    Location from, to;
    uint32_t backout_count = 0;
    std::string key;  // of a record
  };
  class Relog;
  struct Removal {
    uint32_t number = 0;
    uint64_t generation = 0;  // to be written before
    uint64_t barrier = 0;     // units to be durable before: they may name a place in it
  };

  Status run_phase(bool* more);
  bool is_due() const;
  void begin();
  Status sweep();
  void collect();
  bool knows_places();
  void collect_table(JournalTable& table);
  void collect_sparse_spill();
  Status copy(bool* is_done);
  Status copy_one(Location location);
  void switch_some(bool* is_done);
  void switch_one(const Move& move);
  Status relog();
  bool has_waited();
  Status write(bool* is_done);
  Manifest snapshot();
  bool has_old_entries();
  bool has_old_prepares();
  void discount_relogs();
  void after_manifest(const Manifest& manifest);
  void retire_spill();
  void recycle();
  void abandon();
  Status maintain(bool* more);
  void wait_idle();
  void judge_space();

  StoreShared& shared_;
  JournalWriter& writer_;
  EntryReader reader_;
  SpillFiles files_;
  SpillWriter messages_, records_;

  Phase phase_ = Phase::kIdle;
  std::atomic<bool> is_requested_{false};
  uint64_t generation_ = 0;
  int slot_ = 0;        // of the newest manifest
  JournalPoint floor_;  // of the newest manifest: where the next one's replay begins
  JournalPoint start_, other_start_;
  uint32_t recycle_to_ = 0;  // segments below may go
  std::deque<Location> work_;
  std::vector<Move> moves_;
  size_t switched_ = 0;
  std::vector<std::unique_ptr<Relog>> relogs_;
  std::atomic<uint32_t> relogs_open_{0};
  uint64_t known_after_ = 0;  // units told
  uint64_t wait_for_ = 0;
  uint64_t appended_before_ = 0, relogged_ = 0, relogged_bytes_ = 0;
  uint64_t barrier_ = 0, barrier_before_ = 0;  // units appended when places were forwarded last
  std::vector<std::pair<QueueId, Position>> swept_;
  std::vector<Removal> removals_;
  int64_t retry_at_ns_ = 0;
  int64_t last_begin_ns_ = 0;
  std::atomic<bool> admits_{true};
  bool told_admits_ = true;
};

}  // namespace millstream::queue::store
