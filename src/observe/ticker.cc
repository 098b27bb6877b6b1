#include "observe/ticker.h"

#include <chrono>

namespace millstream::observe {

Ticker::Ticker(int interval_s, std::function<void()> call) {
  thread_ = std::thread([this, interval_s, call = std::move(call)] {
    std::unique_lock lock(mutex_);
    while (!wake_.wait_for(lock, std::chrono::seconds(interval_s), [this] { return is_ending_; })) {
      lock.unlock();
      call();
      lock.lock();
    }
  });
}

Ticker::~Ticker() {
  {
    std::lock_guard lock(mutex_);
    is_ending_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

}  // namespace millstream::observe
