#include "queue/selector/selector_lexer.h"

#include <charconv>
#include <cmath>

#include "base/ascii.h"
#include "text/utf8.h"

namespace millstream::queue::selector {
namespace {

constexpr std::string_view kKeywords[] = {"AND",  "BETWEEN", "ESCAPE", "FALSE", "IN",  "IS",
                                          "LIKE", "NOT",     "NULL",   "OR",    "TRUE"};

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_name_start(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' ||
         static_cast<unsigned char>(c) >= 0x80;
}
bool is_name_part(char c) { return is_name_start(c) || is_digit(c) || c == '.'; }

}  // namespace

std::string_view keyword_text(Keyword k) { return kKeywords[static_cast<size_t>(k)]; }

const char* Lexer::next(Token& out) {
  while (at_ < text_.size() && (base::is_ascii_white_space(text_[at_]) || text_[at_] == '\f'))
    ++at_;
  out = {};
  out.at = at_;
  if (at_ == text_.size()) return nullptr;
  char c = peek();
  if (is_name_start(c)) return take_name(out);
  if (is_digit(c) || (c == '.' && is_digit(peek(1)))) return take_number(out);
  if (c == '\'') return take_string(out);
  if (c == '"') return take_bytes(out);
  return take_symbol(out);
}

const char* Lexer::take_name(Token& out) {
  size_t start = at_;
  while (at_ < text_.size() && is_name_part(text_[at_])) ++at_;
  out.kind = TokenKind::kIdentifier;
  out.text = text_.substr(start, at_ - start);
  for (size_t k = 0; k < std::size(kKeywords); ++k) {
    if (!text::equals_ignoring_ascii_case(out.text, kKeywords[k])) continue;
    out.kind = TokenKind::kKeyword;
    out.keyword = static_cast<Keyword>(k);
    return nullptr;
  }
  size_t dots = out.text.find("..");
  if (dots != std::string_view::npos) return fail(start + dots, "a name has nothing between dots");
  if (out.text.back() == '.') return fail(at_ - 1, "a name ends in a dot");
  return nullptr;
}

// The digits from `start` on as an integer of the base; 2^63 may be meant to follow a minus.
const char* Lexer::take_digits(Token& out, size_t start, int base) {
  auto r = std::from_chars(text_.data() + start, text_.data() + at_, out.integer, base);
  if (r.ec != std::errc() || r.ptr != text_.data() + at_ || start == at_) {
    return fail(out.at, base == 8 ? "this is no octal number" : "this is no number of 64 bits");
  }
  constexpr uint64_t kMost = uint64_t{1} << 63;
  if (out.integer > kMost) return fail(out.at, "the number does not fit 64 bits");
  return nullptr;
}

const char* Lexer::take_number(Token& out) {
  size_t start = at_;
  out.kind = TokenKind::kInteger;
  bool is_hex = peek() == '0' && (peek(1) == 'x' || peek(1) == 'X');
  bool is_real = false;
  if (is_hex) {
    at_ += 2;
    while (base::hex_digit_value(peek()) >= 0) ++at_;
  } else {
    while (is_digit(peek())) ++at_;
    if (peek() == '.') is_real = true, ++at_;
    while (is_digit(peek())) ++at_;
    size_t sign = peek(1) == '+' || peek(1) == '-' ? 1 : 0;
    if ((peek() == 'e' || peek() == 'E') && is_digit(peek(1 + sign))) {
      is_real = true;
      at_ += 2 + sign;
      while (is_digit(peek())) ++at_;
    }
  }
  char suffix = peek();
  bool is_float = !is_hex && (suffix == 'f' || suffix == 'F');
  bool has_suffix = is_float || (!is_hex && (suffix == 'd' || suffix == 'D')) ||
                    (!is_real && (suffix == 'l' || suffix == 'L'));
  if (is_name_part(peek(has_suffix ? 1 : 0))) return fail(start, "this is no number");
  if (is_real || is_float || suffix == 'd' || suffix == 'D') {
    out.kind = TokenKind::kReal;
    auto r = std::from_chars(text_.data() + start, text_.data() + at_, out.real);
    if (r.ec != std::errc() || r.ptr != text_.data() + at_) {
      return fail(start, "the number is out of range");
    }
    if (is_float) out.real = static_cast<float>(out.real);
    if (!std::isfinite(out.real)) return fail(start, "the number is out of range");
  } else {
    bool is_octal = !is_hex && at_ - start > 1 && text_[start] == '0';
    const char* why =
        is_hex ? take_digits(out, start + 2, 16) : take_digits(out, start, is_octal ? 8 : 10);
    if (why) return why;
  }
  if (has_suffix) ++at_;
  return nullptr;
}

const char* Lexer::take_string(Token& out) {
  out.kind = TokenKind::kString;
  for (++at_; at_ < text_.size(); ++at_) {
    if (text_[at_] == '\'') {
      if (peek(1) != '\'') return ++at_, nullptr;
      ++at_;
    }
    out.value.push_back(text_[at_]);
  }
  return fail(out.at, "a string is not closed");
}

const char* Lexer::take_bytes(Token& out) {
  size_t end = text_.find('"', at_ + 1);
  std::string_view inner =
      end == std::string_view::npos ? std::string_view() : text_.substr(at_ + 1, end - at_ - 1);
  if (inner.size() < 4 || inner.size() % 2 || inner[0] != '0' ||
      (inner[1] != 'x' && inner[1] != 'X')) {
    return fail(at_, "double quotes hold bytes, such as \"0x2F1C\"");
  }
  out.kind = TokenKind::kBytes;
  for (size_t i = 2; i < inner.size(); i += 2) {
    int high = base::hex_digit_value(inner[i]), low = base::hex_digit_value(inner[i + 1]);
    if (high < 0 || low < 0) return fail(at_ + 1 + i, "this is no hexadecimal digit");
    out.value.push_back(static_cast<char>(high * 16 + low));
  }
  at_ = end + 1;
  return nullptr;
}

const char* Lexer::take_symbol(Token& out) {
  out.kind = TokenKind::kSymbol;
  std::string_view two = text_.substr(at_, 2);
  if (two == "<>" || two == "<=" || two == ">=") {
    out.text = two;
  } else if (std::string_view("=<>+-*/(),").find(peek()) != std::string_view::npos) {
    out.text = two.substr(0, 1);
  } else {
    return fail(at_, "this character has no meaning here");
  }
  at_ += out.text.size();
  return nullptr;
}

}  // namespace millstream::queue::selector
