#include "nodes/database/target.h"

#include "nodes/database/errors_gen.h"
#include "parsers/domains.h"
#include "tree/edit.h"

namespace millstream::nodes::database {

namespace {

Status bad(std::string_view path, std::string why, const base::Position& position) {
  return base::make_error_at(errors::kBadTarget, position, {path, std::move(why)});
}

bool is_name_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-' || c == '.' || (c & 0x80) != 0;
}

constexpr tree::FieldType kXmlAttribute = 0x03000100;

}  // namespace

Result<Target> Target::compile(std::string_view path, const query::XPathNamespaces& namespaces,
                               const base::Position& position) {
  Target t;
  const size_t slash = path.find('/');
  const std::string_view root = path.substr(0, slash);
  if (root == "$OutputRoot" || root == "$Root") {
    t.tree_ = Tree::kRoot;
  } else if (root == "$OutputLocalEnvironment" || root == "$LocalEnvironment" ||
             root == "$OutputDestinationList" || root == "$InputLocalEnvironment") {
    t.tree_ = Tree::kLocalEnvironment;
  } else if (root == "$OutputExceptionList") {
    t.tree_ = Tree::kExceptionList;
  } else if (root == "$Environment") {
    t.tree_ = Tree::kEnvironment;
  } else {
    return bad(path, "it begins with none of the output trees.", position);
  }
  size_t at = slash;
  while (at != std::string_view::npos && at < path.size()) {
    const size_t end = path.find('/', ++at);
    std::string_view word = path.substr(at, end == std::string_view::npos ? end : end - at);
    Step step;
    if (!word.empty() && word[0] == '@') {
      step.is_attribute = true;
      word.remove_prefix(1);
    }
    if (const size_t colon = word.find(':'); colon != std::string_view::npos) {
      const std::string_view prefix = word.substr(0, colon);
      bool is_known = false;
      for (const auto& [known, uri] : namespaces) {
        if (known != prefix) continue;
        step.ns = uri;
        is_known = true;
      }
      if (!is_known) {
        return bad(path, "the prefix '" + std::string(prefix) + "' is not in the namespace table.",
                   position);
      }
      word.remove_prefix(colon + 1);
    }
    bool is_name = !word.empty();
    for (char c : word) is_name &= is_name_char(c);
    if (!is_name) {
      return bad(path, "'" + std::string(word) + "' is not the name of an element.", position);
    }
    step.name = word;
    t.steps_.push_back(std::move(step));
    at = end;
  }
  if (t.steps_.empty()) return bad(path, "it names a whole tree.", position);
  return t;
}

Status Target::write(tree::TreeContext& context, tree::Element* root, const value::Value& v,
                     bool is_further) const {
  tree::Element* at = root;
  for (size_t i = 0; i < steps_.size(); ++i) {
    const Step& step = steps_[i];
    const bool is_last = i + 1 == steps_.size();
    const base::QName* name = context.names.qname(step.ns, step.name);
    tree::Element* next =
        is_last && is_further && !step.is_attribute ? nullptr : tree::find_child(at, name);
    if (context.has_parse_error()) return context.take_parse_error();
    if (!next) {
      const tree::Domain* domain =
          i == 0 && tree_ == Tree::kRoot ? parsers::find_domain(step.name) : nullptr;
      if (domain) {
        next = tree::make_domain_root(context, *domain, name);
      } else {
        next = tree::make_element(context, name,
                                  step.is_attribute ? kXmlAttribute
                                  : is_last         ? tree::kNameValue
                                                    : tree::kName);
      }
      tree::append_child(at, next);
    }
    at = next;
  }
  tree::set_value(at, v);
  return {};
}

}  // namespace millstream::nodes::database
