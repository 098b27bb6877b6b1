// What a loader hands to the engine: a flow whose subflows are already in line. A node inside a
// subflow has the label "Sub.Compute"; FCMSource and FCMSink stay as Input and Output nodes.
// Thread: one while loading.
#pragma once
#include <string>
#include <vector>

#include "flow/property_set.h"

namespace millstream::flow {

struct UserDefinedProperty {
  std::string name;
  std::string value;
  std::string origin;  // "flow", "subflow Log", "BAR override", ...
};

// One use of a subflow (scope 0: the flow itself): the space in which its labels and user-defined
// properties are looked up, before those of the flow around it.
struct ScopeDefinition {
  size_t parent = 0;
  std::string label;  // of the subflow node, "" for the flow itself
  std::vector<UserDefinedProperty> user_defined;
};

struct NodeDefinition {
  std::string type;    // "ComIbmCompute"; "eflow:FCMSource", "eflow:FCMSink" for subflow ends
  std::string id;      // xmi:id path, e.g. "Flow#FCMComposite_1_3"
  std::string label;   // display name, with the labels of enclosing subflow nodes: "Sub.Compute"
  std::string schema;  // broker schema of the file the node stands in (ESQL look-up)
  std::string file;
  uint32_t unit = 0;  // 0: the application, n: its n-th library (ESQL look-up)
  size_t scope = 0;   // index into FlowDefinition::scopes
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

struct FlowDefinition {
  std::string name;  // with broker schema: "com.acme.Flow"
  std::string application;
  std::string file;
  std::vector<NodeDefinition> nodes;
  std::vector<ConnectionDefinition> connections;
  std::vector<ScopeDefinition> scopes = {ScopeDefinition{}};
  PropertySet properties;  // additionalInstances, startMode, ...

  // The value for a node, from its scope outwards; null when nobody defines it.
  const std::string* find_user_defined(size_t scope, std::string_view property) const;
};

}  // namespace millstream::flow
