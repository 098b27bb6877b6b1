#include "queue/store/teller.h"

#include <doctest/doctest.h>

#include <deque>
#include <vector>

#include "base/sim_executor.h"
#include "io/sim_disk.h"
#include "queue/store/errors_gen.h"

namespace millstream::queue::store {
namespace {

class TellerListener final : public StoreListener {
 public:
  int failures = 0;

 private:
  bool moved(QueueId, Sequence, Location, Location) override { return true; }
  void failed(const base::Error&) override { ++failures; }
  void space_changed(bool) override {}
};

class TellerWorker final : public base::Worker {
 public:
  void wake() override { ++wakes; }
  void wake_at(int64_t) override {}
  int wakes = 0;
};

struct TellerRig {
  class Unit final : public Pending {
   public:
    Unit(TellerRig& rig, int number) : rig_(rig), number_(number) {}
    void durable(std::span<const Location> puts) override {
      rig_.told.push_back(number_);
      for (const Location& put : puts) rig_.places.push_back(put.at);
    }

   private:
    TellerRig& rig_;
    const int number_;
  };

  explicit TellerRig(uint32_t at_once)
      : disk(1),
        shared(options(at_once), disk, sim.clock(), sim.random(), listener),
        teller(shared) {
    teller.set_worker(&worker);
  }
  static StoreOptions options(uint32_t at_once) {
    StoreOptions o;
    o.units_told_at_once = at_once;
    return o;
  }
  // A block of so many units, each with one put whose place is its number.
  void block(int units) {
    Teller::Told block;
    for (int i = 0; i < units; ++i) {
      const int number = ++last;
      block.locations.push_back(Location{static_cast<uint64_t>(number)});
      block.units.push_back(
          {&pending.emplace_back(*this, number), static_cast<uint32_t>(block.locations.size())});
    }
    teller.tell(block);
    CHECK(block.units.empty());
    CHECK(block.locations.empty());
  }

  base::SimScheduler sim{1};
  io::SimDisk disk;
  TellerListener listener;
  StoreShared shared;
  TellerWorker worker;
  Teller teller;
  std::deque<Unit> pending;
  std::vector<int> told;
  std::vector<uint64_t> places;
  int last = 0;
};

}  // namespace

TEST_CASE("teller: a block of few units is told at once, one of many by the worker") {
  TellerRig rig(2);
  rig.block(2);
  CHECK(rig.told == std::vector<int>{1, 2});
  CHECK(rig.worker.wakes == 0);
  rig.block(3);
  CHECK(rig.told.size() == 2);
  CHECK(rig.worker.wakes == 1);
  CHECK_FALSE(rig.teller.step());
  CHECK(rig.told == std::vector<int>{1, 2, 3, 4, 5});
  CHECK(rig.places == std::vector<uint64_t>{1, 2, 3, 4, 5});
  CHECK(rig.shared.units_durable == 5);
}

TEST_CASE("teller: what comes before the worker has caught up waits for its turn") {
  TellerRig rig(2);
  rig.block(3);
  rig.block(1);
  CHECK(rig.told.empty());
  CHECK(rig.teller.step());
  CHECK(rig.told == std::vector<int>{1, 2, 3});
  rig.block(1);
  CHECK(rig.told.size() == 3);
  rig.teller.finish();
  CHECK(rig.told == std::vector<int>{1, 2, 3, 4, 5});
  rig.block(1);
  CHECK(rig.told.size() == 6);
}

TEST_CASE("teller: nothing is told after a failure") {
  TellerRig rig(2);
  rig.block(3);
  rig.shared.fail(StoreShared::failure("journal", 0, base::make_error(errors::kStoreClosed)));
  CHECK(rig.listener.failures == 1);
  rig.teller.finish();
  rig.block(1);
  CHECK(rig.told.empty());
  CHECK(rig.shared.units_durable == 0);
}

}  // namespace millstream::queue::store
