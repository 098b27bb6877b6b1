#include "queue/store/memory_store.h"

#include <utility>

#include "base/assert.h"
#include "queue/store/errors_gen.h"

namespace millstream::queue {

MemoryStore::MemoryStore(base::WorkerFactory& workers, StoreListener& listener, MemoryImage* image)
    : listener_(listener),
      own_image_(image ? nullptr : std::make_unique<MemoryImage>()),
      image_(image ? image : own_image_.get()) {
  worker_ = workers.start("store", [this] { return step(); });
}

MemoryStore::~MemoryStore() { worker_.reset(); }

void MemoryStore::append(const RedoUnit& unit, Pending& pending) {
  {
    std::lock_guard lock(mutex_);
    if (has_failed_) return;
    waiting_.push_back({OwnedUnit(unit), &pending});
  }
  worker_->wake();
}

void MemoryStore::read(Location location, ReadDone& done) {
  StoredMessage message;
  {
    std::lock_guard lock(mutex_);
    const auto found = image_->bodies.find(location.at);
    MS_CHECK(found != image_->bodies.end());
    message = found->second;
    if (is_cold_) {
      reads_.emplace_back(std::move(message), &done);
      worker_->wake();
      return;
    }
  }
  done.read(std::move(message));
}

bool MemoryStore::admit(uint64_t) const {
  std::lock_guard lock(mutex_);
  return admits_;
}

StoreUsage MemoryStore::usage() const {
  std::lock_guard lock(mutex_);
  StoreUsage usage = usage_;
  usage.admits_puts = admits_;
  return usage;
}

void MemoryStore::checkpoint() {
  {
    std::lock_guard lock(mutex_);
    wants_checkpoint_ = true;
  }
  worker_->wake();
}

Status MemoryStore::close() {
  worker_.reset();
  while (step()) {
  }
  return {};
}

void MemoryStore::set_admits(bool admits) {
  {
    std::lock_guard lock(mutex_);
    admits_ = admits;
  }
  worker_->wake();
}

void MemoryStore::fail() {
  {
    std::lock_guard lock(mutex_);
    has_failed_ = true;
    waiting_.clear();
  }
  worker_->wake();
}

void MemoryStore::set_cold_reads(bool is_cold) {
  std::lock_guard lock(mutex_);
  is_cold_ = is_cold;
}

void MemoryStore::answer_reads() {
  for (;;) {
    std::pair<StoredMessage, ReadDone*> next;
    {
      std::lock_guard lock(mutex_);
      if (reads_.empty()) return;
      next = std::move(reads_.front());
      reads_.pop_front();
    }
    next.second->read(std::move(next.first));
  }
}

// Copies under new locations; the old ones stay readable until the listener has answered.
void MemoryStore::relocate_all() {
  struct Move {
    QueueId queue;
    Sequence sequence;
    Location from, to;
  };
  std::vector<Move> moves;
  {
    std::lock_guard lock(mutex_);
    for (const Location gone : replaced_) image_->bodies.erase(gone.at);
    replaced_.clear();
    for (const auto& [queue, messages] : image_->queues) {
      for (const auto& [sequence, message] : messages) {
        const Location to{++image_->last_location};
        image_->bodies[to.at] = image_->bodies[message.location.at];
        moves.push_back({queue, sequence, message.location, to});
      }
    }
    ++usage_.checkpoints;
  }
  for (const Move& move : moves) {
    const bool has_moved = listener_.moved(move.queue, move.sequence, move.from, move.to);
    std::lock_guard lock(mutex_);
    if (has_moved) {
      replaced_.push_back(move.from);
      image_->queues[move.queue][move.sequence].location = move.to;
    } else {
      image_->bodies.erase(move.to.at);
    }
  }
}

bool MemoryStore::step() {
  std::deque<Waiting> batch;
  std::vector<std::vector<Location>> locations;
  bool tells_failed = false, tells_space = false, admits = true, relocates = false;
  {
    std::lock_guard lock(mutex_);
    batch.swap(waiting_);
    for (const Waiting& entry : batch) {
      locations.push_back(image_->apply(entry.unit.unit()));
      ++usage_.units_written;
    }
    if (!batch.empty()) ++usage_.blocks_written;
    tells_failed = has_failed_ && !std::exchange(told_failed_, true);
    tells_space = std::exchange(told_admits_, admits_) != admits_;
    admits = admits_;
    relocates = std::exchange(wants_checkpoint_, false);
  }
  size_t i = 0;
  for (const Waiting& entry : batch) entry.pending->durable(locations[i++]);
  answer_reads();
  if (relocates) relocate_all();
  if (tells_space) listener_.space_changed(admits);
  if (tells_failed) {
    const Status failure =
        base::make_error(store::errors::kStoreFailed, {"memory", 0, "a test says so"});
    listener_.failed(failure.error());
  }
  return !batch.empty();
}

}  // namespace millstream::queue
