#include "value/time_zone.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <vector>

#include "io/file.h"
#include "text/utf8.h"
#include "value/datetime.h"
#include "value/errors_gen.h"
#include "value/posix_zone.h"

namespace millstream::value {

struct TimeZone::Data {
  struct Type {
    int32_t offset = 0;
    bool is_summer = false;
    std::string abbreviation;
  };
  std::string name;
  std::vector<int64_t> transitions;  // GMT seconds, ascending
  std::vector<uint8_t> type_of;      // after the transition of the same index
  std::vector<Type> types;           // never empty; the first holds before all transitions
  std::optional<PosixZone> rule;     // after the last transition
};

namespace {

struct ZoneReading {
  int32_t offset;
  bool is_summer;
  std::string_view abbreviation;
};

ZoneReading zone_reading(const TimeZone::Data& zone, int64_t gmt_seconds) {
  if (zone.rule && (zone.transitions.empty() || gmt_seconds >= zone.transitions.back())) {
    PosixZone::Reading r = zone.rule->at_gmt(gmt_seconds);
    return {r.offset, r.is_summer, r.is_summer ? zone.rule->summer_name : zone.rule->standard_name};
  }
  auto after = std::upper_bound(zone.transitions.begin(), zone.transitions.end(), gmt_seconds);
  size_t index = static_cast<size_t>(after - zone.transitions.begin());
  const TimeZone::Data::Type& type = zone.types[index == 0 ? 0 : zone.type_of[index - 1]];
  return {type.offset, type.is_summer, type.abbreviation};
}

int64_t zone_seconds(int64_t micros) { return floor_div(micros, kMicrosPerSecond); }

// The counts of a TZif header (RFC 8536 section 3.1), in the order of the file.
struct TzifHeader {
  uint8_t version = 0;
  uint32_t isut = 0, isstd = 0, leap = 0, time = 0, type = 0, chars = 0;
  size_t body_bytes(size_t time_size) const {
    return size_t{time} * time_size + time + size_t{type} * 6 + chars +
           size_t{leap} * (time_size + 4) + isstd + isut;
  }
};

constexpr size_t kTzifHeaderBytes = 44;

int64_t read_big_endian(std::string_view bytes, size_t at, size_t size) {
  uint64_t v = 0;
  for (size_t i = 0; i < size; ++i) v = v << 8 | static_cast<unsigned char>(bytes[at + i]);
  return size == 4 ? static_cast<int32_t>(static_cast<uint32_t>(v)) : static_cast<int64_t>(v);
}

bool read_tzif_header(std::string_view bytes, size_t at, TzifHeader& h) {
  if (bytes.size() < at + kTzifHeaderBytes || bytes.substr(at, 4) != "TZif") return false;
  h.version = static_cast<uint8_t>(bytes[at + 4]);
  uint32_t* counts[] = {&h.isut, &h.isstd, &h.leap, &h.time, &h.type, &h.chars};
  for (size_t i = 0; i < 6; ++i) {
    auto count = static_cast<uint32_t>(read_big_endian(bytes, at + 20 + 4 * i, 4));
    if (count > TimeZone::kMaxTransitions) return false;
    *counts[i] = count;
  }
  return h.type > 0 && h.type <= 256;
}

const char* read_tzif_body(std::string_view body, const TzifHeader& h, size_t time_size,
                           TimeZone::Data& zone) {
  size_t at = 0;
  for (uint32_t i = 0; i < h.time; ++i, at += time_size) {
    zone.transitions.push_back(read_big_endian(body, at, time_size));
  }
  if (!std::is_sorted(zone.transitions.begin(), zone.transitions.end())) {
    return "its changes are not in order";
  }
  for (uint32_t i = 0; i < h.time; ++i, ++at) {
    auto type = static_cast<uint8_t>(body[at]);
    if (type >= h.type) return "a change names a missing type";
    zone.type_of.push_back(type);
  }
  std::string_view names = body.substr(at + size_t{h.type} * 6, h.chars);
  for (uint32_t i = 0; i < h.type; ++i, at += 6) {
    TimeZone::Data::Type type;
    type.offset = static_cast<int32_t>(read_big_endian(body, at, 4));
    type.is_summer = body[at + 4] != 0;
    auto name_at = static_cast<unsigned char>(body[at + 5]);
    if (name_at >= names.size() || std::abs(type.offset) > 26 * 3600) {
      return "an offset or name is out of range";
    }
    std::string_view name = names.substr(name_at);
    type.abbreviation = name.substr(0, std::min(name.find('\0'), name.size()));
    zone.types.push_back(std::move(type));
  }
  return nullptr;
}

bool read_zone_file(const std::string& path, std::string& out) {
  Result<std::string> bytes = io::read_file(path, TimeZone::kMaxFileBytes);
  if (!bytes.ok() || bytes.value().empty()) return false;
  out = std::move(bytes.value());
  return true;
}

// Names become file names below the zone directory, so nothing that could lead out of it.
bool is_zone_file_name(std::string_view name) {
  if (name.empty() || name.size() > 100 || name.front() == '/' || name.front() == '.') return false;
  if (name.find("..") != std::string_view::npos) return false;
  return std::all_of(name.begin(), name.end(), [](unsigned char c) {
    return std::isalnum(c) || c == '/' || c == '_' || c == '-' || c == '+';
  });
}

std::string zone_directory() {
  const char* directory = std::getenv("TZDIR");
  return directory != nullptr && *directory != '\0' ? directory : "/usr/share/zoneinfo";
}

std::shared_ptr<const TimeZone::Data> make_rule_zone(PosixZone rule, std::string_view name) {
  auto data = std::make_shared<TimeZone::Data>();
  data->name = name;
  data->types.push_back({rule.standard_offset, false, rule.standard_name});
  data->rule = std::move(rule);
  return data;
}

}  // namespace

TimeZone::TimeZone() {
  static const std::shared_ptr<const Data> gmt = [] {
    auto data = std::make_shared<Data>();
    data->name = "GMT";
    data->types.push_back({0, false, "GMT"});
    return data;
  }();
  data_ = gmt;
}

TimeZone TimeZone::fixed(int32_t offset_seconds, std::string_view abbreviation) {
  auto data = std::make_shared<Data>();
  data->name = abbreviation.empty() ? "fixed" : abbreviation;
  data->types.push_back({offset_seconds, false, std::string(abbreviation)});
  return TimeZone(std::shared_ptr<const Data>(std::move(data)));
}

Result<TimeZone> TimeZone::load(std::string_view name) {
  if (!name.empty() && name.front() == ':') name.remove_prefix(1);
  for (std::string_view gmt : {"Z", "UTC", "GMT"}) {
    if (text::equals_ignoring_ascii_case(name, gmt)) return TimeZone();
  }
  std::string bytes;
  if (is_zone_file_name(name) &&
      read_zone_file(zone_directory() + "/" + std::string(name), bytes)) {
    return from_tzif(bytes, name);
  }
  if (std::optional<PosixZone> rule = PosixZone::parse(name)) {
    return TimeZone(make_rule_zone(std::move(*rule), name));
  }
  return base::make_error(errors::kUnknownTimeZone, {name});
}

Result<TimeZone> TimeZone::from_tzif(std::string_view bytes, std::string_view name) {
  auto invalid = [&](const char* why) { return base::make_error(errors::kZoneFile, {name, why}); };
  TzifHeader header;
  size_t at = 0, time_size = 4;
  if (bytes.size() > kMaxFileBytes) return invalid("it is too large");
  if (!read_tzif_header(bytes, 0, header)) return invalid("the header is damaged");
  if (header.version >= '2') {  // the first block is for old readers
    at = kTzifHeaderBytes + header.body_bytes(4);
    time_size = 8;
    if (!read_tzif_header(bytes, at, header)) return invalid("the second header is damaged");
  }
  at += kTzifHeaderBytes;
  size_t size = header.body_bytes(time_size);
  if (bytes.size() < at + size) return invalid("it is cut off");
  auto data = std::make_shared<Data>();
  data->name = name;
  if (const char* why = read_tzif_body(bytes.substr(at, size), header, time_size, *data)) {
    return invalid(why);
  }
  if (time_size == 8) {
    std::string_view footer = bytes.substr(at + size);
    size_t end = footer.size() < 2 ? std::string_view::npos : footer.find('\n', 1);
    if (end == std::string_view::npos || footer.front() != '\n') return invalid("it has no footer");
    std::string_view rule = footer.substr(1, end - 1);
    if (!rule.empty()) {
      data->rule = PosixZone::parse(rule);
      if (!data->rule) return invalid("its rule is not valid");
    }
  }
  return TimeZone(std::shared_ptr<const Data>(std::move(data)));
}

TimeZone TimeZone::local() {
  const char* setting = std::getenv("TZ");
  std::string bytes;
  if (setting != nullptr && *setting != '\0') {
    std::string_view name(setting);
    if (name.front() == ':') name.remove_prefix(1);
    if (!name.empty() && name.front() == '/') {
      if (!read_zone_file(std::string(name), bytes)) return TimeZone();
      auto zone = from_tzif(bytes, name);
      return zone.ok() ? zone.value() : TimeZone();
    }
    auto zone = load(name);
    return zone.ok() ? zone.value() : TimeZone();
  }
  if (!read_zone_file("/etc/localtime", bytes)) return TimeZone();
  char link[256];
  ssize_t n = readlink("/etc/localtime", link, sizeof link);
  std::string_view path(link, n > 0 ? static_cast<size_t>(n) : 0);
  size_t marker = path.find("zoneinfo/");
  auto zone = from_tzif(bytes, marker == std::string_view::npos ? std::string_view("localtime")
                                                                : path.substr(marker + 9));
  return zone.ok() ? zone.value() : TimeZone();
}

const std::string& TimeZone::name() const { return data_->name; }

int32_t TimeZone::offset_at_gmt(int64_t gmt_micros) const {
  return zone_reading(*data_, zone_seconds(gmt_micros)).offset;
}

// No zone changes its offset twice within two days of each other, so the offsets a day before and a
// day after are the only candidates.
int32_t TimeZone::offset_at_local(int64_t local_micros) const {
  constexpr int64_t kDay = 86400;
  int64_t local = zone_seconds(local_micros);
  int32_t before = zone_reading(*data_, local - kDay).offset;
  int32_t after = zone_reading(*data_, local + kDay).offset;
  if (before == after) return before;
  if (zone_reading(*data_, local - before).offset == before) return before;
  if (zone_reading(*data_, local - after).offset == after) return after;
  return before;  // a reading that the clock skips
}

int64_t TimeZone::to_local(int64_t gmt_micros) const {
  return gmt_micros + offset_at_gmt(gmt_micros) * kMicrosPerSecond;
}

int64_t TimeZone::to_gmt(int64_t local_micros) const {
  return local_micros - offset_at_local(local_micros) * kMicrosPerSecond;
}

std::string_view TimeZone::abbreviation_at_gmt(int64_t gmt_micros) const {
  return zone_reading(*data_, zone_seconds(gmt_micros)).abbreviation;
}

bool TimeZone::is_summer_time_at_gmt(int64_t gmt_micros) const {
  return zone_reading(*data_, zone_seconds(gmt_micros)).is_summer;
}

}  // namespace millstream::value
