// A small number for each thread, for data that is sharded so that every thread writes its own
// part. Beyond kThreadNumbers threads numbers are shared; what is counted then may lose a little.
// Thread: any.
#pragma once
#include <cstddef>
#include <cstdint>

namespace millstream::base {

inline constexpr size_t kThreadNumbers = 64;

namespace internal {
// 0: none yet. A constant initial value keeps the access to one instruction.
extern thread_local constinit uint32_t t_thread_number_plus_one;
uint32_t assign_thread_number();
}  // namespace internal

inline size_t thread_number() {
  const uint32_t known = internal::t_thread_number_plus_one;
  return __builtin_expect(known != 0, 1) ? known - 1 : internal::assign_thread_number() - 1;
}

}  // namespace millstream::base
