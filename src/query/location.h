// Places in message trees, as node properties name them: "$LocalEnvironment/Destination/File/Name"
// (a simple XPath) or "OutputRoot.JSON.Data.x[2]" (an ESQL field reference). Unlike an XPath, a
// location can be created. Accepted: steps by name with an optional prefix, attributes (@name or
// (XMLNSC.Attribute)name), an index [n], [last()] or [>]. The tree's name may be left out; then the
// place is relative to what the caller passes.
// Thread: immutable once parsed, any; find and ensure that of the message.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "query/xpath.h"
#include "tree/domain.h"

namespace millstream::query {

struct LocationStep {
  std::string ns;  // URI
  std::string local;
  uint32_t index = 1;  // from 1; 0 = the last one
  bool is_attribute = false;
};

class Location {
 public:
  static constexpr size_t kStepsMax = 200;
  static constexpr uint32_t kIndexMax = 1'000'000;

  static Result<Location> parse(std::string_view text, const XPathNamespaces& namespaces = {});

  // "OutputRoot", "LocalEnvironment", ... as written in assembly_tree(); empty for a relative
  // place.
  const std::string& tree_name() const { return tree_name_; }
  const std::vector<LocationStep>& steps() const { return steps_; }
  const std::string& text() const { return text_; }

  // `top` is the tree (or, for a relative place, the element it is relative to). Null: not there.
  tree::Element* find(tree::Element* top) const;
  // Creates what is missing: folders, the last step a field. Below a message Root a missing first
  // step becomes the domain root of that name (`domains` finds it). An index may be one more than
  // what exists.
  Result<tree::Element*> ensure(
      tree::TreeContext& context, tree::Element* top,
      const std::function<const tree::Domain*(std::string_view)>& domains) const;

 private:
  std::string text_;
  std::string tree_name_;
  std::vector<LocationStep> steps_;
};

}  // namespace millstream::query
