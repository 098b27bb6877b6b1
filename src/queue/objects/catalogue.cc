#include "queue/objects/catalogue.h"

#include <mutex>

#include "base/assert.h"
#include "queue/objects/object_name.h"

namespace millstream::queue::objects {

DefinitionPtr Catalogue::find(ObjectFamily family, std::string_view name) const {
  std::shared_lock lock(mutex_);
  const Names& names = families_[static_cast<size_t>(family)];
  auto at = names.find(name);
  return at == names.end() ? nullptr : at->second;
}

std::vector<DefinitionPtr> Catalogue::find_generic(ObjectFamily family,
                                                   std::string_view pattern) const {
  std::vector<DefinitionPtr> out;
  if (!is_generic(pattern)) {
    if (DefinitionPtr one = find(family, pattern)) out.push_back(std::move(one));
    return out;
  }
  std::string_view prefix = pattern.substr(0, pattern.size() - 1);
  std::shared_lock lock(mutex_);
  const Names& names = families_[static_cast<size_t>(family)];
  for (auto at = names.lower_bound(prefix); at != names.end(); ++at) {
    if (at->first.compare(0, prefix.size(), prefix) != 0) break;
    out.push_back(at->second);
  }
  return out;
}

size_t Catalogue::size() const {
  std::shared_lock lock(mutex_);
  return size_;
}

bool Catalogue::put(DefinitionPtr definition) {
  MS_ASSERT(definition && !definition->name().empty());
  ObjectFamily family = definition->family();
  std::unique_lock lock(mutex_);
  Names& names = families_[static_cast<size_t>(family)];
  auto at = names.find(definition->name());
  if (at != names.end()) {
    at->second = std::move(definition);
    return true;
  }
  if (size_ >= kDefinitionsMax) return false;
  std::string name = definition->name();
  names.emplace(std::move(name), std::move(definition));
  ++size_;
  return true;
}

bool Catalogue::erase(ObjectFamily family, std::string_view name) {
  std::unique_lock lock(mutex_);
  Names& names = families_[static_cast<size_t>(family)];
  auto at = names.find(name);
  if (at == names.end()) return false;
  names.erase(at);
  --size_;
  return true;
}

}  // namespace millstream::queue::objects
