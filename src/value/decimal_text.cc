// DECIMAL from and to text.
#include <algorithm>

#include "value/decimal_internal.h"

namespace millstream::value {

namespace {

using internal::U128;

bool equals_word(std::string_view text, std::string_view upper) {
  return text.size() == upper.size() && std::equal(text.begin(), text.end(), upper.begin(),
                                                   [](char c, char u) { return (c & ~0x20) == u; });
}

bool is_ascii_digit(char c) { return c >= '0' && c <= '9'; }

// The digits of a number text: as many as 128 bits hold, then only whether there were any more.
struct DigitCollector {
  U128 coefficient = 0;
  int kept = 0;  // significant digits in coefficient
  int64_t exponent = 0;
  bool sticky = false;
  bool has_digits = false;

  void add(char digit, bool is_fraction) {
    has_digits = true;
    if (kept == internal::kWideDigits) {
      sticky = sticky || digit != '0';
      if (!is_fraction) ++exponent;
      return;
    }
    coefficient = coefficient * 10 + static_cast<U128>(digit - '0');
    if (coefficient != 0) ++kept;
    if (is_fraction) --exponent;
  }
};

// [+-]digits at the end of a number, saturated far outside the range. False: not that.
bool parse_exponent(std::string_view text, int64_t& out) {
  constexpr int64_t kSaturated = 100'000'000'000;
  bool is_negative = false;
  if (!text.empty() && (text[0] == '+' || text[0] == '-')) {
    is_negative = text[0] == '-';
    text.remove_prefix(1);
  }
  if (text.empty()) return false;
  int64_t n = 0;
  for (char c : text) {
    if (!is_ascii_digit(c)) return false;
    n = std::min(n * 10 + (c - '0'), kSaturated);
  }
  out = is_negative ? -n : n;
  return true;
}

// Digits of the coefficient into the end of `buffer` (40 bytes).
std::string_view coefficient_text(U128 c, char* buffer) {
  char* end = buffer + 40;
  char* p = end;
  do {
    if ((c >> 64) == 0) {
      uint64_t low = static_cast<uint64_t>(c);
      do {
        *--p = static_cast<char>('0' + low % 10);
        low /= 10;
      } while (low != 0);
      break;
    }
    *--p = static_cast<char>('0' + static_cast<int>(c % 10));
    c /= 10;
  } while (true);
  return {p, static_cast<size_t>(end - p)};
}

std::string special_text(const Decimal& d) {
  if (d.is_nan()) return "NAN";
  return d.is_negative() ? "-INF" : "INF";
}

std::string plain_text(std::string_view sign, std::string_view digits, int64_t exponent) {
  std::string out(sign);
  int64_t before = static_cast<int64_t>(digits.size()) + exponent;  // digits left of the point
  if (exponent >= 0) {
    out.append(digits).append(static_cast<size_t>(exponent), '0');
  } else if (before > 0) {
    out.append(digits.substr(0, static_cast<size_t>(before))).append(".");
    out.append(digits.substr(static_cast<size_t>(before)));
  } else {
    out.append("0.").append(static_cast<size_t>(-before), '0').append(digits);
  }
  return out;
}

std::string exponent_text(std::string_view sign, std::string_view digits, int64_t adjusted,
                          char letter) {
  std::string out(sign);
  out += digits[0];
  if (digits.size() > 1) out.append(".").append(digits.substr(1));
  out += letter;
  if (adjusted >= 0) out += '+';
  return out + std::to_string(adjusted);
}

}  // namespace

bool Decimal::parse(std::string_view text, Decimal& out) {
  bool is_negative = false;
  if (!text.empty() && (text[0] == '+' || text[0] == '-')) {
    is_negative = text[0] == '-';
    text.remove_prefix(1);
  }
  if (equals_word(text, "INF") || equals_word(text, "INFINITY")) {
    out = infinity(is_negative);
    return true;
  }
  if (equals_word(text, "NAN")) {
    out = nan();
    return true;
  }
  DigitCollector collector;
  bool is_fraction = false;
  size_t i = 0;
  for (; i < text.size(); ++i) {
    char c = text[i];
    if (is_ascii_digit(c)) {
      collector.add(c, is_fraction);
    } else if (c == '.' && !is_fraction) {
      is_fraction = true;
    } else {
      break;
    }
  }
  if (!collector.has_digits) return false;
  if (i < text.size()) {
    int64_t written = 0;
    if ((text[i] != 'e' && text[i] != 'E') || !parse_exponent(text.substr(i + 1), written)) {
      return false;
    }
    collector.exponent += written;
  }
  return DecimalMath::finish(is_negative, collector.coefficient, collector.exponent,
                             collector.sticky, out);
}

std::string Decimal::to_text() const {
  if (form_ != Form::kFinite) return special_text(*this);
  char buffer[40];
  std::string_view digits = coefficient_text(coefficient_, buffer);
  std::string_view sign = is_negative_ ? "-" : "";
  int64_t adjusted = static_cast<int64_t>(exponent_) + static_cast<int64_t>(digits.size()) - 1;
  if (exponent_ <= 0 && adjusted >= -6 && exponent_ >= -kMaxDigits) {
    return plain_text(sign, digits, exponent_);
  }
  return exponent_text(sign, digits, adjusted, 'e');
}

std::string Decimal::to_scientific_text() const {
  if (form_ != Form::kFinite) return special_text(*this);
  char buffer[40];
  std::string_view digits = coefficient_text(coefficient_, buffer);
  std::string_view sign = is_negative_ ? "-" : "";
  int64_t adjusted = static_cast<int64_t>(exponent_) + static_cast<int64_t>(digits.size()) - 1;
  if (exponent_ <= 0 && adjusted >= -6) return plain_text(sign, digits, exponent_);
  return exponent_text(sign, digits, adjusted, 'E');
}

std::string Decimal::to_plain_text(size_t length_max) const {
  if (form_ != Form::kFinite) return special_text(*this);
  char buffer[40];
  std::string_view digits = coefficient_text(coefficient_, buffer);
  std::string_view sign = is_negative_ ? "-" : "";
  int64_t zeros = exponent_ < 0 ? -static_cast<int64_t>(exponent_) : exponent_;
  if (is_zero() && exponent_ > 0) return "0";
  if (static_cast<uint64_t>(zeros) + digits.size() + 3 > length_max) return to_scientific_text();
  return plain_text(sign, digits, exponent_);
}

}  // namespace millstream::value
