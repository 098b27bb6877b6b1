// Tells the core which units are durable, in the order of the journal. A block of few units is told
// by the log worker, which has them at hand. A block of many would keep the disk idle meanwhile: it
// is handed to a worker of its own, and so is what comes before that one has caught up. Sessions
// are answered some units at a time, so that they go on while the rest is told.
//
// After a failure nothing is told any more; whoever reports it holds `mutex()`, and so waits for
// what is being told.
// Thread: tell() the log worker; step() the other one; finish() when neither runs.
#pragma once
#include <deque>
#include <mutex>
#include <vector>

#include "base/executor.h"
#include "base/post_batch.h"
#include "queue/store/shared.h"

namespace millstream::queue::store {

class Teller {
 public:
  // The units of a block: who is told, and where the locations of its puts end.
  struct Told {
    struct Unit {
      Pending* pending = nullptr;
      uint32_t locations_end = 0;
    };
    std::vector<Unit> units;
    std::vector<Location> locations;
  };

  explicit Teller(StoreShared& shared) : shared_(shared) {}
  void set_worker(base::Worker* worker) { worker_ = worker; }
  // Takes what is in it, and leaves room for the next block.
  void tell(Told& told);
  bool step();
  void finish();

 private:
  void tell_now(Told& told);

  StoreShared& shared_;
  base::Worker* worker_ = nullptr;
  base::PostBatch answers_;  // of whoever tells: one at a time
  std::mutex mutex_;         // guards the rest
  std::deque<Told> waiting_;
  std::vector<Told> spare_;
  bool is_telling_ = false;  // the worker, of what it has taken out
};

}  // namespace millstream::queue::store
