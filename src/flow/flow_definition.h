// What a loader hands to the engine: a flow whose subflows are already in line. A node inside a
// subflow has the label "Sub.Compute"; FCMSource and FCMSink stay as Input and Output nodes.
// Thread: one while loading.
#pragma once
#include <string>
#include <vector>

#include "flow/property_set.h"

namespace millstream::flow {

struct NodeDefinition {
  std::string type;    // "ComIbmCompute"; "eflow:FCMSource", "eflow:FCMSink" for subflow ends
  std::string id;      // xmi:id path, e.g. "Flow#FCMComposite_1_3"
  std::string label;   // display name, with the labels of enclosing subflow nodes: "Sub.Compute"
  std::string schema;  // broker schema of the file the node stands in (ESQL look-up)
  std::string file;
  std::vector<std::string> dynamic_outputs;  // terminal ids of Route and the like
  PropertySet properties;
};

struct ConnectionDefinition {
  size_t source = 0;            // index into FlowDefinition::nodes
  std::string source_terminal;  // "out", without the OutTerminal. prefix
  size_t target = 0;
  std::string target_terminal;
  base::Position position;
};

struct UserDefinedProperty {
  std::string name;
  std::string value;
  std::string origin;  // "deployed", "flow default", "user variable"
};

struct FlowDefinition {
  std::string name;  // with broker schema: "com.acme.Flow"
  std::string application;
  std::string library;  // empty unless the flow lies in a static library
  std::string file;
  std::vector<NodeDefinition> nodes;
  std::vector<ConnectionDefinition> connections;
  std::vector<UserDefinedProperty> user_defined;
  PropertySet properties;  // additionalInstances, startMode, ...
};

}  // namespace millstream::flow
