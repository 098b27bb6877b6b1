#include "sim/queue_swarm.h"

#include <utility>

namespace millstream::sim {

QueueSwarm::QueueSwarm(base::Random& random) {
  auto up_to = [&](uint64_t n) { return static_cast<int>(random.next_u64() % n); };
  auto one_in = [&](uint64_t n) { return random.next_u64() % n == 0; };
  clients = 1 + up_to(4);
  queues = 1 + up_to(3);
  episodes = 1 + up_to(4);
  calls_max = 20 + up_to(160);
  has_units = !one_in(5);
  has_plain = !has_units || !one_in(4);
  for (bool* feature : {&has_non_persistent, &has_priorities, &has_expiry, &has_waits,
                        &has_selective, &has_browse, &has_checkpoints, &has_pauses, &has_leaving}) {
    *feature = one_in(2);
  }
  for (bool* feature : {&has_groups, &has_delay, &has_big, &has_deep, &has_poison, &has_truncation,
                        &has_admin, &crashes_at_start, &has_xa}) {
    *feature = one_in(3);
  }
  has_little_memory = one_in(6);
  has_little_disk = one_in(12);
  has_io_faults = one_in(5);
  stops_clean_only = one_in(10);
  has_topic = one_in(4);
  has_selectors = one_in(4);
  has_heuristics = has_xa && one_in(2);
  has_read_faults = one_in(8);
}

std::string QueueSwarm::describe() const {
  std::string out = std::to_string(clients) + " clients, " + std::to_string(queues) + " queues, " +
                    std::to_string(episodes) + " episodes of " + std::to_string(calls_max) +
                    " calls";
  const std::pair<bool, const char*> kNames[] = {
      {has_units, "units"},
      {has_plain, "plain"},
      {has_non_persistent, "non-persistent"},
      {has_priorities, "priorities"},
      {has_expiry, "expiry"},
      {has_waits, "waits"},
      {has_selective, "selective"},
      {has_groups, "groups"},
      {has_browse, "browse"},
      {has_delay, "delay"},
      {has_big, "big"},
      {has_deep, "deep"},
      {has_poison, "poison"},
      {has_truncation, "truncation"},
      {has_admin, "admin"},
      {has_checkpoints, "checkpoints"},
      {has_pauses, "pauses"},
      {has_xa, "XA"},
      {has_leaving, "leaving"},
      {has_little_memory, "little memory"},
      {has_little_disk, "little disk"},
      {has_io_faults, "I/O faults"},
      {crashes_at_start, "crashes at start"},
      {stops_clean_only, "clean stops only"},
      {has_topic, "topic"},
      {has_selectors, "selectors"},
      {has_heuristics, "heuristics"},
      {has_read_faults, "read faults"},
  };
  for (auto [is_on, name] : kNames) {
    if (is_on) out += std::string(", ") + name;
  }
  return out;
}

}  // namespace millstream::sim
