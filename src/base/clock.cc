#include "base/clock.h"

#include <time.h>

namespace millstream::base {
namespace {

int64_t read_clock_ns(clockid_t id) {
  timespec t{};
  clock_gettime(id, &t);
  return static_cast<int64_t>(t.tv_sec) * 1'000'000'000 + t.tv_nsec;
}

class SystemClock final : public Clock {
 public:
  int64_t monotonic_ns() const override { return read_clock_ns(CLOCK_MONOTONIC); }
  int64_t wall_gmt_micros() const override { return read_clock_ns(CLOCK_REALTIME) / 1000; }
};

// Never destroyed: threads that outlive main(), such as that of the database pools, still read it.
const SystemClock& kMachineClock = *new SystemClock;
constinit thread_local const Clock* t_clock = nullptr;

}  // namespace

const Clock& system_clock() { return t_clock ? *t_clock : kMachineClock; }

void set_thread_clock(const Clock* clock) { t_clock = clock; }

}  // namespace millstream::base
