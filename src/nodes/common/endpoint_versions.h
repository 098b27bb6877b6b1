// Endpoints that applications offer by key, where two versions of an application may offer the same
// one while one replaces the other. What look-ups see is held back during a change, so that all of
// it shows in one step (flow/endpoint_registry.h). Entry has a member `version`, compared only.
// Thread: the owner's lock is held in every call.
#pragma once
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace millstream::nodes::common {

template <typename Key, typename Entry>
class EndpointVersions {
 public:
  using Map = std::map<Key, std::vector<Entry>>;  // of one key: in the order of their start

  // Null when it was added; else the entry with which the same version has this key already.
  const Entry* add(Key key, Entry entry) {
    std::vector<Entry>& same = entries_[std::move(key)];
    for (const Entry& e : same) {
      if (e.version == entry.version) return &e;
    }
    same.push_back(std::move(entry));
    return nullptr;
  }
  template <typename Predicate>
  void remove_if(Predicate is_meant) {
    for (auto it = entries_.begin(); it != entries_.end();) {
      std::erase_if(it->second, is_meant);
      it = it->second.empty() ? entries_.erase(it) : std::next(it);
    }
  }
  void begin_change() { before_change_ = entries_; }
  void end_change() { before_change_.reset(); }

  const Map& shown() const { return before_change_ ? *before_change_ : entries_; }
  // Never empty; null when nobody offers it.
  const std::vector<Entry>* find(const Key& key) const {
    auto it = shown().find(key);
    return it == shown().end() ? nullptr : &it->second;
  }

 private:
  Map entries_;
  std::optional<Map> before_change_;
};

}  // namespace millstream::nodes::common
