// What dates cost in a flow: CURRENT_TIMESTAMP, and CAST by FORMAT both ways.
#include <benchmark/benchmark.h>

#include "value/datetime.h"
#include "value/datetime_format.h"

namespace millstream::value {

static const TimeZone& bench_zone() {
  static const TimeZone zone = TimeZone::load("CET-1CEST,M3.5.0,M10.5.0/3").value();
  return zone;
}

constexpr int64_t kBenchNow = 1'721'035'845'123'456;

static void BM_to_local(benchmark::State& state) {
  int64_t t = kBenchNow;
  for (auto _ : state) benchmark::DoNotOptimize(bench_zone().to_local(t += 1000));
}
BENCHMARK(BM_to_local);

static void BM_format(benchmark::State& state) {
  Value v = Value::make_timestamp(Kind::kTimestamp, kBenchNow);
  std::string out;
  for (auto _ : state) {
    Status s = format_datetime(v, "yyyy-MM-dd HH:mm:ss.SSS", bench_zone(), kBenchNow, out);
    benchmark::DoNotOptimize(s.ok());
  }
}
BENCHMARK(BM_format);

static void BM_parse(benchmark::State& state) {
  Value v;
  for (auto _ : state) {
    Status s = parse_datetime("2024-07-15 11:30:45.123", "yyyy-MM-dd HH:mm:ss.SSS",
                              Kind::kTimestamp, bench_zone(), kBenchNow, v);
    benchmark::DoNotOptimize(s.ok());
  }
}
BENCHMARK(BM_parse);

static void BM_literal(benchmark::State& state) {
  Value v = Value::make_timestamp(Kind::kTimestamp, kBenchNow);
  for (auto _ : state) benchmark::DoNotOptimize(format_literal(v));
}
BENCHMARK(BM_literal);

}  // namespace millstream::value
