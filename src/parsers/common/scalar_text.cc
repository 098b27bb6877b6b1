#include "parsers/common/scalar_text.h"

#include <charconv>
#include <cmath>
#include <cstdlib>

#include "base/ascii.h"
#include "value/datetime.h"
#include "value/decimal.h"

namespace millstream::parsers {
namespace {

using value::Kind;
using value::Value;

void append_date_part(std::string& out, const value::DateTimeFields& f) {
  base::append_padded(out, f.year, 4);
  out.push_back('-');
  base::append_padded(out, f.month, 2);
  out.push_back('-');
  base::append_padded(out, f.day, 2);
}

void append_time_part(std::string& out, const value::DateTimeFields& f) {
  base::append_padded(out, f.hour, 2);
  out.push_back(':');
  base::append_padded(out, f.minute, 2);
  out.push_back(':');
  base::append_padded(out, f.second, 2);
  out.push_back('.');
  base::append_padded(out, f.micros, 6);
}

void append_datetime(std::string& out, const Value& v) {
  value::DateTimeFields f = value::decompose(v);
  bool has_date =
      v.kind == Kind::kDate || v.kind == Kind::kTimestamp || v.kind == Kind::kGmtTimestamp;
  bool has_time = v.kind != Kind::kDate;
  if (has_date) append_date_part(out, f);
  if (has_date && has_time) out.push_back('T');
  if (has_time) append_time_part(out, f);
  if (v.kind == Kind::kGmtTime || v.kind == Kind::kGmtTimestamp) out.push_back('Z');
}

// ISO 8601 duration: P1Y2M, -P3DT4H5M6.500000S.
void append_duration(std::string& out, const Value& v) {
  int64_t amount = v.integer;
  if (amount < 0) out.push_back('-');
  uint64_t n = amount < 0 ? 0 - static_cast<uint64_t>(amount) : static_cast<uint64_t>(amount);
  out.push_back('P');
  auto part = [&out](uint64_t count, char unit) {
    if (!count) return;
    out += std::to_string(count);
    out.push_back(unit);
  };
  if (value::is_year_month(v.interval_qualifier())) {
    part(n / 12, 'Y');
    part(n % 12, 'M');
    if (n == 0) out += "0M";
    return;
  }
  part(n / value::kMicrosPerDay, 'D');
  n %= value::kMicrosPerDay;
  if (n == 0) {
    if (out.back() == 'P') out += "T0S";
    return;
  }
  out.push_back('T');
  part(n / value::kMicrosPerHour, 'H');
  n %= value::kMicrosPerHour;
  part(n / value::kMicrosPerMinute, 'M');
  n %= value::kMicrosPerMinute;
  if (n == 0) return;
  out += std::to_string(n / value::kMicrosPerSecond);
  if (n % value::kMicrosPerSecond) {
    out.push_back('.');
    base::append_padded(out, static_cast<int64_t>(n % value::kMicrosPerSecond), 6);
  }
  out.push_back('S');
}

void append_double(std::string& out, double d) {
  if (std::isnan(d)) {
    out += "NaN";
  } else if (std::isinf(d)) {
    out += d < 0 ? "-INF" : "INF";
  } else {
    char buffer[40];
    auto r = std::to_chars(buffer, buffer + sizeof(buffer), d);
    out.append(buffer, static_cast<size_t>(r.ptr - buffer));
  }
}

}  // namespace

void append_integer(std::string& out, int64_t i) {
  char buffer[24];
  auto r = std::to_chars(buffer, buffer + sizeof(buffer), i);
  out.append(buffer, static_cast<size_t>(r.ptr - buffer));
}

bool append_plain_decimal(std::string& out, const Value& v) {
  if (!v.is_inline_decimal()) {
    value::Decimal d = v.as_decimal();
    if (!d.is_finite()) return false;
    int32_t e = d.exponent();
    bool is_plain = e <= kPlainZerosMax && e >= -(kPlainZerosMax + value::Decimal::kMaxDigits);
    out += is_plain ? d.to_plain_text() : d.to_scientific_text();
    return true;
  }
  int32_t exponent = v.inline_exponent();
  if (exponent > kPlainZerosMax || exponent < -kPlainZerosMax) {
    out += v.as_decimal().to_scientific_text();
    return true;
  }
  char buffer[24];
  auto r = std::to_chars(buffer, buffer + sizeof(buffer), v.integer);
  std::string_view digits(buffer, static_cast<size_t>(r.ptr - buffer));
  if (digits[0] == '-') {
    out.push_back('-');
    digits.remove_prefix(1);
  }
  if (exponent >= 0) {
    out += digits;
    if (v.integer != 0) out.append(static_cast<size_t>(exponent), '0');
    return true;
  }
  size_t scale = static_cast<size_t>(-exponent);
  if (digits.size() > scale) {
    out += digits.substr(0, digits.size() - scale);
    out.push_back('.');
    out += digits.substr(digits.size() - scale);
  } else {
    out += "0.";
    out.append(scale - digits.size(), '0');
    out += digits;
  }
  return true;
}

void append_scalar_text(std::string& out, const Value& v) {
  switch (v.kind) {
    case Kind::kNull:
      return;
    case Kind::kBoolean:
      out += v.boolean() ? "true" : "false";
      return;
    case Kind::kInteger:
      append_integer(out, v.integer);
      return;
    case Kind::kFloat:
      append_double(out, v.real);
      return;
    case Kind::kDecimal:
      if (!append_plain_decimal(out, v)) out += v.as_decimal().to_text();
      return;
    case Kind::kCharacter:
      out += v.text();
      return;
    case Kind::kBlob:
      base::append_hex(out, v.text());
      return;
    case Kind::kBit:
      base::append_bit_digits(out, v.data, v.size);
      return;
    case Kind::kInterval:
      append_duration(out, v);
      return;
    default:
      append_datetime(out, v);
      return;
  }
}

std::string scalar_text(const Value& v) {
  std::string out;
  append_scalar_text(out, v);
  return out;
}

void append_base64(std::string& out, std::string_view bytes) {
  static constexpr char kAlphabet[] =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  size_t i = 0;
  auto byte = [&](size_t at) {
    return static_cast<uint32_t>(static_cast<unsigned char>(bytes[at]));
  };
  for (; i + 3 <= bytes.size(); i += 3) {
    uint32_t w = byte(i) << 16 | byte(i + 1) << 8 | byte(i + 2);
    for (int shift = 18; shift >= 0; shift -= 6) out.push_back(kAlphabet[(w >> shift) & 63]);
  }
  size_t rest = bytes.size() - i;
  if (rest == 0) return;
  uint32_t w = byte(i) << 16 | (rest == 2 ? byte(i + 1) << 8 : 0);
  out.push_back(kAlphabet[(w >> 18) & 63]);
  out.push_back(kAlphabet[(w >> 12) & 63]);
  out.push_back(rest == 2 ? kAlphabet[(w >> 6) & 63] : '=');
  out.push_back('=');
}

}  // namespace millstream::parsers
