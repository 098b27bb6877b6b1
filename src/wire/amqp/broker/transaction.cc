#include "wire/amqp/broker/transaction.h"

#include <algorithm>

#include "wire/amqp/broker/broker_session.h"
#include "wire/amqp/broker/consumer_link.h"

namespace millstream::wire::amqp {

using queue::Outcome;

std::string Transaction::name() const {
  Writer w;
  w.big64(id_);
  return std::string(w.bytes());
}

void Transaction::take_over(const ConsumerLink& link, uint32_t slot, queue::Delivery delivery) {
  for (RetiredDelivery& r : retired_) {
    if (r.link.get() != &link || r.slot != slot) continue;
    r.delivery = std::move(delivery);
    r.link = nullptr;
    return;
  }
}

void Transaction::forget(const ConsumerLink& link, uint32_t slot) {
  std::erase_if(retired_,
                [&](const RetiredDelivery& r) { return r.link.get() == &link && r.slot == slot; });
}

Outcome TransactionTable::declare(const BrokerLink& owner, Transaction*& out) {
  if (open_.size() >= kOpenMax) return Outcome::failed(mqi::reason::kSyncpointLimitReached);
  std::shared_ptr<queue::Connection> unit;
  if (!idle_units_.empty()) {
    unit = std::move(idle_units_.back());
    idle_units_.pop_back();
  } else if (Outcome o = session_.connect_more(unit); o.is_failed()) {
    return o;
  }
  uint64_t id = ++last_id_;
  auto transaction = std::make_shared<Transaction>(id, &owner, std::move(unit));
  out = transaction.get();
  open_.emplace(id, std::move(transaction));
  return Outcome::ok();
}

Transaction* TransactionTable::find(std::string_view name) {
  if (name.size() != sizeof(uint64_t)) return nullptr;
  uint64_t id = 0;
  for (char c : name) id = id << 8 | static_cast<uint8_t>(c);
  return find(id);
}

Transaction* TransactionTable::find(uint64_t id) {
  auto found = open_.find(id);
  return found == open_.end() ? nullptr : found->second.get();
}

std::shared_ptr<Transaction> TransactionTable::take(Transaction& transaction) {
  auto found = open_.find(transaction.id());
  std::shared_ptr<Transaction> taken = std::move(found->second);
  open_.erase(found);
  return taken;
}

void TransactionTable::commit(Transaction& transaction, Done done) {
  std::shared_ptr<Transaction> t = take(transaction);
  for (RetiredDelivery& r : t->retired_) {
    queue::Delivery& delivery = r.link != nullptr ? r.link->delivery(r.slot) : r.delivery;
    Outcome joined;
    if (r.kind == StateKind::kAccepted) {
      joined = delivery.join(t->unit());
    } else if (r.kind == StateKind::kRejected) {
      joined = delivery.join_rejected(t->unit(), queue::kFeedbackRejected);
    }
    if (joined.is_failed()) t->unit().mark_rollback_only(joined.reason);
  }
  auto ended = [t, done = std::move(done), life = session_.shared_from_this(),
                this](const Outcome& outcome) {
    finish_commit(*t, outcome);
    done(outcome);
  };
  Outcome outcome = t->unit().commit(ended);
  if (!outcome.is_pending()) ended(outcome);
}

void TransactionTable::finish_commit(Transaction& t, const Outcome& outcome) {
  bool is_committed = !outcome.is_failed();
  for (RetiredDelivery& r : t.retired_) {
    queue::Delivery& delivery = r.link != nullptr ? r.link->delivery(r.slot) : r.delivery;
    // What could not be joined, or was not to be removed.
    if (is_committed && r.kind == StateKind::kReleased) delivery.release();
    if (is_committed && r.kind == StateKind::kModified && !r.is_failed) delivery.release();
    delivery.back_out();
    if (r.link != nullptr) r.link->discharged(r.slot, r.kind, is_committed);
  }
  recycle(t);
}

void TransactionTable::roll_back(Transaction& transaction) {
  std::shared_ptr<Transaction> t = take(transaction);
  (void)t->unit().back();
  auto place = [](const RetiredDelivery& r) { return r.delivery ? r.delivery.sequence() : 0; };
  std::stable_sort(t->retired_.begin(), t->retired_.end(),
                   [&](const auto& a, const auto& b) { return place(a) < place(b); });
  for (RetiredDelivery& r : t->retired_) {
    r.delivery.back_out();
    if (r.link != nullptr) r.link->rolled_back(r.slot);
  }
  for (auto& [link, slot] : t->acquired_) link->acquisition_rolled_back(slot, t->id());
  recycle(*t);
}

void TransactionTable::recycle(Transaction& t) {
  if (session_.is_ended() || idle_units_.size() >= kIdleUnitsMax) {
    t.unit().abandon();
  } else {
    idle_units_.push_back(std::move(t.unit_));
  }
}

void TransactionTable::roll_back_of(const BrokerLink& owner) {
  for (auto at = open_.begin(); at != open_.end();) {
    Transaction& t = *at->second;
    ++at;
    if (t.owner_ == &owner) roll_back(t);
  }
}

void TransactionTable::roll_back_all() {
  while (!open_.empty()) roll_back(*open_.begin()->second);
  for (auto& unit : idle_units_) unit->abandon();
  idle_units_.clear();
}

}  // namespace millstream::wire::amqp
