// What stands between the nodes of the flows under test: it counts, keeps what passes, replaces
// nodes, and remembers the errors.
// Thread: one reactor while a step runs; the checks read when none does. A late fiber of the flow
// may still be running then, so everything is under one leaf lock.
#pragma once
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "flow/interpose.h"
#include "flowtest/flow_message.h"
#include "flowtest/flow_script.h"

namespace millstream::flowtest {

// A node, or one of its terminals.
struct NodePoint {
  flow::Flow* flow = nullptr;
  flow::Node* node = nullptr;
  int output = -1;  // the node itself (or its input): -1
  int input = 0;
};

class FlowProbe final : public flow::Interposer {
 public:
  static constexpr size_t kKeptMax = 1000;  // messages kept of one point in one step

  explicit FlowProbe(std::string folder) : folder_(std::move(folder)) {}

  void add_flow(flow::Flow& flow);
  const std::vector<flow::Flow*>& flows() const { return flows_; }
  // "Compute", "Compute.out", "Sub.Compute.out", "Flow::Compute"; `usual_flow` (may be empty) is
  // where it is looked for first. An error says what there is.
  Result<NodePoint> find(std::string_view text, std::string_view usual_flow) const;

  void keep_messages_of(const NodePoint& point);
  void add_mock(const NodePoint& point, const FlowAction& action);
  // Only this node runs, what it sends on ends there; null: all run.
  void run_alone(const flow::Node* node) { alone_ = node; }

  // --- the step that ended last
  void begin_step();
  uint64_t calls_of(const NodePoint& point) const;
  std::vector<Snapshot> messages_of(const NodePoint& point) const;
  std::unique_ptr<base::Error> error_of(const NodePoint& point) const;  // null: none
  // The last one that came back to where the message had been put in; null: none.
  std::unique_ptr<base::Error> unhandled_error() const;

  // --- the whole test
  uint64_t total_calls_of(const flow::Node& node) const;
  uint64_t total_calls_of(const flow::Node& node, int output) const;

  Status evaluate(flow::Node& node, flow::Invocation& invocation, const tree::MessageAssembly& in,
                  int input) override;
  void propagated(const flow::Node& from, int output, flow::Invocation& invocation,
                  const tree::MessageAssembly& assembly) override;

 private:
  struct Point {
    uint64_t calls = 0;  // of this step
    uint64_t total = 0;
    bool keeps = false;
    std::vector<Snapshot> kept;
  };
  struct NodeState {
    Point entry;
    std::vector<Point> outputs;
    std::vector<const FlowAction*> mocks;
    std::unique_ptr<base::Error> error;
  };
  NodeState& state(const flow::Node& node) const {
    return (*states_.find(&node.flow())->second)[node.index()];
  }
  const FlowAction* choose_mock(const NodeState& s) const;
  Status run_mock(const FlowAction& mock, flow::Node& node, flow::Invocation& invocation,
                  const tree::MessageAssembly& in);
  void note(Point& point, flow::Invocation& invocation, const tree::MessageAssembly& assembly);

  const std::string folder_;
  std::vector<flow::Flow*> flows_;
  std::map<const flow::Flow*, std::unique_ptr<std::vector<NodeState>>> states_;
  std::map<const FlowAction*, int> mock_outputs_;
  std::map<const flow::Invocation*, int> depths_;
  std::unique_ptr<base::Error> unhandled_;
  const flow::Node* alone_ = nullptr;
  mutable std::mutex mutex_;
};

}  // namespace millstream::flowtest
