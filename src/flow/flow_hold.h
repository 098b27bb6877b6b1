// Keeps a flow that has been stopped from being destroyed while something without an instance still
// refers to it: an answer on its way, an alarm. Copies count as holds of their own, so that one may
// travel inside a std::function. Whoever makes the first hold must be sure that the flow lives.
// Thread: any.
#pragma once
#include <utility>

#include "flow/flow.h"

namespace millstream::flow {

class FlowHold {
 public:
  FlowHold() = default;
  explicit FlowHold(Flow& flow) : flow_(&flow) { add(); }
  FlowHold(const FlowHold& other) : flow_(other.flow_) { add(); }
  FlowHold(FlowHold&& other) noexcept : flow_(std::exchange(other.flow_, nullptr)) {}
  FlowHold& operator=(FlowHold other) noexcept {
    std::swap(flow_, other.flow_);
    return *this;
  }
  ~FlowHold() {
    if (flow_) flow_->holds_.fetch_sub(1, std::memory_order_acq_rel);
  }

 private:
  void add() {
    if (flow_) flow_->holds_.fetch_add(1, std::memory_order_relaxed);
  }
  Flow* flow_ = nullptr;
};

}  // namespace millstream::flow
