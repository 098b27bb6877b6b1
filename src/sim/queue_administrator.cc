#include <utility>

#include "queue/core/definitions.h"
#include "sim/queue_client.h"

namespace millstream::sim {
namespace {

using Kind = LedgerEntry::Kind;
using queue::objects::AdminResult;
using queue::objects::Attr;
using queue::objects::ObjectFamily;

}  // namespace

queue::objects::Definition queue_definition(const std::string& name, const std::string& description,
                                            const QueueSwarm& swarm) {
  queue::QueueSettings settings;
  if (swarm.has_poison) {
    settings.backout_threshold = 2;
    settings.backout_queue = "BACKOUT";
  }
  queue::objects::Definition definition = queue::local_queue_definition(name, settings);
  definition.set_text(Attr::kDescr, description);
  return definition;
}

void QueueAdministrator::begin() {
  executor_.post_at(scene_.node.now_ns(), [this] { step(); });
}

void QueueAdministrator::later() {
  if (scene_.is_closing) return;
  executor_.post_at(scene_.node.now_ns() + static_cast<int64_t>(scene_.up_to(300'000'000)),
                    [this] { step(); });
}

void QueueAdministrator::step() {
  if (scene_.is_closing || !scene_.node.is_up()) return;
  if (scene_.swarm.has_checkpoints && scene_.one_in(2)) {
    note("checkpoint");
    scene_.node.store().checkpoint();
    return later();
  }
  if (!scene_.swarm.has_admin) return later();
  const std::string queue = scene_.queue_name();
  // What a clear takes is known by the messages' identifiers, and those of publications are new.
  switch (scene_.swarm.has_topic ? scene_.up_to(2) * 3 : scene_.up_to(4)) {
    case 0:
      return define(queue);
    case 1:
      return clear(queue, true);
    case 2:
      return clear(queue, false);
    default:
      return alter(queue);
  }
}

// The callback of a change that makes the definition be `state`. A refusal comes at once and is no
// change.
queue::objects::AdminDone QueueAdministrator::change(const std::string& queue, std::string state,
                                                     bool* was_inline) {
  is_calling_ = true;
  const size_t change = scene_.oracle.definition_asked(queue, std::move(state));
  return [this, queue, change, was_inline](const AdminResult& result) {
    is_calling_ = false;
    if (was_inline != nullptr) *was_inline = true;
    note("change of " + queue + " = " + std::to_string(result.reason));
    if (result.ok()) scene_.oracle.definition_acknowledged(queue, change);
    later();
  };
}

void QueueAdministrator::define(const std::string& queue) {
  if (scene_.node.manager().find_queue(queue) != nullptr) return later();
  const std::string version = scene_.oracle.new_unit("version");
  note("define " + queue + " " + version);
  scene_.node.manager().admin().define(queue_definition(queue, version, scene_.swarm), false,
                                       change(queue, version, nullptr));
}

void QueueAdministrator::alter(const std::string& queue) {
  auto seen = scene_.node.manager().admin().catalogue().find(ObjectFamily::kQueue, queue);
  if (seen == nullptr) return later();
  const std::string version = scene_.oracle.new_unit("version");
  queue::objects::Definition changed = *seen;
  changed.set_text(Attr::kDescr, version);
  switch (scene_.up_to(4)) {
    case 0:
      changed.set_number(Attr::kPut, static_cast<int64_t>(scene_.up_to(2)));
      break;
    case 1:
      changed.set_number(Attr::kGet, static_cast<int64_t>(scene_.up_to(2)));
      break;
    case 2:
      changed.set_number(Attr::kMaxdepth, static_cast<int64_t>(3 + scene_.up_to(40)));
      break;
    default:
      changed.set_number(Attr::kMaxmsgl, static_cast<int64_t>(300 + scene_.up_to(20'000)));
      break;
  }
  note("alter " + queue + " " + version);
  scene_.node.manager().admin().alter(seen, std::move(changed), true,
                                      change(queue, version, nullptr));
}

// For the ledger it is a unit of work that gets all that is there.
void QueueAdministrator::clear(const std::string& name, bool deletes) {
  queue::QueueRef queue = scene_.node.manager().find_queue(name);
  if (queue == nullptr) return later();
  std::vector<std::string> keys;
  {
    std::lock_guard lock(queue->mutex());
    queue->index().for_each([&](queue::Slot, queue::Entry& entry) {
      const bool is_there = entry.state == queue::EntryState::kAvailable ||
                            entry.state == queue::EntryState::kDelayed;
      if (!is_there || queue->is_expired(entry)) return;
      std::string key = scene_.oracle.key_of(entry.message_id_hash);
      if (!key.empty()) keys.push_back(std::move(key));
    });
  }
  const std::string unit = scene_.oracle.new_unit("clear");
  note((deletes ? "delete " : "clear ") + name + " " + unit + " of " + std::to_string(keys.size()));
  // Only when it is accepted does it count as a unit that took them.
  struct Progress {
    bool has_ended = false, is_ok = false, is_recorded = false;
  };
  auto progress = std::make_shared<Progress>();
  queue::objects::AdminDone changed =
      deletes ? change(name, "", nullptr) : [this, name](const AdminResult& result) {
        is_calling_ = false;
        note("clear of " + name + " = " + std::to_string(result.reason));
        later();
      };
  is_calling_ = true;
  auto done = [this, unit, progress, changed](const AdminResult& result) {
    progress->has_ended = true;
    progress->is_ok = result.ok();
    const bool is_broken = result.reason == mqi::reason::kConnectionBroken;
    if (progress->is_recorded && !is_broken) {
      scene_.oracle.add(result.ok() ? Kind::kCommitted : Kind::kBackedOut, unit);
    }
    if (!is_broken) changed(result);
  };
  if (deletes) {
    scene_.node.manager().admin().erase(ObjectFamily::kQueue, name, {.is_purge = true}, done);
  } else {
    scene_.node.manager().admin().clear_queue(name, done);
  }
  if (progress->has_ended && !progress->is_ok) return;
  for (const std::string& key : keys) {
    LedgerEntry entry;
    entry.kind = Kind::kGot;
    entry.at_ns = scene_.node.now_ns();
    entry.unit = unit;
    entry.queue = name;
    entry.key = key;
    entry.producer = "admin";
    entry.is_flagged = true;
    entry.is_selective = true;
    scene_.oracle.ledger.add(std::move(entry));
  }
  scene_.oracle.add(Kind::kCommit, unit);
  progress->is_recorded = true;
  if (progress->has_ended) scene_.oracle.add(Kind::kCommitted, unit);
}

}  // namespace millstream::sim
