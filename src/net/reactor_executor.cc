#include "net/reactor_executor.h"

#include "base/post_batch.h"

namespace millstream::net {

ReactorExecutor::ReactorExecutor(Reactor& reactor, const base::Clock& clock)
    : reactor_(reactor), clock_(clock) {}

ReactorExecutor::~ReactorExecutor() {
  const std::lock_guard lock(state_->mutex);
  for (auto& [id, entry] : state_->entries) {
    if (entry->timer.is_armed()) reactor_.cancel(entry->timer);
  }
  state_->entries.clear();
}

void ReactorExecutor::post(std::function<void()> task) {
  if (base::PostBatch* batch = base::PostBatch::current()) {
    batch->add(*this, std::move(task));
  } else {
    reactor_.post(std::move(task));
  }
}

void ReactorExecutor::on_reactor(std::function<void()> task) {
  if (Reactor::current() == &reactor_) {
    task();
  } else {
    reactor_.post(std::move(task));
  }
}

base::Executor::TimerId ReactorExecutor::post_at(int64_t deadline_ns, std::function<void()> task) {
  auto entry = std::make_unique<Entry>();
  entry->executor = this;
  entry->task = std::move(task);
  entry->timer.fire = &ReactorExecutor::fire;
  entry->timer.owner = entry.get();
  TimerId id;
  {
    const std::lock_guard lock(state_->mutex);
    id = entry->id = ++state_->last_id;
    state_->entries.emplace(id, std::move(entry));
  }
  on_reactor([this, id, deadline_ns, state = state_] {
    const std::lock_guard lock(state->mutex);
    auto found = state->entries.find(id);  // gone when it was cancelled meanwhile
    if (found != state->entries.end()) reactor_.arm(found->second->timer, deadline_ns);
  });
  return id;
}

bool ReactorExecutor::cancel(TimerId timer) {
  std::unique_ptr<Entry> entry;
  {
    const std::lock_guard lock(state_->mutex);
    auto found = state_->entries.find(timer);
    if (found == state_->entries.end()) return false;
    entry = std::move(found->second);
    state_->entries.erase(found);
  }
  // The heap may still point to the entry: only the reactor's thread takes it out of there.
  on_reactor([this, entry = std::shared_ptr<Entry>(std::move(entry)), state = state_] {
    if (entry->timer.is_armed()) reactor_.cancel(entry->timer);
  });
  return true;
}

void ReactorExecutor::fire(Timer& timer) {
  auto* entry = static_cast<Entry*>(timer.owner);
  std::unique_ptr<Entry> taken;
  {
    State& state = *entry->executor->state_;
    const std::lock_guard lock(state.mutex);
    auto found = state.entries.find(entry->id);
    if (found == state.entries.end()) return;  // cancelled; its removal is on the way
    taken = std::move(found->second);
    state.entries.erase(found);
  }
  taken->task();
}

}  // namespace millstream::net
