// Accounting of one flow in the terms of ACE's statistics records (spec D).
//
// Every thread counts in its own shard, so that counting costs an ordinary store. What is counted
// only grows: a record of an interval is the difference to what an earlier one saw, so that nothing
// is lost however records are taken. Maxima and minima cannot be subtracted; each shard keeps those
// of the present interval and of the one before, and taking a record begins a new interval.
// Node times are measured only at node data level basic or above, since reading the clock costs
// more than a node.
// Thread: record_* any; take and totals any.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/counter.h"
#include "base/metrics.h"
#include "base/thread_number.h"

namespace millstream::flow {

class Flow;

// nodeDataLevel of the product: what a record says about single nodes.
enum class NodeDataLevel : uint8_t { kNone, kBasic, kAdvanced };

using base::Counter;
using base::thread_number;

// Count, total, maximum and minimum of a measured quantity. Thread: one writer.
class Spread {
 public:
  Counter count, total;  // since the start
  void record(uint64_t value) {
    if constexpr (!base::kCounts) return;
    count.add();
    total.add(value);
    const uint32_t now = interval_->load(std::memory_order_relaxed);
    Extremes& e = extremes_[now & 1];
    if (__builtin_expect(e.interval.load(std::memory_order_relaxed) != now, 0)) {
      e.maximum.set(value);
      e.minimum.set(value);
      e.interval.store(now, std::memory_order_release);
      return;
    }
    e.maximum.raise_to(value);
    if (value < e.minimum.get()) e.minimum.set(value);
  }

 private:
  friend class Statistics;
  friend struct SpreadTotals;
  struct Extremes {
    std::atomic<uint32_t> interval{0};  // they are of this one
    Counter maximum, minimum;
  };
  const std::atomic<uint32_t>* interval_ = nullptr;
  Extremes extremes_[2];
};

struct NodeCounters {
  Counter invocations;
  Spread elapsed_us, cpu_us;
  std::unique_ptr<Counter[]> outputs;  // messages propagated, by terminal
};

struct FlowCounters {
  Spread elapsed_us, cpu_us, input_bytes;
  Counter messages_with_errors, processing_errors, commits, backouts, reply_timeouts;
  Counter times_max_instances;
  base::DurationHistogram durations;
};

// ---------------------------------------------------------------- what was read

struct SpreadTotals {
  uint64_t count = 0, total = 0, maximum = 0, minimum = 0;
  bool has_extremes = false;
  void add(const Spread& s, uint32_t interval);
  void add_value(uint64_t value);
  void merge_extremes(const SpreadTotals& other);
};

struct NodeTotals {
  SpreadTotals elapsed_us, cpu_us;
  uint64_t invocations = 0;
  std::vector<uint64_t> outputs;
};

struct FlowTotals {
  SpreadTotals elapsed_us, cpu_us, input_bytes;
  uint64_t messages_with_errors = 0, processing_errors = 0, commits = 0, backouts = 0;
  uint64_t reply_timeouts = 0, times_max_instances = 0;
  uint64_t durations[base::kDurationBuckets] = {};
};

struct ThreadTotals {
  size_t number = 0;
  SpreadTotals elapsed_us, cpu_us, input_bytes;
};

// Of one interval, or since the start.
struct StatisticsTotals {
  FlowTotals flow;
  std::vector<NodeTotals> nodes;
  std::vector<ThreadTotals> threads;
  int64_t start_us = 0, end_us = 0;  // GMT, since 1970
};

// ---------------------------------------------------------------- records

// Who takes records; each has intervals of its own.
enum class StatisticsReader : uint8_t { kSnapshot, kArchive };

struct RecordOptions {
  std::string server_name;
  StatisticsReader reader = StatisticsReader::kSnapshot;
  // Why: SnapShot, MajorInterval, ReDeploy, Shutdown, StatsSettingsModified.
  std::string code = "SnapShot";
  NodeDataLevel node_level = NodeDataLevel::kAdvanced;
  bool has_threads = false;  // threadDataLevel basic
  std::string origin = "Anonymous";
};

// One WMQIStatisticsAccounting record as JSON text.
std::string statistics_json(const Flow& flow, const StatisticsTotals& totals,
                            const RecordOptions& options);

// The product's CSV files: a header line, and the lines of a record for each kind of file.
struct StatisticsCsv {
  std::string flow, nodes, terminals, threads;
};
const StatisticsCsv& statistics_csv_headers();
void append_statistics_csv(const Flow& flow, const StatisticsTotals& totals,
                           const RecordOptions& options, StatisticsCsv& out);

class Statistics {
 public:
  // `output_counts` has one entry a node.
  explicit Statistics(std::vector<size_t> output_counts);
  ~Statistics();

  // The counters of one thread.
  struct Shard {
    FlowCounters flow;
    std::unique_ptr<NodeCounters[]> nodes;
  };
  // Those of the calling thread; the reference stays good.
  Shard& shard() {
    Shard* shard = shards_[thread_number()].load(std::memory_order_acquire);
    return __builtin_expect(shard != nullptr, 1) ? *shard : make_shard(thread_number());
  }
  NodeCounters& node(size_t index) { return shard().nodes[index]; }
  FlowCounters& flow() { return shard().flow; }
  size_t node_count() const { return output_counts_.size(); }

  void set_node_data_level(NodeDataLevel level) { level_.store(level, std::memory_order_relaxed); }
  NodeDataLevel node_data_level() const { return level_.load(std::memory_order_relaxed); }

  // What happened since the reader's interval began, which ends when `resets`.
  StatisticsTotals take(StatisticsReader reader, bool resets);
  // Since the flow was made; without maxima and minima.
  StatisticsTotals totals() const;

  // A snapshot record with nodes and terminals.
  std::string snapshot_json(const Flow& flow, const std::string& server_name, bool resets);

 private:
  static constexpr size_t kReaders = 2;
  struct Reading {
    StatisticsTotals baseline;  // what had been counted when the interval began
    StatisticsTotals extremes;  // of the interval: only maxima and minima count
    int64_t start_us = 0;
  };
  Shard& make_shard(size_t thread);
  StatisticsTotals collect(uint32_t interval) const;
  StatisticsTotals empty_totals() const;

  std::vector<size_t> output_counts_;
  std::atomic<Shard*> shards_[base::kThreadNumbers] = {};
  std::atomic<NodeDataLevel> level_{NodeDataLevel::kNone};
  std::atomic<uint32_t> interval_{1};  // never 0, which marks extremes that were never set
  int64_t created_us_;
  std::mutex mutex_;  // guards the readings
  Reading readings_[kReaders];
};

// Microseconds since 1970, for the start and end of a record.
int64_t statistics_now_us();

}  // namespace millstream::flow
