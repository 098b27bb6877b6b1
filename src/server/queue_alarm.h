// Tells the operator when a queue manager begins to refuse persistent puts because its disk or its
// journal are nearly full, and when it takes them again: in the log, and counted for /metrics. It
// stands between a store and its queue manager and passes everything on.
// Lifetime: the disk and the queue manager outlive it, the store goes before it. Thread: the
// store's; alarms() any.
#pragma once
#include <atomic>
#include <cstdint>
#include <string>

#include "io/disk.h"
#include "queue/store/store.h"

namespace millstream::server {

class QueueAlarm final : public queue::StoreListener {
 public:
  QueueAlarm(std::string queue_manager, io::Disk& disk, queue::StoreListener& next)
      : queue_manager_(std::move(queue_manager)), disk_(disk), next_(next) {}
  bool moved(queue::QueueId queue, queue::Sequence sequence, queue::Location from,
             queue::Location to) override {
    return next_.moved(queue, sequence, from, to);
  }
  void failed(const base::Error& error) override { next_.failed(error); }
  void space_changed(bool admits_puts) override;
  // How often puts began to be refused.
  uint64_t alarms() const { return alarms_.load(std::memory_order_relaxed); }

 private:
  const std::string queue_manager_;
  io::Disk& disk_;
  queue::StoreListener& next_;
  std::atomic<uint64_t> alarms_{0};
};

}  // namespace millstream::server
