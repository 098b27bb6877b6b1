#include "value/time_zone.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>

#include "value/datetime.h"
#include "value/errors_gen.h"
#include "value/posix_zone.h"

namespace millstream::value {
namespace {

std::string read_test_file(const std::string& name) {
  std::ifstream in("src/value/testdata/" + name, std::ios::binary);
  std::stringstream bytes;
  bytes << in.rdbuf();
  return bytes.str();
}

TimeZone sample_zone(std::string name) {
  std::string file = name;
  for (char& c : file) c = c == '/' ? '_' : c;
  auto zone = TimeZone::from_tzif(read_test_file(file + ".tzif"), name);
  REQUIRE_MESSAGE(zone.ok(), name);
  return zone.value();
}

}  // namespace

TEST_CASE("time zone: agrees with the reference samples") {
  std::istringstream lines(read_test_file("zone_samples.tsv"));
  std::map<std::string, TimeZone> zones;
  std::string form, name, abbreviation;
  int64_t seconds = 0;
  int32_t offset = 0;
  int checked = 0;
  while (lines >> form >> name >> seconds >> offset) {
    if (!zones.count(name)) zones.emplace(name, sample_zone(name));
    const TimeZone& zone = zones.at(name);
    CAPTURE(name);
    CAPTURE(seconds);
    CAPTURE(form);
    int64_t micros = seconds * kMicrosPerSecond;
    if (form == "G") {
      lines >> abbreviation;
      CHECK(zone.offset_at_gmt(micros) == offset);
      CHECK(zone.offset_at_gmt(micros + 999'999) == offset);
      CHECK(zone.abbreviation_at_gmt(micros) == abbreviation);
    } else {
      CHECK(zone.offset_at_local(micros) == offset);
    }
    ++checked;
  }
  CHECK(checked > 3000);
}

TEST_CASE("time zone: both sides of a change of the clock") {
  TimeZone paris = sample_zone("Europe/Paris");
  auto local = [&](const char* text) {
    Value v;
    REQUIRE(parse_datetime_text(Kind::kTimestamp, text, v).ok());
    return v.integer;
  };
  CHECK(paris.to_gmt(local("2024-07-01 12:00:00")) == local("2024-07-01 10:00:00"));
  CHECK(paris.to_gmt(local("2024-03-31 02:30:00")) == local("2024-03-31 01:30:00"));  // skipped
  CHECK(paris.to_gmt(local("2024-10-27 02:30:00")) == local("2024-10-27 00:30:00"));  // twice
  CHECK(paris.to_gmt(local("2024-10-27 03:00:00")) == local("2024-10-27 02:00:00"));
  CHECK(paris.to_local(local("2024-03-31 00:59:59.999999")) == local("2024-03-31 01:59:59.999999"));
  CHECK(paris.to_local(local("2024-03-31 01:00:00")) == local("2024-03-31 03:00:00"));
  CHECK(paris.is_summer_time_at_gmt(local("2024-07-01 12:00:00")));
  CHECK_FALSE(paris.is_summer_time_at_gmt(local("2024-01-01 12:00:00")));
  // Far beyond the last listed change the rule of the footer holds.
  CHECK(paris.offset_at_gmt(local("2450-07-01 12:00:00")) == 7200);
  CHECK(paris.offset_at_gmt(local("2450-12-01 12:00:00")) == 3600);
}

TEST_CASE("time zone: POSIX strings") {
  auto cet = PosixZone::parse("CET-1CEST,M3.5.0,M10.5.0/3");
  REQUIRE(cet.has_value());
  CHECK(cet->at_gmt(1711846799).offset == 3600);
  CHECK(cet->at_gmt(1711846800).offset == 7200);
  CHECK(cet->at_gmt(1729990799).offset == 7200);
  CHECK(cet->at_gmt(1729990800).offset == 3600);
  auto south = PosixZone::parse("AEST-10AEDT,M10.1.0,M4.1.0/3");
  REQUIRE(south.has_value());
  CHECK(south->at_gmt(1704067200).offset == 39600);  // January
  CHECK(south->at_gmt(1719792000).offset == 36000);  // July
  auto fixed = PosixZone::parse("<+0330>-3:30");
  REQUIRE(fixed.has_value());
  CHECK(fixed->at_gmt(0).offset == 12600);
  auto west = PosixZone::parse("EST5EDT");
  REQUIRE(west.has_value());
  CHECK(west->at_gmt(1719792000).offset == -14400);
  auto julian = PosixZone::parse("AAA0BBB,J60/0,300/0");
  REQUIRE(julian.has_value());
  CHECK(julian->at_gmt(1709251199).is_summer == false);  // 2024-02-29 23:59:59
  CHECK(julian->at_gmt(1709251200).is_summer);           // 2024-03-01, day 60 without a leap day
  for (const char* bad :
       {"", "CE-1", "CET", "CET-1CEST,M3.5.0", "CET-1CEST,M13.1.0,M1.1.0", "CET-99", "<+03-3",
        "CET-1CEST,M3.5.0,M10.5.0/3x", "CET-1CEST,J0,J3", "CET-1CEST,M3.6.0,M1.1.0"}) {
    CAPTURE(bad);
    CHECK_FALSE(PosixZone::parse(bad).has_value());
  }
}

TEST_CASE("time zone: names") {
  CHECK(TimeZone().name() == "GMT");
  CHECK(TimeZone().offset_at_local(0) == 0);
  CHECK(TimeZone::load("utc").value().name() == "GMT");
  CHECK(TimeZone::load("CET-1CEST,M3.5.0,M10.5.0/3").value().offset_at_gmt(0) == 3600);
  CHECK(TimeZone::fixed(-3600, "X").offset_at_gmt(123) == -3600);
  for (const char* bad :
       {"", "Nowhere/Town", "../../etc/passwd", "/etc/passwd", "Europe/../Paris"}) {
    CAPTURE(bad);
    auto zone = TimeZone::load(bad);
    REQUIRE_FALSE(zone.ok());
    CHECK(zone.error().code == &errors::kUnknownTimeZone);
  }
}

TEST_CASE("time zone: damaged files are refused, every cut of a good one included") {
  std::string good = read_test_file("Europe_Paris.tzif");
  REQUIRE(TimeZone::from_tzif(good, "x").ok());
  for (size_t n = 0; n + 1 < good.size(); ++n) {
    if (TimeZone::from_tzif(std::string_view(good).substr(0, n), "x").ok()) FAIL("cut at " << n);
  }
  uint32_t seed = 7;
  for (int i = 0; i < 3000; ++i) {  // must not crash; may succeed
    std::string damaged = good;
    for (int k = 0; k < 3; ++k) {
      seed = seed * 1664525 + 1013904223;
      damaged[seed % (i % 2 ? 100 : damaged.size())] = static_cast<char>(seed >> 16);
    }
    auto zone = TimeZone::from_tzif(damaged, "x");
    if (zone.ok()) (void)zone.value().offset_at_local(1'700'000'000'000'000);
  }
  CHECK_FALSE(TimeZone::from_tzif(std::string(TimeZone::kMaxFileBytes + 1, 'T'), "x").ok());
}

TEST_CASE("time zone: the local one follows TZ") {
  const char* before = std::getenv("TZ");
  std::string kept = before ? before : "";
  setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3", 1);
  CHECK(TimeZone::local().offset_at_gmt(1'720'000'000'000'000) == 7200);
  setenv("TZ", ":Nowhere/Town", 1);
  CHECK(TimeZone::local().name() == "GMT");
  setenv("TZ", "/does/not/exist", 1);
  CHECK(TimeZone::local().name() == "GMT");
  if (before) {
    setenv("TZ", kept.c_str(), 1);
  } else {
    unsetenv("TZ");
  }
  (void)TimeZone::local();  // whatever the machine says, it must not fail
}

}  // namespace millstream::value
