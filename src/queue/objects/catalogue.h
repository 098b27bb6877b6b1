// All definitions of a queue manager, by family and name.
//
// A definition is immutable and shared; who holds a pointer keeps reading the old one after a
// change. The catalogue holds no rules: whether an object may be changed or deleted, and when the
// change is durable, is decided by who writes (the core), which writes here last.
// Limits: kDefinitionsMax definitions in all (2102 beyond).
// Thread: any. Readers do not wait for each other. Lock: leaf (nothing is called under it).
#pragma once
#include <map>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <vector>

#include "queue/objects/definition.h"

namespace millstream::queue::objects {

constexpr size_t kDefinitionsMax = 1'000'000;

class Catalogue {
 public:
  // Null when there is none.
  DefinitionPtr find(ObjectFamily family, std::string_view name) const;
  // Whose names match a generic name, sorted by name. A family has at most kDefinitionsMax.
  std::vector<DefinitionPtr> find_generic(ObjectFamily family, std::string_view pattern) const;
  size_t size() const;

  // Adds or replaces. False: kDefinitionsMax are there.
  bool put(DefinitionPtr definition);
  bool erase(ObjectFamily family, std::string_view name);

 private:
  using Names = std::map<std::string, DefinitionPtr, std::less<>>;
  static constexpr size_t kFamilies = static_cast<size_t>(ObjectFamily::kQmgr) + 1;

  mutable std::shared_mutex mutex_;
  Names families_[kFamilies];
  size_t size_ = 0;
};

}  // namespace millstream::queue::objects
