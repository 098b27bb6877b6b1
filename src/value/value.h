// The scalar values of ESQL and of the message tree: 16 bytes, trivially copyable, no ownership.
//
// Character data is UTF-8, blobs are bytes; both are views that live as long as the arena or input
// buffer they point into. A decimal whose coefficient fits 64 bits is stored inline, any other as a
// pointer to a Decimal in the arena (value/decimal.h). NULL has no type of its own.
// Text is counted in Unicode code points everywhere (LENGTH, SUBSTRING, POSITION).
// Thread: any (no sharing); that of the message for what points into its arena.
#pragma once
#include <cstdint>
#include <string_view>

namespace millstream::base {
class Arena;
}

namespace millstream::value {

class Decimal;

enum class Kind : uint8_t {
  kNull,
  kBoolean,
  kInteger,
  kFloat,
  kDecimal,
  kCharacter,
  kBlob,
  kBit,
  kDate,
  kTime,
  kGmtTime,
  kTimestamp,
  kGmtTimestamp,
  kInterval,
};
std::string_view kind_name(Kind kind);  // "CHARACTER", "GMTTIMESTAMP", ...; NULL is "UNKNOWN"

// Interval qualifiers; kYear..kYearToMonth count months, the others microseconds.
enum class IntervalQualifier : uint8_t {
  kYear,
  kYearToMonth,
  kMonth,
  kDay,
  kDayToHour,
  kDayToMinute,
  kDayToSecond,
  kHour,
  kHourToMinute,
  kHourToSecond,
  kMinute,
  kMinuteToSecond,
  kSecond,
};
inline bool is_year_month(IntervalQualifier q) { return q <= IntervalQualifier::kMonth; }

struct Value {
  Kind kind = Kind::kNull;
  uint8_t qualifier = 0;  // IntervalQualifier; for kDecimal: 1 = inline (see below)
  uint16_t spare = 0;     // free for the holder (the tree keeps element flags here)
  uint32_t size = 0;  // bytes of text or blob; bits of a bit string; exponent of an inline decimal
  union {
    int64_t integer = 0;  // boolean 0/1, integer, inline decimal coefficient, date/time/interval
    double real;
    const char* data;
    const Decimal* decimal;
  };

  bool is_null() const { return kind == Kind::kNull; }
  std::string_view text() const { return {data, size}; }  // kCharacter and kBlob
  bool boolean() const { return integer != 0; }
  IntervalQualifier interval_qualifier() const { return static_cast<IntervalQualifier>(qualifier); }
  bool is_inline_decimal() const { return kind == Kind::kDecimal && qualifier == 1; }
  int32_t inline_exponent() const { return static_cast<int32_t>(size); }

  static Value null() { return {}; }
  static Value make_boolean(bool b) { return make_scalar(Kind::kBoolean, b ? 1 : 0); }
  static Value make_integer(int64_t i) { return make_scalar(Kind::kInteger, i); }
  static Value make_float(double d) {
    Value v;
    v.kind = Kind::kFloat;
    v.real = d;
    return v;
  }
  static Value make_character(std::string_view s) { return make_view(Kind::kCharacter, s); }
  static Value make_blob(std::string_view s) { return make_view(Kind::kBlob, s); }
  // `bytes` holds `bits` bits, the first in the high bit of the first byte, padded with zeros.
  static Value make_bit(const char* bytes, uint32_t bits) {
    return make_view(Kind::kBit, {bytes, bits});
  }
  // Days since 1970-01-01, proleptic Gregorian.
  static Value make_date(int64_t days) { return make_scalar(Kind::kDate, days); }
  // kTime, kGmtTime: microseconds since midnight.
  static Value make_time(Kind kind, int64_t micros) { return make_scalar(kind, micros); }
  // kTimestamp (local clock reading), kGmtTimestamp: microseconds since 1970-01-01 00:00:00.
  static Value make_timestamp(Kind kind, int64_t micros) { return make_scalar(kind, micros); }
  // Months or microseconds, by the qualifier.
  static Value make_interval(int64_t amount, IntervalQualifier q) {
    Value v = make_scalar(Kind::kInterval, amount);
    v.qualifier = static_cast<uint8_t>(q);
    return v;
  }
  static Value make_inline_decimal(int64_t coefficient, int32_t exponent) {
    Value v = make_scalar(Kind::kDecimal, coefficient);
    v.qualifier = 1;
    v.size = static_cast<uint32_t>(exponent);
    return v;
  }
  // Inline when it fits, else a copy of `d` in the arena. Defined in decimal.cc.
  static Value make_decimal(const Decimal& d, base::Arena& arena);
  // The number of a kDecimal value. Defined in decimal.cc.
  Decimal as_decimal() const;

 private:
  static Value make_scalar(Kind kind, int64_t i) {
    Value v;
    v.kind = kind;
    v.integer = i;
    return v;
  }
  static Value make_view(Kind kind, std::string_view s) {
    Value v;
    v.kind = kind;
    v.size = static_cast<uint32_t>(s.size());
    v.data = s.data();
    return v;
  }
};
static_assert(sizeof(Value) == 16);

// The same value with its text, blob or decimal copied into `arena`.
Value copy_value(const Value& v, base::Arena& arena);

}  // namespace millstream::value
