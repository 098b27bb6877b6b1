// Tokens of JSON (RFC 8259): numbers without loss, string escapes, and the strict check that finds
// the place of an error. No tree, no allocation but for the caller's strings. Thread: any.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace millstream::format {

// A number as it stands in the text.
struct JsonNumber {
  // Largest power of ten of the first digit that a DECIMAL can hold.
  static constexpr int64_t kExponentMax = 999'999'999;

  uint64_t coefficient = 0;  // all digits, when digit_count <= 19
  uint32_t digit_count = 0;  // significant ones: without leading zeros
  int64_t exponent = 0;      // of the last digit
  bool is_negative = false;
  bool has_fraction = false;
  bool has_exponent = false;
  bool is_integral() const { return !has_fraction && !has_exponent; }
  bool is_in_range() const {
    int64_t first = exponent + static_cast<int64_t>(digit_count) - 1;
    return digit_count == 0 ? exponent >= -kExponentMax && exponent <= kExponentMax
                            : first <= kExponentMax && first >= -kExponentMax;
  }
};

// Reads the number at `p`; returns the first character after it, or null when there is none.
inline const char* scan_json_number(const char* p, const char* end, JsonNumber& n) {
  n = JsonNumber();
  auto is_digit = [](char c) { return static_cast<unsigned char>(c - '0') < 10; };
  auto take = [&n](char c) {
    unsigned digit = static_cast<unsigned char>(c - '0');
    if (n.digit_count < 19) n.coefficient = n.coefficient * 10 + digit;
    n.digit_count += (n.digit_count != 0) | (digit != 0);
  };
  if (p < end && *p == '-') {
    n.is_negative = true;
    ++p;
  }
  if (p == end || !is_digit(*p)) return nullptr;
  if (*p == '0') {
    ++p;
  } else {
    while (p < end && is_digit(*p)) take(*p++);
  }
  if (p < end && *p == '.') {
    n.has_fraction = true;
    const char* first = ++p;
    while (p < end && is_digit(*p)) take(*p++);
    if (p == first) return nullptr;
    n.exponent = -(p - first);
  }
  if (p < end && (*p == 'e' || *p == 'E')) {
    n.has_exponent = true;
    ++p;
    bool is_minus = p < end && *p == '-';
    if (p < end && (*p == '-' || *p == '+')) ++p;
    if (p == end || !is_digit(*p)) return nullptr;
    int64_t e = 0;
    for (; p < end && is_digit(*p); ++p) {
      if (e < 100'000'000'000) e = e * 10 + (*p - '0');
    }
    n.exponent += is_minus ? -e : e;
  }
  return p;
}

// Why a text is not JSON. `offset` counts bytes from 0; `reason` is a phrase such as
// "a colon is missing after the member name".
struct JsonProblem {
  enum class Kind : uint8_t { kSyntax, kDepth, kNumberRange };
  Kind kind = Kind::kSyntax;
  size_t offset = 0;
  const char* reason = "";
};

struct JsonLimits {
  uint32_t depth_max = 10'000;
  bool allows_scalar_root = false;
};

// The first problem of a whole document, or nothing. Iterative; slow (for diagnosis and as the
// reference in tests).
std::optional<JsonProblem> check_json(std::string_view document, const JsonLimits& limits);

// Decodes what stands between the quotes. `out` has room for raw.size() bytes; returns the length
// written, or npos for a bad escape or a lone surrogate (then `*problem`, if given, says where).
size_t decode_json_string(std::string_view raw, char* out, JsonProblem* problem = nullptr);

// Line and column (in code points) of a byte offset, both from 1.
struct TextPosition {
  uint32_t line = 1;
  uint32_t column = 1;
};
TextPosition text_position(std::string_view text, size_t offset);

}  // namespace millstream::format
