#include "sim/queue_client.h"

#include <utility>

#include "sim/message_text.h"
#include "sim/sim_selector.h"

namespace millstream::sim {
namespace {

namespace gmo = mqi::gmo;
namespace pmo = mqi::pmo;
namespace oo = mqi::oo;
namespace reason = mqi::reason;
using Kind = LedgerEntry::Kind;

// Nobody knows what became of the call.
bool is_broken(const queue::Outcome& outcome) {
  return outcome.is_failed() &&
         (outcome.reason == reason::kConnectionBroken || outcome.reason == reason::kQMgrStopping ||
          outcome.reason == reason::kHconnError || outcome.reason == reason::kQMgrNotAvailable);
}

}  // namespace

QueueClient::QueueClient(QueueScene& scene, std::string name)
    : scene_(scene), name_(std::move(name)), executor_(scene.node.sim) {}

void QueueClient::begin() {
  connection_ = scene_.node.connect(executor_, name_);
  handles_.clear();
  topic_ = queue::kNoObject;
  if (connection_ == nullptr) return note("was refused");
  executor_.post([this] { step(); });
}

void QueueClient::lost() {
  if (!unanswered_get_.empty()) {
    LedgerEntry entry;
    entry.kind = Kind::kGetUnknown;
    entry.at_ns = scene_.node.now_ns();
    entry.queue = unanswered_get_;
    scene_.oracle.ledger.add(std::move(entry));
  }
  unanswered_get_.clear();
  unit_.clear();
  is_in_branch_ = false;
  handles_.clear();
  topic_ = queue::kNoObject;
  connection_ = nullptr;
  is_calling_ = false;
}

void QueueClient::end_unit() {
  if (connection_ == nullptr) return;
  if (!unit_.empty()) scene_.oracle.add(Kind::kBackedOut, std::exchange(unit_, ""));
  connection_->abandon();
  connection_ = nullptr;
}

void QueueClient::later() {
  if (scene_.swarm.has_pauses && scene_.one_in(6)) {
    executor_.post_at(scene_.node.now_ns() + static_cast<int64_t>(scene_.up_to(400'000'000)),
                      [this] { step(); });
  } else {
    executor_.post([this] { step(); });
  }
}

template <typename Call>
void QueueClient::call(Call&& call, Then then) {
  is_calling_ = true;
  ++scene_.oracle.calls;
  queue::Outcome outcome = call([this, then](const queue::Outcome& o) { finish(o, then); });
  if (!outcome.is_pending()) finish(outcome, then);
}

void QueueClient::finish(const queue::Outcome& outcome, const Then& then) {
  is_calling_ = false;
  if (is_broken(outcome)) return broke();
  then(outcome);
  later();
}

// As an application that lost its queue manager: it waits for a new one.
void QueueClient::broke() {
  note("broke");
  is_calling_ = true;  // until lost()
}

queue::Hobj QueueClient::open(const std::string& queue, const std::string& selector) {
  auto [it, is_new] = handles_.emplace(queue + selector, queue::kNoObject);
  if (!is_new) return it->second;
  queue::OpenCall open;
  open.object_name = queue;
  open.selection_string = selector;
  open.options = oo::kInputShared | oo::kOutput | oo::kBrowse;
  queue::Outcome outcome = connection_->open(open);
  if (!outcome.is_ok()) {
    handles_.erase(it);
    return queue::kNoObject;
  }
  return it->second = open.handle;
}

std::string QueueClient::unit() {
  if (unit_.empty()) unit_ = scene_.oracle.new_unit(name_);
  return unit_;
}

void QueueClient::step() {
  if (connection_ == nullptr || scene_.is_closing) return;
  if (scene_.swarm.has_xa && !is_in_branch_ && scene_.one_in(8)) {
    if (!scene_.heuristic.empty() && scene_.one_in(3)) return end_heuristic();
    if (!scene_.in_doubt.empty() && scene_.swarm.has_heuristics && scene_.one_in(4)) {
      return decide_heuristically();
    }
    if (!scene_.in_doubt.empty() && scene_.one_in(2)) return decide();
    if (unit_.empty()) return prepare();
  }
  if (scene_.can_publish && scene_.one_in(8)) return publish();
  const uint64_t dice = scene_.up_to(100);
  const uint64_t puts = scene_.swarm.has_deep ? 52 : 38;
  if (dice < puts) return scene_.swarm.has_groups && scene_.one_in(4) ? put_group() : put();
  if (dice < 78) return get();
  if (dice < 82) return scene_.swarm.has_browse ? browse() : get();
  if (dice < 90) return commit();
  if (dice < 94) return back();
  if (dice < 97) {
    close_handles();
    return later();
  }
  if (scene_.swarm.has_leaving) return leave();
  later();
}

void QueueClient::fill_properties(queue::PutCall& call, const std::string& key) const {
  if (scene_.swarm.has_selectors) call.properties = SimProperties(key).bytes();
}

void QueueClient::check_selected(const queue::GetCall& call, const SimSelector& selector,
                                 const std::string& queue) {
  const std::string key = read_message_text(call.body.view(), call.data_bytes).key;
  if (key.empty() || selector.matches(SimProperties(key))) return;
  scene_.oracle.violation("selector: key " + key + " was got from " + queue + " where " +
                          selector.text);
}

void QueueClient::put() {
  const QueueSwarm& swarm = scene_.swarm;
  QueueOracle& oracle = scene_.oracle;
  const std::string queue = scene_.queue_name();
  const bool in_unit = swarm.has_units && (!swarm.has_plain || scene_.one_in(2));
  auto call = std::make_shared<queue::PutCall>();
  LedgerEntry entry;
  entry.kind = Kind::kPut;
  entry.at_ns = scene_.node.now_ns();
  entry.unit = in_unit ? unit() : oracle.new_unit(name_);
  entry.queue = queue;
  entry.key = oracle.new_key(name_);
  entry.producer = stream(in_unit);
  entry.number = oracle.next_number();
  entry.is_persistent = !(swarm.has_non_persistent && scene_.one_in(3));
  entry.priority = swarm.has_priorities ? static_cast<int>(scene_.up_to(10)) : 0;
  call->md.message_id = mqi::Id(entry.key);
  call->md.correlation_id = mqi::Id("corr" + std::to_string(scene_.up_to(5)));
  call->md.persistence = entry.is_persistent ? 1 : 0;
  call->md.priority = entry.priority;
  if (swarm.has_expiry && scene_.one_in(3)) {
    call->md.expiry = static_cast<int32_t>(1 + scene_.up_to(20));
    entry.expires_at_ns = entry.at_ns + int64_t{call->md.expiry} * 100'000'000;
  }
  if (swarm.has_delay && scene_.one_in(4)) {
    call->delay_ms = static_cast<int64_t>(1 + scene_.up_to(1500));
    entry.producer += entry.key;  // it overtakes nobody
  }
  fill_properties(*call, entry.key);
  size_t bytes = scene_.up_to(700);
  if (swarm.has_big && scene_.one_in(8)) bytes = scene_.up_to(30'000);
  if (swarm.has_truncation && scene_.one_in(3)) bytes += 100;
  call->body = queue::Body::adopt(make_message_text(entry.key, bytes));
  call->options = in_unit ? pmo::kSyncpoint : pmo::kNoSyncpoint;
  note("put " + entry.key + " " + queue + " " + entry.unit);
  if (!in_unit) {
    oracle.ledger.add(entry);
    oracle.add(Kind::kCommit, entry.unit);
  }
  auto then = [this, call, entry, in_unit](const queue::Outcome& o) {
    note("put " + entry.key + " = " + std::to_string(o.reason));
    if (in_unit && !o.is_failed()) scene_.oracle.ledger.add(entry);
    if (!in_unit) {
      scene_.oracle.add(o.is_failed() ? Kind::kBackedOut : Kind::kCommitted, entry.unit);
    }
  };
  if (scene_.one_in(2)) {
    auto object = std::make_shared<queue::OpenCall>();
    object->object_name = queue;
    return this->call(
        [&](queue::Done done) { return connection_->put1(*object, *call, std::move(done)); },
        [then, object](const queue::Outcome& o) { then(o); });
  }
  const queue::Hobj handle = open(queue);
  this->call([&](queue::Done done) { return connection_->put(handle, *call, std::move(done)); },
             std::move(then));
}

// A whole group in the open unit, one call after the other.
void QueueClient::put_group() {
  const std::string queue = scene_.queue_name();
  const queue::Hobj handle = open(queue);
  const int count = 2 + static_cast<int>(scene_.up_to(3));
  const std::string group = scene_.oracle.new_unit(name_ + "g");
  const std::string in = unit();
  for (int i = 1; i <= count; ++i) {
    queue::PutCall call;
    LedgerEntry entry;
    entry.kind = Kind::kPut;
    entry.at_ns = scene_.node.now_ns();
    entry.unit = in;
    entry.queue = queue;
    entry.key = scene_.oracle.new_key(name_);
    entry.producer = stream(true);
    entry.number = scene_.oracle.next_number();
    entry.is_persistent = true;
    call.md.message_id = mqi::Id(entry.key);
    call.md.group_id = mqi::Id(group);
    call.md.sequence_number = i;
    call.md.flags = mqi::mf::kInGroup | (i == count ? mqi::mf::kLastInGroup : 0);
    call.md.persistence = 1;
    call.md.priority = 0;
    fill_properties(call, entry.key);
    call.body = queue::Body::adopt(make_message_text(entry.key, scene_.up_to(200)));
    call.options = pmo::kSyncpoint;
    ++scene_.oracle.calls;
    queue::Outcome o = connection_->put(handle, call);
    note("put in group " + entry.key + " " + queue + " " + in + " = " + std::to_string(o.reason));
    if (is_broken(o)) return broke();
    if (o.is_failed()) break;
    scene_.oracle.ledger.add(entry);
  }
  later();
}

void QueueClient::get() {
  const QueueSwarm& swarm = scene_.swarm;
  const std::string queue = scene_.queue_name();
  const SimSelector* selector = nullptr;
  if (swarm.has_selectors && scene_.one_in(3)) selector = &any_selector(scene_.random);
  const queue::Hobj handle = open(queue, selector == nullptr ? "" : selector->text);
  auto call = std::make_shared<queue::GetCall>();
  const bool in_unit = swarm.has_units && (!swarm.has_plain || scene_.one_in(2));
  bool is_selective = selector != nullptr;
  call->options = in_unit ? gmo::kSyncpoint : gmo::kNoSyncpoint;
  if (in_unit && swarm.has_plain && swarm.has_non_persistent && scene_.one_in(4)) {
    call->options = gmo::kSyncpointIfPersistent;
  }
  call->match_options = mqi::mo::kNone;
  if (swarm.has_selective && scene_.one_in(3)) {
    is_selective = true;
    call->match_options = mqi::mo::kMessageId | mqi::mo::kCorrelationId;
    if (scene_.one_in(2)) {
      call->md.correlation_id = mqi::Id("corr" + std::to_string(scene_.up_to(5)));
    } else {
      call->md.message_id = mqi::Id(scene_.oracle.recent_key(scene_.random));
    }
  }
  if (swarm.has_groups && scene_.one_in(3)) {
    is_selective = true;
    call->options |= gmo::kAllMessagesAvailable;
    if (scene_.one_in(2)) call->options |= gmo::kLogicalOrder;
  }
  if (swarm.has_truncation && scene_.one_in(4)) {
    call->buffer_bytes = 64;
    if (scene_.one_in(2)) call->options |= gmo::kAcceptTruncated;
  }
  if (swarm.has_waits && scene_.one_in(3)) {
    call->options |= gmo::kWait;
    call->wait_ms = static_cast<int64_t>(scene_.up_to(300));
  }
  call->handles_poison = swarm.has_poison && scene_.one_in(2);
  note("get " + queue + " " + (in_unit ? "in " + unit() : "plain") + " options " +
       std::to_string(call->options) + (selector == nullptr ? "" : " where ") +
       (selector == nullptr ? "" : selector->text));
  if (!in_unit) unanswered_get_ = queue;
  this->call([&](queue::Done done) { return connection_->get(handle, *call, std::move(done)); },
             [this, call, queue, in_unit, is_selective, selector](const queue::Outcome& o) {
               unanswered_get_.clear();
               if (selector != nullptr && o.is_ok()) check_selected(*call, *selector, queue);
               if (o.is_ok() || o.reason == reason::kTruncatedMsgAccepted) {
                 got(*call, queue, in_unit, is_selective);
               } else {
                 note("get " + queue + " = " + std::to_string(o.reason));
                 if (o.reason == reason::kTruncatedMsgFailed) scene_.oracle.disturbed(queue);
               }
             });
}

void QueueClient::got(const queue::GetCall& call, const std::string& queue, bool in_unit,
                      bool is_selective) {
  const bool is_plain =
      !in_unit || ((call.options & gmo::kSyncpointIfPersistent) != 0 && call.md.persistence == 0);
  const std::string in = is_plain ? scene_.oracle.new_unit(name_) : unit();
  note("got " + read_message_text(call.body.view(), call.data_bytes).key + " from " + queue +
       " in " + in + " backed out " + std::to_string(call.md.backout_count));
  scene_.oracle.got(call, queue, in, name_, is_selective);
  if (!is_plain) return;
  scene_.oracle.add(Kind::kCommit, in);
  scene_.oracle.add(Kind::kCommitted, in);
}

void QueueClient::browse() {
  const std::string queue = scene_.queue_name();
  const queue::Hobj handle = open(queue);
  auto call = std::make_shared<queue::GetCall>();
  call->options = scene_.one_in(3) ? gmo::kBrowseFirst : gmo::kBrowseNext;
  call->match_options = mqi::mo::kNone;
  this->call([&](queue::Done done) { return connection_->get(handle, *call, std::move(done)); },
             [this, call, queue](const queue::Outcome& o) {
               note("browse " + queue + " = " + std::to_string(o.reason));
               if (o.is_ok()) scene_.oracle.saw(*call, queue);
             });
}

void QueueClient::commit() {
  if (unit_.empty()) return later();
  const std::string ended = std::exchange(unit_, "");
  note("commit " + ended);
  scene_.oracle.add(Kind::kCommit, ended);
  call([&](queue::Done done) { return connection_->commit(std::move(done)); },
       [this, ended](const queue::Outcome& o) {
         note("commit " + ended + " = " + std::to_string(o.reason));
         scene_.oracle.add(o.is_failed() ? Kind::kBackedOut : Kind::kCommitted, ended);
       });
}

void QueueClient::back() {
  if (unit_.empty()) return later();
  ++scene_.oracle.calls;
  const std::string ended = std::exchange(unit_, "");
  queue::Outcome o = connection_->back();
  note("back " + ended + " = " + std::to_string(o.reason));
  scene_.oracle.add(Kind::kBackedOut, ended);
  later();
}

// Disconnects, which commits, or breaks; then it connects again.
void QueueClient::leave() {
  const std::string ended = std::exchange(unit_, "");
  handles_.clear();
  topic_ = queue::kNoObject;
  if (scene_.one_in(2)) {
    note("breaks");
    connection_->abandon();
    if (!ended.empty()) scene_.oracle.add(Kind::kBackedOut, ended);
    return begin();
  }
  note("disconnects " + ended);
  if (!ended.empty()) scene_.oracle.add(Kind::kCommit, ended);
  call([&](queue::Done done) { return connection_->disconnect(std::move(done)); },
       [this, ended](const queue::Outcome& o) {
         note("disconnected = " + std::to_string(o.reason));
         if (!ended.empty()) {
           scene_.oracle.add(o.is_failed() ? Kind::kBackedOut : Kind::kCommitted, ended);
         }
         connection_ = scene_.node.connect(executor_, name_);
       });
}

void QueueClient::close_handles() {
  for (auto& [queue, handle] : handles_) (void)connection_->close(handle);
  handles_.clear();
}

}  // namespace millstream::sim
