#include "value/datetime_format.h"

#include <functional>
#include <unordered_map>

#include "base/ascii.h"
#include "value/datetime.h"
#include "value/datetime_pattern.h"
#include "value/errors_gen.h"

namespace millstream::value {
namespace {

constexpr std::string_view kPatternLetters = "adDeEFGhHIkKmMsSTUwWyYzZ";

bool is_ascii_letter(char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'); }

// What the letters of one pattern are computed from.
struct FormatSource {
  DateTimeFields f;
  int64_t days = 0;
  bool has_date = false, has_time = false;
  int32_t offset = 0;  // seconds east
  std::string_view zone_abbreviation;
  std::string_view zone_name;
};

FormatSource format_source(const Value& v, const TimeZone& local, int64_t now_gmt_micros) {
  FormatSource s;
  s.f = decompose(v);
  bool is_time = v.kind == Kind::kTime || v.kind == Kind::kGmtTime;
  bool is_gmt = v.kind == Kind::kGmtTime || v.kind == Kind::kGmtTimestamp;
  s.has_date = !is_time;
  s.has_time = v.kind != Kind::kDate;
  int64_t today = is_gmt ? now_gmt_micros : local.to_local(now_gmt_micros);
  if (is_time) {  // the date of a TIME is today
    DateTimeFields date = civil_from_days(floor_div(today, kMicrosPerDay));
    s.f.year = date.year;
    s.f.month = date.month;
    s.f.day = date.day;
  }
  s.days = days_from_civil(s.f.year, s.f.month, s.f.day);
  if (is_gmt) {
    s.zone_abbreviation = s.zone_name = "GMT";
    return s;
  }
  int64_t reading = s.days * kMicrosPerDay + time_of_fields(s.f);
  s.offset = local.offset_at_local(reading);
  s.zone_abbreviation = local.abbreviation_at_gmt(reading - s.offset * kMicrosPerSecond);
  s.zone_name = local.name();
  return s;
}

// Z +3 (+5:30 when the minutes count), ZZ +03, ZZZ +03:00, ZZZZ GMT+03:00, ZZZZZ +0300.
void put_offset(std::string& out, int32_t offset, int count, bool has_u) {
  if (has_u && offset == 0) {
    out.push_back('Z');
    return;
  }
  int32_t minutes = (offset < 0 ? -offset : offset) / 60;
  if (count == 4) out += "GMT";
  out.push_back(offset < 0 ? '-' : '+');
  base::append_padded(out, minutes / 60, count == 1 ? 1 : 2);
  if (count <= 2 && minutes % 60 == 0) return;
  if (count < 5) out.push_back(':');
  base::append_padded(out, minutes % 60, 2);
}

void put_fraction(std::string& out, int32_t micros, int count) {
  std::string digits;
  base::append_padded(digits, micros, 6);
  if (count > 6) digits.append(static_cast<size_t>(count - 6), '0');
  out += std::string_view(digits).substr(0, static_cast<size_t>(count));
}

void put_iso_time(std::string& out, const FormatSource& s, bool has_u) {
  base::append_padded(out, s.f.hour, 2);
  out.push_back(':');
  base::append_padded(out, s.f.minute, 2);
  out.push_back(':');
  base::append_padded(out, s.f.second, 2);
  out.push_back('.');
  put_fraction(out, s.f.micros, 3);
  put_offset(out, s.offset, 3, has_u);
}

void put_iso(std::string& out, const FormatSource& s, bool has_u) {
  if (s.has_date) {
    base::append_padded(out, s.f.year, 4);
    out.push_back('-');
    base::append_padded(out, s.f.month, 2);
    out.push_back('-');
    base::append_padded(out, s.f.day, 2);
  }
  if (s.has_date && s.has_time) out.push_back('T');
  if (s.has_time) put_iso_time(out, s, has_u);
}

void put_year(std::string& out, int64_t year, int count) {
  if (count == 2) year %= 100;
  base::append_padded(out, year, count);
}

void put_name(std::string& out, std::string_view name, int count) {
  out += count >= 4 ? name : name.substr(0, 3);
}

void put_token(std::string& out, const PatternToken& t, const FormatSource& s) {
  int hour12 = s.f.hour % 12;
  switch (t.letter) {
    case 0:
      out += t.literal;
      break;
    case 'a':
      out += s.f.hour < 12 ? "AM" : "PM";
      break;
    case 'd':
      base::append_padded(out, s.f.day, t.count);
      break;
    case 'D':
      base::append_padded(out, day_of_year(s.days), t.count);
      break;
    case 'e':
      base::append_padded(out, day_of_week(s.days), t.count);
      break;
    case 'E':
      put_name(out, weekday_name(day_of_week(s.days) - 1), t.count);
      break;
    case 'F':
      base::append_padded(out, (s.f.day - 1) / 7 + 1, t.count);
      break;
    case 'G':
      out += "AD";
      break;
    case 'h':
      base::append_padded(out, hour12 == 0 ? 12 : hour12, t.count);
      break;
    case 'H':
      base::append_padded(out, s.f.hour, t.count);
      break;
    case 'I':
      put_iso(out, s, t.has_u);
      break;
    case 'k':
      base::append_padded(out, s.f.hour == 0 ? 24 : s.f.hour, t.count);
      break;
    case 'K':
      base::append_padded(out, hour12, t.count);
      break;
    case 'm':
      base::append_padded(out, s.f.minute, t.count);
      break;
    case 'M':
      if (t.count >= 3) {
        put_name(out, month_name(s.f.month - 1), t.count);
      } else {
        base::append_padded(out, s.f.month, t.count);
      }
      break;
    case 's':
      base::append_padded(out, s.f.second, t.count);
      break;
    case 'S':
      put_fraction(out, s.f.micros, t.count);
      break;
    case 'T':
      put_iso_time(out, s, t.has_u);
      break;
    case 'w':
      base::append_padded(out, week_of_year(s.days), t.count);
      break;
    case 'W':
      base::append_padded(out, week_of_month(s.days), t.count);
      break;
    case 'y':
      put_year(out, s.f.year, t.count);
      break;
    case 'Y':
      put_year(out, week_year(s.days), t.count);
      break;
    case 'z':
      out += t.count >= 4 ? s.zone_name : s.zone_abbreviation;
      break;
    case 'Z':
      put_offset(out, s.offset, t.count, t.has_u);
      break;
    default:
      break;
  }
}

Status invalid_pattern(std::string_view pattern, std::string why) {
  return base::make_error(errors::kDateTimePattern, {pattern, std::move(why)});
}

void push_literal(std::vector<PatternToken>& out, std::string_view text, std::string_view source) {
  if (out.empty() || out.back().letter != 0) out.emplace_back();
  out.back().literal += text;
  out.back().source += source;
}

// From the opening quote; returns the offset after the closing one, npos when it is missing.
size_t split_quoted(std::string_view pattern, size_t at, std::vector<PatternToken>& out) {
  if (pattern.substr(at, 2) == "''") {
    push_literal(out, "'", "''");
    return at + 2;
  }
  std::string text;
  size_t i = at + 1;
  for (; i < pattern.size(); ++i) {
    if (pattern[i] == '\'') {
      if (i + 1 >= pattern.size() || pattern[i + 1] != '\'') break;
      ++i;  // a doubled quote
    }
    text.push_back(pattern[i]);
  }
  if (i >= pattern.size()) return std::string_view::npos;
  push_literal(out, text, pattern.substr(at, i + 1 - at));
  return i + 1;
}

}  // namespace

Status split_pattern(std::string_view pattern, std::vector<PatternToken>& out) {
  if (pattern.empty()) return invalid_pattern(pattern, "it is empty");
  if (pattern.size() > kMaxPatternBytes) return invalid_pattern("...", "it is too long");
  for (size_t at = 0; at < pattern.size();) {
    char c = pattern[at];
    if (c == '\'') {
      at = split_quoted(pattern, at, out);
      if (at == std::string_view::npos) return invalid_pattern(pattern, "a quote is not closed");
      continue;
    }
    if (!is_ascii_letter(c)) {
      push_literal(out, pattern.substr(at, 1), pattern.substr(at, 1));
      ++at;
      continue;
    }
    if (kPatternLetters.find(c) == std::string_view::npos) {
      return invalid_pattern(pattern, std::string("the letter ") + c + " has no meaning");
    }
    PatternToken t;
    t.letter = c;
    size_t end = at;
    while (end < pattern.size() && pattern[end] == c) ++end;
    t.count = static_cast<int>(end - at);
    bool takes_u = ((c == 'I' || c == 'T') && t.count == 1) || (c == 'Z' && t.count >= 3);
    if (c == 'U') return invalid_pattern(pattern, "U may follow only I, T or ZZZ");
    if (t.count > 40) return invalid_pattern(pattern, "a letter is repeated too often");
    if (takes_u && end < pattern.size() && pattern[end] == 'U') {
      t.has_u = true;
      ++end;
    }
    t.source = pattern.substr(at, end - at);
    out.push_back(std::move(t));
    at = end;
  }
  return {};
}

Result<const PatternTokens*> cached_pattern(std::string_view pattern) {
  constexpr size_t kCachedMax = 64;
  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;
  };
  thread_local std::unordered_map<std::string, PatternTokens, Hash, std::equal_to<>> cache;
  auto found = cache.find(pattern);
  if (found != cache.end()) return &found->second;
  PatternTokens tokens;
  MS_TRY(split_pattern(pattern, tokens));
  if (cache.size() >= kCachedMax) cache.clear();
  const PatternTokens* kept = &cache.emplace(pattern, std::move(tokens)).first->second;
  return kept;
}

std::string_view month_name(int index) {
  constexpr std::string_view kNames[] = {"January",   "February", "March",    "April",
                                         "May",       "June",     "July",     "August",
                                         "September", "October",  "November", "December"};
  return kNames[index];
}

std::string_view weekday_name(int index) {
  constexpr std::string_view kNames[] = {"Sunday",   "Monday", "Tuesday", "Wednesday",
                                         "Thursday", "Friday", "Saturday"};
  return kNames[index];
}

Status format_datetime(const Value& v, std::string_view pattern, const TimeZone& local,
                       int64_t now_gmt_micros, std::string& out) {
  const PatternTokens& tokens = *MS_TRY(cached_pattern(pattern));
  FormatSource source = format_source(v, local, now_gmt_micros);
  out.clear();
  for (const PatternToken& t : tokens) put_token(out, t, source);
  return {};
}

}  // namespace millstream::value
