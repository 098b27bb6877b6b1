// Waiting between fibers, on the same or on different reactors, and between fibers and threads. No
// thread of a reactor ever blocks here; plain threads that wait do block.
// Deadlines are of the waiting fiber's reactor clock, on plain threads of the monotonic clock.
// Thread: any.
#pragma once
#include <condition_variable>
#include <mutex>

#include "net/fiber.h"

namespace millstream::net {

// One wait of one fiber or thread; lives on the waiter's stack. The owner of the list it is in
// calls unpark() under its own lock and the waiter takes that lock before it goes away.
class Parker {
 public:
  Parker();
  void unpark();
  WakeReason park(int64_t deadline_ns, bool is_cancellable);

 private:
  WaitTicket ticket_;
  std::mutex mutex_;
  std::condition_variable condition_;
  bool is_unparked_ = false;
};

struct WaiterLink {
  WaiterLink* next = nullptr;
  Parker parker;
  bool is_granted = false;
};

// First in, first out. Waiters are granted one by one.
class WaiterList {
 public:
  void push(WaiterLink& waiter);
  WaiterLink* pop();  // null when empty
  void remove(WaiterLink& waiter);
  bool is_empty() const { return !first_; }

 private:
  WaiterLink* first_ = nullptr;
  WaiterLink* last_ = nullptr;
};

// Mutual exclusion that may be held while a fiber is suspended. Fair: waiters get it in order of
// arrival, by hand-over.
class FiberMutex {
 public:
  // False: the deadline passed or the fiber was cancelled; the mutex is not held then.
  [[nodiscard]] bool lock(int64_t deadline_ns = kNever);
  [[nodiscard]] bool try_lock();
  void unlock();  // by any fiber or thread

 private:
  std::mutex guard_;  // leaf lock, never held across a suspension
  bool is_locked_ = false;
  WaiterList waiters_;
};

// One-shot event, e.g. for handing a reply from one flow to another. All waiters are released.
class FiberEvent {
 public:
  void set();
  bool is_set();
  // kWoken when the event is set, whatever else happened.
  WakeReason wait(int64_t deadline_ns = kNever, bool is_cancellable = true);

 private:
  std::mutex guard_;
  bool is_set_ = false;
  WaiterList waiters_;
};

}  // namespace millstream::net
