#include "queue/core/queue_manager.h"

#include <cstring>

#include "base/assert.h"
#include "base/log.h"
#include "queue/core/connection.h"

namespace millstream::queue {

QueueManager::QueueManager(QueueManagerOptions options) : options_(std::move(options)) {
  MS_ASSERT(options_.executor != nullptr && options_.random != nullptr);
  // "AMQ ", 12 characters of the name, then 8 bytes that are unique: an epoch and a count.
  message_id_prefix_ = "AMQ " + options_.settings.name.substr(0, 12);
  message_id_prefix_.resize(16, ' ');
  last_message_id_ = options_.random->next_u64() << 24;
}

QueueManager::~QueueManager() = default;

Status QueueManager::start(Store& store) {
  store_ = &store;
  is_running_ = true;
  return {};
}

void QueueManager::stop() { is_running_ = false; }

Outcome QueueManager::connect(const ConnectOptions& options, std::shared_ptr<Connection>& out) {
  if (!is_running()) return Outcome::failed(mqi::reason::kQMgrNotAvailable);
  if (options_.access != nullptr) {
    AccessRequest request{options.user, mqi::ot::kQueueManager, name(), kRightConnect};
    if (!options_.access->refuses(request).empty()) {
      return Outcome::failed(mqi::reason::kNotAuthorized);
    }
  }
  out = std::make_shared<Connection>(*this, options);
  return Outcome::ok();
}

QueueRef QueueManager::create_queue(std::string_view name, QueueSettings settings) {
  std::unique_lock lock(ids_mutex_);
  QueueId id = ++last_queue_id_;
  auto queue = std::make_shared<Queue>(id, std::string(name), std::move(settings));
  by_id_[id] = queue;
  return queue;
}

bool QueueManager::define_local(std::string_view name, const QueueSettings& settings) {
  auto object = std::make_shared<NamedQueue>(std::string(name), QueueKind::kLocal);
  if (objects_.find(name) != nullptr) return false;
  object->queue = create_queue(name, settings);
  return objects_.add(std::move(object));
}

bool QueueManager::define(NamedQueueRef object) { return objects_.add(std::move(object)); }

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
  Message* message = put.message.get();
  Entry entry = make_entry(put.index, message, location, put.queue->settings().is_fifo);
  message->retain();
  memory_bytes_.fetch_add(message->memory_bytes(), std::memory_order_relaxed);
  bool is_grouped = (entry.flags & kEntryGrouped) != 0;
  put.queue->now_ns = now_ns();
  Slot slot = put.queue->publish(entry, is_grouped ? &put.place : nullptr, effects);
  if (memory_bytes() > options_.memory_bytes_max && location) {
    // Whoever gets it later reads it back.
    Entry& placed = put.queue->index().at(slot);
    forget_memory(placed);
    placed.message->release();
    placed.message = nullptr;
  }
}

void QueueManager::forget_memory(const Entry& entry) {
  if (entry.message == nullptr) return;
  memory_bytes_.fetch_sub(entry.message->memory_bytes(), std::memory_order_relaxed);
}

void QueueManager::apply(Effects effects) {
  if (effects.empty()) return;
  for (Effects::Expired& expired : effects.expired) {
    UnitOfWork unit;
    UnitGet get;
    get.queue = expired.queue;
    get.sequence = expired.entry.sequence;
    get.is_persistent = expired.entry.is_persistent();
    {
      std::lock_guard lock(expired.queue->mutex());
      get.slot = expired.queue->index().find(get.sequence);
      if (expired.entry.message != nullptr) expired.entry.message->release();
      if (get.slot == kNoSlot) continue;
    }
    unit.gets.push_back(std::move(get));
    auto* operation = new CommitOperation(*this, std::move(unit), options_.executor, nullptr);
    (void)operation->run();
  }
}

namespace {

// The lazy frame of a rollback: nobody waits for it.
class BackoutRecord final : public Pending {
 public:
  RedoUnit redo;
  void durable(std::span<const Location>) override { delete this; }
};

}  // namespace

void QueueManager::back_out(UnitOfWork& unit, UnitOfWork* kept) {
  auto record = std::make_unique<BackoutRecord>();
  LockedQueues queues;
  for (const UnitPut& put : unit.puts) queues.add(put.queue.get());
  for (const UnitGet& get : unit.gets) queues.add(get.queue.get());
  Effects effects;
  queues.lock();
  for (const UnitPut& put : unit.puts) put.queue->unreserve();
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
    if (get.is_persistent) {
      record->redo.backouts.push_back(
          {get.queue->id(), get.sequence, entry.location, entry.backout_count});
    }
    get.queue->release(slot, effects);
  }
  if (!record->redo.backouts.empty() && store_ != nullptr && is_running()) {
    BackoutRecord& pending = *record.release();
    store_->append(pending.redo, pending);
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

void QueueManager::failed(const base::Error&) {
  std::unordered_set<CommitOperation*> pending;
  {
    std::lock_guard lock(pending_mutex_);
    has_failed_ = true;
    pending.swap(pending_);
  }
  is_running_ = false;
  for (CommitOperation* operation : pending) operation->abandon();
}

void QueueManager::space_changed(bool) {}

Status QueueManager::record(uint8_t, std::string_view, std::string_view) { return {}; }

Status QueueManager::message(QueueId id, const IndexEntry& index, Location location) {
  QueueRef queue = queue_by_id(id);
  if (queue == nullptr) return {};
  Entry entry = make_entry(index, nullptr, location, queue->settings().is_fifo);
  std::lock_guard lock(queue->mutex());
  Effects effects;
  queue->publish(entry, nullptr, effects);
  return {};
}

Status QueueManager::sequence(QueueId id, Sequence highest) {
  QueueRef queue = queue_by_id(id);
  if (queue == nullptr) return {};
  std::lock_guard lock(queue->mutex());
  queue->set_last_sequence(highest);
  return {};
}

Status QueueManager::prepared(const RedoUnit&, std::span<const Location>) { return {}; }
Status QueueManager::heuristic(std::string_view, uint8_t) { return {}; }

}  // namespace millstream::queue
