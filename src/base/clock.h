// The two clocks of a process behind one interface, so that tests and the simulator replace them.
// monotonic_ns() only measures spans; wall_gmt_micros() is microseconds since 1970-01-01 in GMT and
// may jump when the machine's time is set.
// Thread: any.
#pragma once
#include <atomic>
#include <cstdint>

namespace millstream::base {

class Clock {
 public:
  virtual ~Clock() = default;
  virtual int64_t monotonic_ns() const = 0;
  virtual int64_t wall_gmt_micros() const = 0;
  // Whether the wall clock may go another way than the monotonic one; who waits for a date looks
  // again now and then.
  virtual bool wall_may_jump() const { return true; }
};

const Clock& system_clock();
// From here on system_clock() is `clock` on this thread; null: the machine's again. For tests,
// whose reactors live in a time of their own. The clock must outlive the thread, or its replacement
// here.
void set_thread_clock(const Clock* clock);

// Stands still until advanced.
class VirtualClock final : public Clock {
 public:
  explicit VirtualClock(int64_t start_gmt_micros = 0) : start_gmt_micros_(start_gmt_micros) {}
  int64_t monotonic_ns() const override { return now_ns_.load(std::memory_order_acquire); }
  int64_t wall_gmt_micros() const override {
    return start_gmt_micros_.load(std::memory_order_acquire) + monotonic_ns() / 1000;
  }
  bool wall_may_jump() const override { return may_jump_; }
  // set_wall_gmt_micros() will not be called. Before anybody waits.
  void promise_no_jump() { may_jump_ = false; }
  void advance_ns(int64_t ns) { now_ns_.fetch_add(ns, std::memory_order_acq_rel); }
  // Sets the wall clock as an administrator would: the monotonic one does not notice.
  void set_wall_gmt_micros(int64_t micros) {
    start_gmt_micros_.store(micros - monotonic_ns() / 1000, std::memory_order_release);
  }

 private:
  std::atomic<int64_t> now_ns_{0};
  std::atomic<int64_t> start_gmt_micros_;
  bool may_jump_ = true;
};

}  // namespace millstream::base
