// Dates, times, timestamps and intervals: calendar conversions, arithmetic, and the literal text of
// ESQL (DATE '2024-01-31'). Encodings are those of value/value.h; the calendar is proleptic
// Gregorian, years 1 to 9999, and every result outside it is an error.
// Patterns of CAST ... FORMAT are in value/datetime_format.h, zones in value/time_zone.h.
// Thread: any.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "value/time_zone.h"
#include "value/value.h"

namespace millstream::value {

constexpr int64_t kMicrosPerSecond = 1'000'000;
constexpr int64_t kMicrosPerMinute = 60 * kMicrosPerSecond;
constexpr int64_t kMicrosPerHour = 60 * kMicrosPerMinute;
constexpr int64_t kMicrosPerDay = 24 * kMicrosPerHour;
constexpr int kMinYear = 1;
constexpr int kMaxYear = 9999;
constexpr int64_t kMinDays = -719'162;   // 0001-01-01
constexpr int64_t kMaxDays = 2'932'896;  // 9999-12-31

struct DateTimeFields {
  int32_t year = 1970;
  int32_t month = 1;  // 1..12
  int32_t day = 1;    // 1..31
  int32_t hour = 0;
  int32_t minute = 0;
  int32_t second = 0;
  int32_t micros = 0;
};

// Calendar.
bool is_leap_year(int64_t year);
int days_in_month(int64_t year, int month);
int64_t days_from_civil(int64_t year, int month, int day);
DateTimeFields civil_from_days(int64_t days);
bool are_valid_fields(const DateTimeFields& f);  // calendar and clock ranges
int64_t floor_div(int64_t a, int64_t b);
int64_t floor_mod(int64_t a, int64_t b);
int day_of_week(int64_t days);  // 1 = Sunday ... 7 = Saturday
int day_of_year(int64_t days);  // 1..366
// Weeks begin on Sunday and week 1 is the one that contains January 1st (the product's rule).
int week_of_year(int64_t days);   // 1..53; the last days of December may be in week 1
int64_t week_year(int64_t days);  // the year week_of_year belongs to
int week_of_month(int64_t days);  // 1..6
int64_t days_from_week(int64_t week_year, int week, int day_of_week);
// ISO 8601 weeks (Monday first, week 1 has the first Thursday).
int iso_week(int64_t days);
int64_t iso_week_year(int64_t days);

// kDate, kTime, kGmtTime, kTimestamp, kGmtTimestamp; absent parts keep their defaults.
DateTimeFields decompose(const Value& datetime);
DateTimeFields fields_of_timestamp(int64_t micros);
int64_t timestamp_of_fields(const DateTimeFields& f);
int64_t time_of_fields(const DateTimeFields& f);
// Checks the ranges; `kind` decides which fields count.
Result<Value> compose(Kind kind, const DateTimeFields& f);
Status check_timestamp(int64_t micros);
Status check_date(int64_t days);
inline bool is_datetime(Kind k) { return k >= Kind::kDate && k <= Kind::kGmtTimestamp; }

// Arithmetic. Adding months keeps the day where the month has it, else takes its last day. TIME
// wraps at midnight; DATE takes whole days of a day-second interval.
Status add_interval(const Value& datetime, const Value& interval, bool subtract, Value& out);
// a - b, both of one family; truncated toward zero to the last field of the qualifier.
Status subtract_datetimes(const Value& a, const Value& b, IntervalQualifier qualifier, Value& out);
// Both of one family (year-month or day-second); the result has the qualifier that spans both.
Status add_intervals(const Value& a, const Value& b, bool subtract, Value& out);
// `factor` is kInteger, kFloat or kDecimal. Division by zero and overflow are errors.
Status scale_interval(const Value& interval, const Value& factor, bool divide, Value& out);
Status negate_interval(const Value& interval, Value& out);
// The same length under another qualifier of its family, truncated to that one's last field.
Status requalify_interval(const Value& interval, IntervalQualifier qualifier, Value& out);
// False when one is months and the other microseconds.
bool compare_intervals(const Value& a, const Value& b, int& order);
// `count` of the first (or only) field of the qualifier, as CAST(n AS INTERVAL DAY) does.
Status make_interval_of(int64_t count, IntervalQualifier qualifier, Value& out);
// Whole units of a single-field qualifier; the fraction of SECOND is in the micros out-parameter.
std::optional<int64_t> interval_units(const Value& interval, int64_t* micros_rest);

std::string_view qualifier_name(IntervalQualifier q);                      // "DAY TO SECOND"
std::optional<IntervalQualifier> parse_qualifier(std::string_view words);  // any case and spacing
IntervalQualifier first_field(IntervalQualifier q);  // kYear, kMonth, kDay, kHour, kMinute, kSecond
IntervalQualifier last_field(IntervalQualifier q);

// Literals. `body` is what stands between the quotes: 2024-01-31, 10:00:00.123456,
// 2024-01-31 10:00:00. Strict as the language is: 4-digit year, 2-digit fields, 0 to 6 fraction
// digits.
Status parse_literal_body(Kind kind, std::string_view body, Value& out);
Status parse_interval_body(std::string_view body, IntervalQualifier qualifier, Value& out);
// Either the whole literal (TIMESTAMP '...', any case) or the bare body, with blanks around and,
// for a bare body, a 'T' between date and time. `kind` is the wanted type.
Status parse_datetime_text(Kind kind, std::string_view text, Value& out);
// INTERVAL '...' QUALIFIER, or the bare body when `expected` is given.
Status parse_interval_text(std::string_view text, const IntervalQualifier* expected, Value& out);
// DATE '2024-01-31', TIMESTAMP '2024-01-31 10:00:00.000000', INTERVAL '1-02' YEAR TO MONTH.
std::string format_literal(const Value& v);
// Only what stands between the quotes.
std::string format_literal_body(const Value& v);

}  // namespace millstream::value
