// Character classes of RFC 9110 and 9112 as one table. Thread: any.
#pragma once
#include <array>
#include <cstdint>

namespace millstream::http {

enum CharClass : uint8_t { kTokenChar = 1, kFieldChar = 2, kTargetChar = 4, kHexChar = 8 };

inline constexpr std::array<uint8_t, 256> kCharClasses = [] {
  std::array<uint8_t, 256> table{};
  for (int c = 0x21; c <= 0x7e; ++c) table[c] |= kFieldChar | kTargetChar;
  for (int c = 0x80; c <= 0xff; ++c) table[c] |= kFieldChar;  // obs-text
  table[' '] |= kFieldChar;
  table['\t'] |= kFieldChar;
  table['#'] &= static_cast<uint8_t>(~kTargetChar);  // a target has no fragment
  for (int c = '0'; c <= '9'; ++c) table[c] |= kTokenChar | kHexChar;
  for (int c = 'a'; c <= 'z'; ++c) table[c] |= kTokenChar;
  for (int c = 'A'; c <= 'Z'; ++c) table[c] |= kTokenChar;
  for (int c = 'a'; c <= 'f'; ++c) table[c] |= kHexChar;
  for (int c = 'A'; c <= 'F'; ++c) table[c] |= kHexChar;
  for (char c : {'!', '#', '$', '%', '&', '\'', '*', '+', '-', '.', '^', '_', '`', '|', '~'}) {
    table[static_cast<uint8_t>(c)] |= kTokenChar;
  }
  return table;
}();

inline bool is_token_char(char c) { return kCharClasses[static_cast<uint8_t>(c)] & kTokenChar; }
inline bool is_field_char(char c) { return kCharClasses[static_cast<uint8_t>(c)] & kFieldChar; }
inline bool is_target_char(char c) { return kCharClasses[static_cast<uint8_t>(c)] & kTargetChar; }
inline bool is_hex_char(char c) { return kCharClasses[static_cast<uint8_t>(c)] & kHexChar; }
inline char ascii_lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c; }
// Value of a hexadecimal digit; the caller has checked is_hex_char.
inline uint32_t hex_value(char c) {
  return c <= '9' ? static_cast<uint32_t>(c - '0') : static_cast<uint32_t>((c | 0x20) - 'a' + 10);
}

}  // namespace millstream::http
