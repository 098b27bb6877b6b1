// What a seed lets take part in its run.
// Thread: plain data.
#pragma once
#include <cstdint>
#include <string>

#include "base/random.h"

namespace millstream::sim {

struct QueueSwarm {
  explicit QueueSwarm(base::Random& random);
  std::string describe() const;

  int clients = 1;
  int queues = 1;
  int episodes = 1;                           // between starts
  int calls_max = 100;                        // of an episode
  bool has_units = false, has_plain = false;  // in and outside syncpoint; one at least
  bool has_non_persistent = false;
  bool has_priorities = false;
  bool has_expiry = false;
  bool has_waits = false;
  bool has_selective = false;
  bool has_groups = false;
  bool has_browse = false;
  bool has_delay = false;
  bool has_big = false;   // above the chunk size
  bool has_deep = false;  // producers outweigh consumers
  bool has_poison = false;
  bool has_truncation = false;
  bool has_admin = false;  // define, delete, clear, alter
  bool has_checkpoints = false;
  bool has_pauses = false;
  bool has_xa = false;
  bool has_leaving = false;  // clients that disconnect or break
  bool has_little_memory = false;
  bool has_little_disk = false;
  bool has_io_faults = false;
  bool crashes_at_start = false;
  bool stops_clean_only = false;
  bool has_topic = false;       // publications to durable subscriptions of the queues
  bool has_selectors = false;   // properties, and gets by JMS selectors
  bool has_heuristics = false;  // branches that the operator decides
  bool has_read_faults = false;
};

}  // namespace millstream::sim
