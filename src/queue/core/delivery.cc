#include "queue/core/delivery.h"

#include "queue/core/connection.h"
#include "queue/core/report.h"

namespace millstream::queue {

// Its get, and the report that it asks for; it is settled with that.
void Delivery::add_to(UnitOfWork& unit) {
  QueueManager& manager = *std::exchange(manager_, nullptr);
  if (wants_report(message_->md.report, ReportKind::kDelivery)) {
    add_report(manager, *message_, ReportKind::kDelivery, 0, unit);
  }
  unit.gets.push_back(std::move(get_));
  message_ = nullptr;
}

Outcome Delivery::accept(base::Executor& executor, Done done) {
  if (manager_ == nullptr) return Outcome::ok();
  Settlement settlement(*manager_);
  settlement.accept(std::move(*this));
  return settlement.run(executor, std::move(done));
}

void Delivery::release() {
  if (manager_ == nullptr) return;
  QueueManager& manager = *std::exchange(manager_, nullptr);
  message_ = nullptr;
  if (!manager.is_running()) return;
  Effects effects;
  {
    std::lock_guard lock(get_.queue->mutex());
    Slot slot = get_.queue->index().find(get_.sequence);
    if (slot == kNoSlot) return;  // cleared by an administrator meanwhile
    manager.release(*get_.queue, slot, effects);
  }
  manager.apply(std::move(effects));
}

void Delivery::back_out() {
  if (manager_ == nullptr) return;
  QueueManager& manager = *std::exchange(manager_, nullptr);
  message_ = nullptr;
  if (!manager.is_running()) return;
  UnitOfWork unit;
  unit.gets.push_back(std::move(get_));
  manager.back_out(unit, nullptr);
}

Outcome Delivery::reject(int32_t reason, base::Executor& executor, Done done) {
  if (manager_ == nullptr) return Outcome::ok();
  Settlement settlement(*manager_);
  Outcome outcome = settlement.reject(std::move(*this), reason);
  return outcome.is_failed() ? outcome : settlement.run(executor, std::move(done));
}

Outcome Delivery::join(Connection& connection) { return connection.adopt(*this, 0); }

Outcome Delivery::join_rejected(Connection& connection, int32_t reason) {
  return connection.adopt(*this, reason);
}

Outcome Connection::adopt(Delivery& delivery, int32_t dead_letter_reason) {
  if (!is_open_) return Outcome::failed(mqi::reason::kHconnError);
  if (!delivery) return Outcome::ok();
  if (unit_.count() >= manager_.settings().uncommitted_max) {
    return Outcome::failed(mqi::reason::kSyncpointLimitReached);
  }
  (void)unit_owner();
  if (dead_letter_reason != 0) {
    Outcome outcome = add_dead_letter(manager_, *delivery.message(), dead_letter_reason,
                                      delivery.queue_name(), {}, unit_);
    if (outcome.is_failed()) return outcome;
  }
  delivery.add_to(unit_);
  return Outcome::ok();
}

Outcome Settlement::reject(Delivery delivery, int32_t reason) {
  if (!delivery) return Outcome::ok();
  const Message& message = *delivery.message();
  Outcome outcome = add_dead_letter(manager_, message, reason, delivery.queue_name(), {}, unit_);
  if (outcome.is_failed()) {
    delivery.back_out();
    return outcome;
  }
  if (wants_report(message.md.report, ReportKind::kException)) {
    add_report(manager_, message, ReportKind::kException, reason, unit_);
  }
  unit_.gets.push_back(std::move(delivery.get_));
  delivery.manager_ = nullptr;
  return outcome;
}

Outcome Settlement::run(base::Executor& executor, Done done) {
  UnitOfWork unit = std::exchange(unit_, UnitOfWork());
  if (unit.empty()) return Outcome::ok();
  if (!manager_.is_running()) return Outcome::failed(mqi::reason::kQMgrStopping);
  auto* operation = new CommitOperation(manager_, std::move(unit), &executor, std::move(done));
  return operation->run();
}

}  // namespace millstream::queue
