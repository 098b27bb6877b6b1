// Square root and integer powers.
#include <cmath>

#include "value/decimal_internal.h"
#include "value/errors_gen.h"

namespace millstream::value {

namespace {

using internal::count_digits;
using internal::divide_wide;
using internal::kWideDigits;
using internal::kWidePowers;
using internal::multiply_wide;
using internal::U128;
using internal::U256;

double wide_to_double(U256 n) {
  return std::ldexp(static_cast<double>(n.high), 128) + static_cast<double>(n.low);
}

bool is_above(U256 a, U256 b) { return internal::is_less_wide(b, a); }

// Floor of the square root of n, for roots below 10^36.
U128 integer_root(U256 n) {
  U128 root = static_cast<U128>(std::sqrt(wide_to_double(n)));
  if (root == 0) root = 1;
  for (int step = 0; step < 3; ++step) {  // 15 digits, 30, then all
    U128 rest;
    root = (root + divide_wide(n, root, rest)) / 2;
  }
  while (is_above(multiply_wide(root, root), n)) --root;
  while (!is_above(multiply_wide(root + 1, root + 1), n)) ++root;
  return root;
}

// A power on its way: 38 digits, rounded half-even after each step.
struct Wide {
  U128 coefficient;
  int64_t exponent;
  bool is_exact;
};

// Beyond this every further factor only leads away from the range of DECIMAL.
constexpr int64_t kHopelessExponent = 4'000'000'000;

bool is_hopeless(const Wide& w) {
  int64_t first = w.exponent + count_digits(w.coefficient);
  return first > kHopelessExponent || first < -kHopelessExponent;
}

Wide multiply_rounded(const Wide& a, const Wide& b) {
  Wide out{0, a.exponent + b.exponent, a.is_exact && b.is_exact};
  U256 product = multiply_wide(a.coefficient, b.coefficient);
  int64_t excess = count_digits(a.coefficient) + count_digits(b.coefficient) - kWideDigits;
  if (excess <= 0) {
    out.coefficient = product.low;
    return out;
  }
  U128 rest;
  out.coefficient = divide_wide(product, kWidePowers.at[excess], rest);
  U128 half = kWidePowers.at[excess] / 2;
  if (rest > half || (rest == half && (out.coefficient & 1) != 0)) ++out.coefficient;
  out.exponent += excess;
  if (out.coefficient == kWidePowers.at[kWideDigits]) {  // keeps to 38 digits
    out.coefficient /= 10;
    ++out.exponent;
  }
  out.is_exact = out.is_exact && rest == 0;
  return out;
}

Status power_overflow(const Decimal& a, int64_t n) {
  return base::make_error(errors::kDecimalOverflow,
                          {"POWER(" + a.to_text() + ", " + std::to_string(n) + ")"});
}

// a is INF, NAN or zero.
Status power_of_special(const Decimal& a, int64_t n, Decimal& out) {
  bool is_negative = a.is_negative() && (n & 1) != 0;
  if (a.is_nan()) {
    out = a;
  } else if (a.is_infinite()) {
    out = n > 0 ? Decimal::infinity(is_negative) : DecimalMath::make(is_negative, 0, 0);
  } else if (n < 0) {
    return base::make_error(errors::kDecimalDivideByZero,
                            {"POWER(" + a.to_text() + ", " + std::to_string(n) + ")"});
  } else {
    __int128 exponent = static_cast<__int128>(a.exponent()) * n;
    if (exponent > Decimal::kMaxExponent) exponent = Decimal::kMaxExponent;
    if (exponent < Decimal::kTiny) exponent = Decimal::kTiny;
    out = DecimalMath::make(is_negative, 0, static_cast<int64_t>(exponent));
  }
  return {};
}

}  // namespace

Status Decimal::square_root(const Decimal& a, Decimal& out) {
  if (a.is_nan() || (a.is_infinite() && !a.is_negative_)) {
    out = a;
    return {};
  }
  if (a.is_negative_ && !a.is_zero()) {
    return base::make_error(errors::kDecimalInvalid, {"SQRT(" + a.to_text() + ")"});
  }
  if (a.is_zero()) {
    out = DecimalMath::make(a.is_negative_, 0, a.exponent_ >> 1);
    return {};
  }
  // A root of 35 digits: one more than the precision, so that the rest decides the rounding.
  constexpr int kRootDigits = kMaxDigits + 1;
  int64_t ideal = a.exponent_ >> 1;
  bool is_odd = (a.exponent_ & 1) != 0;
  U128 c = is_odd ? a.coefficient_ * 10 : a.coefficient_;
  int64_t root_digits = (count_digits(c) + 1) / 2;
  int64_t shift = kRootDigits - root_digits;
  int64_t gap = 2 * shift;
  int64_t first = gap < kWideDigits - count_digits(c) ? gap : kWideDigits - count_digits(c);
  U256 n = multiply_wide(c * kWidePowers.at[first], kWidePowers.at[0]);
  if (gap > first) n = multiply_wide(c * kWidePowers.at[first], kWidePowers.at[gap - first]);
  U128 root = integer_root(n);
  U256 square = multiply_wide(root, root);
  bool is_exact = square.high == n.high && square.low == n.low;
  int64_t exponent = ideal - shift;
  if (is_exact) exponent += internal::strip_zeros(root, shift);
  DecimalMath::finish(false, root, exponent, !is_exact, out);
  return {};
}

Status Decimal::power(const Decimal& a, int64_t n, Decimal& out) {
  if (n == 0) {
    out = from_int64(1);
    return {};
  }
  if (!a.is_finite() || a.is_zero()) return power_of_special(a, n, out);
  bool is_negative = a.is_negative_ && (n & 1) != 0;
  uint64_t count = n < 0 ? 0 - static_cast<uint64_t>(n) : static_cast<uint64_t>(n);
  Wide result{1, 0, true};
  Wide square{a.coefficient_, a.exponent_, true};
  while (true) {
    if ((count & 1) != 0) result = multiply_rounded(result, square);
    count >>= 1;
    if (count == 0 || is_hopeless(result)) break;
    square = multiply_rounded(square, square);
    if (is_hopeless(square)) {
      result = square;
      break;
    }
  }
  if (n < 0) {
    if (result.is_exact && result.coefficient < kWidePowers.at[kMaxDigits] &&
        result.exponent >= kTiny && result.exponent <= kMaxExponent) {
      Decimal whole = DecimalMath::make(is_negative, result.coefficient, result.exponent);
      return divide(from_int64(1), whole, out);
    }
    int64_t missing = kWideDigits - count_digits(result.coefficient);
    U128 divisor = result.coefficient * kWidePowers.at[missing];  // 38 digits
    U256 one = multiply_wide(kWidePowers.at[38], kWidePowers.at[36]);
    U128 rest;
    result.coefficient = divide_wide(one, divisor, rest);  // 36 or 37 digits
    result.exponent = missing - result.exponent - 74;
    result.is_exact = rest == 0;
  }
  if (!DecimalMath::finish(is_negative, result.coefficient, result.exponent, !result.is_exact,
                           out)) {
    return power_overflow(a, n);
  }
  return {};
}

}  // namespace millstream::value
