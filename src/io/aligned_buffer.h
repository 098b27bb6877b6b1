// Memory that direct I/O takes: its address is a multiple of 4096. Kept, not zeroed.
// Thread: one at a time.
#pragma once
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <utility>

#include "base/assert.h"

namespace millstream::io {

constexpr size_t kDiskAlignment = 4096;

constexpr uint64_t align_up(uint64_t bytes, uint64_t unit = kDiskAlignment) {
  return (bytes + unit - 1) / unit * unit;
}

class AlignedBuffer {
 public:
  AlignedBuffer() = default;
  explicit AlignedBuffer(size_t size) : size_(align_up(size)) {
    data_.reset(static_cast<char*>(std::aligned_alloc(kDiskAlignment, size_ ? size_ : 1)));
    MS_CHECK(data_);
  }
  char* data() { return data_.get(); }
  const char* data() const { return data_.get(); }
  size_t size() const { return size_; }
  // The content is lost when it grows.
  void reserve(size_t size) {
    if (size > size_) *this = AlignedBuffer(size);
  }

 private:
  struct Free {
    void operator()(char* p) const { std::free(p); }
  };
  std::unique_ptr<char, Free> data_;
  size_t size_ = 0;
};

}  // namespace millstream::io
