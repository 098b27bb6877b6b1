#include "queue/core/queue_manager.h"

#include <cstring>

#include "base/assert.h"
#include "base/log.h"
#include "queue/core/connection.h"
#include "queue/core/definitions.h"
#include "queue/core/errors_gen.h"
#include "queue/core/message_codec.h"
#include "queue/core/paging.h"

namespace millstream::queue {

QueueManager::QueueManager(QueueManagerOptions options)
    : options_(std::move(options)), admin_(*this), branches_(*this), pubsub_(*this) {
  set_settings(options_.settings);
  MS_ASSERT(options_.executor != nullptr && options_.random != nullptr);
  // "AMQ ", 12 characters of the name, then 8 bytes that are unique: an epoch and a count.
  message_id_prefix_ = "AMQ " + options_.settings.name.substr(0, 12);
  message_id_prefix_.resize(16, ' ');
  if (options_.overflow != nullptr && options_.workers != nullptr) {
    paging_ = std::make_unique<Paging>(*this, *options_.overflow, *options_.workers);
  }
  last_message_id_ = options_.random->next_u64() << 24;
}

QueueManager::~QueueManager() {
  // The store has gone before, so that nobody calls them any more.
  for (CommitOperation* operation : pending_) delete operation;
}

Status QueueManager::start(Store& store) {
  store_ = &store;
  is_running_ = true;
  started_gmt_micros_ = now_gmt_micros();
  was_unclean_ = has_records_ && !found_clean_stop_;
  if (admin_.catalogue().find(objects::ObjectFamily::kQmgr, name()) == nullptr) {
    admin_.define(manager_definition(options_.settings), false, [](objects::AdminResult) {});
  }
  read_headers(std::exchange(to_read_, {}));
  admin_.apply_recovered();
  for (const BranchStatus& branch : branches_.status()) {
    if (branch.lost == 0) continue;
    Status lost =
        base::make_error(core::errors::kPreparedLost, {name(), static_cast<int64_t>(branch.lost)});
    base::log_error(lost.error());
  }
  if (recovered_expiry_ms_ != INT64_MAX) schedule_sweep(recovered_expiry_ms_);
  if (was_unclean_) note_maybe_seen();
  report(ManagerEvent{.reason = mqi::reason::kQMgrActive});
  if (!found_clean_stop_) return {};
  *is_mark_pending_ = true;
  (void)await_unclean_mark(*options_.executor, [is_pending = is_mark_pending_](const Outcome& o) {
    if (o.is_ok()) *is_pending = false;
  });
  return {};
}

// From a start on a stop is unclean until stop() says otherwise.
bool QueueManager::await_unclean_mark(base::Executor& executor, Done done) {
  if (!is_mark_pending_->load(std::memory_order_relaxed)) return false;
  UnitOfWork unit;
  unit.records.push_back({static_cast<uint8_t>(RecordKind::kCleanStop), "", "", true});
  auto* operation = new CommitOperation(*this, std::move(unit), &executor, std::move(done));
  return operation->run().is_pending();
}

void QueueManager::stop(std::function<void()> done) {
  if (is_running()) {
    report(
        ManagerEvent{.reason = mqi::reason::kQMgrNotActive, .qualifier = event_reason::kStopping});
  }
  if (!is_running_.exchange(false)) {
    if (done) options_.executor->post(std::move(done));
    return;
  }
  std::vector<std::shared_ptr<Connection>> open;
  {
    std::lock_guard lock(connections_mutex_);
    for (auto& [id, weak] : connections_) {
      if (std::shared_ptr<Connection> connection = weak.lock()) {
        open.push_back(std::move(connection));
      }
    }
  }
  // The note of the clean stop is the last thing written: after what the connections leave.
  auto last = std::shared_ptr<void>(nullptr, [this, done = std::move(done)](void*) {
    options_.executor->post([this, done] {
      UnitOfWork unit;
      unit.records.push_back({static_cast<uint8_t>(RecordKind::kCleanStop), "", "1", false});
      auto* operation =
          new CommitOperation(*this, std::move(unit), options_.executor, [done](const Outcome&) {
            if (done) done();
          });
      if (!operation->run().is_pending() && done) done();
    });
  });
  for (auto& connection : open) {
    connection->executor().post([connection, last] { connection->abandon(); });
  }
}

// The marks of this start have to outlive the next clean stop. Of queues that are gone or empty
// nothing is kept.
void QueueManager::note_maybe_seen() {
  auto bytes = [](auto number) {
    return std::string(reinterpret_cast<const char*>(&number), sizeof number);
  };
  constexpr auto kKind = static_cast<uint8_t>(RecordKind::kMaybeSeen);
  UnitOfWork unit;
  std::shared_lock ids_lock(ids_mutex_);
  for (const auto& [id, queue] : by_id_) {
    std::lock_guard lock(queue->mutex());
    if (queue->index().size() == 0) continue;
    unit.records.push_back({kKind, bytes(id), bytes(queue->last_sequence()), false});
    maybe_seen_.erase(id);
  }
  for (const auto& [id, upto] : maybe_seen_) unit.records.push_back({kKind, bytes(id), "", true});
  maybe_seen_.clear();
  ids_lock.unlock();
  run_detached(std::move(unit));
}

void QueueManager::set_settings(QueueManagerSettings settings) {
  settings.creates_unknown_queues = options_.settings.creates_unknown_queues;
  auto kept = std::make_unique<const QueueManagerSettings>(std::move(settings));
  std::lock_guard lock(settings_mutex_);
  settings_.store(kept.get(), std::memory_order_release);
  bool reports = kept->reports_performance;
  all_settings_.push_back(std::move(kept));
  for (const NamedQueueRef& object : objects_.all()) {
    if (object->queue != nullptr) object->queue->reports_events = reports;
  }
}

void QueueManager::add_queue(const QueueRef& queue) {
  {
    std::lock_guard queue_lock(queue->mutex());
    queue->index().count_in(index_bytes_);
  }
  std::unique_lock lock(ids_mutex_);
  by_id_[queue->id()] = queue;
}

void QueueManager::remove_queue(QueueId id) {
  std::unique_lock lock(ids_mutex_);
  by_id_.erase(id);
}

void QueueManager::drop_available(Queue& queue) {
  std::vector<Slot> slots;
  queue.index().for_each([&](Slot slot, Entry& entry) {
    if (entry.state == EntryState::kAvailable || entry.state == EntryState::kDelayed) {
      slots.push_back(slot);
    }
  });
  for (Slot slot : slots) {
    forget(queue.index().at(slot));
    queue.erase(slot);
  }
}

Outcome QueueManager::connect(const ConnectOptions& options, std::shared_ptr<Connection>& out) {
  if (!is_running()) return Outcome::failed(mqi::reason::kQMgrNotAvailable);
  if (options_.access != nullptr) {
    AccessRequest request{options.user, mqi::ot::kQueueManager, name(), kRightConnect};
    if (!options_.access->refuses(request).empty()) {
      report(ManagerEvent{.reason = mqi::reason::kNotAuthorized,
                          .qualifier = event_reason::kConnect,
                          .user = options.user,
                          .application = options.application_name,
                          .application_type = options.application_type});
      return Outcome::failed(mqi::reason::kNotAuthorized);
    }
  }
  out = std::make_shared<Connection>(*this, options);
  add_connection(*out);
  return Outcome::ok();
}

bool QueueManager::define_local(std::string_view name, const QueueSettings& settings) {
  // Refusals come at once, durability later.
  auto is_defined = std::make_shared<bool>(true);
  admin_.define(local_queue_definition(std::string(name), settings), false,
                [is_defined](objects::AdminResult result) { *is_defined = result.ok(); });
  return *is_defined;
}

QueueRef QueueManager::find_queue(std::string_view name) const {
  NamedQueueRef object = objects_.find(name);
  return object == nullptr ? nullptr : object->queue;
}

QueueRef QueueManager::queue_by_id(QueueId id) const {
  std::shared_lock lock(ids_mutex_);
  auto found = by_id_.find(id);
  return found == by_id_.end() ? nullptr : found->second;
}

void QueueManager::make_message_id(mqi::Id& id) {
  uint64_t number = last_message_id_.fetch_add(1, std::memory_order_relaxed) + 1;
  number = __builtin_bswap64(number);
  std::memcpy(id.data(), message_id_prefix_.data(), 16);
  std::memcpy(id.data() + 16, &number, 8);
}

bool QueueManager::begin_pending(CommitOperation& operation) {
  std::lock_guard lock(pending_mutex_);
  if (has_failed_ || store_ == nullptr) return false;
  pending_.insert(&operation);
  return true;
}

void QueueManager::end_pending(CommitOperation& operation) {
  std::lock_guard lock(pending_mutex_);
  pending_.erase(&operation);
}

void QueueManager::publish(const UnitPut& put, Location location, Effects& effects) {
  if (put.queue->is_deleted()) return;
  if (!put.message) {  // prepared before a restart, and never read
    Entry stored = make_entry(put.index, nullptr, location, put.queue->settings().is_fifo);
    if ((stored.flags & kEntryDelayed) != 0) stored.state = EntryState::kDelayed;
    put.queue->publish(stored, nullptr, effects);
    bool is_read = (stored.flags & (kEntryDelayed | kEntryGrouped)) != 0;
    if (is_read) effects.reads.push_back({put.queue, stored.sequence, location});
    return;
  }
  Message* message = put.message.get();
  Entry entry = make_entry(put.index, message, location, put.queue->settings().is_fifo);
  message->retain();
  memory_bytes_.fetch_add(message->memory_bytes(), std::memory_order_relaxed);
  bool is_grouped = (entry.flags & kEntryGrouped) != 0;
  if (entry.expires_gmt_ms != 0) schedule_sweep(entry.expires_gmt_ms);
  bool is_delayed = message->due_gmt_ms > now_gmt_micros() / 1000;
  if (is_delayed) entry.state = EntryState::kDelayed;
  Slot slot = put.queue->publish(entry, is_grouped ? &put.place : nullptr, effects);
  if (is_delayed) schedule_delayed(put.queue, entry.sequence, message->due_gmt_ms);
  Entry& placed = put.queue->index().at(slot);
  if (placed.state != EntryState::kAvailable) return;  // a waiter has it
  if (memory_bytes() > options_.memory_bytes_max && location) {
    drop_from_memory(placed);
    trim_memory(*put.queue);
  } else if (memory_bytes() > options_.memory_bytes_max && paging_ != nullptr &&
             !message->is_persistent()) {
    paging_->page_out(put.queue, entry.sequence, put.message);
  }
}

// Whoever gets it later reads it back.
void QueueManager::drop_from_memory(Entry& entry) {
  forget_memory(entry);
  entry.message->release();
  entry.message = nullptr;
}

// The index of a queue that gets deeper takes the room of older messages: two places are looked at
// with each put beyond the budget, from the youngest to the oldest, again and again.
void QueueManager::trim_memory(Queue& queue) {
  constexpr int kLooks = 2;
  Sequence& hand = queue.trim_hand;
  for (int i = 0; i < kLooks; ++i) {
    hand = hand > 1 ? hand - 1 : queue.last_sequence();
    const Slot slot = queue.index().find(hand);
    if (slot == kNoSlot) continue;
    Entry& entry = queue.index().at(slot);
    const bool is_stored = entry.is_persistent() && entry.location;
    if (entry.message != nullptr && is_stored && entry.state == EntryState::kAvailable) {
      drop_from_memory(entry);
    }
  }
}

void QueueManager::read(Location location, bool is_persistent, ReadDone& done) {
  if (is_persistent || paging_ == nullptr) {
    store_->read(location, done);
  } else {
    paging_->read(location, done);
  }
}

void QueueManager::forget(const Entry& entry) {
  forget_memory(entry);
  bool is_paged = entry.message == nullptr && !entry.is_persistent() && entry.location;
  if (is_paged && paging_ != nullptr) paging_->free(entry.location);
}

void QueueManager::forget_memory(const Entry& entry) {
  if (entry.message == nullptr) return;
  memory_bytes_.fetch_sub(entry.message->memory_bytes(), std::memory_order_relaxed);
}

void QueueManager::apply(Effects effects) {
  for (const Effects::Trigger& trigger : effects.triggers) fire(trigger);
  for (const Effects::Expired& expired : effects.expired) finish_expired(expired);
  if (!effects.reads.empty()) read_headers(std::move(effects.reads));
  for (auto& [topic, message] : effects.retained) pubsub_.retain(topic, std::move(message));
  for (DirectDelivery& direct : effects.direct) direct.run();
  for (const Effects::QueueEvent& event : effects.events) report(event);
}

void QueueManager::run_detached(UnitOfWork unit) {
  if (unit.empty()) return;
  auto* operation = new CommitOperation(*this, std::move(unit), options_.executor, nullptr);
  (void)operation->run();
}

namespace {

// The lazy frame of a rollback: nobody waits for it.
class BackoutRecord final : public Pending {
 public:
  explicit BackoutRecord(QueueManager& manager) : manager_(manager) {}
  void durable(std::span<const Location>) override { manager_.disown(*this); }
  RedoUnit redo;

 private:
  QueueManager& manager_;
};

}  // namespace

Pending& QueueManager::own(std::unique_ptr<Pending> pending) {
  Pending& owned = *pending;
  std::lock_guard lock(own_mutex_);
  own_pending_.emplace(&owned, std::move(pending));
  return owned;
}

void QueueManager::disown(const Pending& pending) {
  std::lock_guard lock(own_mutex_);
  own_pending_.erase(&pending);
}

void QueueManager::release(Queue& queue, Slot slot, Effects& effects) {
  if (!queue.is_deleted()) return queue.release(slot, effects);
  forget(queue.index().at(slot));
  queue.erase(slot);
}

void QueueManager::back_out(UnitOfWork& unit, UnitOfWork* kept) {
  auto record = std::make_unique<BackoutRecord>(*this);
  LockedQueues queues;
  for (const UnitPut& put : unit.puts) queues.add(put.queue.get());
  for (const UnitGet& get : unit.gets) queues.add(get.queue.get());
  Effects effects;
  queues.lock();
  for (const UnitPut& put : unit.puts) {
    if (!put.queue->is_deleted()) put.queue->unreserve();
  }
  for (UnitGet& get : unit.gets) {
    Slot slot = get.queue->index().find(get.sequence);
    if (slot == kNoSlot) continue;  // cleared by an administrator meanwhile
    if (get.skips_backout && kept != nullptr) {
      kept->owner = unit.owner;
      get.skips_backout = false;
      kept->gets.push_back(get);
      continue;
    }
    Entry& entry = get.queue->index().at(slot);
    ++entry.backout_count;
    if (get.is_persistent && !get.queue->is_deleted()) {
      record->redo.backouts.push_back(
          {get.queue->id(), get.sequence, entry.location, entry.backout_count});
    }
    release(*get.queue, slot, effects);
  }
  if (!record->redo.backouts.empty() && store_ != nullptr && !has_failed_) {
    const RedoUnit& redo = record->redo;
    store_->append(redo, own(std::move(record)));
  }
  queues.unlock();
  apply(std::move(effects));
}

bool QueueManager::moved(QueueId id, Sequence sequence, Location from, Location to) {
  QueueRef queue = queue_by_id(id);
  if (queue == nullptr) return false;
  std::lock_guard lock(queue->mutex());
  Slot slot = queue->index().find(sequence);
  if (slot == kNoSlot) return false;
  Entry& entry = queue->index().at(slot);
  if (entry.state == EntryState::kLeaving || entry.location != from) return false;
  entry.location = to;
  return true;
}

void QueueManager::failed(const base::Error& error) {
  std::unordered_set<CommitOperation*> pending;
  {
    std::lock_guard lock(pending_mutex_);
    has_failed_ = true;
    pending.swap(pending_);
  }
  is_running_ = false;
  for (CommitOperation* operation : pending) operation->abandon();
  if (options_.on_failure) options_.on_failure(error);
}

void QueueManager::space_changed(bool) {}

Status QueueManager::record(uint8_t kind, std::string_view key, std::string_view value) {
  has_records_ = true;
  if (kind == static_cast<uint8_t>(RecordKind::kCleanStop)) {
    found_clean_stop_ = true;
    return {};
  }
  if (kind == static_cast<uint8_t>(RecordKind::kMaybeSeen)) {
    QueueId id = 0;
    Sequence upto = 0;
    if (key.size() != sizeof id || value.size() != sizeof upto) return {};
    std::memcpy(&id, key.data(), sizeof id);
    std::memcpy(&upto, value.data(), sizeof upto);
    maybe_seen_[id] = upto;
    return {};
  }
  if (kind == static_cast<uint8_t>(RecordKind::kClient)) {
    client_records_.recovered(key, value);
    return {};
  }
  if (kind == static_cast<uint8_t>(RecordKind::kRetained)) {
    MessageRef message = MS_TRY(decode_retained(value));
    pubsub_.recover_retained(key, std::move(message));
    return {};
  }
  return admin_.recover_record(kind, key, value);
}

Status QueueManager::message(QueueId id, const IndexEntry& index, Location location) {
  QueueRef queue = queue_by_id(id);
  if (queue == nullptr) return {};
  Entry entry = make_entry(index, nullptr, location, queue->settings().is_fifo);
  auto seen = maybe_seen_.find(id);
  bool is_seen = seen != maybe_seen_.end() && index.sequence <= seen->second;
  if (!found_clean_stop_ || is_seen) entry.flags |= kEntryRecovered;
  if ((index.flags & kEntryDelayed) != 0) entry.state = EntryState::kDelayed;
  if ((index.flags & (kEntryDelayed | kEntryGrouped)) != 0) {
    to_read_.push_back(Effects::Read{queue, index.sequence, location});
  }
  if (entry.expires_gmt_ms != 0 && entry.expires_gmt_ms < recovered_expiry_ms_) {
    recovered_expiry_ms_ = entry.expires_gmt_ms;
  }
  std::lock_guard lock(queue->mutex());
  queue->recover(entry);
  return {};
}

Status QueueManager::sequence(QueueId id, Sequence highest) {
  QueueRef queue = queue_by_id(id);
  if (queue == nullptr) return {};
  std::lock_guard lock(queue->mutex());
  queue->set_last_sequence(highest);
  return {};
}

Status QueueManager::prepared(const RedoUnit& unit, std::span<const Location> puts) {
  branches_.recovered(unit, puts);
  return {};
}

Status QueueManager::heuristic(std::string_view xid, uint8_t outcome) {
  branches_.recovered_heuristic(xid, outcome);
  return {};
}

QueueRef QueueManager::lost_queue() {
  if (lost_queue_ == nullptr) {
    lost_queue_ = std::make_shared<Queue>(0, "", QueueSettings(), clock());
    lost_queue_->mark_deleted();
  }
  return lost_queue_;
}

}  // namespace millstream::queue
