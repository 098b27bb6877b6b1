// MS_ASSERT: what must hold if our own code is right. Never about outside input, which has errors.
// Debug and sanitizer builds stop and say where; in release builds it costs and does nothing.
// MS_CHECK: the same where going on would corrupt state that outlives the process: it stops release
// builds, too.
#pragma once
#include <cstdio>
#include <cstdlib>

#define MS_CHECK(condition)                                                              \
  do {                                                                                   \
    if (__builtin_expect(!(condition), 0)) {                                             \
      std::fprintf(stderr, "%s:%d: check failed: %s\n", __FILE__, __LINE__, #condition); \
      std::abort();                                                                      \
    }                                                                                    \
  } while (false)

#ifdef NDEBUG
#define MS_ASSERT(condition) static_cast<void>(0)
#else
#define MS_ASSERT(condition)                                                                 \
  do {                                                                                       \
    if (!(condition)) {                                                                      \
      std::fprintf(stderr, "%s:%d: assertion failed: %s\n", __FILE__, __LINE__, #condition); \
      std::abort();                                                                          \
    }                                                                                        \
  } while (false)
#endif
