// Parsing of text by a datetime FORMAT pattern.
#include <optional>

#include "text/utf8.h"
#include "value/datetime.h"
#include "value/datetime_format.h"
#include "value/datetime_pattern.h"
#include "value/errors_gen.h"

namespace millstream::value {
namespace {

// Two-digit years from 53 on belong to the last century.
constexpr int kCenturyWindow = 53;

// What the text states.
struct ParsedDateTime {
  std::optional<int> year, month, day, day_of_year, weekday, week, week_of_month, day_in_month;
  std::optional<int> week_year;
  std::optional<int> hour, hour12, minute, second, micros;
  std::optional<bool> is_pm;
  std::optional<int32_t> offset;  // seconds east of GMT
  bool is_iso = false;            // fills up with 1 and 0

  bool has_date() const {
    return year || month || day || day_of_year || weekday || week || week_of_month || week_year;
  }
  bool has_time() const { return hour || hour12 || minute || second || micros; }
};

class PatternParser {
 public:
  PatternParser(std::string_view text, std::string_view pattern, const TimeZone& local, int64_t now)
      : text_(text), pattern_(pattern), local_(local), now_(now) {}

  Status run(ParsedDateTime& out) {
    const PatternTokens& tokens = *MS_TRY(cached_pattern(pattern_));
    for (const PatternToken& t : tokens) {
      size_t start = at_;
      bool is_matched = t.letter == 0 ? take_text(t.literal) : match(t, out);
      if (!is_matched) return no_match(start, t.source);
    }
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    if (at_ < text_.size()) return no_match(at_, "");
    return {};
  }

 private:
  Status no_match(size_t start, std::string_view part) {
    std::string_view bad = bad_.empty() ? text_.substr(start) : bad_;
    return base::make_error(errors::kDateTimeNoMatch, {text_, pattern_, bad, part});
  }

  bool take_text(std::string_view literal) {
    if (text_.substr(at_, literal.size()) != literal) return false;
    at_ += literal.size();
    return true;
  }

  bool is_digit_here() const {
    return at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9';
  }

  // One letter: up to `natural` digits; more letters: exactly that many.
  bool number(int count, int natural, int low, int high, std::optional<int>& out) {
    int wanted = count == 1 ? natural : count;
    size_t start = at_;
    int v = 0, digits = 0;
    while (digits < wanted && digits < 9 && is_digit_here()) {
      v = v * 10 + (text_[at_++] - '0');
      ++digits;
    }
    if (digits == 0 || (count > 1 && digits < count)) return false;
    if (v < low || v > high) {
      bad_ = text_.substr(start, at_ - start);
      return false;
    }
    out = v;
    return true;
  }

  bool year(int count, std::optional<int>& out) {
    size_t start = at_;
    if (!number(count, 4, 0, kMaxYear, out)) return false;
    if (count == 2) *out += *out < kCenturyWindow ? 2000 : 1900;
    if (*out >= kMinYear) return true;
    bad_ = text_.substr(start, at_ - start);
    return false;
  }

  bool fraction(int count, std::optional<int>& out) {
    int wanted = count == 1 ? 9 : count;
    int v = 0, digits = 0;
    while (digits < wanted && is_digit_here()) {
      if (digits < 6) v = v * 10 + (text_[at_] - '0');
      ++at_;
      ++digits;
    }
    if (digits == 0 || (count > 1 && digits < count)) return false;
    for (int i = digits; i < 6; ++i) v *= 10;
    out = v;
    return true;
  }

  // The whole name, else its first three letters; any case.
  template <typename NameOf>
  bool name(NameOf name_of, int names, std::optional<int>& out) {
    for (size_t limit : {size_t{99}, size_t{3}}) {
      for (int i = 0; i < names; ++i) {
        std::string_view wanted = name_of(i).substr(0, limit);
        if (!text::equals_ignoring_ascii_case(text_.substr(at_, wanted.size()), wanted)) continue;
        at_ += wanted.size();
        out = i + 1;
        return true;
      }
    }
    return false;
  }

  bool am_pm(ParsedDateTime& out) {
    std::string_view word = text_.substr(at_, 2);
    bool is_pm = text::equals_ignoring_ascii_case(word, "PM");
    if (!is_pm && !text::equals_ignoring_ascii_case(word, "AM")) return false;
    out.is_pm = is_pm;
    at_ += 2;
    return true;
  }

  // Z, or a sign, hours and perhaps minutes with or without a colon.
  bool offset(ParsedDateTime& out) {
    if (take_text("Z")) {
      out.offset = 0;
      return true;
    }
    if (text_.substr(at_, 3) == "GMT" || text_.substr(at_, 3) == "UTC") {
      at_ += 3;
      if (at_ >= text_.size() || (text_[at_] != '+' && text_[at_] != '-')) {
        out.offset = 0;
        return true;
      }
    }
    bool is_negative = take_text("-");
    if (!is_negative && !take_text("+")) return false;
    int digits[4] = {}, n = 0;
    bool has_colon = false;
    while (n < 4) {
      if (is_digit_here()) {
        digits[n++] = text_[at_++] - '0';
      } else if (!has_colon && (n == 1 || n == 2) && take_text(":")) {
        has_colon = true;
        if (n == 1) {  // +5:30
          digits[1] = digits[0];
          digits[0] = 0;
          n = 2;
        }
      } else {
        break;
      }
    }
    if (n == 1) {
      digits[1] = digits[0];
      digits[0] = 0;
    }
    if (n == 0 || n == 3 || (has_colon && n != 4)) return false;
    int hours = digits[0] * 10 + digits[1], minutes = digits[2] * 10 + digits[3];
    if (hours > 15 || minutes > 59) return false;
    int32_t seconds = hours * 3600 + minutes * 60;
    out.offset = is_negative ? -seconds : seconds;
    return true;
  }

  // The names of the server's zone and those in common use.
  bool zone_name(ParsedDateTime& out) {
    constexpr struct {
      std::string_view name;
      int hours;
    } kZones[] = {{"EST", -5}, {"EDT", -4}, {"CST", -6}, {"CDT", -5}, {"MST", -7}, {"MDT", -6},
                  {"PST", -8}, {"PDT", -7}, {"WET", 0},  {"WEST", 1}, {"CET", 1},  {"CEST", 2},
                  {"EET", 2},  {"EEST", 3}, {"MSK", 3},  {"JST", 9},  {"UTC", 0},  {"GMT", 0}};
    size_t end = at_;
    while (end < text_.size() && std::isalpha(static_cast<unsigned char>(text_[end]))) ++end;
    std::string_view word = text_.substr(at_, end - at_);
    constexpr int64_t kHalfYear = 183 * kMicrosPerDay;
    for (int64_t instant : {now_, now_ + kHalfYear}) {
      if (!word.empty() && word == local_.abbreviation_at_gmt(instant)) {
        out.offset = local_.offset_at_gmt(instant);
        at_ = end;
        return true;
      }
    }
    for (const auto& zone : kZones) {
      if (word != zone.name || zone.hours == 0) continue;
      out.offset = zone.hours * 3600;
      at_ = end;
      return true;
    }
    if (word == "WET") {
      at_ = end;
      out.offset = 0;
      return true;
    }
    return offset(out);
  }

  // HH, HH:mm, HH:mm:ss, HH:mm:ss.S..., the same without colons; then perhaps an offset.
  bool iso_time(ParsedDateTime& out) {
    out.is_iso = true;
    if (!number(2, 2, 0, 24, out.hour)) return false;
    bool has_colons = at_ < text_.size() && text_[at_] == ':';
    auto separated = [&] { return has_colons ? take_text(":") : is_digit_here(); };
    if (separated()) {
      if (!number(2, 2, 0, 59, out.minute)) return false;
      if (separated() && !number(2, 2, 0, 59, out.second)) return false;
      if (out.second && (take_text(".") || take_text(",")) && !fraction(1, out.micros))
        return false;
    }
    return iso_offset(out);
  }

  bool iso_offset(ParsedDateTime& out) {
    bool has_offset =
        at_ < text_.size() && (text_[at_] == 'Z' || text_[at_] == '+' || text_[at_] == '-');
    return !has_offset || offset(out);
  }

  // yyyy, yyyy-MM, yyyy-MM-dd, yyyyMMdd, yyyy-MM-ddTHH..., or a time alone.
  bool iso(ParsedDateTime& out) {
    out.is_iso = true;
    size_t digits = 0;
    while (at_ + digits < text_.size() && text_[at_ + digits] >= '0' &&
           text_[at_ + digits] <= '9') {
      ++digits;
    }
    if (digits == 2 || digits == 6) return iso_time(out);
    if (!year(4, out.year)) return false;
    bool has_dashes = digits == 4;
    auto separated = [&] { return has_dashes ? take_text("-") : is_digit_here(); };
    if (separated()) {
      if (!number(2, 2, 1, 12, out.month)) return false;
      if (separated() && !number(2, 2, 1, 31, out.day)) return false;
    }
    if (out.day && take_text("T")) return iso_time(out);
    return iso_offset(out);
  }

  bool match(const PatternToken& t, ParsedDateTime& out) {
    switch (t.letter) {
      case 'a':
        return am_pm(out);
      case 'd':
        return number(t.count, 2, 1, 31, out.day);
      case 'D':
        return number(t.count, 3, 1, 366, out.day_of_year);
      case 'e':
        return number(t.count, 1, 1, 7, out.weekday);
      case 'E':
        return name(weekday_name, 7, out.weekday);
      case 'F':
        return number(t.count, 1, 1, 5, out.day_in_month);
      case 'G':
        return take_text("AD") || take_text("ad");
      case 'h':
        return number(t.count, 2, 1, 12, out.hour12);
      case 'H':
        return number(t.count, 2, 0, 24, out.hour);
      case 'I':
        return iso(out);
      case 'k':
        if (!number(t.count, 2, 1, 24, out.hour)) return false;
        *out.hour %= 24;  // 24 is the hour after midnight
        return true;
      case 'K':
        return number(t.count, 2, 0, 11, out.hour12);
      case 'm':
        return number(t.count, 2, 0, 59, out.minute);
      case 'M':
        return t.count >= 3 ? name(month_name, 12, out.month)
                            : number(t.count, 2, 1, 12, out.month);
      case 's':
        return number(t.count, 2, 0, 59, out.second);
      case 'S':
        return fraction(t.count, out.micros);
      case 'T':
        return iso_time(out);
      case 'w':
        return number(t.count, 2, 1, 53, out.week);
      case 'W':
        return number(t.count, 1, 1, 6, out.week_of_month);
      case 'y':
        return year(t.count, out.year);
      case 'Y':
        return year(t.count, out.week_year);
      case 'z':
        return zone_name(out);
      case 'Z':
        return offset(out);
      default:
        return false;
    }
  }

  std::string_view text_, pattern_;
  const TimeZone& local_;
  int64_t now_;
  size_t at_ = 0;
  std::string_view bad_;  // a number that was out of range
};

// An H of 24 is the end of its day: hour 0 of the next one (see resolve).
void resolve_time(const ParsedDateTime& p, const DateTimeFields& now, DateTimeFields& f) {
  bool has_hour = p.hour || p.hour12;
  f.hour = p.is_iso && p.has_date() ? 0 : now.hour;
  f.minute = p.is_iso ? 0 : now.minute;
  f.second = p.is_iso ? 0 : now.second;
  f.micros = p.is_iso || p.second || (has_hour && p.micros) ? 0 : now.micros;
  if (p.hour) f.hour = *p.hour % 24;
  if (p.hour12) f.hour = *p.hour12 % 12 + (p.is_pm.value_or(false) ? 12 : 0);
  if (p.minute) f.minute = *p.minute;
  if (p.second) f.second = *p.second;
  if (p.micros) f.micros = *p.micros;
}

// Days since 1970 of the date parts; parts above the largest given one come from `now`.
Result<int64_t> resolve_date(const ParsedDateTime& p, const DateTimeFields& now) {
  bool has_week = p.week.has_value();
  // YYYY is often written for yyyy: without a week number it is the year.
  int year = p.year ? *p.year : p.week_year ? *p.week_year : now.year;
  if (p.day_of_year && !p.month) {
    if (*p.day_of_year == 366 && !is_leap_year(year)) {
      return base::make_error(errors::kDateTimeField, {"day of the year", 366});
    }
    return days_from_civil(year, 1, 1) + *p.day_of_year - 1;
  }
  if (has_week && !p.month && !p.day) {
    int weekday = p.weekday.value_or(1);
    return days_from_week(p.week_year ? *p.week_year : year, *p.week, weekday);
  }
  bool has_larger = p.year || p.week_year;
  int month = p.month ? *p.month : has_larger ? 1 : now.month;
  if (p.week_of_month && !p.day) {
    int64_t first = days_from_civil(year, month, 1);
    int64_t sunday = first - (day_of_week(first) - 1);
    return sunday + (*p.week_of_month - 1) * int64_t{7} + p.weekday.value_or(1) - 1;
  }
  if (p.day_in_month && p.weekday && !p.day) {
    int64_t first = days_from_civil(year, month, 1);
    return first + floor_mod(*p.weekday - day_of_week(first), 7) +
           (*p.day_in_month - 1) * int64_t{7};
  }
  int day = p.day ? *p.day : has_larger || p.month ? 1 : now.day;
  if (day > days_in_month(year, month)) {
    return base::make_error(errors::kDateTimeField, {"day", static_cast<int64_t>(day)});
  }
  return days_from_civil(year, month, day);
}

Status resolve(const ParsedDateTime& p, Kind kind, const TimeZone& local, int64_t now_gmt,
               Value& out) {
  bool is_gmt = kind == Kind::kGmtTime || kind == Kind::kGmtTimestamp;
  bool is_time = kind == Kind::kTime || kind == Kind::kGmtTime;
  DateTimeFields now = fields_of_timestamp(is_gmt ? now_gmt : local.to_local(now_gmt));
  int64_t days = days_from_civil(now.year, now.month, now.day);
  if (p.has_date()) days = MS_TRY(resolve_date(p, now));
  DateTimeFields f;
  resolve_time(p, now, f);
  if (p.hour && *p.hour == 24) {
    if (f.minute != 0 || f.second != 0 || f.micros != 0) {
      return base::make_error(errors::kDateTimeField, {"hour", 24});
    }
    days += 1;
  }
  MS_TRY(check_date(days));
  int64_t micros = days * kMicrosPerDay + time_of_fields(f);
  if (p.offset && kind != Kind::kDate) {
    int64_t gmt = micros - *p.offset * kMicrosPerSecond;
    micros = is_gmt ? gmt : local.to_local(gmt);
    MS_TRY(check_timestamp(micros));
  }
  if (kind == Kind::kDate) {
    out = Value::make_date(days);
  } else if (is_time) {
    out = Value::make_time(kind, floor_mod(micros, kMicrosPerDay));
  } else {
    out = Value::make_timestamp(kind, micros);
  }
  return {};
}

}  // namespace

Status parse_datetime(std::string_view text, std::string_view pattern, Kind kind,
                      const TimeZone& local, int64_t now_gmt_micros, Value& out) {
  ParsedDateTime parsed;
  MS_TRY(PatternParser(text, pattern, local, now_gmt_micros).run(parsed));
  return resolve(parsed, kind, local, now_gmt_micros, out);
}

}  // namespace millstream::value
