// All MQTT clients of a queue manager, connected or not: who owns a client's state, what happens
// when a second connection comes with the same identifier (it takes over), sessions that expire,
// wills that are due, groups of shared subscriptions.
//
// A connection claims its client and has the state for itself until it releases it; a later claim
// tells the owner to go, and waits until it has. After a start everything is here again, with times
// that go on while the server was down.
// Thread: any. Callbacks come on the claimant's executor. Lock: one; under it the queue manager's
// administration may be called (join_group, leave_group), whose answers never come back here.
#pragma once
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "base/executor.h"
#include "wire/common/broker.h"
#include "wire/mqtt/client_state.h"

namespace millstream::wire::mqtt {

class ClientOwner {
 public:
  virtual ~ClientOwner() = default;
  // Somebody else wants the client: let it go, by release(). On the owner's executor.
  virtual void on_taken_over() = 0;
};

class Clients : public std::enable_shared_from_this<Clients> {
 public:
  struct Limits {
    size_t clients_max = 1'000'000;  // states that are kept
    uint32_t session_expiry_max_s = kNeverExpires;
    uint32_t queue_depth_max = 999'999'999;  // of a durable session
  };
  static std::shared_ptr<Clients> create(Broker& broker, Limits limits);
  // Takes what a start has found. Once, before anybody connects.
  void recover();
  // No timers, no wills any more.
  void stop();

  Broker& broker() { return broker_; }
  queue::QueueManager& manager() { return broker_.manager(); }
  const Limits& limits() const { return limits_; }

  using StateRef = std::shared_ptr<ClientState>;  // of the owner, else the registry's
  enum class Refusal : uint8_t { kNone, kOtherUser, kTooMany };
  using Ready = std::function<void(StateRef state)>;
  // `ready` may come within the call. A claimant that has gone meanwhile releases at once.
  Refusal claim(const std::string& client_id, const std::string& user,
                std::shared_ptr<ClientOwner> owner, base::Executor& executor, Ready ready);
  // The owner is done with it. `sends_will`: the connection ended without a DISCONNECT that
  // forbids it.
  void release(const StateRef& state, bool sends_will);
  // Clean start: what there is of an earlier session goes, its will is sent.
  void discard_session(ClientState& state);

  // A session goes on: a will whose time has come is sent, one that waits is not any more.
  void resume_will(ClientState& state);

  // --- for owners ---
  // Makes the client's queue, if it has none.
  queue::Outcome make_queue(ClientState& state);
  // The queue manager's subscription of one of a topic. Pending until a durable one is.
  queue::Outcome add_subscription(const ClientState& state, const ClientSubscription& s,
                                  base::Executor& executor, queue::Done done);
  // A shared subscription's queue; it is made with its first member.
  queue::Outcome join_group(std::string_view filter, const std::string& user, std::string& queue);
  void leave_group(std::string_view filter);
  // Writes the client's record; `done` when it is durable, within the call or later. Clients that
  // need none are erased, if they had one.
  void save(ClientState& state, base::Executor& executor, queue::Done done);
  void save(ClientState& state) { save(state, manager().executor(), nullptr); }
  // Takes the subscription out of the queue manager.
  void drop_subscription(const ClientState& state, const ClientSubscription& subscription);
  std::string new_queue_name();
  std::string new_mark();

  size_t client_count() const;
  size_t session_count() const;  // that are not connected

 private:
  struct Waiting {
    std::shared_ptr<ClientOwner> owner;
    base::Executor* executor = nullptr;
    Ready ready;
  };
  struct Entry {
    StateRef state;
    std::shared_ptr<ClientOwner> owner;
    base::Executor* executor = nullptr;
    bool is_told = false;  // that it has to go
    std::deque<Waiting> waiting;
    int64_t due_gmt_ms = INT64_MAX;  // of one without owner
  };
  struct Group {
    std::string queue;
    size_t members = 0;
  };
  using Lock = std::unique_lock<std::mutex>;

  Clients(Broker& broker, Limits limits) : broker_(broker), limits_(limits) {}
  void tell(Entry& entry);
  void reconcile(std::map<std::string, ClientState, std::less<>>& found);
  bool is_known(const ClientState& state, const ClientSubscription& subscription) const;
  void set_due(Entry& entry);
  void arm(int64_t due_gmt_ms);
  void on_time();
  void look_at(const std::string& client_id, int64_t now_gmt_ms);
  void publish_will(const WillMessage& will);
  void erase_queue(const std::string& name);
  void write(std::vector<queue::UnitRecord> records, base::Executor& executor, queue::Done done);
  int64_t now_gmt_ms() { return manager().now_gmt_micros() / 1000; }

  Broker& broker_;
  Limits limits_;
  mutable std::mutex mutex_;  // guards what follows
  std::map<std::string, Entry, std::less<>> entries_;
  std::multimap<int64_t, std::string> due_;
  std::map<std::string, Group, std::less<>> groups_;  // by filter
  base::Executor::TimerId timer_ = 0;
  int64_t timer_gmt_ms_ = INT64_MAX;
  bool is_stopped_ = false;
};

}  // namespace millstream::wire::mqtt
