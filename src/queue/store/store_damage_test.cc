// Damage of every kind of file is found, located and named, by verify_store() and by a start; and
// what a disk does short of damage (errors, a full disk, torn tails) ends as the rules say.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "base/thread_worker.h"
#include "io/durable.h"
#include "io/posix_disk.h"
#include "queue/store/inspect.h"
#include "queue/store/overflow.h"
#include "queue/store/store_rig_for_test.h"

namespace millstream::queue {

namespace {

// A store with content in journal, message spill and record spill.
void fill_store(StoreRig& rig, int rounds = 6) {
  REQUIRE_MESSAGE(rig.open(), rig.open_error);
  for (int round = 0; round < rounds; ++round) {
    const std::string once = "once " + std::to_string(round);
    for (int i = 0; i < 8; ++i) {
      RedoUnit unit;
      unit.puts.push_back(rig.make_put(1 + static_cast<QueueId>(i) % 3, 30, 700));
      unit.records.push_back({1, i % 2 ? "a key" : "another", "a value", false});
      if (i == 0) unit.records.push_back({2, once, "kept", false});
      rig.append(unit);
      rig.run();
    }
    if (round < 4) {
      rig.store->checkpoint();
      rig.run();
    }
  }
  REQUIRE(rig.settled());
}

bool damage_is_found(io::SimDisk& disk, const std::string& file, std::string* found) {
  Result<StoreInspection> inspection = verify_store(disk, small_store_options());
  if (!inspection.ok()) {
    *found = inspection.error().text;
    return inspection.error().text.find(file) != std::string::npos;
  }
  for (const StoreFinding& f : inspection.value().findings) {
    *found += f.describe() + "\n";
    if (f.file == file) return true;
  }
  return false;
}

std::string file_of_kind(io::SimDisk& disk, const std::string& folder, size_t i) {
  std::vector<std::string> names;
  for (const std::string& name : disk.all_files()) {
    const std::string content = disk.content(name);
    const bool is_used = std::any_of(content.begin(), content.end(), [](char c) { return c; });
    if (name.rfind(folder, 0) == 0 && is_used) names.push_back(name);
  }
  return i < names.size() ? names[i] : "";
}

}  // namespace

TEST_CASE("store damage: a healthy store has no finding") {
  io::SimDisk disk(3);
  StoreRig rig(disk, 3);
  fill_store(rig);
  REQUIRE(rig.close().ok());
  const StoreInspection inspection =
      std::move(verify_store(disk, small_store_options())).take_value();
  CHECK(inspection.findings.empty());
  CHECK(inspection.journal_frames > 10);
  CHECK(inspection.spill_messages > 10);
  CHECK(inspection.spill_records > 0);
  size_t lines = 0;
  REQUIRE(dump_store(disk, [&](std::string_view) { ++lines; }, small_store_options()).ok());
  CHECK(lines > 30);
}

// NATS 7549 and 7556: one flipped bit dropped a whole suffix silently.
TEST_CASE("store damage: a flipped bit in any block of the journal is found (NATS-7549)") {
  size_t blocks = 1;
  for (size_t block = 0; block < blocks; ++block) {
    io::SimDisk disk(4);
    StoreRig rig(disk, 4);
    REQUIRE(rig.open());
    for (int i = 0; i < 12; ++i) {
      RedoUnit unit;
      unit.puts.push_back(rig.make_put(1 + static_cast<QueueId>(i) % 3, 30, 700));
      rig.append(unit);
      rig.run();
    }
    rig.sim.run_for_ns(100'000'000);  // the covering block is written
    rig.drop(false);
    std::vector<std::pair<std::string, uint64_t>> places;
    for (const std::string& name : disk.all_files()) {
      const std::string content = disk.content(name);
      for (size_t at = 0; at + 4096 <= content.size(); at += 4096) {
        if (content.compare(at, 4, "MSJB") == 0) places.emplace_back(name, at);
      }
    }
    REQUIRE(places.size() == 14);  // epoch, twelve units, the cover
    blocks = places.size() - 1;
    CAPTURE(block);
    disk.flip_bit(places[block].first, places[block].second + (block % 2 ? 20 : 100), 3);
    std::string found;
    CHECK(damage_is_found(disk, places[block].first, &found));
    CHECK_FALSE(rig.open());
    CHECK(rig.open_error.find("MS2501") != std::string::npos);
    if (block > 0) {
      CHECK(rig.open_error.find(places[block].first) != std::string::npos);
      CHECK(rig.open_error.find("offset " + std::to_string(places[block].second)) !=
            std::string::npos);
    }
  }
}

TEST_CASE("store damage: spill and checkpoint files, by bit, page, cut and swap") {
  for (const std::string kind : {"bit", "zero", "cut", "swap"}) {
    for (const std::string folder : {"spill", "checkpoint"}) {
      for (size_t i = 0; i < 6; ++i) {
        io::SimDisk disk(5);
        StoreRig rig(disk, 5);
        fill_store(rig);
        REQUIRE(rig.close().ok());
        const std::string file = file_of_kind(disk, folder, i);
        if (file.empty()) break;
        CAPTURE(kind);
        CAPTURE(file);
        const std::string before = disk.content(file);
        if (kind == "bit") disk.flip_bit(file, folder == "spill" ? 4096 + 70 : 70, 5);
        if (kind == "zero") disk.zero_page(file, folder == "spill" ? 4096 : 0);
        if (kind == "cut") disk.truncate(file, folder == "spill" ? 4096 : 0);
        if (kind == "swap" && before.size() >= 3 * 4096) disk.swap_pages(file, 4096, 2 * 4096);
        if (disk.content(file) == before) continue;
        std::string found;
        const bool is_found = damage_is_found(disk, file, &found);
        const bool is_open = rig.open();
        std::string difference = is_open ? rig.check() : "refused: " + rig.open_error;
        CAPTURE(found);
        CAPTURE(difference);
        // Content is never wrong silently: the start refuses, a read does, or nothing is missing.
        if (!difference.empty()) {
          CHECK(rig.open_error != "");
          CHECK((is_found || found.find(folder) != std::string::npos));
        }
        if (folder == "spill" && kind != "swap") CHECK(is_found);
      }
    }
  }
}

TEST_CASE("store damage: both checkpoints gone is no new store") {
  io::SimDisk disk(6);
  StoreRig rig(disk, 6);
  fill_store(rig);
  REQUIRE(rig.close().ok());
  for (const std::string name : {"checkpoint/A", "checkpoint/B"}) {
    disk.truncate(name, 0);
  }
  CHECK_FALSE(rig.open());
  CHECK(rig.open_error.find("no data directory") != std::string::npos);
}

// AMQ-6625: the first error in a batch was survived, and later writes followed a partial one.
TEST_CASE("store damage: any error of a write stops the store at once (AMQ-6625)") {
  for (const io::SimFault fault :
       {io::SimFault::kEio, io::SimFault::kEnospc, io::SimFault::kShortWrite}) {
    for (uint64_t n = 1; n <= 25; ++n) {
      CAPTURE(n);
      io::SimDisk disk(n);
      StoreRig rig(disk, n);
      REQUIRE(rig.open());
      REQUIRE(rig.check() == "");
      disk.fail_at(n, fault);
      for (int i = 0; i < 60 && rig.failure.empty(); ++i) rig.random_step();
      if (!rig.failure.empty()) {
        CHECK(rig.failure.find("MS2500") != std::string::npos);
        const uint64_t writes = disk.durable_writes();
        rig.sim.run();
        CHECK(disk.durable_writes() == writes);  // nothing more, no retry
      }
      rig.drop(true);
      REQUIRE_MESSAGE(rig.open(), rig.open_error);
      CHECK(rig.check() == "");
    }
  }
}

TEST_CASE("store damage: a full disk refuses puts, gets and commits go on, and it recovers") {
  StoreOptions options = small_store_options();
  io::SimDisk disk(7, 1200 << 10);
  StoreRig rig(disk, 7, options);
  REQUIRE(rig.open());
  int puts = 0;
  for (; puts < 3000 && rig.store->admit(1000); ++puts) {
    RedoUnit unit;
    unit.puts.push_back(rig.make_put(1, 30, 800));
    rig.append(unit);
    for (int i = 0; i < 40; ++i) rig.sim.step_ready();
  }
  CHECK(puts < 3000);
  CHECK_FALSE(rig.store->admit(1000));
  REQUIRE(rig.failure == "");
  rig.run();
  CHECK(rig.settled());
  RedoGet get;
  for (int i = 0; i < puts && rig.take(1, &get); ++i) {
    RedoUnit unit;
    unit.gets.push_back(get);
    rig.append(unit);
    if (i % 4 == 0) {
      for (int n = 0; n < 40; ++n) rig.sim.step_ready();
    }
  }
  rig.sim.run_for_ns(100'000'000'000);
  rig.store->checkpoint();
  rig.sim.run_for_ns(100'000'000'000);
  rig.store->checkpoint();
  rig.sim.run_for_ns(100'000'000'000);
  REQUIRE(rig.failure == "");
  CHECK(rig.settled());
  CHECK(rig.store->admit(1000));
  CHECK(rig.is_admitting);
  rig.drop(true);
  REQUIRE_MESSAGE(rig.open(), rig.open_error);
  CHECK(rig.check() == "");
}

TEST_CASE("store damage: a disk that was full at the start is seen to have room again") {
  StoreOptions options = small_store_options();
  io::SimDisk disk(9);
  StoreRig rig(disk, 9, options);
  fill_store(rig);
  REQUIRE(rig.close().ok());
  disk.set_capacity(1);
  REQUIRE_MESSAGE(rig.open(), rig.open_error);
  rig.sim.run_for_ns(10'000'000'000);
  CHECK_FALSE(rig.store->admit(1000));
  disk.set_capacity(1ull << 40);
  rig.sim.run_for_ns(10'000'000'000);  // and nobody calls
  CHECK(rig.store->admit(1000));
  CHECK(rig.is_admitting);
  REQUIRE(rig.close().ok());
}

TEST_CASE("store damage: a disk that others fill and clear is noticed without any put of ours") {
  io::SimDisk disk(9);
  StoreRig rig(disk, 9, small_store_options());
  REQUIRE(rig.open());
  RedoUnit unit;
  unit.puts.push_back(rig.make_put(1, 30, 800));
  rig.append(unit);
  rig.run();
  CHECK(rig.store->admit(1000));
  disk.set_capacity(0);
  rig.sim.run_for_ns(6'000'000'000);
  CHECK_FALSE(rig.store->admit(1000));
  CHECK_FALSE(rig.is_admitting);
  CHECK(rig.store->puts_refused() == 1);
  disk.set_capacity(1ull << 40);
  rig.sim.run_for_ns(3'000'000'000);
  rig.store->checkpoint();
  rig.sim.run_for_ns(100'000'000'000);
  // Nothing is written any more: it is the disk alone that changes.
  CHECK(rig.store->admit(1000));
  disk.set_capacity(0);
  rig.store->checkpoint();
  rig.sim.run_for_ns(100'000'000'000);
  CHECK_FALSE(rig.is_admitting);
  disk.set_capacity(1ull << 40);
  rig.sim.run_for_ns(3'000'000'000);
  CHECK(rig.is_admitting);
  CHECK(rig.store->admit(1000));
  CHECK(rig.store->puts_refused() == 1);
  REQUIRE(rig.failure == "");
}

TEST_CASE("store damage: what a cold read gets wrong is an error, not another body") {
  io::SimDisk disk(8);
  StoreRig rig(disk, 8);
  fill_store(rig);
  REQUIRE(rig.close().ok());
  REQUIRE(rig.open());
  REQUIRE(rig.check() == "");
  int errors = 0;
  for (Sequence s = 1; s <= 8; ++s) {
    disk.fail_read_at(1, s % 2 ? io::SimReadFault::kBitFlip : io::SimReadFault::kEio);
    const std::string error = rig.read_error(1, s);
    CHECK(error != "another body");
    errors += !error.empty();
  }
  CHECK(errors >= 4);  // a bit may flip beside the message
}

TEST_CASE("store damage: salvage copies what is left and lists what is lost") {
  io::SimDisk disk(10), other(11);
  StoreRig rig(disk, 10);
  fill_store(rig);
  for (int i = 0; i < 30; ++i) rig.random_step();
  rig.run();
  rig.drop(false);
  base::SimScheduler sim(1);
  base::SimWorkerFactory workers(sim);
  const StoreEnvironment to{other, sim.clock(), sim.random(), workers};
  SalvageReport report = std::move(salvage_store(disk, to, small_store_options())).take_value();
  for (const StoreFinding& f : report.lost) INFO(f.describe());
  CHECK(report.lost.empty());
  StoreRig copy(other, 12);
  REQUIRE_MESSAGE(copy.open(), copy.open_error);
  copy.image = rig.image;
  copy.content.highest = rig.image.highest;  // may be lower where messages were got
  CHECK(copy.check() == "");
  CHECK_FALSE(salvage_store(disk, to, small_store_options()).ok());  // not into a store

  const std::string spilled = file_of_kind(disk, "spill", 0);
  disk.flip_bit(spilled, 4096 + 70);
  io::SimDisk third(13);
  report = std::move(salvage_store(disk, {third, sim.clock(), sim.random(), workers},
                                   small_store_options()))
               .take_value();
  REQUIRE(report.lost.size() >= 1);
  CHECK(report.lost[0].file == spilled);
  CHECK(report.lost[0].offset == 4096);
  StoreRig rest(third, 14);
  REQUIRE_MESSAGE(rest.open(), rest.open_error);
  CHECK(rest.content.messages.size() < copy.content.messages.size());
}

TEST_CASE("overflow: bodies come back, space is bounded and returns") {
  io::SimDisk disk(9);
  Overflow overflow(disk, 100'000, 20'000);
  std::vector<OverflowPlace> places;
  for (;;) {
    auto place = overflow.store(std::string(3000, static_cast<char>('a' + places.size())));
    if (!place.ok()) break;
    places.push_back(place.value());
  }
  CHECK(places.size() == 33);
  for (size_t i = 0; i < places.size(); ++i) {
    CHECK(std::move(overflow.read(places[i])).take_value() ==
          std::string(3000, static_cast<char>('a' + i)));
  }
  for (size_t i = 0; i < places.size(); ++i) overflow.free(places[i]);
  CHECK(overflow.used_bytes() == 0);
  CHECK(overflow.file_bytes() == 0);
  CHECK(overflow.store("again").ok());
}

TEST_CASE("journal store: the same code on threads and a real directory") {
  char folder[] = "/var/tmp/ms_store_XXXXXX";
  REQUIRE(::mkdtemp(folder));
  class Listener final : public StoreListener {
    bool moved(QueueId, Sequence, Location, Location) override { return true; }
    void failed(const base::Error& error) override { FAIL(error.describe()); }
    void space_changed(bool) override {}
  };
  class Done final : public Pending {
   public:
    void durable(std::span<const Location> puts) override {
      place = puts[0];
      is_done = true;
      is_done.notify_all();
    }
    Location place;
    std::atomic<bool> is_done{false};
  };
  StoreOptions options = small_store_options();
  options.disk_reserve_bytes = 0;
  for (int round = 0; round < 2; ++round) {
    base::ThreadWorkerFactory workers;
    auto disk = std::move(io::open_posix_disk(folder)).take_value();
    Listener listener;
    StoreContent content;
    ContentHandler handler(content);
    auto store =
        std::move(JournalStore::open(options,
                                     {*disk, base::system_clock(), base::system_random(), workers},
                                     listener, handler))
            .take_value();
    CHECK(content.messages.size() == static_cast<size_t>(round) * 50);
    for (int i = 0; i < 50 && round == 0; ++i) {
      const std::string body(2000, static_cast<char>('a' + i % 26));
      RedoUnit unit;
      unit.puts.push_back({1, {}, "header", body});
      unit.puts[0].index.sequence = static_cast<Sequence>(i + 1);
      Done done;
      store->append(unit, done);
      done.is_done.wait(false);
      if (i == 20) store->checkpoint();
    }
    REQUIRE(store->close().ok());
  }
  REQUIRE(io::remove_tree(folder).ok());
}

}  // namespace millstream::queue
