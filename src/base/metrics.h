// What the server counts, for monitoring: counters that cost an ordinary store, and a registry that
// is asked only when somebody scrapes it. The text is the Prometheus exposition format 0.0.4.
//
//   static ShardedCounter g_requests;                       // where it is counted
//   g_requests.add();
//   registry.add([](MetricWriter& w) {                      // once; runs at each scrape
//     w.family("millstream_x_requests_total", MetricType::kCounter, "Requests sent.");
//     w.sample({}, g_requests.sum());
//   });
//
// Thread: counters any; a collector runs on the scraping thread, under the registry's lock.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/counter.h"
#include "base/thread_number.h"

namespace millstream::base {

// Counts from many threads without a shared cache line.
class ShardedCounter {
 public:
  void add(uint64_t n = 1) { cells_[thread_number()].value.add(n); }
  uint64_t sum() const {
    uint64_t sum = 0;
    for (const Cell& c : cells_) sum += c.value.get();
    return sum;
  }

 private:
  struct alignas(64) Cell {
    Counter value;
  };
  Cell cells_[kThreadNumbers];
};

// Upper bounds in microseconds of the buckets for durations, the last bucket has none.
inline constexpr uint64_t kDurationBoundsUs[] = {
    100,    250,     500,     1'000,   2'500,     5'000,     10'000,    25'000,
    50'000, 100'000, 250'000, 500'000, 1'000'000, 2'500'000, 10'000'000};
inline constexpr size_t kDurationBuckets = std::size(kDurationBoundsUs) + 1;

// Durations by bucket; one writer. The sum is kept by whoever owns it.
struct DurationHistogram {
  Counter buckets[kDurationBuckets];
  void record(uint64_t us) {
    if constexpr (!kCounts) return;
    size_t i = 0;
    while (i < std::size(kDurationBoundsUs) && us > kDurationBoundsUs[i]) ++i;
    buckets[i].add();
  }
};

enum class MetricType : uint8_t { kCounter, kGauge, kHistogram };

using MetricLabels = std::vector<std::pair<std::string_view, std::string_view>>;

// Collects families and their samples; samples of one family may come from several collectors.
class MetricWriter {
 public:
  // Samples that follow belong to it.
  void family(std::string_view name, MetricType type, std::string_view help);
  void sample(const MetricLabels& labels, uint64_t value);
  void sample(const MetricLabels& labels, double value);
  // Counts by bucket (not cumulative), with their upper bounds; the last count is beyond all.
  void histogram(const MetricLabels& labels, std::span<const double> bounds,
                 std::span<const uint64_t> counts, double sum);
  std::string take();

 private:
  struct Family {
    std::string name;
    std::string head, samples;
  };
  void line(std::string_view suffix, const MetricLabels& labels, std::string_view extra_label,
            std::string_view extra_value, const std::string& value);
  std::vector<Family> families_;
  std::map<std::string, size_t, std::less<>> index_;
  size_t current_ = 0;
};

class MetricRegistry {
 public:
  using Collector = std::function<void(MetricWriter&)>;
  uint64_t add(Collector collector);
  void remove(uint64_t id);  // when it returns, the collector does not run any more
  std::string text();
  void collect(MetricWriter& writer);  // for a registry within another

 private:
  std::mutex mutex_;  // held while collectors run
  std::map<uint64_t, Collector> collectors_;
  uint64_t last_id_ = 0;
};

// The process's own: what has no owner to hand a registry to, such as thread-local client pools.
MetricRegistry& process_metrics();

// process_* families of this process: CPU, memory, descriptors, threads, start.
void collect_process_metrics(MetricWriter& writer);

}  // namespace millstream::base
