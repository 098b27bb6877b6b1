// Where a column's value goes: $OutputRoot/XMLNSC/order/price. Steps are names with or without a
// prefix, or @name for an attribute; what is missing is created. Thread: compile while loading;
// write in the message's fiber.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "query/xpath.h"
#include "tree/assembly.h"

namespace millstream::nodes::database {

class Target {
 public:
  enum class Tree : uint8_t { kRoot, kLocalEnvironment, kExceptionList, kEnvironment };
  static Result<Target> compile(std::string_view path, const query::XPathNamespaces& namespaces,
                                const base::Position& position);
  Tree tree() const { return tree_; }
  // Sets the value of the element; `is_further`: makes another one of its name.
  Status write(tree::TreeContext& context, tree::Element* root, const value::Value& v,
               bool is_further) const;

 private:
  struct Step {
    std::string ns, name;
    bool is_attribute = false;
  };
  Tree tree_ = Tree::kRoot;
  std::vector<Step> steps_;
};

}  // namespace millstream::nodes::database
