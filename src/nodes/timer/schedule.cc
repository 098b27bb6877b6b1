#include "nodes/timer/schedule.h"

#include <algorithm>
#include <charconv>
#include <vector>

#include "nodes/timer/errors_gen.h"
#include "text/utf8.h"
#include "value/datetime.h"

namespace millstream::nodes::timer {
namespace {

constexpr std::string_view kDayNames[] = {"SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"};
constexpr int kDaysAheadMax = 366 * 8 + 3;  // the longest wait for a 29th of February and more

std::vector<std::string_view> words_of(std::string_view text, char separator) {
  std::vector<std::string_view> words;
  while (!text.empty()) {
    const size_t end = std::min(text.find(separator), text.size());
    std::string_view word = text.substr(0, end);
    while (!word.empty() && word.front() == ' ') word.remove_prefix(1);
    while (!word.empty() && word.back() == ' ') word.remove_suffix(1);
    if (!word.empty()) words.push_back(word);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

bool parse_field(std::string_view word, int min, int max, int& out) {
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), out);
  return error == std::errc() && end == word.data() + word.size() && out >= min && out <= max;
}

bool is_day_of(const WeekDays& days, int64_t day) {
  return days[static_cast<size_t>(value::day_of_week(day) - 1)];
}

}  // namespace

Result<WeekDays> parse_week_days(std::string_view text, const std::string& node_label) {
  WeekDays days{};
  for (std::string_view word : words_of(text, ',')) {
    const auto* name = std::find_if(std::begin(kDayNames), std::end(kDayNames), [&](auto n) {
      return text::equals_ignoring_ascii_case(word, n);
    });
    if (name == std::end(kDayNames)) {
      return base::make_error(errors::kBadDays, {text, node_label, word});
    }
    days[static_cast<size_t>(name - std::begin(kDayNames))] = true;
  }
  return days;
}

Result<CalendarTimes> parse_calendar(std::string_view expression, const std::string& node_label) {
  auto bad = [&](const char* why) {
    return base::make_error(errors::kBadSchedule, {node_label, expression, why});
  };
  const std::vector<std::string_view> fields = words_of(expression, ' ');
  if (fields.size() != 5) return bad("it does not have five fields");
  CalendarTimes times;
  if (!parse_field(fields[0], 0, 59, times.minute)) return bad("the minute must be 0 to 59");
  int n = 0;
  if (fields[1] != "*") {
    if (!parse_field(fields[1], 0, 23, n)) return bad("the hour must be 0 to 23 or *");
    times.hour = n;
  }
  if (fields[2] != "*") {
    if (!parse_field(fields[2], 1, 31, n)) return bad("the day must be 1 to 31 or *");
    times.day = n;
  }
  if (fields[3] != "*" || fields[4] != "*") {
    return bad("month and day of the week must be *, as in the product");
  }
  return times;
}

int64_t next_calendar_time(const CalendarTimes& times, const value::TimeZone& zone, int64_t now) {
  const int64_t today = value::floor_div(zone.to_local(now), value::kMicrosPerDay);
  // From yesterday on: around a change of the clock the local day is not the last word.
  for (int64_t day = today - 1; day <= today + kDaysAheadMax; ++day) {
    if (times.day && value::civil_from_days(day).day != *times.day) continue;
    const int first = times.hour.value_or(0), last = times.hour.value_or(23);
    int64_t best = INT64_MAX;
    for (int hour = first; hour <= last; ++hour) {
      const int64_t at = zone.to_gmt(day * value::kMicrosPerDay + hour * value::kMicrosPerHour +
                                     times.minute * value::kMicrosPerMinute);
      if (at > now) best = std::min(best, at);
    }
    if (!times.hour && day == today - 1) continue;  // an hourly one has a time today
    if (best != INT64_MAX) return best;
  }
  return INT64_MAX;
}

std::optional<int64_t> next_interval_time(int64_t first, int64_t interval_micros,
                                          const WeekDays& days, const value::TimeZone& zone,
                                          int64_t now) {
  auto after = [&](int64_t t) {
    return first + (value::floor_div(t - first, interval_micros) + 1) * interval_micros;
  };
  int64_t at = after(now);
  // An interval may be longer than a week, so that one look at each of a few weeks is not enough.
  for (int i = 0; i < kDaysAheadMax; ++i) {
    const int64_t day = value::floor_div(zone.to_local(at), value::kMicrosPerDay);
    if (is_day_of(days, day)) return at;
    const int64_t midnight = zone.to_gmt((day + 1) * value::kMicrosPerDay);
    at = after(std::max(at, midnight - 1));
  }
  return {};
}

}  // namespace millstream::nodes::timer
