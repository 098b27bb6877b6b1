// A time zone: the history of offsets from GMT of one place, and the rule for its future.
//
// Reads compiled zone files (TZif versions 1 to 4, footer rule included) and POSIX TZ strings such
// as "CET-1CEST,M3.5.0,M10.5.0/3". Offsets are seconds east of GMT. Instants are microseconds since
// 1970-01-01 00:00:00 (GMT, or the reading of a local clock).
// Immutable and cheap to copy; thread: any.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace millstream::value {

class TimeZone {
 public:
  static constexpr size_t kMaxFileBytes = 1 << 20;
  static constexpr size_t kMaxTransitions = 100'000;

  TimeZone();  // GMT
  static TimeZone utc() { return TimeZone(); }
  static TimeZone fixed(int32_t offset_seconds, std::string_view abbreviation = {});
  // A name of the zone database ("Europe/Paris"), "Z", "UTC", "GMT", or a POSIX TZ string (where
  // GMT+3 is three hours west).
  static Result<TimeZone> load(std::string_view name);
  // From the bytes of a zone file.
  static Result<TimeZone> from_tzif(std::string_view bytes, std::string_view name);
  // What TZ says, else /etc/localtime, else GMT. An unusable setting gives GMT.
  static TimeZone local();

  const std::string& name() const;  // as loaded; "GMT" for the default

  int32_t offset_at_gmt(int64_t gmt_micros) const;
  // For a clock reading that occurs twice the earlier instant counts (summer time); for one that is
  // skipped, the offset before the change.
  int32_t offset_at_local(int64_t local_micros) const;
  int64_t to_local(int64_t gmt_micros) const;
  int64_t to_gmt(int64_t local_micros) const;
  std::string_view abbreviation_at_gmt(int64_t gmt_micros) const;  // "CEST"
  bool is_summer_time_at_gmt(int64_t gmt_micros) const;

  struct Data;  // time_zone.cc

 private:
  explicit TimeZone(std::shared_ptr<const Data> data) : data_(std::move(data)) {}
  std::shared_ptr<const Data> data_;  // shared by all copies
};

}  // namespace millstream::value
