#include "base/arena.h"

#include <cstdlib>

namespace millstream::base {

Arena::~Arena() {
  for (Chunk* c = first_; c;) {
    Chunk* next = c->next;
    std::free(c);
    c = next;
  }
}

void Arena::enter(Chunk* chunk) {
  current_ = chunk;
  cursor_ = reinterpret_cast<uintptr_t>(chunk) + sizeof(Chunk);
  limit_ = reinterpret_cast<uintptr_t>(chunk) + chunk->size;
}

void* Arena::allocate_slow(size_t size, size_t align) {
  const size_t need = size + align + sizeof(Chunk);
  // Chunks kept from earlier messages come first, in order; one that is too small stays unused
  // until the next reset.
  Chunk* after = current_;
  for (Chunk* c = current_ ? current_->next : first_; c; after = c, c = c->next) {
    if (c->size >= need) {
      enter(c);
      return allocate(size, align);
    }
  }
  size_t chunk_size = after ? after->size * 2 : kFirstChunkBytes;
  if (chunk_size > kMaxChunkBytes) chunk_size = kMaxChunkBytes;
  if (chunk_size < need) chunk_size = (need + 0xffff) & ~static_cast<size_t>(0xffff);
  auto* chunk = static_cast<Chunk*>(std::malloc(chunk_size));
  if (!chunk) std::abort();  // memory is bounded by the limits on input; this is out of memory
  chunk->size = chunk_size;
  chunk->next = nullptr;
  if (after) {
    after->next = chunk;
  } else {
    first_ = chunk;
  }
  enter(chunk);
  return allocate(size, align);
}

void Arena::reset() {
  current_ = nullptr;
  cursor_ = limit_ = 0;
  if (first_) enter(first_);
}

size_t Arena::used_bytes() const {
  size_t used = 0;
  for (Chunk* c = first_; c && c != current_; c = c->next) used += c->size;
  if (current_) used += cursor_ - reinterpret_cast<uintptr_t>(current_);
  return used;
}

size_t Arena::reserved_bytes() const {
  size_t total = 0;
  for (Chunk* c = first_; c; c = c->next) total += c->size;
  return total;
}

}  // namespace millstream::base
