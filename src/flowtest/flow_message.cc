#include "flowtest/flow_message.h"

#include <cstring>

#include "base/ascii.h"
#include "base/clock.h"
#include "flowtest/errors_gen.h"
#include "flowtest/mxml.h"
#include "io/file.h"
#include "net/buffer_pool.h"
#include "nodes/common/body.h"
#include "parsers/domains.h"
#include "parsers/headers/properties.h"
#include "text/utf8.h"
#include "tree/edit.h"

namespace millstream::flowtest {
namespace {

// Parsers may read a little behind the end.
std::string_view padded_copy(base::Arena& arena, std::string_view bytes) {
  char* copy = arena.bytes(bytes.size() + net::Buffer::kPadding);
  std::memcpy(copy, bytes.data(), bytes.size());
  std::memset(copy + bytes.size(), 0, net::Buffer::kPadding);
  return {copy, bytes.size()};
}

std::string hex_bytes(std::string_view digits) {
  std::string out;
  int high = -1;
  for (char c : digits) {
    const int digit = base::hex_digit_value(c);
    if (digit < 0) continue;
    if (high >= 0) out += static_cast<char>(high * 16 + digit);
    high = high >= 0 ? -1 : digit;
  }
  return out;
}

Status set_body(tree::TreeContext& context, const TestSection& section, const std::string& folder,
                tree::MessageAssembly& assembly) {
  const bool is_blob = text::equals_ignoring_ascii_case(section.argument, "BLOB");
  const bool is_file = section.body.find("@file ") != std::string::npos;
  std::string bytes = MS_TRY(expand_body(section.body, folder));
  if (is_blob && !is_file) bytes = hex_bytes(bytes);
  const tree::Domain* known = parsers::find_domain(section.argument);
  if (!known) return base::make_error(errors::kUnknownDomain, {section.argument});
  nodes::common::BodyParserChoice choice =
      MS_TRY(nodes::common::choose_body_parser(known->name, false));
  if (tree::DomainRoot* old = tree::body_of(assembly.root)) tree::detach(old);
  return nodes::common::add_body(context, assembly.root, choice, padded_copy(context.arena, bytes),
                                 0, 0);
}

Result<tree::Element*> tree_of_section(tree::TreeContext& context, const TestSection& section,
                                       const char* name, bool is_root) {
  Result<TextForest> forest = parse_forest(section.body);
  if (!forest.ok()) return std::move(forest).take_status();
  tree::Element* root = tree::make_root(context, name);
  esql::EvalContext eval = test_context(context);
  MS_TRY(build_elements(eval, root, forest.value(), is_root));
  return root;
}

Status set_environment(tree::TreeContext& context, const TextForest& forest,
                       tree::MessageAssembly& assembly) {
  tree::detach_children(assembly.environment);
  esql::EvalContext eval = test_context(context);
  return build_elements(eval, assembly.environment, forest, false);
}

Status set_recorded(tree::TreeContext& context, const TestSection& section,
                    const std::string& folder, tree::MessageAssembly& assembly) {
  const RecordedAssembly recorded = MS_TRY(read_mxml_file(section.body, folder));
  esql::EvalContext eval = test_context(context);
  assembly.root = tree::make_root(context, "Root");
  MS_TRY(build_elements(eval, assembly.root, recorded.message, true));
  assembly.local_environment = tree::make_root(context, "LocalEnvironment");
  MS_TRY(build_elements(eval, assembly.local_environment, recorded.local_environment, false));
  assembly.exception_list = tree::make_root(context, "ExceptionList");
  MS_TRY(build_elements(eval, assembly.exception_list, recorded.exceptions, false));
  return set_environment(context, recorded.environment, assembly);
}

}  // namespace

const value::TimeZone& test_zone() {
  static const value::TimeZone zone = [] {
    Result<value::TimeZone> london = value::TimeZone::load("Europe/London");
    return london.ok() ? std::move(london).value() : value::TimeZone::utc();
  }();
  return zone;
}

esql::EvalContext test_context(tree::TreeContext& context) {
  return {context, test_zone(), base::system_clock().wall_gmt_micros(), nullptr};
}

Snapshot take_snapshot(tree::TreeContext& context, const tree::MessageAssembly& assembly) {
  Status pending = std::exchange(context.parse_error, Status());
  Snapshot out;
  esql::EvalContext eval = test_context(context);
  // A body that is not parsed yet is parsed as a copy, so that the flow meets its own errors where
  // it would without us.
  Result<tree::Element*> root = tree::deep_copy(context, assembly.root);
  if (root.ok()) {
    if (tree::DomainRoot* body = tree::body_of(root.value())) out.domain = body->domain->name;
    Status status = nodes::common::write_body(context, root.value(), out.body);
    if (!status.ok()) out.body = status.error().describe();
    out.root = forest_of(eval, root.value());
  }
  if (context.has_parse_error()) {
    Status problem = context.take_parse_error();
    out.root.push_back({"", "", "ParseError", problem.error().id_with_letter(), false, {}});
  }
  out.environment = forest_of(eval, assembly.environment);
  out.local_environment = forest_of(eval, assembly.local_environment);
  out.exceptions = forest_of(eval, assembly.exception_list);
  context.parse_error = std::move(pending);
  return out;
}

Status apply_parts(tree::TreeContext& context, const MessageParts& parts, const std::string& folder,
                   tree::MessageAssembly& assembly) {
  if (parts.mxml) MS_TRY(set_recorded(context, *parts.mxml, folder, assembly));
  if (parts.tree) {
    assembly.root = MS_TRY(tree_of_section(context, *parts.tree, "Root", true));
  } else if (parts.body) {
    assembly.root = MS_TRY(tree::deep_copy(context, assembly.root));
  }
  if (parts.body) MS_TRY(set_body(context, *parts.body, folder, assembly));
  if (parts.local_environment) {
    assembly.local_environment =
        MS_TRY(tree_of_section(context, *parts.local_environment, "LocalEnvironment", false));
  }
  if (parts.exceptions) {
    assembly.exception_list =
        MS_TRY(tree_of_section(context, *parts.exceptions, "ExceptionList", false));
  }
  if (parts.environment) {
    const TextForest forest = MS_TRY(parse_forest(parts.environment->body));
    MS_TRY(set_environment(context, forest, assembly));
  }
  return {};
}

tree::MessageAssembly new_message(tree::MessageArena& arena) {
  tree::MessageAssembly out = arena.make_assembly();
  parsers::headers::PropertiesInput properties;
  properties.creation_time_micros = base::system_clock().wall_gmt_micros();
  parsers::headers::make_properties(arena.context(), out.root, properties);
  return out;
}

bool parse_document(DocumentKind kind, std::string_view text, TextForest& out) {
  tree::MessageArena arena(std::make_shared<base::NameTable>());
  tree::TreeContext& context = arena.context();
  tree::MessageAssembly message = arena.make_assembly();
  const char* name = kind == DocumentKind::kXml ? "XMLNSC" : "JSON";
  Result<nodes::common::BodyParserChoice> choice = nodes::common::choose_body_parser(name, false);
  if (!choice.ok()) return false;
  choice.value().options.is_immediate = true;
  Status status = nodes::common::add_body(context, message.root, choice.value(),
                                          padded_copy(context.arena, text), 0, 0);
  if (!status.ok()) return false;
  esql::EvalContext eval = test_context(context);
  out = forest_of(eval, tree::body_of(message.root));
  // The folder Data of the JSON domain is no part of the document.
  if (kind == DocumentKind::kJson && out.size() == 1 && out[0].mark != "[]" &&
      !out[0].children.empty()) {
    out = std::move(out[0].children);
  }
  canonicalise(out, kind);
  return true;
}

}  // namespace millstream::flowtest
