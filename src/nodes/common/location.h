// Places in the message that node properties name: "InputRoot.XMLNSC.Order",
// "$LocalEnvironment/Destination/Name", "Environment.Variables.X". Plain steps only, no predicates.
// Thread: any; find and make in the message's fiber.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "tree/assembly.h"

namespace millstream::nodes::common {

class Location {
 public:
  enum class Tree : uint8_t { kRoot, kBody, kLocalEnvironment, kEnvironment, kExceptionList };

  // An error says what is wrong with `text`.
  static Result<Location> parse(std::string_view text);

  Tree tree() const { return tree_; }
  bool is_whole_tree() const { return steps_.empty() && tree_ != Tree::kBody; }
  // Null when it is not there.
  tree::Element* find(const tree::MessageAssembly& in) const;
  // Found or made, below the trees of `out`.
  tree::Element* make(tree::TreeContext& context, const tree::MessageAssembly& out) const;

 private:
  Tree tree_ = Tree::kRoot;
  std::vector<std::string> steps_;
};

}  // namespace millstream::nodes::common
