#include "ace/flow_file.h"

#include <algorithm>
#include <set>

#include "ace/config_xml.h"
#include "ace/errors_gen.h"
#include "io/file.h"

namespace millstream::ace {
namespace {

constexpr std::string_view kEflowNamespace = "http://www.ibm.com/wbi/2005/eflow";

// Attributes of <nodes> that are not properties of the node.
bool is_layout_attribute(std::string_view name) {
  return name == "xmi:type" || name == "xmi:id" || name == "location" || name == "rotation" ||
         name.substr(0, 6) == "xmlns:";
}

// Children of <nodes> that are not table properties.
bool is_layout_child(std::string_view local) {
  static const std::set<std::string_view> kLayout = {
      "translation", "shortDescription", "longDescription", "outTerminals",
      "inTerminals", "monitorEvents",    "colorGraphic16",  "colorGraphic32"};
  return kLayout.count(local) != 0;
}

bool ends_with(std::string_view s, std::string_view tail) {
  return s.size() >= tail.size() && s.substr(s.size() - tail.size()) == tail;
}

std::string_view without_prefix(std::string_view s, std::string_view prefix) {
  return s.substr(0, prefix.size()) == prefix ? s.substr(prefix.size()) : s;
}

class FlowFileReader {
 public:
  FlowFileReader(const ConfigDocument& document, FlowFile& flow)
      : document_(document), flow_(flow) {}

  Status read() {
    if (document_.root->local != "EPackage") return not_a_flow("its root is not an ecore:EPackage");
    const ConfigElement* composite = nullptr;
    for (const auto& c : document_.root->children) {
      if (c->local == "eClassifiers" && ends_with(c->attribute("xmi:type"), ":FCMComposite")) {
        composite = c.get();
      }
    }
    if (!composite) return not_a_flow("it has no FCMComposite");
    for (const auto& c : composite->children) {
      if (c->local == "eStructuralFeatures") read_declared_property(*c);
      if (c->local == "attributeLinks") read_link(*c);
      if (c->local == "propertyOrganizer") mark_user_defined(*c);
      if (c->local != "composition") continue;
      for (const auto& part : c->children) {
        if (part->local == "nodes") MS_TRY(read_node(*part));
        if (part->local == "connections") read_connection(*part);
      }
    }
    for (DeclaredProperty& p : flow_.properties) {
      p.is_user_defined = user_defined_.count(p.name) != 0;
    }
    return {};
  }

 private:
  Status not_a_flow(std::string why) {
    return base::make_error_at(errors::kNotAFlow, document_.root->position,
                               {flow_.file, std::move(why)});
  }

  void read_declared_property(const ConfigElement& e) {
    DeclaredProperty p;
    p.name = e.attribute("name");
    if (p.name.empty()) p.name = without_prefix(e.attribute("xmi:id"), "Property.");
    p.has_default = e.find_attribute("defaultValueLiteral") != nullptr;
    p.default_value = e.attribute("defaultValueLiteral");
    p.position = e.position;
    flow_.properties.push_back(std::move(p));
  }

  // Descriptors are chained: the next one is a child of the one before.
  void mark_user_defined(const ConfigElement& e) {
    std::vector<const ConfigElement*> pending = {&e};
    while (!pending.empty()) {
      const ConfigElement* at = pending.back();
      pending.pop_back();
      if (at->local == "propertyDescriptor" && at->attribute("userDefined") == "true") {
        std::string_view name = without_prefix(at->attribute("describedAttribute"), "Property.");
        user_defined_.insert(std::string(name));
      }
      for (const auto& c : at->children) pending.push_back(c.get());
    }
  }

  void read_link(const ConfigElement& e) {
    PromotionLink link;
    link.promoted = without_prefix(e.attribute("promotedAttribute"), "Property.");
    std::string ids(e.attribute("overriddenNodes"));
    for (size_t at = 0; at < ids.size();) {
      size_t blank = std::min(ids.find(' ', at), ids.size());
      if (blank > at) link.nodes.push_back(ids.substr(at, blank - at));
      at = blank + 1;
    }
    if (const ConfigElement* attribute = e.child("overriddenAttribute")) {
      std::string_view href = attribute->attribute("href");
      size_t hash = href.rfind('#');
      link.property = without_prefix(hash == std::string_view::npos ? href : href.substr(hash + 1),
                                     "Property.");
    }
    link.position = e.position;
    flow_.links.push_back(std::move(link));
  }

  Status read_node(const ConfigElement& e) {
    FlowFileNode node;
    node.id = e.attribute("xmi:id");
    node.properties.position = e.position;
    MS_TRY(read_type(e, node));
    read_label(e, node);
    for (const ConfigAttribute& a : e.attributes) {
      if (!is_layout_attribute(a.name)) node.properties.set(a.name, {a.value, a.position, "flow"});
    }
    for (const auto& c : e.children) {
      if (c->local == "outTerminals") {
        node.dynamic_outputs.emplace_back(c->attribute("terminalNodeID"));
      } else if (c->local == "inTerminals") {
        node.dynamic_inputs.emplace_back(c->attribute("terminalNodeID"));
      } else if (!is_layout_child(c->local)) {
        flow::PropertyRow row;
        row.position = c->position;
        for (const ConfigAttribute& a : c->attributes) row.columns[a.name] = a.value;
        node.properties.add_row(c->local, std::move(row));
      }
    }
    flow_.nodes.push_back(std::move(node));
    return {};
  }

  // xmi:type is "<prefix>:FCMComposite_1"; the prefix's namespace says what the node is.
  Status read_type(const ConfigElement& e, FlowFileNode& node) {
    std::string_view type = e.attribute("xmi:type");
    size_t colon = type.rfind(':');
    if (colon == std::string_view::npos) {
      return base::make_error_at(errors::kNotAFlow, e.position,
                                 {flow_.file, "node '" + node.id + "' has no type"});
    }
    std::string_view prefix = type.substr(0, colon);
    std::string_view local = type.substr(colon + 1);
    std::string_view uri = document_.namespace_of(prefix);
    if (uri == kEflowNamespace || (uri.empty() && prefix == "eflow")) {
      node.type = "eflow:" + std::string(local);
    } else if (ends_with(uri, ".subflow") || ends_with(uri, ".msgflow")) {
      node.subflow = uri;
    } else {
      // Connector nodes have a path for a URI: com/ibm/connector/kafka/ComIbmOutput.msgnode.
      std::string_view name = uri.empty() ? prefix : uri;
      if (ends_with(name, ".msgnode")) name.remove_suffix(8);
      node.type = name;
      std::replace(node.type.begin(), node.type.end(), '/', '_');
    }
    return {};
  }

  void read_label(const ConfigElement& e, FlowFileNode& node) {
    if (const ConfigElement* t = e.child("translation")) {
      node.label = t->attribute("string");
      if (node.label.empty()) node.label = t->attribute("key");
    }
    if (node.label.empty()) {
      node.label = without_prefix(without_prefix(node.id, "InTerminal."), "OutTerminal.");
    }
  }

  void read_connection(const ConfigElement& e) {
    FlowFileConnection c;
    c.source = e.attribute("sourceNode");
    c.target = e.attribute("targetNode");
    c.source_terminal = e.attribute("sourceTerminalName");
    c.target_terminal = e.attribute("targetTerminalName");
    c.position = e.position;
    // The Toolkit itself leaves such leftovers behind and ignores them.
    if (c.source.empty() || c.target.empty()) return;
    flow_.connections.push_back(std::move(c));
  }

  const ConfigDocument& document_;
  FlowFile& flow_;
  std::set<std::string> user_defined_;
};

}  // namespace

const FlowFileNode* FlowFile::find_node(std::string_view id) const {
  for (const FlowFileNode& n : nodes) {
    if (n.id == id) return &n;
  }
  return nullptr;
}

Result<FlowFile> parse_flow_file(std::string_view bytes, const std::string& path,
                                 const std::string& file) {
  FlowFile flow;
  flow.path = path;
  flow.file = file;
  std::string_view base_name = io::file_name(path);
  flow.name = base_name.substr(0, base_name.rfind('.'));
  flow.schema = io::folder_name(path);
  std::replace(flow.schema.begin(), flow.schema.end(), '/', '.');
  ConfigDocument document = MS_TRY(parse_config_xml(bytes, file));
  MS_TRY(FlowFileReader(document, flow).read());
  return flow;
}

}  // namespace millstream::ace
