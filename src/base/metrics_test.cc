#include "base/metrics.h"

#include <doctest/doctest.h>

#include <thread>

namespace millstream::base {
namespace {

TEST_CASE("metrics: families of several collectors come together, with their samples") {
  MetricRegistry registry;
  const uint64_t first = registry.add([](MetricWriter& w) {
    w.family("a_total", MetricType::kCounter, "Counts \\ and\nlines.");
    w.sample({{"flow", "x\"y\\z\n"}, {"app", "A"}}, uint64_t{3});
    w.family("b", MetricType::kGauge, "Gauge.");
    w.sample({}, 0.5);
  });
  registry.add([](MetricWriter& w) {
    w.family("a_total", MetricType::kCounter, "Counts \\ and\nlines.");
    w.sample({{"flow", "other"}, {"app", "A"}}, uint64_t{4});
    w.family("empty", MetricType::kGauge, "Nobody has one.");
  });
  CHECK(registry.text() ==
        "# HELP a_total Counts \\\\ and\\nlines.\n"
        "# TYPE a_total counter\n"
        "a_total{flow=\"x\\\"y\\\\z\\n\",app=\"A\"} 3\n"
        "a_total{flow=\"other\",app=\"A\"} 4\n"
        "# HELP b Gauge.\n"
        "# TYPE b gauge\n"
        "b 0.5\n");
  registry.remove(first);
  CHECK(registry.text().find("b 0.5") == std::string::npos);
}

TEST_CASE("metrics: histograms are cumulative and end with +Inf") {
  MetricWriter w;
  w.family("t_seconds", MetricType::kHistogram, "Times.");
  const double bounds[] = {0.1, 1};
  const uint64_t counts[] = {2, 0, 1};
  w.histogram({{"f", "x"}}, bounds, counts, 7.25);
  const std::string text = w.take();
  CHECK(text.find("t_seconds_bucket{f=\"x\",le=\"0.1\"} 2\n"
                  "t_seconds_bucket{f=\"x\",le=\"1\"} 2\n"
                  "t_seconds_bucket{f=\"x\",le=\"+Inf\"} 3\n"
                  "t_seconds_sum{f=\"x\"} 7.25\n"
                  "t_seconds_count{f=\"x\"} 3\n") != std::string::npos);
  CHECK(w.take().empty());
}

TEST_CASE("metrics: a duration falls into the first bucket whose bound it does not exceed") {
  DurationHistogram h;
  h.record(0);
  h.record(100);
  h.record(101);
  h.record(10'000'000);
  h.record(10'000'001);
  CHECK(h.buckets[0].get() == 2);
  CHECK(h.buckets[1].get() == 1);
  CHECK(h.buckets[kDurationBuckets - 2].get() == 1);
  CHECK(h.buckets[kDurationBuckets - 1].get() == 1);
}

TEST_CASE("metrics: a sharded counter adds up the threads") {
  ShardedCounter counter;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 10'000; ++i) counter.add();
    });
  }
  for (std::thread& t : threads) t.join();
  CHECK(counter.sum() == 40'000);
}

TEST_CASE("metrics: the process counts itself") {
  MetricWriter w;
  collect_process_metrics(w);
  const std::string text = w.take();
  for (const char* name :
       {"process_cpu_seconds_total ", "process_resident_memory_bytes ", "process_open_fds ",
        "process_threads ", "process_start_time_seconds "}) {
    const size_t at = text.find(std::string("\n") + name);
    REQUIRE(at != std::string::npos);
    CHECK(std::stod(text.substr(at + 1 + std::string_view(name).size())) > 0);
  }
}

}  // namespace
}  // namespace millstream::base
