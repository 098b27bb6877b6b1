#include "text/utf8.h"

#include <unicode/ustring.h>

#include <cstring>
#include <vector>

namespace millstream::text {
namespace {

constexpr uint64_t kHighBits = 0x8080808080808080ull;

uint64_t load_word(const char* p) {
  uint64_t word;
  std::memcpy(&word, p, 8);
  return word;
}

bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

// Skips ASCII eight bytes at a time.
size_t skip_ascii(std::string_view s, size_t at) {
  while (at + 8 <= s.size() && (load_word(s.data() + at) & kHighBits) == 0) at += 8;
  while (at < s.size() && static_cast<unsigned char>(s[at]) < 0x80) ++at;
  return at;
}

using IcuCaseFunction = int32_t (*)(UChar*, int32_t, const UChar*, int32_t, const char*,
                                    UErrorCode*);

// Full case mapping of text that is not ASCII.
std::string map_case_icu(std::string_view s, IcuCaseFunction map) {
  std::vector<UChar> source(s.size() + 1);
  int32_t source_size = 0;
  UErrorCode status = U_ZERO_ERROR;
  u_strFromUTF8WithSub(source.data(), static_cast<int32_t>(source.size()), &source_size, s.data(),
                       static_cast<int32_t>(s.size()), 0xFFFD, nullptr, &status);
  if (U_FAILURE(status)) return std::string(s);
  std::vector<UChar> target(source.size() * 3 + 1);  // no mapping is longer than three units
  status = U_ZERO_ERROR;
  int32_t target_size = map(target.data(), static_cast<int32_t>(target.size()), source.data(),
                            source_size, "", &status);
  if (U_FAILURE(status)) return std::string(s);
  std::string out(static_cast<size_t>(target_size) * 3, '\0');
  int32_t out_size = 0;
  status = U_ZERO_ERROR;
  u_strToUTF8(out.data(), static_cast<int32_t>(out.size()), &out_size, target.data(), target_size,
              &status);
  if (U_FAILURE(status)) return std::string(s);
  out.resize(static_cast<size_t>(out_size));
  return out;
}

char ascii_lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }
char ascii_upper(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; }

}  // namespace

size_t find_invalid_utf8(std::string_view s) {
  size_t at = 0;
  while ((at = skip_ascii(s, at)) < s.size()) {
    DecodedCodePoint c = decode_utf8(s, at);
    if (c.size == 0) return at;
    at += c.size;
  }
  return std::string_view::npos;
}

bool is_ascii(std::string_view s) { return skip_ascii(s, 0) == s.size(); }

DecodedCodePoint decode_utf8(std::string_view s, size_t at) {
  if (at >= s.size()) return {};
  auto byte = [&](size_t i) { return static_cast<unsigned char>(s[at + i]); };
  uint32_t b0 = byte(0);
  if (b0 < 0x80) return {b0, 1};
  size_t left = s.size() - at;
  if (b0 < 0xC2) return {};
  if (b0 < 0xE0) {
    if (left < 2 || !is_continuation(s[at + 1])) return {};
    return {((b0 & 0x1F) << 6) | (byte(1) & 0x3Fu), 2};
  }
  if (b0 < 0xF0) {
    if (left < 3 || !is_continuation(s[at + 1]) || !is_continuation(s[at + 2])) return {};
    char32_t c = ((b0 & 0x0F) << 12) | ((byte(1) & 0x3Fu) << 6) | (byte(2) & 0x3Fu);
    if (c < 0x800 || (c >= 0xD800 && c < 0xE000)) return {};
    return {c, 3};
  }
  if (b0 > 0xF4 || left < 4 || !is_continuation(s[at + 1]) || !is_continuation(s[at + 2]) ||
      !is_continuation(s[at + 3])) {
    return {};
  }
  char32_t c = ((b0 & 0x07) << 18) | ((byte(1) & 0x3Fu) << 12) | ((byte(2) & 0x3Fu) << 6) |
               (byte(3) & 0x3Fu);
  if (c < 0x10000 || c > 0x10FFFF) return {};
  return {c, 4};
}

size_t encode_utf8(char32_t c, char* out) {
  if (c < 0x80) {
    out[0] = static_cast<char>(c);
    return 1;
  }
  if (c < 0x800) {
    out[0] = static_cast<char>(0xC0 | (c >> 6));
    out[1] = static_cast<char>(0x80 | (c & 0x3F));
    return 2;
  }
  if ((c >= 0xD800 && c < 0xE000) || c > 0x10FFFF) c = 0xFFFD;
  if (c < 0x10000) {
    out[0] = static_cast<char>(0xE0 | (c >> 12));
    out[1] = static_cast<char>(0x80 | ((c >> 6) & 0x3F));
    out[2] = static_cast<char>(0x80 | (c & 0x3F));
    return 3;
  }
  out[0] = static_cast<char>(0xF0 | (c >> 18));
  out[1] = static_cast<char>(0x80 | ((c >> 12) & 0x3F));
  out[2] = static_cast<char>(0x80 | ((c >> 6) & 0x3F));
  out[3] = static_cast<char>(0x80 | (c & 0x3F));
  return 4;
}

void append_utf8(std::string& out, char32_t c) {
  char buffer[4];
  out.append(buffer, encode_utf8(c, buffer));
}

size_t count_code_points(std::string_view s) {
  size_t continuations = 0;
  size_t at = 0;
  for (; at + 8 <= s.size(); at += 8) {
    uint64_t word = load_word(s.data() + at);
    if ((word & kHighBits) == 0) continue;
    // A continuation byte has the high bit set and the next one clear.
    uint64_t marks = (word & kHighBits) & ~((word << 1) & kHighBits);
    continuations += static_cast<size_t>(__builtin_popcountll(marks));
  }
  for (; at < s.size(); ++at) continuations += is_continuation(s[at]) ? 1 : 0;
  return s.size() - continuations;
}

size_t advance_code_points(std::string_view s, size_t from, size_t n) {
  size_t at = from;
  while (n > 0 && at < s.size()) {
    if (n >= 8 && at + 8 <= s.size() && (load_word(s.data() + at) & kHighBits) == 0) {
      at += 8;
      n -= 8;
      continue;
    }
    ++at;
    while (at < s.size() && is_continuation(s[at])) ++at;
    --n;
  }
  return at < s.size() ? at : s.size();
}

size_t retreat_code_points(std::string_view s, size_t from, size_t n) {
  size_t at = from < s.size() ? from : s.size();
  while (n > 0 && at > 0) {
    --at;
    while (at > 0 && is_continuation(s[at])) --at;
    --n;
  }
  return at;
}

std::string to_upper(std::string_view s) {
  if (!is_ascii(s)) return map_case_icu(s, u_strToUpper);
  std::string out(s);
  for (char& c : out) c = ascii_upper(c);
  return out;
}

std::string to_lower(std::string_view s) {
  if (!is_ascii(s)) return map_case_icu(s, u_strToLower);
  std::string out(s);
  for (char& c : out) c = ascii_lower(c);
  return out;
}

bool equals_ignoring_ascii_case(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (ascii_lower(a[i]) != ascii_lower(b[i])) return false;
  }
  return true;
}

}  // namespace millstream::text
