// The node interface: what a family in src/nodes implements.
//
// One Node object serves all messages of its flow at once, so it is immutable after create(); what
// belongs to a message is in the Invocation. A node is ordinary straight-line code in the message's
// fiber: it reads `in`, makes what it has to, and propagates. It returns an error to throw an
// exception; the engine then uses the failure terminal, or unwinds (flow/engine.h).
// Thread: evaluate() from any reactor, concurrently.
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostics.h"
#include "base/names.h"
#include "base/result.h"
#include "flow/flow_definition.h"
#include "flow/services.h"
#include "tree/assembly.h"

namespace millstream::flow {

class Flow;
class Invocation;
class Node;

// The record of a node type, written by tools/gen.py from node.yaml.
struct NodeBuildContext;
struct NodeType {
  const char* name;             // "Compute"
  const char* xmi_type;         // "ComIbmCompute"
  const char* runtime_type;     // ExceptionList Type: "ComIbmComputeNode"
  const char* statistics_type;  // "ComputeNode"
  std::vector<const char*> inputs;
  std::vector<const char*> outputs;  // without dynamic ones; "failure" where there is one
  bool has_dynamic_outputs;
  bool is_input;  // starts messages (HTTPInput); not Label or Input, which are entered by name
  bool rethrows;  // adds BIP2230 when an exception leaves it (Compute, Filter, Database)
  Result<std::unique_ptr<Node>> (*create)(NodeBuildContext& context);
};

struct NodeBuildContext {
  const NodeDefinition& definition;
  const FlowDefinition& flow_definition;
  Flow& flow;
  const Services& services;
  base::NameTable& names;  // not yet frozen: intern what is looked up at run time
  base::Diagnostics& diagnostics;
};

struct Target {
  Node* node;
  int input;  // index into the target type's inputs
};

class Node {
 public:
  virtual ~Node() = default;
  virtual Status evaluate(Invocation& invocation, const tree::MessageAssembly& in, int input) = 0;
  // After all nodes of the application exist. An input node starts to deliver here.
  virtual Status start() { return {}; }
  // No new messages from here on; those in flight go on.
  virtual void stop() {}
  // One line for the ready message, e.g. "http://*:7800/xml/sum"; empty for most.
  virtual std::string endpoint() const { return {}; }

  const NodeType& type() const { return *type_; }
  const std::string& label() const { return label_; }            // "Sub.Compute"
  const std::string& full_label() const { return full_label_; }  // "Flow.Sub.Compute"
  const std::string& id() const { return id_; }
  Flow& flow() const { return *flow_; }
  size_t index() const { return index_; }
  size_t scope() const { return scope_; }  // the use of a subflow it belongs to
  // Number of the output terminal, -1 when the node has none of this name. Case-sensitive.
  int find_output(std::string_view terminal) const;
  int failure_output() const { return failure_output_; }
  const std::string& output_name(int output) const {
    return output_names_[static_cast<size_t>(output)];
  }
  size_t output_count() const { return targets_.size(); }
  const std::vector<Target>& targets(int output) const {
    return targets_[static_cast<size_t>(output)];
  }
  bool is_wired(int output) const { return output >= 0 && !targets(output).empty(); }

 private:
  friend class FlowBuilder;
  friend class FlowInterposer;
  const NodeType* type_ = nullptr;
  Flow* flow_ = nullptr;
  std::string label_, full_label_, id_;
  size_t index_ = 0;
  size_t scope_ = 0;
  int failure_output_ = -1;
  std::vector<std::string> output_names_;
  std::vector<std::vector<Target>> targets_;
};

}  // namespace millstream::flow
