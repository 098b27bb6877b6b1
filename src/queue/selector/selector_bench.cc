// What a selector costs a message: three conditions over the flat list of properties.
#include <benchmark/benchmark.h>

#include "queue/selector/selector.h"

namespace millstream::queue::selector {
namespace {

struct BenchSource final : mqi::PropertySource {
  mqi::PropertyList list;
  mqi::PropertyView find_property(mqi::PropertyId id, std::string_view name) const override {
    if (id == mqi::PropertyId::kNamed) return list.view().find(name);
    return mqi::PropertyView::int32(4);
  }
};

void selector_three_terms(benchmark::State& state) {
  BenchSource source;
  if (!source.list.set("color", mqi::PropertyView::string("red")).ok() ||
      !source.list.set("customer", mqi::PropertyView::string("C-1044")).ok() ||
      !source.list.set("quantity", mqi::PropertyView::int32(12)).ok()) {
    return state.SkipWithError("properties");
  }
  auto selector = Selector::compile("color = 'red' AND quantity > 10 AND JMSPriority = 4");
  if (!selector.ok()) return state.SkipWithError("selector");
  for (auto _ : state) benchmark::DoNotOptimize(selector.value()->matches(source));
}
BENCHMARK(selector_three_terms);

void selector_like_in(benchmark::State& state) {
  BenchSource source;
  if (!source.list.set("color", mqi::PropertyView::string("dark red")).ok()) return;
  auto selector = Selector::compile("color LIKE '%red' AND color NOT IN ('a', 'b', 'c')");
  if (!selector.ok()) return state.SkipWithError("selector");
  for (auto _ : state) benchmark::DoNotOptimize(selector.value()->matches(source));
}
BENCHMARK(selector_like_in);

void selector_compile(benchmark::State& state) {
  for (auto _ : state) {
    benchmark::DoNotOptimize(
        Selector::compile("color = 'red' AND quantity > 10 AND JMSPriority = 4"));
  }
}
BENCHMARK(selector_compile);

}  // namespace
}  // namespace millstream::queue::selector
