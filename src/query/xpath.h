// XPath 1.0 over the message tree: compiled once per deployment, evaluated per message.
//
// Data model. Folders and fields are element nodes; XMLNSC and XMLNS attributes are attribute
// nodes; the value of an element is its first text child, nameless Value elements are text nodes
// too; comments and processing instructions are what they are; XML and document type declarations
// are not nodes. Values of other types than CHARACTER read as their text; numeric ones compare
// without going through text. Unprefixed names match elements in no namespace. "/" is the root
// given by the caller, usually the body folder ($Body). Variables are resolved by the caller:
// message trees and user-defined properties. Differences from the recommendation: id() finds
// nothing (no DTD), the namespace axis has the declarations of the element itself only. Limits:
// nesting of the expression, nodes visited and bytes built in one evaluation. Thread: a compiled
// XPath is immutable, any thread; an evaluation that of the message.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "tree/assembly.h"
#include "tree/element.h"

namespace millstream::query {

struct XPathExpr;

struct XPathNode {
  tree::Element* element = nullptr;
  bool is_text = false;  // the text child that stands for the element's own value
  bool operator==(const XPathNode&) const = default;
};

struct XPathValue {
  enum class Kind : uint8_t { kNodes, kNumber, kString, kBoolean };
  Kind kind = Kind::kNodes;
  bool boolean = false;
  double number = 0;
  std::string text;
  std::vector<XPathNode> nodes;  // unique, in document order

  static XPathValue of(tree::Element* e);  // an empty set for null
  static XPathValue of(bool b);
  static XPathValue of(double d);
  static XPathValue of(std::string s);

  bool to_boolean() const;
  double to_number() const;
  std::string to_string() const;
  tree::Element* first_element() const;  // null when this is no node-set, or an empty one
};

// "$Root" asks for "Root". False: there is no such variable.
using XPathVariables = std::function<bool(std::string_view name, XPathValue& out)>;
// (prefix, namespace URI), e.g. from an nsMappingTable.
using XPathNamespaces = std::vector<std::pair<std::string, std::string>>;

struct XPathInput {
  tree::TreeContext* context = nullptr;  // for errors of on-demand parsing; required
  tree::Element* node = nullptr;         // the context node; null: an empty one
  tree::Element* root = nullptr;         // what "/" means; null: the domain root above `node`
  const XPathVariables* variables = nullptr;
  uint64_t steps_max = 50'000'000;
  // Called after every kStepsPerPause steps, about half a millisecond, to let others run; its error
  // ends the evaluation. Null: nobody else waits for this thread.
  Status (*pause)() = nullptr;
  static constexpr uint64_t kStepsPerPause = 16'384;
};

class XPath {
 public:
  static constexpr uint32_t kNestingMax = 64;  // about 100 KB of a fiber stack in debug builds
  static constexpr size_t kLengthMax = 64 * 1024;

  // An error names the column in the text and what is wrong there. `check_variable`, if given, says
  // which variables exist, so that a wrong one is found at deployment.
  static Result<XPath> compile(
      std::string_view text, const XPathNamespaces& namespaces = {},
      const std::function<bool(std::string_view)>& check_variable = nullptr);

  XPath(XPath&&) noexcept;
  XPath& operator=(XPath&&) noexcept;
  ~XPath();

  Result<XPathValue> evaluate(const XPathInput& input) const;
  const std::string& text() const { return text_; }
  const XPathExpr& root() const { return *root_; }

 private:
  XPath(std::string text, std::unique_ptr<XPathExpr> root);
  std::string text_;
  std::unique_ptr<XPathExpr> root_;
};

// The variables of a message assembly: Root, Body, Properties, LocalEnvironment, DestinationList,
// Environment, ExceptionList and their Input forms; OutputRoot, OutputLocalEnvironment,
// OutputExceptionList, OutputDestinationList when `output` is given; everything else from
// `properties` (user-defined properties; may be null).
XPathVariables assembly_variables(
    const tree::MessageAssembly& input, const tree::MessageAssembly* output = nullptr,
    std::function<bool(std::string_view, XPathValue&)> properties = nullptr);
// The element behind one of those names; null when it is none or missing.
tree::Element* assembly_tree(std::string_view name, const tree::MessageAssembly& input,
                             const tree::MessageAssembly* output);
bool is_assembly_name(std::string_view name);

// XPath's text <-> number rules.
double xpath_number(std::string_view text);
std::string xpath_text(double number);

}  // namespace millstream::query
