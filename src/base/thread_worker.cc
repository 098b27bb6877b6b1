#include "base/thread_worker.h"

#include <pthread.h>

#include <atomic>
#include <chrono>
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
  void wake_at(int64_t deadline_ns) override {
    std::lock_guard lock(mutex_);
    deadline_ns_ = deadline_ns;
    changed_.notify_one();
  }

 private:
  void run() {
    for (;;) {
      {
        std::unique_lock lock(mutex_);
        sleep(lock);
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

  void sleep(std::unique_lock<std::mutex>& lock) {
    while (!is_stopping_ && !is_awake_.load()) {
      if (deadline_ns_ == kNever) {
        changed_.wait(lock);
        continue;
      }
      const int64_t left_ns = deadline_ns_ - system_clock().monotonic_ns();
      if (left_ns <= 0) break;
      changed_.wait_for(lock, std::chrono::nanoseconds(left_ns));
    }
    if (deadline_ns_ != kNever && deadline_ns_ <= system_clock().monotonic_ns()) {
      deadline_ns_ = kNever;
    }
  }

  static constexpr int64_t kNever = INT64_MAX;
  std::function<bool()> step_;
  std::atomic<bool> is_awake_{false};
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_stopping_ = false;
  int64_t deadline_ns_ = kNever;
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace

std::unique_ptr<Worker> ThreadWorkerFactory::start(std::string_view name,
                                                   std::function<bool()> step) {
  return std::make_unique<ThreadWorker>(name, std::move(step));
}

}  // namespace millstream::base
