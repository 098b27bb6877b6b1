#include "flow/observer.h"

#include <algorithm>

namespace millstream::flow {

void Observation::add(std::shared_ptr<Observer> source, std::unique_ptr<MessageObserver> observer) {
  wants_lines_ |= observer->wants_lines();
  wants_statements_ |= observer->wants_statements();
  entries_.push_back({std::move(source), std::move(observer)});
}

void Observation::received(const MessageOrigin& origin) {
  for (Entry& e : entries_) e.observer->received(origin);
}

void Observation::begins(const Node& input, const tree::MessageAssembly& message, size_t bytes) {
  for (Entry& e : entries_) e.observer->begins(input, message, bytes);
}

void Observation::enters(const Node& node, const tree::MessageAssembly& message, int input) {
  for (Entry& e : entries_) e.observer->enters(node, message, input);
}

void Observation::leaves(const Node& node, const Status& status, const NodeTimes& times) {
  for (Entry& e : entries_) e.observer->leaves(node, status, times);
}

void Observation::propagates(const Node& from, int output, const tree::MessageAssembly& message) {
  for (Entry& e : entries_) e.observer->propagates(from, output, message);
}

void Observation::ends(const Node& input, const Status& status) {
  for (Entry& e : entries_) e.observer->ends(input, status);
}

void Observation::replied(const Node& node, int status) {
  for (Entry& e : entries_) e.observer->replied(node, status);
}

void Observation::answered(const Node& node, int status) {
  for (Entry& e : entries_) e.observer->answered(node, status);
}

void Observation::queries(const Node& node, const DatabaseUse& use) {
  for (Entry& e : entries_) e.observer->queries(node, use);
}

void Observation::queried(const Node& node, const DatabaseUse& use, const Status& status) {
  for (Entry& e : entries_) e.observer->queried(node, use, status);
}

void Observation::line(const Node& node, int number, std::string_view text) {
  for (Entry& e : entries_) {
    if (e.observer->wants_lines()) e.observer->line(node, number, text);
  }
}

const TraceContext* Observation::outgoing(const Node& from) {
  const TraceContext* first = nullptr;
  for (Entry& e : entries_) {
    const TraceContext* context = e.observer->outgoing(from);
    if (!first) first = context;
  }
  return first;
}

const TraceContext* Observation::trace() {
  for (Entry& e : entries_) {
    if (const TraceContext* context = e.observer->trace()) return context;
  }
  return nullptr;
}

void Observers::add(std::shared_ptr<Observer> observer) {
  std::lock_guard lock(mutex_);
  observers_.push_back(std::move(observer));
  has_any_.store(true, std::memory_order_relaxed);
}

void Observers::remove(const Observer* observer) {
  std::lock_guard lock(mutex_);
  std::erase_if(observers_, [&](const auto& o) { return o.get() == observer; });
  has_any_.store(!observers_.empty(), std::memory_order_relaxed);
}

std::unique_ptr<Observation> Observers::start(Invocation& invocation) {
  std::vector<std::shared_ptr<Observer>> present;
  {
    std::lock_guard lock(mutex_);
    present = observers_;
  }
  auto observation = std::make_unique<Observation>();
  for (std::shared_ptr<Observer>& o : present) {
    if (auto one = o->start(invocation)) observation->add(std::move(o), std::move(one));
  }
  return observation->is_empty() ? nullptr : std::move(observation);
}

}  // namespace millstream::flow
