// Messages that were backed out too often, for getters that do not look at it themselves: they go
// to BOQNAME, else to the dead-letter queue with the reason, in one unit with their get. What
// cannot go anywhere is delivered: it is never dropped.
#include "queue/core/get_operation.h"
#include "queue/core/report.h"

namespace millstream::queue {
namespace {

constexpr uint32_t kPoisonThreshold = 10;  // when BOTHRESH is 0

}  // namespace

bool GetOperation::is_poison(const Entry& entry) const {
  uint32_t threshold = queue_->settings().backout_threshold;
  if (threshold == 0) threshold = kPoisonThreshold;
  return entry.backout_count >= threshold && !has_no_way_out_;
}

Outcome GetOperation::move_poison(Slot slot, const Entry& entry, const MessageRef& message) {
  std::string target;
  {
    std::lock_guard lock(queue_->mutex());
    target = queue_->settings().backout_queue;
  }
  UnitOfWork unit;
  int32_t reason = mqi::reason::kBackoutThresholdReached;
  bool is_moved = false;
  if (!target.empty()) {
    Resolved to;
    UnitPut put;
    Outcome o = resolve_queue(manager_, target, {}, false, to);
    MessageRef copy = copy_message(*message);
    if (o.is_ok()) o = make_manager_put(manager_, to, std::move(copy), put);
    if (o.is_ok()) {
      unit.puts.push_back(std::move(put));
      is_moved = true;
    } else {
      reason = o.reason;
    }
  }
  if (!is_moved) {
    is_moved = add_dead_letter(manager_, *message, reason, queue_->name(), {}, unit).is_ok();
    if (is_moved && wants_report(message->md.report, ReportKind::kException)) {
      add_report(manager_, *message, ReportKind::kException, reason, unit);
    }
  }
  if (!is_moved) {
    has_no_way_out_ = true;
    return take(slot);
  }
  unit.gets.push_back({queue_, slot, entry.sequence, entry.is_persistent(), false});
  held_ = 0;
  loaded_ = {};
  manager_.run_detached(std::move(unit));
  return look();
}

}  // namespace millstream::queue
