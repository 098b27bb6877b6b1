// Calendar conversions and the fields of datetime values.
#include "value/datetime.h"
#include "value/errors_gen.h"

namespace millstream::value {

int64_t floor_div(int64_t a, int64_t b) {
  int64_t q = a / b;
  return (a % b != 0 && (a < 0) != (b < 0)) ? q - 1 : q;
}

int64_t floor_mod(int64_t a, int64_t b) {
  int64_t r = a % b;
  return (r != 0 && (r < 0) != (b < 0)) ? r + b : r;
}

bool is_leap_year(int64_t year) { return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0); }

int days_in_month(int64_t year, int month) {
  constexpr int kDays[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  return month == 2 && is_leap_year(year) ? 29 : kDays[month - 1];
}

// Counts from March, so that the leap day is the last of its year; 400 years are 146,097 days.
int64_t days_from_civil(int64_t year, int month, int day) {
  if (month <= 2) --year;
  int64_t era = floor_div(year, 400);
  int64_t year_of_era = year - era * 400;
  int64_t day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
  int64_t day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
  return era * 146097 + day_of_era - 719468;
}

DateTimeFields civil_from_days(int64_t days) {
  days += 719468;
  int64_t era = floor_div(days, 146097);
  int64_t day_of_era = days - era * 146097;
  int64_t year_of_era =
      (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
  int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  int64_t month_index = (5 * day_of_year + 2) / 153;
  DateTimeFields f;
  f.day = static_cast<int32_t>(day_of_year - (153 * month_index + 2) / 5 + 1);
  f.month = static_cast<int32_t>(month_index < 10 ? month_index + 3 : month_index - 9);
  f.year = static_cast<int32_t>(year_of_era + era * 400 + (f.month <= 2 ? 1 : 0));
  return f;
}

bool are_valid_fields(const DateTimeFields& f) {
  return f.year >= kMinYear && f.year <= kMaxYear && f.month >= 1 && f.month <= 12 && f.day >= 1 &&
         f.day <= days_in_month(f.year, f.month) && f.hour >= 0 && f.hour <= 23 && f.minute >= 0 &&
         f.minute <= 59 && f.second >= 0 && f.second <= 59 && f.micros >= 0 &&
         f.micros < kMicrosPerSecond;
}

int day_of_week(int64_t days) { return static_cast<int>(floor_mod(days + 4, 7)) + 1; }

int day_of_year(int64_t days) {
  return static_cast<int>(days - days_from_civil(civil_from_days(days).year, 1, 1)) + 1;
}

// The Sunday that begins the week of January 1st.
static int64_t first_week_start(int64_t year) {
  int64_t january_first = days_from_civil(year, 1, 1);
  return january_first - (day_of_week(january_first) - 1);
}

int64_t week_year(int64_t days) {
  int64_t year = civil_from_days(days).year;
  return days >= first_week_start(year + 1) ? year + 1 : year;
}

int week_of_year(int64_t days) {
  return static_cast<int>((days - first_week_start(week_year(days))) / 7) + 1;
}

int week_of_month(int64_t days) {
  DateTimeFields f = civil_from_days(days);
  int first_weekday = day_of_week(days - (f.day - 1));
  return (f.day - 1 + first_weekday - 1) / 7 + 1;
}

int64_t days_from_week(int64_t year, int week, int weekday) {
  return first_week_start(year) + (week - 1) * int64_t{7} + weekday - 1;
}

int64_t iso_week_year(int64_t days) {
  int64_t monday_based = floor_mod(days + 3, 7);
  return civil_from_days(days - monday_based + 3).year;
}

int iso_week(int64_t days) {
  int64_t thursday = days - floor_mod(days + 3, 7) + 3;
  return (day_of_year(thursday) - 1) / 7 + 1;
}

DateTimeFields fields_of_timestamp(int64_t micros) {
  int64_t days = floor_div(micros, kMicrosPerDay);
  int64_t rest = micros - days * kMicrosPerDay;
  DateTimeFields f = civil_from_days(days);
  f.hour = static_cast<int32_t>(rest / kMicrosPerHour);
  f.minute = static_cast<int32_t>(rest / kMicrosPerMinute % 60);
  f.second = static_cast<int32_t>(rest / kMicrosPerSecond % 60);
  f.micros = static_cast<int32_t>(rest % kMicrosPerSecond);
  return f;
}

DateTimeFields decompose(const Value& v) {
  return v.kind == Kind::kDate ? civil_from_days(v.integer) : fields_of_timestamp(v.integer);
}

int64_t time_of_fields(const DateTimeFields& f) {
  return f.hour * kMicrosPerHour + f.minute * kMicrosPerMinute + f.second * kMicrosPerSecond +
         f.micros;
}

int64_t timestamp_of_fields(const DateTimeFields& f) {
  return days_from_civil(f.year, f.month, f.day) * kMicrosPerDay + time_of_fields(f);
}

Status check_date(int64_t days) {
  if (days >= kMinDays && days <= kMaxDays) return {};
  return base::make_error(errors::kDateTimeRange);
}

Status check_timestamp(int64_t micros) { return check_date(floor_div(micros, kMicrosPerDay)); }

Result<Value> compose(Kind kind, const DateTimeFields& f) {
  auto bad = [](const char* field, int32_t n) {
    return base::make_error(errors::kDateTimeField, {field, static_cast<int64_t>(n)});
  };
  bool has_date = kind == Kind::kDate || kind == Kind::kTimestamp || kind == Kind::kGmtTimestamp;
  if (has_date) {
    if (f.year < kMinYear || f.year > kMaxYear) return bad("year", f.year);
    if (f.month < 1 || f.month > 12) return bad("month", f.month);
    if (f.day < 1 || f.day > days_in_month(f.year, f.month)) return bad("day", f.day);
  }
  if (kind == Kind::kDate) return Value::make_date(days_from_civil(f.year, f.month, f.day));
  if (f.hour < 0 || f.hour > 23) return bad("hour", f.hour);
  if (f.minute < 0 || f.minute > 59) return bad("minute", f.minute);
  if (f.second < 0 || f.second > 59) return bad("second", f.second);
  if (f.micros < 0 || f.micros >= kMicrosPerSecond) return bad("microsecond", f.micros);
  if (!has_date) return Value::make_time(kind, time_of_fields(f));
  return Value::make_timestamp(kind, timestamp_of_fields(f));
}

}  // namespace millstream::value
