#include <doctest/doctest.h>

#include "queue/store/store_rig_for_test.h"

namespace millstream::queue {

TEST_CASE("journal store: what was put is there after a clean stop and after a kill") {
  io::SimDisk disk(1);
  StoreRig rig(disk, 1);
  REQUIRE_MESSAGE(rig.open(), rig.open_error);
  CHECK(rig.store->recovery().is_new);
  RedoUnit unit;
  unit.puts.push_back(rig.make_put(1, 20, 100));
  unit.puts.push_back(rig.make_put(2, 20, 9000));
  rig.append(unit);
  CHECK_FALSE(rig.settled());  // nothing is durable within append()
  rig.run();
  CHECK(rig.settled());
  CHECK(rig.read_error(1, 1) == "");
  CHECK(rig.read_error(2, 1) == "");
  REQUIRE(rig.close().ok());
  REQUIRE_MESSAGE(rig.open(), rig.open_error);
  CHECK(rig.check() == "");
  RedoUnit get;
  get.gets.emplace_back();
  REQUIRE(rig.take(1, &get.gets.back()));
  rig.append(get);
  rig.run();
  rig.drop(false);
  REQUIRE_MESSAGE(rig.open(), rig.open_error);
  CHECK(rig.check() == "");
  CHECK(rig.depth(1) == 0);
  CHECK(rig.depth(2) == 1);
}

TEST_CASE("journal store: random units, clean restarts and kills") {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    io::SimDisk disk(seed);
    StoreRig rig(disk, seed);
    REQUIRE_MESSAGE(rig.open(), rig.open_error);
    for (int round = 0; round < 6; ++round) {
      CAPTURE(round);
      for (int i = 0; i < 150; ++i) rig.random_step();
      REQUIRE(rig.failure == "");
      if (round % 2 == 0) {
        REQUIRE(rig.close().ok());
      } else {
        rig.drop(round == 3);
      }
      REQUIRE_MESSAGE(rig.open(), rig.open_error);
      REQUIRE(rig.check() == "");
    }
  }
}

}  // namespace millstream::queue
