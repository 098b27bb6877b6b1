// A publication among 100,000 subscriptions: most exact, the rest with wildcards.
#include <benchmark/benchmark.h>

#include "queue/topic/topic_tree.h"

namespace millstream::queue::topic {
namespace {

void topic_match(benchmark::State& state) {
  TopicTree tree;
  int64_t wildcards = state.range(0);
  for (SubscriptionId id = 0; id < 100'000; ++id) {
    std::string text = "region" + std::to_string(id % 100) + "/shop" + std::to_string(id / 100);
    if (static_cast<int64_t>(id) < wildcards) text += id % 2 ? "/#" : "/+/price";
    auto pattern = TopicPattern::create(text, WildcardScheme::kTopic);
    if (!pattern.ok() || !tree.subscribe(id, pattern.value()).ok()) {
      return state.SkipWithError("subscribe");
    }
  }
  MatchScratch scratch;
  std::vector<SubscriptionId> out;
  for (auto _ : state) {
    out.clear();
    tree.match("region7/shop42/tea/price", scratch, out);
    tree.match("region7/shop420", scratch, out);
    benchmark::DoNotOptimize(out.data());
  }
  state.SetItemsProcessed(2 * state.iterations());
}
BENCHMARK(topic_match)->Arg(0)->Arg(10'000)->Arg(100'000);

}  // namespace
}  // namespace millstream::queue::topic
