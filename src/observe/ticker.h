// Calls a function every so many seconds on a thread of its own, for work beside the messages such
// as writing statistics. Destruction waits for a call that is running.
// Thread: any.
#pragma once
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace millstream::observe {

class Ticker {
 public:
  Ticker(int interval_s, std::function<void()> call);
  ~Ticker();

 private:
  std::mutex mutex_;
  std::condition_variable wake_;
  bool is_ending_ = false;
  std::thread thread_;
};

}  // namespace millstream::observe
