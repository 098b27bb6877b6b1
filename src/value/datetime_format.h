// The FORMAT patterns of CAST between datetimes and text (spec A9): pattern letters, quoted text,
// and the ISO forms I, IU, T, TU.
//
// Formatting uses the zone for z and Z: a local value has the zone's offset at that moment, a GMT
// value has offset zero. Parsing a text that states an offset converts to the target's clock (local
// or GMT); without one the text is the target's own clock reading. Fields that the pattern does not
// mention take 1970-01-01 00:00:00. Parsing is lenient where the product is: a single letter takes
// as many digits as there are, names match in any case, values carry over (month 13 is January).
// Errors say which character of the text did not match which part of the pattern.
// Thread: any.
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
                       std::string& out);
Status parse_datetime(std::string_view text, std::string_view pattern, Kind kind,
                      const TimeZone& local, int64_t now_gmt_micros, Value& out);

}  // namespace millstream::value
