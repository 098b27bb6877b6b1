// Places in the message that node properties name, such as "InputRoot.XMLNSC.Order" or
// "$LocalEnvironment/Destination/Name" (query/location.h), bound to the trees of an assembly.
// Thread: parse while loading; the rest in the message's fiber.
#pragma once
#include <string_view>

#include "base/result.h"
#include "query/location.h"
#include "tree/assembly.h"

namespace millstream::nodes::common {

class MessagePlace {
 public:
  enum class Tree : uint8_t { kRoot, kBody, kLocalEnvironment, kEnvironment, kExceptionList };

  // An error says what is wrong with `text`; a place without a tree is one.
  static Result<MessagePlace> parse(std::string_view text);

  Tree tree() const { return tree_; }
  bool is_whole_tree() const { return location_.steps().empty() && tree_ != Tree::kBody; }
  // Null when it is not there.
  tree::Element* find(const tree::MessageAssembly& in) const;
  // Found or made, below the trees of `out`.
  Result<tree::Element*> ensure(tree::TreeContext& context, const tree::MessageAssembly& out) const;

 private:
  MessagePlace(query::Location location, Tree tree) : location_(std::move(location)), tree_(tree) {}
  query::Location location_;
  Tree tree_;
};

}  // namespace millstream::nodes::common
