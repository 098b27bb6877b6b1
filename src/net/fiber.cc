#include "net/fiber.h"

#include <boost/context/detail/fcontext.hpp>
#include <thread>

#include "net/reactor.h"

#if defined(__SANITIZE_ADDRESS__)
#define MS_FIBER_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define MS_FIBER_ASAN 1
#endif
#endif
#if defined(__SANITIZE_THREAD__)
#define MS_FIBER_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define MS_FIBER_TSAN 1
#endif
#endif
#ifdef MS_FIBER_ASAN
#include <sanitizer/common_interface_defs.h>
#endif
#ifdef MS_FIBER_TSAN
#include <sanitizer/tsan_interface.h>
#endif

namespace millstream::net {

namespace fctx = boost::context::detail;

namespace {
thread_local Fiber* t_current_fiber = nullptr;
}  // namespace

// Every change of stacks happens in these four functions: the sanitizers are told before the jump
// and after it, on either side.
struct Fiber::Switch {
  static void enter(fctx::transfer_t from) {
    Fiber* fiber = static_cast<Fiber*>(from.data);
#ifdef MS_FIBER_ASAN
    __sanitizer_finish_switch_fiber(nullptr, &fiber->asan_reactor_bottom_,
                                    &fiber->asan_reactor_size_);
#endif
    fiber->reactor_context_ = from.fctx;
    fiber->run_tasks();
  }

  static void to_fiber(Fiber& fiber) {
    detail::set_current_stack_low(fiber.stack_.low);
#ifdef MS_FIBER_TSAN
    fiber.tsan_reactor_ = __tsan_get_current_fiber();
    __tsan_switch_to_fiber(fiber.tsan_fiber_, 0);
#endif
#ifdef MS_FIBER_ASAN
    __sanitizer_start_switch_fiber(&fiber.asan_reactor_fake_stack_, fiber.stack_.low,
                                   fiber.stack_.size);
#endif
    fctx::transfer_t back = fctx::jump_fcontext(fiber.context_, &fiber);
#ifdef MS_FIBER_ASAN
    __sanitizer_finish_switch_fiber(fiber.asan_reactor_fake_stack_, nullptr, nullptr);
#endif
    fiber.context_ = back.fctx;
    detail::set_current_stack_low(nullptr);
  }

  static void to_reactor(Fiber& fiber) {
#ifdef MS_FIBER_TSAN
    __tsan_switch_to_fiber(fiber.tsan_reactor_, 0);
#endif
#ifdef MS_FIBER_ASAN
    __sanitizer_start_switch_fiber(&fiber.asan_fiber_fake_stack_, fiber.asan_reactor_bottom_,
                                   fiber.asan_reactor_size_);
#endif
    fctx::transfer_t back = fctx::jump_fcontext(fiber.reactor_context_, nullptr);
#ifdef MS_FIBER_ASAN
    __sanitizer_finish_switch_fiber(fiber.asan_fiber_fake_stack_, &fiber.asan_reactor_bottom_,
                                    &fiber.asan_reactor_size_);
#endif
    fiber.reactor_context_ = back.fctx;
  }

  static void create(Fiber& fiber) {
    fiber.context_ = fctx::make_fcontext(fiber.stack_.top(), fiber.stack_.size, &Switch::enter);
#ifdef MS_FIBER_TSAN
    fiber.tsan_fiber_ = __tsan_create_fiber(0);
#endif
  }

  static void destroy(Fiber& fiber) {
#ifdef MS_FIBER_TSAN
    __tsan_destroy_fiber(fiber.tsan_fiber_);
#endif
    StackPool::unmap(fiber.stack_);
  }
};

Fiber::Fiber(Reactor& reactor, Stack stack) : reactor_(reactor), stack_(stack) {
  timer_.owner = this;
  timer_.fire = [](Timer& timer) {
    Fiber& fiber = *static_cast<Fiber*>(timer.owner);
    if (fiber.state_ != State::kWaiting) return;
    fiber.reason_ = WakeReason::kTimeout;
    fiber.reactor_.make_ready(fiber);
  };
  Switch::create(*this);
}

Fiber::~Fiber() { Switch::destroy(*this); }

Fiber* Fiber::current() { return t_current_fiber; }

void Fiber::resume() {
  t_current_fiber = this;
  state_ = State::kRunning;
  slice_start_ns_ = reactor_.refresh_now();
  Switch::to_fiber(*this);
  t_current_fiber = nullptr;
}

void Fiber::switch_out() {
  cpu_ns_ += reactor_.refresh_now() - slice_start_ns_;
  Switch::to_reactor(*this);
}

void Fiber::run_tasks() {
  for (;;) {
    if (entry_) {
      entry_(argument_);
      entry_ = nullptr;
    } else {
      task_();
      task_ = nullptr;
    }
    ++generation_;
    ++wait_sequence_;
    is_cancelled_ = false;
    state_ = State::kFree;
    switch_out();
  }
}

WakeReason Fiber::suspend(int64_t deadline_ns, bool is_cancellable) {
  if (is_cancellable && is_cancelled_) {
    ++wait_sequence_;
    return WakeReason::kCancelled;
  }
  if (has_pending_wake_) {
    has_pending_wake_ = false;
    ++wait_sequence_;
    return WakeReason::kWoken;
  }
  if (deadline_ns != kNever) reactor_.arm(timer_, deadline_ns);
  state_ = State::kWaiting;
  is_wait_cancellable_ = is_cancellable;
  switch_out();
  reactor_.cancel(timer_);
  ++wait_sequence_;
  return reason_;
}

void Fiber::yield() {
  reactor_.make_ready(*this);
  switch_out();
}

int64_t Fiber::cpu_ns() const {
  if (state_ != State::kRunning) return cpu_ns_;
  return cpu_ns_ + reactor_.refresh_now() - slice_start_ns_;
}

void Fiber::wake_local(uint64_t sequence) {
  if (sequence != wait_sequence_) return;
  if (state_ == State::kWaiting) {
    reason_ = WakeReason::kWoken;
    reactor_.make_ready(*this);
  } else if (state_ != State::kFree) {
    has_pending_wake_ = true;  // also of a fiber that yielded between its ticket and its wait
  }
}

void Fiber::cancel_local(uint64_t generation) {
  if (generation != generation_) return;
  is_cancelled_ = true;
  if (state_ != State::kWaiting || !is_wait_cancellable_) return;
  reason_ = WakeReason::kCancelled;
  reactor_.make_ready(*this);
}

void WaitTicket::wake() const {
  if (Reactor::current() == &fiber->reactor()) {
    fiber->wake_local(sequence);
    return;
  }
  fiber->reactor().post([ticket = *this] { ticket.fiber->wake_local(ticket.sequence); });
}

void FiberHandle::cancel() const {
  if (!fiber) return;
  if (Reactor::current() == &fiber->reactor()) {
    fiber->cancel_local(generation);
    return;
  }
  fiber->reactor().post([handle = *this] { handle.fiber->cancel_local(handle.generation); });
}

int64_t fiber_cpu_ns() { return t_current_fiber ? t_current_fiber->cpu_ns() : 0; }

bool sleep_until(int64_t deadline_ns) {
  if (Fiber* fiber = t_current_fiber) {
    fiber->prepare_wait();
    return fiber->suspend(deadline_ns) != WakeReason::kCancelled;
  }
  int64_t wait_ns = deadline_ns - base::system_clock().monotonic_ns();
  if (wait_ns > 0) std::this_thread::sleep_for(std::chrono::nanoseconds(wait_ns));
  return true;
}

bool sleep_for(int64_t ns) {
  int64_t now =
      t_current_fiber ? t_current_fiber->reactor().now_ns() : base::system_clock().monotonic_ns();
  return sleep_until(now + ns);
}

bool is_current_cancelled() { return t_current_fiber && t_current_fiber->is_cancelled(); }

}  // namespace millstream::net
