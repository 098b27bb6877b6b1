#include "net/buffer_pool.h"

#include <sys/mman.h>

#include <cstring>

namespace millstream::net {

namespace {
size_t buffer_bytes_of(uint32_t size_class) { return BufferPool::kMinBytes << size_class; }
}  // namespace

void Buffer::release() {
  if (!data_) return;
  pool_->give_back(data_, size_class_);
  data_ = nullptr;
  capacity_ = 0;
}

BufferPool::~BufferPool() {
  for (uint32_t c = 0; c < kClasses; ++c) {
    for (char* data : free_[c]) munmap(data, buffer_bytes_of(c));
  }
}

Buffer BufferPool::take(size_t capacity) {
  Buffer buffer;
  size_t need = capacity + Buffer::kPadding;
  uint32_t c = 0;
  while (c < kClasses && buffer_bytes_of(c) < need) ++c;
  if (c == kClasses || need < capacity) return buffer;
  size_t bytes = buffer_bytes_of(c);
  char* data;
  if (!free_[c].empty()) {
    data = free_[c].back();
    free_[c].pop_back();
    kept_bytes_ -= bytes;
  } else {
    void* mapped = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapped == MAP_FAILED) return buffer;
    data = static_cast<char*>(mapped);
    mapped_bytes_ += bytes;
  }
  buffer.pool_ = this;
  buffer.data_ = data;
  buffer.capacity_ = bytes - Buffer::kPadding;
  buffer.size_class_ = c;
  return buffer;
}

bool BufferPool::grow(Buffer& buffer, size_t used, size_t capacity) {
  if (buffer.capacity() >= capacity) return true;
  Buffer larger = take(capacity);
  if (!larger) return false;
  if (used) std::memcpy(larger.data(), buffer.data(), used);
  buffer = std::move(larger);
  return true;
}

void BufferPool::give_back(char* data, uint32_t size_class) {
  size_t bytes = buffer_bytes_of(size_class);
  if (kept_bytes_ + bytes > keep_bytes_max_) {
    munmap(data, bytes);
    mapped_bytes_ -= bytes;
    return;
  }
  free_[size_class].push_back(data);
  kept_bytes_ += bytes;
}

}  // namespace millstream::net
