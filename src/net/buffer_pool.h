// Pooled byte buffers whose pages stay mapped: the first touch of a page costs more than parsing
// its contents. Sizes are powers of two from 16 KiB; each buffer has kPadding readable bytes behind
// its capacity (parsers may read ahead). A Buffer gives itself back on destruction. Ownership: a
// Buffer must die before its pool. Thread: a pool and its buffers belong to one thread.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace millstream::net {

class BufferPool;

// Memory on loan from a pool; movable, empty when default-made or moved from.
class Buffer {
 public:
  static constexpr size_t kPadding = 64;

  Buffer() = default;
  Buffer(Buffer&& other) noexcept { swap(other); }
  Buffer& operator=(Buffer&& other) noexcept {
    if (this != &other) {
      release();
      swap(other);
    }
    return *this;
  }
  ~Buffer() { release(); }

  char* data() { return data_; }
  const char* data() const { return data_; }
  size_t capacity() const { return capacity_; }
  explicit operator bool() const { return data_ != nullptr; }
  void release();

 private:
  friend class BufferPool;
  void swap(Buffer& other) noexcept {
    std::swap(pool_, other.pool_);
    std::swap(data_, other.data_);
    std::swap(capacity_, other.capacity_);
    std::swap(size_class_, other.size_class_);
  }
  BufferPool* pool_ = nullptr;
  char* data_ = nullptr;
  size_t capacity_ = 0;
  uint32_t size_class_ = 0;
};

class BufferPool {
 public:
  static constexpr size_t kMinBytes = 16 * 1024;
  static constexpr uint32_t kClasses = 17;  // 16 KiB ... 1 GiB
  // What comes back beyond this is unmapped: a burst of long messages must not stay for ever.
  static constexpr size_t kKeepBytesMax = 256 * 1024 * 1024;

  explicit BufferPool(size_t keep_bytes_max = kKeepBytesMax) : keep_bytes_max_(keep_bytes_max) {}
  ~BufferPool();
  BufferPool(const BufferPool&) = delete;
  BufferPool& operator=(const BufferPool&) = delete;

  // At least `capacity` usable bytes; an empty Buffer when it exceeds 1 GiB or memory is exhausted.
  Buffer take(size_t capacity);
  // Moves to a buffer of at least `capacity`, keeping the first `used` bytes; false: out of memory.
  bool grow(Buffer& buffer, size_t used, size_t capacity);
  // Mapped = in use + kept for the next taker.
  size_t kept_bytes() const { return kept_bytes_; }
  size_t mapped_bytes() const { return mapped_bytes_; }
  size_t in_use_bytes() const { return mapped_bytes_ - kept_bytes_; }

 private:
  friend class Buffer;
  void give_back(char* data, uint32_t size_class);
  std::vector<char*> free_[kClasses];
  size_t keep_bytes_max_;
  size_t kept_bytes_ = 0;
  size_t mapped_bytes_ = 0;
};

}  // namespace millstream::net
