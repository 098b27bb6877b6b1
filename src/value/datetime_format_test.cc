#include "value/datetime_format.h"

#include <doctest/doctest.h>

#include "value/datetime.h"
#include "value/errors_gen.h"

namespace millstream::value {
namespace {

// 2024-07-15 09:30:45.123456 GMT, a Monday; 11:30:45 in the test zone.
constexpr int64_t kNow = 1'721'035'845'123'456;

const TimeZone& paris_rule() {
  static const TimeZone zone = TimeZone::load("CET-1CEST,M3.5.0,M10.5.0/3").value();
  return zone;
}

std::string format_as(Kind kind, std::string_view body, std::string_view pattern) {
  Value v;
  REQUIRE(parse_literal_body(kind, body, v).ok());
  std::string out;
  Status s = format_datetime(v, pattern, paris_rule(), kNow, out);
  return s.ok() ? out : s.error().code->id;
}

std::string parse_as(Kind kind, std::string_view text, std::string_view pattern) {
  Value v;
  Status s = parse_datetime(text, pattern, kind, paris_rule(), kNow, v);
  return s.ok() ? format_literal_body(v) : s.error().code->id;
}

}  // namespace

TEST_CASE("datetime format: letters") {
  struct Case {
    const char* pattern;
    const char* expected;
  };
  const Case cases[] = {
      {"yyyyMMddHHmmss", "20240307090506"},
      {"yyyy-MM-dd HH:mm:ss", "2024-03-07 09:05:06"},
      {"yyyy-MM-dd HH:mm:ss.SSS", "2024-03-07 09:05:06.078"},
      {"yyyy-MM-dd HH:mm:ss.SSSSSS", "2024-03-07 09:05:06.078900"},
      {"yyyy-MM-dd HH:mm:ss.SSSSSSS", "2024-03-07 09:05:06.0789000"},
      {"dd/MM/yyyy", "07/03/2024"},
      {"d/M/yy", "7/3/24"},
      {"dd-MMM-yyyy HH:mm:ss", "07-Mar-2024 09:05:06"},
      {"EEE, d MMMM yyyy", "Thu, 7 March 2024"},
      {"EEEE", "Thursday"},
      {"HH.mm", "09.05"},
      {"ddMM", "0703"},
      {"hh:mm:ss a", "09:05:06 AM"},
      {"h K k H", "9 9 9 9"},
      {"D DD DDD", "67 67 067"},
      {"e F G", "5 1 AD"},
      {"w ww W", "10 10 2"},
      {"YYYY-MM-dd", "2024-03-07"},
      {"S SS", "0 07"},
      {"yyyy'T'HH", "2024T09"},
      {"''yy''", "'24'"},
      {"'o''clock' H", "o'clock 9"},
      {"I", "2024-03-07T09:05:06.078+01:00"},
      {"IU", "2024-03-07T09:05:06.078+01:00"},
      {"T", "09:05:06.078+01:00"},
      {"TU", "09:05:06.078+01:00"},
      {"yyyy-MM-dd'T'HH:mm:ss.SSSZZZ", "2024-03-07T09:05:06.078+01:00"},
      {"Z ZZ ZZZ ZZZZ ZZZZZ z", "+1 +01 +01:00 GMT+01:00 +0100 CET"},
      {"DD/mm", "67/05"},  // the usual mistakes give what they say
      {"", "MS1207"},
      {"yyyy-b", "MS1207"},
      {"yyyy 'open", "MS1207"},
      {"U", "MS1207"},
      {"ZU", "MS1207"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.pattern);
    CHECK(format_as(Kind::kTimestamp, "2024-03-07 09:05:06.0789", c.pattern) == c.expected);
  }
  CHECK(format_as(Kind::kDate, "2024-01-01", std::string(5000, 'y')) == "MS1207");
}

TEST_CASE("datetime format: hours of the day, zones and kinds") {
  CHECK(format_as(Kind::kTime, "00:00:00", "h hh K KK k kk H HH a") == "12 12 0 00 24 24 0 00 AM");
  CHECK(format_as(Kind::kTime, "12:00:00", "h K k H a") == "12 0 12 12 PM");
  CHECK(format_as(Kind::kTime, "15:04:00", "K:mm a") == "3:04 PM");
  CHECK(format_as(Kind::kTime, "10:00:00", "IU") == "10:00:00.000+02:00");
  CHECK(format_as(Kind::kTime, "10:00:00", "yyyy-MM-dd") == "2024-07-15");
  CHECK(format_as(Kind::kGmtTimestamp, "2024-07-01 10:00:00", "I") ==
        "2024-07-01T10:00:00.000+00:00");
  CHECK(format_as(Kind::kGmtTimestamp, "2024-07-01 10:00:00", "IU") == "2024-07-01T10:00:00.000Z");
  CHECK(format_as(Kind::kGmtTimestamp, "2024-07-01 10:00:00", "HHZZZU z") == "10Z GMT");
  CHECK(format_as(Kind::kTimestamp, "2024-07-01 10:00:00", "ZZZ z") == "+02:00 CEST");
  CHECK(format_as(Kind::kDate, "2024-07-01", "I") == "2024-07-01");
  CHECK(format_as(Kind::kDate, "2024-07-01", "yyyyMMddHHmmss") == "20240701000000");
  // The year of the week, not of the day: the classic mistake around new year.
  CHECK(format_as(Kind::kDate, "2024-12-30", "YYYY-MM-dd") == "2025-12-30");
  CHECK(format_as(Kind::kDate, "0033-01-01", "yyyy y yy") == "0033 33 33");
}

TEST_CASE("datetime format: parsing") {
  struct Case {
    Kind kind;
    const char* text;
    const char* pattern;
    const char* expected;
  };
  const Case cases[] = {
      {Kind::kTimestamp, "20240307090506", "yyyyMMddHHmmss", "2024-03-07 09:05:06.000000"},
      {Kind::kTimestamp, "20240307090506", "YYYYMMddHHmmss", "2024-03-07 09:05:06.000000"},
      {Kind::kDate, "07/03/2024", "dd/MM/yyyy", "2024-03-07"},
      {Kind::kDate, "7/3/2024", "d/M/yyyy", "2024-03-07"},
      {Kind::kDate, "01-02-03", "dd-MM-yy", "2003-02-01"},
      {Kind::kDate, "01-02-53", "dd-MM-yy", "1953-02-01"},
      {Kind::kTimestamp, "07-MAR-2024 09:05:06", "dd-MMM-yyyy HH:mm:ss",
       "2024-03-07 09:05:06.000000"},
      {Kind::kDate, "Thursday, 7 March 2024", "EEEE, d MMMM yyyy", "2024-03-07"},
      {Kind::kTimestamp, "2024-03-07 09:05:06.1234567", "yyyy-MM-dd HH:mm:ss.SSSSSSS",
       "2024-03-07 09:05:06.123456"},
      {Kind::kTime, "4:14 PM", "K:mm a", "16:14:45.123456"},
      {Kind::kTime, "12:00:00 am", "hh:mm:ss a", "00:00:00.000000"},
      {Kind::kTime, "12:00:00 PM", "hh:mm:ss a", "12:00:00.000000"},
      {Kind::kTime, "24:10:00", "kk:mm:ss", "00:10:00.000000"},
      {Kind::kTime, "09.30", "HH.mm", "09:30:45.123456"},
      {Kind::kTimestamp, "2024-12-31 24:00:00", "yyyy-MM-dd HH:mm:ss",
       "2025-01-01 00:00:00.000000"},
      {Kind::kTimestamp, "2024-12-31 24:00:01", "yyyy-MM-dd HH:mm:ss", "MS1202"},
      {Kind::kDate, "1503", "ddMM", "2024-03-15"},
      {Kind::kDate, "2023-05", "yyyy-MM", "2023-05-01"},
      {Kind::kDate, "2023", "yyyy", "2023-01-01"},
      {Kind::kTimestamp, "2024-03-07", "yyyy-MM-dd", "2024-03-07 11:30:45.123456"},
      {Kind::kGmtTimestamp, "2024-03-07", "yyyy-MM-dd", "2024-03-07 09:30:45.123456"},
      {Kind::kDate, "2024 366", "yyyy DDD", "2024-12-31"},
      {Kind::kDate, "2023 366", "yyyy DDD", "MS1202"},
      {Kind::kDate, "2024 10 5", "YYYY ww e", "2024-03-07"},
      {Kind::kDate, "2025 01 2", "YYYY ww e", "2024-12-30"},
      {Kind::kDate, "2024-03 2 Wed", "yyyy-MM F EEE", "2024-03-13"},
      {Kind::kDate, "2024-03-07   ", "yyyy-MM-dd", "2024-03-07"},
      {Kind::kDate, "on 2024-03-07", "'on 'yyyy-MM-dd", "2024-03-07"},
      // Zones.
      {Kind::kTimestamp, "2024-07-01T10:00:00+00:00", "yyyy-MM-dd'T'HH:mm:ssZZZ",
       "2024-07-01 12:00:00.000000"},
      {Kind::kGmtTimestamp, "2024-07-01T10:00:00+0530", "yyyy-MM-dd'T'HH:mm:ssZ",
       "2024-07-01 04:30:00.000000"},
      {Kind::kGmtTimestamp, "2024-07-01 10:00:00 EST", "yyyy-MM-dd HH:mm:ss z",
       "2024-07-01 15:00:00.000000"},
      {Kind::kTimestamp, "2024-07-01 10:00:00 CEST", "yyyy-MM-dd HH:mm:ss z",
       "2024-07-01 10:00:00.000000"},
      {Kind::kTimestamp, "2024-07-01 10:00:00 XYZ", "yyyy-MM-dd HH:mm:ss z", "BIP3204"},
      // ISO 8601, whole and truncated.
      {Kind::kTimestamp, "2024-07-01T10:00:00.5Z", "I", "2024-07-01 12:00:00.500000"},
      {Kind::kTimestamp, "2024-01-01T10:00:00.123456789+01:00", "IU", "2024-01-01 10:00:00.123456"},
      {Kind::kTimestamp, "2024-07-01T10:00", "I", "2024-07-01 10:00:00.000000"},
      {Kind::kTimestamp, "2024-07-01", "IU", "2024-07-01 00:00:00.000000"},
      {Kind::kTimestamp, "20240701T100000Z", "I", "2024-07-01 12:00:00.000000"},
      {Kind::kDate, "2024-07", "I", "2024-07-01"},
      {Kind::kDate, "2024", "I", "2024-01-01"},
      {Kind::kDate, "2024-07-01Z", "I", "2024-07-01"},
      {Kind::kTime, "10:30", "T", "10:30:00.000000"},
      {Kind::kTime, "10:30:15Z", "TU", "12:30:15.000000"},
      {Kind::kGmtTime, "23:30:00-05:00", "T", "04:30:00.000000"},
      {Kind::kTime, "10:30:15", "I", "10:30:15.000000"},
      // Refused.
      {Kind::kTime, "4:14 PM", "hh:mm a", "BIP3204"},
      {Kind::kTime, "16:18:30", "hh:mm:ss", "BIP3204"},
      {Kind::kDate, "2024-13-01", "yyyy-MM-dd", "BIP3204"},
      {Kind::kDate, "2024-02-30", "yyyy-MM-dd", "MS1202"},
      {Kind::kDate, "24-02-03", "yyyy-MM-dd", "BIP3204"},
      {Kind::kDate, "2024-02-03x", "yyyy-MM-dd", "BIP3204"},
      {Kind::kDate, "", "yyyy-MM-dd", "BIP3204"},
      {Kind::kDate, "2024-02", "yyyy-MM-dd", "BIP3204"},
      {Kind::kDate, "0000-02-03", "yyyy-MM-dd", "BIP3204"},
      {Kind::kDate, "9999-366", "yyyy-DDD", "MS1202"},
      {Kind::kTimestamp, "9999-12-31T23:30:00Z", "I", "MS1201"},
      {Kind::kTimestamp, "2024-07-01T10:00:00+1", "I", "2024-07-01 11:00:00.000000"},
      {Kind::kTimestamp, "2024-07-01T10:00:00+123", "I", "BIP3204"},
      {Kind::kTimestamp, "2024-07-01T", "I", "BIP3204"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.text);
    CAPTURE(c.pattern);
    CHECK(parse_as(c.kind, c.text, c.pattern) == c.expected);
  }
}

TEST_CASE("datetime format: the message shows what did not match") {
  Value v;
  Status s = parse_datetime("4:14 PM", "hh:mm a", Kind::kTime, paris_rule(), kNow, v);
  REQUIRE_FALSE(s.ok());
  CHECK(s.error().inserts[2].text == "4:14 PM");
  CHECK(s.error().inserts[3].text == "hh");
  s = parse_datetime("16:18:30", "hh:mm:ss", Kind::kTime, paris_rule(), kNow, v);
  REQUIRE_FALSE(s.ok());
  CHECK(s.error().inserts[2].text == "16");
  CHECK(s.error().inserts[3].text == "hh");
}

TEST_CASE("datetime format: what is written is read back") {
  uint32_t seed = 12345;
  const char* patterns[] = {"yyyy-MM-dd HH:mm:ss.SSSSSS", "yyyyMMddHHmmssSSSSSS",
                            "EEE, dd MMM yyyy hh:mm:ss.SSSSSS a", "yyyy-MM-dd'T'HH:mm:ss.SSSSSSZZZ",
                            "DDD yyyy kk:mm:ss.SSSSSS"};
  for (int i = 0; i < 2000; ++i) {
    seed = seed * 1664525 + 1013904223;
    int64_t days = seed % 700'000;
    int64_t micros = (days - 300'000) * kMicrosPerDay + seed % 86'400 * kMicrosPerSecond + i;
    Value v = Value::make_timestamp(Kind::kGmtTimestamp, micros), again;
    std::string text;
    REQUIRE(format_datetime(v, patterns[i % 5], paris_rule(), kNow, text).ok());
    Status s =
        parse_datetime(text, patterns[i % 5], Kind::kGmtTimestamp, paris_rule(), kNow, again);
    if (!s.ok() || again.integer != micros) FAIL(text << " by " << patterns[i % 5]);
  }
}

TEST_CASE("datetime format: more patterns than the cache holds") {
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 300; ++i) {
      std::string literal = "'p" + std::to_string(i) + "'yyyy";
      CHECK(format_as(Kind::kDate, "2024-03-07", literal) == "p" + std::to_string(i) + "2024");
      CHECK(format_as(Kind::kDate, "2024-03-07", "bad") == "MS1207");
    }
  }
}

}  // namespace millstream::value
