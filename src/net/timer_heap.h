// Timers of one reactor: a binary heap of pointers to timers that their owners hold. A timer knows
// its place in the heap, so that cancelling is O(log n) and nothing is allocated a timer.
// Ownership: the owner of a Timer cancels it before destroying it. Thread: one.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "net/deadline.h"

namespace millstream::net {

struct Timer {
  using Fire = void (*)(Timer& timer);
  static constexpr uint32_t kIdle = UINT32_MAX;

  int64_t deadline_ns = kNever;
  Fire fire = nullptr;
  void* owner = nullptr;
  uint32_t index = kIdle;

  bool is_armed() const { return index != kIdle; }
};

class TimerHeap {
 public:
  void arm(Timer& timer, int64_t deadline_ns);  // also moves an armed timer
  void cancel(Timer& timer);                    // no effect on an idle one
  int64_t next_deadline_ns() const { return heap_.empty() ? kNever : heap_[0]->deadline_ns; }
  // Fires what is due at now_ns, in order of deadlines; returns how many fired. A callback may arm
  // and cancel; what it arms for a time already due fires in the same call, up to fire_max.
  int fire_due(int64_t now_ns, int fire_max = 4096);
  size_t size() const { return heap_.size(); }

 private:
  void sift_up(uint32_t at);
  void sift_down(uint32_t at);
  void place(Timer* timer, uint32_t at) {
    heap_[at] = timer;
    timer->index = at;
  }
  std::vector<Timer*> heap_;
};

}  // namespace millstream::net
