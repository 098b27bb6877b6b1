#include "base/post_batch.h"

#include <utility>

namespace millstream::base {

namespace {
thread_local PostBatch* t_batch = nullptr;
}  // namespace

PostBatch::Scope::Scope(PostBatch& batch) : batch_(batch), outer_(std::exchange(t_batch, &batch)) {}

// What is posted from now on, perhaps by a task that runs at once, is not for this batch any more.
PostBatch::Scope::~Scope() {
  t_batch = outer_;
  batch_.post_all();
}

PostBatch* PostBatch::current() { return t_batch; }

void PostBatch::add(Executor& executor, std::function<void()> task) {
  for (Group& group : groups_) {
    if (group.executor == &executor) return group.tasks.push_back(std::move(task));
  }
  groups_.push_back({&executor, {}});
  groups_.back().tasks.push_back(std::move(task));
}

void PostBatch::post_all() {
  for (Group& group : groups_) {
    if (group.tasks.empty()) {
      group.executor = nullptr;  // of a former batch: it may be gone
      continue;
    }
    group.executor->post_all(group.tasks);
    group.tasks.clear();
  }
}

}  // namespace millstream::base
