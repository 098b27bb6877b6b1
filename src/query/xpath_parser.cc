// Recursive descent over the grammar of XPath 1.0, in the order of its productions.
#include <map>

#include "query/errors_gen.h"
#include "query/xpath.h"
#include "query/xpath_ast.h"
#include "query/xpath_lexer.h"

namespace millstream::query {
namespace {

using ExprPtr = std::unique_ptr<XPathExpr>;

struct FunctionInfo {
  const char* name;
  XPathFunction function;
  uint8_t args_min;
  uint8_t args_max;
};
constexpr uint8_t kAnyCount = 255;
constexpr FunctionInfo kFunctions[] = {
    {"last", XPathFunction::kLast, 0, 0},
    {"position", XPathFunction::kPosition, 0, 0},
    {"count", XPathFunction::kCount, 1, 1},
    {"id", XPathFunction::kId, 1, 1},
    {"local-name", XPathFunction::kLocalName, 0, 1},
    {"namespace-uri", XPathFunction::kNamespaceUri, 0, 1},
    {"name", XPathFunction::kName, 0, 1},
    {"string", XPathFunction::kString, 0, 1},
    {"concat", XPathFunction::kConcat, 2, kAnyCount},
    {"starts-with", XPathFunction::kStartsWith, 2, 2},
    {"contains", XPathFunction::kContains, 2, 2},
    {"substring-before", XPathFunction::kSubstringBefore, 2, 2},
    {"substring-after", XPathFunction::kSubstringAfter, 2, 2},
    {"substring", XPathFunction::kSubstring, 2, 3},
    {"string-length", XPathFunction::kStringLength, 0, 1},
    {"normalize-space", XPathFunction::kNormalizeSpace, 0, 1},
    {"translate", XPathFunction::kTranslate, 3, 3},
    {"boolean", XPathFunction::kBoolean, 1, 1},
    {"not", XPathFunction::kNot, 1, 1},
    {"true", XPathFunction::kTrue, 0, 0},
    {"false", XPathFunction::kFalse, 0, 0},
    {"lang", XPathFunction::kLang, 1, 1},
    {"number", XPathFunction::kNumber, 0, 1},
    {"sum", XPathFunction::kSum, 1, 1},
    {"floor", XPathFunction::kFloor, 1, 1},
    {"ceiling", XPathFunction::kCeiling, 1, 1},
    {"round", XPathFunction::kRound, 1, 1},
};

struct AxisInfo {
  const char* name;
  XPathAxis axis;
};
constexpr AxisInfo kAxes[] = {
    {"child", XPathAxis::kChild},
    {"descendant", XPathAxis::kDescendant},
    {"descendant-or-self", XPathAxis::kDescendantOrSelf},
    {"attribute", XPathAxis::kAttribute},
    {"self", XPathAxis::kSelf},
    {"parent", XPathAxis::kParent},
    {"ancestor", XPathAxis::kAncestor},
    {"ancestor-or-self", XPathAxis::kAncestorOrSelf},
    {"following", XPathAxis::kFollowing},
    {"following-sibling", XPathAxis::kFollowingSibling},
    {"preceding", XPathAxis::kPreceding},
    {"preceding-sibling", XPathAxis::kPrecedingSibling},
    {"namespace", XPathAxis::kNamespace},
};

struct BinaryLevel {
  int level;
  XPathOp op;
};

BinaryLevel binary_level(XPathToken t) {
  switch (t) {
    case XPathToken::kOr:
      return {1, XPathOp::kOr};
    case XPathToken::kAnd:
      return {2, XPathOp::kAnd};
    case XPathToken::kEqual:
      return {3, XPathOp::kEqual};
    case XPathToken::kNotEqual:
      return {3, XPathOp::kNotEqual};
    case XPathToken::kLess:
      return {4, XPathOp::kLess};
    case XPathToken::kLessEqual:
      return {4, XPathOp::kLessEqual};
    case XPathToken::kGreater:
      return {4, XPathOp::kGreater};
    case XPathToken::kGreaterEqual:
      return {4, XPathOp::kGreaterEqual};
    case XPathToken::kPlus:
      return {5, XPathOp::kAdd};
    case XPathToken::kMinus:
      return {5, XPathOp::kSubtract};
    case XPathToken::kMultiply:
      return {6, XPathOp::kMultiply};
    case XPathToken::kDiv:
      return {6, XPathOp::kDivide};
    case XPathToken::kMod:
      return {6, XPathOp::kModulo};
    default:
      return {0, XPathOp::kOr};
  }
}

class XPathParser {
 public:
  XPathParser(std::string_view source, const XPathNamespaces& namespaces,
              const std::function<bool(std::string_view)>& check_variable)
      : source_(source), lexer_(source), namespaces_(namespaces), check_variable_(check_variable) {}

  Result<ExprPtr> run() {
    ExprPtr e = MS_TRY(parse_expr());
    if (lexer_.token != XPathToken::kEnd) return unexpected("an operator or the end is expected");
    return e;
  }

 private:
  Status fail_at(size_t offset, const std::string& reason) {
    return base::make_error(errors::kXPathSyntax, {offset + 1, source_, reason});
  }
  Status unexpected(const char* reason) {
    return fail_at(lexer_.offset, lexer_.token == XPathToken::kError ? lexer_.error : reason);
  }
  bool take(XPathToken t) {
    if (lexer_.token != t) return false;
    lexer_.next();
    return true;
  }
  ExprPtr make(XPathOp op) {
    auto e = std::make_unique<XPathExpr>();
    e->op = op;
    e->offset = lexer_.offset;
    return e;
  }
  static void adopt(XPathExpr& parent, ExprPtr child) {
    parent.uses_position |= child->uses_position;
    parent.args.push_back(std::move(child));
  }

  // Every way down passes here, so one counter bounds all recursion, that of evaluation included.
  Result<ExprPtr> parse_expr(int level_min = 1) {
    if (++nesting_ > XPath::kNestingMax) return fail_at(lexer_.offset, "it is nested too deeply");
    ExprPtr left = MS_TRY(parse_unary());
    while (true) {
      BinaryLevel b = binary_level(lexer_.token);
      if (b.level < level_min) break;
      // A long chain is a deep tree as well: it nests to the left.
      if (++chain_ > XPath::kNestingMax * 30) return fail_at(lexer_.offset, "it is too long");
      ExprPtr e = make(b.op);
      lexer_.next();
      ExprPtr right = MS_TRY(parse_expr(b.level + 1));
      adopt(*e, std::move(left));
      adopt(*e, std::move(right));
      left = std::move(e);
    }
    --nesting_;
    return left;
  }

  Result<ExprPtr> parse_unary() {
    bool is_negative = false, has_sign = false;
    size_t offset = lexer_.offset;
    while (take(XPathToken::kMinus)) {
      is_negative = !is_negative;
      has_sign = true;
    }
    ExprPtr e = MS_TRY(parse_union());
    if (!has_sign) return e;
    ExprPtr n = make(XPathOp::kNegate);
    n->offset = offset;
    n->is_absolute = !is_negative;  // an even number of signs only makes a number of it
    adopt(*n, std::move(e));
    return n;
  }

  Result<ExprPtr> parse_union() {
    ExprPtr left = MS_TRY(parse_path());
    while (lexer_.token == XPathToken::kUnion) {
      if (++chain_ > XPath::kNestingMax * 30) return fail_at(lexer_.offset, "it is too long");
      ExprPtr e = make(XPathOp::kUnion);
      lexer_.next();
      adopt(*e, std::move(left));
      adopt(*e, MS_TRY(parse_path()));
      left = std::move(e);
    }
    return left;
  }

  bool at_primary() const {
    switch (lexer_.token) {
      case XPathToken::kVariable:
      case XPathToken::kOpenParen:
      case XPathToken::kLiteral:
      case XPathToken::kNumber:
      case XPathToken::kFunctionName:
        return true;
      default:
        return false;
    }
  }
  bool at_step() const {
    switch (lexer_.token) {
      case XPathToken::kName:
      case XPathToken::kStar:
      case XPathToken::kPrefixAny:
      case XPathToken::kAt:
      case XPathToken::kAxisName:
      case XPathToken::kNodeType:
      case XPathToken::kDot:
      case XPathToken::kDotDot:
        return true;
      default:
        return false;
    }
  }

  Result<ExprPtr> parse_path() {
    if (at_primary()) {
      ExprPtr start = MS_TRY(parse_filter());
      if (lexer_.token != XPathToken::kSlash && lexer_.token != XPathToken::kSlashSlash) {
        return start;
      }
      ExprPtr path = make(XPathOp::kPath);
      adopt(*path, std::move(start));
      if (take(XPathToken::kSlashSlash))
        add_any_descendant(*path);
      else
        lexer_.next();
      MS_TRY(parse_steps(*path));
      return path;
    }
    ExprPtr path = make(XPathOp::kPath);
    if (take(XPathToken::kSlash)) {
      path->is_absolute = true;
      if (!at_step()) return path;
    } else if (take(XPathToken::kSlashSlash)) {
      path->is_absolute = true;
      add_any_descendant(*path);
    }
    MS_TRY(parse_steps(*path));
    return path;
  }

  static void add_any_descendant(XPathExpr& path) {
    path.steps.emplace_back();
    path.steps.back().axis = XPathAxis::kDescendantOrSelf;
  }

  Status parse_steps(XPathExpr& path) {
    while (true) {
      if (++chain_ > XPath::kNestingMax * 30) return fail_at(lexer_.offset, "it is too long");
      path.steps.push_back(MS_TRY(parse_step()));
      join_descendant(path);
      if (take(XPathToken::kSlashSlash))
        add_any_descendant(path);
      else if (!take(XPathToken::kSlash))
        return {};
    }
  }

  // "//x" is descendant::x as long as no predicate counts positions among siblings.
  static void join_descendant(XPathExpr& path) {
    size_t n = path.steps.size();
    if (n < 2) return;
    XPathStep& any = path.steps[n - 2];
    XPathStep& step = path.steps[n - 1];
    if (any.axis != XPathAxis::kDescendantOrSelf || any.test != XPathTest::kNode ||
        !any.predicates.empty() || step.axis != XPathAxis::kChild) {
      return;
    }
    for (const ExprPtr& p : step.predicates) {
      if (p->uses_position || may_be_number(*p)) return;
    }
    step.axis = XPathAxis::kDescendant;
    path.steps.erase(path.steps.end() - 2);
  }

  Result<XPathStep> parse_step() {
    XPathStep step;
    if (take(XPathToken::kDot)) {
      step.axis = XPathAxis::kSelf;
      return step;
    }
    if (take(XPathToken::kDotDot)) {
      step.axis = XPathAxis::kParent;
      return step;
    }
    if (take(XPathToken::kAt)) {
      step.axis = XPathAxis::kAttribute;
    } else if (lexer_.token == XPathToken::kAxisName) {
      bool is_known = false;
      for (const AxisInfo& a : kAxes) {
        if (lexer_.text != a.name) continue;
        step.axis = a.axis;
        is_known = true;
      }
      if (!is_known) return fail_at(lexer_.offset, "there is no axis of this name");
      lexer_.next();
    }
    MS_TRY(parse_node_test(step));
    while (lexer_.token == XPathToken::kOpenBracket) {
      step.predicates.push_back(MS_TRY(parse_predicate()));
    }
    return step;
  }

  Status parse_node_test(XPathStep& step) {
    switch (lexer_.token) {
      case XPathToken::kStar:
        step.test = XPathTest::kAnyName;
        break;
      case XPathToken::kPrefixAny:
        step.test = XPathTest::kAnyInNamespace;
        step.ns = MS_TRY(namespace_of(lexer_.prefix));
        break;
      case XPathToken::kName:
        step.test = XPathTest::kName;
        step.local = std::string(lexer_.text);
        if (!lexer_.prefix.empty()) step.ns = MS_TRY(namespace_of(lexer_.prefix));
        break;
      case XPathToken::kNodeType:
        return parse_node_type(step);
      default:
        return unexpected("a name or another step of a path is expected");
    }
    lexer_.next();
    return {};
  }

  Status parse_node_type(XPathStep& step) {
    std::string_view type = lexer_.text;
    lexer_.next();
    if (!take(XPathToken::kOpenParen)) return unexpected("( is expected");
    step.test = type == "node"      ? XPathTest::kNode
                : type == "text"    ? XPathTest::kText
                : type == "comment" ? XPathTest::kComment
                                    : XPathTest::kPi;
    if (step.test == XPathTest::kPi && lexer_.token == XPathToken::kLiteral) {
      step.local = std::string(lexer_.text);
      lexer_.next();
    }
    if (!take(XPathToken::kCloseParen)) return unexpected(") is expected");
    return {};
  }

  Result<std::string> namespace_of(std::string_view prefix) {
    for (const auto& [known, uri] : namespaces_) {
      if (known == prefix) return uri;
    }
    if (prefix == "xml") return std::string("http://www.w3.org/XML/1998/namespace");
    return fail_at(lexer_.offset,
                   "no namespace is mapped to the prefix '" + std::string(prefix) + "'");
  }

  // What a predicate says about positions is about its own context, not that of the outer one.
  Result<ExprPtr> parse_predicate() {
    lexer_.next();
    ExprPtr e = MS_TRY(parse_expr());
    if (!take(XPathToken::kCloseBracket)) return unexpected("] is expected");
    return e;
  }

  Result<ExprPtr> parse_filter() {
    ExprPtr e = MS_TRY(parse_primary());
    if (lexer_.token != XPathToken::kOpenBracket) return e;
    ExprPtr filter = make(XPathOp::kFilter);
    adopt(*filter, std::move(e));
    while (lexer_.token == XPathToken::kOpenBracket) {
      filter->args.push_back(MS_TRY(parse_predicate()));
    }
    return filter;
  }

  Result<ExprPtr> parse_primary() {
    switch (lexer_.token) {
      case XPathToken::kVariable: {
        ExprPtr e = make(XPathOp::kVariable);
        e->text = std::string(lexer_.text);
        if (!lexer_.prefix.empty()) e->text = std::string(lexer_.prefix) + ":" + e->text;
        if (check_variable_ && !check_variable_(e->text)) {
          return fail_at(lexer_.offset, "there is no variable $" + e->text);
        }
        lexer_.next();
        return e;
      }
      case XPathToken::kLiteral: {
        ExprPtr e = make(XPathOp::kLiteral);
        e->text = std::string(lexer_.text);
        lexer_.next();
        return e;
      }
      case XPathToken::kNumber: {
        ExprPtr e = make(XPathOp::kNumber);
        e->number = xpath_number(lexer_.text);
        lexer_.next();
        return e;
      }
      case XPathToken::kOpenParen: {
        lexer_.next();
        ExprPtr e = MS_TRY(parse_expr());
        if (!take(XPathToken::kCloseParen)) return unexpected(") is expected");
        return e;
      }
      default:
        return parse_call();
    }
  }

  Result<ExprPtr> parse_call() {
    ExprPtr e = make(XPathOp::kCall);
    std::string name(lexer_.text);
    const FunctionInfo* info = nullptr;
    // The prefix of XPath's own function library, as later versions write it, is allowed.
    bool is_plain = lexer_.prefix.empty() || lexer_.prefix == "fn";
    for (const FunctionInfo& f : kFunctions) {
      if (is_plain && name == f.name) info = &f;
    }
    if (!info) return fail_at(lexer_.offset, "there is no function " + name + "() in XPath 1.0");
    e->function = info->function;
    e->uses_position =
        info->function == XPathFunction::kPosition || info->function == XPathFunction::kLast;
    lexer_.next();
    if (!take(XPathToken::kOpenParen)) return unexpected("( is expected");
    if (lexer_.token != XPathToken::kCloseParen) {
      do {
        adopt(*e, MS_TRY(parse_expr()));
      } while (take(XPathToken::kComma));
    }
    if (!take(XPathToken::kCloseParen)) return unexpected(") or a comma is expected");
    size_t count = e->args.size();
    if (count < info->args_min || (info->args_max != kAnyCount && count > info->args_max)) {
      return fail_at(e->offset, name + "() does not take " + std::to_string(count) + " arguments");
    }
    return e;
  }

  std::string_view source_;
  XPathLexer lexer_;
  const XPathNamespaces& namespaces_;
  const std::function<bool(std::string_view)>& check_variable_;
  uint32_t nesting_ = 0;
  uint32_t chain_ = 0;
};

}  // namespace

bool may_be_number(const XPathExpr& e) {
  switch (e.op) {
    case XPathOp::kNumber:
    case XPathOp::kVariable:
    case XPathOp::kAdd:
    case XPathOp::kSubtract:
    case XPathOp::kMultiply:
    case XPathOp::kDivide:
    case XPathOp::kModulo:
    case XPathOp::kNegate:
      return true;
    case XPathOp::kCall:
      switch (e.function) {
        case XPathFunction::kLast:
        case XPathFunction::kPosition:
        case XPathFunction::kCount:
        case XPathFunction::kStringLength:
        case XPathFunction::kNumber:
        case XPathFunction::kSum:
        case XPathFunction::kFloor:
        case XPathFunction::kCeiling:
        case XPathFunction::kRound:
          return true;
        default:
          return false;
      }
    default:
      return false;
  }
}

XPath::XPath(std::string text, std::unique_ptr<XPathExpr> root)
    : text_(std::move(text)), root_(std::move(root)) {}
XPath::XPath(XPath&&) noexcept = default;
XPath& XPath::operator=(XPath&&) noexcept = default;
XPath::~XPath() = default;

Result<XPath> XPath::compile(std::string_view text, const XPathNamespaces& namespaces,
                             const std::function<bool(std::string_view)>& check_variable) {
  if (text.size() > kLengthMax) {
    return base::make_error(errors::kXPathSyntax, {1, text.substr(0, 40), "it is too long"});
  }
  ExprPtr root = MS_TRY(XPathParser(text, namespaces, check_variable).run());
  return XPath(std::string(text), std::move(root));
}

}  // namespace millstream::query
