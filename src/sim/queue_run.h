// One simulated life of a queue manager, made from one seed: clients that put, get, browse, commit
// and back out; an administrator; crashes, clean stops, faults of the disk; at the end the ledger
// is judged. The same seed gives the same run.
//
//   RunResult result = run_queue_seed({.seed = 42});
//   if (!result.ok()) print(result.report());
//
// Every seed chooses which features take part at all (swarm), so that rare combinations are met
// undisturbed. Thread: any; runs share nothing.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace millstream::sim {

struct RunOptions {
  uint64_t seed = 1;
  bool keeps_trace = false;  // all of it in RunResult::trace, not only the end
};

struct RunResult {
  uint64_t seed = 0;
  uint64_t hash = 0;  // of everything that happened
  uint64_t events = 0, disk_operations = 0, calls = 0, starts = 0;
  uint64_t units = 0, puts = 0, gets = 0, left = 0, crashes = 0;
  std::string features;  // that the seed chose
  std::vector<std::string> violations;
  std::vector<std::string> trace;

  bool ok() const { return violations.empty(); }
  std::string report() const;
};

RunResult run_queue_seed(const RunOptions& options);

}  // namespace millstream::sim
