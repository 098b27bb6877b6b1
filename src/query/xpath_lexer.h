// Tokens of XPath 1.0 (section 3.7), with its rules that tell operators from names. Internal.
// Thread: one.
#pragma once
#include <cstdint>
#include <string_view>

namespace millstream::query {

enum class XPathToken : uint8_t {
  kEnd,
  kError,
  kName,
  kFunctionName,
  kAxisName,
  kNodeType,
  kPrefixAny,
  kStar,
  kLiteral,
  kNumber,
  kVariable,
  kOpenParen,
  kCloseParen,
  kOpenBracket,
  kCloseBracket,
  kDot,
  kDotDot,
  kAt,
  kComma,
  kAnd,
  kOr,
  kMod,
  kDiv,
  kMultiply,
  kSlash,
  kSlashSlash,
  kUnion,
  kPlus,
  kMinus,
  kEqual,
  kNotEqual,
  kLess,
  kLessEqual,
  kGreater,
  kGreaterEqual,
};

class XPathLexer {
 public:
  explicit XPathLexer(std::string_view text) : text_(text) { next(); }
  void next();

  XPathToken token = XPathToken::kEnd;
  std::string_view prefix;  // of a name or variable, or of prefix:*
  std::string_view text;    // local name, literal without quotes, digits
  size_t offset = 0;        // where the token begins
  const char* error = "";   // for kError

 private:
  void fail(const char* reason);
  void skip_space();
  bool operator_may_follow(XPathToken before) const;
  void read_name();
  void read_literal(char quote);
  void read_variable();
  std::string_view take_ncname();
  bool at(std::string_view s) const { return text_.substr(at_, s.size()) == s; }

  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace millstream::query
