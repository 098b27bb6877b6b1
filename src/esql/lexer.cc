#include "esql/lexer.h"

#include <algorithm>
#include <array>

namespace millstream::esql {
namespace {

constexpr std::string_view kKeywordNames[] = {"",
#define MS_ESQL_KEYWORD(name) #name,
                                              MS_ESQL_KEYWORDS(MS_ESQL_KEYWORD)
#undef MS_ESQL_KEYWORD
};
constexpr size_t kKeywordCount = std::size(kKeywordNames);
constexpr size_t kKeywordLengthMax = 16;

constexpr bool keywords_are_sorted() {
  for (size_t i = 1; i < kKeywordCount; ++i) {
    if (!(kKeywordNames[i - 1] < kKeywordNames[i])) return false;
    if (kKeywordNames[i].size() > kKeywordLengthMax) return false;
  }
  return true;
}
static_assert(keywords_are_sorted(), "find_keyword searches by halving");

bool is_identifier_start(unsigned char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c >= 0x80 || c == '@' ||
         c == '#' || c == '$';
}
bool is_digit(unsigned char c) { return c >= '0' && c <= '9'; }
bool is_identifier_part(unsigned char c) { return is_identifier_start(c) || is_digit(c); }
bool is_hex_digit(unsigned char c) {
  return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}
bool is_white_space(unsigned char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v';
}

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}
  TokenList run();

 private:
  char at(size_t i) const { return i < text_.size() ? text_[i] : '\0'; }
  void advance_to(size_t end);
  void skip_block_comment();
  void error(std::string text);
  void emit(TokenKind kind, size_t end);
  void quoted(TokenKind kind, size_t open, char quote);
  void word();
  void number();
  bool skip_blank();
  bool punctuation();

  std::string_view text_;
  TokenList out_;
  size_t pos_ = 0;
  size_t line_start_ = 0;
  uint32_t line_ = 1;
};

// Moves on and keeps the line count.
void Lexer::advance_to(size_t end) {
  end = std::min(end, text_.size());
  for (; pos_ < end; ++pos_) {
    if (text_[pos_] == '\n') {
      ++line_;
      line_start_ = pos_ + 1;
    }
  }
}

void Lexer::error(std::string text) {
  if (out_.errors.size() >= kLexErrorsMax) return;
  out_.errors.push_back({line_, static_cast<uint32_t>(pos_ - line_start_ + 1), std::move(text)});
}

void Lexer::emit(TokenKind kind, size_t end) {
  Token t;
  t.kind = kind;
  t.begin = static_cast<uint32_t>(pos_);
  t.end = static_cast<uint32_t>(end);
  t.line = line_;
  t.column = static_cast<uint32_t>(pos_ - line_start_ + 1);
  if (kind == TokenKind::kIdentifier) t.kw = find_keyword(text_.substr(pos_, end - pos_));
  out_.tokens.push_back(t);
  advance_to(end);
}

// Block comments nest.
void Lexer::skip_block_comment() {
  size_t i = pos_ + 2;
  size_t depth = 1;
  while (i < text_.size() && depth > 0) {
    if (at(i) == '*' && at(i + 1) == '/') {
      --depth;
      i += 2;
    } else if (at(i) == '/' && at(i + 1) == '*') {
      ++depth;
      i += 2;
    } else {
      ++i;
    }
  }
  if (depth > 0) error("this comment is not closed (block comments nest)");
  advance_to(i);
}

bool Lexer::skip_blank() {
  char c = at(pos_);
  if (is_white_space(static_cast<unsigned char>(c))) {
    advance_to(pos_ + 1);
    return true;
  }
  if (c == '-' && at(pos_ + 1) == '-') {
    size_t end = text_.find('\n', pos_);
    advance_to(end == std::string_view::npos ? text_.size() : end);
    return true;
  }
  if (c == '/' && at(pos_ + 1) == '*') {
    skip_block_comment();
    return true;
  }
  return false;
}

// From pos_; the opening quote is at `open`. A doubled quote stands for one.
void Lexer::quoted(TokenKind kind, size_t open, char quote) {
  size_t i = open + 1;
  while (true) {
    i = text_.find(quote, i);
    if (i == std::string_view::npos) {
      error(quote == '"' ? "this quoted identifier is not closed" : "this literal is not closed");
      advance_to(text_.size());
      return;
    }
    if (at(i + 1) != quote) break;
    i += 2;
  }
  std::string_view body = text_.substr(open + 1, i - open - 1);
  if (kind == TokenKind::kQuoted && body.empty()) {
    error("a quoted identifier cannot be empty");
  } else if (kind == TokenKind::kBlob) {
    bool ok = body.size() % 2 == 0;
    for (unsigned char c : body) ok = ok && is_hex_digit(c);
    if (!ok) error("a BLOB literal holds an even number of hexadecimal digits");
  } else if (kind == TokenKind::kBit) {
    for (char c : body) {
      if (c == '0' || c == '1') continue;
      error("a BIT literal holds only the digits 0 and 1");
      break;
    }
  }
  emit(kind, i + 1);
}

void Lexer::word() {
  char c = at(pos_);
  if ((c == 'X' || c == 'x') && at(pos_ + 1) == '\'')
    return quoted(TokenKind::kBlob, pos_ + 1, '\'');
  if ((c == 'B' || c == 'b') && at(pos_ + 1) == '\'')
    return quoted(TokenKind::kBit, pos_ + 1, '\'');
  size_t end = pos_ + 1;
  while (end < text_.size() && is_identifier_part(static_cast<unsigned char>(text_[end]))) ++end;
  emit(TokenKind::kIdentifier, end);
}

void Lexer::number() {
  size_t i = pos_;
  if (at(i) == '0' && (at(i + 1) == 'x' || at(i + 1) == 'X') &&
      is_hex_digit(static_cast<unsigned char>(at(i + 2)))) {
    i += 2;
    while (is_hex_digit(static_cast<unsigned char>(at(i)))) ++i;
    return emit(TokenKind::kHexInteger, i);
  }
  bool is_real = false;
  while (is_digit(static_cast<unsigned char>(at(i)))) ++i;
  if (at(i) == '.' && is_digit(static_cast<unsigned char>(at(i + 1)))) {
    is_real = true;
    ++i;
    while (is_digit(static_cast<unsigned char>(at(i)))) ++i;
  }
  if (at(i) == 'e' || at(i) == 'E') {
    size_t j = i + 1;
    if (at(j) == '+' || at(j) == '-') ++j;
    if (is_digit(static_cast<unsigned char>(at(j)))) {
      is_real = true;
      while (is_digit(static_cast<unsigned char>(at(j)))) ++j;
      i = j;
    }
  }
  emit(is_real ? TokenKind::kReal : TokenKind::kInteger, i);
}

struct Punctuation {
  std::string_view text;
  TokenKind kind;
};
constexpr Punctuation kPunctuation[] = {
    // Two characters first.
    {"||", TokenKind::kConcat},     {"<>", TokenKind::kNotEqual},
    {"<=", TokenKind::kLessEqual},  {">=", TokenKind::kGreaterEqual},
    {".", TokenKind::kDot},         {",", TokenKind::kComma},
    {";", TokenKind::kSemicolon},   {":", TokenKind::kColon},
    {"(", TokenKind::kLeftParen},   {")", TokenKind::kRightParen},
    {"[", TokenKind::kLeftBracket}, {"]", TokenKind::kRightBracket},
    {"{", TokenKind::kLeftBrace},   {"}", TokenKind::kRightBrace},
    {"+", TokenKind::kPlus},        {"-", TokenKind::kMinus},
    {"*", TokenKind::kStar},        {"/", TokenKind::kSlash},
    {"=", TokenKind::kEqual},       {"<", TokenKind::kLess},
    {">", TokenKind::kGreater},
};

bool Lexer::punctuation() {
  std::string_view rest = text_.substr(pos_, 2);
  for (const Punctuation& p : kPunctuation) {
    if (rest.starts_with(p.text)) {
      emit(p.kind, pos_ + p.text.size());
      return true;
    }
  }
  return false;
}

TokenList Lexer::run() {
  if (text_.starts_with("\xEF\xBB\xBF")) {
    pos_ = 3;  // byte order mark
    line_start_ = 3;
  }
  out_.tokens.reserve(text_.size() / 5 + 8);
  while (out_.errors.size() < kLexErrorsMax) {
    while (pos_ < text_.size() && skip_blank()) {
    }
    if (pos_ >= text_.size()) break;
    auto c = static_cast<unsigned char>(at(pos_));
    if (is_identifier_start(c)) {
      word();
    } else if (is_digit(c) || (c == '.' && is_digit(static_cast<unsigned char>(at(pos_ + 1))))) {
      number();
    } else if (c == '\'') {
      quoted(TokenKind::kString, pos_, '\'');
    } else if (c == '"') {
      quoted(TokenKind::kQuoted, pos_, '"');
    } else if (!punctuation()) {
      error(c < 0x20
                ? "the control character " + std::to_string(c) + " does not belong here"
                : std::string("the character '") + static_cast<char>(c) + "' does not belong here");
      advance_to(pos_ + 1);
    }
  }
  emit(TokenKind::kEnd, pos_);
  return std::move(out_);
}

}  // namespace

Kw find_keyword(std::string_view word) {
  if (word.empty() || word.size() > kKeywordLengthMax) return Kw::kNone;
  char upper[kKeywordLengthMax];
  for (size_t i = 0; i < word.size(); ++i) {
    char c = word[i];
    upper[i] = c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c;
  }
  std::string_view key(upper, word.size());
  const auto* begin = kKeywordNames + 1;
  const auto* end = kKeywordNames + kKeywordCount;
  const auto* found = std::lower_bound(begin, end, key);
  if (found == end || *found != key) return Kw::kNone;
  return static_cast<Kw>(found - kKeywordNames);
}

std::string_view keyword_name(Kw kw) { return kKeywordNames[static_cast<size_t>(kw)]; }

bool is_reserved(Kw kw) {
  switch (kw) {
    case Kw::kALL:
    case Kw::kASYMMETRIC:
    case Kw::kBOTH:
    case Kw::kCASE:
    case Kw::kDISTINCT:
    case Kw::kFROM:
    case Kw::kITEM:
    case Kw::kLEADING:
    case Kw::kNOT:
    case Kw::kSYMMETRIC:
    case Kw::kTRAILING:
    case Kw::kWHEN:
      return true;
    default:
      return false;
  }
}

TokenList tokenize(std::string_view text) { return Lexer(text).run(); }

bool has_doubled_quote(std::string_view token_text) {
  if (token_text.size() < 2) return false;
  return token_text.substr(1, token_text.size() - 2).find(token_text[0]) != std::string_view::npos;
}

std::string undouble_quotes(std::string_view token_text) {
  std::string out;
  if (token_text.size() < 2) return out;
  char quote = token_text[0];
  std::string_view body = token_text.substr(1, token_text.size() - 2);
  out.reserve(body.size());
  for (size_t i = 0; i < body.size(); ++i) {
    out.push_back(body[i]);
    if (body[i] == quote && i + 1 < body.size() && body[i + 1] == quote) ++i;
  }
  return out;
}

std::string_view describe_kind(TokenKind kind) {
  switch (kind) {
    case TokenKind::kEnd:
      return "the end of the text";
    case TokenKind::kIdentifier:
      return "an identifier";
    case TokenKind::kQuoted:
      return "a quoted identifier";
    case TokenKind::kString:
      return "a character literal";
    case TokenKind::kBlob:
      return "a BLOB literal";
    case TokenKind::kBit:
      return "a BIT literal";
    case TokenKind::kInteger:
    case TokenKind::kHexInteger:
    case TokenKind::kReal:
      return "a number";
    default:
      break;
  }
  for (const Punctuation& p : kPunctuation) {
    if (p.kind == kind) return p.text;
  }
  return "?";
}

}  // namespace millstream::esql
