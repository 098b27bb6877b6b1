// UTF-8 as ESQL and the message tree need it: validation, code points, counting and case mapping.
// Text inside the server is valid UTF-8 (no surrogates, nothing above U+10FFFF); only validate and
// decode may be given other bytes. Offsets are bytes from the start of the view.
// Thread: any.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace millstream::text {

// Offset of the first byte that is not part of a valid sequence; std::string_view::npos when valid.
size_t find_invalid_utf8(std::string_view s);
inline bool is_valid_utf8(std::string_view s) {
  return find_invalid_utf8(s) == std::string_view::npos;
}
bool is_ascii(std::string_view s);

// `size` 0 means: invalid at this place (or `at` is the end).
struct DecodedCodePoint {
  char32_t value = 0;
  uint32_t size = 0;
};
DecodedCodePoint decode_utf8(std::string_view s, size_t at);

// Writes 1 to 4 bytes and returns how many; surrogates and values above U+10FFFF become U+FFFD.
size_t encode_utf8(char32_t c, char* out);
void append_utf8(std::string& out, char32_t c);

// Number of code points of valid UTF-8.
size_t count_code_points(std::string_view s);
// Offset after `n` code points from offset `from`; s.size() when there are fewer.
size_t advance_code_points(std::string_view s, size_t from, size_t n);
// Offset `n` code points before offset `from`; 0 when there are fewer.
size_t retreat_code_points(std::string_view s, size_t from, size_t n);

// Full Unicode case mapping of the root locale (the sharp s becomes SS).
std::string to_upper(std::string_view s);
std::string to_lower(std::string_view s);

// ASCII only, for keywords, header names and encoding names.
bool equals_ignoring_ascii_case(std::string_view a, std::string_view b);

}  // namespace millstream::text
