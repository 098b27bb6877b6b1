// What the parts of an open journal store share. Owned by JournalStore; outlives its workers.
// Thread: any, as each member says.
#pragma once
#include <atomic>
#include <mutex>

#include "base/clock.h"
#include "base/executor.h"
#include "base/random.h"
#include "io/disk.h"
#include "queue/store/options.h"
#include "queue/store/segment_files.h"
#include "queue/store/state.h"

namespace millstream::queue::store {

struct StoreShared {
  StoreShared(const StoreOptions& o, io::Disk& d, const base::Clock& c, base::Random& r,
              StoreListener& l)
      : options(o), disk(d), clock(c), random(r), listener(l), segments(d, options) {}

  // Fail-stop: the first error is told, everything stops, nothing is retried.
  void fail(const Status& status);
  // An error of the store's with its place, from one of the disk's.
  static Status failure(const std::string& file, uint64_t offset, Status cause);

  const StoreOptions options;
  io::Disk& disk;
  const base::Clock& clock;
  base::Random& random;
  StoreListener& listener;
  StoreState state;
  SegmentFiles segments;
  uint32_t epoch = 0;  // constant once open
  uint64_t key = 0;    // too
  std::atomic<bool> has_failed{false};
  std::atomic<bool> lacks_space{false};  // a spare could not be made
  std::atomic<bool> wants_checkpoint{false};
  std::atomic<uint64_t> disk_free{UINT64_MAX};
  std::atomic<uint64_t> appended{0};  // units given to append()
  std::atomic<uint64_t> units_durable{0};
  std::atomic<uint64_t> blocks_written{0};
  std::atomic<uint64_t> checkpoints{0};
  std::atomic<uint64_t> bytes_since_checkpoint{0};
  std::atomic<uint64_t> wake_when_durable{UINT64_MAX};  // units; for the checkpoint that waits

  // Held while units are told durable, and while a failure is: one never comes within the other.
  std::mutex tell_mutex;

  // Workers come and go while others call these.
  void set_workers(base::Worker* log, base::Worker* checkpoint);
  void wake_log();
  void wake_checkpoint();
  void wake_checkpoint_at(int64_t deadline_ns);

 private:
  std::mutex wake_mutex_;
  base::Worker* log_worker_ = nullptr;
  base::Worker* checkpoint_worker_ = nullptr;
};

}  // namespace millstream::queue::store
