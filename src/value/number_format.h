// The FORMAT patterns of CAST between numbers and text (spec A9 "Number FORMAT"), and the plain
// text forms of numbers.
//
// Pattern: prefix, digits, suffix [; prefix digits suffix for negative numbers]
//          [:groupsep=c] [:decsep=c]
// Digits: # optional, 0 padded, one decimal point, commas that set the group sizes, then optionally
// E0 (or E+0, E000). In prefix and suffix % multiplies by 100, U+2030 by 1000, '...' quotes, '' is
// a quote. Without a form for negative numbers, a minus stands before the prefix. A pattern with an
// exponent and more optional than padded integer digits keeps the exponent a multiple of them.
// Rounding is half-even. Limits: kPatternBytesMax, kFormattedDigitsMax.
// Thread: any.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "value/decimal.h"

namespace millstream::value {

class NumberFormat {
 public:
  static constexpr size_t kPatternBytesMax = 1024;
  static constexpr int64_t kFormattedDigitsMax = 10'000;

  static Result<NumberFormat> create(std::string_view pattern);

  Status format(const Decimal& number, std::string& out) const;
  Status format(int64_t number, std::string& out) const {
    return format(Decimal::from_int64(number), out);
  }
  Status format(double number, std::string& out) const {
    return format(Decimal::from_double(number), out);
  }
  // The whole text must match; blanks around it are skipped where the pattern has none there.
  // Groups may be of any size, digits more than the pattern shows.
  Status parse(std::string_view text, Decimal& out) const;

 private:
  struct Affixes {
    std::string prefix, suffix;  // as shown, quotes resolved
  };
  struct Scanner;
  std::string format_magnitude(const Decimal& magnitude) const;
  std::string format_exponent_form(const Decimal& magnitude) const;
  std::string join_digits(std::string integer, std::string fraction) const;
  bool parse_magnitude(std::string_view text, bool is_negative, Decimal& out) const;

  std::string pattern_;
  Affixes positive_, negative_;
  bool has_negative_form_ = false;
  int integer_min_ = 1, integer_total_ = 1;
  int fraction_min_ = 0, fraction_max_ = 0;
  int group_ = 0, outer_group_ = 0;  // 0 = no grouping
  int exponent_digits_ = 0;          // 0 = no exponent
  bool shows_exponent_plus_ = false;
  bool shows_point_always_ = false;
  int multiplier_power_ = 0;  // 2 for percent, 3 for per mille
  std::string group_separator_ = ",", decimal_separator_ = ".";
};

// FLOAT as text: at most 15 significant digits, always with an exponent: 1.5E+0, 1E-1, 0E+0.
std::string float_to_text(double d);

enum class NumberParse : uint8_t { kOk, kNotANumber, kOutOfRange };
// Strict forms; white space around the number is skipped. [+-]digits.
NumberParse parse_integer_text(std::string_view text, int64_t& out);
// [+-]digits[.digits][E[+-]digits], INF, INFINITY, NAN.
NumberParse parse_float_text(std::string_view text, double& out);
NumberParse parse_decimal_text(std::string_view text, Decimal& out);

}  // namespace millstream::value
