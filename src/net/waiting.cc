#include "net/waiting.h"

#include <chrono>

namespace millstream::net {

Parker::Parker() {
  if (Fiber* fiber = Fiber::current()) ticket_ = fiber->prepare_wait();
}

void Parker::unpark() {
  if (ticket_.fiber) {
    ticket_.wake();
    return;
  }
  std::lock_guard lock(mutex_);
  is_unparked_ = true;
  condition_.notify_one();
}

WakeReason Parker::park(int64_t deadline_ns, bool is_cancellable) {
  if (ticket_.fiber) return ticket_.fiber->suspend(deadline_ns, is_cancellable);
  std::unique_lock lock(mutex_);
  if (deadline_ns == kNever) {
    condition_.wait(lock, [this] { return is_unparked_; });
    return WakeReason::kWoken;
  }
  auto until = std::chrono::steady_clock::time_point(std::chrono::nanoseconds(deadline_ns));
  bool woken = condition_.wait_until(lock, until, [this] { return is_unparked_; });
  return woken ? WakeReason::kWoken : WakeReason::kTimeout;
}

void WaiterList::push(WaiterLink& waiter) {
  waiter.next = nullptr;
  (last_ ? last_->next : first_) = &waiter;
  last_ = &waiter;
}

WaiterLink* WaiterList::pop() {
  WaiterLink* waiter = first_;
  if (!waiter) return nullptr;
  first_ = waiter->next;
  if (!first_) last_ = nullptr;
  return waiter;
}

void WaiterList::remove(WaiterLink& waiter) {
  WaiterLink* before = nullptr;
  for (WaiterLink* at = first_; at; before = at, at = at->next) {
    if (at != &waiter) continue;
    (before ? before->next : first_) = at->next;
    if (last_ == at) last_ = before;
    return;
  }
}

bool FiberMutex::try_lock() {
  std::lock_guard guard(guard_);
  if (is_locked_) return false;
  is_locked_ = true;
  return true;
}

bool FiberMutex::lock(int64_t deadline_ns) {
  if (try_lock()) return true;
  WaiterLink waiter;
  {
    std::lock_guard guard(guard_);
    if (!is_locked_) {
      is_locked_ = true;
      return true;
    }
    waiters_.push(waiter);
  }
  waiter.parker.park(deadline_ns, true);
  std::lock_guard guard(guard_);
  if (waiter.is_granted) return true;
  waiters_.remove(waiter);
  return false;
}

void FiberMutex::unlock() {
  std::lock_guard guard(guard_);
  WaiterLink* waiter = waiters_.pop();
  if (!waiter) {
    is_locked_ = false;
    return;
  }
  waiter->is_granted = true;
  waiter->parker.unpark();
}

void FiberEvent::set() {
  std::lock_guard guard(guard_);
  is_set_ = true;
  while (WaiterLink* waiter = waiters_.pop()) {
    waiter->is_granted = true;
    waiter->parker.unpark();
  }
}

bool FiberEvent::is_set() {
  std::lock_guard guard(guard_);
  return is_set_;
}

WakeReason FiberEvent::wait(int64_t deadline_ns, bool is_cancellable) {
  WaiterLink waiter;
  {
    std::lock_guard guard(guard_);
    if (is_set_) return WakeReason::kWoken;
    waiters_.push(waiter);
  }
  WakeReason reason = waiter.parker.park(deadline_ns, is_cancellable);
  std::lock_guard guard(guard_);
  if (waiter.is_granted) return WakeReason::kWoken;
  waiters_.remove(waiter);
  return reason;
}

}  // namespace millstream::net
