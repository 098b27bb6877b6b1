// Threads for what cannot be waited for without blocking: name look-ups, database drivers, files.
// run_blocking() suspends the calling fiber while one of the threads runs the function; on a plain
// thread it runs the function at once.
// Thread: any. The function must not use fiber facilities.
#pragma once
#include <functional>
#include <memory>

namespace millstream::net {

class BlockingPool {
 public:
  static constexpr int kDefaultThreadsMax = 16;

  explicit BlockingPool(int threads_max = kDefaultThreadsMax);
  ~BlockingPool();  // waits for running functions
  // Waits until fn has run; not cancellable, because fn may refer to the caller's stack.
  void run(const std::function<void()>& fn);
  // Returns at once; fn owns what it needs and runs on a thread of the pool, also in the
  // destructor.
  void submit(std::function<void()> fn);
  int threads() const;
  // Functions that run or wait for a thread, in all pools of the process.
  static int busy_in_all();

  static BlockingPool& shared();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

inline void run_blocking(const std::function<void()>& fn) { BlockingPool::shared().run(fn); }

}  // namespace millstream::net
