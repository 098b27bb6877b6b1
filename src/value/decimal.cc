#include "value/decimal.h"

#include <charconv>
#include <cmath>
#include <limits>

#include "base/arena.h"
#include "value/decimal_internal.h"

namespace millstream::value {

using internal::count_digits;
using internal::kWidePowers;
using internal::shorten;
using internal::U128;

Decimal Decimal::from_double(double d) {
  if (std::isnan(d)) return nan();
  if (std::isinf(d)) return infinity(d < 0);
  if (d == 0) return {};
  constexpr int kFloatDigits = 15;
  char buffer[40];
  auto end = std::to_chars(buffer, buffer + sizeof buffer, std::fabs(d),
                           std::chars_format::scientific, kFloatDigits - 1)
                 .ptr;
  U128 c = static_cast<U128>(buffer[0] - '0');
  const char* p = buffer + 2;  // behind "d."
  for (; *p != 'e'; ++p) c = c * 10 + static_cast<U128>(*p - '0');
  int exponent = 0;
  ++p;
  if (*p == '+') ++p;
  std::from_chars(p, end, exponent);
  exponent -= kFloatDigits - 1;
  exponent += static_cast<int>(internal::strip_zeros(c, kFloatDigits));
  if (exponent > 0 && count_digits(c) + exponent <= kMaxDigits) {
    c *= kWidePowers.at[exponent];
    exponent = 0;
  }
  return DecimalMath::make(d < 0, c, exponent);
}

int Decimal::digits() const { return count_digits(coefficient_); }

bool Decimal::is_integer() const {
  if (form_ != Form::kFinite) return false;
  if (exponent_ >= 0 || coefficient_ == 0) return true;
  if (-static_cast<int64_t>(exponent_) > kMaxDigits) return false;
  return coefficient_ % kWidePowers.at[-exponent_] == 0;
}

Decimal Decimal::negated() const {
  Decimal d = *this;
  if (form_ == Form::kNan) return d;
  d.is_negative_ = !is_zero() && !is_negative_;
  return d;
}

Decimal Decimal::absolute() const {
  Decimal d = *this;
  d.is_negative_ = false;
  return d;
}

Decimal Decimal::to_integral(Rounding mode) const {
  if (form_ != Form::kFinite || exponent_ >= 0) return *this;
  U128 c = shorten(coefficient_, -static_cast<int64_t>(exponent_), false, mode, is_negative_);
  return DecimalMath::make(is_negative_, c, 0);
}

Decimal Decimal::round_to_scale(int64_t scale, Rounding mode) const {
  if (form_ != Form::kFinite) return *this;
  if (scale > -static_cast<int64_t>(kTiny) || scale < -static_cast<int64_t>(kMaxExponent)) {
    return infinity(is_negative_);
  }
  int64_t target = -scale;
  U128 c = coefficient_;
  if (c != 0 && target < exponent_) {
    int64_t missing = exponent_ - target;
    if (count_digits(c) + missing > kMaxDigits) return infinity(is_negative_);
    c *= kWidePowers.at[missing];
  } else {
    c = shorten(c, target - exponent_, false, mode, is_negative_);
  }
  if (c != 0 && target + count_digits(c) - 1 > kMaxExponent) return infinity(is_negative_);
  return DecimalMath::make(is_negative_, c, target);
}

Decimal Decimal::truncate_to_scale(int64_t scale) const {
  if (form_ != Form::kFinite || -static_cast<int64_t>(exponent_) <= scale) return *this;
  return round_to_scale(scale, Rounding::kDown);
}

bool Decimal::rescale(int32_t precision, int32_t scale, Decimal& out) const {
  if (form_ != Form::kFinite) {
    out = *this;
    return true;
  }
  if (precision > kMaxDigits) precision = kMaxDigits;
  if (scale == -1) {
    out = *this;
    int64_t excess = digits() - precision;
    if (excess <= 0) return true;
    out.coefficient_ = shorten(coefficient_, excess, false, Rounding::kHalfEven, is_negative_);
    int64_t exponent = exponent_ + excess;
    if (count_digits(out.coefficient_) > precision) {
      out.coefficient_ /= 10;
      ++exponent;
    }
    return DecimalMath::finish(is_negative_, out.coefficient_, exponent, false, out);
  }
  out = round_to_scale(scale);
  return out.is_finite() && (out.coefficient_ == 0 || out.digits() <= precision);
}

Decimal Decimal::scaled_by(int64_t power) const {
  if (form_ != Form::kFinite) return *this;
  constexpr int64_t kFarAway = 4'000'000'000;
  power = power > kFarAway ? kFarAway : power < -kFarAway ? -kFarAway : power;
  Decimal out;
  bool fits = DecimalMath::finish(is_negative_, coefficient_, exponent_ + power, false, out);
  return fits ? out : infinity(is_negative_);
}

Decimal Decimal::without_trailing_zeros() const {
  if (form_ != Form::kFinite || exponent_ >= 0) return *this;
  Decimal d = *this;
  if (coefficient_ == 0) {
    d.exponent_ = 0;
    return d;
  }
  d.exponent_ +=
      static_cast<int32_t>(internal::strip_zeros(d.coefficient_, -static_cast<int64_t>(exponent_)));
  return d;
}

bool Decimal::to_int64(int64_t& out, Rounding mode) const {
  if (form_ != Form::kFinite) return false;
  Decimal whole = to_integral(mode);
  if (whole.coefficient_ == 0) {
    out = 0;
    return true;
  }
  if (whole.exponent_ > 0) {
    if (count_digits(whole.coefficient_) + static_cast<int64_t>(whole.exponent_) > 19) return false;
    whole.coefficient_ *= kWidePowers.at[whole.exponent_];
  }
  constexpr U128 kLimit = static_cast<U128>(1) << 63;
  if (whole.coefficient_ > (is_negative_ ? kLimit : kLimit - 1)) return false;
  uint64_t magnitude = static_cast<uint64_t>(whole.coefficient_);
  out = static_cast<int64_t>(is_negative_ ? 0 - magnitude : magnitude);
  return true;
}

double Decimal::to_double() const {
  if (form_ == Form::kNan) return std::numeric_limits<double>::quiet_NaN();
  double magnitude;
  constexpr double kExactPowers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                     1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                     1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
  if (form_ == Form::kInfinity || (coefficient_ != 0 && exponent_ > 400)) {
    magnitude = std::numeric_limits<double>::infinity();
  } else if (coefficient_ == 0 || exponent_ < -500) {
    magnitude = 0;
  } else if (coefficient_ <= (1ull << 53) && exponent_ <= 22 && exponent_ >= -22) {
    // Both numbers are exact, so the one operation rounds correctly.
    double c = static_cast<double>(static_cast<uint64_t>(coefficient_));
    magnitude = exponent_ < 0 ? c / kExactPowers[-exponent_] : c * kExactPowers[exponent_];
  } else {
    std::string text = absolute().to_scientific_text();
    auto parsed = std::from_chars(text.data(), text.data() + text.size(), magnitude);
    if (parsed.ec == std::errc::result_out_of_range) {
      bool is_large = digits() + exponent_ > 0;
      magnitude = is_large ? std::numeric_limits<double>::infinity() : 0;
    }
  }
  return is_negative_ ? -magnitude : magnitude;
}

Ordering Decimal::compare(const Decimal& a, const Decimal& b) {
  if (a.is_nan() || b.is_nan()) return Ordering::kUnordered;
  int sign_a = a.sign(), sign_b = b.sign();
  if (sign_a != sign_b) return sign_a < sign_b ? Ordering::kLess : Ordering::kGreater;
  if (sign_a == 0) return Ordering::kEqual;
  int order = 0;  // of the magnitudes
  if (!a.is_finite() || !b.is_finite()) {
    order = static_cast<int>(a.is_infinite()) - static_cast<int>(b.is_infinite());
  } else {
    int64_t first_a = static_cast<int64_t>(a.exponent_) + a.digits();
    int64_t first_b = static_cast<int64_t>(b.exponent_) + b.digits();
    order = (first_a > first_b) - (first_a < first_b);
    if (order == 0) {  // the same number of digits before the point, so the gap is below 34
      U128 ca = a.coefficient_, cb = b.coefficient_;
      int32_t gap = a.exponent_ - b.exponent_;
      if (gap > 0) ca *= kWidePowers.at[gap];
      if (gap < 0) cb *= kWidePowers.at[-gap];
      order = (ca > cb) - (ca < cb);
    }
  }
  order *= sign_a;
  return order < 0 ? Ordering::kLess : order > 0 ? Ordering::kGreater : Ordering::kEqual;
}

Value Value::make_decimal(const Decimal& d, base::Arena& arena) {
  static constexpr Decimal kPositiveInfinity = Decimal::infinity(false);
  static constexpr Decimal kNegativeInfinity = Decimal::infinity(true);
  static constexpr Decimal kNotANumber = Decimal::nan();
  constexpr U128 kInlineMax = static_cast<U128>(INT64_MAX);
  if (d.is_finite() && d.coefficient_ <= kInlineMax) {
    int64_t c = static_cast<int64_t>(d.coefficient_);
    return make_inline_decimal(d.is_negative_ ? -c : c, d.exponent_);
  }
  Value v;
  v.kind = Kind::kDecimal;
  if (d.is_finite()) {
    v.decimal = arena.make<Decimal>(d);
  } else if (d.is_nan()) {
    v.decimal = &kNotANumber;
  } else {
    v.decimal = d.is_negative_ ? &kNegativeInfinity : &kPositiveInfinity;
  }
  return v;
}

Decimal Value::as_decimal() const {
  if (qualifier == 1) return Decimal::from_scaled(integer, inline_exponent());
  return *decimal;
}

}  // namespace millstream::value
