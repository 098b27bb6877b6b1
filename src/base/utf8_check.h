// The one question about UTF-8 that base has to answer (RFC 3629): how long is the well-formed
// sequence at the start of a text? Everything else about character sets is in text/.
// Thread: any.
#pragma once
#include <cstddef>
#include <string_view>

namespace millstream::base {

// 1 to 4; 0 when there is none (truncated, overlong, a surrogate, above U+10FFFF, or no text).
inline size_t utf8_sequence_size(std::string_view s) {
  auto byte = [&](size_t i) { return static_cast<unsigned char>(s[i]); };
  auto is_tail = [&](size_t i) { return i < s.size() && (byte(i) & 0xC0) == 0x80; };
  if (s.empty()) return 0;
  unsigned char first = byte(0);
  if (first < 0x80) return 1;
  if (first < 0xC2) return 0;
  if (first < 0xE0) return is_tail(1) ? 2 : 0;
  if (first < 0xF0) {
    if (!is_tail(1) || !is_tail(2)) return 0;
    if ((first == 0xE0 && byte(1) < 0xA0) || (first == 0xED && byte(1) >= 0xA0)) return 0;
    return 3;
  }
  if (first > 0xF4 || !is_tail(1) || !is_tail(2) || !is_tail(3)) return 0;
  if ((first == 0xF0 && byte(1) < 0x90) || (first == 0xF4 && byte(1) >= 0x90)) return 0;
  return 4;
}

}  // namespace millstream::base
