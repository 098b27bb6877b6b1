// The XPath view of tree elements: kinds of nodes, text, order, and walking the axes. Internal.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "query/xpath.h"
#include "query/xpath_ast.h"

namespace millstream::query {

enum class XPathNodeKind : uint8_t {
  kElement,
  kAttribute,
  kNamespace,
  kText,
  kComment,
  kProcessingInstruction,
  kNone,
};

// Remembers the domain of the last parent it saw: the codes of XMLNS are not those of XMLNSC.
class XPathClassifier {
 public:
  XPathNodeKind kind_of(tree::Element* e);
  XPathNodeKind kind_of(const XPathNode& n) {
    return n.is_text ? XPathNodeKind::kText : kind_of(n.element);
  }

 private:
  tree::Element* parent_ = nullptr;
  bool is_xmlns_ = false;
};

// True when the element's own value makes a text child.
bool has_own_text(tree::Element* e);
// The text of a scalar; numbers without exponent.
void append_scalar(std::string& out, const value::Value& v);
// The string-value; for an element all text below it. `steps` counts visited elements and bytes.
std::string string_value(const XPathNode& n, uint64_t& steps);
double number_value(const XPathNode& n, uint64_t& steps);

// Sorts into document order and drops duplicates.
class XPathOrder {
 public:
  // A step for each level above each node, and some for comparing; false, and no order, when
  // `must_stop` said so.
  bool sort(std::vector<XPathNode>& nodes, uint64_t& steps, const std::function<bool()>& must_stop);

 private:
  const std::vector<uint32_t> key_of(const XPathNode& n);
  uint32_t ordinal_of(tree::Element* e);
  std::unordered_map<tree::Element*, uint32_t> ordinals_;
  uint64_t comparisons_ = 0;
  std::vector<tree::Element*> tops_;  // trees in the order they were met
};

}  // namespace millstream::query
