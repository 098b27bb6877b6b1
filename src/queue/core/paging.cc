#include "queue/core/paging.h"

#include "queue/core/message_codec.h"
#include "queue/core/queue_manager.h"

namespace millstream::queue {

Paging::Paging(QueueManager& manager, Overflow& overflow, base::WorkerFactory& workers)
    : manager_(manager), overflow_(overflow) {
  worker_ = workers.start("mq-paging", [this] { return step(); });
}

Paging::~Paging() { worker_ = nullptr; }

void Paging::page_out(QueueRef queue, Sequence sequence, MessageRef message) {
  {
    std::lock_guard lock(mutex_);
    jobs_.push_back({std::move(queue), sequence, std::move(message), {}, nullptr});
  }
  worker_->wake();
}

void Paging::read(Location place, ReadDone& done) {
  {
    std::lock_guard lock(mutex_);
    jobs_.push_front({nullptr, 0, nullptr, place, &done});  // somebody waits for it
  }
  worker_->wake();
}

void Paging::free(Location location) {
  OverflowPlace place;
  {
    std::lock_guard lock(mutex_);
    place = places_[location.at - 1].first;
    free_places_.push_back(location.at);
    --out_;
  }
  overflow_.free(place);
}

uint64_t Paging::messages_out() const {
  std::lock_guard lock(mutex_);
  return out_;
}

bool Paging::step() {
  Job job;
  {
    std::lock_guard lock(mutex_);
    if (jobs_.empty()) return false;
    job = std::move(jobs_.front());
    jobs_.pop_front();
  }
  if (job.done != nullptr) {
    run_read(job);
  } else {
    run_out(job);
  }
  return true;
}

void Paging::run_out(Job& job) {
  {
    // Got meanwhile, or memory has room again: nothing to do.
    std::lock_guard lock(job.queue->mutex());
    Slot slot = job.queue->index().find(job.sequence);
    if (slot == kNoSlot || job.queue->index().at(slot).message != job.message.get()) return;
    if (job.queue->index().at(slot).state != EntryState::kAvailable) return;
  }
  std::string bytes;
  encode_message_header(*job.message, bytes);
  auto header = static_cast<uint32_t>(bytes.size());
  bytes += job.message->body.view();
  auto place = overflow_.store(bytes);
  if (!place.ok()) return;  // it stays in memory
  Location location;
  {
    std::lock_guard lock(mutex_);
    if (free_places_.empty()) {
      places_.emplace_back(place.value(), header);
      location.at = places_.size();
    } else {
      location.at = free_places_.back();
      free_places_.pop_back();
      places_[location.at - 1] = {place.value(), header};
    }
    ++out_;
  }
  {
    std::lock_guard lock(job.queue->mutex());
    Slot slot = job.queue->index().find(job.sequence);
    if (slot != kNoSlot) {
      Entry& entry = job.queue->index().at(slot);
      if (entry.message == job.message.get() && entry.state == EntryState::kAvailable) {
        manager_.forget_memory(entry);
        entry.message->release();
        entry.message = nullptr;
        entry.location = location;
        return;
      }
    }
  }
  free(location);
}

void Paging::run_read(Job& job) {
  OverflowPlace place;
  uint32_t header = 0;
  {
    std::lock_guard lock(mutex_);
    place = places_[job.place.at - 1].first;
    header = places_[job.place.at - 1].second;
  }
  auto bytes = overflow_.read(place);
  if (!bytes.ok()) return job.done->read(Status(bytes.take_error()));
  std::string all = std::move(bytes).take_value();
  StoredMessage message;
  message.header = all.substr(0, header);
  message.body = all.substr(header);
  job.done->read(std::move(message));
}

}  // namespace millstream::queue
