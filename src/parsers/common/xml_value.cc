#include "parsers/common/xml_value.h"

#include <array>
#include <charconv>
#include <cstdio>

#include "base/ascii.h"
#include "format/xml_scan.h"
#include "value/decimal.h"
#include "value/number_format.h"

namespace millstream::parsers::common {
namespace {

using value::Kind;
using value::Value;

constexpr int64_t kMicrosPerSecond = 1'000'000;
constexpr int64_t kMicrosPerDay = 86'400 * kMicrosPerSecond;

void append_integer(int64_t i, std::string& out) {
  char buffer[24];
  auto r = std::to_chars(buffer, buffer + sizeof(buffer), i);
  out.append(buffer, r.ptr);
}

// Days since 1970-01-01 to the proleptic Gregorian calendar (years counted from March).
void append_date(int64_t days, std::string& out) {
  int64_t z = days + 719468;
  int64_t era = (z >= 0 ? z : z - 146096) / 146097;
  auto day_of_era = static_cast<unsigned>(z - era * 146097);
  unsigned year_of_era =
      (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
  unsigned day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  unsigned month = (5 * day_of_year + 2) / 153;
  unsigned day = day_of_year - (153 * month + 2) / 5 + 1;
  month = month < 10 ? month + 3 : month - 9;
  int64_t year = static_cast<int64_t>(year_of_era) + era * 400 + (month <= 2 ? 1 : 0);
  char buffer[48];
  out.append(buffer, static_cast<size_t>(std::snprintf(
                         buffer, sizeof(buffer), "%s%04lld-%02u-%02u", year < 0 ? "-" : "",
                         static_cast<long long>(year < 0 ? -year : year), month, day)));
}

void append_time(int64_t micros, std::string& out) {
  int64_t seconds = micros / kMicrosPerSecond;
  int64_t fraction = micros % kMicrosPerSecond;
  char buffer[64];
  int n = std::snprintf(
      buffer, sizeof(buffer), "%02lld:%02lld:%02lld", static_cast<long long>(seconds / 3600),
      static_cast<long long>(seconds / 60 % 60), static_cast<long long>(seconds % 60));
  if (fraction) {
    n += std::snprintf(buffer + n, sizeof(buffer) - static_cast<size_t>(n), ".%06lld",
                       static_cast<long long>(fraction));
  }
  out.append(buffer, static_cast<size_t>(n));
}

void append_timestamp(int64_t micros, std::string& out) {
  int64_t days = micros / kMicrosPerDay;
  int64_t rest = micros % kMicrosPerDay;
  if (rest < 0) {
    rest += kMicrosPerDay;
    --days;
  }
  append_date(days, out);
  out += 'T';
  append_time(rest, out);
}

void append_duration(const Value& v, std::string& out) {
  uint64_t amount = static_cast<uint64_t>(v.integer);
  if (v.integer < 0) {
    out += '-';
    amount = 0 - amount;
  }
  out += 'P';
  auto part = [&](uint64_t n, char unit) {
    if (!n) return false;
    append_integer(static_cast<int64_t>(n), out);
    out += unit;
    return true;
  };
  if (value::is_year_month(v.interval_qualifier())) {
    bool any = part(amount / 12, 'Y');
    if (!part(amount % 12, 'M') && !any) out += "0M";
    return;
  }
  uint64_t seconds = amount / kMicrosPerSecond;
  uint64_t fraction = amount % kMicrosPerSecond;
  bool any = part(seconds / 86400, 'D');
  seconds %= 86400;
  if (!seconds && !fraction) {
    if (!any) out += "T0S";
    return;
  }
  out += 'T';
  part(seconds / 3600, 'H');
  part(seconds / 60 % 60, 'M');
  seconds %= 60;
  if (!fraction) {
    part(seconds, 'S');
    return;
  }
  append_integer(static_cast<int64_t>(seconds), out);
  char buffer[16];
  int n = std::snprintf(buffer, sizeof(buffer), ".%06u", static_cast<unsigned>(fraction));
  while (buffer[n - 1] == '0') --n;
  out.append(buffer, static_cast<size_t>(n));
  out += 'S';
}

void append_bits(const Value& v, std::string& out) {
  for (uint32_t i = 0; i < v.size; ++i) {
    out += (static_cast<uint8_t>(v.data[i / 8]) >> (7 - i % 8)) & 1 ? '1' : '0';
  }
}

// U+FFFE and U+FFFF, the only characters above 0x1F that valid UTF-8 can bring and XML cannot.
bool is_noncharacter(const char* p, const char* end) {
  return end - p >= 3 && p[0] == '\xEF' && p[1] == '\xBF' && (p[2] == '\xBE' || p[2] == '\xBF');
}

constexpr std::array<bool, 256> make_specials() {
  std::array<bool, 256> t{};
  for (int c = 0; c < 0x20; ++c) t[c] = true;
  for (unsigned char c : {'<', '>', '&', '"', '\''}) t[c] = true;
  t[0xEF] = true;
  return t;
}
constexpr std::array<bool, 256> kSpecials = make_specials();

const char* next_special(const char* p, const char* end) {
  namespace scan = format::xml_scan;
  for (;;) {
    if (end - p < 16) {
      while (p < end && !kSpecials[static_cast<uint8_t>(*p)]) ++p;
      return p;
    }
    __m128i x = scan::load(p, end);
    __m128i low = _mm_cmpeq_epi8(_mm_min_epu8(x, _mm_set1_epi8(0x1F)), x);
    __m128i a = _mm_or_si128(scan::equal(x, '<'), scan::equal(x, '>'));
    __m128i b = _mm_or_si128(scan::equal(x, '&'), scan::equal(x, '"'));
    __m128i c = _mm_or_si128(scan::equal(x, '\''), scan::equal(x, '\xEF'));
    __m128i stop = _mm_or_si128(_mm_or_si128(a, b), _mm_or_si128(c, low));
    auto mask = static_cast<unsigned>(_mm_movemask_epi8(stop));
    if (mask) return p + __builtin_ctz(mask);
    p += 16;
  }
}

}  // namespace

void append_xml_value(const Value& v, std::string& out) {
  switch (v.kind) {
    case Kind::kNull:
      return;
    case Kind::kBoolean:
      out += v.boolean() ? "true" : "false";
      return;
    case Kind::kInteger:
      append_integer(v.integer, out);
      return;
    case Kind::kFloat:
      out += value::float_to_text(v.real);
      return;
    case Kind::kDecimal:
      out += v.as_decimal().to_text();
      return;
    case Kind::kCharacter:
      out += v.text();
      return;
    case Kind::kBlob:
      base::append_hex(out, v.text());
      return;
    case Kind::kBit:
      append_bits(v, out);
      return;
    case Kind::kDate:
      append_date(v.integer, out);
      return;
    case Kind::kTime:
    case Kind::kGmtTime:
      append_time(v.integer, out);
      if (v.kind == Kind::kGmtTime) out += 'Z';
      return;
    case Kind::kTimestamp:
    case Kind::kGmtTimestamp:
      append_timestamp(v.integer, out);
      if (v.kind == Kind::kGmtTimestamp) out += 'Z';
      return;
    case Kind::kInterval:
      append_duration(v, out);
      return;
  }
}

bool is_plain_xml_text(std::string_view text) {
  const char* end = text.data() + text.size();
  return next_special(text.data(), end) >= end;
}

size_t append_xml_escaped(std::string_view text, XmlContext where, std::string& out) {
  const char* p = text.data();
  const char* end = p + text.size();
  const char* piece = p;
  while (p < end) {
    const char* q = next_special(p, end);
    if (q >= end) break;
    const char* replacement = nullptr;
    switch (*q) {
      case '<':
        replacement = "&lt;";
        break;
      case '>':
        replacement = "&gt;";
        break;
      case '&':
        replacement = "&amp;";
        break;
      case '"':
        if (where == XmlContext::kDoubleQuotes) replacement = "&quot;";
        break;
      case '\'':
        if (where == XmlContext::kSingleQuotes) replacement = "&apos;";
        break;
      case '\r':
        replacement = "&#13;";
        break;
      case '\n':
        if (where != XmlContext::kText) replacement = "&#10;";
        break;
      case '\t':
        if (where != XmlContext::kText) replacement = "&#9;";
        break;
      default:
        if (*q != '\xEF' || is_noncharacter(q, end)) return static_cast<size_t>(q - text.data());
    }
    if (replacement) {
      out.append(piece, static_cast<size_t>(q - piece));
      out += replacement;
      piece = q + 1;
    }
    p = q + 1;
  }
  out.append(piece, static_cast<size_t>(end - piece));
  return std::string_view::npos;
}

size_t find_illegal_xml(std::string_view text) {
  const char* end = text.data() + text.size();
  for (const char* p = text.data(); p < end; ++p) {
    if (static_cast<uint8_t>(*p) < 0x20 ? *p != '\n' && *p != '\t' && *p != '\r'
                                        : is_noncharacter(p, end)) {
      return static_cast<size_t>(p - text.data());
    }
  }
  return std::string_view::npos;
}

}  // namespace millstream::parsers::common
