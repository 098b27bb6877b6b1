// Which containers hold the same: a redeployment leaves alone what has not changed.
#include <algorithm>
#include <cstring>

#include "ace/container.h"

namespace millstream::ace {
namespace {

// Two files that differ must not look alike by chance; nobody gains by making them so on purpose,
// since who can write the files can also deploy them.
class ContentHasher {
 public:
  void add(std::string_view text) {
    mix(text.size());
    while (text.size() >= sizeof(uint64_t)) {
      uint64_t word;
      std::memcpy(&word, text.data(), sizeof word);
      mix(word);
      text.remove_prefix(sizeof word);
    }
    uint64_t rest = 0;
    if (!text.empty()) std::memcpy(&rest, text.data(), text.size());
    mix(rest);
  }
  uint64_t value() const { return state_; }

 private:
  void mix(uint64_t word) {
    const unsigned __int128 product =
        static_cast<unsigned __int128>(state_ ^ word) * 0x9e3779b97f4a7c15ull;
    state_ = (static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64)) +
             0xd6e8feb86659fd93ull;
  }
  uint64_t state_ = 0x2545f4914f6cdd1dull;
};

// What cannot be read is left to the compiler, which says so if it needs it.
void add_container_to(ContentHasher& hash, Container& container) {
  hash.add(container_kind_name(container.kind));
  hash.add(container.name);
  std::vector<Resource*> sorted;
  for (Resource& r : container.resources) sorted.push_back(&r);
  std::sort(sorted.begin(), sorted.end(),
            [](const Resource* a, const Resource* b) { return a->path() < b->path(); });
  for (Resource* r : sorted) {
    hash.add(r->path());
    if (r->load().ok()) hash.add(r->content());
  }
  std::vector<Container*> nested;
  for (const auto& n : container.nested) nested.push_back(n.get());
  std::sort(nested.begin(), nested.end(),
            [](const Container* a, const Container* b) { return a->name < b->name; });
  for (Container* n : nested) add_container_to(hash, *n);
}

}  // namespace

uint64_t content_hash(Container& container) {
  if (container.hash == 0) {
    ContentHasher hash;
    add_container_to(hash, container);
    container.hash = hash.value();
  }
  return container.hash;
}

uint64_t combine_hashes(uint64_t a, uint64_t b) {
  ContentHasher hash;
  const uint64_t both[] = {a, b};
  hash.add({reinterpret_cast<const char*>(both), sizeof both});
  return hash.value();
}

uint64_t text_hash(std::string_view text) {
  ContentHasher hash;
  hash.add(text);
  return hash.value();
}

void unload_files(Container& container) {
  for (Resource& r : container.resources) r.unload();
  for (const auto& nested : container.nested) unload_files(*nested);
}

}  // namespace millstream::ace
