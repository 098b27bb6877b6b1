#include "value/posix_zone.h"

#include "value/datetime.h"

namespace millstream::value {
namespace {

// Consumes from the front; every function returns false when the text does not fit.
struct PosixScanner {
  std::string_view rest;

  bool take(char c) {
    if (rest.empty() || rest.front() != c) return false;
    rest.remove_prefix(1);
    return true;
  }

  bool number(int max, int& out) {
    size_t n = 0;
    out = 0;
    while (n < rest.size() && n < 4 && rest[n] >= '0' && rest[n] <= '9') {
      out = out * 10 + (rest[n++] - '0');
    }
    rest.remove_prefix(n);
    return n > 0 && out <= max;
  }

  bool name(std::string& out) {
    size_t n = 0;
    if (take('<')) {
      while (n < rest.size() && rest[n] != '>') ++n;
      if (n < 3 || n == rest.size()) return false;
      out = rest.substr(0, n);
      rest.remove_prefix(n + 1);
      return true;
    }
    auto is_letter = [](char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'); };
    while (n < rest.size() && is_letter(rest[n])) ++n;
    if (n < 3) return false;
    out = rest.substr(0, n);
    rest.remove_prefix(n);
    return true;
  }

  // [+-]hh[:mm[:ss]]
  bool time(int max_hours, int32_t& out) {
    bool is_negative = take('-');
    if (!is_negative) take('+');
    int h = 0, m = 0, s = 0;
    if (!number(max_hours, h)) return false;
    if (take(':')) {
      if (!number(59, m)) return false;
      if (take(':') && !number(59, s)) return false;
    }
    out = h * 3600 + m * 60 + s;
    if (is_negative) out = -out;
    return true;
  }

  bool change(PosixZone::Change& out) {
    using Form = PosixZone::Change::Form;
    if (take('M')) {
      out.form = Form::kMonthWeekDay;
      if (!number(12, out.month) || !take('.') || !number(5, out.week) || !take('.') ||
          !number(6, out.day) || out.month == 0 || out.week == 0) {
        return false;
      }
    } else if (take('J')) {
      out.form = Form::kJulian;
      if (!number(365, out.day) || out.day == 0) return false;
    } else {
      out.form = Form::kZeroBased;
      if (!number(365, out.day)) return false;
    }
    return !take('/') || time(167, out.time_seconds);
  }
};

// Local seconds since the epoch of the change in `year`.
int64_t change_seconds(const PosixZone::Change& change, int64_t year) {
  using Form = PosixZone::Change::Form;
  int64_t days = days_from_civil(year, 1, 1);
  if (change.form == Form::kJulian) {
    days += change.day - 1 + (is_leap_year(year) && change.day > 59 ? 1 : 0);
  } else if (change.form == Form::kZeroBased) {
    days += change.day;
  } else {
    int64_t first = days_from_civil(year, change.month, 1);
    int64_t weekday = day_of_week(first) - 1;
    int64_t day = 1 + floor_mod(change.day - weekday, 7) + (change.week - 1) * 7;
    while (day > days_in_month(year, change.month)) day -= 7;
    days = first + day - 1;
  }
  return days * 86400 + change.time_seconds;
}

}  // namespace

std::optional<PosixZone> PosixZone::parse(std::string_view text) {
  PosixZone zone;
  PosixScanner scan{text};
  int32_t west = 0;
  if (!scan.name(zone.standard_name) || !scan.time(24, west)) return std::nullopt;
  zone.standard_offset = -west;
  zone.summer_offset = zone.standard_offset;
  if (scan.rest.empty()) return zone;
  zone.has_summer = true;
  if (!scan.name(zone.summer_name)) return std::nullopt;
  zone.summer_offset = zone.standard_offset + 3600;
  if (!scan.rest.empty() && scan.rest.front() != ',') {
    if (!scan.time(24, west)) return std::nullopt;
    zone.summer_offset = -west;
  }
  if (scan.rest.empty()) scan.rest = ",M3.2.0,M11.1.0";  // what POSIX systems assume
  if (!scan.take(',') || !scan.change(zone.summer_start) || !scan.take(',') ||
      !scan.change(zone.summer_end) || !scan.rest.empty()) {
    return std::nullopt;
  }
  return zone;
}

PosixZone::Reading PosixZone::at_gmt(int64_t gmt_seconds) const {
  if (!has_summer) return {standard_offset, false};
  int64_t year = civil_from_days(floor_div(gmt_seconds + standard_offset, 86400)).year;
  int64_t start = change_seconds(summer_start, year) - standard_offset;
  int64_t end = change_seconds(summer_end, year) - summer_offset;
  bool is_summer = start < end ? gmt_seconds >= start && gmt_seconds < end
                               : gmt_seconds >= start || gmt_seconds < end;
  return {is_summer ? summer_offset : standard_offset, is_summer};
}

}  // namespace millstream::value
