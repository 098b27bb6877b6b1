// One message that an input node starts by itself, in the calling fiber: waits for an instance of
// the flow, takes an arena and an invocation, and gives them back, with the statistics, at the end
// of the scope. Thread: one fiber.
#pragma once
#include "flow/arena_pool.h"
#include "flow/invocation.h"

namespace millstream::nodes::common {

class InputRun {
 public:
  explicit InputRun(flow::Flow& flow);
  ~InputRun();
  InputRun(const InputRun&) = delete;
  InputRun& operator=(const InputRun&) = delete;

  tree::MessageArena& arena() { return *arena_; }
  tree::TreeContext& context() { return arena_->context(); }
  flow::Invocation& invocation() { return invocation_; }

 private:
  struct Instance {
    explicit Instance(flow::Flow& f);
    ~Instance() { flow.instances().leave(); }
    flow::Flow& flow;
  };
  Instance instance_;  // before the arena, so that the message is gone when the next one enters
  flow::PooledArena arena_;
  flow::Invocation invocation_;
  int64_t cpu_start_ns_;
};

// The log line of an exception that no terminal of the input node took.
void log_input_exception(const flow::Node& node, Status status);

}  // namespace millstream::nodes::common
