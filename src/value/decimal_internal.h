// 128- and 256-bit helpers behind value::Decimal; not an interface for other folders.
// Thread: any.
#pragma once
#include <cstdint>

#include "value/decimal.h"

namespace millstream::value::internal {

using U128 = unsigned __int128;
struct U256 {
  U128 high = 0;
  U128 low = 0;
};

// 10^0 ... 10^38, all that fit 128 bits.
struct WidePowers {
  U128 at[39];
  constexpr WidePowers() : at{} {
    at[0] = 1;
    for (int i = 1; i < 39; ++i) at[i] = at[i - 1] * 10;
  }
};
inline constexpr WidePowers kWidePowers;
inline constexpr int kWideDigits = 38;

int count_digits(U128 n);  // 0 has one
U256 multiply_wide(U128 a, U128 b);
// Needs n.high < divisor, which is to say that the quotient fits 128 bits.
U128 divide_wide(U256 n, U128 divisor, U128& remainder);
U256 add_wide(U256 a, U256 b);
U256 subtract_wide(U256 a, U256 b);  // a >= b
bool is_less_wide(U256 a, U256 b);
void divide_128(U128 n, U128 divisor, U128& quotient, U128& remainder);

// c / 10^count rounded; `sticky` says that something nonzero was cut off below c before.
U128 shorten(U128 c, int64_t count, bool sticky, Rounding mode, bool is_negative);
// Divides by 10 while it is exact, at most `count_max` times; returns how often.
int64_t strip_zeros(U128& c, int64_t count_max);

}  // namespace millstream::value::internal

namespace millstream::value {

// Access to the parts of Decimal for the files that implement it.
struct DecimalMath {
  using U128 = internal::U128;
  // Any exponent and coefficient; the caller vouches for the range.
  static Decimal make(bool is_negative, U128 coefficient, int64_t exponent) {
    Decimal d;
    d.is_negative_ = is_negative;
    d.coefficient_ = coefficient;
    d.exponent_ = static_cast<int32_t>(exponent);
    return d;
  }
  // Rounds to 34 digits and the exponent range; false: overflow.
  static bool finish(bool is_negative, U128 coefficient, int64_t exponent, bool sticky,
                     Decimal& out);
};

}  // namespace millstream::value
