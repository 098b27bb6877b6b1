#include "net/reactor.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "net/errors_gen.h"

namespace millstream::net {

namespace {
thread_local Reactor* t_current_reactor = nullptr;
}  // namespace

struct Reactor::EventBatch {
  epoll_event events[kEventsMax];
  int count = 0;
  int next = 0;
};

Reactor::Reactor(const ReactorOptions& options)
    : clock_(options.clock ? options.clock : &base::system_clock()),
      on_idle_(options.on_idle),
      idle_wait_ms_(options.idle_wait_ms),
      fibers_max_(options.fibers_max),
      stacks_(options.stack_bytes),
      buffers_(options.buffer_keep_bytes_max),
      batch_(std::make_unique<EventBatch>()) {
  constexpr size_t kPostedReserved = 64;  // posting allocates nothing in steady state
  posted_.reserve(kPostedReserved);
  running_.reserve(kPostedReserved);
  refresh_now();
}

Reactor::~Reactor() {
  if (epoll_fd_ >= 0) close(epoll_fd_);
  if (event_fd_ >= 0) close(event_fd_);
}

Result<std::unique_ptr<Reactor>> Reactor::create(const ReactorOptions& options) {
  std::unique_ptr<Reactor> reactor(new Reactor(options));
  MS_TRY(reactor->open());
  return reactor;
}

Status Reactor::open() {
  epoll_fd_ = epoll_create1(EPOLL_CLOEXEC);
  if (epoll_fd_ < 0) return base::make_error(errors::kReactorSetup, {"epoll", strerror(errno)});
  event_fd_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (event_fd_ < 0) return base::make_error(errors::kReactorSetup, {"eventfd", strerror(errno)});
  epoll_event event{};
  event.events = EPOLLIN | EPOLLET;
  event.data.ptr = nullptr;
  if (epoll_ctl(epoll_fd_, EPOLL_CTL_ADD, event_fd_, &event) != 0) {
    return base::make_error(errors::kReactorSetup, {"epoll_ctl", strerror(errno)});
  }
  return {};
}

Reactor* Reactor::current() { return t_current_reactor; }

void Reactor::run() {
  t_current_reactor = this;
  if (clock_ != &base::system_clock()) base::set_thread_clock(clock_);
  refresh_now();
  while (!is_stopping_.load(std::memory_order_acquire)) turn(kNever);
  base::set_thread_clock(nullptr);  // ending takes time of this world
  drain_fibers();
  t_current_reactor = nullptr;
}

void Reactor::stop() {
  is_stopping_.store(true, std::memory_order_release);
  poke();
}

void Reactor::post(std::function<void()> task) {
  bool must_wake;
  {
    std::unique_lock lock(post_mutex_);
    if (has_ended_) {
      lock.unlock();
      Reactor* outer = std::exchange(t_current_reactor, this);
      task();
      t_current_reactor = outer;
      return;
    }
    posted_.push_back(std::move(task));
    must_wake = is_sleeping_;
    is_sleeping_ = false;
  }
  if (must_wake) wake();
}

void Reactor::post_all(std::vector<std::function<void()>>& tasks) {
  bool must_wake = false;
  {
    std::lock_guard lock(post_mutex_);
    if (!has_ended_) {
      for (std::function<void()>& task : tasks) posted_.push_back(std::move(task));
      tasks.clear();
      must_wake = std::exchange(is_sleeping_, false);
    }
  }
  if (must_wake) wake();
  for (std::function<void()>& task : tasks) post(std::move(task));  // run() has returned
  tasks.clear();
}

void Reactor::wake() {
  uint64_t one = 1;
  [[maybe_unused]] ssize_t n = write(event_fd_, &one, sizeof one);
}

void Reactor::spawn(std::function<void()> task) {
  if (t_current_reactor != this) {
    post([this, task = std::move(task)]() mutable { spawn(std::move(task)); });
    return;
  }
  Fiber* fiber = take_fiber();
  if (!fiber) {
    pending_tasks_.push_back({nullptr, nullptr, std::move(task)});
    return;
  }
  fiber->task_ = std::move(task);
  start(*fiber);
}

void Reactor::spawn_raw(void (*entry)(void*), void* argument) {
  Fiber* fiber = take_fiber();
  if (!fiber) {
    pending_tasks_.push_back({entry, argument, {}});
    return;
  }
  fiber->entry_ = entry;
  fiber->argument_ = argument;
  start(*fiber);
}

void Reactor::start(Fiber& fiber) {
  fiber.cpu_ns_ = 0;
  ++fibers_live_;
  if (Fiber::current()) {
    make_ready(fiber);
  } else {
    run_fiber(fiber);
  }
}

Fiber* Reactor::take_fiber() {
  if (Fiber* fiber = free_fibers_) {
    free_fibers_ = fiber->next_;
    fiber->next_ = nullptr;
    return fiber;
  }
  if (fibers_.size() >= fibers_max_) return nullptr;
  Stack stack = stacks_.map();
  if (!stack.low) return nullptr;
  fibers_.emplace_back(new Fiber(*this, stack));
  return fibers_.back().get();
}

void Reactor::make_ready(Fiber& fiber) {
  fiber.state_ = Fiber::State::kReady;
  fiber.next_ = nullptr;
  if (ready_last_) {
    ready_last_->next_ = &fiber;
  } else {
    ready_first_ = &fiber;
  }
  ready_last_ = &fiber;
}

void Reactor::run_fiber(Fiber& fiber) {
  Fiber* running = &fiber;
  running->resume();
  if (running->state_ != Fiber::State::kFree) return;
  --fibers_live_;
  running->next_ = free_fibers_;
  free_fibers_ = running;
  if (pending_tasks_.empty()) return;
  // The oldest waiting task gets the fiber; by the ready queue, so that this does not recurse.
  PendingTask pending = std::move(pending_tasks_.front());
  pending_tasks_.pop_front();
  Fiber* next = take_fiber();
  next->entry_ = pending.entry;
  next->argument_ = pending.argument;
  next->task_ = std::move(pending.task);
  next->cpu_ns_ = 0;
  ++fibers_live_;
  make_ready(*next);
}

void Reactor::run_ready() {
  // Only what is ready now: fibers that yield must not keep events and timers from running.
  Fiber* fiber = ready_first_;
  ready_first_ = ready_last_ = nullptr;
  while (fiber) {
    Fiber* next = fiber->next_;
    fiber->next_ = nullptr;
    run_fiber(*fiber);
    fiber = next;
  }
}

void Reactor::run_posted() {
  {
    std::lock_guard lock(post_mutex_);
    if (posted_.empty()) return;
    running_.swap(posted_);
  }
  for (auto& task : running_) task();
  running_.clear();
}

void Reactor::turn(int64_t wait_until_ns) {
  run_posted();
  run_ready();
  timers_.fire_due(now_ns_);
  int64_t deadline = ready_first_ ? now_ns_ : std::min(wait_until_ns, timers_.next_deadline_ns());
  poll(deadline);
}

void Reactor::poll(int64_t deadline_ns) {
  int timeout_ms = -1;
  if (deadline_ns != kNever) {
    int64_t wait_ns = std::max<int64_t>(0, deadline_ns - refresh_now());
    timeout_ms =
        static_cast<int>(std::min<int64_t>((wait_ns + kMillisecond - 1) / kMillisecond, 3'600'000));
  }
  const bool watches_idle = on_idle_ && timeout_ms != 0 && !is_stopping_.load();
  if (watches_idle) timeout_ms = idle_wait_ms_;
  if (timeout_ms != 0) {
    std::lock_guard lock(post_mutex_);
    // The task that stop() posts may have run already, after the loop looked for the stop.
    if (posted_.empty() && !is_stopping_.load(std::memory_order_acquire)) {
      is_sleeping_ = true;
    } else {
      timeout_ms = 0;
    }
  }
  EventBatch& batch = *batch_;
  int count = epoll_wait(epoll_fd_, batch.events, kEventsMax, timeout_ms);
  if (watches_idle && count == 0 && timeout_ms != 0) on_idle_(deadline_ns);
  if (timeout_ms != 0) {
    std::lock_guard lock(post_mutex_);
    is_sleeping_ = false;
  }
  refresh_now();
  batch.count = std::max(count, 0);
  for (batch.next = 0; batch.next < batch.count;) {
    epoll_event& event = batch.events[batch.next++];
    // Null: the event descriptor (edge-triggered, so its counter need not be read) or a dead
    // handler.
    if (event.data.ptr) static_cast<IoHandler*>(event.data.ptr)->on_io(event.events);
  }
  batch.count = batch.next = 0;
}

Status Reactor::watch(int fd, IoHandler& handler, uint32_t epoll_events) {
  epoll_event event{};
  event.events = epoll_events;
  event.data.ptr = &handler;
  if (epoll_ctl(epoll_fd_, EPOLL_CTL_ADD, fd, &event) != 0) {
    return base::make_error(errors::kSocketOperation, {"epoll_ctl", errno, strerror(errno)});
  }
  return {};
}

void Reactor::unwatch(int fd, IoHandler& handler) {
  epoll_ctl(epoll_fd_, EPOLL_CTL_DEL, fd, nullptr);
  // Events of this turn that are still to come must not reach a dead handler.
  for (int i = batch_->next; i < batch_->count; ++i) {
    if (batch_->events[i].data.ptr == &handler) {
      batch_->events[i].data.ptr = nullptr;
    }
  }
}

void Reactor::drain_fibers() {
  int64_t until = base::system_clock().monotonic_ns() + kStopWaitNs;
  for (;;) {
    for (auto& fiber : fibers_) {
      if (fiber->state_ != Fiber::State::kFree) fiber->cancel_local(fiber->generation_);
    }
    run_posted();
    run_ready();
    if (fibers_live_ == 0 || base::system_clock().monotonic_ns() >= until) break;
    if (!ready_first_) poll(refresh_now() + 10 * kMillisecond);
  }
  for (bool is_empty = false; !is_empty;) {
    run_posted();
    std::lock_guard lock(post_mutex_);
    is_empty = has_ended_ = posted_.empty();
  }
}

}  // namespace millstream::net
