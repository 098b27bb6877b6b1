// Prefix scopes of an XML document and the way from a name as written to a QName.
//
// Resolving is on the hot path: a small cache, one a thread, maps (scope, bytes of the name) to its
// QName, so that a name is checked, split and interned once and later only compared. A scope number
// is used once in the life of the process and changes with every element that declares prefixes;
// entries of other messages can therefore never match, and nothing needs clearing.
// Lifetime: of the message's arena. Thread: one at a time.
#pragma once
#include <emmintrin.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "base/names.h"
#include "format/xml_arena.h"
#include "format/xml_scan.h"

namespace millstream::parsers::common {

inline constexpr std::string_view kXmlUri = "http://www.w3.org/XML/1998/namespace";
inline constexpr std::string_view kXmlnsUri = "http://www.w3.org/2000/xmlns/";
inline constexpr std::string_view kXsiUri = "http://www.w3.org/2001/XMLSchema-instance";

// Beside the names it keeps the order in which elements came: documents repeat their records, so
// the name after the last few is nearly always the one that followed when they came before. A
// parser compares the tag at hand with that one name, and scans and hashes only when it is another.
struct XmlNameCache {
  static constexpr uint32_t kEntries = 512;
  static constexpr uint32_t kHistory = 4096;
  static constexpr uint32_t kAttributeBit = 0x80000000u;
  static constexpr uint32_t kShortBytes = 15;  // of names that are compared in one step
  struct alignas(64) Entry {
    char text[kShortBytes + 1] = {};  // a short element name and '>', or the first bytes
    uint64_t scope = 0;
    const char* raw = nullptr;
    const base::QName* qname = nullptr;
    uint32_t size = 0;   // with kAttributeBit
    uint32_t seen = 0;   // where it came last in `history`
    uint32_t other = 0;  // bits of a comparison's mask behind name and '>'; 0: not a short name

    // Whether name and '>' stand at `p`, where 16 bytes are readable; false for a long name.
    bool is_tag_at(const char* p) const {
      __m128i x = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
      __m128i y = _mm_load_si128(reinterpret_cast<const __m128i*>(text));
      return (static_cast<uint32_t>(_mm_movemask_epi8(_mm_cmpeq_epi8(x, y))) | other) == ~0u;
    }
    // The same for a long name.
    bool is_long_tag_at(const char* p) const {
      return other == 0 && size < kAttributeBit && std::memcmp(p, raw, size) == 0 && p[size] == '>';
    }
  };
  std::array<Entry, kEntries> entries{};
  std::array<uint16_t, kHistory> history{};
  uint32_t at = 0;        // where the next name is noted
  uint32_t expected = 0;  // where the name that should come was noted
  static XmlNameCache& of_thread();

  static uint32_t slot_of(const char* raw, uint32_t size, bool is_roomy, uint32_t attribute_bit) {
    return (format::xml_scan::name_hash(raw, size, is_roomy) ^ (attribute_bit >> 24)) % kEntries;
  }
};

// The cache's notes of the order while one loop runs, kept out of memory. Thread: one.
class XmlNameOrder {
 public:
  using Entry = XmlNameCache::Entry;
  explicit XmlNameOrder(XmlNameCache& cache)
      : cache_(cache), at_(cache.at), expected_(cache.expected) {}
  ~XmlNameOrder() {
    cache_.at = at_;
    cache_.expected = expected_;
  }
  XmlNameOrder(const XmlNameOrder&) = delete;
  XmlNameOrder& operator=(const XmlNameOrder&) = delete;

  const Entry& expected() const { return cache_.entries[cache_.history[expected_ % kHistory]]; }
  // The name that came was expected().
  void confirm() {
    uint16_t slot = cache_.history[expected_++ % kHistory];
    note(slot);
  }
  // It was that of another slot.
  void correct(uint32_t slot) {
    expected_ = cache_.entries[slot].seen + 1;
    note(static_cast<uint16_t>(slot));
  }

 private:
  static constexpr uint32_t kHistory = XmlNameCache::kHistory;
  void note(uint16_t slot) {
    cache_.history[at_ % kHistory] = slot;
    cache_.entries[slot].seen = at_++;
  }
  XmlNameCache& cache_;
  uint32_t at_;
  uint32_t expected_;
};

class XmlNamespaces {
 public:
  static constexpr uint32_t kPrefixesMax = 1000;  // declarations in scope; finding one is linear

  XmlNamespaces(base::Arena& arena, base::NameScope& names);

  uint64_t scope() const { return scope_; }

  // Null: not cached.
  const base::QName* cached(const XmlNameCache::Entry& e, const char* raw, uint32_t size,
                            uint32_t attribute_bit = 0) const {
    if (__builtin_expect(e.scope == scope_ && e.size == (size | attribute_bit), 1)) {
      if (__builtin_expect(std::memcmp(raw, e.raw, size) == 0, 1)) return e.qname;
    }
    return nullptr;
  }

  // Resolves and caches. `raw` is a Name and lives as long as this object. Null: reason() says why.
  const base::QName* element_name(std::string_view raw) { return name_of(raw, 0); }
  const base::QName* attribute_name(std::string_view raw) {
    return name_of(raw, XmlNameCache::kAttributeBit);
  }
  const char* reason() const { return reason_; }

  // "xmlns" or "xmlns:p" of an element at `depth`; false: reason(). Call enter() first when the
  // element has at least one.
  static bool is_declaration(std::string_view raw) {
    return raw.starts_with("xmlns") && (raw.size() == 5 || raw[5] == ':');
  }
  void enter(uint32_t depth);
  bool declare(std::string_view raw, std::string_view uri);
  // The name under which a declaration is kept in the tree: {xmlns URI}p, or xmlns in no namespace.
  const base::QName* declaration_name(std::string_view raw);
  // At the end of the element at `depth`.
  void leave(uint32_t depth) {
    if (__builtin_expect(!levels_.empty() && levels_.back().depth == depth, 0)) pop_level();
  }

 private:
  struct Binding {
    std::string_view prefix;
    const base::Name* uri;
  };
  struct Level {
    uint32_t depth;
    uint32_t bindings;  // how many were there before
    uint64_t scope;
    const base::Name* default_uri;
  };
  const base::QName* name_of(std::string_view raw, uint32_t attribute_bit) {
    auto size = static_cast<uint32_t>(raw.size());
    uint32_t slot = XmlNameCache::slot_of(raw.data(), size, false, attribute_bit);
    const base::QName* q =
        cached(XmlNameCache::of_thread().entries[slot], raw.data(), size, attribute_bit);
    return q ? q : resolve(raw, attribute_bit);
  }
  const base::QName* resolve(std::string_view raw, uint32_t attribute_bit);
  const base::Name* uri_of(std::string_view prefix) const;
  void pop_level();

  base::Arena& arena_;
  base::NameScope& names_;
  uint64_t scope_;
  const base::Name* default_uri_;
  const char* reason_ = nullptr;
  format::ArenaVector<Binding> bindings_;
  format::ArenaVector<Level> levels_;
};

}  // namespace millstream::parsers::common
