#include "queue/core/waiters.h"

namespace millstream::queue {

Waiters::List& Waiters::list_of(const Waiter& waiter) {
  if (waiter.looks_again) return lookers_;
  uint64_t hash = waiter.matcher.correlation_id_hash;
  return hash == 0 ? general_ : by_correlation_id_[hash];
}

void Waiters::add(Waiter& waiter) {
  List& list = list_of(waiter);
  waiter.arrival_ = ++last_arrival_;
  waiter.previous_ = list.last;
  waiter.next_ = nullptr;
  (list.last == nullptr ? list.first : list.last->next_) = &waiter;
  list.last = &waiter;
  ++count_;
}

void Waiters::unlink(List& list, Waiter& waiter) {
  (waiter.previous_ == nullptr ? list.first : waiter.previous_->next_) = waiter.next_;
  (waiter.next_ == nullptr ? list.last : waiter.next_->previous_) = waiter.previous_;
  waiter.previous_ = waiter.next_ = nullptr;
  waiter.arrival_ = 0;
  --count_;
  if (list.first == nullptr && &list != &general_ && &list != &lookers_) {
    by_correlation_id_.erase(waiter.matcher.correlation_id_hash);
  }
}

bool Waiters::remove(Waiter& waiter) {
  if (waiter.arrival_ == 0) return false;
  unlink(list_of(waiter), waiter);
  return true;
}

Waiter* Waiters::find_in(const List& list, const Entry& entry, const Message* message,
                         const GroupPlace& place, std::vector<Waiter*>& undecided) {
  for (Waiter* waiter = list.first; waiter != nullptr; waiter = waiter->next_) {
    const Verdict verdict = waiter->matcher.check(entry, message, place);
    if (verdict == Verdict::kYes) return waiter;
    if (verdict == Verdict::kNeedsMessage) undecided.push_back(waiter);
  }
  return nullptr;
}

Waiter* Waiters::take_for(const Entry& entry, const Message* message, const GroupPlace& place) {
  std::vector<Waiter*> undecided;
  Waiter* chosen = find_in(general_, entry, message, place, undecided);
  if (entry.correlation_id_hash != 0 && !by_correlation_id_.empty()) {
    auto found = by_correlation_id_.find(entry.correlation_id_hash);
    if (found != by_correlation_id_.end()) {
      Waiter* waiter = find_in(found->second, entry, message, place, undecided);
      if (waiter != nullptr && (chosen == nullptr || waiter->arrival_ < chosen->arrival_)) {
        chosen = waiter;
      }
    }
  }
  if (chosen != nullptr) unlink(list_of(*chosen), *chosen);
  // Locked for one of them, a message that does not fit would be hidden from the others.
  for (Waiter* waiter : undecided) {
    unlink(list_of(*waiter), *waiter);
    waiter->granted(kNoSlot, 0);
  }
  return chosen;
}

std::vector<Waiter*> Waiters::take_lookers(bool everybody) {
  std::vector<Waiter*> out;
  auto drain = [&](List& list) {
    while (list.first != nullptr) {
      out.push_back(list.first);
      Waiter& waiter = *list.first;
      list.first = waiter.next_;
      waiter.previous_ = waiter.next_ = nullptr;
      waiter.arrival_ = 0;
      --count_;
    }
    list.last = nullptr;
  };
  drain(lookers_);
  if (everybody) {
    drain(general_);
    for (auto& [hash, list] : by_correlation_id_) drain(list);
    by_correlation_id_.clear();
  }
  return out;
}

}  // namespace millstream::queue
