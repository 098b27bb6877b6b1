// Failures that other brokers had (specification of the store, 9.1) where the semantics, the store
// and the disk have to work together.
#include <doctest/doctest.h>

#include "sim/queue_node.h"

namespace millstream::sim {
namespace {

namespace oo = mqi::oo;
namespace gmo = mqi::gmo;

constexpr size_t kEventsMax = 10'000'000;

template <typename Call>
queue::Outcome scenario_wait(QueueNode& node, Call&& call) {
  queue::Outcome outcome;
  bool is_there = false;
  const queue::Outcome now = call([&](const queue::Outcome& o) {
    outcome = o;
    is_there = true;
  });
  if (!now.is_pending()) return now;
  REQUIRE(node.sim.run_until([&] { return is_there; }, kEventsMax));
  return outcome;
}

TEST_CASE("scenario 16 AMQ-7126: a start with twenty times more messages than memory") {
  constexpr size_t kMemory = 256 << 10, kBody = 16 << 10;
  constexpr int kCount = 320;
  NodeOptions options;
  options.memory_bytes_max = kMemory;
  QueueNode node(16, options);
  REQUIRE_MESSAGE(node.start(), node.error);
  queue::QueueSettings settings;
  settings.depth_max = kCount;
  node.manager().define_local("Q", settings);
  for (const bool is_full : {false, true}) {
    base::SimExecutor executor(node.sim);
    auto connection = node.connect(executor);
    queue::OpenCall open;
    open.object_name = "Q";
    open.options = oo::kOutput | oo::kInputShared;
    REQUIRE(connection->open(open).is_ok());
    for (int i = 0; i < kCount; ++i) {
      const std::string body(kBody, static_cast<char>('a' + i % 26));
      if (!is_full) {
        queue::PutCall put;
        put.md.persistence = 1;
        put.body = queue::Body::copy(body);
        const auto o = scenario_wait(node, [&](queue::Done done) {
          return connection->put(open.handle, put, std::move(done));
        });
        REQUIRE(o.is_ok());
      } else {
        queue::GetCall get;
        get.options = gmo::kNoSyncpoint;
        get.match_options = mqi::mo::kNone;
        const auto o = scenario_wait(node, [&](queue::Done done) {
          return connection->get(open.handle, get, std::move(done));
        });
        REQUIRE(o.is_ok());
        CHECK(get.body.view() == body);
      }
      CHECK(node.manager().memory_bytes() < 2 * kMemory);
    }
    if (is_full) break;
    node.kill();
    REQUIRE_MESSAGE(node.start(), node.error);
    CHECK(node.depth("Q") == kCount);
    CHECK(node.manager().memory_bytes() < 2 * kMemory);
  }
  CHECK(node.depth("Q") == 0);
}

TEST_CASE("scenario 22 QPID-5924: a queue costs no file, and ten thousand of them start") {
  constexpr int kQueues = 10'000;
  QueueNode node(22);
  REQUIRE_MESSAGE(node.start(), node.error);
  for (int i = 0; i < kQueues; ++i) {
    REQUIRE(node.manager().define_local("Q." + std::to_string(i), {}));
    if (i % 100 == 0) node.sim.run_ready(kEventsMax);
  }
  node.sim.run_ready(kEventsMax);
  for (const bool is_power_cut : {true, false}) {
    is_power_cut ? node.power_cut() : node.kill();
    REQUIRE_MESSAGE(node.start(), node.error);
    int found = 0;
    for (int i = 0; i < kQueues; ++i) {
      found += node.manager().find_queue("Q." + std::to_string(i)) != nullptr ? 1 : 0;
    }
    CHECK(found == kQueues);
  }
}

}  // namespace
}  // namespace millstream::sim
