#include "net/blocking_pool.h"

#include <openssl/crypto.h>

#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

#include "net/waiting.h"

namespace millstream::net {

static std::atomic<int> g_busy{0};

struct BlockingPool::State {
  int threads_max;
  std::mutex mutex;
  std::condition_variable condition;
  std::deque<std::function<void()>> jobs;
  std::vector<std::thread> threads;
  int idle = 0;
  bool is_stopping = false;

  void work() {
    std::unique_lock lock(mutex);
    for (;;) {
      ++idle;
      condition.wait(lock, [this] { return is_stopping || !jobs.empty(); });
      --idle;
      if (jobs.empty()) return;
      std::function<void()> job = std::move(jobs.front());
      jobs.pop_front();
      lock.unlock();
      job();
      job = nullptr;
      g_busy.fetch_sub(1);
      lock.lock();
    }
  }
};

BlockingPool::BlockingPool(int threads_max) : state_(std::make_unique<State>()) {
  state_->threads_max = threads_max;
}

BlockingPool::~BlockingPool() {
  {
    std::lock_guard lock(state_->mutex);
    state_->is_stopping = true;
  }
  state_->condition.notify_all();
  for (auto& thread : state_->threads) thread.join();
}

BlockingPool& BlockingPool::shared() {
  // OpenSSL keeps something for each thread and gives it back when the thread ends: it must still
  // be there when the threads of the pool do, so its end is registered before the pool's.
  static const int kHasOpenssl = OPENSSL_init_crypto(OPENSSL_INIT_LOAD_CRYPTO_STRINGS, nullptr);
  static_cast<void>(kHasOpenssl);
  static BlockingPool pool;
  return pool;
}

int BlockingPool::busy_in_all() { return g_busy.load(); }

int BlockingPool::threads() const {
  std::lock_guard lock(state_->mutex);
  return static_cast<int>(state_->threads.size());
}

void BlockingPool::run(const std::function<void()>& fn) {
  if (!Fiber::current()) {
    fn();
    return;
  }
  FiberEvent done;
  submit([&] {
    fn();
    done.set();
  });
  done.wait(kNever, false);
}

void BlockingPool::submit(std::function<void()> fn) {
  g_busy.fetch_add(1);
  {
    std::lock_guard lock(state_->mutex);
    state_->jobs.push_back(std::move(fn));
    bool is_short = static_cast<int>(state_->jobs.size()) > state_->idle;
    if (is_short && static_cast<int>(state_->threads.size()) < state_->threads_max) {
      state_->threads.emplace_back([state = state_.get()] { state->work(); });
    }
  }
  state_->condition.notify_one();
}

}  // namespace millstream::net
