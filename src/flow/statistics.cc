#include "flow/statistics.h"

#include <sys/time.h>

namespace millstream::flow {

int64_t statistics_now_us() {
  timeval now{};
  gettimeofday(&now, nullptr);
  return static_cast<int64_t>(now.tv_sec) * 1'000'000 + now.tv_usec;
}

size_t thread_number() {
  static std::atomic<size_t> next{0};
  thread_local const size_t mine = next.fetch_add(1) % Statistics::kShardsMax;
  return mine;
}

void Spread::record(uint64_t value) {
  count.add(1);
  total.add(value);
  maximum.raise_to(value);
  if (minimum.get() == 0 || value + 1 < minimum.get()) minimum.set(value + 1);
}

Statistics::Statistics(std::vector<size_t> output_counts)
    : output_counts_(std::move(output_counts)), start_us_(statistics_now_us()) {}

Statistics::~Statistics() {
  for (auto& shard : shards_) delete shard.load();
}

Statistics::Shard& Statistics::shard() {
  const size_t thread = thread_number();
  Shard* shard = shards_[thread].load(std::memory_order_acquire);
  return __builtin_expect(shard != nullptr, 1) ? *shard : make_shard(thread);
}

Statistics::Shard& Statistics::make_shard(size_t thread) {
  auto made = std::make_unique<Shard>();
  for (size_t outputs : output_counts_) {
    made->nodes.emplace_back().outputs = std::vector<Counter>(outputs);
  }
  Shard* expected = nullptr;
  // Two threads share a number only beyond kShardsMax threads.
  if (shards_[thread].compare_exchange_strong(expected, made.get())) return *made.release();
  return *expected;
}

}  // namespace millstream::flow
