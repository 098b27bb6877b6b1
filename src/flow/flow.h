// A deployed flow: its nodes, wired, and what they share. Built by FlowBuilder, immutable while
// messages run; the owner keeps it until the last message has left (reference counting in
// src/server).
// Thread: any.
#pragma once
#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "base/names.h"
#include "flow/flow_definition.h"
#include "flow/instances.h"
#include "flow/node.h"
#include "flow/observer.h"
#include "flow/statistics.h"

namespace millstream::flow {

class NodeRegistry;

class Flow {
 public:
  Flow() = default;
  ~Flow();
  const std::string& name() const { return name_; }
  const std::string& application() const { return application_; }
  const std::string& server_name() const { return server_name_; }
  const std::vector<std::unique_ptr<Node>>& nodes() const { return nodes_; }
  // The Label node with this labelName: in the subflow of `from`, then in the flows around it, then
  // anywhere when there is only one.
  Node* find_label(std::string_view label, const Node& from) const;
  Node* find_node(std::string_view label) const;  // by display label, for tests and tools
  Statistics& statistics() const { return *statistics_; }
  Instances& instances() const { return *instances_; }
  // Watches messages: user trace, spans, dumps.
  Observers& observers() const { return observers_; }
  const std::shared_ptr<const base::NameTable>& names() const { return names_; }

  // Called by Label nodes while they are created; two of one name in one scope are an error.
  Status add_label(const std::string& label, Node* node, size_t scope,
                   const std::string& node_label);
  // Called by nodes while they are created: their messages share state (SHARED variables of ESQL),
  // so that without a value for additionalInstances they run one after the other.
  void note_shared_state() { has_shared_state_ = true; }
  // Work of this flow that is under way without an instance: an answer that is awaited, an alarm
  // that is set. The owner destroys a flow when this is 0 and no instance is in use; take it with
  // flow::FlowHold (flow/flow_hold.h).
  size_t holds() const { return holds_.load(std::memory_order_acquire); }
  // True when no message is in it and nothing that could bring one: once stopped, it can go.
  bool is_idle() const { return instances_->in_use() == 0 && holds() == 0; }
  Status start();
  void stop();
  bool is_running() const { return is_running_.load(std::memory_order_relaxed); }

 private:
  friend class FlowBuilder;
  friend class FlowHold;
  friend class FlowInterposer;
  std::string name_, application_, server_name_;
  std::vector<std::unique_ptr<Node>> nodes_;
  std::vector<std::unique_ptr<Node>> interposed_;  // flow/interpose.h
  struct LabelEntry {
    std::string label;
    Node* node;
    size_t scope;
    std::string node_label;
  };
  std::vector<LabelEntry> labels_;
  std::vector<size_t> scope_parents_;
  bool has_shared_state_ = false;
  std::unique_ptr<Statistics> statistics_;
  std::unique_ptr<Instances> instances_;
  mutable Observers observers_;
  FlowListener* listener_ = nullptr;  // of the process, told of start and end
  std::atomic<size_t> holds_{0};
  std::atomic<bool> is_running_{false};
  std::shared_ptr<const base::NameTable> names_;
};

// Builds a flow from its definition. Every problem (unknown node type, wrong terminal, bad
// property) becomes a diagnostic with file and line; null when there was an error. `names` is the
// table of the application, frozen by the caller when all its flows are built.
std::unique_ptr<Flow> build_flow(const FlowDefinition& definition, const NodeRegistry& registry,
                                 const Services& services,
                                 const std::shared_ptr<base::NameTable>& names,
                                 const std::string& server_name, base::Diagnostics& diagnostics);

}  // namespace millstream::flow
