// Clients of a simulated run: branches of global transactions.
#include <algorithm>
#include <utility>

#include "queue/core/xa.h"
#include "sim/message_text.h"
#include "sim/queue_client.h"

namespace millstream::sim {
namespace {

using Kind = LedgerEntry::Kind;
namespace xa = queue::xa;

}  // namespace

template <typename Call>
void QueueClient::xa_call(Call&& call, std::function<void(int32_t)> then) {
  is_calling_ = true;
  ++scene_.oracle.calls;
  auto finish = [this, then](int32_t code) {
    is_calling_ = false;
    if (!scene_.node.is_up() || code == xa::kErrorFailed || code == xa::kErrorGone) return broke();
    then(code);
    later();
  };
  const int32_t code = call(finish);
  if (code != xa::kPending) finish(code);
}

// A whole branch: some puts, a get, and prepare. Who commits it is for somebody to decide later.
void QueueClient::prepare() {
  QueueOracle& oracle = scene_.oracle;
  const std::string branch = oracle.new_unit(name_ + "x");
  if (connection_->xa_start(branch, xa::kNoFlags) != xa::kOk) return later();
  is_in_branch_ = true;
  bool has_put = false;
  for (uint64_t n = 1 + scene_.up_to(3); n > 0; --n) {
    const std::string queue = scene_.queue_name();
    queue::PutCall call;
    LedgerEntry entry;
    entry.kind = Kind::kPut;
    entry.at_ns = scene_.node.now_ns();
    entry.unit = branch;
    entry.queue = queue;
    entry.key = oracle.new_key(name_);
    entry.producer = branch;  // it may be committed after what this client puts later
    entry.number = oracle.next_number();
    call.md.message_id = mqi::Id(entry.key);
    call.md.persistence = 1;
    call.md.priority = 0;
    size_t bytes = scene_.up_to(700);
    if (scene_.swarm.has_big && scene_.one_in(6)) bytes = scene_.up_to(20'000);
    fill_properties(call, entry.key);
    call.body = queue::Body::adopt(make_message_text(entry.key, bytes));
    call.options = mqi::pmo::kSyncpoint;
    const queue::Outcome o = connection_->put(open(queue), call);
    note("put in branch " + entry.key + " " + queue + " = " + std::to_string(o.reason));
    if (o.is_failed()) continue;
    oracle.ledger.add(entry);
    has_put = true;
  }
  auto end_branch = [this, branch, has_put] {
    is_in_branch_ = false;
    const int32_t ended = connection_->xa_end(branch, xa::kSuccess);
    if (!has_put || ended != xa::kOk) {
      note("rolls branch " + branch + " back");
      if (connection_->xa_rollback(branch) != xa::kPending) later();
      scene_.oracle.add(Kind::kBackedOut, branch);
      return;
    }
    note("prepare " + branch);
    scene_.oracle.add(Kind::kPrepare, branch);
    xa_call([&](queue::XaDone done) { return connection_->xa_prepare(branch, std::move(done)); },
            [this, branch](int32_t code) {
              note("prepare " + branch + " = " + std::to_string(code));
              if (code == xa::kOk) {
                scene_.oracle.add(Kind::kPrepared, branch);
                scene_.in_doubt.push_back(branch);
              } else {
                scene_.oracle.add(Kind::kBackedOut, branch);
              }
            });
  };
  const std::string queue = scene_.queue_name();
  const queue::Hobj handle = open(queue);
  auto call = std::make_shared<queue::GetCall>();
  call->options = mqi::gmo::kSyncpoint;
  call->match_options = mqi::mo::kNone;
  auto then = [this, branch, queue, call, end_branch](const queue::Outcome& o) {
    is_calling_ = false;
    if (!scene_.node.is_up()) return broke();
    note("get in branch " + branch + " = " + std::to_string(o.reason));
    if (o.is_ok()) scene_.oracle.got(*call, queue, branch, name_, false);
    end_branch();
  };
  is_calling_ = true;
  ++oracle.calls;
  const queue::Outcome o = connection_->get(handle, *call, then);
  if (!o.is_pending()) then(o);
}

// Commits or rolls back a branch that somebody has prepared, perhaps before a restart.
void QueueClient::decide() {
  const size_t at = scene_.up_to(scene_.in_doubt.size());
  const std::string branch = scene_.in_doubt[at];
  scene_.in_doubt.erase(scene_.in_doubt.begin() + static_cast<int64_t>(at));
  const bool commits = !scene_.one_in(3);
  note((commits ? "commits branch " : "rolls branch back ") + branch);
  scene_.oracle.add(Kind::kCommit, branch);  // from here on the outcome is open
  xa_call(
      [&](queue::XaDone done) {
        return commits ? connection_->xa_commit(branch, false, std::move(done))
                       : connection_->xa_rollback(branch, std::move(done));
      },
      [this, branch, commits](int32_t code) {
        note("branch " + branch + " = " + std::to_string(code));
        if (code != xa::kOk) {
          scene_.oracle.violation("XA: branch " + branch + " gives " + std::to_string(code));
        }
        scene_.oracle.add(commits ? Kind::kCommitted : Kind::kBackedOut, branch);
      });
}

// The operator decides; the branch is kept with its outcome until the transaction manager forgets.
void QueueClient::decide_heuristically() {
  const size_t at = scene_.up_to(scene_.in_doubt.size());
  const std::string branch = scene_.in_doubt[at];
  scene_.in_doubt.erase(scene_.in_doubt.begin() + static_cast<int64_t>(at));
  const bool commits = !scene_.one_in(3);
  note((commits ? "the operator commits " : "the operator rolls back ") + branch);
  scene_.oracle.add(Kind::kCommit, branch);
  xa_call(
      [&](queue::XaDone done) {
        return scene_.node.manager().branches().decide(branch, commits, executor_, std::move(done));
      },
      [this, branch, commits](int32_t code) {
        note("decided " + branch + " = " + std::to_string(code));
        if (code != xa::kOk) {
          scene_.oracle.violation("XA: deciding " + branch + " gives " + std::to_string(code));
        }
        scene_.oracle.add(commits ? Kind::kCommitted : Kind::kBackedOut, branch);
        scene_.heuristic[branch] = commits ? xa::kHeuristicCommit : xa::kHeuristicRollback;
      });
}

// The transaction manager hears what was decided, and forgets the branch.
void QueueClient::end_heuristic() {
  auto it = scene_.heuristic.begin();
  std::advance(it, static_cast<int64_t>(scene_.up_to(scene_.heuristic.size())));
  const auto [branch, expected] = *it;
  if (scene_.one_in(2)) {
    const bool commits = scene_.one_in(2);
    const int32_t code =
        commits ? connection_->xa_commit(branch, false) : connection_->xa_rollback(branch);
    note("asks for " + branch + " = " + std::to_string(code));
    if (code != expected) {
      scene_.oracle.violation("XA: " + branch + " was decided as " + std::to_string(expected) +
                              " and answers " + std::to_string(code));
    }
    return later();
  }
  note("forgets " + branch);
  scene_.heuristic.erase(it);
  scene_.forgetting.insert(branch);
  const std::string name = branch;
  xa_call([&](queue::XaDone done) { return connection_->xa_forget(name, std::move(done)); },
          [this, name](int32_t code) {
            note("forgot " + name + " = " + std::to_string(code));
            scene_.forgetting.erase(name);
            if (code == xa::kOk) {
              scene_.forgotten.insert(name);
            } else {
              scene_.oracle.violation("XA: forgetting " + name + " gives " + std::to_string(code));
            }
          });
}

}  // namespace millstream::sim
