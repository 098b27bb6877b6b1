#include "value/datetime.h"

#include <doctest/doctest.h>

#include "base/arena.h"
#include "value/decimal.h"
#include "value/errors_gen.h"

namespace millstream::value {
namespace {

Value lit(Kind kind, std::string_view body) {
  Value v;
  Status s = parse_literal_body(kind, body, v);
  REQUIRE_MESSAGE(s.ok(), std::string(body));
  return v;
}

Value span(std::string_view body, IntervalQualifier q) {
  Value v;
  Status s = parse_interval_body(body, q, v);
  REQUIRE_MESSAGE(s.ok(), std::string(body));
  return v;
}

std::string shown(const Status& s, const Value& v) {
  return s.ok() ? format_literal_body(v) : s.error().code->id;
}

using Q = IntervalQualifier;

}  // namespace

TEST_CASE("calendar: every day of years 1 to 9999 converts back and has the next weekday") {
  int64_t expected = kMinDays;
  int weekday = 2;  // 0001-01-01 was a Monday
  for (int year = 1; year <= 9999; ++year) {
    for (int month = 1; month <= 12; ++month) {
      for (int day = 1; day <= days_in_month(year, month); ++day, ++expected) {
        int64_t days = days_from_civil(year, month, day);
        DateTimeFields f = civil_from_days(days);
        if (days != expected || f.year != year || f.month != month || f.day != day ||
            day_of_week(days) != weekday) {
          FAIL(year << "-" << month << "-" << day);
        }
        weekday = weekday % 7 + 1;
      }
    }
  }
  CHECK(expected - 1 == kMaxDays);
}

TEST_CASE("calendar: week numbers") {
  struct Case {
    const char* date;
    int week, week_of_month, iso;
    int64_t week_year, iso_year;
  };
  // Weeks of the United States (Sunday, January 1st) and of ISO 8601, from independent calendars.
  const Case cases[] = {
      {"2024-01-01", 1, 1, 1, 2024, 2024},   {"2023-12-31", 1, 6, 52, 2024, 2023},
      {"2023-12-30", 52, 5, 52, 2023, 2023}, {"2024-12-28", 52, 4, 52, 2024, 2024},
      {"2024-12-29", 1, 5, 52, 2025, 2024},  {"2024-12-30", 1, 5, 1, 2025, 2025},
      {"2021-01-01", 1, 1, 53, 2021, 2020},  {"2021-01-03", 2, 2, 53, 2021, 2020},
      {"2022-12-31", 53, 5, 52, 2022, 2022}, {"2024-07-15", 29, 3, 29, 2024, 2024},
  };
  for (const Case& c : cases) {
    CAPTURE(c.date);
    int64_t days = lit(Kind::kDate, c.date).integer;
    CHECK(week_of_year(days) == c.week);
    CHECK(week_year(days) == c.week_year);
    CHECK(week_of_month(days) == c.week_of_month);
    CHECK(iso_week(days) == c.iso);
    CHECK(iso_week_year(days) == c.iso_year);
    CHECK(days_from_week(c.week_year, c.week, day_of_week(days)) == days);
  }
  CHECK(day_of_year(lit(Kind::kDate, "2024-12-31").integer) == 366);
}

TEST_CASE("datetime literals: accepted and written back") {
  struct Case {
    Kind kind;
    const char* body;
    const char* literal;
  };
  const Case cases[] = {
      {Kind::kDate, "2024-01-31", "DATE '2024-01-31'"},
      {Kind::kDate, "0001-01-01", "DATE '0001-01-01'"},
      {Kind::kDate, "9999-12-31", "DATE '9999-12-31'"},
      {Kind::kTime, "10:00:00", "TIME '10:00:00.000000'"},
      {Kind::kTime, "23:59:59.123456", "TIME '23:59:59.123456'"},
      {Kind::kGmtTime, "00:00:00.5", "GMTTIME '00:00:00.500000'"},
      {Kind::kTimestamp, "2024-01-31 10:00:00.000001", "TIMESTAMP '2024-01-31 10:00:00.000001'"},
      {Kind::kTimestamp, "1969-12-31 23:59:59.999999", "TIMESTAMP '1969-12-31 23:59:59.999999'"},
      {Kind::kGmtTimestamp, "1600-02-29 00:00:00", "GMTTIMESTAMP '1600-02-29 00:00:00.000000'"},
  };
  for (const Case& c : cases) {
    Value v = lit(c.kind, c.body);
    CHECK(format_literal(v) == c.literal);
    Value again;
    REQUIRE(parse_datetime_text(c.kind, c.literal, again).ok());
    CHECK(again.integer == v.integer);
  }
}

TEST_CASE("datetime literals: refused") {
  struct Case {
    Kind kind;
    const char* body;
  };
  const Case cases[] = {
      {Kind::kDate, ""},
      {Kind::kDate, "24-01-31"},
      {Kind::kDate, "2024-1-31"},
      {Kind::kDate, "2024-02-30"},
      {Kind::kDate, "2023-02-29"},
      {Kind::kDate, "2024-13-01"},
      {Kind::kDate, "0000-01-01"},
      {Kind::kDate, "2024-01-31 "},
      {Kind::kDate, "2024-01-00"},
      {Kind::kTime, "24:00:00"},
      {Kind::kTime, "10:60:00"},
      {Kind::kTime, "10:00:60"},
      {Kind::kTime, "10:00"},
      {Kind::kTime, "10:00:00."},
      {Kind::kTime, "10:00:00.1234567"},
      {Kind::kTime, "1:00:00"},
      {Kind::kTimestamp, "2024-01-31T10:00:00"},
      {Kind::kTimestamp, "2024-01-31"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.body);
    Value v;
    Status s = parse_literal_body(c.kind, c.body, v);
    CHECK_FALSE(s.ok());
  }
  Value v;
  Status s = parse_literal_body(Kind::kDate, "2024/01/31", v);
  REQUIRE_FALSE(s.ok());
  CHECK(s.error().text == "The text '2024/01/31' is not a DATE: character 5 is not expected.");
}

TEST_CASE("datetime text: literal or bare, blanks around") {
  Value v;
  CHECK(parse_datetime_text(Kind::kDate, "  2024-01-31 ", v).ok());
  CHECK(parse_datetime_text(Kind::kTimestamp, "2024-01-31T10:00:00", v).ok());
  CHECK(parse_datetime_text(Kind::kTimestamp, "timestamp  '2024-01-31 10:00:00'", v).ok());
  CHECK(format_literal(v) == "TIMESTAMP '2024-01-31 10:00:00.000000'");
  CHECK_FALSE(parse_datetime_text(Kind::kDate, "TIMESTAMP '2024-01-31 10:00:00'", v).ok());
  CHECK_FALSE(parse_datetime_text(Kind::kDate, "DATE 2024-01-31", v).ok());
  CHECK_FALSE(parse_datetime_text(Kind::kDate, "DATE '2024-01-31' x", v).ok());
  CHECK_FALSE(parse_datetime_text(Kind::kDate, "DATE '2024-01-31", v).ok());
}

TEST_CASE("intervals: every qualifier, both ways") {
  struct Case {
    Q q;
    const char* body;
    const char* written;
  };
  const Case cases[] = {
      {Q::kYear, "10", "10"},
      {Q::kYear, "-10", "-10"},
      {Q::kYearToMonth, "2-06", "2-06"},
      {Q::kYearToMonth, "- 2-06", "-2-06"},
      {Q::kMonth, "18", "18"},
      {Q::kDay, "30", "30"},
      {Q::kDayToHour, "1 02", "1 02"},
      {Q::kDayToMinute, "1 02:30", "1 02:30"},
      {Q::kDayToSecond, "-1 02:30:15.333", "-1 02:30:15.333000"},
      {Q::kHour, "24", "24"},
      {Q::kHourToMinute, "1:30", "1:30"},
      {Q::kHourToSecond, "1:29:59", "1:29:59.000000"},
      {Q::kMinute, "+90", "90"},
      {Q::kMinuteToSecond, "89:59", "89:59.000000"},
      {Q::kSecond, "15.7", "15.700000"},
      {Q::kSecond, "0", "0.000000"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.body);
    Value v = span(c.body, c.q);
    CHECK(format_literal_body(v) == c.written);
    Value again;
    REQUIRE(parse_interval_text(format_literal(v), nullptr, again).ok());
    CHECK(again.integer == v.integer);
    CHECK(again.interval_qualifier() == c.q);
  }
  for (auto [body, q] : {std::pair{"1-6", Q::kYearToMonth},
                         {"1-12", Q::kYearToMonth},
                         {"1 24", Q::kDayToHour},
                         {"1:60", Q::kHourToMinute},
                         {"", Q::kDay},
                         {"x", Q::kDay},
                         {"1.5", Q::kDay},
                         {"1:5", Q::kHourToMinute},
                         {"1.", Q::kSecond},
                         {"999999999999999999", Q::kDay}}) {
    CAPTURE(body);
    Value v;
    Status s = parse_interval_body(body, q, v);
    REQUIRE_FALSE(s.ok());
    CHECK(s.error().code == &errors::kIntervalText);
  }
}

TEST_CASE("intervals: text of CAST") {
  Value v;
  REQUIRE(parse_interval_text("INTERVAL -'-10' YEAR", nullptr, v).ok());
  CHECK(format_literal(v) == "INTERVAL '10' YEAR");
  REQUIRE(parse_interval_text(" interval '1 02' day  to hour ", nullptr, v).ok());
  CHECK(format_literal(v) == "INTERVAL '1 02' DAY TO HOUR");
  Q hours = Q::kHour;
  REQUIRE(parse_interval_text("36", &hours, v).ok());
  CHECK(format_literal(v) == "INTERVAL '36' HOUR");
  REQUIRE(parse_interval_text("INTERVAL '1 12:59' DAY TO MINUTE", &hours, v).ok());
  CHECK(format_literal(v) == "INTERVAL '36' HOUR");
  CHECK_FALSE(parse_interval_text("INTERVAL '1' YEAR", &hours, v).ok());
  CHECK_FALSE(parse_interval_text("36", nullptr, v).ok());
  CHECK_FALSE(parse_interval_text("INTERVAL '36' FORTNIGHT", nullptr, v).ok());
  CHECK_FALSE(parse_interval_text("INTERVAL", nullptr, v).ok());
  CHECK(parse_qualifier("  Hour  to\tsecond ") == Q::kHourToSecond);
  CHECK_FALSE(parse_qualifier("").has_value());
  Value smallest = Value::make_interval(INT64_MIN, Q::kSecond);
  CHECK(format_literal_body(smallest) == "-9223372036854.775808");
}

TEST_CASE("datetime plus interval") {
  struct Case {
    Kind kind;
    const char* a;
    const char* amount;
    Q q;
    bool subtract;
    const char* expected;
  };
  const Case cases[] = {
      {Kind::kDate, "2000-03-29", "1", Q::kMonth, false, "2000-04-29"},
      {Kind::kDate, "2024-01-31", "1", Q::kMonth, false, "2024-02-29"},
      {Kind::kDate, "2023-01-31", "1", Q::kMonth, false, "2023-02-28"},
      {Kind::kDate, "2024-03-31", "1", Q::kMonth, true, "2024-02-29"},
      {Kind::kDate, "2024-02-29", "1", Q::kYear, false, "2025-02-28"},
      {Kind::kDate, "1953-06-01", "65", Q::kYear, false, "2018-06-01"},
      {Kind::kDate, "2024-01-15", "2-11", Q::kYearToMonth, true, "2021-02-15"},
      {Kind::kDate, "2024-12-31", "1", Q::kDay, false, "2025-01-01"},
      {Kind::kDate, "2024-12-31", "47:59", Q::kHourToMinute, false, "2025-01-01"},
      {Kind::kDate, "9999-12-31", "1", Q::kDay, false, "MS1201"},
      {Kind::kDate, "0001-01-01", "1", Q::kDay, true, "MS1201"},
      {Kind::kDate, "9999-01-01", "1", Q::kYear, false, "MS1201"},
      {Kind::kDate, "2024-01-01", "99999999999", Q::kYear, false, "MS1201"},
      {Kind::kTimestamp, "1999-12-31 23:59:59", "1", Q::kSecond, false,
       "2000-01-01 00:00:00.000000"},
      {Kind::kTimestamp, "2024-01-31 10:00:00.5", "1", Q::kMonth, false,
       "2024-02-29 10:00:00.500000"},
      {Kind::kTimestamp, "1969-12-31 23:00:00", "1", Q::kMonth, true, "1969-11-30 23:00:00.000000"},
      {Kind::kTimestamp, "9999-12-31 23:59:59", "1", Q::kSecond, false, "MS1201"},
      {Kind::kTimestamp, "2024-01-01 00:00:00", "9000000000000", Q::kSecond, false, "MS1201"},
      {Kind::kTime, "23:30:00", "1", Q::kHour, false, "00:30:00.000000"},
      {Kind::kTime, "00:30:00", "49", Q::kHour, true, "23:30:00.000000"},
      {Kind::kGmtTime, "10:00:00", "0.000001", Q::kSecond, true, "09:59:59.999999"},
      {Kind::kTime, "10:00:00", "1", Q::kMonth, false, "MS1205"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.a);
    CAPTURE(c.amount);
    Value out;
    Status s = add_interval(lit(c.kind, c.a), span(c.amount, c.q), c.subtract, out);
    CHECK(shown(s, out) == c.expected);
  }
  Value out;
  CHECK_FALSE(add_interval(Value::make_integer(1), span("1", Q::kDay), false, out).ok());
}

TEST_CASE("datetime minus datetime") {
  struct Case {
    Kind kind;
    const char* a;
    const char* b;
    Q q;
    const char* expected;
  };
  const Case cases[] = {
      {Kind::kDate, "2024-03-01", "2024-02-01", Q::kDay, "29"},
      {Kind::kDate, "2024-02-01", "2024-03-01", Q::kDay, "-29"},
      {Kind::kDate, "2024-03-01", "2023-02-01", Q::kYearToMonth, "1-01"},
      {Kind::kDate, "2024-02-28", "2023-03-01", Q::kMonth, "11"},
      {Kind::kDate, "2024-02-28", "2022-03-01", Q::kYear, "1"},
      {Kind::kDate, "2023-03-01", "2024-02-28", Q::kMonth, "-11"},
      {Kind::kDate, "2024-02-28", "2024-02-27", Q::kHour, "24"},
      {Kind::kTimestamp, "2024-01-02 00:00:00", "2024-01-01 10:30:15.25", Q::kDayToSecond,
       "0 13:29:44.750000"},
      {Kind::kTimestamp, "2024-01-02 00:00:00", "2024-01-01 10:30:15.25", Q::kHour, "13"},
      {Kind::kTimestamp, "2024-01-01 10:30:15.25", "2024-01-02 00:00:00", Q::kMinute, "-809"},
      {Kind::kTimestamp, "2024-02-01 09:00:00", "2024-01-01 10:00:00", Q::kMonth, "0"},
      {Kind::kTime, "10:00:00", "09:59:59.5", Q::kSecond, "0.500000"},
      {Kind::kTime, "10:00:00", "09:59:59.5", Q::kMonth, "MS1205"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.a);
    Value out;
    Status s = subtract_datetimes(lit(c.kind, c.a), lit(c.kind, c.b), c.q, out);
    CHECK(shown(s, out) == c.expected);
  }
  Value out;
  CHECK_FALSE(
      subtract_datetimes(lit(Kind::kDate, "2024-01-01"), lit(Kind::kTime, "10:00:00"), Q::kDay, out)
          .ok());
}

TEST_CASE("interval with interval and with numbers") {
  Value out;
  REQUIRE(add_intervals(span("2 01", Q::kDayToHour), span("123:59", Q::kMinuteToSecond), false, out)
              .ok());
  CHECK(format_literal(out) == "INTERVAL '2 03:03:59.000000' DAY TO SECOND");
  REQUIRE(add_intervals(span("1", Q::kYear), span("7", Q::kMonth), true, out).ok());
  CHECK(format_literal(out) == "INTERVAL '0-05' YEAR TO MONTH");
  REQUIRE(add_intervals(span("1", Q::kHour), span("2", Q::kHour), false, out).ok());
  CHECK(format_literal(out) == "INTERVAL '3' HOUR");
  Status s = add_intervals(span("1-06", Q::kYearToMonth), span("20", Q::kDay), false, out);
  REQUIRE_FALSE(s.ok());
  CHECK(s.error().code == &errors::kIntervalFamilies);
  Value big = Value::make_interval(INT64_MAX, Q::kSecond);
  CHECK_FALSE(add_intervals(big, big, false, out).ok());

  base::Arena arena;
  Decimal third;
  REQUIRE(Decimal::parse("1.5", third));
  REQUIRE(
      scale_interval(span("9:30", Q::kMinuteToSecond), Value::make_integer(2), false, out).ok());
  CHECK(format_literal_body(out) == "19:00.000000");
  REQUIRE(scale_interval(span("3", Q::kDay), Value::make_decimal(third, arena), false, out).ok());
  CHECK(format_literal_body(out) == "4");
  REQUIRE(scale_interval(span("3", Q::kSecond), Value::make_decimal(third, arena), true, out).ok());
  CHECK(format_literal_body(out) == "2.000000");
  REQUIRE(scale_interval(span("1", Q::kSecond), Value::make_float(0.25), false, out).ok());
  CHECK(format_literal_body(out) == "0.250000");
  REQUIRE(scale_interval(span("7", Q::kMonth), Value::make_integer(2), true, out).ok());
  CHECK(format_literal_body(out) == "3");
  for (Value zero :
       {Value::make_integer(0), Value::make_float(0), Value::make_decimal({}, arena)}) {
    s = scale_interval(span("7", Q::kMonth), zero, true, out);
    REQUIRE_FALSE(s.ok());
    CHECK(s.error().code == &errors::kIntervalDivideByZero);
  }
  CHECK_FALSE(scale_interval(big, Value::make_integer(2), false, out).ok());
  CHECK_FALSE(scale_interval(big, Value::make_float(1e300), false, out).ok());
  CHECK_FALSE(
      scale_interval(span("1", Q::kDay), Value::make_float(__builtin_nan("")), false, out).ok());
  CHECK_FALSE(scale_interval(Value::make_interval(INT64_MIN, Q::kSecond), Value::make_integer(-1),
                             true, out)
                  .ok());
  CHECK_FALSE(scale_interval(big, Value::make_decimal(Decimal::nan(), arena), false, out).ok());
  REQUIRE(negate_interval(span("1 02", Q::kDayToHour), out).ok());
  CHECK(format_literal_body(out) == "-1 02");
  CHECK_FALSE(negate_interval(Value::make_interval(INT64_MIN, Q::kSecond), out).ok());
  REQUIRE(make_interval_of(-3, Q::kDay, out).ok());
  CHECK(format_literal(out) == "INTERVAL '-3' DAY");
  CHECK_FALSE(make_interval_of(INT64_MAX, Q::kDay, out).ok());
  int64_t rest = 0;
  CHECK(interval_units(span("90.5", Q::kSecond), &rest) == 90);
  CHECK(rest == 500'000);
  CHECK_FALSE(interval_units(span("1 02", Q::kDayToHour), nullptr).has_value());
  int order = 9;
  CHECK(compare_intervals(span("1", Q::kYear), span("12", Q::kMonth), order));
  CHECK(order == 0);
  CHECK_FALSE(compare_intervals(span("1", Q::kYear), span("365", Q::kDay), order));
}

TEST_CASE("compose checks the fields that the kind has") {
  DateTimeFields f;
  f.year = 2024;
  f.month = 2;
  f.day = 30;
  CHECK_FALSE(compose(Kind::kDate, f).ok());
  CHECK(compose(Kind::kTime, f).ok());
  f.day = 29;
  f.hour = 24;
  CHECK(compose(Kind::kDate, f).ok());
  auto r = compose(Kind::kTimestamp, f);
  REQUIRE_FALSE(r.ok());
  CHECK(r.error().text == "The hour 24 is out of range.");
  CHECK_FALSE(are_valid_fields(f));
}

}  // namespace millstream::value
