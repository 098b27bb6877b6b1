#include "query/xpath_lexer.h"

namespace millstream::query {
namespace {

bool is_xpath_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
bool is_xpath_digit(char c) { return c >= '0' && c <= '9'; }
// Any byte of a character outside ASCII counts as a letter: the tree has only names that its parser
// let through.
bool is_name_start(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}
bool is_name_char(char c) { return is_name_start(c) || is_xpath_digit(c) || c == '-' || c == '.'; }

struct Symbol {
  std::string_view text;
  XPathToken token;
};
// Longer ones first.
constexpr Symbol kSymbols[] = {
    {"//", XPathToken::kSlashSlash},   {"..", XPathToken::kDotDot},
    {"!=", XPathToken::kNotEqual},     {"<=", XPathToken::kLessEqual},
    {">=", XPathToken::kGreaterEqual}, {"/", XPathToken::kSlash},
    {"(", XPathToken::kOpenParen},     {")", XPathToken::kCloseParen},
    {"[", XPathToken::kOpenBracket},   {"]", XPathToken::kCloseBracket},
    {".", XPathToken::kDot},           {"@", XPathToken::kAt},
    {",", XPathToken::kComma},         {"|", XPathToken::kUnion},
    {"+", XPathToken::kPlus},          {"-", XPathToken::kMinus},
    {"=", XPathToken::kEqual},         {"<", XPathToken::kLess},
    {">", XPathToken::kGreater},
};

}  // namespace

void XPathLexer::fail(const char* reason) {
  token = XPathToken::kError;
  error = reason;
}

void XPathLexer::skip_space() {
  while (at_ < text_.size() && is_xpath_space(text_[at_])) ++at_;
}

// After an operand, * and the operator names are operators.
bool XPathLexer::operator_may_follow(XPathToken before) const {
  switch (before) {
    case XPathToken::kName:
    case XPathToken::kPrefixAny:
    case XPathToken::kStar:
    case XPathToken::kLiteral:
    case XPathToken::kNumber:
    case XPathToken::kVariable:
    case XPathToken::kCloseParen:
    case XPathToken::kCloseBracket:
    case XPathToken::kDot:
    case XPathToken::kDotDot:
      return true;
    default:
      return false;
  }
}

std::string_view XPathLexer::take_ncname() {
  size_t start = at_;
  if (at_ < text_.size() && is_name_start(text_[at_])) {
    while (at_ < text_.size() && is_name_char(text_[at_])) ++at_;
  }
  return text_.substr(start, at_ - start);
}

void XPathLexer::read_name() {
  text = take_ncname();
  prefix = {};
  size_t after_name = at_;
  // A colon that is not "::" makes a qualified name.
  if (at(":") && !at("::")) {
    ++at_;
    if (at("*")) {
      ++at_;
      prefix = text;
      text = {};
      token = XPathToken::kPrefixAny;
      return;
    }
    std::string_view local = take_ncname();
    if (local.empty()) {
      at_ = after_name;
      return fail("a name is expected after the colon");
    }
    prefix = text;
    text = local;
    after_name = at_;
  }
  skip_space();
  if (at("::") && prefix.empty()) {
    at_ += 2;
    token = XPathToken::kAxisName;
    return;
  }
  if (at("(")) {
    bool is_type = prefix.empty() && (text == "node" || text == "text" || text == "comment" ||
                                      text == "processing-instruction");
    token = is_type ? XPathToken::kNodeType : XPathToken::kFunctionName;
    return;
  }
  at_ = after_name;
  token = XPathToken::kName;
}

void XPathLexer::read_literal(char quote) {
  size_t end = text_.find(quote, at_ + 1);
  if (end == std::string_view::npos) return fail("the string is not closed");
  text = text_.substr(at_ + 1, end - at_ - 1);
  at_ = end + 1;
  token = XPathToken::kLiteral;
}

void XPathLexer::read_variable() {
  ++at_;
  // XPath 1.0 has no blank here, but flows in use do ("$ Environment/a").
  while (at(" ")) ++at_;
  text = take_ncname();
  if (!text.empty() && at(":") && !at("::")) {
    ++at_;
    prefix = text;
    text = take_ncname();
  }
  if (text.empty()) return fail("a variable name is expected after $");
  token = XPathToken::kVariable;
}

void XPathLexer::next() {
  XPathToken before = token;
  skip_space();
  offset = at_;
  prefix = text = {};
  if (at_ >= text_.size()) {
    token = XPathToken::kEnd;
    return;
  }
  char c = text_[at_];
  if (c == '"' || c == '\'') return read_literal(c);
  if (is_xpath_digit(c) || (c == '.' && at_ + 1 < text_.size() && is_xpath_digit(text_[at_ + 1]))) {
    size_t start = at_;
    while (at_ < text_.size() && is_xpath_digit(text_[at_])) ++at_;
    if (at_ < text_.size() && text_[at_] == '.') ++at_;
    while (at_ < text_.size() && is_xpath_digit(text_[at_])) ++at_;
    text = text_.substr(start, at_ - start);
    token = XPathToken::kNumber;
    return;
  }
  if (c == '$') return read_variable();
  bool is_operator_place = operator_may_follow(before);
  if (c == '*') {
    ++at_;
    token = is_operator_place ? XPathToken::kMultiply : XPathToken::kStar;
    return;
  }
  if (is_name_start(c)) {
    if (is_operator_place) {
      text = take_ncname();
      if (text == "and")
        token = XPathToken::kAnd;
      else if (text == "or")
        token = XPathToken::kOr;
      else if (text == "mod")
        token = XPathToken::kMod;
      else if (text == "div")
        token = XPathToken::kDiv;
      else
        fail("an operator is expected");
      return;
    }
    return read_name();
  }
  for (const Symbol& s : kSymbols) {
    if (at(s.text)) {
      at_ += s.text.size();
      token = s.token;
      return;
    }
  }
  fail("the character has no meaning here");
}

}  // namespace millstream::query
