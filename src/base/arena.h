// Bump allocator for all that lives as long as one message. Nothing is freed singly; reset() keeps
// every chunk mapped, because the first touch of a page costs more than parsing its contents.
// Pointers are valid until reset() or destruction. No destructors run: store trivial types only.
// Thread: one at a time.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <string_view>
#include <type_traits>
#include <utility>

namespace millstream::base {

class Arena {
 public:
  // Chunks double from the first to the largest; what is larger gets a chunk of its own size.
  static constexpr size_t kFirstChunkBytes = 64 * 1024;
  static constexpr size_t kMaxChunkBytes = 4 * 1024 * 1024;

  Arena() = default;
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  // Uninitialised memory; `align` is a power of two. Never null: out of memory ends the process.
  void* allocate(size_t size, size_t align = 8) {
    uintptr_t at = (cursor_ + (align - 1)) & ~(static_cast<uintptr_t>(align) - 1);
    if (__builtin_expect(at + size <= limit_, 1)) {
      cursor_ = at + size;
      return reinterpret_cast<void*>(at);
    }
    return allocate_slow(size, align);
  }

  // An object from braces: T{args...}.
  template <typename T, typename... Args>
  T* make(Args&&... args) {
    static_assert(std::is_trivially_destructible_v<T>, "arena objects are never destroyed");
    return new (allocate(sizeof(T), alignof(T))) T{std::forward<Args>(args)...};
  }

  // Copies; the result is not NUL-terminated.
  std::string_view copy(std::string_view s) {
    if (s.empty()) return {};
    char* p = static_cast<char*>(allocate(s.size(), 1));
    std::memcpy(p, s.data(), s.size());
    return {p, s.size()};
  }

  // Uninitialised bytes, e.g. for a string that is being built.
  char* bytes(size_t size) { return static_cast<char*>(allocate(size ? size : 1, 1)); }

  // Grows the last allocation in place when it is the newest one; false means: allocate anew.
  bool try_extend(const void* start, size_t old_size, size_t new_size) {
    uintptr_t begin = reinterpret_cast<uintptr_t>(start);
    if (begin + old_size != cursor_ || begin + new_size > limit_) return false;
    cursor_ = begin + new_size;
    return true;
  }

  void reset();                   // forgets all objects, keeps the chunks
  size_t used_bytes() const;      // since the last reset
  size_t reserved_bytes() const;  // mapped

 private:
  struct Chunk {
    Chunk* next;
    size_t size;
  };
  void* allocate_slow(size_t size, size_t align);
  void enter(Chunk* chunk);

  uintptr_t cursor_ = 0;
  uintptr_t limit_ = 0;
  Chunk* first_ = nullptr;
  Chunk* current_ = nullptr;
};

}  // namespace millstream::base
