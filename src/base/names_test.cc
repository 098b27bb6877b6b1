#include "base/names.h"

#include <doctest/doctest.h>

#include <set>
#include <string>

namespace millstream::base {
namespace {

TEST_CASE("names: equal exactly when the pointers are") {
  auto table = std::make_shared<NameTable>();
  const Name* known = table->intern("Known");
  const QName* known_pair = table->intern_qname("urn:a", "Known");
  table->freeze();
  CHECK(table->is_frozen());

  Arena arena;
  NameScope scope(arena, table);
  CHECK(scope.intern("Known") == known);
  CHECK(scope.qname("urn:a", "Known") == known_pair);
  CHECK(scope.qname(scope.intern("urn:a"), known) == known_pair);
  const Name* fresh = scope.intern("Fresh");
  CHECK(fresh != known);
  CHECK(scope.intern(std::string("Fre") + "sh") == fresh);
  CHECK(fresh->view() == "Fresh");
  CHECK(scope.qname("", "Fresh") == scope.qname("Fresh"));
  CHECK(scope.qname("urn:a", "Fresh") != scope.qname("urn:b", "Fresh"));
  CHECK(scope.qname("urn:a", "Fresh") == scope.qname("urn:a", "Fresh"));
}

TEST_CASE("names: those of a message do not reach the table") {
  auto table = std::make_shared<NameTable>();
  table->freeze();
  Arena arena;
  NameScope scope(arena, table);
  scope.intern("Outside");
  CHECK(table->find("Outside", hash_name("Outside")) == nullptr);
  CHECK(table->find("", hash_name("")) == table->empty());
}

TEST_CASE("names: many, with growth, stay distinct") {
  Arena arena;
  NameScope scope(arena, std::make_shared<NameTable>());
  std::vector<const Name*> names;
  for (int i = 0; i < 50'000; ++i) names.push_back(scope.intern("n" + std::to_string(i)));
  CHECK(std::set<const Name*>(names.begin(), names.end()).size() == names.size());
  size_t wrong = 0;
  for (int i = 0; i < 50'000; ++i) {
    wrong += scope.intern("n" + std::to_string(i)) != names[static_cast<size_t>(i)];
  }
  CHECK(wrong == 0);
}

TEST_CASE("names: a scope forgets on reset and may change its table") {
  auto first = std::make_shared<NameTable>();
  auto second = std::make_shared<NameTable>();
  const Name* known = second->intern("Later");
  Arena arena;
  NameScope scope(arena, first);
  CHECK(scope.intern("Later") != known);
  std::weak_ptr<NameTable> watch = first;
  first.reset();
  arena.reset();
  scope.reset(second);
  CHECK(watch.expired());  // messages of an old deployment keep its table, nobody else
  CHECK(scope.intern("Later") == known);
  CHECK(scope.empty_qname()->local == second->empty());
}

TEST_CASE("names: similar names do not share hashes") {
  std::set<uint32_t> hashes;
  size_t count = 0;
  auto add = [&](std::string_view text) {
    hashes.insert(hash_name(text));
    ++count;
  };
  std::string text(24, 'a');
  for (size_t size = 0; size <= text.size(); ++size) add(std::string_view(text).substr(0, size));
  for (size_t i = 0; i < text.size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      text[i] = static_cast<char>(text[i] ^ (1 << bit));
      for (size_t size = i + 1; size <= text.size(); ++size) {
        add(std::string_view(text).substr(0, size));
      }
      text[i] = static_cast<char>(text[i] ^ (1 << bit));
    }
  }
  CHECK(hashes.size() >= count - 3);  // 32 bits; a chance meeting is possible, not likely
}

TEST_CASE("names: text with any bytes") {
  Arena arena;
  NameScope scope(arena, std::make_shared<NameTable>());
  std::string with_nul("a\0b", 3);
  CHECK(scope.intern(with_nul) != scope.intern("a"));
  CHECK(scope.intern(with_nul)->view() == with_nul);
  CHECK(scope.intern(std::string(100'000, 'x'))->size == 100'000);
}

}  // namespace
}  // namespace millstream::base
