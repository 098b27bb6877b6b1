// One .msgflow or .subflow file as it stands on disk: an EMF XMI document (spec ace-artifacts 4).
// Nothing is resolved here; flatten.h puts subflows in line and applies promotion and overrides.
// Thread: any (no sharing).
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostics.h"
#include "base/result.h"
#include "flow/property_set.h"

namespace millstream::ace {

struct FlowFileNode {
  std::string id;       // xmi:id: "FCMComposite_1_3", "InTerminal.Input", "OutTerminal.Output"
  std::string type;     // "ComIbmCompute"; "eflow:FCMSource", "eflow:FCMSink"; else empty
  std::string subflow;  // path of the .subflow or .msgflow this node stands for; else empty
  std::string label;
  std::vector<std::string> dynamic_outputs;
  std::vector<std::string> dynamic_inputs;
  flow::PropertySet properties;
};

struct FlowFileConnection {
  std::string source, source_terminal;  // xmi:id, terminal as written ("OutTerminal.out")
  std::string target, target_terminal;
  base::Position position;
};

// A property that the flow declares: promoted from nodes, or user-defined.
struct DeclaredProperty {
  std::string name;
  std::string default_value;
  bool has_default = false;
  bool is_user_defined = false;
  base::Position position;
};

struct PromotionLink {
  std::string promoted;            // name of a DeclaredProperty
  std::vector<std::string> nodes;  // xmi:ids
  std::string property;            // of those nodes (or of the subflow they stand for)
  base::Position position;
};

struct FlowFile {
  std::string path;    // inside its project: "com/acme/Flow.msgflow"
  std::string name;    // "Flow"
  std::string schema;  // "com.acme"
  std::string file;    // for messages
  uint32_t unit = 0;   // 0: the application, n: its n-th library (ESQL look-up)
  std::vector<FlowFileNode> nodes;
  std::vector<FlowFileConnection> connections;
  std::vector<DeclaredProperty> properties;
  std::vector<PromotionLink> links;

  std::string qualified_name() const { return schema.empty() ? name : schema + "." + name; }
  const FlowFileNode* find_node(std::string_view id) const;
};

// `path` is inside the project; `file` names it in messages.
Result<FlowFile> parse_flow_file(std::string_view bytes, const std::string& path,
                                 const std::string& file);

}  // namespace millstream::ace
