#include <doctest/doctest.h>

#include <atomic>

#include "base/clock.h"
#include "net/reactor_pool.h"

namespace {
namespace net = millstream::net;
namespace base = millstream::base;

TEST_CASE("reactor: a clock of its own is that of its thread, and idle time can be skipped") {
  base::VirtualClock clock(1'000'000);
  std::atomic<int> idle_calls{0};
  net::ReactorOptions options;
  options.clock = &clock;
  options.on_idle = [&](int64_t deadline_ns) {
    ++idle_calls;
    if (deadline_ns != net::kNever) clock.advance_ns(deadline_ns - clock.monotonic_ns());
  };
  options.idle_wait_ms = 1;
  auto pool = net::ReactorPool::create(1, options).take_value();
  int64_t wall = 0, slept = 0;
  pool->run_on(0, [&] {
    wall = base::system_clock().wall_gmt_micros();
    net::sleep_for(3'600 * net::kSecond);  // an hour of that clock
    slept = base::system_clock().monotonic_ns();
  });
  CHECK(wall == 1'000'000);
  CHECK(slept >= 3'600 * net::kSecond);
  CHECK(idle_calls > 0);
  pool->stop();
  CHECK(base::system_clock().wall_gmt_micros() > 1'600'000'000'000'000);  // here it is today
}

}  // namespace
