#include "base/random.h"

#include <sys/random.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace millstream::base {
namespace {

class SystemRandom final : public Random {
 public:
  void fill(void* out, size_t size) override {
    auto* to = static_cast<char*>(out);
    while (size > 0) {
      if (left_ == 0) refill();
      size_t n = std::min(size, left_);
      char* from = block_ + sizeof block_ - left_;
      std::memcpy(to, from, n);
      std::memset(from, 0, n);  // what was given out is not kept
      to += n;
      size -= n;
      left_ -= n;
    }
  }

 private:
  void refill() {
    size_t have = 0;
    while (have < sizeof block_) {
      ssize_t n = getrandom(block_ + have, sizeof block_ - have, 0);
      if (n > 0) have += static_cast<size_t>(n);
      if (n < 0 && errno != EINTR) std::abort();  // no kernel we run on lacks it
    }
    left_ = sizeof block_;
  }

  char block_[256];
  size_t left_ = 0;
};

}  // namespace

Random& system_random() {
  thread_local SystemRandom random;
  return random;
}

// SplitMix64.
void SeededRandom::fill(void* out, size_t size) {
  auto* to = static_cast<char*>(out);
  while (size > 0) {
    uint64_t z = (state_ += 0x9E3779B97F4A7C15ull);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    z ^= z >> 31;
    size_t n = std::min(size, sizeof z);
    std::memcpy(to, &z, n);
    to += n;
    size -= n;
  }
}

}  // namespace millstream::base
