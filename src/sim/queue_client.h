// One simulated application: a connection, at most one call under way, and after each call the next
// one, as its swarm and its random numbers say. It writes the ledger before and after.
// Thread: one (its executor's events).
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "sim/queue_oracle.h"
#include "sim/queue_swarm.h"

namespace millstream::sim {

struct SimSelector;

// What clients of one run share.
struct QueueScene {
  QueueNode& node;
  QueueOracle& oracle;
  const QueueSwarm& swarm;
  base::Random& random;     // not the scheduler's: a fault does not change what clients mean to do
  bool is_closing = false;  // clients begin nothing new
  std::vector<std::string> in_doubt;         // branches that nobody is deciding
  std::map<std::string, int32_t> heuristic;  // decided by the operator, not forgotten: XA's code
  std::set<std::string> forgetting, forgotten;
  int subscriptions = 0;     // to the queues Q1, Q2 ...
  bool can_publish = false;  // all subscriptions are there
  static constexpr const char* kTopic = "sim/prices";

  uint64_t up_to(uint64_t n) { return random.next_u64() % n; }
  bool one_in(uint64_t n) { return up_to(n) == 0; }
  std::string queue_name() { return "Q" + std::to_string(1 + up_to(swarm.queues)); }
};

class QueueClient {
 public:
  QueueClient(QueueScene& scene, std::string name);
  QueueClient(const QueueClient&) = delete;
  QueueClient& operator=(const QueueClient&) = delete;

  void begin();
  bool is_idle() const { return !is_calling_; }
  // The queue manager is gone: what was under way will not be answered.
  void lost();
  // Ends the unit that is open; only when idle.
  void end_unit();

 private:
  using Then = std::function<void(const queue::Outcome&)>;

  void step();
  void later();
  // Runs a call; `then` gets its outcome, unless the connection broke. True: it broke at once.
  template <typename Call>
  void call(Call&& call, Then then);
  void finish(const queue::Outcome& outcome, const Then& then);
  void broke();
  queue::Hobj open(const std::string& queue, const std::string& selector = "");
  void fill_properties(queue::PutCall& call, const std::string& key) const;

  void put();
  void publish();
  void put_group();
  void get();
  void browse();
  void prepare();
  void decide();
  void decide_heuristically();
  void end_heuristic();
  // Runs a call of XA; `then` gets its code, unless the queue manager broke.
  template <typename Call>
  void xa_call(Call&& call, std::function<void(int32_t)> then);
  void commit();
  void back();
  void leave();
  void close_handles();
  void check_selected(const queue::GetCall& call, const SimSelector& selector,
                      const std::string& queue);
  void got(const queue::GetCall& call, const std::string& queue, bool in_unit, bool is_selective);
  std::string unit();
  std::string stream(bool in_unit) const { return name_ + (in_unit ? ".s" : ".n"); }
  void note(const std::string& text) { scene_.oracle.note(name_ + " " + text); }

  QueueScene& scene_;
  std::string name_;
  base::SimExecutor executor_;
  std::shared_ptr<queue::Connection> connection_;
  std::map<std::string, queue::Hobj> handles_;
  std::string unit_;  // that is open; empty: none
  bool is_in_branch_ = false;
  bool is_calling_ = false;
  queue::Hobj topic_ = queue::kNoObject;
  std::string unanswered_get_;  // the queue of a get outside syncpoint that is under way
};

// Defines, deletes, clears and alters queues, and asks for checkpoints.
class QueueAdministrator {
 public:
  explicit QueueAdministrator(QueueScene& scene) : scene_(scene), executor_(scene.node.sim) {}
  void begin();
  bool is_idle() const { return !is_calling_; }
  void lost() { is_calling_ = false; }

 private:
  void step();
  void later();
  void define(const std::string& queue);
  void alter(const std::string& queue);
  void clear(const std::string& queue, bool deletes);
  queue::objects::AdminDone change(const std::string& queue, std::string state, bool* was_inline);
  void note(const std::string& text) { scene_.oracle.note("admin " + text); }

  QueueScene& scene_;
  base::SimExecutor executor_;
  bool is_calling_ = false;
};

// The definition of one of the run's queues; `description` tells versions apart.
queue::objects::Definition queue_definition(const std::string& name, const std::string& description,
                                            const QueueSwarm& swarm);

}  // namespace millstream::sim
