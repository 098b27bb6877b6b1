#include "net/timer_heap.h"

namespace millstream::net {

void TimerHeap::arm(Timer& timer, int64_t deadline_ns) {
  if (timer.is_armed()) {
    bool is_earlier = deadline_ns < timer.deadline_ns;
    timer.deadline_ns = deadline_ns;
    is_earlier ? sift_up(timer.index) : sift_down(timer.index);
    return;
  }
  timer.deadline_ns = deadline_ns;
  heap_.push_back(&timer);
  timer.index = static_cast<uint32_t>(heap_.size() - 1);
  sift_up(timer.index);
}

void TimerHeap::cancel(Timer& timer) {
  if (!timer.is_armed()) return;
  uint32_t at = timer.index;
  timer.index = Timer::kIdle;
  Timer* last = heap_.back();
  heap_.pop_back();
  if (last == &timer) return;
  place(last, at);
  sift_up(at);
  sift_down(last->index);
}

int TimerHeap::fire_due(int64_t now_ns, int fire_max) {
  int fired = 0;
  while (!heap_.empty() && heap_[0]->deadline_ns <= now_ns && fired < fire_max) {
    Timer& timer = *heap_[0];
    cancel(timer);
    ++fired;
    timer.fire(timer);
  }
  return fired;
}

void TimerHeap::sift_up(uint32_t at) {
  Timer* timer = heap_[at];
  while (at > 0) {
    uint32_t parent = (at - 1) / 2;
    if (heap_[parent]->deadline_ns <= timer->deadline_ns) break;
    place(heap_[parent], at);
    at = parent;
  }
  place(timer, at);
}

void TimerHeap::sift_down(uint32_t at) {
  Timer* timer = heap_[at];
  uint32_t size = static_cast<uint32_t>(heap_.size());
  for (;;) {
    uint32_t child = 2 * at + 1;
    if (child >= size) break;
    if (child + 1 < size && heap_[child + 1]->deadline_ns < heap_[child]->deadline_ns) ++child;
    if (timer->deadline_ns <= heap_[child]->deadline_ns) break;
    place(heap_[child], at);
    at = child;
  }
  place(timer, at);
}

}  // namespace millstream::net
