#include "base/thread_worker.h"

#include <pthread.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include "base/assert.h"

namespace millstream::base {
namespace {

class ThreadWorker final : public Worker {
 public:
  ThreadWorker(std::string_view name, std::function<bool()> step)
      : step_(std::move(step)), thread_([this] { run(); }) {
    MS_ASSERT(name.size() <= 15);
    pthread_setname_np(thread_.native_handle(), std::string(name.substr(0, 15)).c_str());
  }
  ~ThreadWorker() override {
    MS_ASSERT(std::this_thread::get_id() != thread_.get_id());
    {
      std::lock_guard lock(mutex_);
      is_stopping_ = true;
    }
    changed_.notify_one();
    thread_.join();
  }
  void wake() override {
    if (is_awake_.exchange(true, std::memory_order_acq_rel)) return;
    // The lock orders this with the sleeper's last look at the flag.
    std::lock_guard lock(mutex_);
    changed_.notify_one();
  }

 private:
  void run() {
    for (;;) {
      {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return is_stopping_ || is_awake_.load(); });
        if (is_stopping_) return;
      }
      // Cleared before the step, so that a wake() during it brings another one.
      is_awake_.store(false, std::memory_order_seq_cst);
      while (step_()) {
        std::lock_guard lock(mutex_);
        if (is_stopping_) return;
      }
    }
  }

  std::function<bool()> step_;
  std::atomic<bool> is_awake_{false};
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_stopping_ = false;
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace

std::unique_ptr<Worker> ThreadWorkerFactory::start(std::string_view name,
                                                   std::function<bool()> step) {
  return std::make_unique<ThreadWorker>(name, std::move(step));
}

}  // namespace millstream::base
