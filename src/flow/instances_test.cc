#include "flow/instances.h"

#include <doctest/doctest.h>

#include <atomic>
#include <string>

#include "net/reactor_pool.h"
#include "net/waiting.h"

namespace millstream::flow {
namespace {

std::unique_ptr<net::ReactorPool> make_instances_pool(int cores) {
  auto pool = net::ReactorPool::create(cores);
  REQUIRE(pool.ok());
  return std::move(pool).take_value();
}

TEST_CASE("instances: no limit, nobody waits") {
  Instances instances(0);
  CHECK_FALSE(instances.enter());
  CHECK_FALSE(instances.enter());
  CHECK(instances.in_use() == 2);
  instances.leave();
  instances.leave();
  CHECK(instances.in_use() == 0);
}

TEST_CASE("instances: messages beyond the limit take turns in the order of arrival") {
  auto pool = make_instances_pool(1);
  Instances instances(1);
  std::string order;
  size_t waited = 0;
  net::FiberEvent release, done;
  for (int i = 0; i < 5; ++i) {
    pool->reactor(0).spawn([&, i] {
      if (instances.enter()) ++waited;
      if (i == 0) release.wait();
      CHECK(instances.in_use() == 1);
      order += static_cast<char>('a' + i);
      net::Fiber::current()->yield();
      instances.leave();
      if (i == 4) done.set();
    });
  }
  pool->run_on(0, [] {});
  CHECK(order.empty());
  release.set();
  done.wait();
  pool->run_on(0, [] {});
  CHECK(order == "abcde");
  CHECK(waited == 4);
  CHECK(instances.in_use() == 0);
}

TEST_CASE("instances: never more than the limit at once, from several reactors") {
  auto pool = make_instances_pool(3);
  Instances instances(4);
  std::atomic<int> now{0}, most{0}, ended{0};
  constexpr int kMessages = 600;
  net::FiberEvent done;
  for (int i = 0; i < kMessages; ++i) {
    pool->reactor(i % 3).spawn([&] {
      instances.enter();
      const int inside = ++now;
      int seen = most.load();
      while (inside > seen && !most.compare_exchange_weak(seen, inside)) {
      }
      net::Fiber::current()->yield();
      --now;
      instances.leave();
      if (++ended == kMessages) done.set();
    });
  }
  done.wait();
  CHECK(most <= 4);
  CHECK(now == 0);
  for (int i = 0; i < 3; ++i) pool->run_on(i, [] {});
  CHECK(instances.in_use() == 0);
}

}  // namespace
}  // namespace millstream::flow
