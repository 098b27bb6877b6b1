#include "sim/queue_run.h"

#include <memory>
#include <utility>

#include "queue/core/definitions.h"
#include "queue/core/xa.h"
#include "sim/message_text.h"
#include "sim/queue_client.h"
#include "sim/queue_start.h"

namespace millstream::sim {
namespace {

using Kind = LedgerEntry::Kind;
namespace gmo = mqi::gmo;
namespace oo = mqi::oo;

constexpr size_t kEventsMax = 200'000;  // of one episode: more is a loop
constexpr const char* kBackoutQueue = "BACKOUT";

NodeOptions node_options(const QueueSwarm& swarm) {
  NodeOptions options;
  if (swarm.has_little_memory) options.memory_bytes_max = 3000;
  if (swarm.has_little_disk) {
    options.disk_bytes = 900 << 10;
    options.store.disk_reserve_bytes = 256 << 10;
  }
  return options;
}

class QueueRun {
 public:
  explicit QueueRun(const RunOptions& options)
      : random_(options.seed * 0xD1342543DE82EF95ull + 7),
        swarm_(random_),
        node_(options.seed, node_options(swarm_)),
        oracle_(node_, options.keeps_trace),
        scene_{node_, oracle_, swarm_, random_},
        administrator_(scene_),
        found_(scene_) {
    result_.seed = options.seed;
    if (swarm_.has_topic) scene_.subscriptions = swarm_.has_poison ? 1 : swarm_.queues;
    oracle_.side_queue = kBackoutQueue;
    oracle_.side_origin = "Q1";
    for (int i = 1; i <= swarm_.clients; ++i) {
      clients_.push_back(std::make_unique<QueueClient>(scene_, "c" + std::to_string(i)));
    }
  }

  RunResult run() {
    for (int episode = 0; episode < swarm_.episodes && !is_over_; ++episode) {
      if (!start(swarm_.crashes_at_start && episode > 0)) break;
      play();
      end_episode();
    }
    if (!is_over_ && start(false)) take_stock();
    return finish();
  }

 private:
  // Starts, perhaps with a crash in the middle; then what is defined is compared.
  bool start(bool may_crash) {
    for (int attempt = 0;; ++attempt) {
      if (may_crash && attempt < 3 && scene_.one_in(2)) node_.disk.crash_at(1 + scene_.up_to(25));
      const bool has_read_fault = swarm_.has_read_faults && attempt < 2 && scene_.one_in(2);
      arm_read_fault(has_read_fault ? 1 + scene_.up_to(60) : 0, 2);
      ++result_.starts;
      const bool is_up = node_.start();
      oracle_.note(is_up ? "started" : "start failed: " + node_.error);
      if (is_up) break;
      if (!node_.disk.has_crashed()) {
        if (has_read_fault && !node_.error.empty()) {
          node_.kill();
          continue;
        }
        if (swarm_.has_little_disk && attempt < 5) {
          node_.disk.set_capacity(1ull << 40);
          continue;
        }
        oracle_.violation("start: " + node_.error);
        is_over_ = true;
        return false;
      }
      node_.power_cut();
    }
    for (int i = 1; i <= swarm_.queues; ++i) look_at_definition("Q" + std::to_string(i));
    node_.disk.fail_read_at(0, io::SimReadFault::kNone);
    found_.look();
    if (node_.manager().find_queue(kBackoutQueue) == nullptr) {
      node_.manager().define_local(kBackoutQueue, {});
    }
    return true;
  }

  // The n-th read from now on fails, or gives another bit, or what was there before.
  void arm_read_fault(uint64_t n, uint64_t kinds) {
    constexpr io::SimReadFault kFaults[] = {io::SimReadFault::kEio, io::SimReadFault::kBitFlip,
                                            io::SimReadFault::kStale};
    const uint64_t kind = n == 0 ? 0 : scene_.up_to(kinds);
    node_.disk.fail_read_at(n, n == 0 ? io::SimReadFault::kNone : kFaults[kind]);
    if (n != 0) {
      oracle_.note("read fault " + std::to_string(kind) + " within " + std::to_string(n) +
                   " reads");
    }
  }

  void look_at_definition(const std::string& queue) {
    auto& admin = node_.manager().admin();
    auto found = admin.catalogue().find(queue::objects::ObjectFamily::kQueue, queue);
    oracle_.definition_found(queue,
                             found == nullptr ? "" : found->text(queue::objects::Attr::kDescr));
    oracle_.note(queue + " has " + std::to_string(node_.depth(queue)));
    if (found != nullptr) return;
    const std::string version = oracle_.new_unit("version");
    const size_t change = oracle_.definition_asked(queue, version);
    admin.define(queue_definition(queue, version, swarm_), false,
                 [this, queue, change](const queue::objects::AdminResult& result) {
                   if (result.ok()) oracle_.definition_acknowledged(queue, change);
                 });
  }

  void play() {
    scene_.is_closing = false;
    for (auto& client : clients_) client->begin();
    if (swarm_.has_admin || swarm_.has_checkpoints) administrator_.begin();
    const uint64_t calls_end = oracle_.calls + 1 + scene_.up_to(swarm_.calls_max);
    const uint64_t dice = scene_.up_to(8);
    ending_ = swarm_.stops_clean_only || dice < 2 ? Ending::kStop
              : dice < 4                          ? Ending::kKill
                                                  : Ending::kPowerCut;
    if (!swarm_.stops_clean_only && scene_.one_in(2)) {
      ending_ = Ending::kPowerCut;
      const uint64_t n = 1 + scene_.up_to(3 * static_cast<uint64_t>(swarm_.calls_max));
      node_.disk.crash_at(n);
      oracle_.note("the power will go within " + std::to_string(n) + " operations");
    } else if (swarm_.has_io_faults) {
      constexpr io::SimFault kFaults[] = {io::SimFault::kEio, io::SimFault::kEnospc,
                                          io::SimFault::kShortWrite};
      const uint64_t n = 1 + scene_.up_to(swarm_.calls_max), kind = scene_.up_to(3);
      node_.disk.fail_at(n, kFaults[kind]);
      oracle_.note("fault " + std::to_string(kind) + " within " + std::to_string(n) +
                   " operations");
    }
    if (swarm_.has_read_faults) arm_read_fault(1 + scene_.up_to(40), 3);
    size_t events = 0;
    while (oracle_.calls < calls_end && !node_.has_failed && events < kEventsMax) {
      if (!node_.sim.step()) break;
      ++events;
    }
    if (events == kEventsMax) oracle_.violation("progress: the episode does not end");
  }

  void end_episode() {
    // Answers that were under way when the disk failed still arrive: they are promises.
    if (node_.has_failed) node_.sim.run_ready(kEventsMax);
    // After a failure the process is gone; the disk may have been, too.
    if (node_.disk.has_crashed()) ending_ = Ending::kPowerCut;
    if (node_.has_failed && ending_ == Ending::kStop) ending_ = Ending::kKill;
    if (ending_ == Ending::kStop) {
      quiet();
      if (node_.has_failed) ending_ = Ending::kKill;
    }
    for (auto& client : clients_) client->lost();
    administrator_.lost();
    switch (ending_) {
      case Ending::kStop:
        oracle_.note("stops");
        stop_clean();
        break;
      case Ending::kKill:
        oracle_.note("is killed");
        node_.kill();
        break;
      case Ending::kPowerCut:
        oracle_.note("loses its power");
        node_.power_cut();
        break;
    }
    oracle_.crashed();
  }

  void stop_clean() {
    if (node_.stop() || swarm_.has_io_faults || swarm_.has_little_disk || swarm_.has_read_faults) {
      return;
    }
    if (!node_.lost_power) oracle_.violation("stop: " + node_.error);
  }

  // Clients end what they are at. False: they do not.
  bool quiet() {
    scene_.is_closing = true;
    auto is_idle = [&] {
      if (node_.has_failed) return true;
      for (auto& client : clients_) {
        if (!client->is_idle()) return false;
      }
      return administrator_.is_idle();
    };
    if (!node_.sim.run_until(is_idle, kEventsMax)) {
      oracle_.violation("progress: calls do not end");
      return false;
    }
    if (node_.has_failed) return false;
    for (auto& client : clients_) client->end_unit();
    return true;
  }

  // The end: browses what is left, compares counters, empties the queues.
  void take_stock() {
    node_.sim.run_for_ns(5'000'000'000);  // what was delayed is due
    base::SimExecutor executor(node_.sim);
    auto connection = node_.connect(executor, "auditor");
    std::vector<std::string> queues{kBackoutQueue};
    for (int i = 1; i <= swarm_.queues; ++i) queues.push_back("Q" + std::to_string(i));
    for (const std::string& queue : queues) {
      enable(queue);
      const uint64_t browsed = walk(*connection, queue, gmo::kBrowseNext, Kind::kLeft);
      LedgerEntry entry;
      entry.kind = Kind::kDepth;
      entry.at_ns = node_.now_ns();
      entry.queue = queue;
      entry.number = node_.depth(queue) - in_doubt_on(queue);
      oracle_.ledger.add(entry);
      oracle_.note("left on " + queue + ": " + std::to_string(browsed));
    }
    for (const queue::BranchStatus& branch : node_.manager().branches().status()) {
      if (branch.heuristic == 0) oracle_.add(Kind::kInDoubt, branch.xid);
    }
    LedgerOptions options;
    options.side_queues = {kBackoutQueue};
    options.expiry_slack_ns = 1'000'000;
    LedgerVerdict verdict = oracle_.ledger.check(options);
    for (const std::string& v : verdict.violations) oracle_.violation(v);
    result_.units = verdict.units;
    result_.puts = verdict.puts;
    result_.gets = verdict.gets;
    result_.left = verdict.left;
    result_.crashes = verdict.crashes;
    for (const queue::BranchStatus& branch : node_.manager().branches().status()) {
      const int32_t code = branch.heuristic == 0 ? connection->xa_rollback(branch.xid)
                                                 : connection->xa_forget(branch.xid);
      if (code < 0 && !node_.is_up()) break;
    }
    node_.sim.run_ready(kEventsMax);
    for (const std::string& queue : queues) {
      walk(*connection, queue, gmo::kNoSyncpoint, Kind::kGot);
      if (const uint32_t depth = node_.depth(queue); depth != 0) {
        oracle_.violation("depth: " + queue + " has " + std::to_string(depth) + " when empty");
      }
    }
    if (swarm_.has_topic && node_.is_up()) {
      node_.manager().clear_retained(QueueScene::kTopic, [](const queue::objects::AdminResult&) {});
      node_.sim.run_ready(kEventsMax);
    }
    if (node_.manager().memory_bytes() != 0) {
      oracle_.violation("memory: " + std::to_string(node_.manager().memory_bytes()) +
                        " bytes are counted when nothing is left");
    }
    connection->abandon();
    connection = nullptr;
    if (!node_.stop() && !swarm_.has_little_disk) oracle_.violation("stop: " + node_.error);
  }

  // What a depth counts and a browse does not see.
  uint32_t in_doubt_on(const std::string& name) {
    queue::QueueRef queue = node_.manager().find_queue(name);
    if (queue == nullptr) return 0;
    std::lock_guard lock(queue->mutex());
    uint32_t count = queue->uncommitted_puts();
    queue->index().for_each([&](queue::Slot, queue::Entry& entry) {
      count += entry.state == queue::EntryState::kLocked;
    });
    return count;
  }

  void enable(const std::string& queue) {
    auto& admin = node_.manager().admin();
    auto seen = admin.catalogue().find(queue::objects::ObjectFamily::kQueue, queue);
    if (seen == nullptr) return;
    queue::objects::Definition changed = *seen;
    changed.set_number(queue::objects::Attr::kGet, 0);
    admin.alter(seen, std::move(changed), true, [](const queue::objects::AdminResult&) {});
  }

  uint64_t walk(queue::Connection& connection, const std::string& name, int32_t options,
                Kind kind) {
    queue::OpenCall open;
    open.object_name = name;
    open.options = oo::kInputShared | oo::kBrowse;
    if (!connection.open(open).is_ok()) {
      oracle_.violation("stock: " + name + " does not open");
      return 0;
    }
    uint64_t count = 0;
    for (;; ++count) {
      queue::GetCall call;
      call.options = options;
      call.match_options = mqi::mo::kNone;
      bool is_done = false;
      queue::Outcome outcome = connection.get(open.handle, call, [&](const queue::Outcome& o) {
        outcome_ = o;
        is_done = true;
      });
      if (outcome.is_pending()) {
        if (!node_.sim.run_until([&] { return is_done || node_.has_failed; }, kEventsMax)) {
          oracle_.violation("progress: a get of " + name + " does not end");
          break;
        }
        outcome = outcome_;
      }
      if (!outcome.is_ok()) {
        if (outcome.reason != mqi::reason::kNoMsgAvailable) {
          oracle_.violation("stock: " + name + " gives " + std::to_string(outcome.reason) +
                            (node_.has_failed ? ": " + node_.error : ""));
        }
        break;
      }
      MessageText text = read_message_text(call.body.view(), call.data_bytes);
      if (!text.error.empty()) oracle_.violation("body: on " + name + ": " + text.error);
      if (kind != Kind::kLeft) continue;
      LedgerEntry entry;
      entry.kind = Kind::kLeft;
      entry.at_ns = node_.now_ns();
      entry.queue = name;
      entry.key = oracle_.ledger_key(text.key, name);
      oracle_.ledger.add(std::move(entry));
    }
    (void)connection.close(open.handle);
    return count;
  }

  RunResult finish() {
    result_.hash = oracle_.hash;
    result_.events = node_.sim.events_run();
    result_.disk_operations = node_.disk.operations();
    result_.calls = oracle_.calls;
    result_.features = swarm_.describe();
    result_.violations = std::move(oracle_.violations);
    result_.trace = std::move(oracle_.trace);
    return std::move(result_);
  }

  enum class Ending : uint8_t { kStop, kKill, kPowerCut };

  base::SeededRandom random_;
  QueueSwarm swarm_;
  QueueNode node_;
  QueueOracle oracle_;
  QueueScene scene_;
  std::vector<std::unique_ptr<QueueClient>> clients_;
  QueueAdministrator administrator_;
  QueueStart found_;
  queue::Outcome outcome_;
  RunResult result_;
  Ending ending_ = Ending::kPowerCut;
  bool is_over_ = false;
};

}  // namespace

RunResult run_queue_seed(const RunOptions& options) { return QueueRun(options).run(); }

std::string RunResult::report() const {
  std::string out = "seed " + std::to_string(seed) + ": " + features + "\n  " +
                    std::to_string(starts) + " starts, " + std::to_string(calls) + " calls, " +
                    std::to_string(events) + " events, " + std::to_string(disk_operations) +
                    " disk operations\n";
  for (const std::string& violation : violations) out += "  " + violation + "\n";
  for (const std::string& line : trace) out += "    " + line + "\n";
  return out;
}

}  // namespace millstream::sim
