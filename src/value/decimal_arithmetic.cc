#include "value/decimal_internal.h"
#include "value/errors_gen.h"

namespace millstream::value {

namespace {

using internal::add_wide;
using internal::count_digits;
using internal::divide_wide;
using internal::kWidePowers;
using internal::multiply_wide;
using internal::strip_zeros;
using internal::subtract_wide;
using internal::U128;
using internal::U256;

// Digits kept of an operand that dwarfs the other: enough that the far one only decides roundings.
constexpr int64_t kAlignedDigitsMax = 72;
constexpr int kReducedDigits = 37;  // of 256-bit intermediates; more than 34 with a sticky rest

std::string operation_text(const Decimal& a, const char* op, const Decimal& b) {
  return a.to_text() + " " + op + " " + b.to_text();
}

Status overflow_error(const Decimal& a, const char* op, const Decimal& b) {
  return base::make_error(errors::kDecimalOverflow, {operation_text(a, op, b)});
}

Status finish_or_overflow(bool is_negative, U128 c, int64_t exponent, bool sticky, const Decimal& a,
                          const char* op, const Decimal& b, Decimal& out) {
  if (DecimalMath::finish(is_negative, c, exponent, sticky, out)) return {};
  return overflow_error(a, op, b);
}

// c * 10^gap where the result has at most kAlignedDigitsMax digits.
U256 scale_up_wide(U128 c, int64_t gap) {
  int64_t room = internal::kWideDigits - count_digits(c);
  int64_t first = gap < room ? gap : room;
  return multiply_wide(c * kWidePowers.at[first], kWidePowers.at[gap - first]);
}

// Cuts a sum down to 128 bits; `digits` is its size or one less.
U128 reduce_wide(U256 n, int64_t digits, int64_t& exponent, bool& sticky) {
  if (n.high == 0) return n.low;
  int64_t excess = digits - kReducedDigits;
  U128 remainder;
  U128 quotient = divide_wide(n, kWidePowers.at[excess], remainder);
  sticky = sticky || remainder != 0;
  exponent += excess;
  return quotient;
}

struct Addend {
  bool is_negative;
  U128 coefficient;
  int64_t exponent;
};

// Both nonzero, high.exponent > low.exponent and the aligned number exceeds 38 digits.
bool add_far(Addend high, Addend low, Decimal& out) {
  int64_t digits = count_digits(high.coefficient);
  int64_t gap = high.exponent - low.exponent;
  if (digits + gap > kAlignedDigitsMax) {
    gap = kAlignedDigitsMax - digits;
    low.coefficient = 1;  // far below the last digit kept: only its being there matters
    low.exponent = high.exponent - gap;
  }
  U256 a = scale_up_wide(high.coefficient, gap);
  U256 b{0, low.coefficient};
  bool is_sum = high.is_negative == low.is_negative;
  U256 sum = is_sum ? add_wide(a, b) : subtract_wide(a, b);  // a has more digits than b can have
  int64_t exponent = low.exponent;
  bool sticky = false;
  U128 c = reduce_wide(sum, digits + gap, exponent, sticky);
  return DecimalMath::finish(high.is_negative, c, exponent, sticky, out);
}

bool add_finite(Addend a, Addend b, Decimal& out) {
  if (a.exponent < b.exponent) std::swap(a, b);
  int64_t gap = a.exponent - b.exponent;
  if (a.coefficient == 0) {
    if (b.coefficient == 0) b.is_negative = a.is_negative && b.is_negative;
    return DecimalMath::finish(b.is_negative, b.coefficient, b.exponent, false, out);
  }
  if (b.coefficient == 0) {  // the smaller scale is met as far as 34 digits allow
    int64_t room = Decimal::kMaxDigits - count_digits(a.coefficient);
    int64_t shift = gap < room ? gap : room;
    return DecimalMath::finish(a.is_negative, a.coefficient * kWidePowers.at[shift],
                               a.exponent - shift, false, out);
  }
  if (gap != 0) {
    if (count_digits(a.coefficient) + gap > internal::kWideDigits) return add_far(a, b, out);
    a.coefficient *= kWidePowers.at[gap];
  }
  if (a.is_negative == b.is_negative) {
    return DecimalMath::finish(a.is_negative, a.coefficient + b.coefficient, b.exponent, false,
                               out);
  }
  if (a.coefficient < b.coefficient) std::swap(a, b);
  U128 difference = a.coefficient - b.coefficient;
  bool is_negative = difference != 0 && a.is_negative;
  int64_t exponent = a.exponent < b.exponent ? a.exponent : b.exponent;
  return DecimalMath::finish(is_negative, difference, exponent, false, out);
}

Decimal add_special(const Decimal& a, const Decimal& b) {
  if (a.is_nan() || b.is_nan()) return Decimal::nan();
  if (a.is_infinite() && b.is_infinite() && a.is_negative() != b.is_negative()) {
    return Decimal::nan();
  }
  return a.is_infinite() ? a : b;
}

}  // namespace

bool DecimalMath::finish(bool is_negative, U128 c, int64_t exponent, bool sticky, Decimal& out) {
  constexpr int64_t kTop = Decimal::kMaxExponent - Decimal::kMaxDigits + 1;
  if (c == 0 && !sticky) {
    if (exponent < Decimal::kTiny) exponent = Decimal::kTiny;
    if (exponent > Decimal::kMaxExponent) exponent = Decimal::kMaxExponent;
    out = make(is_negative, 0, exponent);
    return true;
  }
  int64_t drop = count_digits(c) - Decimal::kMaxDigits;
  if (exponent + drop > kTop) return false;
  if (exponent + drop < Decimal::kTiny) drop = Decimal::kTiny - exponent;
  if (drop > 0) {
    c = internal::shorten(c, drop, sticky, Rounding::kHalfEven, is_negative);
    exponent += drop;
    if (c >= kWidePowers.at[Decimal::kMaxDigits]) {  // 99..9 became 100..0
      c /= 10;
      ++exponent;
      if (exponent > kTop) return false;
    }
  }
  out = make(is_negative, c, exponent);
  return true;
}

Status Decimal::add(const Decimal& a, const Decimal& b, Decimal& out) {
  if (!a.is_finite() || !b.is_finite()) {
    out = add_special(a, b);
    return {};
  }
  bool fits = add_finite({a.is_negative_, a.coefficient_, a.exponent_},
                         {b.is_negative_, b.coefficient_, b.exponent_}, out);
  return fits ? Status{} : overflow_error(a, "+", b);
}

Status Decimal::subtract(const Decimal& a, const Decimal& b, Decimal& out) {
  if (!a.is_finite() || !b.is_finite()) {
    Decimal minus_b = b;
    minus_b.is_negative_ = !b.is_negative_;
    out = add_special(a, minus_b);
    return {};
  }
  bool fits = add_finite({a.is_negative_, a.coefficient_, a.exponent_},
                         {!b.is_negative_, b.coefficient_, b.exponent_}, out);
  return fits ? Status{} : overflow_error(a, "-", b);
}

Status Decimal::multiply(const Decimal& a, const Decimal& b, Decimal& out) {
  bool is_negative = a.is_negative_ != b.is_negative_;
  if (!a.is_finite() || !b.is_finite()) {
    bool is_undefined = a.is_nan() || b.is_nan() || a.is_zero() || b.is_zero();
    out = is_undefined ? nan() : infinity(is_negative);
    return {};
  }
  int64_t exponent = static_cast<int64_t>(a.exponent_) + b.exponent_;
  bool sticky = false;
  U128 c;
  if ((a.coefficient_ >> 64) == 0 && (b.coefficient_ >> 64) == 0) {
    c = a.coefficient_ * b.coefficient_;
  } else {
    U256 product = multiply_wide(a.coefficient_, b.coefficient_);
    c = reduce_wide(product, count_digits(a.coefficient_) + count_digits(b.coefficient_) - 1,
                    exponent, sticky);
  }
  return finish_or_overflow(is_negative, c, exponent, sticky, a, "*", b, out);
}

Status Decimal::divide(const Decimal& a, const Decimal& b, Decimal& out) {
  bool is_negative = a.is_negative_ != b.is_negative_;
  if (a.is_nan() || b.is_nan() || (a.is_infinite() && b.is_infinite())) {
    out = nan();
    return {};
  }
  if (a.is_infinite()) {
    out = infinity(is_negative);
    return {};
  }
  if (b.is_infinite()) {
    out = DecimalMath::make(is_negative, 0, kTiny);
    return {};
  }
  if (b.coefficient_ == 0) {
    return base::make_error(errors::kDecimalDivideByZero, {operation_text(a, "/", b)});
  }
  int64_t ideal = static_cast<int64_t>(a.exponent_) - b.exponent_;
  if (a.coefficient_ == 0) return finish_or_overflow(is_negative, 0, ideal, false, a, "/", b, out);
  // One digit more than the precision; the quotient has 35 or 36 digits.
  int64_t shift = count_digits(b.coefficient_) - count_digits(a.coefficient_) + kMaxDigits + 1;
  U128 remainder;
  U128 quotient = divide_wide(scale_up_wide(a.coefficient_, shift), b.coefficient_, remainder);
  int64_t exponent = ideal - shift;
  if (remainder == 0) exponent += strip_zeros(quotient, ideal - exponent);
  return finish_or_overflow(is_negative, quotient, exponent, remainder != 0, a, "/", b, out);
}

Status Decimal::remainder(const Decimal& a, const Decimal& b, Decimal& out) {
  if (a.is_nan() || b.is_nan() || a.is_infinite()) {
    out = nan();
    return {};
  }
  if (b.is_infinite()) {
    out = a;
    return {};
  }
  if (b.coefficient_ == 0) {
    return base::make_error(errors::kDecimalDivideByZero, {operation_text(a, "MOD", b)});
  }
  int64_t gap = static_cast<int64_t>(a.exponent_) - b.exponent_;
  int64_t size_a = count_digits(a.coefficient_), size_b = count_digits(b.coefficient_);
  int64_t exponent = gap < 0 ? a.exponent_ : b.exponent_;
  if (a.coefficient_ == 0 || size_a + gap < size_b) {  // |a| < |b|
    U128 c = a.coefficient_;
    int64_t target = a.exponent_;
    if (c == 0) {
      target = exponent;
    } else if (gap > 0 && size_a + gap <= kMaxDigits) {
      c *= kWidePowers.at[gap];
      target = exponent;
    }
    return finish_or_overflow(a.is_negative_, c, target, false, a, "MOD", b, out);
  }
  if (size_a + gap - size_b > kMaxDigits) {
    return base::make_error(errors::kDecimalInvalid, {operation_text(a, "MOD", b)});
  }
  // Here -33 <= gap <= 67 and the quotient has at most 35 digits.
  U256 n{0, a.coefficient_};
  U256 d{0, b.coefficient_};
  if (gap > 0) n = scale_up_wide(a.coefficient_, gap);
  if (gap < 0) d = scale_up_wide(b.coefficient_, -gap);
  U128 rest;
  U128 quotient = d.high != 0 ? 0 : divide_wide(n, d.low, rest);
  if (d.high != 0) rest = n.low;
  if (quotient >= kWidePowers.at[kMaxDigits]) {
    return base::make_error(errors::kDecimalInvalid, {operation_text(a, "MOD", b)});
  }
  return finish_or_overflow(a.is_negative_, rest, exponent, false, a, "MOD", b, out);
}

}  // namespace millstream::value
