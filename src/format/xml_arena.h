// A vector and a growing text whose memory is in an arena: for parsers, which live in a message's
// arena and whose destructors never run.
// Thread: one.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <type_traits>

#include "base/arena.h"
#include "base/assert.h"

namespace millstream::format {

// Grows by doubling; what it outgrew stays in the arena until the message ends.
template <typename T>
class ArenaVector {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  void push(base::Arena& arena, const T& item) {
    if (__builtin_expect(size_ == capacity_, 0)) grow(arena);
    items_[size_++] = item;
  }
  void pop() { --size_; }
  void clear() { size_ = 0; }
  void shrink(uint32_t size) { size_ = size; }
  T& back() { return items_[size_ - 1]; }
  T& operator[](size_t i) { return items_[i]; }
  const T& operator[](size_t i) const { return items_[i]; }
  uint32_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T* begin() { return items_; }
  T* end() { return items_ + size_; }
  const T* begin() const { return items_; }
  const T* end() const { return items_ + size_; }

 private:
  void grow(base::Arena& arena) {
    uint32_t capacity = capacity_ ? capacity_ * 2 : 16;
    T* items = static_cast<T*>(arena.allocate(capacity * sizeof(T), alignof(T)));
    if (size_) std::memcpy(static_cast<void*>(items), items_, size_ * sizeof(T));
    items_ = items;
    capacity_ = capacity;
  }
  T* items_ = nullptr;
  uint32_t size_ = 0;
  uint32_t capacity_ = 0;
};

// A text put together from parts; start() begins a new one and leaves the old bytes where they are.
class ArenaText {
 public:
  void start() {
    data_ = nullptr;
    size_ = capacity_ = 0;
  }
  void append(base::Arena& arena, std::string_view s) {
    if (s.empty()) return;
    if (size_ + s.size() > capacity_) grow(arena, s.size());
    MS_ASSERT(data_ != nullptr);
    std::memcpy(data_ + size_, s.data(), s.size());
    size_ += s.size();
  }
  void append(base::Arena& arena, char c) { append(arena, {&c, 1}); }
  std::string_view view() const { return {data_, size_}; }
  bool empty() const { return size_ == 0; }

 private:
  void grow(base::Arena& arena, size_t more) {
    size_t capacity = (size_ + more) * 2 + 32;
    if (capacity_ && arena.try_extend(data_, capacity_, capacity)) {
      capacity_ = capacity;
      return;
    }
    char* data = arena.bytes(capacity);
    if (size_) std::memcpy(data, data_, size_);
    data_ = data;
    capacity_ = capacity;
  }
  char* data_ = nullptr;
  size_t size_ = 0;
  size_t capacity_ = 0;
};

}  // namespace millstream::format
