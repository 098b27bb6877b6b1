#include "flow/statistics.h"

#include "base/clock.h"

namespace millstream::flow {

int64_t statistics_now_us() { return base::system_clock().wall_gmt_micros(); }

// ---------------------------------------------------------------- totals

void SpreadTotals::add(const Spread& s, uint32_t interval) {
  count += s.count.get();
  total += s.total.get();
  const Spread::Extremes& e = s.extremes_[interval & 1];
  if (interval == 0 || e.interval.load(std::memory_order_acquire) != interval) return;
  SpreadTotals theirs;
  theirs.maximum = e.maximum.get();
  theirs.minimum = e.minimum.get();
  theirs.has_extremes = true;
  merge_extremes(theirs);
}

void SpreadTotals::add_value(uint64_t value) {
  ++count;
  total += value;
  SpreadTotals one;
  one.maximum = one.minimum = value;
  one.has_extremes = true;
  merge_extremes(one);
}

void SpreadTotals::merge_extremes(const SpreadTotals& other) {
  if (!other.has_extremes) return;
  if (!has_extremes || other.maximum > maximum) maximum = other.maximum;
  if (!has_extremes || other.minimum < minimum) minimum = other.minimum;
  has_extremes = true;
}

namespace {

// Calls spread(a, b) and number(a, b) for all that two totals have in common; `b` may have fewer
// threads, which come in the order of their numbers.
template <typename SpreadFn, typename NumberFn>
void for_both(StatisticsTotals& a, const StatisticsTotals& b, SpreadFn spread, NumberFn number) {
  spread(a.flow.elapsed_us, b.flow.elapsed_us);
  spread(a.flow.cpu_us, b.flow.cpu_us);
  spread(a.flow.input_bytes, b.flow.input_bytes);
  number(a.flow.messages_with_errors, b.flow.messages_with_errors);
  number(a.flow.processing_errors, b.flow.processing_errors);
  number(a.flow.commits, b.flow.commits);
  number(a.flow.backouts, b.flow.backouts);
  number(a.flow.reply_timeouts, b.flow.reply_timeouts);
  number(a.flow.times_max_instances, b.flow.times_max_instances);
  for (size_t i = 0; i < base::kDurationBuckets; ++i) {
    number(a.flow.durations[i], b.flow.durations[i]);
  }
  for (size_t i = 0; i < a.nodes.size() && i < b.nodes.size(); ++i) {
    spread(a.nodes[i].elapsed_us, b.nodes[i].elapsed_us);
    spread(a.nodes[i].cpu_us, b.nodes[i].cpu_us);
    number(a.nodes[i].invocations, b.nodes[i].invocations);
    for (size_t o = 0; o < a.nodes[i].outputs.size(); ++o) {
      number(a.nodes[i].outputs[o], b.nodes[i].outputs[o]);
    }
  }
  for (ThreadTotals& mine : a.threads) {
    for (const ThreadTotals& theirs : b.threads) {
      if (theirs.number != mine.number) continue;
      spread(mine.elapsed_us, theirs.elapsed_us);
      spread(mine.cpu_us, theirs.cpu_us);
      spread(mine.input_bytes, theirs.input_bytes);
    }
  }
}

void subtract(StatisticsTotals& totals, const StatisticsTotals& baseline) {
  for_both(
      totals, baseline,
      [](SpreadTotals& a, const SpreadTotals& b) {
        a.count -= b.count;
        a.total -= b.total;
      },
      [](uint64_t& a, uint64_t b) { a -= b; });
}

void set_extremes(StatisticsTotals& totals, const StatisticsTotals& extremes) {
  for_both(
      totals, extremes,
      [](SpreadTotals& a, const SpreadTotals& b) {
        a.has_extremes = b.has_extremes;
        a.maximum = b.has_extremes ? b.maximum : 0;
        a.minimum = b.has_extremes ? b.minimum : 0;
      },
      [](uint64_t&, uint64_t) {});
}

void merge_extremes(StatisticsTotals& extremes, const StatisticsTotals& totals) {
  for (const ThreadTotals& t : totals.threads) {
    bool is_known = false;
    for (const ThreadTotals& known : extremes.threads) is_known |= known.number == t.number;
    if (!is_known) extremes.threads.emplace_back().number = t.number;
  }
  for_both(
      extremes, totals, [](SpreadTotals& a, const SpreadTotals& b) { a.merge_extremes(b); },
      [](uint64_t&, uint64_t) {});
}

void add_flow(FlowTotals& sum, const FlowCounters& f, uint32_t interval) {
  sum.elapsed_us.add(f.elapsed_us, interval);
  sum.cpu_us.add(f.cpu_us, interval);
  sum.input_bytes.add(f.input_bytes, interval);
  sum.messages_with_errors += f.messages_with_errors.get();
  sum.processing_errors += f.processing_errors.get();
  sum.commits += f.commits.get();
  sum.backouts += f.backouts.get();
  sum.reply_timeouts += f.reply_timeouts.get();
  sum.times_max_instances += f.times_max_instances.get();
  for (size_t i = 0; i < base::kDurationBuckets; ++i) {
    sum.durations[i] += f.durations.buckets[i].get();
  }
}

void add_node(NodeTotals& sum, const NodeCounters& n, uint32_t interval) {
  sum.elapsed_us.add(n.elapsed_us, interval);
  sum.cpu_us.add(n.cpu_us, interval);
  sum.invocations += n.invocations.get();
  for (size_t o = 0; o < sum.outputs.size(); ++o) sum.outputs[o] += n.outputs[o].get();
}

}  // namespace

// ---------------------------------------------------------------- counting

Statistics::Statistics(std::vector<size_t> output_counts)
    : output_counts_(std::move(output_counts)), created_us_(statistics_now_us()) {
  for (Reading& r : readings_) {
    r.baseline = empty_totals();
    r.extremes = empty_totals();
    r.start_us = created_us_;
  }
}

Statistics::~Statistics() {
  for (auto& shard : shards_) delete shard.load();
}

Statistics::Shard& Statistics::make_shard(size_t thread) {
  auto made = std::make_unique<Shard>();
  for (Spread* s : {&made->flow.elapsed_us, &made->flow.cpu_us, &made->flow.input_bytes}) {
    s->interval_ = &interval_;
  }
  made->nodes = std::make_unique<NodeCounters[]>(output_counts_.size());
  for (size_t i = 0; i < output_counts_.size(); ++i) {
    NodeCounters& node = made->nodes[i];
    node.outputs = std::make_unique<Counter[]>(output_counts_[i]);
    node.elapsed_us.interval_ = node.cpu_us.interval_ = &interval_;
  }
  Shard* expected = nullptr;
  // Two threads share a number only beyond kThreadNumbers threads.
  if (shards_[thread].compare_exchange_strong(expected, made.get())) return *made.release();
  return *expected;
}

// ---------------------------------------------------------------- reading

StatisticsTotals Statistics::empty_totals() const {
  StatisticsTotals totals;
  totals.nodes.resize(output_counts_.size());
  for (size_t i = 0; i < output_counts_.size(); ++i) {
    totals.nodes[i].outputs.resize(output_counts_[i]);
  }
  return totals;
}

// `interval` 0: no extremes.
StatisticsTotals Statistics::collect(uint32_t interval) const {
  StatisticsTotals totals = empty_totals();
  for (size_t t = 0; t < base::kThreadNumbers; ++t) {
    const Shard* shard = shards_[t].load(std::memory_order_acquire);
    if (!shard) continue;
    add_flow(totals.flow, shard->flow, interval);
    for (size_t i = 0; i < totals.nodes.size(); ++i) {
      add_node(totals.nodes[i], shard->nodes[i], interval);
    }
    ThreadTotals& thread = totals.threads.emplace_back();
    thread.number = t;
    thread.elapsed_us.add(shard->flow.elapsed_us, interval);
    thread.cpu_us.add(shard->flow.cpu_us, interval);
    thread.input_bytes.add(shard->flow.input_bytes, interval);
  }
  return totals;
}

StatisticsTotals Statistics::totals() const {
  StatisticsTotals totals = collect(0);
  totals.start_us = created_us_;
  totals.end_us = statistics_now_us();
  return totals;
}

StatisticsTotals Statistics::take(StatisticsReader reader, bool resets) {
  std::lock_guard lock(mutex_);
  uint32_t ended = interval_.load(std::memory_order_relaxed);
  // 0 would stand for "never set". A value recorded at this very instant may count in the totals of
  // this record and in the extremes of the next.
  interval_.store(ended + 1 == 0 ? 2 : ended + 1, std::memory_order_release);
  StatisticsTotals now = collect(ended);
  for (Reading& r : readings_) merge_extremes(r.extremes, now);
  Reading& mine = readings_[static_cast<size_t>(reader)];
  StatisticsTotals out = now;
  subtract(out, mine.baseline);
  set_extremes(out, mine.extremes);
  out.start_us = mine.start_us;
  out.end_us = statistics_now_us();
  if (resets) {
    mine.baseline = std::move(now);
    mine.extremes = empty_totals();
    mine.start_us = out.end_us;
  }
  return out;
}

std::string Statistics::snapshot_json(const Flow& flow, const std::string& server_name,
                                      bool resets) {
  RecordOptions options;
  options.server_name = server_name;
  return statistics_json(flow, take(StatisticsReader::kSnapshot, resets), options);
}

}  // namespace millstream::flow
