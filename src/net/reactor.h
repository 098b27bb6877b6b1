// A reactor: one thread that owns connections, timers and fibers, and runs them to the end. The
// only way in from another thread is post(). Everything else is called on the reactor's thread.
// Ownership: a reactor owns its fibers, stacks and buffers; watched handlers belong to others, who
// unwatch before they die. Destroy it after run() has returned.
// Thread: the reactor's own; what says "any thread" is for all.
#pragma once
#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "net/buffer_pool.h"
#include "net/fiber.h"
#include "net/stack_pool.h"
#include "net/timer_heap.h"

namespace millstream::net {

// Events as of epoll. Handlers are watched edge-triggered: after an event they read or write until
// the socket would block.
class IoHandler {
 public:
  virtual ~IoHandler() = default;
  virtual void on_io(uint32_t events) = 0;
};

struct ReactorOptions {
  size_t stack_bytes = StackPool::kDefaultBytes;
  size_t fibers_max = 20'000;  // tasks beyond wait for a free fiber
  size_t buffer_keep_bytes_max = BufferPool::kKeepBytesMax;
  // Null: the monotonic clock. Another one is also system_clock() of the reactor's thread.
  const base::Clock* clock = nullptr;
  // For a clock that others advance. Called on the reactor's thread, outside fibers, when nothing
  // is ready and nothing has come for idle_wait_ms; `deadline_ns` is that of the next timer
  // (kNever: none). It may advance the clock.
  std::function<void(int64_t deadline_ns)> on_idle;
  int idle_wait_ms = 0;
};

class Reactor {
 public:
  static constexpr int kEventsMax = 256;
  static constexpr int64_t kStopWaitNs = 5 * kSecond;  // for fibers to end after stop()

  static Result<std::unique_ptr<Reactor>> create(const ReactorOptions& options = {});
  ~Reactor();
  Reactor(const Reactor&) = delete;
  Reactor& operator=(const Reactor&) = delete;

  static Reactor* current();  // the reactor of this thread, or null

  // Runs until stop(); then cancels the remaining fibers and waits for them to end.
  void run();
  void stop();  // any thread
  // Any thread. Tasks run outside fibers, in order; when run() has returned, on the calling thread.
  void post(std::function<void()> task);
  void post_all(std::vector<std::function<void()>>& tasks);
  // Any thread: look at the clock again.
  void poke() {
    post([] {});
  }

  // Runs the task in a fiber: at once when called outside fibers on the reactor's thread, soon
  // after otherwise. spawn() is for any thread, the raw form for the reactor's own.
  void spawn(std::function<void()> task);
  void spawn_raw(void (*entry)(void*), void* argument);

  int64_t now_ns() const { return now_ns_; }  // as of the last event or switch
  int64_t refresh_now() { return now_ns_ = clock_->monotonic_ns(); }
  void arm(Timer& timer, int64_t deadline_ns) { timers_.arm(timer, deadline_ns); }
  void cancel(Timer& timer) { timers_.cancel(timer); }
  BufferPool& buffers() { return buffers_; }

  // Adds the descriptor to the epoll set, edge-triggered; unwatch() drops events not yet delivered.
  Status watch(int fd, IoHandler& handler, uint32_t epoll_events);
  void unwatch(int fd, IoHandler& handler);

  size_t fibers_created() const { return fibers_.size(); }

 private:
  friend class Fiber;
  explicit Reactor(const ReactorOptions& options);
  Status open();
  void turn(int64_t wait_until_ns);
  void poll(int64_t deadline_ns);
  void run_posted();
  void wake();
  void run_ready();
  void run_fiber(Fiber& fiber);
  void make_ready(Fiber& fiber);
  Fiber* take_fiber();
  void start(Fiber& fiber);
  void drain_fibers();

  struct PendingTask {
    void (*entry)(void*);
    void* argument;
    std::function<void()> task;
  };

  const base::Clock* clock_;
  const std::function<void(int64_t)> on_idle_;
  const int idle_wait_ms_;
  const size_t fibers_max_;
  int64_t now_ns_ = 0;
  int epoll_fd_ = -1;
  int event_fd_ = -1;
  std::atomic<bool> is_stopping_{false};
  StackPool stacks_;
  BufferPool buffers_;
  TimerHeap timers_;
  Fiber* ready_first_ = nullptr;
  Fiber* ready_last_ = nullptr;
  Fiber* free_fibers_ = nullptr;
  size_t fibers_live_ = 0;
  std::vector<std::unique_ptr<Fiber>> fibers_;
  std::deque<PendingTask> pending_tasks_;  // waiting for a free fiber, oldest first
  struct EventBatch;
  std::unique_ptr<EventBatch> batch_;
  std::mutex post_mutex_;  // leaf lock: guards the three below
  std::vector<std::function<void()>> posted_;
  bool is_sleeping_ = false;
  bool has_ended_ = false;
  std::vector<std::function<void()>> running_;  // posted tasks being run
};

}  // namespace millstream::net
