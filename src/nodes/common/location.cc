#include "nodes/common/location.h"

#include "nodes/common/errors_gen.h"

namespace millstream::nodes::common {
namespace {

struct TreeName {
  std::string_view name;
  Location::Tree tree;
};
constexpr TreeName kTrees[] = {
    {"Root", Location::Tree::kRoot},
    {"Body", Location::Tree::kBody},
    {"LocalEnvironment", Location::Tree::kLocalEnvironment},
    {"DestinationList", Location::Tree::kLocalEnvironment},
    {"Environment", Location::Tree::kEnvironment},
    {"ExceptionList", Location::Tree::kExceptionList},
};

tree::Element* tree_of(Location::Tree tree, const tree::MessageAssembly& in) {
  switch (tree) {
    case Location::Tree::kRoot:
      return in.root;
    case Location::Tree::kBody:
      return tree::body_of(in.root);
    case Location::Tree::kLocalEnvironment:
      return in.local_environment;
    case Location::Tree::kEnvironment:
      return in.environment;
    case Location::Tree::kExceptionList:
      return in.exception_list;
  }
  return nullptr;
}

}  // namespace

Result<Location> Location::parse(std::string_view text) {
  std::string_view rest = text;
  const char separator = rest.substr(0, 1) == "$" || rest.find('/') != rest.npos ? '/' : '.';
  if (rest.substr(0, 1) == "$") rest.remove_prefix(1);
  std::vector<std::string> parts;
  std::string part;
  bool is_quoted = false;
  for (char c : rest) {
    if (c == '"') {
      is_quoted = !is_quoted;
    } else if (c == separator && !is_quoted) {
      parts.push_back(std::move(part));
      part.clear();
    } else {
      part += c;
    }
  }
  parts.push_back(std::move(part));
  auto refuse = [&](const char* why) {
    return base::make_error(errors::kBadLocation, {text, why});
  };
  for (const std::string& p : parts) {
    if (p.empty()) return refuse("a step is empty");
    if (p.find_first_of("[](){}*") != std::string::npos)
      return refuse("only plain names can be used");
  }
  std::string_view name = parts[0];
  for (std::string_view prefix : {"Input", "Output", "Result"}) {
    if (name.substr(0, prefix.size()) == prefix) name.remove_prefix(prefix.size());
  }
  for (const TreeName& t : kTrees) {
    if (name != t.name) continue;
    Location location;
    location.tree_ = t.tree;
    location.steps_.assign(parts.begin() + 1, parts.end());
    return location;
  }
  return refuse("it does not begin with Root, LocalEnvironment, Environment or ExceptionList");
}

tree::Element* Location::find(const tree::MessageAssembly& in) const {
  tree::Element* e = tree_of(tree_, in);
  for (const std::string& step : steps_) {
    if (!e) return nullptr;
    e = tree::find_child(e, step);
  }
  return e;
}

tree::Element* Location::make(tree::TreeContext& context, const tree::MessageAssembly& out) const {
  tree::Element* e = tree_of(tree_, out);
  for (const std::string& step : steps_) {
    if (!e) return nullptr;
    e = tree::ensure_child(context, e, step);
  }
  return e;
}

}  // namespace millstream::nodes::common
