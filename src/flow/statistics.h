// Accounting of one flow in the terms of ACE's snapshot records (spec D).
//
// Every thread counts in its own shard, so that counting costs an ordinary store; a snapshot adds
// the shards up. Node times are measured only at node data level basic or above, since reading the
// clock costs more than a node.
// Thread: record_* any; snapshot any.
#pragma once
#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "base/counter.h"

namespace millstream::flow {

class Flow;

// nodeDataLevel of the product: what a snapshot says about single nodes.
enum class NodeDataLevel : uint8_t { kNone, kBasic, kAdvanced };

using base::Counter;

// Total, maximum and minimum of a measured quantity.
struct Spread {
  Counter count, total, maximum, minimum;  // minimum holds value + 1, 0 = none yet
  void record(uint64_t value);
};

struct NodeCounters {
  Counter invocations;
  Spread elapsed_us, cpu_us;
  std::vector<Counter> outputs;  // messages propagated, by terminal
};

struct FlowCounters {
  Spread elapsed_us, cpu_us, input_bytes;
  Counter messages_with_errors, processing_errors, commits, backouts, reply_timeouts;
  Counter times_max_instances;
};

class Statistics {
 public:
  static constexpr size_t kShardsMax = 64;

  // `output_counts` has one entry a node.
  explicit Statistics(std::vector<size_t> output_counts);
  ~Statistics();
  // Those of the calling thread; the reference stays good.
  NodeCounters& node(size_t index) { return shard().nodes[index]; }
  FlowCounters& flow() { return shard().flow; }
  void set_node_data_level(NodeDataLevel level) { level_.store(level, std::memory_order_relaxed); }
  NodeDataLevel node_data_level() const { return level_.load(std::memory_order_relaxed); }
  // One WMQIStatisticsAccounting record since the last reset, as JSON text.
  std::string snapshot_json(const Flow& flow, const std::string& server_name, bool resets);

 private:
  struct Shard {
    FlowCounters flow;
    std::deque<NodeCounters> nodes;
  };
  Shard& shard();
  Shard& make_shard(size_t thread);

  std::vector<size_t> output_counts_;
  std::atomic<Shard*> shards_[kShardsMax] = {};
  std::atomic<NodeDataLevel> level_{NodeDataLevel::kNone};
  std::atomic<int64_t> start_us_;
};

// Microseconds since 1970, for the start and end of a snapshot.
int64_t statistics_now_us();

// A small number for the calling thread, for sharding.
size_t thread_number();

}  // namespace millstream::flow
