// DECIMAL: 34 significant digits and a 32-bit exponent (IEEE 754 decimal arithmetic with the
// exponent range of ESQL, +-999,999,999), INF, -INF and NAN. The scale is part of the value: 1.50
// is not written as 1.5. Every automatic rounding is half-even to 34 digits (spec A5).
//
// Errors: a result above the exponent range, a division by zero and an invalid operand (square root
// of a negative number) are errors; INF and NAN operands give INF or NAN as IEEE 754 says.
// A negative zero exists in Decimal; value::Value never holds one.
// Cost: try_*_inline are a few nanoseconds and decline (false) when the general form is needed.
// Trivially copyable, no ownership. Thread: any.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "value/value.h"

namespace millstream::value {

// The MODE of ROUND, in the order of the ESQL constants ROUND_UP ... ROUND_HALF_DOWN.
enum class Rounding : uint8_t { kUp, kDown, kCeiling, kFloor, kHalfUp, kHalfEven, kHalfDown };

// NaN compares unordered with everything, itself included.
enum class Ordering : uint8_t { kLess, kEqual, kGreater, kUnordered };

class Decimal {
 public:
  using Coefficient = unsigned __int128;
  static constexpr int kMaxDigits = 34;
  static constexpr int32_t kMaxExponent = 999'999'999;   // of the first digit
  static constexpr int32_t kMinExponent = -999'999'999;  // of the first digit of a normal number
  static constexpr int32_t kTiny = kMinExponent - (kMaxDigits - 1);  // of the last digit

  constexpr Decimal() = default;  // zero with scale 0
  static constexpr Decimal from_int64(int64_t i) {
    Decimal d;
    d.is_negative_ = i < 0;
    d.coefficient_ = i < 0 ? 0 - static_cast<uint64_t>(i) : static_cast<uint64_t>(i);
    return d;
  }
  // coefficient * 10^exponent; any 64-bit coefficient and any exponent in range.
  static constexpr Decimal from_scaled(int64_t coefficient, int32_t exponent) {
    Decimal d = from_int64(coefficient);
    d.exponent_ = exponent;
    return d;
  }
  // At most 15 significant digits, as FLOAT becomes text or DECIMAL: 0.1 is 0.1, 1e20 has scale 0.
  static Decimal from_double(double d);
  static constexpr Decimal infinity(bool is_negative) {
    return special(Form::kInfinity, is_negative);
  }
  static constexpr Decimal nan() { return special(Form::kNan, false); }

  // [+-]digits[.digits][E[+-]digits], INF, INFINITY or NAN in any case; nothing around it. More
  // than 34 digits round half-even. False: not a number, or above the exponent range.
  static bool parse(std::string_view text, Decimal& out);

  bool is_finite() const { return form_ == Form::kFinite; }
  bool is_infinite() const { return form_ == Form::kInfinity; }
  bool is_nan() const { return form_ == Form::kNan; }
  bool is_negative() const { return is_negative_; }
  bool is_zero() const { return form_ == Form::kFinite && coefficient_ == 0; }
  bool is_integer() const;  // finite without a fraction: 3, 3.00, 3E+5
  int sign() const { return is_zero() || is_nan() ? 0 : is_negative_ ? -1 : 1; }
  Coefficient coefficient() const { return coefficient_; }
  int32_t exponent() const { return exponent_; }
  int32_t scale() const { return -exponent_; }  // negative for 3E+5
  int digits() const;                           // of the coefficient; zero has one

  // What CAST to CHARACTER and messages show. Plain digits that keep the scale (0.480, 1.50), or
  // exponent form (3.3e-3) when the exponent is above 0, the first digit is beyond the sixth
  // decimal place, or there are more than 34 decimal places. INF, -INF, NAN.
  std::string to_text() const;
  // IEEE 754 to-scientific-string: as to_text() with a capital E, without the rule of 34 places.
  std::string to_scientific_text() const;
  // Never an exponent. At most `length_max` characters; longer: the exponent form.
  std::string to_plain_text(size_t length_max = 4096) const;

  Decimal negated() const;  // 0 stays 0, as IEEE minus does
  Decimal absolute() const;
  // Floor, ceiling and truncation to scale 0; a value that has no fraction is returned as it is.
  Decimal floor() const { return to_integral(Rounding::kFloor); }
  Decimal ceil() const { return to_integral(Rounding::kCeiling); }
  Decimal truncate() const { return to_integral(Rounding::kDown); }
  Decimal to_integral(Rounding mode) const;
  // To exactly `scale` decimal places, negative = left of the point (1234 to -2 is 12E+2). INF when
  // that needs more than 34 digits.
  Decimal round_to_scale(int64_t scale, Rounding mode = Rounding::kHalfEven) const;
  // The ESQL TRUNCATE: drops digits beyond `scale` places, adds none.
  Decimal truncate_to_scale(int64_t scale) const;
  // DECIMAL(precision, scale); false when the rounded value needs more than `precision` digits.
  // Scale -1 = not stated: rounds to `precision` digits.
  bool rescale(int32_t precision, int32_t scale, Decimal& out) const;
  // Times 10^power, exactly; INF above the range, zero or rounded below it.
  Decimal scaled_by(int64_t power) const;
  Decimal without_trailing_zeros() const;  // 1.500 -> 1.5, 100 stays 100
  // Half-even. False: not finite or outside 64 bits.
  bool to_int64(int64_t& out, Rounding mode = Rounding::kHalfEven) const;
  double to_double() const;  // nearest; +-INF beyond the range of FLOAT

  static Status add(const Decimal& a, const Decimal& b, Decimal& out);
  static Status subtract(const Decimal& a, const Decimal& b, Decimal& out);
  static Status multiply(const Decimal& a, const Decimal& b, Decimal& out);
  // Exact with the scale of IEEE 754 when the quotient ends within 34 digits: 1/4 = 0.25, 6/2 = 3.
  static Status divide(const Decimal& a, const Decimal& b, Decimal& out);
  // Sign of the dividend, |result| < |b|; an error when the quotient has more than 34 digits.
  static Status remainder(const Decimal& a, const Decimal& b, Decimal& out);
  static Status square_root(const Decimal& a, Decimal& out);
  // Exact when the result fits 34 digits, else within one unit of the last place for |n| <= 1,000.
  static Status power(const Decimal& a, int64_t n, Decimal& out);
  static Ordering compare(const Decimal& a, const Decimal& b);

 private:
  friend struct DecimalMath;
  friend struct Value;
  enum class Form : uint8_t { kFinite, kInfinity, kNan };
  static constexpr Decimal special(Form form, bool is_negative) {
    Decimal d;
    d.form_ = form;
    d.is_negative_ = is_negative;
    return d;
  }
  Coefficient coefficient_ = 0;  // below 10^34
  int32_t exponent_ = 0;
  Form form_ = Form::kFinite;
  bool is_negative_ = false;
};
static_assert(sizeof(Decimal) == 32);

namespace internal {
inline constexpr int64_t kInt64Powers[19] = {1,
                                             10,
                                             100,
                                             1000,
                                             10'000,
                                             100'000,
                                             1'000'000,
                                             10'000'000,
                                             100'000'000,
                                             1'000'000'000,
                                             10'000'000'000,
                                             100'000'000'000,
                                             1'000'000'000'000,
                                             10'000'000'000'000,
                                             100'000'000'000'000,
                                             1'000'000'000'000'000,
                                             10'000'000'000'000'000,
                                             100'000'000'000'000'000,
                                             1'000'000'000'000'000'000};
// Far from the ends of the exponent range, so that no result of a fast path can leave it.
inline bool has_small_exponents(const Value& a, const Value& b) {
  constexpr int32_t kLimit = 1'000'000;
  int32_t ea = a.inline_exponent(), eb = b.inline_exponent();
  return ea <= kLimit && ea >= -kLimit && eb <= kLimit && eb >= -kLimit;
}
// Gives both coefficients the smaller exponent.
inline bool align_inline(const Value& a, const Value& b, int64_t& ca, int64_t& cb, int32_t& exp) {
  if (!a.is_inline_decimal() || !b.is_inline_decimal()) return false;
  ca = a.integer;
  cb = b.integer;
  int32_t ea = a.inline_exponent(), eb = b.inline_exponent();
  exp = ea;
  if (ea == eb) return has_small_exponents(a, b);
  if (!has_small_exponents(a, b)) return false;
  int32_t gap = ea > eb ? ea - eb : eb - ea;
  if (gap > 18) return false;
  exp = ea > eb ? eb : ea;
  int64_t& wide = ea > eb ? ca : cb;
  return !__builtin_mul_overflow(wide, kInt64Powers[gap], &wide);
}
}  // namespace internal

// Exact results of two inline decimals; false = not both inline, or the result does not fit inline.
inline bool try_add_inline(const Value& a, const Value& b, Value& out) {
  int64_t ca, cb, sum;
  int32_t exp;
  if (!internal::align_inline(a, b, ca, cb, exp)) return false;
  if (__builtin_add_overflow(ca, cb, &sum)) return false;
  out = Value::make_inline_decimal(sum, exp);
  return true;
}
inline bool try_subtract_inline(const Value& a, const Value& b, Value& out) {
  int64_t ca, cb, difference;
  int32_t exp;
  if (!internal::align_inline(a, b, ca, cb, exp)) return false;
  if (__builtin_sub_overflow(ca, cb, &difference)) return false;
  out = Value::make_inline_decimal(difference, exp);
  return true;
}
inline bool try_multiply_inline(const Value& a, const Value& b, Value& out) {
  int64_t product;
  if (!a.is_inline_decimal() || !b.is_inline_decimal()) return false;
  if (!internal::has_small_exponents(a, b)) return false;
  if (__builtin_mul_overflow(a.integer, b.integer, &product)) return false;
  out = Value::make_inline_decimal(product, a.inline_exponent() + b.inline_exponent());
  return true;
}
// `order` is negative, 0 or positive.
inline bool try_compare_inline(const Value& a, const Value& b, int& order) {
  int64_t ca, cb;
  int32_t exp;
  if (!internal::align_inline(a, b, ca, cb, exp)) return false;
  order = (ca > cb) - (ca < cb);
  return true;
}

}  // namespace millstream::value
