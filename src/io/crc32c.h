// CRC-32C (Castagnoli, RFC 3720 appendix B.4): by the processor's instruction where it has one.
// Thread: any.
#pragma once
#include <cstddef>
#include <cstdint>

namespace millstream::io {

// Of `size` bytes after those whose checksum is `before` (0: none).
uint32_t crc32c(const void* data, size_t size, uint32_t before = 0);
// The same without the instruction: for tests and other processors.
uint32_t crc32c_portable(const void* data, size_t size, uint32_t before = 0);

}  // namespace millstream::io
