// Random bytes behind one interface, so that tests and the simulator replace them.
// Thread: the system source any; a SeededRandom one.
#pragma once
#include <cstddef>
#include <cstdint>

namespace millstream::base {

class Random {
 public:
  virtual ~Random() = default;
  virtual void fill(void* out, size_t size) = 0;
  uint64_t next_u64() {
    uint64_t v;
    fill(&v, sizeof v);
    return v;
  }
};

// The kernel's generator, fit for identifiers and keys; read in blocks a thread.
Random& system_random();

// The same sequence for the same seed. Not for secrets.
class SeededRandom final : public Random {
 public:
  explicit SeededRandom(uint64_t seed) : state_(seed) {}
  void fill(void* out, size_t size) override;

 private:
  uint64_t state_;
};

}  // namespace millstream::base
