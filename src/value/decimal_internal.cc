#include "value/decimal_internal.h"

namespace millstream::value::internal {

namespace {

int highest_bit(U128 n) {
  uint64_t high = static_cast<uint64_t>(n >> 64);
  if (high != 0) return 127 - __builtin_clzll(high);
  return 63 - __builtin_clzll(static_cast<uint64_t>(n) | 1);
}

// Where the part that was cut off lies: below, on or above one half.
int compare_to_half(U128 remainder, U128 unit, bool sticky) {
  U128 half = unit / 2;
  if (remainder != half) return remainder < half ? -1 : 1;
  return sticky ? 1 : 0;
}

bool rounds_away(Rounding mode, bool is_negative, bool is_odd, int half, bool is_inexact) {
  switch (mode) {
    case Rounding::kUp:
      return is_inexact;
    case Rounding::kDown:
      return false;
    case Rounding::kCeiling:
      return is_inexact && !is_negative;
    case Rounding::kFloor:
      return is_inexact && is_negative;
    case Rounding::kHalfUp:
      return half >= 0;
    case Rounding::kHalfEven:
      return half > 0 || (half == 0 && is_odd);
    case Rounding::kHalfDown:
      return half > 0;
  }
  return false;
}

// One step of schoolbook division: (r, next) / d with r < d and d's top bit set. Quotient < 2^64.
uint64_t divide_step(U128& r, uint64_t next, U128 d) {
  uint64_t d1 = static_cast<uint64_t>(d >> 64), d0 = static_cast<uint64_t>(d);
  uint64_t r1 = static_cast<uint64_t>(r >> 64);
  U128 q, rest;
  if (r1 >= d1) {
    q = static_cast<U128>(UINT64_MAX);
    rest = r - q * d1;  // below 2^65 because r < d
  } else {
    q = r / d1;
    rest = r % d1;
  }
  // The estimate is at most 2 too high.
  while ((rest >> 64) == 0 && q * d0 > ((rest << 64) | next)) {
    --q;
    rest += d1;
  }
  r = ((r << 64) | next) - q * d;  // modulo 2^128, the true remainder is below d
  return static_cast<uint64_t>(q);
}

}  // namespace

int count_digits(U128 n) {
  // 1233/4096 approximates log10(2); the estimate is exact or one too low.
  int guess = ((highest_bit(n) + 1) * 1233) >> 12;
  return guess + (n >= kWidePowers.at[guess] ? 1 : 0) + (n == 0 ? 1 : 0);
}

U256 multiply_wide(U128 a, U128 b) {
  uint64_t a1 = static_cast<uint64_t>(a >> 64), a0 = static_cast<uint64_t>(a);
  uint64_t b1 = static_cast<uint64_t>(b >> 64), b0 = static_cast<uint64_t>(b);
  U128 low = static_cast<U128>(a0) * b0;
  U128 middle1 = static_cast<U128>(a1) * b0;
  U128 middle2 = static_cast<U128>(a0) * b1;
  U128 high = static_cast<U128>(a1) * b1;
  U128 carry = (low >> 64) + static_cast<uint64_t>(middle1) + static_cast<uint64_t>(middle2);
  return {high + (middle1 >> 64) + (middle2 >> 64) + (carry >> 64),
          (carry << 64) | static_cast<uint64_t>(low)};
}

void divide_128(U128 n, U128 divisor, U128& quotient, U128& remainder) {
  if ((n >> 64) == 0 && (divisor >> 64) == 0) {
    uint64_t a = static_cast<uint64_t>(n), b = static_cast<uint64_t>(divisor);
    quotient = a / b;
    remainder = a % b;
    return;
  }
  quotient = n / divisor;
  remainder = n - quotient * divisor;
}

U128 divide_wide(U256 n, U128 divisor, U128& remainder) {
  if (n.high == 0) {
    U128 quotient;
    divide_128(n.low, divisor, quotient, remainder);
    return quotient;
  }
  int shift = 127 - highest_bit(divisor);
  U128 d = divisor << shift;
  U128 r = shift == 0 ? n.high : (n.high << shift) | (n.low >> (128 - shift));
  U128 low = n.low << shift;
  uint64_t q1 = divide_step(r, static_cast<uint64_t>(low >> 64), d);
  uint64_t q0 = divide_step(r, static_cast<uint64_t>(low), d);
  remainder = r >> shift;
  return (static_cast<U128>(q1) << 64) | q0;
}

U256 add_wide(U256 a, U256 b) {
  U128 low = a.low + b.low;
  return {a.high + b.high + (low < a.low ? 1 : 0), low};
}

U256 subtract_wide(U256 a, U256 b) {
  return {a.high - b.high - (a.low < b.low ? 1 : 0), a.low - b.low};
}

bool is_less_wide(U256 a, U256 b) { return a.high != b.high ? a.high < b.high : a.low < b.low; }

U128 shorten(U128 c, int64_t count, bool sticky, Rounding mode, bool is_negative) {
  if (count <= 0) return c;
  if (count > kWideDigits) {  // c < 2^128 is less than half of 10^39
    bool is_inexact = c != 0 || sticky;
    return rounds_away(mode, is_negative, false, -1, is_inexact) ? 1 : 0;
  }
  U128 unit = kWidePowers.at[count], quotient, remainder;
  divide_128(c, unit, quotient, remainder);
  int half = compare_to_half(remainder, unit, sticky);
  bool is_inexact = remainder != 0 || sticky;
  if (rounds_away(mode, is_negative, (quotient & 1) != 0, half, is_inexact)) ++quotient;
  return quotient;
}

int64_t strip_zeros(U128& c, int64_t count_max) {
  if (c == 0) return 0;
  int64_t stripped = 0;
  for (int step : {16, 8, 4, 2, 1}) {
    while (count_max - stripped >= step) {
      U128 quotient, remainder;
      divide_128(c, kWidePowers.at[step], quotient, remainder);
      if (remainder != 0) break;
      c = quotient;
      stripped += step;
    }
  }
  return stripped;
}

}  // namespace millstream::value::internal
