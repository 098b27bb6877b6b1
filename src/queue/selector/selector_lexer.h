// The tokens of selectors. Internal to the compiler.
// Thread: one text at a time. Views are of the text.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace millstream::queue::selector {

enum class TokenKind : uint8_t {
  kEnd,
  kIdentifier,
  kKeyword,
  kInteger,
  kReal,
  kString,
  kBytes,
  kSymbol,
};

enum class Keyword : uint8_t {
  kAnd,
  kBetween,
  kEscape,
  kFalse,
  kIn,
  kIs,
  kLike,
  kNot,
  kNull,
  kOr,
  kTrue,
};
std::string_view keyword_text(Keyword k);  // upper case

struct Token {
  TokenKind kind = TokenKind::kEnd;
  Keyword keyword = Keyword::kAnd;
  size_t at = 0;          // first byte
  std::string_view text;  // as it stands there: a name, a symbol
  std::string value;      // kString, kBytes: what it means
  uint64_t integer = 0;   // up to 2^63, which only a minus before it makes legal
  double real = 0;
  bool is_symbol(std::string_view s) const { return kind == TokenKind::kSymbol && text == s; }
  bool is_keyword(Keyword k) const { return kind == TokenKind::kKeyword && keyword == k; }
};

class Lexer {
 public:
  // `text` is valid UTF-8.
  explicit Lexer(std::string_view text) : text_(text) {}
  // Null, or why there is no token at error_at().
  const char* next(Token& out);
  size_t error_at() const { return error_at_; }

 private:
  const char* take_name(Token& out);
  const char* take_number(Token& out);
  const char* take_digits(Token& out, size_t start, int base);
  const char* take_string(Token& out);
  const char* take_bytes(Token& out);
  const char* take_symbol(Token& out);
  const char* fail(size_t at, const char* reason) {
    error_at_ = at;
    return reason;
  }
  char peek(size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }

  std::string_view text_;
  size_t at_ = 0;
  size_t error_at_ = 0;
};

}  // namespace millstream::queue::selector
