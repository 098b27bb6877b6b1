// A number that one thread writes and any thread reads, without a locked instruction: the shards of
// statistics are made of these.
// Thread: add, raise_to and set by the writer; get by any. set() from another thread may lose what
// the writer adds at that instant.
#pragma once
#include <atomic>
#include <cstdint>

namespace millstream::base {

// False only in a build that the cost of counting and watching is measured against
// (bench/observe_cost.py).
#ifdef MS_UNCOUNTED
inline constexpr bool kCounts = false;
#else
inline constexpr bool kCounts = true;
#endif

class Counter {
 public:
  void add(uint64_t n = 1) {
    if constexpr (!kCounts) return;
    value_.store(value_.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
  }
  void raise_to(uint64_t n) {
    if (n > value_.load(std::memory_order_relaxed)) value_.store(n, std::memory_order_relaxed);
  }
  uint64_t get() const { return value_.load(std::memory_order_relaxed); }
  void set(uint64_t n) { value_.store(n, std::memory_order_relaxed); }

 private:
  std::atomic<uint64_t> value_{0};
};

}  // namespace millstream::base
