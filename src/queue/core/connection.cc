#include "queue/core/connection.h"

#include <algorithm>

#include "queue/core/get_operation.h"

namespace millstream::queue {

namespace {
std::atomic<uint64_t> connection_last_id{0};
}  // namespace

Connection::Connection(QueueManager& manager, ConnectOptions options)
    : manager_(manager), options_(std::move(options)), id_(++connection_last_id) {}

Connection::~Connection() { abandon(); }

Connection::HandleRef Connection::find_handle(Hobj handle) const {
  auto found = handles_.find(handle);
  return found == handles_.end() ? nullptr : found->second;
}

uint32_t Connection::unit_owner() {
  if (unit_.owner == 0) {
    unit_.owner = manager_.new_owner();
    show_unit(true);
  }
  return unit_.owner;
}

Outcome Connection::begin() {
  if (!is_open_) return Outcome::failed(mqi::reason::kHconnError);
  if (!unit_.empty() || !xid_.empty()) return Outcome::failed(mqi::reason::kUowInProgress);
  // No other resource manager takes part: a local unit, as MQBEGIN says with this warning.
  return Outcome::warning(mqi::reason::kNoExternalParticipants);
}

Outcome Connection::commit(Done done) {
  if (!is_open_) return Outcome::failed(mqi::reason::kHconnError);
  if (!xid_.empty()) return Outcome::failed(mqi::reason::kEnvironmentError);
  if (unit_.rollback_only != 0) {
    (void)back();
    return Outcome::failed(mqi::reason::kBackedOut);
  }
  if (unit_.empty()) return Outcome::ok();
  UnitOfWork unit = std::exchange(unit_, UnitOfWork());
  saved_groups_.clear();
  show_unit(false);
  auto* operation =
      new CommitOperation(manager_, std::move(unit), options_.executor, std::move(done));
  return operation->run();
}

Outcome Connection::back() {
  if (!is_open_) return Outcome::failed(mqi::reason::kHconnError);
  if (!xid_.empty()) return Outcome::failed(mqi::reason::kEnvironmentError);
  UnitOfWork unit = std::exchange(unit_, UnitOfWork());
  manager_.back_out(unit, &unit_);
  restore_groups();
  show_unit(!unit_.empty());
  return Outcome::ok();
}

void Connection::save_group(const Handle& handle, bool is_of_puts) {
  for (const SavedGroup& saved : saved_groups_) {
    if (saved.handle == handle.id && saved.is_of_puts == is_of_puts) return;
  }
  saved_groups_.push_back({handle.id, is_of_puts, is_of_puts ? handle.puts : handle.gets});
}

void Connection::restore_groups() {
  for (SavedGroup& saved : saved_groups_) {
    HandleRef handle = find_handle(saved.handle);
    if (handle == nullptr) continue;
    (saved.is_of_puts ? handle->puts : handle->gets) = saved.state;
  }
  saved_groups_.clear();
}

Outcome Connection::disconnect(Done done) {
  if (!is_open_) return Outcome::failed(mqi::reason::kHconnError);
  Outcome outcome = xid_.empty() ? commit(std::move(done)) : Outcome::ok();
  abandon();
  return outcome;
}

void Connection::abandon() {
  if (!is_open_) return;
  auto waiting = std::exchange(waiting_, {});
  for (auto& [call, operation] : waiting) {
    operation->end(Outcome::failed(mqi::reason::kConnectionBroken));
  }
  UnitOfWork unit = std::exchange(unit_, UnitOfWork());
  for (UnitGet& get : unit.gets) get.skips_backout = false;
  manager_.back_out(unit, nullptr);
  manager_.branches().abandon(id_);
  for (auto& [id, handle] : handles_) detach(*handle);
  handles_.clear();
  is_open_ = false;
  manager_.remove_connection(*this);
}

Outcome Connection::inquire(Hobj id, Inquiry& out) const {
  if (!is_open_) return Outcome::failed(mqi::reason::kHconnError);
  HandleRef handle = find_handle(id);
  if (handle == nullptr) return Outcome::failed(mqi::reason::kHobjError);
  if ((handle->options & mqi::oo::kInquire) == 0) {
    return Outcome::failed(mqi::reason::kNotOpenForInquire);
  }
  using objects::ObjectFamily;
  const objects::Catalogue& catalogue = manager_.admin().catalogue();
  if (handle->type == mqi::ot::kQueueManager) {
    out.definition = catalogue.find(ObjectFamily::kQmgr, manager_.name());
    return Outcome::ok();
  }
  if (handle->object == nullptr) return Outcome::failed(mqi::reason::kUnknownObjectName);
  out.definition = catalogue.find(ObjectFamily::kQueue, handle->object->name);
  if (handle->queue != nullptr && !handle->is_remote) {
    std::lock_guard lock(handle->queue->mutex());
    if (handle->queue->is_deleted()) return Outcome::failed(mqi::reason::kQDeleted);
    out.depth = handle->queue->depth();
    out.open_input = handle->queue->open_input;
    out.open_output = handle->queue->open_output;
  }
  return Outcome::ok();
}

void Connection::report_failure(const Outcome& outcome, const std::string& object,
                                ManagerEvent event) {
  if (!wants_event(manager_.settings(), outcome.reason)) return;
  event.reason = outcome.reason;
  bool is_authority = outcome.reason == mqi::reason::kNotAuthorized;
  if (!is_authority) event.qualifier = event.open_options = 0;
  event.queue = trim_name(object);
  event.user = options_.user;
  event.application = options_.application_name;
  event.application_type = options_.application_type;
  NamedQueueRef named = manager_.objects().find(event.queue);
  if (named != nullptr && named->kind == QueueKind::kAlias) {
    event.base_queue = named->alias.target;
  } else if (named != nullptr && named->kind == QueueKind::kRemote && !is_authority) {
    event.transmission_queue = named->remote.transmission_queue;
    event.object_manager = named->remote.remote_queue_manager;
  }
  manager_.report(event);
}

bool Connection::cancel(GetCall& call) {
  auto found = waiting_.find(&call);
  if (found == waiting_.end()) return false;
  std::shared_ptr<GetOperation> operation = found->second;
  return operation->cancel();
}

}  // namespace millstream::queue
