// Timeout requests, calendars and intervals: what is read, and when it is due.
#include "nodes/timer/timer_request.h"

#include <doctest/doctest.h>

#include "nodes/timer/schedule.h"
#include "tree/assembly.h"
#include "value/datetime.h"

namespace millstream::nodes::timer {
namespace {

using value::Kind;
using value::Value;

int64_t gmt(const char* text) {
  Value v;
  REQUIRE(value::parse_literal_body(Kind::kTimestamp, text, v).ok());
  return v.integer;
}
std::string shown(int64_t micros) {
  return value::format_literal_body(Value::make_timestamp(Kind::kTimestamp, micros)).substr(0, 19);
}

struct RequestTree {
  tree::MessageArena arena{[] {
    auto names = std::make_shared<base::NameTable>();
    names->freeze();
    return names;
  }()};
  tree::Element* folder = tree::make_root(arena.context(), "TimeoutRequest");
  RequestTree(std::initializer_list<std::pair<const char*, Value>> fields) {
    for (const auto& [name, v] : fields) tree::set_child(arena.context(), folder, name, v);
  }
};

Value text(const char* s) { return Value::make_character(s); }

TEST_CASE("timeout request: what is left out means once, now, ignoring what was missed") {
  RequestTree t({{"Action", text("SET")}, {"Identifier", text("a")}});
  auto r = read_timer_request(t.folder, {}, 77);
  REQUIRE(r.ok());
  CHECK(r.value().start_micros == 77);
  CHECK(r.value().count == 1);
  CHECK(r.value().interval_s == 0);
  CHECK(r.value().ignores_missed);
  CHECK(r.value().allows_overwrite);
}

TEST_CASE("timeout request: dates and times are of the server's zone, as texts or typed") {
  const value::TimeZone paris = value::TimeZone::load("CET-1CEST,M3.5.0,M10.5.0/3").take_value();
  struct Case {
    const char* now;
    Value date, time;
    const char* start;  // GMT
  };
  const Value day = Value::make_date(value::days_from_civil(2026, 7, 1));
  const Value six = Value::make_time(Kind::kTime, 18 * value::kMicrosPerHour);
  for (const Case& c : {
           Case{"2026-01-10 08:00:00", text("2026-01-31"), text("12:00:00"), "2026-01-31 11:00:00"},
           Case{"2026-01-10 08:00:00", text("TODAY"), text("12:30:00"), "2026-01-10 11:30:00"},
           Case{"2026-01-10 08:00:00", text(""), text(" 12:30:00 "), "2026-01-10 11:30:00"},
           Case{"2026-01-10 08:00:00", day, six, "2026-07-01 16:00:00"},
           Case{"2026-01-10 08:00:00", day, text("NOW"), "2026-07-01 07:00:00"},
           Case{"2026-01-10 08:00:00", text("2026-01-10"), text("08:56:00"), "2026-01-10 08:00:00"},
           // 02:30 is skipped on 2026-03-29, and comes twice on 2026-10-25.
           Case{"2026-03-28 08:00:00", text("2026-03-29"), text("02:30:00"), "2026-03-29 01:30:00"},
           Case{"2026-10-24 08:00:00", text("2026-10-25"), text("02:30:00"), "2026-10-25 00:30:00"},
           // Just before midnight in Paris, GMT is still on the day before.
           Case{"2026-05-01 21:59:00", text("TODAY"), text("23:59:30"), "2026-05-01 21:59:30"},
           Case{"2026-05-01 22:30:00", text("TODAY"), text("23:00:00"), "2026-05-02 21:00:00"},
       }) {
    CAPTURE(c.start);
    RequestTree t({{"Action", text("SET")},
                   {"Identifier", text("a")},
                   {"StartDate", c.date},
                   {"StartTime", c.time}});
    auto r = read_timer_request(t.folder, paris, gmt(c.now));
    if (!r.ok()) FAIL(r.error().describe());
    CHECK(shown(r.value().start_micros) == c.start);
  }
}

TEST_CASE("timeout request: what cannot be meant is refused") {
  struct Case {
    const char* name;
    Value value;
    int number;
    const char* part;
  };
  for (const Case& c : {
           Case{"Action", text("set"), 1935, "Action is 'set'"},
           Case{"Action", Value::null(), 1935, "Action is missing"},
           Case{"Identifier", text("  "), 1935, "Identifier is missing"},
           Case{"StartDate", text("31.12.2026"), 1935, "yyyy-mm-dd"},
           Case{"StartDate", text("2026-02-29"), 1935, "yyyy-mm-dd"},
           Case{"StartTime", text("25:00:00"), 1935, "hh:mm:ss"},
           Case{"StartTime", Value::make_integer(3), 1935, "StartTime"},
           Case{"StartTime", text("07:54:59"), 1936, "300 seconds"},
           Case{"StartDate", text("2026-01-09"), 1936, "2026-01-09"},
           Case{"Count", text("0"), 1935, "Count is 0"},
           Case{"Count", text("2"), 1935, "Interval must be at least 1"},
           Case{"Count", text("x"), 1935, "Count is not a whole number"},
           Case{"Interval", Value::make_integer(-1), 1935, "Interval is not a whole number"},
           Case{"IgnoreMissed", text("maybe"), 1935, "neither TRUE nor FALSE"},
       }) {
    CAPTURE(c.part);
    RequestTree t({{"Action", text("SET")}, {"Identifier", text("a")}, {"StartTime", text("NOW")}});
    tree::set_child(t.arena.context(), t.folder, c.name, c.value);
    auto r = read_timer_request(t.folder, {}, gmt("2026-01-10 08:00:00"));
    REQUIRE_FALSE(r.ok());
    CHECK(r.error().number == c.number);
    CHECK(r.error().text.find(c.part) != std::string::npos);
  }
}

TEST_CASE("timeout request: missed events are skipped on the grid, and count") {
  TimerRequest r;
  r.start_micros = gmt("2026-01-01 00:00:00");
  r.interval_s = 3600;
  r.count = 10;
  r.skip_missed(gmt("2025-12-31 00:00:00"));
  CHECK(r.next_event == 0);
  r.skip_missed(gmt("2026-01-01 03:00:00"));
  CHECK(r.next_event == 3);
  r.skip_missed(gmt("2026-01-01 03:00:01"));
  CHECK(shown(r.due_micros()) == "2026-01-01 04:00:00");
  CHECK(r.events_left() == 6);
  r.skip_missed(gmt("2026-01-01 09:00:01"));
  CHECK(r.is_over());
  r.count = kForever;
  r.skip_missed(gmt("2027-01-01 00:30:00"));
  CHECK(shown(r.due_micros()) == "2027-01-01 01:00:00");
  TimerRequest once;
  once.start_micros = 5;
  once.skip_missed(6);
  CHECK(once.is_over());
}

TEST_CASE("schedule: the calendar's five fields take what the product takes") {
  for (const char* good : {"00 * * * *", "0 * * * *", "00 12 * * *", "5 5 * * *", "59 23 * * *",
                           "00 12 1 * *", " 00  12 31 * * "}) {
    CAPTURE(good);
    CHECK(parse_calendar(good, "S").ok());
  }
  for (const char* bad :
       {"* * * * *", "*/5 * * * *", "00,30 * * * *", "00-05 * * * *", "00 */2 * * *",
        "00 * * * MON", "00 * * * 1", "00 12 * 6 *", "60 * * * *", "00 24 * * *", "00 12 32 * *",
        "00 12 0 * *", "0 * * * * ?", "00 ? * * *", "30", "00 * * *", "", "-1 * * * *"}) {
    CAPTURE(bad);
    auto times = parse_calendar(bad, "S");
    REQUIRE_FALSE(times.ok());
    CHECK(times.error().number == 5063);
  }
}

TEST_CASE("schedule: calendar times through months, leap years and changes of the clock") {
  const value::TimeZone paris = value::TimeZone::load("CET-1CEST,M3.5.0,M10.5.0/3").take_value();
  struct Case {
    const char *expression, *now;
    std::initializer_list<const char*> next;  // GMT, one after the other
  };
  for (const Case& c : {
           Case{"30 * * * *",
                "2026-01-10 08:29:59",
                {"2026-01-10 08:30:00", "2026-01-10 09:30:00", "2026-01-10 10:30:00"}},
           Case{"00 00 31 * *",
                "2026-01-10 00:00:00",
                {"2026-01-30 23:00:00", "2026-03-30 22:00:00", "2026-05-30 22:00:00"}},
           Case{"15 06 29 * *",
                "2027-01-29 12:00:00",
                {"2027-03-29 04:15:00", "2027-04-29 04:15:00"}},
           Case{"00 12 * * *",
                "2026-03-27 12:00:00",
                {"2026-03-28 11:00:00", "2026-03-29 10:00:00", "2026-03-30 10:00:00"}},
           // 02:30 is skipped on 2026-03-29: it counts as 03:30.
           Case{"30 02 * * *",
                "2026-03-28 12:00:00",
                {"2026-03-29 01:30:00", "2026-03-30 00:30:00"}},
           // 02:30 comes twice on 2026-10-25: the first counts.
           Case{"30 02 * * *",
                "2026-10-24 12:00:00",
                {"2026-10-25 00:30:00", "2026-10-26 01:30:00"}},
           Case{
               "30 * * * *", "2026-03-29 00:00:00", {"2026-03-29 00:30:00", "2026-03-29 01:30:00"}},
       }) {
    CAPTURE(c.expression);
    const CalendarTimes times = parse_calendar(c.expression, "S").take_value();
    int64_t at = gmt(c.now);
    for (const char* expected : c.next) {
      at = next_calendar_time(times, paris, at);
      CHECK(shown(at) == expected);
    }
  }
}

TEST_CASE("schedule: intervals keep to their grid and to their days") {
  const value::TimeZone utc;
  const WeekDays all = parse_week_days("MON,TUE,WED,THU,FRI,SAT,SUN", "S").take_value();
  const int64_t first = gmt("2026-09-11 08:00:00");  // a Friday
  const int64_t minute = value::kMicrosPerMinute;
  CHECK(shown(*next_interval_time(first, 10 * minute, all, utc, first)) == "2026-09-11 08:10:00");
  CHECK(shown(*next_interval_time(first, 10 * minute, all, utc, gmt("2026-09-11 08:25:01"))) ==
        "2026-09-11 08:30:00");
  const WeekDays weekend = parse_week_days(" sat , SUN", "S").take_value();
  CHECK(shown(*next_interval_time(first, 7 * minute, weekend, utc, first)) ==
        "2026-09-12 00:06:00");
  CHECK(shown(*next_interval_time(first, 7 * minute, weekend, utc, gmt("2026-09-13 23:59:59"))) ==
        "2026-09-19 00:06:00");
  CHECK_FALSE(next_interval_time(first, minute, WeekDays{}, utc, first).has_value());
  auto bad = parse_week_days("MON,SOMEDAY", "S");
  REQUIRE_FALSE(bad.ok());
  CHECK(bad.error().number == 1943);
}

}  // namespace
}  // namespace millstream::nodes::timer
