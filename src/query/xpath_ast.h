// The syntax tree of XPath 1.0 (W3C, 16 November 1999). Internal to src/query.
// Thread: any once built.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace millstream::query {

// Section 2.2.
enum class XPathAxis : uint8_t {
  kChild,
  kDescendant,
  kDescendantOrSelf,
  kAttribute,
  kSelf,
  kParent,
  kAncestor,
  kAncestorOrSelf,
  kFollowing,
  kFollowingSibling,
  kPreceding,
  kPrecedingSibling,
  kNamespace,
};

// Positions on these count backwards in document order (section 2.4).
inline bool is_reverse_axis(XPathAxis a) {
  return a == XPathAxis::kParent || a == XPathAxis::kAncestor || a == XPathAxis::kAncestorOrSelf ||
         a == XPathAxis::kPreceding || a == XPathAxis::kPrecedingSibling;
}

// Node tests, section 2.3.
enum class XPathTest : uint8_t { kName, kAnyName, kAnyInNamespace, kNode, kText, kComment, kPi };

struct XPathExpr;

// One location step: axis, test, predicates.
struct XPathStep {
  XPathAxis axis = XPathAxis::kChild;
  XPathTest test = XPathTest::kNode;
  std::string ns;     // URI
  std::string local;  // name, or the target of processing-instruction('...')
  std::vector<std::unique_ptr<XPathExpr>> predicates;
};

enum class XPathOp : uint8_t {
  kOr,
  kAnd,
  kEqual,
  kNotEqual,
  kLess,
  kLessEqual,
  kGreater,
  kGreaterEqual,
  kAdd,
  kSubtract,
  kMultiply,
  kDivide,
  kModulo,
  kNegate,
  kUnion,
  kLiteral,
  kNumber,
  kVariable,
  kCall,
  kFilter,
  kPath,
};

// The core function library, section 4, in its order.
enum class XPathFunction : uint8_t {
  kLast,
  kPosition,
  kCount,
  kId,
  kLocalName,
  kNamespaceUri,
  kName,
  kString,
  kConcat,
  kStartsWith,
  kContains,
  kSubstringBefore,
  kSubstringAfter,
  kSubstring,
  kStringLength,
  kNormalizeSpace,
  kTranslate,
  kBoolean,
  kNot,
  kTrue,
  kFalse,
  kLang,
  kNumber,
  kSum,
  kFloor,
  kCeiling,
  kRound,
};

// Any expression; `op` says which members count.
struct XPathExpr {
  XPathOp op = XPathOp::kLiteral;
  XPathFunction function = XPathFunction::kLast;
  bool is_absolute = false;                      // kPath: begins at the root
  bool uses_position = false;                    // position() or last() of this very context
  double number = 0;                             // kNumber
  std::string text;                              // literal, variable name
  size_t offset = 0;                             // in the source text
  std::vector<std::unique_ptr<XPathExpr>> args;  // kPath: none or the expression it starts from;
                                                 // kFilter: the expression, then its predicates
  std::vector<XPathStep> steps;
};

// True when the value may be a number, which as a predicate means a position.
bool may_be_number(const XPathExpr& e);

}  // namespace millstream::query
