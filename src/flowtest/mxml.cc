#include "flowtest/mxml.h"

#include <algorithm>
#include <cstdlib>

#include "ace/config_xml.h"
#include "flowtest/errors_gen.h"
#include "flowtest/tree_text.h"
#include "io/file.h"

namespace millstream::flowtest {
namespace {

using ace::ConfigElement;

std::string literal_of(std::string_view type, std::string_view text) {
  if (type == "CHARACTER") return quote_text(text);
  if (type == "BLOB") return "X'" + std::string(text) + "'";
  if (type == "BIT") return "B'" + std::string(text) + "'";
  if (type == "INTEGER" || type == "BOOLEAN") return std::string(text);
  if (type == "FLOAT") {
    const bool is_plain = text.find_first_of(".eE") == std::string_view::npos;
    return std::string(text) + (is_plain ? ".0E0" : "");
  }
  if (type == "INTERVAL") return std::string(text);  // written as a literal
  return std::string(type) + " '" + std::string(text) + "'";
}

std::string mark_of_type(std::string_view type) {
  if (type.empty()) return {};
  const auto code = static_cast<uint32_t>(std::strtoul(std::string(type).c_str(), nullptr, 16));
  switch (code) {
    case 0x01000000:
    case 0x03000000:
      return {};
    case 0x02000000:
      return "#";
    case 0x03000100:
    case 0x03000101:
      return "@";
    case 0x03000102:
    case 0x03000103:
      return "%";
    case 0x01001000:
      return "[]";
    default: {
      char text[16];
      std::snprintf(text, sizeof text, "(0x%08x)", code);
      return text;
    }
  }
}

TextTree tree_of(const ConfigElement& e, int depth) {
  TextTree t;
  t.name = e.local;
  t.space = e.name_space;
  const std::string_view element_type = e.attribute("iib:elementType");
  t.mark = mark_of_type(element_type);
  const std::string_view value_type = e.attribute("iib:valueType");
  const bool has_children = !e.children.empty();
  if (!value_type.empty()) {
    const ace::ConfigAttribute* mixed = e.find_attribute("iib:value");
    t.value = literal_of(value_type, mixed ? std::string_view(mixed->value) : e.text);
  } else if (element_type.substr(0, 4) == "0x03" && !has_children) {
    t.value = "NULL";
  }
  t.is_folder = t.value.empty() || has_children;
  if (depth >= kTextTreeDepthMax) return t;
  for (const auto& child : e.children) t.children.push_back(tree_of(*child, depth + 1));
  return t;
}

TextForest forest_below(const ConfigElement* e) {
  TextForest out;
  if (!e) return out;
  for (const auto& child : e->children) out.push_back(tree_of(*child, 0));
  return out;
}

std::string text_at_child(const ConfigElement* e, std::string_view name) {
  const ConfigElement* c = e ? e->child(name) : nullptr;
  return c ? c->text : std::string();
}

}  // namespace

Result<RecordedAssembly> read_mxml(std::string_view text, std::string_view name) {
  const ace::ConfigDocument document = MS_TRY(ace::parse_config_xml(text, std::string(name)));
  if (!document.root || document.root->local != "MessageAssembly") {
    return base::make_error(errors::kNoRecording, {name});
  }
  const ConfigElement& root = *document.root;
  RecordedAssembly out;
  out.message = forest_below(root.child("message"));
  out.environment = forest_below(root.child("environment"));
  out.local_environment = forest_below(root.child("localEnvironment"));
  out.exceptions = forest_below(root.child("exceptionList"));
  if (const ConfigElement* checkpoint = root.child("checkpoint")) {
    const ConfigElement* source = checkpoint->child("source");
    const ConfigElement* target = checkpoint->child("target");
    out.source_node = text_at_child(source, "name");
    out.source_terminal = text_at_child(source, "terminal");
    out.target_node = text_at_child(target, "name");
    out.target_terminal = text_at_child(target, "terminal");
    out.flow = text_at_child(source ? source->child("nodePath") : nullptr, "messageFlow");
  }
  return out;
}

Result<RecordedAssembly> read_mxml_file(std::string_view reference, const std::string& folder) {
  while (!reference.empty() &&
         (reference.back() == ' ' || reference.back() == '\n' || reference.back() == '\r')) {
    reference.remove_suffix(1);
  }
  const std::string path =
      reference.starts_with('/') ? std::string(reference) : io::join_path(folder, reference);
  return read_mxml(MS_TRY(io::read_file(path)), path);
}

}  // namespace millstream::flowtest
