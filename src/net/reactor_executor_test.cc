#include "net/reactor_executor.h"

#include <doctest/doctest.h>

#include <atomic>
#include <thread>

#include "base/post_batch.h"
#include "net/reactor_pool.h"
#include "net/waiting.h"

namespace {
namespace net = millstream::net;
namespace base = millstream::base;

// Time that jumps to the next timer whenever nothing else is to be done.
net::ReactorOptions skipping(base::VirtualClock& clock) {
  net::ReactorOptions options;
  options.clock = &clock;
  options.on_idle = [&clock](int64_t deadline_ns) {
    if (deadline_ns != net::kNever) clock.advance_ns(deadline_ns - clock.monotonic_ns());
  };
  options.idle_wait_ms = 1;
  return options;
}

TEST_CASE("executor: tasks run in order, timers in order of deadlines, on the reactor's thread") {
  base::VirtualClock clock(1'000'000);
  auto pool = net::ReactorPool::create(1, skipping(clock)).take_value();
  net::ReactorExecutor executor(pool->reactor(0), clock);
  std::string order;
  std::thread::id home, ran;
  pool->run_on(0, [&] {
    home = std::this_thread::get_id();
    net::FiberEvent done;
    executor.post_at(3 * net::kSecond, [&] {
      order += "3";
      ran = std::this_thread::get_id();
      done.set();
    });
    executor.post_at(2 * net::kSecond, [&] { order += "2"; });
    executor.post([&] { order += "a"; });
    executor.post([&] { order += "b"; });
    CHECK(done.wait() == net::WakeReason::kWoken);
  });
  CHECK(order == "ab23");
  CHECK(ran == home);
  CHECK(clock.monotonic_ns() >= 3 * net::kSecond);
  pool->stop();
}

TEST_CASE("executor: a timer cancelled from another thread never runs, and only one cancel wins") {
  auto pool = net::ReactorPool::create(1).take_value();
  net::ReactorExecutor executor(pool->reactor(0));
  constexpr int kTimers = 2'000;
  std::atomic<int> ran{0}, cancelled{0};
  for (int i = 0; i < kTimers; ++i) {
    const auto id = executor.post_at(executor.clock().monotonic_ns(), [&] { ++ran; });
    if (executor.cancel(id)) ++cancelled;
    CHECK(!executor.cancel(id));
  }
  pool->run_on(0, [] { net::sleep_for(0); });
  pool->stop();
  CHECK(ran + cancelled == kTimers);
}

TEST_CASE("executor: what is still waiting when it goes never runs") {
  auto pool = net::ReactorPool::create(1).take_value();
  bool has_run = false;
  {
    net::ReactorExecutor executor(pool->reactor(0));
    executor.post_at(executor.clock().monotonic_ns() + 3'600 * net::kSecond,
                     [&] { has_run = true; });
    pool->run_on(0, [] { net::sleep_for(0); });
    pool->stop();
  }
  CHECK(!has_run);
}

TEST_CASE("executor: posts of a batch arrive together, in order, when its scope ends") {
  auto pool = net::ReactorPool::create(1).take_value();
  net::ReactorExecutor executor(pool->reactor(0));
  base::PostBatch batch;
  std::string order;
  net::FiberEvent done;
  {
    const base::PostBatch::Scope scope(batch);
    executor.post([&] { order += "a"; });
    executor.post([&] { order += "b"; });
    pool->run_on(0, [&] { order += "0"; });  // not by the executor
    executor.post([&] { done.set(); });
  }
  done.wait(net::kNever, false);
  CHECK(order == "0ab");
  pool->stop();
  {
    const base::PostBatch::Scope scope(batch);
    executor.post([&] { order += "!"; });
    CHECK(order == "0ab");
  }
  CHECK(order == "0ab!");  // run() has returned: on this thread
}

}  // namespace
