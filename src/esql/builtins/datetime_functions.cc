// EXTRACT and the CURRENT_ functions. All of one node invocation see the same instant.
#include "esql/builtin.h"
#include "esql/errors_gen.h"
#include "value/datetime.h"

namespace millstream::esql::builtins {

using value::IntervalQualifier;
using value::Kind;
using value::kMicrosPerDay;
using value::kMicrosPerMinute;
using value::kMicrosPerSecond;
using value::Value;

namespace {

int64_t local_now(const EvalContext& context) {
  return context.local_zone.to_local(context.now_gmt_micros);
}

constexpr std::string_view kExtractNames[] = {
    "YEAR",  "MONTH",      "DAY",         "HOUR",      "MINUTE",        "SECOND",
    "DAYS",  "DAYOFYEAR",  "DAYOFWEEK",   "MONTHS",    "QUARTEROFYEAR", "QUARTERS",
    "WEEKS", "WEEKOFYEAR", "WEEKOFMONTH", "ISLEAPYEAR"};

Status missing_part(ExtractPart part, const Value& v) {
  std::string type(kind_name(v.kind));
  if (v.kind == Kind::kInterval) {
    type += ' ';
    type += value::qualifier_name(v.interval_qualifier());
  }
  return base::make_error(errors::kExtractField, {kExtractNames[static_cast<size_t>(part)], type});
}

bool is_clock_part(ExtractPart part) {
  return part == ExtractPart::kHour || part == ExtractPart::kMinute || part == ExtractPart::kSecond;
}

Value clock_part(ExtractPart part, const value::DateTimeFields& f) {
  if (part == ExtractPart::kHour) return Value::make_integer(f.hour);
  if (part == ExtractPart::kMinute) return Value::make_integer(f.minute);
  return Value::make_float(f.second + f.micros / 1e6);
}

// Counts begin with 1 at 0001-01-01; weeks go from Sunday to Saturday.
Value calendar_part(ExtractPart part, int64_t days) {
  value::DateTimeFields f = value::civil_from_days(days);
  int64_t day_index = days - value::kMinDays;
  int64_t quarter = (f.month - 1) / 3 + 1;
  switch (part) {
    case ExtractPart::kYear:
      return Value::make_integer(f.year);
    case ExtractPart::kMonth:
      return Value::make_integer(f.month);
    case ExtractPart::kDay:
      return Value::make_integer(f.day);
    case ExtractPart::kDays:
      return Value::make_integer(day_index + 1);
    case ExtractPart::kDayOfYear:
      return Value::make_integer(value::day_of_year(days));
    case ExtractPart::kDayOfWeek:
      return Value::make_integer(value::day_of_week(days));
    case ExtractPart::kMonths:
      return Value::make_integer((f.year - 1) * int64_t{12} + f.month);
    case ExtractPart::kQuarterOfYear:
      return Value::make_integer(quarter);
    case ExtractPart::kQuarters:
      return Value::make_integer((f.year - 1) * int64_t{4} + quarter);
    case ExtractPart::kWeeks: {
      int64_t before = value::day_of_week(value::kMinDays) - 1;  // of the first week
      return Value::make_integer((day_index + before) / 7 + 1);
    }
    case ExtractPart::kWeekOfYear: {
      int64_t january_first = value::days_from_civil(f.year, 1, 1);
      int64_t before = value::day_of_week(january_first) - 1;
      return Value::make_integer((days - january_first + before) / 7 + 1);
    }
    case ExtractPart::kWeekOfMonth:
      return Value::make_integer(value::week_of_month(days));
    default:
      return Value::make_boolean(value::is_leap_year(f.year));
  }
}

// The field of an interval, with the sign of the whole.
Status interval_part(ExtractPart part, const Value& v, Value& out) {
  using Q = IntervalQualifier;
  struct Field {
    ExtractPart part;
    Q field;
    int64_t unit;
    int64_t modulus;  // when it is not the first field
  };
  constexpr Field kFields[] = {
      {ExtractPart::kYear, Q::kYear, 12, 0},
      {ExtractPart::kMonth, Q::kMonth, 1, 12},
      {ExtractPart::kDay, Q::kDay, kMicrosPerDay, 0},
      {ExtractPart::kHour, Q::kHour, value::kMicrosPerHour, 24},
      {ExtractPart::kMinute, Q::kMinute, kMicrosPerMinute, 60},
      {ExtractPart::kSecond, Q::kSecond, kMicrosPerSecond, 60},
  };
  Q first = value::first_field(v.interval_qualifier());
  Q last = value::last_field(v.interval_qualifier());
  for (const Field& f : kFields) {
    if (f.part != part || f.field < first || f.field > last) continue;
    if (part == ExtractPart::kSecond) {
      int64_t micros = f.field == first ? v.integer : v.integer % kMicrosPerMinute;
      out = Value::make_float(static_cast<double>(micros) / 1e6);
      return {};
    }
    int64_t units = v.integer / f.unit;
    out = Value::make_integer(f.field == first || f.modulus == 0 ? units : units % f.modulus);
    return {};
  }
  return missing_part(part, v);
}

}  // namespace

Status fn_extract(EvalContext&, std::span<const Value> args, Value& out) {
  int64_t code = args[0].kind == Kind::kInteger ? args[0].integer : -1;
  if (code < 0 || code > static_cast<int64_t>(ExtractPart::kIsLeapYear)) {
    return base::make_error(errors::kArgumentType,
                            {"EXTRACT", 1, kind_name(args[0].kind), "the name of a part"});
  }
  auto part = static_cast<ExtractPart>(code);
  const Value& v = args[1];
  if (v.kind == Kind::kInterval) return interval_part(part, v, out);
  if (!value::is_datetime(v.kind)) {
    return base::make_error(errors::kArgumentType,
                            {"EXTRACT", 2, kind_name(v.kind), "a datetime or an INTERVAL"});
  }
  bool has_time = v.kind != Kind::kDate;
  bool has_date = v.kind != Kind::kTime && v.kind != Kind::kGmtTime;
  if (is_clock_part(part)) {
    if (!has_time) return missing_part(part, v);
    out = clock_part(part, value::decompose(v));
    return {};
  }
  if (!has_date) return missing_part(part, v);
  out = calendar_part(part, has_time ? value::floor_div(v.integer, kMicrosPerDay) : v.integer);
  return {};
}

Status fn_current_date(EvalContext& context, std::span<const Value>, Value& out) {
  out = Value::make_date(value::floor_div(local_now(context), kMicrosPerDay));
  return {};
}

Status fn_current_time(EvalContext& context, std::span<const Value>, Value& out) {
  out = Value::make_time(Kind::kTime, value::floor_mod(local_now(context), kMicrosPerDay));
  return {};
}

Status fn_current_timestamp(EvalContext& context, std::span<const Value>, Value& out) {
  out = Value::make_timestamp(Kind::kTimestamp, local_now(context));
  return {};
}

Status fn_current_gmtdate(EvalContext& context, std::span<const Value>, Value& out) {
  out = Value::make_date(value::floor_div(context.now_gmt_micros, kMicrosPerDay));
  return {};
}

Status fn_current_gmttime(EvalContext& context, std::span<const Value>, Value& out) {
  out = Value::make_time(Kind::kGmtTime, value::floor_mod(context.now_gmt_micros, kMicrosPerDay));
  return {};
}

Status fn_current_gmttimestamp(EvalContext& context, std::span<const Value>, Value& out) {
  out = Value::make_timestamp(Kind::kGmtTimestamp, context.now_gmt_micros);
  return {};
}

Status fn_local_timezone(EvalContext& context, std::span<const Value>, Value& out) {
  int64_t minutes = context.local_zone.offset_at_gmt(context.now_gmt_micros) / 60;
  out = Value::make_interval(minutes * kMicrosPerMinute, IntervalQualifier::kHourToMinute);
  return {};
}

}  // namespace millstream::esql::builtins
