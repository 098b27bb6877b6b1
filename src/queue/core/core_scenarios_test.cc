// Failures that other brokers had, as far as semantics go (specification of the store, 9.1), and
// the memory budget. Those about order and XA (6, 7, 8, 20) are in core_basic_test.cc and
// core_xa_test.cc.
#include <doctest/doctest.h>

#include "io/sim_disk.h"
#include "queue/core/paging.h"
#include "queue/core/queue_for_test.h"

namespace millstream::queue {
namespace {

namespace oo = mqi::oo;
namespace gmo = mqi::gmo;
namespace pmo = mqi::pmo;
namespace reason = mqi::reason;

mqi::MessageDescriptor scenario_md(int32_t persistence, int32_t expiry = -1) {
  mqi::MessageDescriptor md;
  md.persistence = persistence;
  md.expiry = expiry;
  return md;
}

TEST_CASE("scenario 9 ARTEMIS-5106: a put that fails for good lets the commit fail") {
  QueueWorld w;
  w.define("Q", {.message_bytes_max = 10});
  Hobj h = w.open(*w.a, "Q", oo::kOutput | oo::kInputShared);
  CHECK(w.put(*w.a, h, "first", 0, scenario_md(1)).is_ok());
  CHECK(w.get(*w.a, h, gmo::kSyncpoint) == "first");
  CHECK(w.put(*w.a, h, "good", pmo::kSyncpoint, scenario_md(1)).is_ok());
  CHECK(w.put(*w.a, h, "much too long", pmo::kSyncpoint).reason == reason::kMsgTooBigForQ);
  // The MQI leaves it to the application; protocols that cannot tell mark the unit.
  w.a->mark_rollback_only(reason::kMsgTooBigForQ);
  CHECK(w.commit(*w.a) == Outcome::failed(reason::kBackedOut));
  CHECK(w.depth("Q") == 1);
  CHECK(w.get(*w.a, h) == "first");
  CHECK(w.commit(*w.a).is_ok());
}

TEST_CASE("scenario 10 ARTEMIS-4141, 34 NATS-7984: what expires or is locked starves nobody") {
  QueueWorld w;
  w.define("Q", {.depth_max = 10});
  Hobj out = w.open(*w.a, "Q", oo::kOutput);
  Hobj in = w.open(*w.b, "Q", oo::kInputShared);
  for (int round = 0; round < 50; ++round) {
    for (int i = 0; i < 10; ++i) {
      CHECK(w.put(*w.a, out, std::string(1000, 'x'), 0, scenario_md(round % 2, 1)).is_ok());
    }
    CHECK(w.put(*w.a, out, "one more").reason == reason::kQFull);
    CHECK(w.get(*w.b, in, gmo::kSyncpoint).size() == 1000);  // expires while it is locked
    w.sim.clock().advance_ns(200'000'000);
    CHECK(w.get(*w.b, in) == "#2033");
    CHECK(w.b->back().is_ok());
    w.sim.run_ready();
    CHECK(w.depth("Q") == 0);
  }
  CHECK(w.manager->memory_bytes() == 0);
}

TEST_CASE("scenario 17 AMQ-6522: a unit of 100,000 puts, whole after a crash") {
  QueueManagerSettings settings;
  settings.uncommitted_max = 200'000;
  QueueWorld w(1, settings);
  w.define("Q", {.depth_max = 200'000});
  Hobj h = w.open(*w.a, "Q", oo::kOutput);
  for (int i = 0; i < 100'000; ++i) {
    PutCall call;
    call.md.persistence = 1;
    REQUIRE(w.a->put(h, call = {.md = scenario_md(1), .options = pmo::kSyncpoint}).is_ok());
  }
  CHECK(w.commit(*w.a).is_ok());
  w.crash();
  w.start();
  CHECK(w.depth("Q") == 100'000);
}

TEST_CASE("scenario 18 AMQ-9435: refused puts leave no hole that a getter stumbles over") {
  QueueWorld w;
  w.define("Q", {.depth_max = 3});
  Hobj h = w.open(*w.a, "Q", oo::kOutput | oo::kInputShared);
  int got = 0;
  for (int i = 0; i < 100; ++i) {
    (void)w.put(*w.a, h, "x", i % 2 == 0 ? pmo::kSyncpoint : 0, scenario_md(i % 3 == 0));
    if (i % 7 == 0) (void)w.a->back();
    if (i % 5 == 0) (void)w.commit(*w.a);
    while (w.get(*w.a, h) == "x") ++got;
  }
  CHECK(got > 50);
  (void)w.a->back();
  CHECK(w.depth("Q") == 0);
}

TEST_CASE("memory: the index of a deep queue counts, and is given back") {
  QueueWorld w;
  constexpr uint32_t kDeep = 3'000;
  w.define("DEEP", {.depth_max = kDeep});
  Hobj h = w.open(*w.a, "DEEP", mqi::oo::kOutput | mqi::oo::kInputShared);
  for (uint32_t i = 0; i < kDeep; ++i) REQUIRE(w.put(*w.a, h, "x").is_ok());
  QueueRef queue = w.manager->find_queue("DEEP");
  const size_t index = queue->index().memory_bytes();
  CHECK(index >= kDeep * sizeof(Entry));
  uint64_t messages = 0;
  queue->index().for_each([&](Slot, Entry& e) { messages += e.message->memory_bytes(); });
  CHECK(w.manager->memory_bytes() == messages + index - QueueIndex::kUncountedBytes);
  for (uint32_t i = 0; i < kDeep; ++i) REQUIRE(w.get(*w.a, h) == "x");
  CHECK(w.manager->memory_bytes() == 0);
}

TEST_CASE("scenario 19 AMQ-9625: over the memory limit and under it, a thousand times") {
  QueueWorld w;
  w.stop();
  w.memory_bytes_max = 20'000;
  w.start();
  w.define("Q", {.depth_max = 100'000});
  Hobj out = w.open(*w.a, "Q", oo::kOutput);
  Hobj in = w.open(*w.b, "Q", oo::kInputShared);
  GetCall call;
  int received = 0;
  std::function<void(const Outcome&)> again = [&](const Outcome& o) {
    if (!o.is_ok()) return;
    CHECK(call.body.view() == std::to_string(received));
    ++received;
    call.md = {};
    call.options = gmo::kWait;
    call.wait_ms = mqi::kUnlimited;
    Outcome next = w.b->get(in, call, again);
    if (!next.is_pending()) w.executor.post([&again, next] { again(next); });
  };
  call.options = gmo::kWait;
  call.wait_ms = mqi::kUnlimited;
  int sent = 0;
  bool is_started = false;
  for (int round = 0; round < 1000; ++round) {
    for (int i = 0; i < 30; ++i) {
      CHECK(w.put(*w.a, out, std::to_string(sent++), 0, scenario_md(1)).is_ok());
    }
    if (!is_started) {
      is_started = true;
      Outcome first = w.b->get(in, call, again);
      if (!first.is_pending()) again(first);
    }
    w.sim.run_ready();
    if (round % 100 == 99) CHECK(received == sent);
  }
  CHECK(w.depth("Q") == 0);
  CHECK(w.manager->memory_bytes() == 0);
}

TEST_CASE("memory: non-persistent messages page out and come back") {
  io::SimDisk disk(7);
  Overflow overflow(disk, 1u << 30, 1u << 20);
  QueueWorld w;
  w.stop();
  w.memory_bytes_max = 20'000;
  w.overflow = &overflow;
  w.start();
  w.define("Q", {.depth_max = 100'000});
  Hobj h = w.open(*w.a, "Q", oo::kOutput | oo::kInputShared | oo::kBrowse);
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 500; ++i) {
      CHECK(w.put(*w.a, h, std::to_string(i), 0, scenario_md(0, i % 2 ? 10'000 : -1)).is_ok());
      w.sim.run_ready();
    }
    CHECK(w.manager->memory_bytes() <= 25'000);
    CHECK(overflow.used_bytes() > 0);
    CHECK(w.get(*w.a, h, gmo::kBrowseFirst) == "0");
    for (int i = 1; i < 500; ++i) CHECK(w.get(*w.a, h, gmo::kBrowseNext) == std::to_string(i));
    for (int i = 0; i < 10; ++i) {
      CHECK(w.get(*w.a, h, gmo::kSyncpoint) == std::to_string(i));
    }
    CHECK(w.a->back().is_ok());
    for (int i = 0; i < 500; ++i) CHECK(w.get(*w.a, h) == std::to_string(i));
    CHECK(w.depth("Q") == 0);
    CHECK(w.manager->memory_bytes() == 0);
    CHECK(overflow.used_bytes() == 0);
  }
  w.stop();
}

TEST_CASE("memory: without paging, non-persistent puts beyond the budget get 2071") {
  QueueWorld w;
  w.stop();
  w.memory_bytes_max = 20'000;
  w.start();
  w.define("Q", {.depth_max = 100'000});
  Hobj h = w.open(*w.a, "Q", oo::kOutput | oo::kInputShared);
  int sent = 0;
  while (w.put(*w.a, h, std::to_string(sent)).is_ok()) ++sent;
  CHECK(w.put(*w.a, h, "x").reason == reason::kStorageNotAvailable);
  CHECK(sent > 10);
  CHECK(w.put(*w.a, h, "persistent", 0, scenario_md(1)).is_ok());
  for (int i = 0; i < sent; ++i) CHECK(w.get(*w.a, h) == std::to_string(i));
  CHECK(w.put(*w.a, h, "room again").is_ok());
}

TEST_CASE("scenario 24 RabbitMQ-13390: expiry and a crash in the middle lose nothing else") {
  for (uint64_t steps = 0; steps < 60; ++steps) {
    QueueWorld w(steps + 1);
    w.define("Q");
    Hobj h = w.open(*w.a, "Q", oo::kOutput);
    for (int i = 0; i < 20; ++i) {
      CHECK(w.put(*w.a, h, std::to_string(i), 0, scenario_md(1, i % 2 ? 5 : -1)).is_ok());
    }
    w.sim.clock().advance_ns(1'000'000'000);
    w.sim.run(steps);
    w.crash();
    w.start();
    REQUIRE(w.is_ok);
    Hobj in = w.open(*w.a, "Q", oo::kInputShared);
    for (int i = 0; i < 20; i += 2) CHECK(w.get(*w.a, in) == std::to_string(i));
    CHECK(w.get(*w.a, in) == "#2033");
  }
}

TEST_CASE("scenario 27 RabbitMQ-5257: consumers that come and go write nothing durable") {
  QueueWorld w;
  w.define("Q");
  w.sim.run_ready();
  uint64_t before = w.store->usage().units_written;
  for (int i = 0; i < 20'000; ++i) {
    auto c = w.connect();
    OpenCall open;
    open.object_name = "Q";
    open.options = oo::kInputShared;
    REQUIRE(c->open(open).is_ok());
    GetCall get;
    CHECK(c->get(open.handle, get).reason == reason::kNoMsgAvailable);
    if (i % 2 == 0) CHECK(c->close(open.handle).is_ok());
    if (i % 3 == 0) (void)c->disconnect();
    c->abandon();
  }
  w.sim.run_ready();
  CHECK(w.store->usage().units_written == before);
  CHECK(w.manager->connection_count() == 2);
}

TEST_CASE("scenario 33 NATS-6798: what is too large is refused at the put, with its condition") {
  QueueManagerSettings settings;
  settings.message_bytes_max = 1000;
  QueueWorld w(1, settings);
  w.define("Q", {.message_bytes_max = 2000});
  Hobj h = w.open(*w.a, "Q", oo::kOutput | oo::kInputShared);
  CHECK(w.put(*w.a, h, std::string(1001, 'x')).reason == reason::kMsgTooBigForQMgr);
  CHECK(w.put(*w.a, h, std::string(1000, 'x')).is_ok());
  CHECK(w.get(*w.a, h).size() == 1000);
}

}  // namespace
}  // namespace millstream::queue
