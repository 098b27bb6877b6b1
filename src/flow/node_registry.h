// The node types of this binary: an explicit list generated from the records in src/nodes.
// Defined in src/nodes/registry_gen.cc. Thread: any.
#pragma once
#include <string_view>
#include <vector>

#include "flow/node.h"

namespace millstream::flow {

class NodeRegistry {
 public:
  explicit NodeRegistry(std::vector<NodeType> types) : types_(std::move(types)) {}
  // By the type in .msgflow files, "ComIbmCompute"; null for an unknown type. At load only.
  const NodeType* find(std::string_view xmi_type) const;
  const std::vector<NodeType>& all() const { return types_; }

 private:
  std::vector<NodeType> types_;
};

}  // namespace millstream::flow
