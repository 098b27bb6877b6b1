// Messages that expire and messages that are not due yet. An expired one is never delivered,
// because whoever looks at it sees the time; this is about those that nobody looks at. One timer
// for all queues, at the earliest expiry but not more than once a second; a sweep holds a queue for
// some thousand entries at a time.
#include <algorithm>

#include "queue/core/message_codec.h"
#include "queue/core/queue_manager.h"
#include "queue/core/report.h"

namespace millstream::queue {
namespace {

constexpr Slot kSweepEntries = 4096;
constexpr int64_t kSweepPauseMs = 1000;

// Reads an expired message for its report.
class ExpiredRead final : public ReadDone {
 public:
  explicit ExpiredRead(std::function<void(Result<StoredMessage>)> then) : then_(std::move(then)) {}
  void read(Result<StoredMessage> message) override {
    std::unique_ptr<ExpiredRead> self(this);
    then_(std::move(message));
  }

 private:
  std::function<void(Result<StoredMessage>)> then_;
};

}  // namespace

void QueueManager::finish_expired(const Effects::Expired& expired) {
  UnitOfWork unit;
  UnitGet get;
  get.queue = expired.queue;
  get.sequence = expired.sequence;
  MessageRef message;
  Location location;
  bool reports = false;
  {
    std::lock_guard lock(expired.queue->mutex());
    get.slot = expired.queue->index().find(expired.sequence);
    if (get.slot == kNoSlot) return;
    const Entry& entry = expired.queue->index().at(get.slot);
    reports = (entry.flags & kEntryReportsExpiry) != 0;
    get.is_persistent = entry.is_persistent();
    message = MessageRef::share(entry.message);
    location = entry.location;
    if (!reports && !get.is_persistent) {
      forget(entry);
      expired.queue->erase(get.slot);
      return;
    }
  }
  if (reports && !message) {
    return expire_unread(expired.queue, expired.sequence, location, get.is_persistent);
  }
  unit.gets.push_back(std::move(get));
  if (reports) add_report(*this, *message, ReportKind::kExpiration, 0, unit);
  run_detached(std::move(unit));
}

void QueueManager::expire_unread(const QueueRef& queue, Sequence sequence, Location location,
                                 bool is_persistent) {
  auto* reader =
      new ExpiredRead([this, queue, sequence, is_persistent](Result<StoredMessage> stored) {
        auto shared = std::make_shared<Result<StoredMessage>>(std::move(stored));
        options_.executor->post(while_alive([this, queue, sequence, is_persistent, shared] {
          UnitOfWork unit;
          {
            std::lock_guard lock(queue->mutex());
            Slot slot = queue->index().find(sequence);
            if (slot == kNoSlot) return;
            unit.gets.push_back({queue, slot, sequence, is_persistent, false});
          }
          if (shared->ok()) {
            StoredMessage bytes = std::move(*shared).take_value();
            auto message = decode_message(bytes.header, std::move(bytes.body));
            if (message.ok()) {
              add_report(*this, *message.value(), ReportKind::kExpiration, 0, unit);
            }
          }
          run_detached(std::move(unit));
        }));
      });
  read(location, is_persistent, *reader);
}

void QueueManager::schedule_sweep(int64_t expires_gmt_ms) {
  std::lock_guard lock(sweep_mutex_);
  if (is_sweeping_ || expires_gmt_ms >= sweep_at_ms_) return;
  if (sweep_timer_ != 0) options_.executor->cancel(sweep_timer_);
  sweep_at_ms_ = expires_gmt_ms;
  int64_t wait_ms = std::max<int64_t>(0, expires_gmt_ms - now_gmt_micros() / 1000);
  sweep_timer_ =
      options_.executor->post_at(now_ns() + wait_ms * 1'000'000, while_alive([this] { sweep(); }));
}

void QueueManager::sweep_now() {
  {
    std::lock_guard lock(sweep_mutex_);
    if (is_sweeping_) return;
    if (sweep_timer_ != 0) options_.executor->cancel(sweep_timer_);
  }
  options_.executor->post(while_alive([this] { sweep(); }));
}

void QueueManager::sweep() {
  {
    std::lock_guard lock(sweep_mutex_);
    sweep_timer_ = 0;
    is_sweeping_ = true;
  }
  if (!is_running()) return;
  std::vector<QueueRef> queues;
  for (const NamedQueueRef& object : objects_.all()) {
    if (object->queue != nullptr) queues.push_back(object->queue);
  }
  sweep_queue(std::move(queues), 0, 0, INT64_MAX);
}

// A task for each piece, so that others get their turn.
void QueueManager::sweep_queue(std::vector<QueueRef> queues, size_t at, Slot from,
                               int64_t earliest) {
  if (!is_running()) return;
  Slot looked = 0;
  while (at < queues.size() && looked < kSweepEntries) {
    Effects effects;
    {
      std::lock_guard lock(queues[at]->mutex());
      if (queues[at]->expiring == 0) {
        from = 0;
      } else {
        from = queues[at]->sweep(from, kSweepEntries, earliest, effects);
        looked += kSweepEntries;
      }
    }
    apply(std::move(effects));
    if (from == 0) ++at;
  }
  if (at < queues.size()) {
    options_.executor->post(while_alive([this, queues = std::move(queues), at, from, earliest] {
      sweep_queue(queues, at, from, earliest);
    }));
    return;
  }
  {
    std::lock_guard lock(sweep_mutex_);
    is_sweeping_ = false;
    sweep_at_ms_ = INT64_MAX;
  }
  if (earliest != INT64_MAX) {
    schedule_sweep(std::max(earliest, now_gmt_micros() / 1000 + kSweepPauseMs));
  }
}

void QueueManager::schedule_delayed(const QueueRef& queue, Sequence sequence, int64_t due_gmt_ms) {
  int64_t wait_ms = std::max<int64_t>(0, due_gmt_ms - now_gmt_micros() / 1000);
  options_.executor->post_at(
      now_ns() + wait_ms * 1'000'000, while_alive([this, queue, sequence] {
        if (!is_running()) return;
        Effects effects;
        {
          std::lock_guard lock(queue->mutex());
          Slot slot = queue->index().find(sequence);
          if (slot == kNoSlot || queue->index().at(slot).state != EntryState::kDelayed) return;
          release(*queue, slot, effects);
        }
        apply(std::move(effects));
      }));
}

}  // namespace millstream::queue
