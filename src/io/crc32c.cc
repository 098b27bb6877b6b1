#include "io/crc32c.h"

#include <array>
#include <cstring>

#if defined(__x86_64__)
#include <nmmintrin.h>
#endif

namespace millstream::io {
namespace {

constexpr uint32_t kPolynomial = 0x82F63B78;  // reflected

constexpr std::array<std::array<uint32_t, 256>, 8> make_tables() {
  std::array<std::array<uint32_t, 256>, 8> tables{};
  for (uint32_t i = 0; i < 256; ++i) {
    uint32_t crc = i;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ (crc & 1 ? kPolynomial : 0);
    tables[0][i] = crc;
  }
  for (uint32_t i = 0; i < 256; ++i) {
    for (size_t t = 1; t < 8; ++t) {
      tables[t][i] = (tables[t - 1][i] >> 8) ^ tables[0][tables[t - 1][i] & 0xff];
    }
  }
  return tables;
}

constexpr auto kTables = make_tables();

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) uint32_t crc32c_sse42(const uint8_t* p, size_t size,
                                                        uint64_t crc) {
  for (; size >= 8; size -= 8, p += 8) {
    uint64_t word;
    std::memcpy(&word, p, 8);
    crc = _mm_crc32_u64(crc, word);
  }
  auto rest = static_cast<uint32_t>(crc);
  for (; size > 0; --size, ++p) rest = _mm_crc32_u8(rest, *p);
  return rest;
}

const bool kHasSse42 = __builtin_cpu_supports("sse4.2");
#endif

}  // namespace

uint32_t crc32c_portable(const void* data, size_t size, uint32_t before) {
  const auto* p = static_cast<const uint8_t*>(data);
  uint32_t crc = ~before;
  for (; size >= 8; size -= 8, p += 8) {
    uint64_t word;
    std::memcpy(&word, p, 8);
    word ^= crc;
    crc = 0;
    for (size_t t = 0; t < 8; ++t) crc ^= kTables[7 - t][(word >> (8 * t)) & 0xff];
  }
  for (; size > 0; --size, ++p) crc = (crc >> 8) ^ kTables[0][(crc ^ *p) & 0xff];
  return ~crc;
}

uint32_t crc32c(const void* data, size_t size, uint32_t before) {
#if defined(__x86_64__)
  if (__builtin_expect(kHasSse42, 1)) {
    return ~crc32c_sse42(static_cast<const uint8_t*>(data), size, ~before);
  }
#endif
  return crc32c_portable(data, size, before);
}

}  // namespace millstream::io
