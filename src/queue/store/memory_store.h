// A store in memory with the interface and the timing of the journal store: a unit is durable one
// worker step after append(), and until then nothing of it is. For tests of what lies above it, and
// for queue managers that keep nothing. A second store over the same image is a restart; units that
// were not durable when the first one was destroyed are lost, as in a power cut.
// Thread: as store.h says.
#pragma once
#include <deque>
#include <memory>
#include <mutex>

#include "base/executor.h"
#include "queue/store/memory_image.h"

namespace millstream::queue {

class MemoryStore final : public Store {
 public:
  // Without an image it has its own. What is there is told by recover(), before the first append().
  MemoryStore(base::WorkerFactory& workers, StoreListener& listener, MemoryImage* image = nullptr);
  ~MemoryStore() override;
  Status recover(RecoveryHandler& handler) const { return image_->replay(handler); }

  void append(const RedoUnit& unit, Pending& pending) override;
  void read(Location location, ReadDone& done) override;
  bool admit(uint64_t bytes) const override;
  StoreUsage usage() const override;
  // Relocates every message, as a checkpoint of the journal store may.
  void checkpoint() override;
  Status close() override;

  // For tests: what a full disk and a broken one do.
  void set_admits(bool admits);
  void fail();
  // Reads answer on a worker as cold ones do, instead of at once.
  void set_cold_reads(bool is_cold);

 private:
  struct Waiting {
    OwnedUnit unit;
    Pending* pending;
  };
  bool step();
  void relocate_all();
  void answer_reads();

  mutable std::mutex mutex_;
  StoreListener& listener_;
  std::unique_ptr<MemoryImage> own_image_;
  MemoryImage* image_;
  std::deque<Waiting> waiting_;
  std::deque<std::pair<StoredMessage, ReadDone*>> reads_;
  std::vector<Location> replaced_;  // readable until the next relocation
  StoreUsage usage_;
  bool admits_ = true;
  bool told_admits_ = true;
  bool is_cold_ = false;
  bool has_failed_ = false;
  bool told_failed_ = false;
  bool wants_checkpoint_ = false;
  std::unique_ptr<base::Worker> worker_;  // last: its step uses the rest
};

}  // namespace millstream::queue
