#include "server/queue_alarm.h"

#include "base/log.h"

namespace millstream::server {

void QueueAlarm::space_changed(bool admits_puts) {
  const Result<uint64_t> free = disk_.free_bytes();
  const std::string room = free.ok() ? std::to_string(free.value() >> 20) +
                                           " MiB are free on the disk of " + disk_.path()
                                     : free.error().text;
  if (admits_puts) {
    base::log_event(
        base::LogLevel::kInfo, "MS2049I",
        "Queue manager " + queue_manager_ + " takes persistent messages again; " + room);
  } else {
    alarms_.fetch_add(1, std::memory_order_relaxed);
    base::log_event(base::LogLevel::kWarning, "MS2048W",
                    "Queue manager " + queue_manager_ +
                        " refuses persistent messages with reason 2056: its disk or its journal is "
                        "nearly full; gets, commits and rollbacks go on; " +
                        room);
  }
  next_.space_changed(admits_puts);
}

}  // namespace millstream::server
