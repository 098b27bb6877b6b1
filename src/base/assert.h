// MS_ASSERT: what must hold if our own code is right. Never about outside input, which has errors.
// Debug and sanitizer builds stop and say where; in release builds it costs and does nothing.
#pragma once
#ifdef NDEBUG
#define MS_ASSERT(condition) static_cast<void>(0)
#else
#include <cstdio>
#include <cstdlib>
#define MS_ASSERT(condition)                                                                 \
  do {                                                                                       \
    if (!(condition)) {                                                                      \
      std::fprintf(stderr, "%s:%d: assertion failed: %s\n", __FILE__, __LINE__, #condition); \
      std::abort();                                                                          \
    }                                                                                        \
  } while (false)
#endif
