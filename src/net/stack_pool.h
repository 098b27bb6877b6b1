// Stacks of fibers: mapped with a guard page below, kept for reuse. Also tells code that recurses
// over outside data how much stack is left, in fibers and on plain threads alike. Thread: a
// StackPool belongs to one thread; stack_remaining_bytes() is about the calling thread.
#pragma once
#include <cstddef>
#include <vector>

namespace millstream::net {

struct Stack {
  char* low = nullptr;  // lowest usable byte, above the guard page
  size_t size = 0;      // usable bytes
  char* top() const { return low + size; }
};

class StackPool {
 public:
  static constexpr size_t kDefaultBytes = 256 * 1024;

  explicit StackPool(size_t stack_bytes = kDefaultBytes);
  Stack map() const;  // low == nullptr when memory is exhausted
  static void unmap(const Stack& stack);
  size_t stack_bytes() const { return stack_bytes_; }

 private:
  size_t stack_bytes_;
};

// Bytes between here and the end of the current stack (fiber or thread).
size_t stack_remaining_bytes();

namespace detail {
// Set at fiber switches; null: the thread's own stack.
void set_current_stack_low(const char* low);
}  // namespace detail

}  // namespace millstream::net
