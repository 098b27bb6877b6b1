#include "base/arena.h"

#include <doctest/doctest.h>

#include <random>
#include <string>
#include <vector>

namespace millstream::base {
namespace {

TEST_CASE("arena: aligned, disjoint and kept until reset") {
  Arena arena;
  std::mt19937 random(7);
  std::vector<std::pair<std::string_view, std::string>> kept;
  for (int i = 0; i < 20'000; ++i) {
    std::string text(random() % 300, static_cast<char>('a' + i % 26));
    kept.emplace_back(arena.copy(text), text);
    size_t align = size_t{1} << (random() % 7);
    void* p = arena.allocate(random() % 64, align);
    CHECK(reinterpret_cast<uintptr_t>(p) % align == 0);
  }
  size_t wrong = 0;
  for (const auto& [view, text] : kept) wrong += view != text;
  CHECK(wrong == 0);
}

TEST_CASE("arena: one allocation larger than a chunk") {
  Arena arena;
  char* big = arena.bytes(3 * Arena::kMaxChunkBytes);
  big[0] = big[3 * Arena::kMaxChunkBytes - 1] = 'x';
  CHECK(arena.copy("after") == "after");
  CHECK(arena.reserved_bytes() >= 3 * Arena::kMaxChunkBytes);
}

TEST_CASE("arena: reset keeps the chunks, so a second message of the same kind takes none") {
  Arena arena;
  auto fill = [&] {
    for (int i = 0; i < 5'000; ++i) arena.allocate(100 + static_cast<size_t>(i) % 1'000);
  };
  fill();
  size_t used = arena.used_bytes();
  size_t reserved = arena.reserved_bytes();
  for (int round = 0; round < 5; ++round) {
    arena.reset();
    CHECK(arena.used_bytes() < Arena::kFirstChunkBytes);
    fill();
    CHECK(arena.used_bytes() == used);
    CHECK(arena.reserved_bytes() == reserved);
  }
}

TEST_CASE("arena: only the newest allocation grows in place") {
  Arena arena;
  char* a = arena.bytes(10);
  CHECK(arena.try_extend(a, 10, 100));
  char* b = arena.bytes(10);
  CHECK(b >= a + 100);
  CHECK_FALSE(arena.try_extend(a, 100, 200));
  CHECK_FALSE(arena.try_extend(b, 10, 2 * Arena::kFirstChunkBytes));
}

TEST_CASE("arena: empty texts need no memory") {
  Arena arena;
  CHECK(arena.copy("").empty());
  CHECK(arena.used_bytes() == 0);
}

}  // namespace
}  // namespace millstream::base
