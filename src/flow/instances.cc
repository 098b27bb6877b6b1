#include "flow/instances.h"

namespace millstream::flow {

bool Instances::enter() {
  if (limit_ == 0) {
    in_use_.fetch_add(1, std::memory_order_relaxed);
    return false;
  }
  net::Fiber* fiber = net::Fiber::current();
  {
    std::lock_guard lock(mutex_);
    if (in_use_.load(std::memory_order_relaxed) < limit_ || !fiber) {
      in_use_.fetch_add(1, std::memory_order_relaxed);
      return false;
    }
    waiting_.push_back(fiber->prepare_wait());
  }
  // leave() hands its instance over, so the count is right when this returns. The wait cannot be
  // cancelled: a ticket in the queue of a fiber that went away would swallow an instance.
  fiber->suspend(net::kNever, /*is_cancellable=*/false);
  return true;
}

void Instances::leave() {
  if (limit_ == 0) {
    in_use_.fetch_sub(1, std::memory_order_relaxed);
    return;
  }
  net::WaitTicket next;
  {
    std::lock_guard lock(mutex_);
    if (waiting_.empty()) {
      in_use_.fetch_sub(1, std::memory_order_relaxed);
      return;
    }
    next = waiting_.front();
    waiting_.pop_front();
  }
  next.wake();
}

}  // namespace millstream::flow
