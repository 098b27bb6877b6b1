#include "flowtest/tree_text.h"

#include <cstdio>

#include "esql/cast.h"
#include "tree/field_type.h"

namespace millstream::flowtest {
namespace {

constexpr int kDepthMax = 1000;

void append_name(const tree::Element* e, std::string& out) {
  namespace x = tree::xmlnsc;
  switch (e->type) {
    case tree::kName:
    case tree::kNameValue:
      break;
    case tree::kValue:
      out += '#';
      break;
    case x::kAttribute:
    case x::kSingleAttribute:
      out += '@';
      break;
    case x::kNamespaceDecl:
    case x::kSingleNamespaceDecl:
      out += '%';
      break;
    case tree::json::kArray:
      out += "[]";
      break;
    default: {
      char text[16];
      std::snprintf(text, sizeof text, "(0x%08x)", e->type);
      out += text;
    }
  }
  std::string_view ns = e->namespace_uri();
  if (ns == "http://www.w3.org/2000/xmlns/") {
    out += "xmlns:";
  } else if (!ns.empty()) {
    out.append("{").append(ns).append("}");
  }
  out += e->local_name();
}

void append_tree(esql::EvalContext& context, tree::Element* e, std::string& out, int depth);

void append_children(esql::EvalContext& context, tree::Element* e, std::string& out, int depth) {
  bool is_first = true;
  for (tree::Element* c = tree::first_child(e); c; c = tree::next_sibling(c)) {
    if (!is_first) out += ' ';
    is_first = false;
    append_tree(context, c, out, depth + 1);
  }
}

void append_tree(esql::EvalContext& context, tree::Element* e, std::string& out, int depth) {
  if (depth > kDepthMax) {
    out += "...";
    return;
  }
  append_name(e, out);
  value::Value v = tree::scalar_value(e);
  tree::Element* child = tree::first_child(e);
  bool is_folder = (e->type & tree::kTypeClassMask) == tree::kName;
  if (e->type == tree::kValue && e->local_name().empty()) {
    out += value_text(context, v);
  } else if (!v.is_null() || (!is_folder && !child)) {
    out += "=" + value_text(context, v);
  }
  if (child || (is_folder && v.is_null())) {
    out += '{';
    append_children(context, e, out, depth);
    out += '}';
  }
}

}  // namespace

std::string quote_text(std::string_view s) {
  std::string out = "'";
  for (char c : s) {
    if (c == '\'') out += '\'';
    if (c == '\n') {
      out += "\\n";
    } else if (c == '\r') {
      out += "\\r";
    } else {
      out += c;
    }
  }
  return out + "'";
}

std::string value_text(esql::EvalContext& context, const value::Value& v) {
  using value::Kind;
  switch (v.kind) {
    case Kind::kNull:
      return "NULL";
    case Kind::kCharacter:
      return quote_text(v.text());
    case Kind::kDecimal:
      return "DECIMAL '" + esql::display_text(context, v) + "'";
    default:
      return esql::display_text(context, v);
  }
}

std::string tree_text(esql::EvalContext& context, tree::Element* e) {
  std::string out;
  append_tree(context, e, out, 0);
  return out;
}

std::string children_text(esql::EvalContext& context, tree::Element* e) {
  std::string out;
  append_children(context, e, out, 0);
  return out;
}

std::string normalise_tree_text(std::string_view text) {
  std::string out;
  bool is_quoted = false;
  for (char c : text) {
    if (c == '\'') is_quoted = !is_quoted;
    bool is_blank = c == ' ' || c == '\n' || c == '\t' || c == '\r';
    if (!is_quoted && is_blank) {
      if (!out.empty() && out.back() != ' ' && out.back() != '{') out += ' ';
      continue;
    }
    if (!is_quoted && c == '}' && out.ends_with(' ')) out.pop_back();
    out += c;
  }
  while (out.ends_with(' ')) out.pop_back();
  return out;
}

}  // namespace millstream::flowtest
