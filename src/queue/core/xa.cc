#include "queue/core/xa.h"

#include "queue/core/connection.h"
#include "queue/core/definitions.h"
#include "queue/core/queue_manager.h"

namespace millstream::queue {

int32_t XaBranches::start(uint64_t connection, std::string_view xid, int32_t flags,
                          UnitOfWork& unit) {
  if (xid.empty() || xid.size() > xa::kXidBytesMax) return xa::kErrorInvalid;
  if (!unit.empty()) return xa::kErrorOutside;
  Lock lock(mutex_);
  auto found = branches_.find(xid);
  if ((flags & (xa::kJoin | xa::kResume)) == 0) {
    if (found != branches_.end()) return xa::kErrorDuplicate;
    Branch branch;
    branch.connection = connection;
    branches_.emplace(std::string(xid), std::move(branch));
    unit = UnitOfWork();
    return xa::kOk;
  }
  if (found == branches_.end()) return xa::kErrorUnknown;
  Branch& branch = found->second;
  if (branch.state != State::kIdle) return xa::kErrorProtocol;
  branch.state = State::kActive;
  branch.connection = connection;
  unit = std::move(branch.unit);
  branch.unit = UnitOfWork();
  return xa::kOk;
}

int32_t XaBranches::end(uint64_t connection, std::string_view xid, int32_t flags,
                        UnitOfWork& unit) {
  Lock lock(mutex_);
  auto found = branches_.find(xid);
  if (found == branches_.end()) return xa::kErrorUnknown;
  Branch& branch = found->second;
  if (branch.state != State::kActive || branch.connection != connection) {
    return xa::kErrorProtocol;
  }
  branch.state = State::kIdle;
  branch.unit = std::exchange(unit, UnitOfWork());
  if ((flags & xa::kFail) != 0) branch.unit.rollback_only = mqi::reason::kBackedOut;
  return branch.unit.rollback_only != 0 ? xa::kRolledBack : xa::kOk;
}

int32_t XaBranches::prepare(std::string_view xid, base::Executor& executor, XaDone done) {
  Lock lock(mutex_);
  auto found = branches_.find(xid);
  if (found == branches_.end()) return xa::kErrorUnknown;
  Branch& branch = found->second;
  if (branch.state != State::kIdle) return xa::kErrorProtocol;
  UnitOfWork unit = std::exchange(branch.unit, UnitOfWork());
  std::string key(xid);
  if (unit.rollback_only != 0) {
    branches_.erase(found);
    lock.unlock();
    manager_.back_out(unit, nullptr);
    return xa::kRolledBack;
  }
  if (unit.empty()) {
    branches_.erase(found);
    return xa::kReadOnly;
  }
  if (!unit.is_persistent()) {
    branch.unit = std::move(unit);
    branch.state = State::kPrepared;
    return xa::kOk;
  }
  branch.state = State::kPreparing;
  lock.unlock();
  auto* operation = new CommitOperation(manager_, std::move(unit), &executor,
                                        [done = std::move(done)](const Outcome& outcome) {
                                          if (done)
                                            done(outcome.is_ok() ? xa::kOk : xa::kErrorGone);
                                        });
  operation->set_prepared([this, key](UnitOfWork prepared) {
    Lock again(mutex_);
    Branch& prepared_branch = branches_[key];
    prepared_branch.unit = std::move(prepared);
    prepared_branch.state = State::kPrepared;
    prepared_branch.is_stored = true;
  });
  Outcome outcome = operation->run(RedoKind::kPrepare, key);
  return outcome.is_pending() ? xa::kPending : xa::kErrorGone;
}

int32_t XaBranches::commit(std::string_view xid, bool is_one_phase, base::Executor& executor,
                           XaDone done) {
  Lock lock(mutex_);
  auto found = branches_.find(xid);
  if (found == branches_.end()) return xa::kErrorUnknown;
  Branch& branch = found->second;
  if (branch.state == State::kHeuristic) return branch.heuristic;
  State expected = is_one_phase ? State::kIdle : State::kPrepared;
  if (branch.state != expected) return xa::kErrorProtocol;
  std::string key(xid);
  UnitOfWork unit = std::move(branch.unit);
  bool is_stored = branch.is_stored;
  branches_.erase(found);
  lock.unlock();
  if (unit.rollback_only != 0) {
    manager_.back_out(unit, nullptr);
    return xa::kRolledBack;
  }
  return commit_prepared(key, std::move(unit), is_stored, executor, std::move(done));
}

int32_t XaBranches::commit_prepared(const std::string& xid, UnitOfWork unit, bool is_stored,
                                    base::Executor& executor, XaDone done) {
  if (unit.empty() && !is_stored) return xa::kOk;
  auto* operation = new CommitOperation(manager_, std::move(unit), &executor,
                                        [done = std::move(done)](const Outcome& outcome) {
                                          if (done)
                                            done(outcome.is_ok() ? xa::kOk : xa::kErrorGone);
                                        });
  Outcome outcome = operation->run(is_stored ? RedoKind::kCommitPrepared : RedoKind::kCommit, xid);
  if (outcome.is_pending()) return xa::kPending;
  return outcome.is_ok() ? xa::kOk : xa::kErrorGone;
}

int32_t XaBranches::rollback(std::string_view xid, base::Executor& executor, XaDone done) {
  Lock lock(mutex_);
  auto found = branches_.find(xid);
  if (found == branches_.end()) return xa::kErrorUnknown;
  Branch& branch = found->second;
  if (branch.state == State::kHeuristic) return branch.heuristic;
  if (branch.state != State::kIdle && branch.state != State::kPrepared) {
    return xa::kErrorProtocol;
  }
  std::string key(xid);
  UnitOfWork unit = std::move(branch.unit);
  bool is_stored = branch.is_stored;
  branches_.erase(found);
  lock.unlock();
  return rollback_prepared(key, std::move(unit), is_stored, executor, std::move(done));
}

int32_t XaBranches::rollback_prepared(const std::string& xid, UnitOfWork unit, bool is_stored,
                                      base::Executor& executor, XaDone done) {
  if (!is_stored) {
    manager_.back_out(unit, nullptr);
    return xa::kOk;
  }
  // Nobody sees its messages before the rollback is durable: until then the branch may be in doubt
  // again, and be committed.
  auto held = std::make_shared<UnitOfWork>(std::move(unit));  // shared: functions are copied
  return append(RedoKind::kRollbackPrepared, xid, 0, executor, std::move(done),
                [this, held](UnitOfWork) { manager_.back_out(*held, nullptr); });
}

int32_t XaBranches::append(RedoKind kind, const std::string& xid, uint8_t outcome,
                           base::Executor& executor, XaDone done,
                           std::function<void(UnitOfWork)> durable) {
  auto* operation = new CommitOperation(manager_, UnitOfWork(), &executor,
                                        [done = std::move(done)](const Outcome& o) {
                                          if (done) done(o.is_ok() ? xa::kOk : xa::kErrorGone);
                                        });
  operation->set_heuristic(outcome);
  operation->set_prepared(std::move(durable));
  return operation->run(kind, xid).is_pending() ? xa::kPending : xa::kErrorGone;
}

int32_t XaBranches::forget(std::string_view xid, base::Executor& executor, XaDone done) {
  Lock lock(mutex_);
  auto found = branches_.find(xid);
  if (found == branches_.end()) return xa::kErrorUnknown;
  if (found->second.state != State::kHeuristic) return xa::kErrorProtocol;
  branches_.erase(found);
  lock.unlock();
  return append(RedoKind::kForget, std::string(xid), 0, executor, std::move(done));
}

int32_t XaBranches::decide(std::string_view xid, bool commits, base::Executor& executor,
                           XaDone done) {
  Lock lock(mutex_);
  auto found = branches_.find(xid);
  if (found == branches_.end()) return xa::kErrorUnknown;
  Branch& branch = found->second;
  if (branch.state != State::kPrepared) return xa::kErrorProtocol;
  std::string key(xid);
  UnitOfWork unit = std::exchange(branch.unit, UnitOfWork());
  bool is_stored = branch.is_stored;
  branch.state = State::kHeuristic;
  branch.heuristic = commits ? xa::kHeuristicCommit : xa::kHeuristicRollback;
  lock.unlock();
  if (commits) {
    (void)commit_prepared(key, std::move(unit), is_stored, executor, nullptr);
  } else {
    (void)rollback_prepared(key, std::move(unit), is_stored, executor, nullptr);
  }
  return append(RedoKind::kHeuristic, key,
                static_cast<uint8_t>(commits ? xa::kHeuristicCommit : xa::kHeuristicRollback),
                executor, std::move(done));
}

std::vector<std::string> XaBranches::recover() const {
  Lock lock(mutex_);
  std::vector<std::string> out;
  for (const auto& [xid, branch] : branches_) {
    if (branch.state == State::kPrepared || branch.state == State::kHeuristic) out.push_back(xid);
  }
  return out;
}

std::vector<BranchStatus> XaBranches::status() const {
  Lock lock(mutex_);
  std::vector<BranchStatus> out;
  for (const auto& [xid, branch] : branches_) {
    out.push_back({xid, branch.state == State::kPrepared, branch.heuristic, branch.unit.puts.size(),
                   branch.unit.gets.size(), branch.lost});
  }
  return out;
}

void XaBranches::abandon(uint64_t connection) {
  std::vector<UnitOfWork> units;
  {
    Lock lock(mutex_);
    for (auto it = branches_.begin(); it != branches_.end();) {
      Branch& branch = it->second;
      bool is_open = branch.state == State::kActive || branch.state == State::kIdle;
      if (branch.connection != connection || !is_open) {
        ++it;
        continue;
      }
      units.push_back(std::move(branch.unit));
      it = branches_.erase(it);
    }
  }
  for (UnitOfWork& unit : units) manager_.back_out(unit, nullptr);
}

// What belongs to queues that are no more is left out; the rest stays in doubt.
void XaBranches::recovered(const RedoUnit& redo, std::span<const Location> puts) {
  Branch branch;
  branch.state = State::kPrepared;
  branch.is_stored = true;
  branch.unit.owner = manager_.new_owner();
  for (size_t i = 0; i < redo.puts.size(); ++i) {
    UnitPut put;
    put.queue = manager_.queue_by_id(redo.puts[i].queue);
    put.index = redo.puts[i].index;
    put.is_stored = true;
    put.location = i < puts.size() ? puts[i] : Location();
    if (put.queue == nullptr) {
      ++branch.lost;
      put.queue = manager_.lost_queue();
    } else {
      std::lock_guard lock(put.queue->mutex());
      put.queue->reserve();
    }
    branch.unit.puts.push_back(std::move(put));
  }
  for (const RedoGet& redo_get : redo.gets) {
    UnitGet get;
    get.queue = manager_.queue_by_id(redo_get.queue);
    get.sequence = redo_get.sequence;
    get.is_persistent = true;
    if (get.queue == nullptr) {
      ++branch.lost;
      continue;
    }
    std::lock_guard lock(get.queue->mutex());
    get.slot = get.queue->index().find(get.sequence);
    if (get.slot == kNoSlot) {
      ++branch.lost;
      continue;
    }
    get.queue->lock(get.slot, branch.unit.owner);
    branch.unit.gets.push_back(std::move(get));
  }
  for (const RedoRecord& record : redo.records) {
    if (record.kind != static_cast<uint8_t>(RecordKind::kRetained) || record.is_erased) continue;
    auto message = decode_retained(record.value);
    if (!message.ok()) continue;
    branch.unit.retained.emplace_back(record.key, std::move(message).take_value());
  }
  Lock lock(mutex_);
  branches_[std::string(redo.xid)] = std::move(branch);
}

void XaBranches::recovered_heuristic(std::string_view xid, uint8_t outcome) {
  Lock lock(mutex_);
  Branch branch;
  branch.state = State::kHeuristic;
  branch.heuristic = outcome;
  branches_[std::string(xid)] = std::move(branch);
}

// --- the verbs of a connection ---

int32_t Connection::xa_start(std::string_view xid, int32_t flags) {
  if (!is_open_) return xa::kErrorGone;
  if (!xid_.empty()) return xa::kErrorProtocol;
  int32_t result = manager_.branches().start(id_, xid, flags, unit_);
  if (result == xa::kOk) xid_ = xid;
  return result;
}

int32_t Connection::xa_end(std::string_view xid, int32_t flags) {
  if (!is_open_) return xa::kErrorGone;
  if (xid_ != xid) return xid_.empty() ? xa::kErrorProtocol : xa::kErrorUnknown;
  int32_t result = manager_.branches().end(id_, xid, flags, unit_);
  xid_.clear();
  return result;
}

int32_t Connection::xa_prepare(std::string_view xid, XaDone done) {
  if (!is_open_) return xa::kErrorGone;
  if (xid_ == xid) return xa::kErrorProtocol;
  return manager_.branches().prepare(xid, executor(), std::move(done));
}

int32_t Connection::xa_commit(std::string_view xid, bool is_one_phase, XaDone done) {
  if (!is_open_) return xa::kErrorGone;
  return manager_.branches().commit(xid, is_one_phase, executor(), std::move(done));
}

int32_t Connection::xa_rollback(std::string_view xid, XaDone done) {
  if (!is_open_) return xa::kErrorGone;
  return manager_.branches().rollback(xid, executor(), std::move(done));
}

int32_t Connection::xa_forget(std::string_view xid, XaDone done) {
  if (!is_open_) return xa::kErrorGone;
  return manager_.branches().forget(xid, executor(), std::move(done));
}

std::vector<std::string> Connection::xa_recover() const { return manager_.branches().recover(); }

}  // namespace millstream::queue
