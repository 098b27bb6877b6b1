#include "http/date.h"

#include <time.h>

#include <cstring>

namespace millstream::http {

void format_date(int64_t unix_seconds, char* out) {
  static const char kDays[] = "SunMonTueWedThuFriSat";
  static const char kMonths[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
  time_t seconds = static_cast<time_t>(unix_seconds);
  tm utc;
  gmtime_r(&seconds, &utc);
  auto put2 = [](char* at, int v) {
    at[0] = static_cast<char>('0' + v / 10 % 10);
    at[1] = static_cast<char>('0' + v % 10);
  };
  std::memcpy(out, "Sun, 06 Nov 1994 08:49:37 GMT", kDateBytes);
  std::memcpy(out, kDays + 3 * utc.tm_wday, 3);
  put2(out + 5, utc.tm_mday);
  std::memcpy(out + 8, kMonths + 3 * utc.tm_mon, 3);
  put2(out + 12, (utc.tm_year + 1900) / 100);
  put2(out + 14, (utc.tm_year + 1900) % 100);
  put2(out + 17, utc.tm_hour);
  put2(out + 20, utc.tm_min);
  put2(out + 23, utc.tm_sec);
}

std::string_view DateCache::text(int64_t monotonic_ns) {
  if (monotonic_ns >= next_ns_) {
    timespec ts;
    clock_gettime(CLOCK_REALTIME, &ts);
    format_date(ts.tv_sec, text_);
    next_ns_ = monotonic_ns + (1'000'000'000 - ts.tv_nsec);
  }
  return {text_, kDateBytes};
}

}  // namespace millstream::http
