// What a put and a get cost in process, and whether depth matters to a get by correlation id.
#include <benchmark/benchmark.h>

#include "queue/core/queue_for_test.h"

namespace millstream::queue {
namespace {

// A budget that deep queues fit into.
void bench_with_memory(QueueWorld& w) {
  w.stop();
  w.memory_bytes_max = 16ull << 30;
  w.start();
}

void put_and_get(benchmark::State& state) {
  QueueWorld w;
  w.define("Q");
  Hobj h = w.open(*w.a, "Q", mqi::oo::kOutput | mqi::oo::kInputShared);
  std::string bytes(1024, 'x');
  PutCall put;
  GetCall get;
  for (auto _ : state) {
    put.md = {};
    put.body = Body::copy(bytes);
    get.md = {};
    if (!w.a->put(h, put).is_ok() || !w.a->get(h, get).is_ok()) state.SkipWithError("refused");
  }
}
BENCHMARK(put_and_get);

void get_by_correlation(benchmark::State& state) {
  QueueWorld w;
  bench_with_memory(w);
  w.define("Q", {.depth_max = 10'000'000});
  Hobj h = w.open(*w.a, "Q", mqi::oo::kOutput | mqi::oo::kInputShared);
  auto put_one = [&](uint64_t number) {
    PutCall put;
    put.md.correlation_id = mqi::Id({reinterpret_cast<const char*>(&number), sizeof number});
    (void)w.a->put(h, put);
  };
  auto depth = static_cast<uint64_t>(state.range(0));
  for (uint64_t i = 1; i <= depth; ++i) put_one(i);
  // Ten at a time, at every depth, so that stopping the clock counts the same.
  constexpr uint64_t kBatch = 10;
  uint64_t next = 1;
  GetCall get;
  for (auto _ : state) {
    for (uint64_t i = 0; i < kBatch; ++i) {
      uint64_t number = (next + i * 7919) % depth + 1;
      get.md = {};
      get.md.correlation_id = mqi::Id({reinterpret_cast<const char*>(&number), sizeof number});
      if (!w.a->get(h, get).is_ok()) return state.SkipWithError("not found");
    }
    state.PauseTiming();
    for (uint64_t i = 0; i < kBatch; ++i) put_one((next + i * 7919) % depth + 1);
    next = (next * 6364136223846793005ull + 1442695040888963407ull) % depth;
    state.ResumeTiming();
  }
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(kBatch));
}
BENCHMARK(get_by_correlation)->Arg(10)->Arg(1'000'000);

void put_at_depth(benchmark::State& state) {
  QueueWorld w;
  bench_with_memory(w);
  w.define("Q", {.depth_max = 100'000'000});
  Hobj h = w.open(*w.a, "Q", mqi::oo::kOutput | mqi::oo::kInputShared);
  PutCall put;
  for (int64_t i = 0; i < state.range(0); ++i) {
    put.md = {};
    (void)w.a->put(h, put);
  }
  GetCall get;
  for (auto _ : state) {
    put.md = {};
    get.md = {};
    (void)w.a->put(h, put);
    (void)w.a->get(h, get);
  }
}
BENCHMARK(put_at_depth)->Arg(0)->Arg(1'000'000);

}  // namespace
}  // namespace millstream::queue
