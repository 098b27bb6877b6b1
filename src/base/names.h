// Interned names. Two names are equal exactly when their pointers are, within one NameScope.
//
// NameTable: what a deployment knows (paths in ESQL, domain and header names). Filled while the
// deployment is compiled, then frozen; readers need no lock.
// NameScope: the names of one message assembly. It looks in the frozen table first and keeps what
// is new in the message's arena, so that names from outside never outlive their message (a global
// table would be a leak, and a denial of service).
// Lifetime: a Name lives as long as its table or scope. Thread: a NameTable any once frozen; a
// NameScope one.
#pragma once
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "base/arena.h"

namespace millstream::base {

// A local name or a namespace URI.
struct Name {
  const char* data;
  uint32_t size;
  uint32_t hash;
  std::string_view view() const { return {data, size}; }
};

// Namespace URI and local name; `ns` is the empty name for "no namespace".
struct QName {
  const Name* ns;
  const Name* local;
};

uint32_t hash_name(std::string_view text);

namespace internal {
// Open addressing by stored hash; capacity is a power of two.
template <typename T>
struct NameSlots {
  std::vector<const T*> slots;
  std::vector<uint32_t> used;  // indices to clear on reset
  size_t count() const { return used.size(); }
};
}  // namespace internal

class NameTable {
 public:
  NameTable();
  // The same text gives the same pointer.
  const Name* intern(std::string_view text);  // before freeze() only
  const QName* intern_qname(std::string_view ns, std::string_view local);
  const Name* find(std::string_view text, uint32_t hash) const;
  const QName* find_qname(const Name* ns, const Name* local) const;
  const Name* empty() const { return empty_; }
  void freeze() { is_frozen_ = true; }
  bool is_frozen() const { return is_frozen_; }

 private:
  friend class NameScope;
  Arena arena_;
  internal::NameSlots<Name> names_;
  internal::NameSlots<QName> qnames_;
  const Name* empty_ = nullptr;
  bool is_frozen_ = false;
};

class NameScope {
 public:
  // `table` is shared by the deployment and all its messages.
  NameScope(Arena& arena, std::shared_ptr<const NameTable> table);
  const Name* intern(std::string_view text);
  const QName* qname(const Name* ns, const Name* local);
  const QName* qname(std::string_view ns, std::string_view local);
  const QName* qname(std::string_view local) { return qname(empty(), intern(local)); }
  const Name* empty() const { return table_->empty(); }
  const QName* empty_qname() const { return empty_qname_; }
  const NameTable& table() const { return *table_; }
  // Call after the arena was reset; `table` may be that of a newer deployment.
  void reset(std::shared_ptr<const NameTable> table);

 private:
  Arena& arena_;
  std::shared_ptr<const NameTable> table_;
  internal::NameSlots<Name> names_;
  internal::NameSlots<QName> qnames_;
  const QName* empty_qname_ = nullptr;
};

}  // namespace millstream::base
