// Topics or patterns as a tree of levels: nodes by number in one array, children by one hash table,
// so that neither deep nor wide trees recurse or copy. Internal to the topic tree.
//
// A node lives while its payload is not empty() or it has children; prune() takes it away with all
// parents that are needless then. The root (0) always lives. Numbers are used again.
// Thread: const functions any, others alone.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/assert.h"

namespace millstream::queue::topic {

template <typename Payload>
class LevelTrie {
 public:
  using Node = uint32_t;
  static constexpr Node kRoot = 0;
  static constexpr Node kNone = UINT32_MAX;

  LevelTrie() { entries_.emplace_back(); }

  // Entries of nodes: references end with the next make().
  Payload& payload(Node n) { return entries_[n].payload; }
  const Payload& payload(Node n) const { return entries_[n].payload; }
  std::string_view level(Node n) const {
    return entries_[n].level ? std::string_view(*entries_[n].level) : std::string_view();
  }
  Node parent(Node n) const { return entries_[n].parent; }
  Node first_child(Node n) const { return entries_[n].first_child; }
  Node next_sibling(Node n) const { return entries_[n].next; }
  size_t size() const { return children_.size(); }     // without the root
  size_t capacity() const { return entries_.size(); }  // all numbers are below
  Node find_child(Node n, std::string_view level) const {
    if (entries_[n].first_child == kNone) return kNone;
    auto it = children_.find(KeyView{n, level});
    return it == children_.end() ? kNone : it->second;
  }

  Node find(const std::vector<std::string_view>& levels) const {
    Node n = kRoot;
    for (std::string_view level : levels) {
      n = find_child(n, level);
      if (n == kNone) break;
    }
    return n;
  }
  // kNone when that needs more than `nodes_max` nodes; nothing is left behind then.
  Node make(const std::vector<std::string_view>& levels, size_t nodes_max) {
    Node n = kRoot;
    for (std::string_view level : levels) {
      Node child = find_child(n, level);
      if (child == kNone) {
        if (size() >= nodes_max) {
          prune(n);
          return kNone;
        }
        child = add_child(n, level);
      }
      n = child;
    }
    return n;
  }
  void prune(Node n) {
    while (n != kRoot && entries_[n].first_child == kNone && entries_[n].payload.empty()) {
      Node up = entries_[n].parent;
      remove_leaf(n);
      n = up;
    }
  }

 private:
  struct KeyView {
    Node parent;
    std::string_view level;
  };
  struct Key {
    Node parent;
    std::string level;
    operator KeyView() const { return {parent, level}; }
  };
  struct KeyHash {
    using is_transparent = void;
    size_t operator()(const KeyView& k) const {
      return std::hash<std::string_view>()(k.level) ^ (k.parent * uint64_t{0x9E3779B97F4A7C15});
    }
    size_t operator()(const Key& k) const { return (*this)(KeyView(k)); }
  };
  struct KeyEqual {
    using is_transparent = void;
    bool operator()(const KeyView& a, const KeyView& b) const {
      return a.parent == b.parent && a.level == b.level;
    }
  };
  struct Entry {
    const std::string* level = nullptr;  // of the key in children_
    Node parent = kNone;
    Node first_child = kNone, last_child = kNone;
    Node next = kNone, previous = kNone;
    Payload payload;
  };

  Node add_child(Node parent, std::string_view level) {
    Node n;
    if (free_.empty()) {
      n = static_cast<Node>(entries_.size());
      entries_.emplace_back();
    } else {
      n = free_.back();
      free_.pop_back();
    }
    auto [it, is_new] = children_.emplace(Key{parent, std::string(level)}, n);
    MS_ASSERT(is_new);
    Entry& e = entries_[n];
    e.level = &it->first.level;
    e.parent = parent;
    e.previous = entries_[parent].last_child;
    (e.previous == kNone ? entries_[parent].first_child : entries_[e.previous].next) = n;
    entries_[parent].last_child = n;
    return n;
  }
  void remove_leaf(Node n) {
    Entry& e = entries_[n];
    Entry& up = entries_[e.parent];
    (e.previous == kNone ? up.first_child : entries_[e.previous].next) = e.next;
    (e.next == kNone ? up.last_child : entries_[e.next].previous) = e.previous;
    auto it = children_.find(KeyView{e.parent, *e.level});
    MS_ASSERT(it != children_.end());
    children_.erase(it);
    entries_[n] = Entry();
    free_.push_back(n);
  }

  std::vector<Entry> entries_;
  std::vector<Node> free_;
  std::unordered_map<Key, Node, KeyHash, KeyEqual> children_;
};

}  // namespace millstream::queue::topic
