// The Date header of RFC 9110 section 5.6.7 ("Sun, 06 Nov 1994 08:49:37 GMT"), made once a second.
// Thread: a DateCache belongs to one thread.
#pragma once
#include <cstdint>
#include <string_view>

namespace millstream::http {

inline constexpr int kDateBytes = 29;
// Writes kDateBytes characters, no terminator.
void format_date(int64_t unix_seconds, char* out);

class DateCache {
 public:
  // `monotonic_ns` decides when the wall clock is read again.
  std::string_view text(int64_t monotonic_ns);

 private:
  int64_t next_ns_ = INT64_MIN;
  char text_[kDateBytes];
};

}  // namespace millstream::http
