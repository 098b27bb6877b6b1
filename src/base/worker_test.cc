#include <doctest/doctest.h>

#include <atomic>
#include <vector>

#include "base/sim_executor.h"
#include "base/thread_worker.h"

namespace millstream {

namespace millstream {

TEST_CASE("worker: a thread loses no wake-up and repeats a step that has more to do") {
  base::ThreadWorkerFactory factory;
  std::atomic<int> given{0}, taken{0};
  {
    auto worker = factory.start("test", [&] {
      if (taken.load() == given.load()) return false;
      taken.fetch_add(1);
      taken.notify_all();
      return true;
    });
    for (int i = 1; i <= 1000; ++i) {
      given.fetch_add(1);
      worker->wake();
      if (i % 10 == 0) {
        for (int seen = taken.load(); seen != i; seen = taken.load()) taken.wait(seen);
      }
    }
    worker->wake_at(0);
  }
  CHECK(taken.load() == 1000);
}

TEST_CASE("worker: the simulation is the same for the same seed, and differs between seeds") {
  auto run = [](uint64_t seed) {
    base::SimScheduler sim(seed);
    base::SimExecutor a(sim), b(sim);
    base::SimWorkerFactory workers(sim);
    std::vector<int> order;
    int left = 5;
    auto worker = workers.start("w", [&] {
      order.push_back(300 + left);
      return --left > 0;
    });
    for (int i = 0; i < 10; ++i) {
      a.post([&order, i] { order.push_back(100 + i); });
      b.post([&order, i] { order.push_back(200 + i); });
    }
    worker->wake();
    sim.run();
    int last_a = 0;
    for (int v : order) {
      if (v / 100 != 1) continue;
      CHECK(v > last_a);  // one executor's tasks keep their order
      last_a = v;
    }
    CHECK(order.size() == 25);
    return order;
  };
  CHECK(run(1) == run(1));
  CHECK(run(1) != run(2));
}

TEST_CASE("worker: the virtual clock moves to the next timer only when nothing is ready") {
  base::SimScheduler sim(7);
  base::SimExecutor executor(sim);
  base::SimWorkerFactory workers(sim);
  std::vector<int64_t> at;
  auto worker = workers.start("w", [&] {
    at.push_back(sim.clock().monotonic_ns());
    return false;
  });
  worker->wake_at(50);
  worker->wake_at(70);
  const auto cancelled = executor.post_at(10, [&] { at.push_back(-1); });
  executor.post_at(30, [&] { at.push_back(sim.clock().monotonic_ns()); });
  CHECK(executor.cancel(cancelled));
  CHECK_FALSE(executor.cancel(cancelled));
  sim.run();
  CHECK(at == std::vector<int64_t>{30, 70});
  worker->wake_at(1000);
  worker.reset();
  CHECK(sim.run() == 0);
}

}  // namespace millstream

}  // namespace millstream
