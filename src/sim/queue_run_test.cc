// Single seeds; the many are run by queue_proof (tests/crash).
#include "sim/queue_run.h"

#include <doctest/doctest.h>

namespace millstream::sim {
namespace {

TEST_CASE("simulated queue manager: seeds keep their promises") {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    RunResult result = run_queue_seed({.seed = seed});
    CHECK_MESSAGE(result.ok(), result.report());
    CHECK(result.calls > 0);
  }
}

TEST_CASE("simulated queue manager: the same seed gives the same run") {
  for (uint64_t seed = 1; seed <= 30; ++seed) {
    RunResult a = run_queue_seed({.seed = seed, .keeps_trace = true});
    RunResult b = run_queue_seed({.seed = seed, .keeps_trace = true});
    CHECK(a.hash == b.hash);
    CHECK(a.trace == b.trace);
    CHECK(a.events == b.events);
  }
}

}  // namespace
}  // namespace millstream::sim
