// Gets that wait for a message of a queue. A message that arrives goes to the oldest one that asks
// for it; those that ask for one correlation identifier are found by it, so that a thousand
// requesters who wait for their replies on one queue cost a reply nothing.
// Thread: under the queue's lock. Waiters are told by a task on their own executor.
#pragma once
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "queue/core/match.h"

namespace millstream::queue {

class Waiter {
 public:
  virtual ~Waiter() = default;
  // Under the queue's lock; the waiter has left the list. `slot` is locked for `owner`; kNoSlot:
  // look again, something has changed.
  virtual void granted(Slot slot, Sequence sequence) = 0;

  Matcher matcher;
  uint32_t owner = 0;
  // Browses, and gets that look at several messages (groups): they look again by themselves.
  bool looks_again = false;

 private:
  friend class Waiters;
  uint64_t arrival_ = 0;  // 0: not in a list
  Waiter* previous_ = nullptr;
  Waiter* next_ = nullptr;
};

class Waiters {
 public:
  void add(Waiter& waiter);
  // False: it was not there; it has been granted something.
  bool remove(Waiter& waiter);
  bool empty() const { return count_ == 0; }
  size_t count() const { return count_; }
  // The oldest that wants the entry; it leaves the list. Null: nobody. Without the message (it is
  // not in memory) those that only it can decide for leave too: each looks again, and reads it.
  Waiter* take_for(const Entry& entry, const Message* message, const GroupPlace& place);
  // Those that look again, all of which leave the list; with `everybody` the others, too.
  std::vector<Waiter*> take_lookers(bool everybody);

 private:
  struct List {
    Waiter* first = nullptr;
    Waiter* last = nullptr;
  };
  List& list_of(const Waiter& waiter);
  void unlink(List& list, Waiter& waiter);
  static Waiter* find_in(const List& list, const Entry& entry, const Message* message,
                         const GroupPlace& place, std::vector<Waiter*>& undecided);
  List general_;
  List lookers_;
  std::unordered_map<uint64_t, List> by_correlation_id_;
  uint64_t last_arrival_ = 0;
  size_t count_ = 0;
};

}  // namespace millstream::queue
