// Transactions of one client (4.): each is a unit of work on a connection of its own, so several
// are open at a time. What is posted is put there under syncpoint; what is retired is joined to it
// when it is committed; what was acquired goes back when it is rolled back.
//
// - Retired and settled by the receiver: the delivery is the transaction's. Not settled yet: the
//   link keeps it, so that after a rollback it is where it was before (4.4.4.2).
// - Connections are kept for the next transactions, with the handles that links have on them.
// Thread: the session's.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "queue/core/connection.h"
#include "wire/amqp/engine/delivery_state.h"

namespace millstream::wire::amqp {

class BrokerLink;
class BrokerSession;
class ConsumerLink;

struct RetiredDelivery {
  std::shared_ptr<ConsumerLink> link;  // null: it is settled, or its link is gone
  uint32_t slot = 0;
  queue::Delivery delivery;  // without a link
  StateKind kind = StateKind::kAccepted;
  bool is_failed = false;  // of modified
};

class Transaction {
 public:
  Transaction(uint64_t id, const BrokerLink* owner, std::shared_ptr<queue::Connection> unit)
      : id_(id), owner_(owner), unit_(std::move(unit)) {}

  uint64_t id() const { return id_; }
  queue::Connection& unit() { return *unit_; }
  const std::shared_ptr<queue::Connection>& shared_unit() const { return unit_; }
  // Eight bytes, as clients have it.
  std::string name() const;
  void retire(RetiredDelivery retired) { retired_.push_back(std::move(retired)); }
  // The link goes, or the receiver has settled what it retired before.
  void take_over(const ConsumerLink& link, uint32_t slot, queue::Delivery delivery);
  // The receiver has changed its mind.
  void forget(const ConsumerLink& link, uint32_t slot);
  void add_acquired(std::shared_ptr<ConsumerLink> link, uint32_t slot) {
    acquired_.emplace_back(std::move(link), slot);
  }

 private:
  friend class TransactionTable;
  const uint64_t id_;
  const BrokerLink* const owner_;
  std::shared_ptr<queue::Connection> unit_;
  std::vector<RetiredDelivery> retired_;
  std::vector<std::pair<std::shared_ptr<ConsumerLink>, uint32_t>> acquired_;
};

class TransactionTable {
 public:
  static constexpr size_t kOpenMax = 255;
  static constexpr size_t kIdleUnitsMax = 8;

  explicit TransactionTable(BrokerSession& session) : session_(session) {}
  // 2024 when there are too many.
  queue::Outcome declare(const BrokerLink& owner, Transaction*& out);
  // Null: unknown.
  Transaction* find(std::string_view name);
  Transaction* find(uint64_t id);
  using Done = std::function<void(const queue::Outcome&)>;
  // `done` within the call or later; 2003 and others: it was rolled back.
  void commit(Transaction& transaction, Done done);
  void roll_back(Transaction& transaction);
  // The coordinator's link is gone.
  void roll_back_of(const BrokerLink& owner);
  void roll_back_all();
  size_t open_count() const { return open_.size(); }

 private:
  std::shared_ptr<Transaction> take(Transaction& transaction);
  void finish_commit(Transaction& transaction, const queue::Outcome& outcome);
  void recycle(Transaction& transaction);

  BrokerSession& session_;
  uint64_t last_id_ = 0;
  std::map<uint64_t, std::shared_ptr<Transaction>> open_;
  std::vector<std::shared_ptr<queue::Connection>> idle_units_;
};

}  // namespace millstream::wire::amqp
