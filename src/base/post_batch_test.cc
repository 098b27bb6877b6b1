#include "base/post_batch.h"

#include <doctest/doctest.h>

#include <vector>

namespace millstream::base {
namespace {

class BatchExecutor final : public Executor {
 public:
  const Clock& clock() const override { return system_clock(); }
  void post(std::function<void()> task) override {
    if (PostBatch* batch = PostBatch::current()) {
      batch->add(*this, std::move(task));
    } else {
      ++singles;
      task();
    }
  }
  void post_all(std::vector<std::function<void()>>& tasks) override {
    sizes.push_back(tasks.size());
    for (auto& task : tasks) task();
    tasks.clear();
  }
  TimerId post_at(int64_t, std::function<void()>) override { return 0; }
  bool cancel(TimerId) override { return false; }

  int singles = 0;
  std::vector<size_t> sizes;
};

}  // namespace

TEST_CASE("post batch: posts of a scope reach each executor at once, in order") {
  BatchExecutor one, two;
  PostBatch batch;
  std::vector<int> ran;
  for (int round = 0; round < 2; ++round) {
    ran.clear();
    {
      const PostBatch::Scope scope(batch);
      for (int i = 0; i < 3; ++i) one.post([&, i] { ran.push_back(i); });
      two.post([&] { ran.push_back(9); });
      CHECK(ran.empty());
    }
    CHECK(ran == std::vector<int>{0, 1, 2, 9});
  }
  CHECK(one.sizes == std::vector<size_t>{3, 3});
  CHECK(two.sizes == std::vector<size_t>{1, 1});
  CHECK(PostBatch::current() == nullptr);
  one.post([] {});
  CHECK(one.singles == 1);
}

TEST_CASE("post batch: what a task posts when the scope has ended is not kept") {
  BatchExecutor executor;
  PostBatch batch;
  bool has_run = false;
  {
    const PostBatch::Scope scope(batch);
    executor.post([&] { executor.post([&] { has_run = true; }); });
  }
  CHECK(has_run);
  CHECK(executor.singles == 1);
}

}  // namespace millstream::base
