// A body under test: parse, navigate by path, write.
#pragma once
#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "tree/assembly.h"
#include "tree/edit.h"

namespace millstream::parsers::common {

struct XmlBody {
  explicit XmlBody(const tree::Domain& d) : domain(d), arena(make_table()) {}
  static std::shared_ptr<base::NameTable> make_table() {
    auto table = std::make_shared<base::NameTable>();
    table->freeze();
    return table;
  }
  tree::TreeContext& context() { return arena.context(); }
  tree::DomainRoot* empty() {
    root = tree::make_domain_root(context(), domain, context().names.qname(domain.name));
    return root;
  }
  tree::DomainRoot* parse(std::string_view xml, const tree::ParseOptions& options = {}) {
    // Exactly as long as the document, so that a sanitizer sees a look behind the end.
    texts.emplace_back(new char[xml.size() + (xml.empty() ? 1 : 0)]);
    std::copy(xml.begin(), xml.end(), texts.back().get());
    empty();
    error.clear();
    (void)context().take_parse_error();
    Status status = domain.parse(context(), root, {texts.back().get(), xml.size()}, options);
    if (!status.ok()) error = status.error().text;
    return root;
  }
  // "" or the message of the parse error.
  std::string parse_all(std::string_view xml, const tree::ParseOptions& options = {}) {
    parse(xml, options);
    if (!error.empty()) return error;
    tree::complete(root);
    Status status = context().take_parse_error();
    return status.ok() ? "" : status.error().text;
  }
  std::string write(const tree::SerialiseOptions& options = {}, tree::Element* e = nullptr) {
    std::string out;
    Status status = domain.serialise(context(), e ? e : root, options, out);
    if (!status.ok()) return "error: " + status.error().text;
    return out;
  }
  std::string round(std::string_view xml, const tree::ParseOptions& options = {}) {
    parse(xml, options);
    return write();
  }
  tree::Element* at(std::initializer_list<std::string_view> path) {
    tree::Element* e = root;
    for (std::string_view name : path) {
      if (e) e = tree::find_child(e, name);
    }
    return e;
  }
  std::string value(std::initializer_list<std::string_view> path) {
    tree::Element* e = at(path);
    if (!e) return "(missing)";
    value::Value v = tree::scalar_value(e);
    return v.is_null() ? "(null)" : std::string(v.text());
  }
  tree::Element* add(tree::Element* parent, std::string_view ns, std::string_view name,
                     tree::FieldType type, const value::Value& v = {}) {
    tree::Element* e = tree::make_element(context(), context().names.qname(ns, name), type);
    tree::append_child(parent, e);
    if (!v.is_null()) tree::set_value(e, v);
    return e;
  }
  const tree::Domain& domain;
  tree::MessageArena arena;
  std::vector<std::unique_ptr<char[]>> texts;
  std::string error;
  tree::DomainRoot* root = nullptr;
};

}  // namespace millstream::parsers::common
