// Clients of a simulated run: publications, which are one message on the queue of each
// subscription, all or none.
#include <utility>

#include "sim/message_text.h"
#include "sim/queue_client.h"

namespace millstream::sim {
namespace {

using Kind = LedgerEntry::Kind;
namespace pmo = mqi::pmo;

}  // namespace

void QueueClient::publish() {
  const QueueSwarm& swarm = scene_.swarm;
  QueueOracle& oracle = scene_.oracle;
  if (topic_ == queue::kNoObject) {
    queue::OpenCall open;
    open.object_type = mqi::ot::kTopic;
    open.object_string = QueueScene::kTopic;
    open.options = mqi::oo::kOutput;
    if (!connection_->open(open).is_ok()) return later();
    topic_ = open.handle;
  }
  const bool in_unit = swarm.has_units && (!swarm.has_plain || scene_.one_in(2));
  const std::string key = oracle.new_key(name_);
  oracle.published(key);
  std::vector<LedgerEntry> entries;
  LedgerEntry entry;
  entry.kind = Kind::kPut;
  entry.at_ns = scene_.node.now_ns();
  entry.unit = in_unit ? unit() : oracle.new_unit(name_);
  entry.producer = stream(in_unit);
  entry.number = oracle.next_number();
  entry.is_persistent = !(swarm.has_non_persistent && scene_.one_in(3));
  entry.priority = swarm.has_priorities ? static_cast<int>(scene_.up_to(10)) : 0;
  for (int i = 1; i <= scene_.subscriptions; ++i) {
    entry.queue = "Q" + std::to_string(i);
    entry.key = oracle.ledger_key(key, entry.queue);
    entries.push_back(entry);
  }
  auto call = std::make_shared<queue::PutCall>();
  call->md.persistence = entry.is_persistent ? 1 : 0;
  call->md.priority = entry.priority;
  fill_properties(*call, key);
  size_t bytes = scene_.up_to(700);
  if (swarm.has_big && scene_.one_in(8)) bytes = scene_.up_to(20'000);
  call->body = queue::Body::adopt(make_message_text(key, bytes));
  call->options = in_unit ? pmo::kSyncpoint : pmo::kNoSyncpoint;
  // What is retained is the last that was published: one after the other.
  size_t retained = 0;
  if (!in_unit && entry.is_persistent && scene_.one_in(3)) {
    call->options |= pmo::kRetain;
    retained = oracle.definition_asked("retained", key);
  }
  note("publish " + key + " " + entry.unit + (retained != 0 ? " retained" : ""));
  if (!in_unit) {
    for (const LedgerEntry& e : entries) oracle.ledger.add(e);
    oracle.add(Kind::kCommit, entry.unit);
  }
  this->call([&](queue::Done done) { return connection_->put(topic_, *call, std::move(done)); },
             [this, call, entries, in_unit, key, retained](const queue::Outcome& o) {
               note("publish " + key + " = " + std::to_string(o.reason));
               if (in_unit && !o.is_failed()) {
                 for (const LedgerEntry& e : entries) scene_.oracle.ledger.add(e);
               }
               if (in_unit) return;
               scene_.oracle.add(o.is_failed() ? Kind::kBackedOut : Kind::kCommitted,
                                 entries[0].unit);
               if (retained != 0 && !o.is_failed()) {
                 scene_.oracle.definition_acknowledged("retained", retained);
               }
             });
}

}  // namespace millstream::sim
