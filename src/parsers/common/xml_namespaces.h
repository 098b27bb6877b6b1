// Prefix scopes of an XML document and the way from a name as written to a QName.
//
// Resolving is on the hot path: a small cache, one a thread, maps (scope, bytes of the name) to its
// QName, so that a name is checked, split and interned once and later only compared. A scope number
// is used once in the life of the process and changes with every element that declares prefixes;
// entries of other messages can therefore never match, and nothing needs clearing.
// Lifetime: of the message's arena. Thread: one at a time.
#pragma once
#include <array>
#include <cstdint>
#include <string_view>

#include "base/names.h"
#include "format/xml_arena.h"
#include "format/xml_scan.h"

namespace millstream::parsers::common {

inline constexpr std::string_view kXmlUri = "http://www.w3.org/XML/1998/namespace";
inline constexpr std::string_view kXmlnsUri = "http://www.w3.org/2000/xmlns/";
inline constexpr std::string_view kXsiUri = "http://www.w3.org/2001/XMLSchema-instance";

struct XmlNameCache {
  static constexpr uint32_t kEntries = 512;
  static constexpr uint32_t kAttributeBit = 0x80000000u;
  struct Entry {
    uint64_t scope;
    const char* raw;
    const base::QName* qname;
    uint32_t size;  // with kAttributeBit
    uint32_t spare;
  };
  std::array<Entry, kEntries> entries{};
  static XmlNameCache& of_thread();
};

class XmlNamespaces {
 public:
  static constexpr uint32_t kPrefixesMax = 1000;  // declarations in scope; finding one is linear

  XmlNamespaces(base::Arena& arena, base::NameScope& names);

  // Null: not cached. `is_roomy`: 16 bytes are readable at `raw` (and at every earlier name).
  const base::QName* cached(XmlNameCache& cache, const char* raw, uint32_t size, bool is_roomy,
                            uint32_t attribute_bit = 0) const {
    uint32_t h = format::xml_scan::name_hash(raw, size, is_roomy) ^ (attribute_bit >> 24);
    const XmlNameCache::Entry& e = cache.entries[h % XmlNameCache::kEntries];
    if (__builtin_expect(e.scope == scope_ && e.size == (size | attribute_bit), 1) &&
        __builtin_expect(format::xml_scan::same_bytes(raw, e.raw, size, is_roomy), 1)) {
      return e.qname;
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
    const base::QName* q = cached(XmlNameCache::of_thread(), raw.data(),
                                  static_cast<uint32_t>(raw.size()), false, attribute_bit);
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
