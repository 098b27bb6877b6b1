#include "nodes/callable/callable_flows.h"

#include <algorithm>

#include "nodes/callable/errors_gen.h"

namespace millstream::nodes::callable {

Status CallableFlows::add(const common::Application& application, const std::string& endpoint,
                          std::shared_ptr<CallableTarget> target) {
  std::lock_guard lock(mutex_);
  std::vector<Entry>& same = endpoints_[{application.name, endpoint}];
  for (const Entry& e : same) {
    if (e.version != &application) continue;
    return base::make_error(errors::kEndpointTaken,
                            {endpoint, target->node_label(), target->flow().name(),
                             e.target->node_label(), e.target->flow().name()});
  }
  same.push_back({&application, std::move(target)});
  return {};
}

void CallableFlows::remove(const CallableTarget* target) {
  std::lock_guard lock(mutex_);
  for (auto it = endpoints_.begin(); it != endpoints_.end();) {
    std::erase_if(it->second, [&](const Entry& e) { return e.target.get() == target; });
    it = it->second.empty() ? endpoints_.erase(it) : std::next(it);
  }
}

void CallableFlows::begin_change() {
  std::lock_guard lock(mutex_);
  before_change_ = endpoints_;
}

void CallableFlows::end_change() {
  std::lock_guard lock(mutex_);
  before_change_.reset();
}

std::shared_ptr<CallableTarget> CallableFlows::find(const std::string& application,
                                                    const std::string& endpoint,
                                                    flow::FlowHold& hold) const {
  std::lock_guard lock(mutex_);
  const Endpoints& endpoints = shown();
  auto it = endpoints.find({application, endpoint});
  if (it == endpoints.end()) return nullptr;
  const std::shared_ptr<CallableTarget>& newest = it->second.back().target;
  // Under the lock: remove() and the end of a change come before the flow is destroyed.
  hold = flow::FlowHold(newest->flow());
  return newest;
}

std::string CallableFlows::endpoints() const {
  std::lock_guard lock(mutex_);
  std::string list;
  for (const auto& [key, entries] : shown()) {
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
