#include "parsers/common/xml_namespaces.h"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "format/xml_chars.h"

namespace millstream::parsers::common {
namespace {

// Scope numbers are handed out to threads in blocks, so that the common case shares nothing.
uint64_t next_scope() {
  constexpr uint64_t kBlock = 1 << 20;
  static std::atomic<uint64_t> next_block{1};
  static thread_local uint64_t next = 0;
  static thread_local uint64_t limit = 0;
  if (next == limit) {
    next = next_block.fetch_add(1, std::memory_order_relaxed) * kBlock;
    limit = next + kBlock;
  }
  return next++;
}

}  // namespace

XmlNameCache& XmlNameCache::of_thread() {
  static thread_local XmlNameCache cache;
  return cache;
}

XmlNamespaces::XmlNamespaces(base::Arena& arena, base::NameScope& names)
    : arena_(arena), names_(names), scope_(next_scope()), default_uri_(names.empty()) {}

void XmlNamespaces::enter(uint32_t depth) {
  levels_.push(arena_, {depth, bindings_.size(), scope_, default_uri_});
  scope_ = next_scope();
}

void XmlNamespaces::pop_level() {
  const Level& l = levels_.back();
  bindings_.shrink(l.bindings);
  scope_ = l.scope;
  default_uri_ = l.default_uri;
  levels_.pop();
}

bool XmlNamespaces::declare(std::string_view raw, std::string_view uri) {
  auto fault = [&](const char* reason) {
    reason_ = reason;
    return false;
  };
  if (raw.size() == 5) {
    if (uri == kXmlUri || uri == kXmlnsUri) return fault("a reserved namespace is the default one");
    default_uri_ = names_.intern(uri);
    return true;
  }
  std::string_view prefix = raw.substr(6);
  if (!format::is_xml_ncname(prefix)) return fault("an illegal namespace prefix");
  if (prefix == "xmlns") return fault("the prefix xmlns cannot be declared");
  if ((prefix == "xml") != (uri == kXmlUri)) return fault("the prefix xml is reserved");
  if (uri == kXmlnsUri) return fault("the namespace of xmlns cannot be declared");
  if (uri.empty()) return fault("a prefix cannot be bound to an empty namespace");
  if (bindings_.size() >= kPrefixesMax) return fault("too many namespace declarations in scope");
  bindings_.push(arena_, {prefix, names_.intern(uri)});
  return true;
}

const base::QName* XmlNamespaces::declaration_name(std::string_view raw) {
  if (raw.size() == 5) return names_.qname(names_.empty(), names_.intern(raw));
  return names_.qname(kXmlnsUri, raw.substr(6));
}

const base::Name* XmlNamespaces::uri_of(std::string_view prefix) const {
  for (uint32_t i = bindings_.size(); i-- > 0;) {
    if (bindings_[i].prefix == prefix) return bindings_[i].uri;
  }
  if (prefix == "xml") return names_.intern(kXmlUri);
  return nullptr;
}

const base::QName* XmlNamespaces::resolve(std::string_view raw, uint32_t attribute_bit) {
  const base::QName* q = nullptr;
  size_t colon = raw.find(':');
  if (colon == std::string_view::npos) {
    q = names_.qname(attribute_bit ? names_.empty() : default_uri_, names_.intern(raw));
  } else {
    std::string_view prefix = raw.substr(0, colon);
    std::string_view local = raw.substr(colon + 1);
    if (!format::is_xml_ncname(prefix) || !format::is_xml_ncname(local)) {
      reason_ = "an illegal qualified name";
      return nullptr;
    }
    const base::Name* uri = uri_of(prefix);
    if (!uri) {
      reason_ = "a namespace prefix is not declared";
      return nullptr;
    }
    q = names_.qname(uri, names_.intern(local));
  }
  auto size = static_cast<uint32_t>(raw.size());
  uint32_t slot = XmlNameCache::slot_of(raw.data(), size, false, attribute_bit);
  XmlNameCache::Entry& e = XmlNameCache::of_thread().entries[slot];
  std::memset(e.text, 0, sizeof e.text);
  std::memcpy(e.text, raw.data(), std::min<size_t>(size, sizeof e.text));
  e.other = 0;
  if (size <= XmlNameCache::kShortBytes && !attribute_bit) {
    e.text[size] = '>';
    e.other = ~0u << (size + 1);
  }
  e.scope = scope_;
  e.raw = raw.data();
  e.qname = q;
  e.size = size | attribute_bit;  // `seen` stays: the same name often has the same slot
  return q;
}

}  // namespace millstream::parsers::common
