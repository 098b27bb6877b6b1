// A timer of a reactor with a function. Cancelled by its destructor.
// Thread: the reactor's.
#pragma once
#include <functional>
#include <utility>

#include "net/reactor.h"

namespace millstream::wire {

class Alarm {
 public:
  Alarm(net::Reactor& reactor, std::function<void()> on_time)
      : reactor_(reactor), on_time_(std::move(on_time)) {
    timer_.owner = this;
    timer_.fire = [](net::Timer& timer) { static_cast<Alarm*>(timer.owner)->on_time_(); };
  }
  ~Alarm() { reactor_.cancel(timer_); }
  Alarm(const Alarm&) = delete;
  Alarm& operator=(const Alarm&) = delete;

  void set_after(int64_t ns) { reactor_.arm(timer_, reactor_.now_ns() + ns); }
  void set_at(int64_t deadline_ns) { reactor_.arm(timer_, deadline_ns); }
  void cancel() { reactor_.cancel(timer_); }
  bool is_set() const { return timer_.is_armed(); }

 private:
  net::Reactor& reactor_;
  std::function<void()> on_time_;
  net::Timer timer_;
};

}  // namespace millstream::wire
