// How many messages a flow handles at once: additionalInstances + 1, the others wait in the order
// of their arrival. A flow that sets no value and shares no state is bounded only by the server's
// in-flight limit (limit 0 here).
// Thread: any; enter() suspends the calling fiber.
#pragma once
#include <atomic>
#include <cstddef>
#include <deque>
#include <mutex>

#include "net/fiber.h"

namespace millstream::flow {

class Instances {
 public:
  explicit Instances(size_t limit) : limit_(limit) {}  // 0 = unlimited
  // True when the message had to wait for a free instance.
  bool enter();
  void leave();
  size_t limit() const { return limit_; }
  size_t in_use() const { return in_use_.load(std::memory_order_relaxed); }

 private:
  const size_t limit_;
  std::atomic<size_t> in_use_{0};
  std::mutex mutex_;  // never held while a fiber is suspended
  std::deque<net::WaitTicket> waiting_;
};

}  // namespace millstream::flow
