#include "queue/core/message.h"

#include <cstring>

namespace millstream::queue {

Body Body::copy(std::string_view bytes) { return join(bytes, {}); }

Body Body::join(std::string_view first, std::string_view second) {
  Body body;
  size_t size = first.size() + second.size();
  if (size == 0) return body;
  body.block_ = BodyBlock::allocate(size);
  char* to = body.block_->bytes();
  std::memcpy(to, first.data(), first.size());
  if (!second.empty()) std::memcpy(to + first.size(), second.data(), second.size());
  body.view_ = {to, size};
  return body;
}

Body Body::adopt(std::string bytes) {
  Body body;
  if (bytes.empty()) return body;
  body.block_ = BodyBlock::allocate(0);
  body.block_->owned = std::move(bytes);
  body.view_ = body.block_->owned;
  return body;
}

Body Body::part(size_t at, size_t size) const {
  Body body;
  if (at >= view_.size()) return body;
  body.block_ = block_;
  body.view_ = view_.substr(at, size);
  return body;
}

std::string_view Message::id_of(std::string LongIds::* member, const mqi::Id& id) const {
  if (long_ids && !((*long_ids).*member).empty()) return (*long_ids).*member;
  return strip_nulls(id.view());
}

std::string_view strip_nulls(std::string_view id) {
  size_t n = id.size();
  while (n > 0 && id[n - 1] == '\0') --n;
  return id.substr(0, n);
}

uint64_t hash_identifier(std::string_view id) {
  id = strip_nulls(id);
  if (id.empty()) return 0;
  constexpr uint64_t kMultiplier = 0x9E3779B97F4A7C15ull;
  uint64_t h = id.size() * kMultiplier;
  const char* p = id.data();
  size_t left = id.size();
  while (left > 0) {
    uint64_t word = 0;
    size_t n = left < 8 ? left : 8;
    std::memcpy(&word, p, n);
    unsigned __int128 product = static_cast<unsigned __int128>(h ^ word) * 0xD6E8FEB86659FD93ull;
    h = static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64) ^ kMultiplier;
    p += n;
    left -= n;
  }
  h ^= h >> 32;
  h *= kMultiplier;
  h ^= h >> 29;
  return h == 0 ? 1 : h;
}

}  // namespace millstream::queue
