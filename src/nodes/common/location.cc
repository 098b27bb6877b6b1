#include "nodes/common/location.h"

#include "nodes/common/errors_gen.h"
#include "parsers/domains.h"

namespace millstream::nodes::common {
namespace {

struct TreeName {
  std::string_view name;
  MessagePlace::Tree tree;
};
constexpr TreeName kTrees[] = {
    {"Root", MessagePlace::Tree::kRoot},
    {"Body", MessagePlace::Tree::kBody},
    {"LocalEnvironment", MessagePlace::Tree::kLocalEnvironment},
    {"DestinationList", MessagePlace::Tree::kLocalEnvironment},
    {"Environment", MessagePlace::Tree::kEnvironment},
    {"ExceptionList", MessagePlace::Tree::kExceptionList},
};

tree::Element* tree_of(MessagePlace::Tree tree, const tree::MessageAssembly& in) {
  switch (tree) {
    case MessagePlace::Tree::kRoot:
      return in.root;
    case MessagePlace::Tree::kBody:
      return tree::body_of(in.root);
    case MessagePlace::Tree::kLocalEnvironment:
      return in.local_environment;
    case MessagePlace::Tree::kEnvironment:
      return in.environment;
    case MessagePlace::Tree::kExceptionList:
      return in.exception_list;
  }
  return nullptr;
}

}  // namespace

Result<MessagePlace> MessagePlace::parse(std::string_view text) {
  query::Location location = MS_TRY(query::Location::parse(text));
  std::string_view name = location.tree_name();
  for (std::string_view prefix : {"Input", "Output", "Result"}) {
    if (name.substr(0, prefix.size()) == prefix) name.remove_prefix(prefix.size());
  }
  for (const TreeName& t : kTrees) {
    if (name == t.name) return MessagePlace(std::move(location), t.tree);
  }
  return base::make_error(errors::kBadLocation, {text});
}

tree::Element* MessagePlace::find(const tree::MessageAssembly& in) const {
  tree::Element* top = tree_of(tree_, in);
  return top ? location_.find(top) : nullptr;
}

Result<tree::Element*> MessagePlace::ensure(tree::TreeContext& context,
                                            const tree::MessageAssembly& out) const {
  return location_.ensure(context, tree_of(tree_, out), parsers::find_domain);
}

}  // namespace millstream::nodes::common
