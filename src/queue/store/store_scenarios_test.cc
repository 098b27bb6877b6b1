// Failures that other brokers had in the field, run against the store alone. Each names its report.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "queue/store/store_rig_for_test.h"

namespace millstream::queue {

namespace {

void put_some(StoreRig& rig, QueueId queue, int count, size_t bytes = 500) {
  for (int i = 0; i < count; ++i) {
    RedoUnit unit;
    unit.puts.push_back(rig.make_put(queue, 30, bytes));
    rig.append(unit);
    rig.run();
  }
}

void checkpoint(StoreRig& rig, int times = 1) {
  for (int i = 0; i < times; ++i) {
    rig.store->checkpoint();
    rig.run();
  }
}

void kill_and_check(StoreRig& rig, bool is_power_cut = false) {
  REQUIRE(rig.failure == "");
  rig.drop(is_power_cut);
  REQUIRE_MESSAGE(rig.open(), rig.open_error);
  REQUIRE(rig.check() == "");
}

std::string prepare(StoreRig& rig, QueueId queue, int puts, bool with_get = true) {
  static int number = 0;
  RedoUnit unit;
  unit.kind = RedoKind::kPrepare;
  const std::string xid = "scenario" + std::to_string(++number);
  unit.xid = xid;
  for (int i = 0; i < puts; ++i) unit.puts.push_back(rig.make_put(queue, 30, 300));
  RedoGet get;
  if (with_get && rig.take(queue, &get)) unit.gets.push_back(get);
  rig.append(unit);
  rig.run();
  return xid;
}

struct Scenario {
  explicit Scenario(uint64_t seed) : disk(seed), rig(disk, seed) {
    REQUIRE_MESSAGE(rig.open(), rig.open_error);
  }
  io::SimDisk disk;
  StoreRig rig;
};

}  // namespace

TEST_CASE("store scenario 2: exactly one spill file, kill, start (ARTEMIS-2092)") {
  Scenario s(2);
  put_some(s.rig, 1, 20);
  checkpoint(s.rig, 2);
  CHECK(s.rig.moves == 20);
  kill_and_check(s.rig);
  CHECK(s.rig.depth(1) == 20);
}

TEST_CASE(
    "store scenario 3: a tail cut in the middle of a record, then more writes (ARTEMIS-2425)") {
  for (uint64_t seed = 1; seed <= 12; ++seed) {
    CAPTURE(seed);
    Scenario s(seed);
    put_some(s.rig, 1, 10);
    s.disk.crash_at(1);
    put_some(s.rig, 1, 1, 9000);
    CHECK(s.disk.has_crashed());
    s.rig.drop(true);
    REQUIRE_MESSAGE(s.rig.open(), s.rig.open_error);
    REQUIRE(s.rig.check() == "");
    CHECK(s.rig.depth(1) >= 10);
    put_some(s.rig, 1, 10);
    kill_and_check(s.rig, true);
    CHECK(s.rig.depth(1) >= 20);
  }
}

TEST_CASE("store scenario 4: reclaim, segment roll and load, killed anywhere (ARTEMIS-2053)") {
  for (uint64_t n = 1; n <= 60; ++n) {
    CAPTURE(n);
    Scenario s(n);
    s.disk.crash_at(10 * n);
    for (int i = 0; i < 200 && !s.disk.has_crashed(); ++i) {
      RedoUnit unit;
      unit.puts.push_back(s.rig.make_put(1, 30, 3000));
      RedoGet get;
      if (i % 3 && s.rig.take(1, &get)) unit.gets.push_back(get);
      s.rig.append(unit);
      for (int k = 0; k < 12; ++k) s.rig.sim.step_ready();
    }
    s.rig.drop(true);
    REQUIRE_MESSAGE(s.rig.open(), s.rig.open_error);
    REQUIRE(s.rig.check() == "");
  }
}

TEST_CASE("store scenario 5: old open units commit while a checkpoint runs (ARTEMIS-1114)") {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    Scenario s(seed);
    put_some(s.rig, 1, 10);
    const std::string a = prepare(s.rig, 1, 5), b = prepare(s.rig, 1, 3);
    checkpoint(s.rig, 2);
    s.rig.store->checkpoint();
    for (uint64_t i = 0; i < seed; ++i) s.rig.sim.step_ready();
    RedoUnit commit = s.rig.settle(a, true);
    s.rig.append(commit);
    for (uint64_t i = 0; i < seed % 7; ++i) s.rig.sim.step_ready();
    s.rig.append(s.rig.settle(b, false));
    s.rig.run();
    kill_and_check(s.rig, true);
    CHECK(s.rig.content.prepared.empty());
    CHECK(s.rig.content.messages.size() == 10 - 1 + 5);
  }
}

TEST_CASE("store scenario 7: a prepared unit names a queue that was deleted since (ARTEMIS-3554)") {
  Scenario s(7);
  put_some(s.rig, 1, 5);
  const std::string xid = prepare(s.rig, 1, 2);
  RedoUnit gone;
  gone.clears.push_back({1, 5, true});
  s.rig.append(gone);
  put_some(s.rig, 2, 3);
  kill_and_check(s.rig);
  CHECK(s.rig.content.prepared.size() == 1);
  s.rig.append(s.rig.settle(xid, false));
  s.rig.run();
  kill_and_check(s.rig);
  CHECK(s.rig.depth(2) == 3);
}

TEST_CASE("store scenario 11: order and priorities are the same after a start (ARTEMIS-5032)") {
  Scenario s(11);
  put_some(s.rig, 1, 30);
  checkpoint(s.rig, 2);
  put_some(s.rig, 1, 30);
  kill_and_check(s.rig);  // compares sequence and priority of each, and the order they are told in
  CHECK(s.rig.depth(1) == 60);
}

TEST_CASE("store scenario 12: a large message is absent or complete (ARTEMIS-2186)") {
  for (uint64_t n = 1; n <= 24; ++n) {
    CAPTURE(n);
    Scenario s(n);
    put_some(s.rig, 1, 2);
    s.disk.crash_at(n);
    RedoUnit unit;
    unit.puts.push_back(s.rig.make_put(1, 30, 200'000));
    s.rig.append(unit);
    s.rig.run();
    s.rig.drop(true);
    REQUIRE_MESSAGE(s.rig.open(), s.rig.open_error);
    REQUIRE(s.rig.check() == "");
  }
}

TEST_CASE("store scenario 13: prepare, many checkpoints, commit, start (AMQ-7067)") {
  Scenario s(13);
  put_some(s.rig, 1, 10);
  const std::string xid = prepare(s.rig, 1, 4);
  checkpoint(s.rig, 5);
  kill_and_check(s.rig);
  REQUIRE(s.rig.content.prepared.size() == 1);
  checkpoint(s.rig, 3);
  s.rig.append(s.rig.settle(xid, true));
  s.rig.run();
  checkpoint(s.rig, 3);
  kill_and_check(s.rig, true);
  CHECK(s.rig.content.prepared.empty());
  CHECK(s.rig.content.messages.size() == 13);
}

TEST_CASE(
    "store scenarios 14 and 29: what was consumed stays so after rewriting (AMQ-8201, NATS-7384)") {
  Scenario s(14);
  put_some(s.rig, 1, 60);
  checkpoint(s.rig, 2);
  for (int i = 0; i < 50; ++i) {
    RedoGet get;
    REQUIRE(s.rig.take(1, &get));
    RedoUnit unit;
    unit.gets.push_back(get);
    s.rig.append(unit);
    s.rig.run();
    if (i % 10 == 0) checkpoint(s.rig);
  }
  checkpoint(s.rig, 4);
  kill_and_check(s.rig, true);
  CHECK(s.rig.depth(1) == 10);
}

TEST_CASE("store scenario 17: a unit of 100,000 puts, killed right after its commit (AMQ-6522)") {
  io::SimDisk disk(17);
  StoreOptions options;
  options.segment_bytes = 4 << 20;
  options.first_segment_bytes = 2 << 20;
  options.segments_spare = 1;
  options.spill_file_bytes = 4 << 20;
  options.disk_reserve_bytes = 0;
  StoreRig rig(disk, 17, options);
  REQUIRE(rig.open());
  RedoUnit unit;
  const std::string header = "h", body = "body of one";
  for (int i = 0; i < 100'000; ++i) {
    unit.puts.push_back({1 + static_cast<QueueId>(i) % 3, {}, header, body});
  }
  rig.append(unit);
  rig.run();
  REQUIRE(rig.settled());
  rig.drop(true);
  StoreContent content;
  ContentHandler handler(content);
  base::SimScheduler sim(1);
  base::SimWorkerFactory workers(sim);
  auto store =
      JournalStore::open(options, {disk, sim.clock(), sim.random(), workers}, rig, handler);
  REQUIRE(store.ok());
  CHECK(content.messages.size() == 100'000);
  CHECK(content.order_error == "");
}

TEST_CASE("store scenario 20: a start with prepared units loses no other message (QPID-5460)") {
  Scenario s(20);
  for (int i = 0; i < 5; ++i) {
    put_some(s.rig, 1, 5);
    prepare(s.rig, 1, 2);
  }
  kill_and_check(s.rig, true);
  CHECK(s.rig.content.prepared.size() == 5);
  CHECK(s.rig.content.messages.size() == 25);
}

TEST_CASE(
    "store scenario 21: a last record that is cut at every length, across files (QPID-5473)") {
  for (int pages = 0; pages <= 3; ++pages) {
    for (int fill = 0; fill < 6; ++fill) {
      CAPTURE(pages);
      CAPTURE(fill);
      Scenario s(21);
      put_some(s.rig, 1, 5 + fill, 3000);
      put_some(s.rig, 2, 1, 10'000);
      s.rig.drop(false);
      // The last block, in the file that has it.
      std::string file;
      size_t last = 0;
      uint64_t sequence = 0;
      for (const std::string& name : s.disk.all_files()) {
        const std::string content = s.disk.content(name);
        for (size_t at = 0; at + 4096 <= content.size(); at += 4096) {
          uint64_t found;
          __builtin_memcpy(&found, content.data() + at + 16, 8);
          if (content.compare(at, 4, "MSJB") != 0 || found < sequence) continue;
          file = name;
          last = at;
          sequence = found;
        }
      }
      for (size_t at = last + static_cast<size_t>(pages) * 4096;
           at < last + 4 * 4096 && at < s.disk.content(file).size(); at += 4096) {
        s.disk.zero_page(file, at);
      }
      REQUIRE_MESSAGE(s.rig.open(), s.rig.open_error);
      CHECK(s.rig.content.messages.size() >= static_cast<size_t>(5 + fill));
      if (pages > 0 && s.rig.content.messages.size() == static_cast<size_t>(5 + fill)) {
        REQUIRE(s.rig.store->recovery().tails.size() == 1);  // reported
        CHECK(s.rig.store->recovery().tails[0].file == file);
        CHECK(s.rig.store->recovery().tails[0].offset == last);
      }
    }
  }
}

TEST_CASE("store scenario 23: record sizes around every page and file end (RabbitMQ-14576)") {
  Scenario s(23);
  for (int bytes = 3900; bytes < 4100; bytes += 7) put_some(s.rig, 1, 1, bytes);
  for (int bytes = 8000; bytes < 8300; bytes += 11) put_some(s.rig, 2, 1, bytes);
  checkpoint(s.rig, 3);
  kill_and_check(s.rig);
  checkpoint(s.rig, 2);
  kill_and_check(s.rig, true);
}

// NATS 4195 and 5703: a kill during a start cut the metadata.
TEST_CASE(
    "store scenario 26: one locked message and much traffic, the disk bounded (RabbitMQ-14522)") {
  io::SimDisk disk(26, 2 << 20);
  StoreRig rig(disk, 26);
  REQUIRE_MESSAGE(rig.open(), rig.open_error);
  put_some(rig, 1, 1);
  const std::string locked = prepare(rig, 1, 0);
  for (int i = 0; i < 4000; ++i) {  // five times the disk
    put_some(rig, 1, 1, 2000);
    RedoUnit unit;
    RedoGet get;
    REQUIRE(rig.take(1, &get));
    unit.gets.push_back(get);
    rig.append(unit);
    rig.run();
    if (i % 50 == 0) rig.sim.run_for_ns(1'000'000'000);
    REQUIRE(rig.store->admit(2000));
  }
  REQUIRE(rig.failure == "");
  CHECK(rig.prepared_xids() == std::vector<std::string>{locked});
  kill_and_check(rig);
  rig.append(rig.settle(locked, false));
  rig.run();
  kill_and_check(rig);
  CHECK(rig.depth(1) == 1);
}

TEST_CASE("store scenario 28: killed during the start, 500 times (NATS-4195)") {
  Scenario s(28);
  RedoUnit unit;
  unit.records.push_back({1, "QUEUE.A", "definition", false});
  s.rig.append(unit);
  put_some(s.rig, 1, 12);
  checkpoint(s.rig, 2);
  s.rig.drop(true);
  REQUIRE(s.rig.open());
  REQUIRE(s.rig.check() == "");
  s.rig.drop(true);
  for (uint64_t i = 0; i < 500; ++i) {
    s.disk.crash_at(1 + i % 9);
    if (s.rig.open()) s.rig.run();
    s.rig.drop(true);
  }
  REQUIRE_MESSAGE(s.rig.open(), s.rig.open_error);
  REQUIRE(s.rig.check() == "");
  CHECK(s.rig.content.records.size() == 1);
  CHECK(s.rig.depth(1) == 12);
}

TEST_CASE(
    "store scenario 30: killed while a queue is cleared: old or empty, never sequence 0 "
    "(NATS-7676)") {
  for (uint64_t n = 1; n <= 20; ++n) {
    CAPTURE(n);
    Scenario s(n);
    put_some(s.rig, 1, 10);
    checkpoint(s.rig, n % 3);
    s.disk.crash_at(n);
    RedoUnit clear;
    clear.clears.push_back({1, 10, false});
    s.rig.append(clear);
    s.rig.store->checkpoint();
    s.rig.run();
    s.rig.drop(true);
    REQUIRE_MESSAGE(s.rig.open(), s.rig.open_error);
    REQUIRE(s.rig.check() == "");
    const size_t depth = s.rig.content.messages.size();
    CHECK((depth == 0 || depth == 10));
    CHECK(s.rig.content.highest[1] == 10);
  }
}

TEST_CASE("store scenario 32: a power cut with the default rhythm loses nothing (NATS-7564)") {
  for (uint64_t seed = 1; seed <= 30; ++seed) {
    CAPTURE(seed);
    Scenario s(seed);
    for (int i = 0; i < 100; ++i) s.rig.random_step();
    kill_and_check(s.rig, true);
  }
}

}  // namespace millstream::queue
