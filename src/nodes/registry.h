// All node types of this binary, from the records in src/nodes (nodes/registry_gen.cc).
// Thread: any.
#pragma once
#include "flow/node_registry.h"

namespace millstream::nodes {

const flow::NodeRegistry& node_registry();

}  // namespace millstream::nodes
