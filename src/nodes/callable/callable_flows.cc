#include "nodes/callable/callable_flows.h"

#include <algorithm>

#include "nodes/callable/errors_gen.h"

namespace millstream::nodes::callable {

Status CallableFlows::add(const common::Application& application, const std::string& endpoint,
                          std::shared_ptr<CallableTarget> target) {
  std::lock_guard lock(mutex_);
  const Entry* taken = endpoints_.add({application.name, endpoint}, {&application, target});
  if (!taken) return {};
  return base::make_error(errors::kEndpointTaken,
                          {endpoint, target->node_label(), target->flow().name(),
                           taken->target->node_label(), taken->target->flow().name()});
}

void CallableFlows::remove(const CallableTarget* target) {
  std::lock_guard lock(mutex_);
  endpoints_.remove_if([&](const Entry& e) { return e.target.get() == target; });
}

void CallableFlows::begin_change() {
  std::lock_guard lock(mutex_);
  endpoints_.begin_change();
}

void CallableFlows::end_change() {
  std::lock_guard lock(mutex_);
  endpoints_.end_change();
}

std::shared_ptr<CallableTarget> CallableFlows::find(const std::string& application,
                                                    const std::string& endpoint,
                                                    flow::FlowHold& hold) const {
  std::lock_guard lock(mutex_);
  const std::vector<Entry>* versions = endpoints_.find({application, endpoint});
  if (!versions) return nullptr;
  const std::shared_ptr<CallableTarget>& newest = versions->back().target;
  // Under the lock: remove() and the end of a change come before the flow is destroyed.
  hold = flow::FlowHold(newest->flow());
  return newest;
}

std::string CallableFlows::endpoints() const {
  std::lock_guard lock(mutex_);
  std::string list;
  for (const auto& [key, entries] : endpoints_.shown()) {
    list += (list.empty() ? "" : ", ") + key.first + "/" + key.second;
  }
  return list;
}

void CallableFlows::add_call(const std::shared_ptr<Call>& call) {
  std::lock_guard lock(calls_mutex_);
  calls_[call->identifier()] = call;
}

void CallableFlows::remove_call(const Call& call) {
  std::lock_guard lock(calls_mutex_);
  calls_.erase(call.identifier());
}

std::shared_ptr<Call> CallableFlows::find_call(std::string_view identifier) const {
  std::lock_guard lock(calls_mutex_);
  auto it = calls_.find(std::string(identifier));
  return it == calls_.end() ? nullptr : it->second.lock();
}

size_t CallableFlows::waiting_calls() const {
  std::lock_guard lock(calls_mutex_);
  return calls_.size();
}

}  // namespace millstream::nodes::callable
