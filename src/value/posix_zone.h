// The rule of a POSIX TZ string: "CET-1CEST,M3.5.0,M10.5.0/3", "<+03>-3". It is the footer of zone
// files, where it gives the offsets after the last listed change. Private to the folder.
// Thread: any.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace millstream::value {

struct PosixZone {
  struct Change {
    enum class Form : uint8_t { kJulian, kZeroBased, kMonthWeekDay };
    Form form = Form::kMonthWeekDay;
    int month = 0, week = 0, day = 0;  // kMonthWeekDay; day 0 = Sunday, or the day number
    int32_t time_seconds = 7200;       // local time, may be outside 0..24 h
  };
  struct Reading {
    int32_t offset = 0;
    bool is_summer = false;
  };
  std::string standard_name, summer_name;
  int32_t standard_offset = 0, summer_offset = 0;  // seconds east
  bool has_summer = false;
  Change summer_start, summer_end;

  static std::optional<PosixZone> parse(std::string_view text);
  Reading at_gmt(int64_t gmt_seconds) const;
};

}  // namespace millstream::value
