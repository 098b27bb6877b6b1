// Dates by pattern, literals, character sets and zone files: no input may crash, and what is
// written must be read back as the same value. The input is a pattern and a text with a zero byte
// between.
#include <cstdlib>
#include <string>

#include "text/ccsid.h"
#include "text/utf8.h"
#include "value/datetime.h"
#include "value/datetime_format.h"

namespace {
namespace value = millstream::value;
namespace text = millstream::text;

constexpr int64_t kFuzzNow = 1'721'035'845'123'456;

void check_literals(std::string_view input) {
  for (value::Kind kind : {value::Kind::kDate, value::Kind::kTime, value::Kind::kTimestamp}) {
    value::Value v, again;
    if (!value::parse_datetime_text(kind, input, v).ok()) continue;
    if (!value::parse_datetime_text(kind, value::format_literal(v), again).ok()) abort();
    if (again.integer != v.integer) abort();
  }
  value::Value v, again;
  if (!value::parse_interval_text(input, nullptr, v).ok()) return;
  if (!value::parse_interval_text(value::format_literal(v), nullptr, again).ok()) abort();
  if (again.integer != v.integer) abort();
}

void check_pattern(std::string_view pattern, std::string_view input, const value::TimeZone& zone) {
  std::string out;
  for (value::Kind kind : {value::Kind::kDate, value::Kind::kTime, value::Kind::kGmtTime,
                           value::Kind::kTimestamp, value::Kind::kGmtTimestamp}) {
    value::Value v;
    if (!value::parse_datetime(input, pattern, kind, zone, kFuzzNow, v).ok()) continue;
    if (kind == value::Kind::kDate ? !value::check_date(v.integer).ok()
                                   : !value::check_timestamp(v.integer).ok()) {
      abort();
    }
    if (!value::format_datetime(v, pattern, zone, kFuzzNow, out).ok()) abort();
  }
}

void check_character_sets(std::string_view input) {
  for (int32_t ccsid : {1208, 1200, 1202, 1234, 819, 37, 437, 943, 1386, 54936, 970}) {
    std::string decoded, encoded, again;
    if (!text::to_utf8(input, ccsid, decoded).ok()) continue;
    if (!text::is_valid_utf8(decoded)) abort();
    // A set may have several codes of one character, so it is the text that must come back.
    if (!text::from_utf8(decoded, ccsid, encoded).ok()) continue;
    if (!text::to_utf8(encoded, ccsid, again).ok()) abort();
    if (again != decoded && ccsid != text::kCcsidUtf16) abort();  // 1200 drops a byte order mark
  }
}
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const value::TimeZone zone = value::TimeZone::load("CET-1CEST,M3.5.0,M10.5.0/3").value();
  std::string_view input(reinterpret_cast<const char*>(data), size);
  size_t split = input.find('\0');
  std::string_view pattern = input.substr(0, split);
  std::string_view rest = split == std::string_view::npos ? input : input.substr(split + 1);
  check_literals(rest);
  check_pattern(pattern, rest, zone);
  check_character_sets(rest);
  auto own = value::TimeZone::from_tzif(input, "fuzz");
  if (own.ok()) (void)own.value().offset_at_local(kFuzzNow);
  auto posix = value::TimeZone::load(pattern);
  if (posix.ok()) (void)posix.value().offset_at_local(kFuzzNow);
  return 0;
}
