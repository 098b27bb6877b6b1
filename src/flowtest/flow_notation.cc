#include "flowtest/flow_notation.h"

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "base/ascii.h"
#include "base/markup.h"
#include "flowtest/errors_gen.h"
#include "nodes/registry.h"

namespace millstream::flowtest {
namespace {

// An attribute's value; a line end would come back as a blank.
std::string xml_escape(std::string_view text) {
  std::string out;
  for (const char& c : text) {
    if (c == '"') {
      out += "&quot;";
    } else if (c == '\n') {
      out += "&#xA;";
    } else {
      base::append_markup(out, {&c, 1});
    }
  }
  return out;
}

struct NotationNode {
  std::string label, type, attributes, children, id;
  std::set<std::string> dynamic_terminals;
};

class NotationReader {
 public:
  explicit NotationReader(std::string_view name) : name_(name) {}

  Status read(std::string_view text) {
    while (!text.empty()) {
      const size_t end = std::min(text.find('\n'), text.size());
      ++line_;
      MS_TRY(read_line(text.substr(0, end)));
      text = text.substr(std::min(end + 1, text.size()));
    }
    return {};
  }

  Result<std::string> write() {
    std::string out =
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
        "<ecore:EPackage xmi:version=\"2.0\" xmlns:xmi=\"http://www.omg.org/XMI\" "
        "xmlns:ecore=\"http://www.eclipse.org/emf/2002/Ecore\" "
        "xmlns:eflow=\"http://www.ibm.com/wbi/2005/eflow\" "
        "xmlns:utility=\"http://www.ibm.com/wbi/2005/eflow_utility\"";
    for (const std::string& type : types_) {
      out += " xmlns:" + prefix_of(type) + "=\"" + type + "\"";
    }
    out += " nsURI=\"" + std::string(name_) + "\">\n";
    out += "<eClassifiers xmi:type=\"eflow:FCMComposite\" name=\"FCMComposite_1\">\n" + features_;
    out += "<composition>\n";
    std::string wires = MS_TRY(write_wires());
    for (const NotationNode& n : nodes_) out += node_text_of(n);
    out += wires + "</composition>\n<propertyOrganizer>" + organizer_;
    return out + "</propertyOrganizer>\n</eClassifiers>\n</ecore:EPackage>\n";
  }

 private:
  struct Wire {
    std::string source, target;
    size_t line;
  };
  struct End {
    NotationNode* node;
    std::string terminal;
  };

  static std::string prefix_of(std::string type) {
    std::replace(type.begin(), type.end(), '/', '_');
    return type;
  }

  Status fail(std::string_view what) const {
    return base::make_error(errors::kFlowNotation, {name_, line_, what});
  }

  Status read_line(std::string_view line) {
    const std::string_view text = base::trim_white_space(line);
    if (text.empty() || text[0] == '#') return {};
    if (line[0] == ' ' || line[0] == '\t') return read_property(text);
    const size_t arrow = text.find(" -> ");
    if (arrow != std::string_view::npos) {
      wires_.push_back({std::string(base::trim_white_space(text.substr(0, arrow))),
                        std::string(base::trim_white_space(text.substr(arrow + 4))), line_});
      return {};
    }
    if (text.starts_with("property ")) return read_flow_property(text.substr(9));
    const size_t colon = text.rfind(": ");
    if (colon == std::string_view::npos) {
      return fail("a line is a node, 'LABEL: TYPE', or a connection, 'A.terminal -> B'");
    }
    return add_node(text.substr(0, colon), base::trim_white_space(text.substr(colon + 2)));
  }

  Status read_flow_property(std::string_view text) {
    const size_t equals = text.find('=');
    const std::string name(base::trim_white_space(text.substr(0, equals)));
    const std::string_view value =
        equals == std::string_view::npos ? "" : base::trim_white_space(text.substr(equals + 1));
    features_ += "<eStructuralFeatures xmi:type=\"ecore:EAttribute\" xmi:id=\"Property." + name +
                 "\" name=\"" + name + "\" defaultValueLiteral=\"" + xml_escape(value) + "\"/>\n";
    organizer_ +=
        "<propertyDescriptor userDefined=\"true\" describedAttribute=\"Property." + name + "\"/>";
    return {};
  }

  Status read_property(std::string_view text) {
    if (nodes_.empty()) return fail("a property stands below its node");
    NotationNode& node = nodes_.back();
    if (text[0] == '<') {
      node.children.append(text).append("\n");
      constexpr std::string_view kRoutes = "routingOutputTerminal=\"";
      const size_t at = text.find(kRoutes);
      if (at != std::string_view::npos) {
        const std::string_view rest = text.substr(at + kRoutes.size());
        const std::string terminal(rest.substr(0, rest.find('"')));
        if (terminal != "default" && terminal != "match") node.dynamic_terminals.insert(terminal);
      }
      return {};
    }
    const size_t equals = text.find('=');
    if (equals == std::string_view::npos) return fail("a property is written as 'name = value'");
    node.attributes += " " + std::string(base::trim_white_space(text.substr(0, equals))) + "=\"" +
                       xml_escape(base::trim_white_space(text.substr(equals + 1))) + "\"";
    return {};
  }

  Status add_node(std::string_view label, std::string_view type) {
    NotationNode node;
    node.label = label;
    node.id = "FCMComposite_1_" + std::to_string(nodes_.size() + 1);
    if (type.starts_with("subflow ")) {
      node.type = base::trim_white_space(type.substr(8));
      types_.insert(node.type);
    } else if (type == "Input" || type == "Output") {
      node.type = type == "Input" ? "eflow:FCMSource" : "eflow:FCMSink";
      node.id = (type == "Input" ? "InTerminal." : "OutTerminal.") + node.label;
    } else {
      for (const flow::NodeType& known : nodes::node_registry().all()) {
        if (type == known.name) node.type = known.xmi_type;
      }
      if (node.type.empty()) node.type = type;  // the loader says what it thinks of it
      node.type += ".msgnode";
      types_.insert(node.type);
    }
    for (const NotationNode& n : nodes_) {
      if (n.label == node.label) return fail("two nodes have the label '" + node.label + "'");
    }
    nodes_.push_back(std::move(node));
    return {};
  }

  // "Sub.out" is the node Sub.out when there is one, else the terminal out of Sub.
  bool find_end(const std::string& text, const char* usual, End& end) {
    for (NotationNode& n : nodes_) {
      if (n.label == text) {
        end = {&n, usual};
        return true;
      }
    }
    const size_t dot = text.rfind('.');
    if (dot == std::string::npos) return false;
    for (NotationNode& n : nodes_) {
      if (n.label == text.substr(0, dot)) {
        end = {&n, text.substr(dot + 1)};
        return true;
      }
    }
    return false;
  }

  Result<std::string> write_wires() {
    std::string out;
    for (const Wire& w : wires_) {
      line_ = w.line;
      End source, target;
      if (!find_end(w.source, "out", source)) return fail("there is no node '" + w.source + "'");
      if (!find_end(w.target, "in", target)) return fail("there is no node '" + w.target + "'");
      const bool is_dynamic = source.node->dynamic_terminals.count(source.terminal) != 0;
      out += "<connections xmi:type=\"eflow:FCMConnection\" xmi:id=\"FCMConnection_" +
             std::to_string(++wire_count_) + "\" sourceNode=\"" + source.node->id +
             "\" sourceTerminalName=\"" + (is_dynamic ? "" : "OutTerminal.") + source.terminal +
             "\" targetNode=\"" + target.node->id + "\" targetTerminalName=\"InTerminal." +
             target.terminal + "\"/>\n";
    }
    return out;
  }

  static std::string node_text_of(const NotationNode& n) {
    const bool is_end = n.type.starts_with("eflow:");
    std::string out = "<nodes xmi:type=\"" +
                      (is_end ? n.type : prefix_of(n.type) + ":FCMComposite_1") + "\" xmi:id=\"" +
                      xml_escape(n.id) + "\" location=\"1,1\"" + n.attributes + ">";
    for (const std::string& terminal : n.dynamic_terminals) {
      out += "<outTerminals terminalNodeID=\"" + terminal + "\" dynamic=\"true\" label=\"" +
             terminal + "\"/>";
    }
    return out + n.children + "<translation xmi:type=\"utility:ConstantString\" string=\"" +
           xml_escape(n.label) + "\"/></nodes>\n";
  }

  std::string_view name_;
  size_t line_ = 0;
  size_t wire_count_ = 0;
  std::vector<NotationNode> nodes_;
  std::vector<Wire> wires_;
  std::set<std::string> types_;
  std::string features_, organizer_;
};

}  // namespace

Result<std::string> flow_file_text(std::string_view notation, std::string_view name) {
  NotationReader reader(name);
  MS_TRY(reader.read(notation));
  return reader.write();
}

}  // namespace millstream::flowtest
