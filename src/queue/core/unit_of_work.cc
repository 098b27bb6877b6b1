#include "queue/core/unit_of_work.h"

#include <cstring>

#include "base/assert.h"
#include "mqi/properties.h"
#include "queue/core/definitions.h"
#include "queue/core/errors_gen.h"
#include "queue/core/message_codec.h"
#include "queue/core/queue_manager.h"

namespace millstream::queue {

bool UnitOfWork::is_persistent() const {
  if (!records.empty() || !clears.empty()) return true;
  for (const UnitPut& put : puts) {
    if ((put.index.flags & kEntryPersistent) != 0) return true;
  }
  for (const UnitGet& get : gets) {
    if (get.is_persistent) return true;
  }
  for (const auto& [topic, message] : retained) {
    if (message->is_persistent()) return true;
  }
  return false;
}

IndexEntry make_index_entry(const Message& message) {
  IndexEntry index;
  index.message_id_hash = hash_identifier(message.message_id());
  index.correlation_id_hash = hash_identifier(message.correlation_id());
  index.group_id_hash = hash_identifier(message.group_id());
  index.expires_gmt_ms = message.expires_gmt_ms;
  index.body_bytes = static_cast<uint32_t>(message.body.size());
  index.backout_count = 0;
  index.priority = static_cast<uint8_t>(message.md.priority);
  uint8_t flags = 0;
  if (message.is_persistent()) flags |= kEntryPersistent;
  if ((message.md.report & mqi::ro::kExpirationMask) != 0) flags |= kEntryReportsExpiry;
  if ((message.md.report & mqi::ro::kCodMask) != 0) flags |= kEntryReportsCod;
  if (message.due_gmt_ms != 0) flags |= kEntryDelayed;
  constexpr int32_t kGroupFlags =
      mqi::mf::kInGroup | mqi::mf::kLastInGroup | mqi::mf::kSegment | mqi::mf::kLastSegment;
  if ((message.md.flags & kGroupFlags) != 0) flags |= kEntryGrouped;
  if (!message.properties.empty()) {
    mqi::PropertyView cid = mqi::PropertyListView::trusted(message.properties).find("jms.Cid");
    if (cid.is_string() && hash_identifier(cid.text()) != index.correlation_id_hash) {
      flags |= kEntryOtherCid;
    }
  }
  index.flags = flags;
  return index;
}

Entry make_entry(const IndexEntry& index, Message* message, Location location, bool is_fifo) {
  Entry entry;
  entry.sequence = index.sequence;
  entry.message_id_hash = index.message_id_hash;
  entry.correlation_id_hash = index.correlation_id_hash;
  entry.group_id_hash = index.group_id_hash;
  entry.expires_gmt_ms = index.expires_gmt_ms;
  entry.location = location;
  entry.message = message;
  entry.body_bytes = index.body_bytes;
  entry.backout_count = index.backout_count;
  entry.priority = index.priority;
  entry.lane = is_fifo ? 0 : index.priority;
  entry.state = EntryState::kAvailable;
  entry.flags = index.flags;
  return entry;
}

CommitOperation::CommitOperation(QueueManager& manager, UnitOfWork unit, base::Executor* executor,
                                 Done done)
    : manager_(manager), unit_(std::move(unit)), executor_(executor), done_(std::move(done)) {}

void CommitOperation::lock(LockedQueues& queues) const {
  for (const UnitPut& put : unit_.puts) queues.add(put.queue.get());
  for (const UnitGet& get : unit_.gets) queues.add(get.queue.get());
  queues.lock();
}

Outcome CommitOperation::run(RedoKind kind, std::string_view xid) {
  std::unique_ptr<CommitOperation> self(this);
  if (kind != RedoKind::kCommitPrepared) record_retained();  // those of a prepare are in it
  bool is_persistent = kind != RedoKind::kCommit || unit_.is_persistent();
  if (is_persistent && kind != RedoKind::kCommitPrepared) {
    headers_.reserve(unit_.puts.size());
    for (const UnitPut& put : unit_.puts) {
      headers_.emplace_back();
      if (put.message->is_persistent()) encode_message_header(*put.message, headers_.back());
    }
  }
  xid_ = xid;
  LockedQueues queues;  // not a member: the object may be gone before they are unlocked
  lock(queues);
  if (kind != RedoKind::kPrepare) {
    for (UnitPut& put : unit_.puts) put.index.sequence = put.queue->next_sequence();
  }
  if (!is_persistent) {
    publish({});
    queues.unlock();
    manager_.apply(std::move(effects_));
    return Outcome::ok();
  }
  if (kind != RedoKind::kPrepare) {
    for (const UnitGet& get : unit_.gets) get.queue->leave(get.slot);
  }
  build(kind);
  if (!manager_.begin_pending(*this)) {
    queues.unlock();
    return Outcome::failed(mqi::reason::kConnectionBroken);
  }
  self.release();
  // Under the locks: the order of the journal is the order on the queues.
  manager_.store().append(redo_, *this);
  // From here on the object may be gone.
  return Outcome::pending();
}

bool CommitOperation::is_stored(const UnitPut& put) const {
  return put.message->is_persistent() && !put.queue->is_deleted();
}

// A publication that is not persistent takes the place of one that is, also after a restart.
void CommitOperation::record_retained() {
  for (const auto& [topic, message] : unit_.retained) {
    if (message->is_persistent()) {
      unit_.records.push_back(retained_record(topic, *message));
    } else if (manager_.pubsub().retains_persistent(topic)) {
      unit_.records.push_back({static_cast<uint8_t>(RecordKind::kRetained), topic, "", true});
    }
  }
}

UnitRecord CommitOperation::retained_record(const std::string& topic, const Message& message) {
  std::string header;
  encode_message_header(message, header);
  uint32_t size = static_cast<uint32_t>(header.size());
  std::string value(reinterpret_cast<const char*>(&size), sizeof size);
  value += header;
  value += message.body.view();
  return {static_cast<uint8_t>(RecordKind::kRetained), topic, std::move(value), false};
}

Result<MessageRef> decode_retained(std::string_view value) {
  uint32_t size = 0;
  if (value.size() < sizeof size) {
    return base::make_error(core::errors::kMessageHeader, {"it is too short"});
  }
  std::memcpy(&size, value.data(), sizeof size);
  value.remove_prefix(sizeof size);
  if (size > value.size()) {
    return base::make_error(core::errors::kMessageHeader, {"it is too short"});
  }
  return decode_message(value.substr(0, size), std::string(value.substr(size)));
}

void CommitOperation::build(RedoKind kind) {
  redo_.kind = kind;
  redo_.xid = xid_;
  if (kind == RedoKind::kCommitPrepared) {
    for (const UnitPut& put : unit_.puts) {
      if (put.is_stored) redo_.prepared_sequences.push_back(put.index.sequence);
    }
  } else {
    build_content();
  }
  for (const UnitRecord& r : unit_.records) {
    redo_.records.push_back({r.kind, r.key, r.value, r.is_erased});
  }
  redo_.clears = unit_.clears;
}

void CommitOperation::build_content() {
  for (size_t i = 0; i < unit_.puts.size(); ++i) {
    UnitPut& put = unit_.puts[i];
    if (!is_stored(put)) continue;
    put.is_stored = true;
    put.index.header_bytes = static_cast<uint32_t>(headers_[i].size());
    redo_.puts.push_back({put.queue->id(), put.index, headers_[i], put.message->body.view()});
  }
  for (const UnitGet& get : unit_.gets) {
    if (!get.is_persistent || get.queue->is_deleted()) continue;
    redo_.gets.push_back({get.queue->id(), get.sequence, get.queue->index().at(get.slot).location});
  }
}

void CommitOperation::publish(std::span<const Location> locations) {
  size_t next_location = 0;
  int64_t now = manager_.now_gmt_micros();
  for (const UnitGet& get : unit_.gets) {
    manager_.forget(get.queue->index().at(get.slot));
    get.queue->erase(get.slot);
    get.queue->note_get(effects_);
    get.queue->statistics.last_get_gmt_micros = now;
  }
  for (auto& retained : unit_.retained) effects_.retained.push_back(std::move(retained));
  for (auto& direct : unit_.direct) effects_.direct.push_back(std::move(direct));
  for (UnitPut& put : unit_.puts) {
    Location location;
    if (put.is_stored) location = locations[next_location++];
    if (!put.queue->is_deleted()) put.queue->unreserve();
    put.queue->statistics.last_put_gmt_micros = now;
    manager_.publish(put, location, effects_);
  }
}

void CommitOperation::durable(std::span<const Location> puts) {
  std::unique_ptr<CommitOperation> self(this);
  manager_.end_pending(*this);
  if (redo_.kind == RedoKind::kPrepare) {
    size_t next_location = 0;
    for (UnitPut& put : unit_.puts) {
      if (put.is_stored) put.location = puts[next_location++];
    }
    if (prepared_) prepared_(std::move(unit_));
    return finish(Outcome::ok());
  }
  if (prepared_) {
    prepared_({});
    return finish(Outcome::ok());
  }
  LockedQueues queues;
  lock(queues);
  publish(puts);
  queues.unlock();
  manager_.apply(std::move(effects_));
  finish(Outcome::ok());
}

void CommitOperation::abandon() {
  std::unique_ptr<CommitOperation> self(this);
  finish(Outcome::failed(mqi::reason::kConnectionBroken));
}

void CommitOperation::finish(const Outcome& outcome) {
  if (!done_) return;
  executor_->post([done = std::move(done_), outcome] { done(outcome); });
}

}  // namespace millstream::queue
