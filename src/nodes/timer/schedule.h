// When a Scheduler node is due: intervals on a grid, or times of a calendar in a time zone.
// Thread: any; immutable.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "value/time_zone.h"

namespace millstream::nodes::timer {

// "MON,TUE": index 0 = Sunday.
using WeekDays = std::array<bool, 7>;
Result<WeekDays> parse_week_days(std::string_view text, const std::string& node_label);

// Five fields, of which the product takes only: minute 0-59, hour 0-23 or *, day of the month 1-31
// or *, * and *.
struct CalendarTimes {
  int minute = 0;
  std::optional<int> hour, day;
};
Result<CalendarTimes> parse_calendar(std::string_view expression, const std::string& node_label);

// The first time after `now` (both GMT). A day of the month that a month does not have is left out
// there. Of a local time that occurs twice the first counts; one that is skipped is an hour later.
int64_t next_calendar_time(const CalendarTimes& times, const value::TimeZone& zone, int64_t now);

// The first point of the grid after `now` that is on one of the days; nothing when there is no day.
std::optional<int64_t> next_interval_time(int64_t first, int64_t interval_micros,
                                          const WeekDays& days, const value::TimeZone& zone,
                                          int64_t now);

}  // namespace millstream::nodes::timer
