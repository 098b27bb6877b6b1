// Arithmetic of datetimes and intervals.
#include <cmath>

#include "value/datetime.h"
#include "value/decimal.h"
#include "value/errors_gen.h"

namespace millstream::value {
namespace {

using Q = IntervalQualifier;

// Months or microseconds in one unit of a single-field qualifier.
int64_t unit_of(Q single) {
  switch (single) {
    case Q::kYear:
      return 12;
    case Q::kMonth:
      return 1;
    case Q::kDay:
      return kMicrosPerDay;
    case Q::kHour:
      return kMicrosPerHour;
    case Q::kMinute:
      return kMicrosPerMinute;
    default:
      return kMicrosPerSecond;
  }
}

// Seconds keep their fraction; every other last field is whole.
int64_t truncate_to_qualifier(int64_t amount, Q q) {
  Q last = last_field(q);
  if (last == Q::kSecond) return amount;
  int64_t unit = unit_of(last);
  return amount / unit * unit;
}

Status mismatch(const Value& a, const Value& b, const char* op) {
  return base::make_error(errors::kDateTimeOperands, {kind_name(a.kind), kind_name(b.kind), op});
}

Status add_months(int64_t days, int64_t months, int64_t& out) {
  constexpr int64_t kMaxMonths = 2 * 12 * kMaxYear;
  if (months > kMaxMonths || months < -kMaxMonths) return base::make_error(errors::kDateTimeRange);
  DateTimeFields f = civil_from_days(days);
  int64_t total = int64_t{f.year} * 12 + (f.month - 1) + months;
  int64_t year = floor_div(total, 12);
  int month = static_cast<int>(floor_mod(total, 12)) + 1;
  if (year < kMinYear || year > kMaxYear) return base::make_error(errors::kDateTimeRange);
  int day = f.day <= days_in_month(year, month) ? f.day : days_in_month(year, month);
  out = days_from_civil(year, month, day);
  return {};
}

// Whole months from b to a, toward zero.
int64_t months_between(const Value& a, const Value& b) {
  DateTimeFields fa = decompose(a), fb = decompose(b);
  int64_t months = (fa.year - fb.year) * int64_t{12} + (fa.month - fb.month);
  int64_t rest_a = fa.day * kMicrosPerDay + time_of_fields(fa);
  int64_t rest_b = fb.day * kMicrosPerDay + time_of_fields(fb);
  if (months > 0 && rest_a < rest_b) --months;
  if (months < 0 && rest_a > rest_b) ++months;
  return months;
}

Q spanning_qualifier(Q a, Q b) {
  constexpr Q kSpan[6][6] = {
      // last: year, month, day, hour, minute, second (rows: first)
      {Q::kYear, Q::kYearToMonth, Q::kYear, Q::kYear, Q::kYear, Q::kYear},
      {Q::kMonth, Q::kMonth, Q::kMonth, Q::kMonth, Q::kMonth, Q::kMonth},
      {Q::kDay, Q::kDay, Q::kDay, Q::kDayToHour, Q::kDayToMinute, Q::kDayToSecond},
      {Q::kHour, Q::kHour, Q::kHour, Q::kHour, Q::kHourToMinute, Q::kHourToSecond},
      {Q::kMinute, Q::kMinute, Q::kMinute, Q::kMinute, Q::kMinute, Q::kMinuteToSecond},
      {Q::kSecond, Q::kSecond, Q::kSecond, Q::kSecond, Q::kSecond, Q::kSecond}};
  auto rank = [](Q single) {
    switch (single) {
      case Q::kYear:
        return 0;
      case Q::kMonth:
        return 1;
      case Q::kDay:
        return 2;
      case Q::kHour:
        return 3;
      case Q::kMinute:
        return 4;
      default:
        return 5;
    }
  };
  int first = std::min(rank(first_field(a)), rank(first_field(b)));
  int last = std::max(rank(last_field(a)), rank(last_field(b)));
  return kSpan[first][last];
}

// The product or quotient as a real number, exact to 64 bits.
Status scale_by_real(const Value& interval, long double factor, bool divide, Value& out) {
  if (divide && factor == 0) return base::make_error(errors::kIntervalDivideByZero);
  long double amount = static_cast<long double>(interval.integer);
  long double scaled = divide ? amount / factor : amount * factor;
  if (!(std::fabs(scaled) < 9.2e18L)) return base::make_error(errors::kIntervalOverflow);
  bool counts_seconds = last_field(interval.interval_qualifier()) == Q::kSecond;
  auto whole = static_cast<int64_t>(counts_seconds ? std::nearbyint(scaled) : std::trunc(scaled));
  out = Value::make_interval(truncate_to_qualifier(whole, interval.interval_qualifier()),
                             interval.interval_qualifier());
  return {};
}

}  // namespace

Status add_interval(const Value& datetime, const Value& interval, bool subtract, Value& out) {
  if (!is_datetime(datetime.kind) || interval.kind != Kind::kInterval) {
    return mismatch(datetime, interval, subtract ? "-" : "+");
  }
  if (interval.integer == INT64_MIN) return base::make_error(errors::kIntervalOverflow);
  int64_t amount = subtract ? -interval.integer : interval.integer;
  bool is_time = datetime.kind == Kind::kTime || datetime.kind == Kind::kGmtTime;
  Value result = datetime;
  if (is_year_month(interval.interval_qualifier())) {
    if (is_time) return mismatch(datetime, interval, subtract ? "-" : "+");
    if (datetime.kind == Kind::kDate) {
      MS_TRY(add_months(datetime.integer, amount, result.integer));
    } else {
      int64_t days = floor_div(datetime.integer, kMicrosPerDay);
      int64_t new_days = 0;
      MS_TRY(add_months(days, amount, new_days));
      result.integer = datetime.integer + (new_days - days) * kMicrosPerDay;
    }
  } else if (is_time) {
    result.integer = floor_mod(datetime.integer + amount % kMicrosPerDay, kMicrosPerDay);
  } else if (datetime.kind == Kind::kDate) {
    result.integer = datetime.integer + amount / kMicrosPerDay;
    MS_TRY(check_date(result.integer));
  } else {
    if (__builtin_add_overflow(datetime.integer, amount, &result.integer)) {
      return base::make_error(errors::kDateTimeRange);
    }
    MS_TRY(check_timestamp(result.integer));
  }
  out = result;
  return {};
}

Status subtract_datetimes(const Value& a, const Value& b, IntervalQualifier q, Value& out) {
  if (a.kind != b.kind || !is_datetime(a.kind)) return mismatch(a, b, "-");
  bool is_time = a.kind == Kind::kTime || a.kind == Kind::kGmtTime;
  if (is_year_month(q)) {
    if (is_time) return mismatch(a, b, "-");
    out = Value::make_interval(truncate_to_qualifier(months_between(a, b), q), q);
    return {};
  }
  int64_t micros = a.integer - b.integer;
  if (a.kind == Kind::kDate) micros *= kMicrosPerDay;
  out = Value::make_interval(truncate_to_qualifier(micros, q), q);
  return {};
}

Status add_intervals(const Value& a, const Value& b, bool subtract, Value& out) {
  if (a.kind != Kind::kInterval || b.kind != Kind::kInterval) {
    return mismatch(a, b, subtract ? "-" : "+");
  }
  Q qa = a.interval_qualifier(), qb = b.interval_qualifier();
  if (is_year_month(qa) != is_year_month(qb)) {
    return base::make_error(errors::kIntervalFamilies, {qualifier_name(qa), qualifier_name(qb)});
  }
  int64_t sum = 0;
  bool is_overflow = subtract ? __builtin_sub_overflow(a.integer, b.integer, &sum)
                              : __builtin_add_overflow(a.integer, b.integer, &sum);
  if (is_overflow) return base::make_error(errors::kIntervalOverflow);
  out = Value::make_interval(sum, spanning_qualifier(qa, qb));
  return {};
}

Status scale_interval(const Value& interval, const Value& factor, bool divide, Value& out) {
  const char* op = divide ? "/" : "*";
  if (interval.kind != Kind::kInterval) return mismatch(interval, factor, op);
  if (factor.kind == Kind::kInteger) {
    int64_t result = 0;
    if (divide) {
      if (factor.integer == 0) return base::make_error(errors::kIntervalDivideByZero);
      if (interval.integer == INT64_MIN) return base::make_error(errors::kIntervalOverflow);
      result = interval.integer / factor.integer;
    } else if (__builtin_mul_overflow(interval.integer, factor.integer, &result)) {
      return base::make_error(errors::kIntervalOverflow);
    }
    Q q = interval.interval_qualifier();
    out = Value::make_interval(truncate_to_qualifier(result, q), q);
    return {};
  }
  if (factor.kind == Kind::kFloat) return scale_by_real(interval, factor.real, divide, out);
  if (factor.kind != Kind::kDecimal) return mismatch(interval, factor, op);
  // Decimal arithmetic keeps tenths exact; 34 digits hold every product with a 19-digit interval.
  Decimal amount = Decimal::from_int64(interval.integer), number = factor.as_decimal(), scaled;
  if (!number.is_finite()) return base::make_error(errors::kIntervalOverflow);
  if (divide && number.is_zero()) return base::make_error(errors::kIntervalDivideByZero);
  MS_TRY(divide ? Decimal::divide(amount, number, scaled)
                : Decimal::multiply(amount, number, scaled));
  int64_t whole = 0;
  Q q = interval.interval_qualifier();
  Rounding mode = last_field(q) == Q::kSecond ? Rounding::kHalfEven : Rounding::kDown;
  if (!scaled.to_int64(whole, mode)) return base::make_error(errors::kIntervalOverflow);
  out = Value::make_interval(truncate_to_qualifier(whole, q), q);
  return {};
}

Status negate_interval(const Value& interval, Value& out) {
  if (interval.integer == INT64_MIN) return base::make_error(errors::kIntervalOverflow);
  out = Value::make_interval(-interval.integer, interval.interval_qualifier());
  return {};
}

bool compare_intervals(const Value& a, const Value& b, int& order) {
  if (is_year_month(a.interval_qualifier()) != is_year_month(b.interval_qualifier())) return false;
  order = (a.integer > b.integer) - (a.integer < b.integer);
  return true;
}

Status make_interval_of(int64_t count, IntervalQualifier qualifier, Value& out) {
  int64_t amount = 0;
  if (__builtin_mul_overflow(count, unit_of(first_field(qualifier)), &amount)) {
    return base::make_error(errors::kIntervalOverflow);
  }
  out = Value::make_interval(amount, qualifier);
  return {};
}

std::optional<int64_t> interval_units(const Value& interval, int64_t* micros_rest) {
  Q q = interval.interval_qualifier();
  if (first_field(q) != last_field(q)) return std::nullopt;
  int64_t unit = unit_of(q);
  if (micros_rest != nullptr) *micros_rest = interval.integer % unit;
  return interval.integer / unit;
}

Status requalify_interval(const Value& interval, IntervalQualifier q, Value& out) {
  Q from = interval.interval_qualifier();
  if (is_year_month(from) != is_year_month(q)) {
    return base::make_error(errors::kIntervalFamilies, {qualifier_name(from), qualifier_name(q)});
  }
  out = Value::make_interval(truncate_to_qualifier(interval.integer, q), q);
  return {};
}

}  // namespace millstream::value
