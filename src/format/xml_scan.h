// The scanning loops of the XML hot path: 16 bytes a step with SSE2. Nothing here reads at or
// behind `end`: near the end a step works on a zero-filled copy, and the byte 0 stops every scan.
// Thread: any.
#pragma once
#include <emmintrin.h>

#include <cstdint>
#include <cstring>

namespace millstream::format::xml_scan {

inline __m128i load_tail(const char* p, const char* end) {
  alignas(16) char copy[16] = {};
  if (p < end) std::memcpy(copy, p, static_cast<size_t>(end - p));
  return _mm_load_si128(reinterpret_cast<const __m128i*>(copy));
}
inline __m128i load(const char* p, const char* end) {
  if (__builtin_expect(end - p >= 16, 1)) {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
  }
  return load_tail(p, end);
}
inline __m128i equal(__m128i x, char c) { return _mm_cmpeq_epi8(x, _mm_set1_epi8(c)); }

// The first of '>', '/', '=' or a byte <= ' ' (0 behind the end): where a name can stop.
inline const char* name_end(const char* p, const char* end) {
  for (;;) {
    __m128i x = load(p, end);
    __m128i low = _mm_cmpeq_epi8(_mm_min_epu8(x, _mm_set1_epi8(0x20)), x);
    __m128i stop =
        _mm_or_si128(_mm_or_si128(equal(x, '>'), equal(x, '/')), _mm_or_si128(equal(x, '='), low));
    auto mask = static_cast<unsigned>(_mm_movemask_epi8(stop));
    if (__builtin_expect(mask != 0, 1)) return p + __builtin_ctz(mask);
    p += 16;
  }
}

// Bit i: byte i of `x` ends plain text (see text_stop).
inline unsigned text_stops(__m128i x) {
  __m128i usual = _mm_cmpgt_epi8(x, _mm_set1_epi8(0x1f));  // signed: not what is >= 0x80
  __m128i special = _mm_or_si128(_mm_or_si128(equal(x, '<'), equal(x, '&')), equal(x, ']'));
  return static_cast<unsigned>(_mm_movemask_epi8(_mm_andnot_si128(special, usual))) ^ 0xFFFFu;
}

// The first byte that plain text cannot pass over: '<', '&', ']', not ASCII, or below 0x20 (also
// tab and line ends, which the caller judges; 0 behind the end).
inline const char* text_stop(const char* p, const char* end) {
  for (;;) {
    unsigned mask = text_stops(load(p, end));
    if (__builtin_expect(mask != 0, 1)) return p + static_cast<unsigned>(__builtin_ctz(mask));
    p += 16;
  }
}
// The same where 16 bytes are readable.
inline const char* text_stop_roomy(const char* p, const char* end) {
  unsigned mask = text_stops(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
  if (__builtin_expect(mask != 0, 1)) return p + static_cast<unsigned>(__builtin_ctz(mask));
  return text_stop(p + 16, end);
}

// As text_stop for an attribute value: stops at `quote`, '<', '&', odd bytes.
inline const char* value_stop(const char* p, const char* end, char quote) {
  for (;;) {
    __m128i x = load(p, end);
    __m128i odd = _mm_cmplt_epi8(x, _mm_set1_epi8(0x20));
    __m128i stop = _mm_or_si128(_mm_or_si128(equal(x, '<'), equal(x, '&')),
                                _mm_or_si128(equal(x, quote), odd));
    auto mask = static_cast<unsigned>(_mm_movemask_epi8(stop));
    if (__builtin_expect(mask != 0, 1)) return p + __builtin_ctz(mask);
    p += 16;
  }
}

// The first `c`, or odd byte, for comments, processing instructions and CDATA.
inline const char* char_stop(const char* p, const char* end, char c) {
  for (;;) {
    __m128i x = load(p, end);
    __m128i stop = _mm_or_si128(equal(x, c), _mm_cmplt_epi8(x, _mm_set1_epi8(0x20)));
    auto mask = static_cast<unsigned>(_mm_movemask_epi8(stop));
    if (__builtin_expect(mask != 0, 1)) return p + __builtin_ctz(mask);
    p += 16;
  }
}

inline const char* skip_space(const char* p, const char* end) {
  for (;;) {
    __m128i x = load(p, end);
    __m128i space = _mm_or_si128(_mm_or_si128(equal(x, ' '), equal(x, '\n')),
                                 _mm_or_si128(equal(x, '\t'), equal(x, '\r')));
    unsigned mask = static_cast<unsigned>(_mm_movemask_epi8(space)) ^ 0xFFFFu;
    if (__builtin_expect(mask != 0, 1)) return p + __builtin_ctz(mask);
    p += 16;
  }
}

// Whether the `size` bytes at `a` and `b` are the same; 16 bytes at `a` and at `b` are readable
// when `is_roomy`.
inline bool same_bytes(const char* a, const char* b, uint32_t size, bool is_roomy) {
  if (__builtin_expect(is_roomy && size <= 16, 1)) {
    __m128i x = _mm_loadu_si128(reinterpret_cast<const __m128i*>(a));
    __m128i y = _mm_loadu_si128(reinterpret_cast<const __m128i*>(b));
    auto mask = static_cast<unsigned>(_mm_movemask_epi8(_mm_cmpeq_epi8(x, y)));
    return (~mask & ((1u << size) - 1)) == 0;
  }
  return std::memcmp(a, b, size) == 0;
}

// A hash of a name by its first and last bytes and its length; `is_roomy`: 8 bytes are readable.
inline uint32_t name_hash(const char* p, uint32_t size, bool is_roomy) {
  uint64_t w = 0;
  if (size >= 8) {
    uint64_t tail;
    std::memcpy(&w, p, 8);
    std::memcpy(&tail, p + size - 8, 8);
    w ^= (tail << 23) | (tail >> 41);
  } else if (is_roomy) {
    std::memcpy(&w, p, 8);
    w &= (uint64_t{1} << (size * 8)) - 1;
  } else {
    std::memcpy(&w, p, size);
  }
  w = (w ^ size) * 0x9e3779b97f4a7c15ull;
  return static_cast<uint32_t>(w >> 32) ^ static_cast<uint32_t>(w >> 52);
}

}  // namespace millstream::format::xml_scan
