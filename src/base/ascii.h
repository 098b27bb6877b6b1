// Small things about ASCII text that several folders need: digits, and blanks around a value. For
// code points and case see text/utf8.h. Returned views are parts of what was passed. Thread: any.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace millstream::base {

constexpr char kLowerHexDigits[] = "0123456789abcdef";

// 0 to 15; -1 when `c` is not a hexadecimal digit of either case.
constexpr int hex_digit_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// Two lower-case digits a byte.
inline void append_hex(std::string& out, std::string_view bytes) {
  for (unsigned char c : bytes) {
    out.push_back(kLowerHexDigits[c >> 4]);
    out.push_back(kLowerHexDigits[c & 15]);
  }
}

inline void append_upper_hex(std::string& out, std::string_view bytes) {
  constexpr char kDigits[] = "0123456789ABCDEF";
  for (unsigned char c : bytes) {
    out.push_back(kDigits[c >> 4]);
    out.push_back(kDigits[c & 15]);
  }
}

// Adds the bytes that pairs of digits of either case stand for; false when `digits` are something
// else, and then what was added up to there stays.
inline bool append_bytes_of_hex(std::string& out, std::string_view digits) {
  if (digits.size() % 2 != 0) return false;
  for (size_t i = 0; i < digits.size(); i += 2) {
    const int high = hex_digit_value(digits[i]), low = hex_digit_value(digits[i + 1]);
    if (high < 0 || low < 0) return false;
    out.push_back(static_cast<char>(high * 16 + low));
  }
  return true;
}

// The first `count` bits, high bit first, as 0 and 1.
inline void append_bit_digits(std::string& out, const char* bytes, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) {
    out.push_back((static_cast<unsigned char>(bytes[i / 8]) >> (7 - i % 8)) & 1 ? '1' : '0');
  }
}

// A number that is not negative, with zeros before it up to `width` digits.
inline void append_padded(std::string& out, int64_t number, size_t width) {
  char digits[20];
  size_t n = 0;
  do {
    digits[n++] = static_cast<char>('0' + number % 10);
    number /= 10;
  } while (number > 0);
  if (n < width) out.append(width - n, '0');
  while (n > 0) out.push_back(digits[--n]);
}

// Blank, tab and line ends: what files and headers may have around a value.
constexpr bool is_ascii_white_space(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}
constexpr std::string_view trim_white_space(std::string_view s) {
  while (!s.empty() && is_ascii_white_space(s.front())) s.remove_prefix(1);
  while (!s.empty() && is_ascii_white_space(s.back())) s.remove_suffix(1);
  return s;
}

// Only blanks, only at the end: what comparing CHARACTER values leaves out of account.
constexpr std::string_view without_trailing_blanks(std::string_view s) {
  while (!s.empty() && s.back() == ' ') s.remove_suffix(1);
  return s;
}

}  // namespace millstream::base
