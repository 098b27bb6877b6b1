// Fibers: stackful tasks of one reactor. Straight-line code runs in a fiber; whatever waits
// suspends the fiber, never the thread. A fiber stays on its reactor for life. Fibers and their
// stacks are pooled: spawning one costs a switch, no allocation.
//
// Waiting is done with tickets: prepare_wait(), publish the ticket, suspend(). A wake with a ticket
// of an earlier wait has no effect, so that wakers may be late. A wake before suspend() is not
// lost. Thread: wake() and FiberHandle::cancel() from any thread, all else from the fiber itself.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>

#include "net/stack_pool.h"
#include "net/timer_heap.h"

namespace millstream::net {

class Fiber;
class Reactor;

enum class WakeReason : uint8_t { kWoken, kTimeout, kCancelled };

struct WaitTicket {
  Fiber* fiber = nullptr;
  uint64_t sequence = 0;
  void wake() const;  // any thread
};

// Names one run of a pooled fiber; harmless once that run has ended.
struct FiberHandle {
  Fiber* fiber = nullptr;
  uint64_t generation = 0;
  void cancel() const;  // any thread; pending and later waits of the fiber return kCancelled
};

class Fiber {
 public:
  static Fiber* current();  // null outside fibers

  Reactor& reactor() const { return reactor_; }
  FiberHandle handle() { return {this, generation_}; }
  bool is_cancelled() const { return is_cancelled_; }

  WaitTicket prepare_wait() {
    has_pending_wake_ = false;
    return {this, ++wait_sequence_};
  }
  // Waits for the wake of the ticket made last. An uncancellable wait (the waker refers to this
  // stack) returns kWoken or kTimeout only.
  WakeReason suspend(int64_t deadline_ns = kNever, bool is_cancellable = true);
  // Lets other fibers and events run.
  void yield();
  // Time this run of the fiber has spent on the processor, by the reactor's clock at switches.
  int64_t cpu_ns() const;

  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

 private:
  friend class Reactor;
  friend struct WaitTicket;
  friend struct FiberHandle;
  enum class State : uint8_t { kFree, kReady, kRunning, kWaiting };
  using Entry = void (*)(void*);

  Fiber(Reactor& reactor, Stack stack);
  void resume();      // from the reactor's own stack
  void switch_out();  // back to the reactor's stack
  void run_tasks();   // body of the fiber's stack, never returns
  void wake_local(uint64_t sequence);
  void cancel_local(uint64_t generation);
  struct Switch;  // the one place that changes stacks; see fiber.cc

  Reactor& reactor_;
  Stack stack_;
  void* context_ = nullptr;          // where to continue the fiber
  void* reactor_context_ = nullptr;  // where the reactor continues
  Entry entry_ = nullptr;
  void* argument_ = nullptr;
  std::function<void()> task_;
  Fiber* next_ = nullptr;  // in the ready queue or the free list
  State state_ = State::kFree;
  bool is_cancelled_ = false;
  bool is_wait_cancellable_ = false;
  bool has_pending_wake_ = false;
  WakeReason reason_ = WakeReason::kWoken;
  uint64_t wait_sequence_ = 0;
  uint64_t generation_ = 0;
  Timer timer_;
  int64_t cpu_ns_ = 0;
  int64_t slice_start_ns_ = 0;
  void* tsan_fiber_ = nullptr;
  void* tsan_reactor_ = nullptr;
  void* asan_fiber_fake_stack_ = nullptr;
  void* asan_reactor_fake_stack_ = nullptr;
  const void* asan_reactor_bottom_ = nullptr;
  size_t asan_reactor_size_ = 0;
};

// CPU time of the current fiber's run, 0 outside fibers.
int64_t fiber_cpu_ns();
// Suspends the current fiber (outside fibers: the thread) until the time; false when cancelled.
bool sleep_until(int64_t deadline_ns);
bool sleep_for(int64_t ns);
// True when the current fiber has been asked to stop.
bool is_current_cancelled();

}  // namespace millstream::net
