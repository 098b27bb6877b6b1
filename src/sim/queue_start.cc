#include "sim/queue_start.h"

#include <memory>
#include <utility>

#include "queue/core/xa.h"
#include "sim/message_text.h"

namespace millstream::sim {
namespace {

using Kind = LedgerEntry::Kind;
namespace so = mqi::so;
constexpr const char* kModel = "SYSTEM.NDURABLE.MODEL.QUEUE";
namespace xa = queue::xa;

}  // namespace

template <typename Call>
queue::Outcome QueueStart::await(Call&& call) {
  struct Answer {
    queue::Outcome outcome;
    bool is_there = false;
  };
  auto answer = std::make_shared<Answer>();  // it may come when nobody waits any more
  queue::Outcome outcome = call([answer](const queue::Outcome& o) { *answer = {o, true}; });
  if (!outcome.is_pending()) return outcome;
  const bool has_ended = scene_.node.sim.run_until(
      [&] { return answer->is_there || scene_.node.has_failed; }, kEventsMax);
  if (answer->is_there) return answer->outcome;
  if (!has_ended) scene_.oracle.violation("progress: a call at the start does not end");
  return queue::Outcome::failed(mqi::reason::kConnectionBroken);
}

void QueueStart::look() {
  look_at_branches();
  scene_.can_publish = false;
  if (!scene_.swarm.has_topic || !scene_.node.is_up()) return;
  define_model();
  if (scene_.node.is_up()) look_at_retained();
  if (scene_.node.is_up()) look_at_subscriptions();
}

void QueueStart::look_at_subscriptions() {
  base::SimExecutor executor(scene_.node.sim);
  auto connection = scene_.node.connect(executor, "subscriber");
  if (connection == nullptr) return;
  bool has_all = true;
  for (int i = 1; i <= scene_.subscriptions; ++i) {
    const std::string name = "SIM.SUB" + std::to_string(i);
    if (scene_.node.manager().pubsub().find(name) != nullptr) {
      acknowledged_.insert(name);  // seen: it must not go any more
      continue;
    }
    if (acknowledged_.contains(name)) {
      scene_.oracle.violation("subscription: " + name + " is lost");
    }
    queue::OpenCall open;
    open.object_name = "Q" + std::to_string(i);
    open.options = mqi::oo::kInputShared;
    if (!connection->open(open).is_ok()) {
      has_all = false;
      continue;
    }
    auto call = std::make_shared<queue::SubscribeCall>();
    call->options = so::kCreate | so::kDurable;
    call->object_string = QueueScene::kTopic;
    call->name = name;
    call->destination = open.handle;
    const queue::Outcome o =
        await([&](queue::Done done) { return connection->subscribe(*call, std::move(done)); });
    note("subscribe " + name + " = " + std::to_string(o.reason));
    if (o.is_failed()) {
      has_all = false;
    } else {
      acknowledged_.insert(name);
    }
    if (!scene_.node.is_up()) break;
  }
  scene_.can_publish = has_all && scene_.node.is_up();
  connection->abandon();
}

// Of the queues of subscriptions of the moment.
void QueueStart::define_model() {
  namespace objects = queue::objects;
  auto& admin = scene_.node.manager().admin();
  if (admin.catalogue().find(objects::ObjectFamily::kQueue, kModel) != nullptr) return;
  objects::Definition model(objects::ObjectType::kQmodel, kModel);
  model.set_number(objects::Attr::kDeftype,
                   static_cast<int64_t>(objects::QueueDefinitionType::kTempdyn));
  const queue::Outcome o = await([&](queue::Done done) {
    admin.define(std::move(model), false, [done](const objects::AdminResult& result) {
      done(result.ok() ? queue::Outcome::ok() : queue::Outcome::failed(result.reason));
    });
    return queue::Outcome::pending();
  });
  note("define " + std::string(kModel) + " = " + std::to_string(o.reason));
}

// A subscription of the moment gets what is retained.
void QueueStart::look_at_retained() {
  base::SimExecutor executor(scene_.node.sim);
  auto connection = scene_.node.connect(executor, "reader");
  if (connection == nullptr) return;
  auto call = std::make_shared<queue::SubscribeCall>();
  call->options = so::kCreate | so::kManaged;
  call->object_string = QueueScene::kTopic;
  queue::Outcome o =
      await([&](queue::Done done) { return connection->subscribe(*call, std::move(done)); });
  if (o.is_failed()) {
    note("subscribe for what is retained = " + std::to_string(o.reason));
    return connection->abandon();
  }
  auto get = std::make_shared<queue::GetCall>();
  get->options = mqi::gmo::kNoSyncpoint | mqi::gmo::kWait;
  get->match_options = mqi::mo::kNone;
  get->wait_ms = 100;
  o = await(
      [&](queue::Done done) { return connection->get(call->destination, *get, std::move(done)); });
  std::string key;
  if (o.is_ok()) {
    const MessageText text = read_message_text(get->body.view(), get->data_bytes);
    if (!text.error.empty()) scene_.oracle.violation("body: retained: " + text.error);
    key = text.key;
  }
  note("retained is '" + key + "', " + std::to_string(o.reason));
  // A full disk has no room for the copy either.
  const bool has_looked = !scene_.swarm.has_little_disk && o.reason == mqi::reason::kNoMsgAvailable;
  if (o.is_ok() || has_looked) {
    scene_.oracle.definition_found("retained", key);
  }
  connection->abandon();
  scene_.node.sim.run_ready(kEventsMax);
}

void QueueStart::look_at_branches() {
  scene_.in_doubt.clear();
  std::map<std::string, int32_t> found;
  for (const queue::BranchStatus& branch : scene_.node.manager().branches().status()) {
    if (branch.heuristic == 0) {
      if (!branch.is_prepared) continue;
      note("in doubt: " + branch.xid);
      scene_.in_doubt.push_back(branch.xid);
      continue;
    }
    note("decided: " + branch.xid + " as " + std::to_string(branch.heuristic));
    found[branch.xid] = branch.heuristic;
    if (scene_.forgotten.contains(branch.xid)) {
      scene_.oracle.violation("XA: " + branch.xid + " was forgotten and is there");
    }
    auto before = scene_.heuristic.find(branch.xid);
    if (before != scene_.heuristic.end()) {
      if (before->second != branch.heuristic) {
        scene_.oracle.violation("XA: " + branch.xid + " was decided as " +
                                std::to_string(before->second) + " and is now " +
                                std::to_string(branch.heuristic));
      }
    } else if (!scene_.forgetting.contains(branch.xid)) {
      // Nobody was told; now it is known.
      scene_.oracle.add(
          branch.heuristic == xa::kHeuristicCommit ? Kind::kCommitted : Kind::kBackedOut,
          branch.xid);
    }
  }
  for (const auto& [xid, code] : scene_.heuristic) {
    if (!found.contains(xid)) {
      scene_.oracle.violation("XA: what was decided of " + xid + " is lost");
    }
  }
  scene_.forgetting.clear();
  scene_.heuristic = std::move(found);
}

}  // namespace millstream::sim
