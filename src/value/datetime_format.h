// The FORMAT patterns of CAST between datetimes and text (spec A9): pattern letters, quoted text,
// and the ISO forms I, IU, T, TU.
//
// Formatting uses the zone for z and Z: a local value has the zone's offset at that moment, a GMT
// value has offset zero; the date of a TIME is that of `now`. Parsing a text that states an offset
// converts to the target's clock (local or GMT); without one the text is the target's own reading.
//
// Parsing is as strict as the product: hh takes exactly two digits and no 16, one letter takes one
// or two; names match in any case; trailing blanks are ignored. What the pattern does not mention:
// parts above the largest date part given are those of the current date, parts below are 1; the
// time of day is the current one, as far as it is not given (no fraction once seconds are given).
// The ISO forms fill up with 1 and 0. Errors say which text did not match which part of the
// pattern. Thread: any.
#pragma once
#include <string>
#include <string_view>

#include "base/result.h"
#include "value/time_zone.h"
#include "value/value.h"

namespace millstream::value {

constexpr size_t kMaxPatternBytes = 4096;

// `v` is one of the five datetime kinds.
Status format_datetime(const Value& v, std::string_view pattern, const TimeZone& local,
                       int64_t now_gmt_micros, std::string& out);
Status parse_datetime(std::string_view text, std::string_view pattern, Kind kind,
                      const TimeZone& local, int64_t now_gmt_micros, Value& out);

}  // namespace millstream::value
