// Deliveries of one direction of a session that are not settled, by delivery-id, which only grows
// (serial numbers, RFC 1982). Those that are settled out of turn leave holes, which are closed when
// they are the greater part: so memory follows what is unsettled, not the distance between the
// oldest and the newest.
// Thread: one.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace millstream::wire::amqp {

class Link;

class DeliveryMap {
 public:
  struct Entry {
    uint32_t id = 0;
    Link* link = nullptr;  // null: a hole
    uint64_t cookie = 0;   // the link handler's
  };

  size_t size() const { return live_; }
  bool empty() const { return live_ == 0; }
  // Ids have to grow.
  void add(uint32_t id, Link* link, uint64_t cookie) {
    if (live_ == 0) {
      entries_.clear();
      first_ = 0;
    }
    entries_.push_back({id, link, cookie});
    ++live_;
  }
  Entry* find(uint32_t id) {
    size_t at = lower_bound(id);
    if (at == entries_.size() || entries_[at].id != id || entries_[at].link == nullptr) {
      return nullptr;
    }
    return &entries_[at];
  }
  void erase(Entry& entry) {
    entry.link = nullptr;
    --live_;
    while (first_ < entries_.size() && entries_[first_].link == nullptr) ++first_;
    // Not in the middle of for_range(), whose places must stay.
    if (!is_walking_) compact();
  }
  bool erase(uint32_t id) {
    Entry* entry = find(id);
    if (entry == nullptr) return false;
    erase(*entry);
    return true;
  }
  // f(Entry) for each that is there from first to last, both included, oldest first. It may erase
  // what it gets, and add.
  template <typename F>
  void for_range(uint32_t first, uint32_t last, F&& f) {
    bool was_walking = is_walking_;
    is_walking_ = true;
    for (size_t at = lower_bound(first); at < entries_.size(); ++at) {
      if (static_cast<int32_t>(entries_[at].id - last) > 0) break;
      if (entries_[at].link != nullptr) f(Entry(entries_[at]));
    }
    is_walking_ = was_walking;
    if (!is_walking_) compact();
  }
  template <typename F>
  void for_all(F&& f) {
    bool was_walking = is_walking_;
    is_walking_ = true;
    for (size_t at = first_; at < entries_.size(); ++at) {
      if (entries_[at].link != nullptr) f(Entry(entries_[at]));
    }
    is_walking_ = was_walking;
    if (!is_walking_) compact();
  }

 private:
  static constexpr size_t kHolesMin = 64;
  size_t lower_bound(uint32_t id) const {
    size_t low = first_, high = entries_.size();
    if (low < high) {  // without holes its place is known
      size_t guess = low + static_cast<size_t>(id - entries_[low].id);
      if (guess < high && entries_[guess].id == id) return guess;
    }
    while (low < high) {
      size_t middle = low + (high - low) / 2;
      if (static_cast<int32_t>(entries_[middle].id - id) < 0) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }
  void compact() {
    if (live_ == 0) {
      entries_.clear();
      first_ = 0;
      return;
    }
    if (entries_.size() < 2 * live_ + kHolesMin) return;
    size_t to = 0;
    for (size_t at = first_; at < entries_.size(); ++at) {
      if (entries_[at].link != nullptr) entries_[to++] = entries_[at];
    }
    entries_.resize(to);
    first_ = 0;
  }

  std::vector<Entry> entries_;  // by id
  size_t first_ = 0;            // the first that is no hole
  size_t live_ = 0;
  bool is_walking_ = false;
};

}  // namespace millstream::wire::amqp
