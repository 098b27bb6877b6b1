// Fibers of one reactor that wait until something is so. Whoever changes what they look at calls
// notify(). Thread: the reactor's.
#pragma once
#include <algorithm>
#include <vector>

#include "net/waiting.h"

namespace millstream::wire::amqp::client {

class Waiters {
 public:
  // False: the deadline has passed, or the fiber was cancelled, and it is not so.
  template <typename F>
  bool wait(int64_t deadline_ns, F&& is_so) {
    while (!is_so()) {
      net::FiberEvent event;
      waiting_.push_back(&event);
      net::WakeReason reason = event.wait(deadline_ns);
      std::erase(waiting_, &event);
      if (reason != net::WakeReason::kWoken) return is_so();
    }
    return true;
  }
  void notify() {
    for (net::FiberEvent* event : waiting_) event->set();
  }

 private:
  std::vector<net::FiberEvent*> waiting_;
};

}  // namespace millstream::wire::amqp::client
