#include "net/fiber.h"

#include <doctest/doctest.h>

#include <atomic>
#include <string>
#include <vector>

#include "net/blocking_pool.h"
#include "net/reactor_pool.h"
#include "net/waiting.h"

namespace {
namespace net = millstream::net;

std::unique_ptr<net::ReactorPool> make_test_pool(int cores, net::ReactorOptions options = {}) {
  auto pool = net::ReactorPool::create(cores, options);
  REQUIRE(pool.ok());
  return std::move(pool).take_value();
}

// Recurses until the remaining stack is small; returns the depth.
__attribute__((noinline)) int recurse_until_low(int depth) {
  volatile char frame[256];
  frame[0] = static_cast<char>(depth);
  if (net::stack_remaining_bytes() < 32 * 1024) return depth;
  int out = recurse_until_low(depth + 1);
  return out + frame[0] - frame[0];
}
}  // namespace

TEST_CASE("fibers run, suspend and are reused") {
  auto pool = make_test_pool(1);
  std::string order;
  pool->run_on(0, [&] {
    net::Reactor& reactor = *net::Reactor::current();
    reactor.spawn([&] { order += "b"; });
    order += "a";
    net::Fiber::current()->yield();
    order += "c";
  });
  CHECK(order == "abc");
  for (int i = 0; i < 100; ++i) pool->run_on(0, [] {});
  size_t created = 0;
  pool->run_on(0, [&] { created = net::Reactor::current()->fibers_created(); });
  CHECK(created <= 3);
}

TEST_CASE("tasks beyond the fiber limit wait") {
  net::ReactorOptions options;
  options.fibers_max = 2;
  auto pool = make_test_pool(1, options);
  net::FiberEvent go, done;
  std::atomic<int> ran{0};
  for (int i = 0; i < 10; ++i) {
    pool->reactor(0).spawn([&] {
      go.wait();
      if (++ran == 10) done.set();
    });
  }
  go.set();
  done.wait();
  CHECK(ran == 10);
}

TEST_CASE("deep recursion in a fiber sees the end of its stack") {
  auto pool = make_test_pool(1);
  int depth = 0;
  size_t remaining = 0;
  pool->run_on(0, [&] {
    remaining = net::stack_remaining_bytes();
    depth = recurse_until_low(0);
  });
  CHECK(remaining > 128 * 1024);
  CHECK(remaining <= 256 * 1024);
  CHECK(depth > 100);
  CHECK(net::stack_remaining_bytes() > remaining);  // the thread's own stack
}

TEST_CASE("stack size is configurable") {
  net::ReactorOptions options;
  options.stack_bytes = 1024 * 1024;
  auto pool = make_test_pool(1, options);
  size_t remaining = 0;
  pool->run_on(0, [&] { remaining = net::stack_remaining_bytes(); });
  CHECK(remaining > 768 * 1024);
}

TEST_CASE("sleeping follows the injected clock") {
  millstream::base::VirtualClock time;
  net::ReactorOptions options;
  options.clock = &time;
  auto pool = make_test_pool(1, options);
  std::atomic<bool> is_asleep{false};
  net::FiberEvent done;
  int64_t woke_at = 0;
  int64_t start = time.monotonic_ns();
  pool->reactor(0).spawn([&] {
    is_asleep = true;
    CHECK(net::sleep_for(3600 * net::kSecond));
    woke_at = net::Reactor::current()->now_ns();
    done.set();
  });
  pool->run_on(0, [] {});  // by now the first fiber sleeps
  CHECK(is_asleep);
  time.advance_ns(3599 * net::kSecond);
  pool->run_on(0, [] {});
  CHECK_FALSE(done.is_set());
  time.advance_ns(net::kSecond);
  pool->reactor(0).poke();
  done.wait();
  CHECK(woke_at == start + 3600 * net::kSecond);
}

TEST_CASE("CPU time of a fiber is that between its switches") {
  millstream::base::VirtualClock time;
  net::ReactorOptions options;
  options.clock = &time;
  auto pool = make_test_pool(1, options);
  int64_t used = -1;
  net::FiberEvent release, done;
  pool->reactor(0).spawn([&] {
    time.advance_ns(5 * net::kMillisecond);
    release.wait();
    time.advance_ns(2 * net::kMillisecond);
    used = net::fiber_cpu_ns();
    done.set();
  });
  pool->run_on(0, [] {});
  time.advance_ns(100 * net::kMillisecond);  // while suspended
  release.set();
  done.wait();
  CHECK(used == 7 * net::kMillisecond);
}

TEST_CASE("cancellation ends waits and stays") {
  auto pool = make_test_pool(2);
  net::FiberEvent never, started, done;
  net::FiberHandle handle;
  net::WakeReason reason = net::WakeReason::kWoken;
  bool slept = true;
  pool->reactor(0).spawn([&] {
    handle = net::Fiber::current()->handle();
    started.set();
    reason = never.wait();
    slept = net::sleep_for(3600 * net::kSecond);
    CHECK(net::is_current_cancelled());
    done.set();
  });
  started.wait();
  pool->run_on(1, [&] { handle.cancel(); });
  done.wait();
  CHECK(reason == net::WakeReason::kCancelled);
  CHECK_FALSE(slept);
  // The handle of a run that has ended does nothing to the next run on the same fiber.
  handle.cancel();
  bool is_cancelled = true;
  pool->run_on(0, [&] { is_cancelled = net::is_current_cancelled(); });
  CHECK_FALSE(is_cancelled);
}

TEST_CASE("stopping a reactor cancels its fibers") {
  auto pool = make_test_pool(1);
  net::FiberEvent never;
  std::atomic<int> ended{0};
  for (int i = 0; i < 5; ++i) {
    pool->reactor(0).spawn([&] {
      never.wait();
      ++ended;
    });
  }
  pool->run_on(0, [] {});
  pool->stop();
  CHECK(ended == 5);
}

TEST_CASE("a stop is not lost, whenever it comes in a turn of the reactor") {
  for (int round = 0; round < 3'000; ++round) {
    auto pool = make_test_pool(1);
    std::atomic<int> ran{0};
    const int posts = round % 30;
    for (int i = 0; i < posts; ++i) pool->reactor(0).post([&ran] { ++ran; });
    pool->stop();  // a lost one waits here for ever
    REQUIRE(ran == posts);
  }
}

TEST_CASE("a wake that comes while the fiber yields before its wait is not lost") {
  auto pool = make_test_pool(1);
  bool was_woken = false;
  pool->run_on(0, [&] {
    net::Fiber* fiber = net::Fiber::current();
    net::WaitTicket ticket = fiber->prepare_wait();
    net::Reactor::current()->post([ticket] { ticket.wake(); });
    fiber->yield();
    fiber->yield();
    was_woken =
        fiber->suspend(fiber->reactor().now_ns() + 3600 * net::kSecond) == net::WakeReason::kWoken;
  });
  CHECK(was_woken);
}

TEST_CASE("mutex excludes across reactors and is fair") {
  auto pool = make_test_pool(2);
  net::FiberMutex mutex;
  int64_t counter = 0;
  std::atomic<int> left{20};
  net::FiberEvent done;
  for (int f = 0; f < 20; ++f) {
    pool->reactor(f % 2).spawn([&] {
      for (int i = 0; i < 200; ++i) {
        REQUIRE(mutex.lock());
        int64_t seen = counter;
        if (i % 10 == 0) net::Fiber::current()->yield();  // held across a suspension
        counter = seen + 1;
        mutex.unlock();
      }
      if (--left == 0) done.set();
    });
  }
  done.wait();
  CHECK(counter == 4000);

  std::string order;
  net::FiberEvent all;
  REQUIRE(mutex.lock());
  for (char c : {'a', 'b', 'c', 'd'}) {
    int on = c % 2;
    pool->reactor(on).spawn([&, c] {
      REQUIRE(mutex.lock());
      order += c;
      mutex.unlock();
      if (c == 'd') all.set();
    });
    pool->run_on(on, [] {});  // it is in the queue now
  }
  mutex.unlock();
  all.wait();
  REQUIRE(mutex.lock());
  CHECK(order == "abcd");
  mutex.unlock();
}

TEST_CASE("mutex waits end with the deadline or cancellation") {
  auto pool = make_test_pool(1);
  net::FiberMutex mutex;
  REQUIRE(mutex.try_lock());
  bool got = true;
  pool->run_on(0, [&] { got = mutex.lock(net::Reactor::current()->now_ns() + net::kMillisecond); });
  CHECK_FALSE(got);
  net::FiberHandle handle;
  net::FiberEvent done;
  pool->reactor(0).spawn([&] {
    handle = net::Fiber::current()->handle();
    got = mutex.lock();
    done.set();
  });
  pool->run_on(0, [&] { handle.cancel(); });
  done.wait();
  CHECK_FALSE(got);
  mutex.unlock();
  CHECK(mutex.try_lock());
  mutex.unlock();
}

TEST_CASE("events hand over between fibers of two reactors") {
  auto pool = make_test_pool(2);
  constexpr int kRounds = 500;
  struct Pair {
    net::FiberEvent ping, pong;
    int value = 0;
  };
  std::vector<std::unique_ptr<Pair>> pairs;
  for (int i = 0; i < kRounds; ++i) pairs.push_back(std::make_unique<Pair>());
  net::FiberEvent done;
  int sum = 0;
  pool->reactor(1).spawn([&] {
    for (auto& pair : pairs) {
      pair->ping.wait();
      pair->value *= 2;
      pair->pong.set();
    }
  });
  pool->reactor(0).spawn([&] {
    for (auto& pair : pairs) {
      pair->value = 1;
      pair->ping.set();
      pair->pong.wait();
      sum += pair->value;
    }
    done.set();
  });
  done.wait();
  CHECK(sum == 2 * kRounds);
  net::FiberEvent never;
  net::WakeReason reason = net::WakeReason::kWoken;
  pool->run_on(0,
               [&] { reason = never.wait(net::Reactor::current()->now_ns() + net::kMillisecond); });
  CHECK(reason == net::WakeReason::kTimeout);
}

TEST_CASE("blocking functions run on other threads while fibers go on") {
  auto pool = make_test_pool(1);
  net::BlockingPool blocking(2);
  std::atomic<int> done_count{0};
  net::FiberEvent done, unblock;
  for (int i = 0; i < 2; ++i) {
    pool->reactor(0).spawn([&] {
      blocking.run([&] { unblock.wait(); });  // blocks a pool thread, not the reactor
      if (++done_count == 2) done.set();
    });
  }
  pool->run_on(0, [&] { unblock.set(); });
  done.wait();
  CHECK(done_count == 2);
  CHECK(blocking.threads() <= 2);
  int here = 0;
  blocking.run([&] { here = 1; });  // on a plain thread: at once
  CHECK(here == 1);
}

TEST_CASE("posted tasks run in order, also when the reactor has ended") {
  auto pool = make_test_pool(1);
  std::vector<int> order;
  for (int i = 0; i < 100; ++i) pool->reactor(0).post([&order, i] { order.push_back(i); });
  pool->stop();
  pool->reactor(0).post([&order] { order.push_back(100); });
  REQUIRE(order.size() == 101);
  for (int i = 0; i <= 100; ++i) CHECK(order[static_cast<size_t>(i)] == i);
}
