// Crashes of the store alone on the simulated disk. In each run the power goes at a disk operation
// (a write may be torn there, unsynced names and pages may be lost), often again during the
// recovery or the checkpoint that follows; the oracle of StoreRig then decides.
#include <doctest/doctest.h>

#include <cstdlib>
#include <string>

#include "queue/store/store_rig_for_test.h"

namespace millstream::queue {

namespace {

// MS_STORE_SEEDS multiplies the runs of the quick form.
uint64_t crash_test_scale() {
  const char* text = std::getenv("MS_STORE_SEEDS");
  return text ? std::strtoull(text, nullptr, 10) : 1;
}

// Opens, with a crash in the middle of up to `tries` attempts.
std::string open_through_crashes(StoreRig& rig, io::SimDisk& disk, base::Random& random,
                                 int tries) {
  for (int i = 0; i < tries; ++i) {
    if (random.next_u64() % 2) break;
    disk.crash_at(1 + random.next_u64() % 6);
    const bool is_open = rig.open();
    if (!disk.has_crashed()) {
      if (!is_open) return rig.open_error;
      const std::string difference = rig.check();
      if (!difference.empty()) return difference;
    }
    rig.drop(true);
  }
  if (!rig.open()) return rig.open_error;
  return rig.check();
}

// A crash at the n-th operation after the start, then more work, more crashes. "" or what is wrong.
std::string crash_run(uint64_t seed, uint64_t n, int steps, uint64_t* operations) {
  io::SimDisk disk(seed * 1000003 + n);
  base::SeededRandom random(seed * 31 + n);
  StoreRig rig(disk, seed);
  if (!rig.open()) return rig.open_error;
  std::string difference = rig.check();
  if (!difference.empty()) return difference;
  if (n > 0) disk.crash_at(n);
  const uint64_t before = disk.operations();
  for (int i = 0; i < steps && !disk.has_crashed(); ++i) rig.random_step();
  if (n == 0) {
    *operations = disk.operations() - before;
    return rig.failure;
  }
  for (int round = 0; round < 3; ++round) {
    if (!disk.has_crashed() && !rig.failure.empty()) return rig.failure;
    rig.drop(true);
    difference = open_through_crashes(rig, disk, random, 3);
    if (!difference.empty()) return "round " + std::to_string(round) + ": " + difference;
    disk.crash_at(1 + random.next_u64() % 60);
    for (int i = 0; i < steps / 3 && !disk.has_crashed(); ++i) rig.random_step();
  }
  return {};
}

}  // namespace

TEST_CASE("store crash: after every disk operation, nothing acknowledged is lost") {
  const uint64_t seeds = 6 * crash_test_scale();
  for (uint64_t seed = 1; seed <= seeds; ++seed) {
    uint64_t operations = 0;
    CAPTURE(seed);
    REQUIRE(crash_run(seed, 0, 120, &operations) == "");
    REQUIRE(operations > 0);
    for (uint64_t n = 1; n <= operations; ++n) {
      const std::string difference = crash_run(seed, n, 120, &operations);
      CAPTURE(n);
      REQUIRE(difference == "");
    }
  }
}

TEST_CASE("store crash: long runs with many checkpoints") {
  const uint64_t seeds = 40 * crash_test_scale();
  for (uint64_t seed = 1000; seed < 1000 + seeds; ++seed) {
    base::SeededRandom random(seed);
    CAPTURE(seed);
    uint64_t operations = 0;
    const std::string difference =
        crash_run(seed, 100 + random.next_u64() % 1500, 1200, &operations);
    REQUIRE(difference == "");
  }
}

TEST_CASE("store crash: kill -9 loses nothing either, and the process may die at any operation") {
  for (uint64_t seed = 1; seed <= 20 * crash_test_scale(); ++seed) {
    CAPTURE(seed);
    io::SimDisk disk(seed);
    StoreRig rig(disk, seed);
    REQUIRE_MESSAGE(rig.open(), rig.open_error);
    for (int round = 0; round < 5; ++round) {
      for (int i = 0; i < 80; ++i) rig.random_step();
      rig.drop(false);
      REQUIRE_MESSAGE(rig.open(), rig.open_error);
      REQUIRE(rig.check() == "");
    }
  }
}

}  // namespace millstream::queue
