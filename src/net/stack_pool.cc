#include "net/stack_pool.h"

#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#endif

namespace millstream::net {

namespace {
thread_local const char* t_fiber_stack_low = nullptr;
thread_local const char* t_thread_stack_low = nullptr;

size_t stack_page_bytes() {
  static const size_t bytes = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

const char* find_thread_stack_low() {
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return nullptr;
  void* low = nullptr;
  size_t size = 0;
  pthread_attr_getstack(&attributes, &low, &size);
  pthread_attr_destroy(&attributes);
  return static_cast<const char*>(low);
}
}  // namespace

StackPool::StackPool(size_t stack_bytes) {
  size_t page = stack_page_bytes();
  stack_bytes_ = (stack_bytes + page - 1) / page * page;
}

Stack StackPool::map() const {
  size_t page = stack_page_bytes();
  void* base = mmap(nullptr, stack_bytes_ + page, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (base == MAP_FAILED) return {};
  if (mprotect(base, page, PROT_NONE) != 0) {
    munmap(base, stack_bytes_ + page);
    return {};
  }
  return {static_cast<char*>(base) + page, stack_bytes_};
}

void StackPool::unmap(const Stack& stack) {
  if (!stack.low) return;
#if defined(__SANITIZE_ADDRESS__)
  __asan_unpoison_memory_region(stack.low, stack.size);
#endif
  size_t page = stack_page_bytes();
  munmap(stack.low - page, stack.size + page);
}

size_t stack_remaining_bytes() {
  const char* here = static_cast<const char*>(__builtin_frame_address(0));
  const char* low = t_fiber_stack_low;
  if (!low) {
    if (!t_thread_stack_low) t_thread_stack_low = find_thread_stack_low();
    low = t_thread_stack_low;
  }
  return here > low ? static_cast<size_t>(here - low) : 0;
}

namespace detail {
void set_current_stack_low(const char* low) { t_fiber_stack_low = low; }
}  // namespace detail

}  // namespace millstream::net
