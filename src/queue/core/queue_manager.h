// A queue manager in this process: queues, units of work and what else the MQI promises, over a
// Store. Construct it, let the store tell what it found (recovery()), then start().
//
//   QueueManager manager({.settings = {.name = "QM1"}, .executor = &executor, ...});
//   MemoryStore store(workers, manager.listener(), &image);
//   MS_TRY(store.recover(manager.recovery()));
//   MS_TRY(manager.start(store));
//   auto connection = manager.connect({.user = "alice", .executor = &executor});
//
// Calls never block: what has to wait ends in a callback on the connection's executor. Only
// durability and a get with wait (and a body that has to be read) make a call wait.
// After stop() or a failure of the store every call gives 2162 or 2009.
// Thread: any. Connections belong to their executors. The manager outlives its connections' calls.
#pragma once
#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <unordered_set>

#include "base/clock.h"
#include "base/executor.h"
#include "base/random.h"
#include "queue/core/access.h"
#include "queue/core/client_records.h"
#include "queue/core/events.h"
#include "queue/core/object_admin.h"
#include "queue/core/object_table.h"
#include "queue/core/pubsub.h"
#include "queue/core/unit_of_work.h"
#include "queue/core/xa.h"
#include "queue/store/store.h"

namespace millstream::queue {

class Connection;
class Overflow;
class Paging;

struct QueueManagerOptions {
  QueueManagerSettings settings;
  base::Executor* executor = nullptr;  // for timers of its own: expiry, delays, triggers
  base::Random* random = nullptr;
  AccessControl* access = nullptr;  // null: everything is allowed
  // Of messages and of the queues' indexes (130 bytes a message); beyond it bodies stay in the
  // store.
  uint64_t memory_bytes_max = 256u << 20;
  uint64_t unit_bytes_max = 256u << 20;  // of one connection's open unit
  // Where non-persistent messages go beyond the budget; null: puts of them get 2071 then.
  Overflow* overflow = nullptr;
  base::WorkerFactory* workers = nullptr;  // for the paging
  // Who runs channels and listeners, for their status and START and STOP; null: nobody.
  objects::ChannelHost* channels = nullptr;
  // The store has failed: nothing more will be acknowledged, and the process has to end.
  std::function<void(const base::Error&)> on_failure;
};

struct ConnectOptions {
  std::string user;
  std::string application_name;
  int32_t application_type = 6;  // MQAT_UNIX
  std::string channel;           // for displays; empty: in this process
  std::string remote_address;
  base::Executor* executor = nullptr;
  // Connections of one client share it: a subscription without local publications means all of
  // them. 0: the connection is alone.
  uint64_t publisher = 0;
};

class QueueManager final : private StoreListener, private RecoveryHandler {
 public:
  explicit QueueManager(QueueManagerOptions options);
  ~QueueManager() override;
  QueueManager(const QueueManager&) = delete;
  QueueManager& operator=(const QueueManager&) = delete;

  StoreListener& listener() { return *this; }
  RecoveryHandler& recovery() { return *this; }
  Status start(Store& store);
  // Refuses new calls, tells those who wait, backs out what is open, and leaves a note that the
  // stop was clean. `done` is called on the manager's executor when that is durable; nothing is
  // asked of the store after it, so its owner may close it then.
  void stop(std::function<void()> done = nullptr);

  // 2035 when the user may not connect; 2059 when stopped.
  Outcome connect(const ConnectOptions& options, std::shared_ptr<Connection>& out);

  const std::string& name() const { return options_.settings.name; }
  // As they are now; the reference stays valid when they are altered.
  const QueueManagerSettings& settings() const {
    return *settings_.load(std::memory_order_acquire);
  }
  ObjectTable& objects() { return objects_; }
  // Definitions: make_admin_target() is their face for one user.
  ObjectAdmin& admin() { return admin_; }
  // Defines a local queue; false when the name is taken. The definition is on its way to the store
  // when the call returns; puts that follow are behind it in the journal.
  bool define_local(std::string_view name, const QueueSettings& settings);
  QueueRef find_queue(std::string_view name) const;

  // --- status ---
  std::vector<objects::ConnectionStatus> connection_status() const;
  size_t connection_count() const;
  // Breaks it as if the network had: its unit is backed out. `id` are the 24 bytes.
  bool stop_connection(std::string_view id);
  int64_t started_gmt_micros() const { return started_gmt_micros_; }
  std::vector<objects::TopicStatus> topic_status(std::string_view pattern) const;
  std::vector<objects::SubscriptionStatus> subscription_status(std::string_view pattern) const;
  objects::PublishStatus publish_status() const;
  void clear_retained(const std::string& topic, objects::AdminDone done);
  // Looks for expired messages on all queues; it goes on in tasks.
  void sweep_now();
  // Whether the last stop was not clean: what was found may have been delivered before.
  bool was_unclean() const { return was_unclean_; }

  XaBranches& branches() { return branches_; }
  PubSub& pubsub() { return pubsub_; }
  ClientRecords& client_records() { return client_records_; }
  QueueRef queue_by_id(QueueId id) const;
  // Stands for queues that a prepared unit found at a start knows and nobody else does.
  QueueRef lost_queue();

  // --- for ObjectAdmin ---
  void set_settings(QueueManagerSettings settings);
  void add_queue(const QueueRef& queue);
  void remove_queue(QueueId id);
  // Under the queue's lock: what nobody has locked goes.
  void drop_available(Queue& queue);

  // --- for connections and units ---
  void add_connection(Connection& connection);
  void remove_connection(Connection& connection);
  Store& store() { return *store_; }
  base::Executor& executor() { return *options_.executor; }
  const QueueManagerOptions& options() const { return options_; }
  const base::Clock& clock() const { return options_.executor->clock(); }
  int64_t now_gmt_micros() const { return clock().wall_gmt_micros(); }
  int64_t now_ns() const { return clock().monotonic_ns(); }
  uint32_t new_owner() { return last_owner_.fetch_add(1, std::memory_order_relaxed) + 1; }
  void make_message_id(mqi::Id& id);
  bool is_running() const { return is_running_.load(std::memory_order_acquire); }
  bool begin_pending(CommitOperation& operation);
  void end_pending(CommitOperation& operation);
  // What nobody waits for: kept until it is durable, or the manager goes after a failure.
  Pending& own(std::unique_ptr<Pending> pending);
  void disown(const Pending& pending);
  // Reads a message that is not in memory.
  void read(Location location, bool is_persistent, ReadDone& done);
  // Whether memory has room for one more non-persistent message: a quarter beyond the budget while
  // the paging works.
  bool has_memory(uint64_t bytes) const {
    return memory_bytes() + bytes <= options_.memory_bytes_max + options_.memory_bytes_max / 4;
  }
  // What is kept in memory and no paging can take out: retained publications.
  void count_memory(int64_t bytes) {
    memory_bytes_.fetch_add(static_cast<uint64_t>(bytes), std::memory_order_relaxed);
  }
  // Under the queue's lock.
  void publish(const UnitPut& put, Location location, Effects& effects);
  void forget_memory(const Entry& entry);
  void drop_from_memory(Entry& entry);
  void trim_memory(Queue& queue);
  // The entry leaves: its memory, or its place in the overflow.
  void forget(const Entry& entry);
  // After a clean stop what is got in units must not be told before the store knows that this run
  // may end otherwise, or a crash leaves no sign that it was seen. False: it knows; else `done`
  // comes then.
  bool await_unclean_mark(base::Executor& executor, Done done);
  // Under the queue's lock: an entry that was locked is available again; of a deleted queue it
  // goes.
  void release(Queue& queue, Slot slot, Effects& effects);
  // Gives the gets back with a higher backout count and drops the puts. Gets that skip the backout
  // go to `kept`, a new unit.
  void back_out(UnitOfWork& unit, UnitOfWork* kept);
  // Outside of all locks.
  void apply(Effects effects);
  // events.h
  void report(const ManagerEvent& event);
  void report(const Effects::QueueEvent& event);
  // A unit of the queue manager itself, whose end nobody waits for.
  void run_detached(UnitOfWork unit);
  // A trigger monitor may have come to `initiation_queue`.
  void note_triggering() { has_triggers_.store(true, std::memory_order_relaxed); }
  void reconsider_triggers(const std::string& initiation_queue);
  // Messages in memory, and the indexes of the queues.
  uint64_t memory_bytes() const {
    return memory_bytes_.load(std::memory_order_relaxed) +
           index_bytes_->load(std::memory_order_relaxed);
  }

 private:
  // StoreListener
  bool moved(QueueId queue, Sequence sequence, Location from, Location to) override;
  void failed(const base::Error& error) override;
  void space_changed(bool admits_puts) override;
  // RecoveryHandler
  Status record(uint8_t kind, std::string_view key, std::string_view value) override;
  Status message(QueueId queue, const IndexEntry& index, Location location) override;
  Status sequence(QueueId queue, Sequence highest) override;
  Status prepared(const RedoUnit& unit, std::span<const Location> puts) override;
  Status heuristic(std::string_view xid, uint8_t outcome) override;

  void fire(const Effects::Trigger& trigger);
  void finish_expired(const Effects::Expired& expired);
  void expire_unread(const QueueRef& queue, Sequence sequence, Location location,
                     bool is_persistent);
  void schedule_sweep(int64_t expires_gmt_ms);
  void sweep();
  void sweep_queue(std::vector<QueueRef> queues, size_t at, Slot from, int64_t earliest);
  void schedule_delayed(const QueueRef& queue, Sequence sequence, int64_t due_gmt_ms);

  void note_maybe_seen();
  void put_event(const char* queue, std::string body);

  QueueManagerOptions options_;
  Store* store_ = nullptr;
  ObjectTable objects_;
  mutable std::shared_mutex ids_mutex_;
  std::unordered_map<QueueId, QueueRef> by_id_;
  ObjectAdmin admin_;
  XaBranches branches_;
  PubSub pubsub_;
  ClientRecords client_records_;
  QueueRef lost_queue_;
  std::atomic<const QueueManagerSettings*> settings_{nullptr};
  std::mutex settings_mutex_;
  std::vector<std::unique_ptr<const QueueManagerSettings>> all_settings_;  // readers may have any
  mutable std::mutex connections_mutex_;
  std::unordered_map<uint64_t, std::weak_ptr<Connection>> connections_;
  void read_headers(std::vector<Effects::Read> reads);
  std::vector<Effects::Read> to_read_;
  int64_t recovered_expiry_ms_ = INT64_MAX;
  std::atomic<bool> has_triggers_{false};
  std::mutex sweep_mutex_;  // guards the next three
  base::Executor::TimerId sweep_timer_ = 0;
  int64_t sweep_at_ms_ = INT64_MAX;
  bool is_sweeping_ = false;
  int64_t started_gmt_micros_ = 0;
  bool was_unclean_ = false;
  bool has_records_ = false;
  bool found_clean_stop_ = false;
  // What an earlier, unclean stop may have delivered; it stays so after clean ones.
  std::unordered_map<QueueId, Sequence> maybe_seen_;
  std::atomic<uint32_t> last_owner_{0};
  std::atomic<bool> is_running_{false};
  std::atomic<uint64_t> memory_bytes_{0};
  // Shared with the callback that clears it, which may come when the manager is gone.
  std::shared_ptr<std::atomic<bool>> is_mark_pending_ = std::make_shared<std::atomic<bool>>(false);
  // Shared with the queues' indexes.
  const std::shared_ptr<std::atomic<uint64_t>> index_bytes_ =
      std::make_shared<std::atomic<uint64_t>>(0);
  std::atomic<uint64_t> last_message_id_{0};
  std::string message_id_prefix_;
  std::unique_ptr<Paging> paging_;
  // Work on the manager's executor that is dropped when the manager has gone before it runs.
  template <typename Task>
  std::function<void()> while_alive(Task task) {
    return [life = std::weak_ptr<char>(life_), task = std::move(task)]() mutable {
      if (!life.expired()) task();
    };
  }
  const std::shared_ptr<char> life_ = std::make_shared<char>();  // shared with nobody
  std::mutex own_mutex_;                                         // leaf
  std::unordered_map<const Pending*, std::unique_ptr<Pending>> own_pending_;
  std::mutex pending_mutex_;
  std::unordered_set<CommitOperation*> pending_;
  std::atomic<bool> has_failed_{false};
};

}  // namespace millstream::queue
