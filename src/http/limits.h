// Limits of HTTP/1.1 messages. Every one has a test that hits it. Thread: any.
#pragma once
#include <cstddef>
#include <cstdint>

namespace millstream::http {

struct MessageLimits {
  size_t head_bytes_max = 64 * 1024;  // start line and fields; also trailers
  size_t header_count_max = 200;
  size_t target_bytes_max = 16 * 1024;
  size_t body_bytes_max = 64 * 1024 * 1024;
};

inline constexpr size_t kMethodBytesMax = 32;
inline constexpr size_t kChunkSizeDigitsMax = 15;
inline constexpr size_t kChunkExtensionBytesMax = 256;  // of one chunk
inline constexpr size_t kChunkExtensionTotalMax = 16 * 1024;
inline constexpr int kLeadingEmptyLinesMax = 2;  // before a request line

}  // namespace millstream::http
