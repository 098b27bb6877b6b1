// The formats of strings: RFC 3339 dates and times, addresses, URIs and what else OpenAPI names.
// Unknown formats are annotations only.
#include <array>

#include "base/ascii.h"
#include "model/schema.h"

namespace millstream::model {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c | 0x20) >= 'a' && (c | 0x20) <= 'z'; }

// `width` digits at `at` as a number, -1 when they are not there.
int digits_at(std::string_view s, size_t at, size_t width) {
  if (at + width > s.size()) return -1;
  int n = 0;
  for (size_t i = at; i < at + width; ++i) {
    if (!is_digit(s[i])) return -1;
    n = n * 10 + (s[i] - '0');
  }
  return n;
}

bool is_date(std::string_view s) {
  static constexpr std::array<int, 13> kDays = {0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  if (s.size() != 10 || s[4] != '-' || s[7] != '-') return false;
  const int year = digits_at(s, 0, 4);
  const int month = digits_at(s, 5, 2);
  const int day = digits_at(s, 8, 2);
  if (year < 0 || month < 1 || month > 12 || day < 1) return false;
  const bool is_leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
  return day <= kDays[static_cast<size_t>(month)] + (month == 2 && is_leap ? 1 : 0);
}

// hh:mm:ss[.fff](Z|+hh:mm)
bool is_time(std::string_view s) {
  const int hour = digits_at(s, 0, 2);
  const int minute = digits_at(s, 3, 2);
  const int second = digits_at(s, 6, 2);
  if (s.size() < 9 || s[2] != ':' || s[5] != ':' || hour < 0 || hour > 23 || minute < 0 ||
      minute > 59 || second < 0 || second > 60) {
    return false;
  }
  size_t at = 8;
  if (s[at] == '.') {
    const size_t first = ++at;
    while (at < s.size() && is_digit(s[at])) ++at;
    if (at == first) return false;
  }
  if (at == s.size()) return false;
  if ((s[at] | 0x20) == 'z') return at + 1 == s.size();
  const int zone_hour = digits_at(s, at + 1, 2);
  const int zone_minute = digits_at(s, at + 4, 2);
  return (s[at] == '+' || s[at] == '-') && s.size() == at + 6 && s[at + 3] == ':' &&
         zone_hour >= 0 && zone_hour <= 23 && zone_minute >= 0 && zone_minute <= 59;
}

bool is_date_time(std::string_view s) {
  return s.size() > 11 && is_date(s.substr(0, 10)) && (s[10] | 0x20) == 't' &&
         is_time(s.substr(11));
}

// P[nY][nM][nW][nD][T[nH][nM][nS]] with at least one part.
bool is_duration(std::string_view s) {
  if (s.size() < 3 || s[0] != 'P') return false;
  std::string_view units = "YMWD";
  bool is_time_part = false;
  bool has_part = false;
  for (size_t at = 1; at < s.size();) {
    if (s[at] == 'T' && !is_time_part) {
      is_time_part = true;
      has_part = false;
      units = "HMS";
      ++at;
      continue;
    }
    const size_t first = at;
    while (at < s.size() && (is_digit(s[at]) || (s[at] == '.' && is_time_part))) ++at;
    if (at == first || at == s.size()) return false;
    const size_t unit = units.find(s[at++]);
    if (unit == std::string_view::npos) return false;
    units.remove_prefix(unit + 1);
    has_part = true;
  }
  return has_part;
}

bool is_hostname(std::string_view s) {
  if (s.empty() || s.size() > 253) return false;
  size_t label = 0;
  for (size_t i = 0; i <= s.size(); ++i) {
    if (i == s.size() || s[i] == '.') {
      if (label == 0 || label > 63 || s[i - 1] == '-') return false;
      label = 0;
    } else if (is_digit(s[i]) || is_letter(s[i]) || (s[i] == '-' && label > 0)) {
      ++label;
    } else {
      return false;
    }
  }
  return true;
}

bool is_ipv4(std::string_view s) {
  int parts = 0;
  for (size_t at = 0; at <= s.size(); ++parts) {
    const size_t dot = std::min(s.find('.', at), s.size());
    const std::string_view part = s.substr(at, dot - at);
    if (part.empty() || part.size() > 3 || (part.size() > 1 && part[0] == '0')) return false;
    const int n = digits_at(part, 0, part.size());
    if (n < 0 || n > 255) return false;
    at = dot + 1;
  }
  return parts == 4;
}

bool is_ipv6(std::string_view s) {
  int groups = 0;
  bool has_gap = false;
  size_t at = 0;
  if (s.starts_with("::")) {
    has_gap = true;
    at = 2;
  }
  while (at < s.size()) {
    const size_t end = std::min(s.find(':', at), s.size());
    const std::string_view group = s.substr(at, end - at);
    if (end == s.size() && group.find('.') != std::string_view::npos) {
      if (!is_ipv4(group)) return false;
      groups += 2;
      break;
    }
    if (group.empty() || group.size() > 4) return false;
    for (char c : group) {
      if (base::hex_digit_value(c) < 0) return false;
    }
    ++groups;
    if (end == s.size()) break;
    at = end + 1;
    if (at == s.size()) return false;
    if (s[at] == ':') {
      if (has_gap) return false;
      has_gap = true;
      ++at;
    }
  }
  return has_gap ? groups <= 7 : groups == 8;
}

bool is_email(std::string_view s) {
  const size_t at = s.rfind('@');
  if (at == std::string_view::npos || at == 0 || at > 64) return false;
  const std::string_view local = s.substr(0, at);
  const std::string_view domain = s.substr(at + 1);
  if (local.size() > 2 && local.front() == '"' && local.back() == '"') return is_hostname(domain);
  constexpr std::string_view kOther = "!#$%&'*+-/=?^_`{|}~.";
  for (char c : local) {
    const bool is_other_script = (static_cast<unsigned char>(c) & 0x80) != 0;
    if (!is_digit(c) && !is_letter(c) && !is_other_script && kOther.find(c) == kOther.npos) {
      return false;
    }
  }
  const bool has_bad_dot =
      local.front() == '.' || local.back() == '.' || local.find("..") != std::string_view::npos;
  if (has_bad_dot) return false;
  if (domain.size() > 2 && domain.front() == '[' && domain.back() == ']') return true;
  return is_hostname(domain);
}

bool is_uri(std::string_view s, bool may_be_relative) {
  constexpr std::string_view kAllowed = "-._~:/?#[]@!$&'()*+,;=";
  for (size_t i = 0; i < s.size(); ++i) {
    if (s[i] == '%') {
      if (i + 2 >= s.size() || base::hex_digit_value(s[i + 1]) < 0 ||
          base::hex_digit_value(s[i + 2]) < 0) {
        return false;
      }
    } else if (!is_digit(s[i]) && !is_letter(s[i]) && kAllowed.find(s[i]) == kAllowed.npos) {
      return false;
    }
  }
  if (may_be_relative) return true;
  const size_t colon = s.find(':');
  if (colon == std::string_view::npos || colon == 0 || !is_letter(s[0])) return false;
  for (char c : s.substr(0, colon)) {
    if (!is_digit(c) && !is_letter(c) && c != '+' && c != '-' && c != '.') return false;
  }
  return true;
}

bool is_uuid(std::string_view s) {
  if (s.size() != 36) return false;
  for (size_t i = 0; i < s.size(); ++i) {
    const bool is_dash = i == 8 || i == 13 || i == 18 || i == 23;
    if (is_dash ? s[i] != '-' : base::hex_digit_value(s[i]) < 0) return false;
  }
  return true;
}

bool is_base64(std::string_view s) {
  if (s.size() % 4 != 0) return false;
  size_t padding = 0;
  while (padding < 2 && padding < s.size() && s[s.size() - 1 - padding] == '=') ++padding;
  for (char c : s.substr(0, s.size() - padding)) {
    if (!is_digit(c) && !is_letter(c) && c != '+' && c != '/') return false;
  }
  return true;
}

bool is_json_pointer(std::string_view s) {
  if (!s.empty() && s[0] != '/') return false;
  for (size_t i = 0; i < s.size(); ++i) {
    if (s[i] == '~' && (i + 1 == s.size() || (s[i + 1] != '0' && s[i + 1] != '1'))) return false;
  }
  return true;
}

bool is_regex(std::string_view s) {
  std::string problem;
  return text::Regex::compile(s, {}, &problem).has_value();
}

}  // namespace

Format find_format(std::string_view name) {
  static constexpr struct {
    const char* name;
    Format format;
  } kFormats[] = {{"int32", Format::kInt32},
                  {"int64", Format::kInt64},
                  {"float", Format::kFloat},
                  {"double", Format::kDouble},
                  {"date", Format::kDate},
                  {"date-time", Format::kDateTime},
                  {"time", Format::kTime},
                  {"duration", Format::kDuration},
                  {"email", Format::kEmail},
                  {"hostname", Format::kHostname},
                  {"ipv4", Format::kIpv4},
                  {"ipv6", Format::kIpv6},
                  {"uri", Format::kUri},
                  {"uri-reference", Format::kUriReference},
                  {"uuid", Format::kUuid},
                  {"byte", Format::kByte},
                  {"json-pointer", Format::kJsonPointer},
                  {"regex", Format::kRegex}};
  for (const auto& f : kFormats) {
    if (name == f.name) return f.format;
  }
  return Format::kNone;
}

bool has_format(std::string_view text, Format format) {
  switch (format) {
    case Format::kDate:
      return is_date(text);
    case Format::kDateTime:
      return is_date_time(text);
    case Format::kTime:
      return is_time(text);
    case Format::kDuration:
      return is_duration(text);
    case Format::kEmail:
      return is_email(text);
    case Format::kHostname:
      return is_hostname(text);
    case Format::kIpv4:
      return is_ipv4(text);
    case Format::kIpv6:
      return is_ipv6(text);
    case Format::kUri:
      return is_uri(text, false);
    case Format::kUriReference:
      return is_uri(text, true);
    case Format::kUuid:
      return is_uuid(text);
    case Format::kByte:
      return is_base64(text);
    case Format::kJsonPointer:
      return is_json_pointer(text);
    case Format::kRegex:
      return is_regex(text);
    case Format::kNone:
    case Format::kInt32:
    case Format::kInt64:
    case Format::kFloat:
    case Format::kDouble:
      break;
  }
  return true;
}

}  // namespace millstream::model
