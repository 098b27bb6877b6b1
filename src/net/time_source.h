// The clock that reactors, fibers and timers read, as an interface so that tests advance it by
// hand. Absolute times everywhere in net are nanoseconds of this clock; kNever means no time-out.
// Thread: now_ns() may be called from any thread.
#pragma once
#include <atomic>
#include <cstdint>

namespace millstream::net {

inline constexpr int64_t kNever = INT64_MAX;
inline constexpr int64_t kMillisecond = 1'000'000;
inline constexpr int64_t kSecond = 1'000'000'000;

class TimeSource {
 public:
  virtual ~TimeSource() = default;
  virtual int64_t now_ns() const = 0;
};

// The monotonic clock of the machine.
const TimeSource& monotonic_time();

// For tests: stands still until advanced. Poke the reactor afterwards (Reactor::poke).
class ManualTime final : public TimeSource {
 public:
  int64_t now_ns() const override { return now_.load(std::memory_order_acquire); }
  void advance(int64_t ns) { now_.fetch_add(ns, std::memory_order_acq_rel); }

 private:
  std::atomic<int64_t> now_{kSecond};
};

}  // namespace millstream::net
