// Absolute times in net and http: nanoseconds of the reactor's monotonic clock. kNever: no
// time-out. Thread: any.
#pragma once
#include <cstdint>

namespace millstream::net {

inline constexpr int64_t kNever = INT64_MAX;
inline constexpr int64_t kMillisecond = 1'000'000;
inline constexpr int64_t kSecond = 1'000'000'000;

}  // namespace millstream::net
