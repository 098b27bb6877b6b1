#include "sim/queue_exhaustive.h"

#include <utility>

#include "queue/core/definitions.h"
#include "queue/core/xa.h"
#include "sim/message_text.h"
#include "sim/queue_oracle.h"

namespace millstream::sim {
namespace {

using Kind = LedgerEntry::Kind;
using queue::Outcome;
namespace gmo = mqi::gmo;
namespace pmo = mqi::pmo;
namespace oo = mqi::oo;
namespace xa = queue::xa;

constexpr const char* kSmallQueue = "Q1";
constexpr size_t kSmallEventsMax = 100'000;

class SmallRun {
 public:
  explicit SmallRun(uint64_t seed)
      : node_(seed), oracle_(node_, false), a_executor_(node_.sim), b_executor_(node_.sim) {}

  // Two messages on the queue, nothing under way. False: it did not get that far.
  bool set_up() {
    if (!node_.start()) return false;
    node_.manager().define_local(kSmallQueue, {});
    node_.manager().define_local("Q2", {});
    connect();
    for (int i = 0; i < 2 && is_alive(); ++i) put(kSmallQueue, false, 100);
    node_.sim.run_ready(kSmallEventsMax);
    return is_alive();
  }

  void run(const std::vector<SmallOp>& sequence) {
    for (const SmallOp op : sequence) {
      if (!is_alive()) return;
      step(op);
      node_.sim.run_ready(kSmallEventsMax);
    }
  }

  // The power goes; what comes back is judged, twice: a start changes nothing.
  std::vector<std::string> judge() {
    a_ = b_ = nullptr;
    node_.power_cut();
    oracle_.crashed();
    for (int round = 0; round < 2; ++round) {
      if (!node_.start()) {
        oracle_.violation("start: " + node_.error);
        return std::move(oracle_.violations);
      }
      const std::string found = take_stock(round == 1);
      if (round == 0) {
        found_ = found;
      } else if (found != found_) {
        oracle_.violation("start: found '" + found_ + "', then '" + found + "'");
      }
      if (round == 0) node_.kill();
    }
    for (std::string& violation : oracle_.ledger.check({.expiry_slack_ns = 1'000'000}).violations) {
      oracle_.violation(std::move(violation));
    }
    return std::move(oracle_.violations);
  }

  io::SimDisk& disk() { return node_.disk; }

 private:
  bool is_alive() { return node_.is_up() && !node_.disk.has_crashed(); }

  void connect() {
    a_ = node_.connect(a_executor_, "a");
    b_ = node_.connect(b_executor_, "b");
    unit_.clear();
  }

  template <typename Call>
  Outcome wait(Call&& call) {
    auto state = std::make_shared<std::pair<bool, Outcome>>();
    Outcome outcome = call([state](const Outcome& o) { *state = {true, o}; });
    if (!outcome.is_pending()) return outcome;
    node_.sim.run_until([&] { return state->first || !is_alive(); }, kSmallEventsMax);
    if (!is_alive()) node_.sim.run_ready(kSmallEventsMax);  // an answer may be under way
    return state->first ? state->second : Outcome::failed(mqi::reason::kConnectionBroken);
  }

  template <typename Call>
  int32_t wait_xa(Call&& call) {
    auto code = std::make_shared<int32_t>(xa::kPending);
    const int32_t now = call([code](int32_t c) { *code = c; });
    if (now != xa::kPending) return now;
    node_.sim.run_until([&] { return *code != xa::kPending || !is_alive(); }, kSmallEventsMax);
    if (!is_alive()) node_.sim.run_ready(kSmallEventsMax);
    return *code;
  }

  queue::Hobj open(queue::Connection& connection, const std::string& queue) {
    queue::OpenCall call;
    call.object_name = queue;
    call.options = oo::kInputShared | oo::kOutput | oo::kBrowse;
    (void)connection.open(call);
    return call.handle;
  }

  static bool is_lost(const Outcome& o) {
    return o.is_failed() &&
           (o.reason == mqi::reason::kConnectionBroken || o.reason == mqi::reason::kQMgrStopping);
  }

  LedgerEntry put_entry(const std::string& queue, const std::string& unit) {
    LedgerEntry entry;
    entry.kind = Kind::kPut;
    entry.at_ns = node_.now_ns();
    entry.unit = unit;
    entry.queue = queue;
    entry.key = oracle_.new_key("k");
    entry.producer = "p" + entry.key;
    entry.number = oracle_.next_number();
    return entry;
  }

  void put(const std::string& queue, bool in_unit, size_t bytes, int32_t expiry = -1) {
    if (in_unit && unit_.empty()) unit_ = oracle_.new_unit("a");
    LedgerEntry entry = put_entry(queue, in_unit ? unit_ : oracle_.new_unit("n"));
    if (expiry > 0) entry.expires_at_ns = entry.at_ns + int64_t{expiry} * 100'000'000;
    queue::PutCall call;
    call.md.message_id = mqi::Id(entry.key);
    call.md.persistence = 1;
    call.md.priority = 0;
    call.md.expiry = expiry;
    call.body = queue::Body::adopt(make_message_text(entry.key, bytes));
    call.options = in_unit ? pmo::kSyncpoint : pmo::kNoSyncpoint;
    if (!in_unit) {
      oracle_.ledger.add(entry);
      oracle_.add(Kind::kCommit, entry.unit);
    }
    queue::Hobj handle = open(*a_, queue);
    const Outcome o = wait([&](queue::Done done) { return a_->put(handle, call, done); });
    if (in_unit && o.is_ok()) oracle_.ledger.add(entry);
    if (!in_unit && !is_lost(o)) {
      oracle_.add(o.is_ok() ? Kind::kCommitted : Kind::kBackedOut, entry.unit);
    }
    if (is_alive()) (void)a_->close(handle);
  }

  void get() {
    queue::Hobj handle = open(*a_, kSmallQueue);
    auto call = std::make_shared<queue::GetCall>();
    call->options = gmo::kSyncpoint;
    call->match_options = mqi::mo::kNone;
    const Outcome o = wait([&](queue::Done done) {
      return a_->get(handle, *call, [done, call](const Outcome& outcome) { done(outcome); });
    });
    if (o.is_ok()) {
      if (unit_.empty()) unit_ = oracle_.new_unit("a");
      oracle_.got(*call, kSmallQueue, unit_, "a", true);
    }
    if (is_alive()) (void)a_->close(handle);
  }

  void commit() {
    if (unit_.empty()) return;
    const std::string ended = std::exchange(unit_, "");
    oracle_.add(Kind::kCommit, ended);
    const Outcome o = wait([&](queue::Done done) { return a_->commit(done); });
    if (!is_lost(o)) oracle_.add(o.is_ok() ? Kind::kCommitted : Kind::kBackedOut, ended);
  }

  void rollback() {
    if (unit_.empty()) return;
    oracle_.add(Kind::kBackedOut, std::exchange(unit_, ""));
    (void)a_->back();
  }

  // A branch that puts to both queues and gets from one.
  void prepare() {
    const std::string branch = oracle_.new_unit("x");
    if (b_->xa_start(branch, xa::kNoFlags) != xa::kOk) return;
    for (const char* queue : {kSmallQueue, "Q2"}) {
      LedgerEntry entry = put_entry(queue, branch);
      queue::PutCall call;
      call.md.message_id = mqi::Id(entry.key);
      call.md.persistence = 1;
      call.md.priority = 0;
      call.body = queue::Body::adopt(make_message_text(entry.key, 5000));  // more than a chunk
      call.options = pmo::kSyncpoint;
      if (b_->put(open(*b_, queue), call).is_ok()) oracle_.ledger.add(entry);
    }
    queue::GetCall got;
    got.options = gmo::kSyncpoint;
    got.match_options = mqi::mo::kNone;
    queue::Hobj handle = open(*b_, kSmallQueue);
    const Outcome o = wait([&](queue::Done done) { return b_->get(handle, got, done); });
    if (o.is_ok()) oracle_.got(got, kSmallQueue, branch, "b", true);
    if (!is_alive()) return;
    (void)b_->xa_end(branch, xa::kSuccess);
    oracle_.add(Kind::kPrepare, branch);
    const int32_t code = wait_xa([&](queue::XaDone done) { return b_->xa_prepare(branch, done); });
    if (!is_alive() && code != xa::kOk) return;
    if (code == xa::kOk) {
      oracle_.add(Kind::kPrepared, branch);
      prepared_.push_back(branch);
    } else {
      oracle_.violation("XA: prepare gives " + std::to_string(code));
    }
  }

  void xa_commit() {
    if (prepared_.empty()) return;
    const std::string branch = prepared_.back();
    prepared_.pop_back();
    oracle_.add(Kind::kCommit, branch);
    const int32_t code =
        wait_xa([&](queue::XaDone done) { return a_->xa_commit(branch, false, done); });
    if (code == xa::kOk) {
      oracle_.add(Kind::kCommitted, branch);
    } else if (is_alive()) {
      oracle_.violation("XA: commit gives " + std::to_string(code));
    }
  }

  // Takes all that is there, as a unit of work; refused while units hold some of it.
  void delete_queue() {
    queue::QueueRef queue = node_.manager().find_queue(kSmallQueue);
    if (queue == nullptr) return;
    std::vector<std::string> keys;
    {
      std::lock_guard lock(queue->mutex());
      queue->index().for_each([&](queue::Slot, queue::Entry& entry) {
        if (entry.state != queue::EntryState::kAvailable || queue->is_expired(entry)) return;
        keys.push_back(oracle_.key_of(entry.message_id_hash));
      });
    }
    auto result = std::make_shared<std::pair<bool, bool>>();  // ended, ok
    node_.manager().admin().erase(
        queue::objects::ObjectFamily::kQueue, kSmallQueue, {.is_purge = true},
        [result](const queue::objects::AdminResult& r) { *result = {true, r.ok()}; });
    if (result->first && !result->second) return;
    const std::string unit = oracle_.new_unit("delete");
    for (const std::string& key : keys) {
      LedgerEntry entry;
      entry.kind = Kind::kGot;
      entry.at_ns = node_.now_ns();
      entry.unit = unit;
      entry.queue = kSmallQueue;
      entry.key = key;
      entry.is_flagged = entry.is_selective = true;
      oracle_.ledger.add(std::move(entry));
    }
    oracle_.add(Kind::kCommit, unit);
    node_.sim.run_until([&] { return result->first || !is_alive(); }, kSmallEventsMax);
    if (result->first && result->second) oracle_.add(Kind::kCommitted, unit);
    if (is_alive()) node_.manager().define_local(kSmallQueue, {});
  }

  void step(SmallOp op) {
    switch (op) {
      case SmallOp::kPut:
        put(kSmallQueue, true, 200);
        if (is_alive()) put("Q2", true, 200);
        break;
      case SmallOp::kGet:
        get();
        break;
      case SmallOp::kCommit:
        commit();
        break;
      case SmallOp::kRollback:
        rollback();
        break;
      case SmallOp::kPrepare:
        prepare();
        break;
      case SmallOp::kXaCommit:
        xa_commit();
        break;
      case SmallOp::kExpire:
        put(kSmallQueue, false, 100, 1);
        if (is_alive()) node_.sim.run_for_ns(7'000'000'000);
        break;
      case SmallOp::kCheckpoint:
        node_.store().checkpoint();
        break;
      case SmallOp::kDeleteQueue:
        delete_queue();
        break;
      case SmallOp::kRollSegment:
        for (int i = 0; i < 6 && is_alive(); ++i) put("Q2", false, 10'000);
        break;
    }
  }

  // What is there, as a text that two starts have to agree on.
  std::string take_stock(bool is_recorded) {
    std::string text;
    connect();
    for (const char* name : {kSmallQueue, "Q2"}) {
      queue::QueueRef queue = node_.manager().find_queue(name);
      if (queue == nullptr) continue;
      queue::Hobj handle = open(*a_, name);
      for (;;) {
        queue::GetCall call;
        call.options = gmo::kBrowseNext;
        call.match_options = mqi::mo::kNone;
        const Outcome o = wait([&](queue::Done done) { return a_->get(handle, call, done); });
        if (!o.is_ok()) {
          if (o.reason != mqi::reason::kNoMsgAvailable) {
            oracle_.violation("stock: " + std::to_string(o.reason));
          }
          break;
        }
        oracle_.saw(call, name);
        LedgerEntry entry;
        entry.kind = Kind::kLeft;
        entry.at_ns = node_.now_ns();
        entry.queue = name;
        entry.key = read_message_text(call.body.view(), call.data_bytes).key;
        text += entry.queue + " " + entry.key + ", ";
        if (is_recorded) oracle_.ledger.add(std::move(entry));
      }
      LedgerEntry depth;
      depth.kind = Kind::kDepth;
      depth.at_ns = node_.now_ns();
      depth.queue = name;
      std::lock_guard lock(queue->mutex());
      depth.number = queue->depth() - queue->uncommitted_puts();
      queue->index().for_each([&](queue::Slot, queue::Entry& entry) {
        depth.number -= entry.state == queue::EntryState::kLocked;
      });
      if (is_recorded) oracle_.ledger.add(std::move(depth));
    }
    for (const std::string& branch : node_.manager().branches().recover()) {
      text += "in doubt " + branch + ", ";
      if (is_recorded) oracle_.add(Kind::kInDoubt, branch);
    }
    return text;
  }

  QueueNode node_;
  QueueOracle oracle_;
  base::SimExecutor a_executor_, b_executor_;
  std::shared_ptr<queue::Connection> a_, b_;
  std::string unit_, found_;
  std::vector<std::string> prepared_;
};

}  // namespace

bool small_sequence(uint64_t n, int length, std::vector<SmallOp>* out) {
  out->clear();
  uint64_t count = kSmallOps;
  for (int l = 1; l <= length; ++l, count *= kSmallOps) {
    if (n >= count) {
      n -= count;
      continue;
    }
    for (int i = 0; i < l; ++i, n /= kSmallOps) {
      out->push_back(static_cast<SmallOp>(n % kSmallOps));
    }
    return true;
  }
  return false;
}

std::string describe(const std::vector<SmallOp>& sequence) {
  constexpr const char* kNames[] = {"put",          "get",         "commit", "rollback",
                                    "prepare",      "xa-commit",   "expire", "checkpoint",
                                    "delete queue", "roll segment"};
  std::string out;
  for (const SmallOp op : sequence) {
    if (!out.empty()) out += ", ";
    out += kNames[static_cast<int>(op)];
  }
  return out;
}

SmallResult run_small_sequence(const std::vector<SmallOp>& sequence, uint64_t seed) {
  SmallResult result;
  for (uint64_t crash_at = 1;; ++crash_at) {
    // Two ways in which the disk may forget; the same events up to the crash.
    SmallRun run(seed + crash_at % 2);
    if (!run.set_up()) {
      result.violations.push_back("the set-up failed");
      return result;
    }
    const uint64_t before = run.disk().operations();
    run.disk().crash_at(crash_at);
    run.run(sequence);
    const bool is_last = !run.disk().has_crashed();
    for (std::string& violation : run.judge()) {
      result.violations.push_back(describe(sequence) + "; crash at operation " +
                                  std::to_string(before) + " + " + std::to_string(crash_at) + ": " +
                                  std::move(violation));
    }
    ++result.runs;
    if (is_last || result.violations.size() > 20) return result;
  }
}

}  // namespace millstream::sim
