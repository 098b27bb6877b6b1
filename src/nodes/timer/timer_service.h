// The timeouts of a server: stored requests, when they are due, and who gets them. One a process,
// reached through flow::Services.
//
// Each unique identifier has a queue that outlives the nodes, so that a redeployment loses nothing.
// A request is stored by SET before the message goes on, becomes due only when the flow's unit of
// work has committed, and is taken back when that is rolled back. An event of a transactional node
// is marked as begun before its flow runs and as done afterwards: when the server ends in between,
// it comes again. Requests that were due while nobody listened are missed, which IgnoreMissed says
// what to do about; gaps shorter than kGapGraceMicros (a redeployment) do not count.
// Lock order: Alarms, then TimerQueue. Thread: any.
#pragma once
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "flow/flow_hold.h"
#include "flow/unit_of_work.h"
#include "nodes/common/alarms.h"
#include "nodes/common/application.h"
#include "nodes/timer/timer_store.h"

namespace millstream::nodes::timer {

// A controlled TimeoutNotification node.
class TimerHandler {
 public:
  virtual ~TimerHandler() = default;
  virtual flow::Flow& flow() const = 0;  // alive as long as it is registered or held
  virtual std::string node_label() const = 0;
  virtual bool is_transactional() const = 0;
  // In a fiber: sends the stored message into the flow. Errors are its own matter.
  virtual void fire(const TimerRequest& request, std::string_view message) = 0;
};

class TimerService;

// The requests of one unique identifier.
class TimerQueue final : public common::Alarm, public std::enable_shared_from_this<TimerQueue> {
 public:
  static constexpr size_t kInFlightMax = 256;
  static constexpr int64_t kRetryMicros = 10'000'000;     // after the store failed
  static constexpr int64_t kGapGraceMicros = 60'000'000;  // without a node, as in a redeployment

  TimerQueue(TimerService& service, std::string timer)
      : service_(service), timer_(std::move(timer)) {}
  std::optional<int64_t> next_due(int64_t now_gmt_micros) override;
  void ring(int64_t due_gmt_micros) override;

  Status add_handler(const common::Application& application, std::shared_ptr<TimerHandler> handler);
  void remove_handler(const TimerHandler* handler);
  void schedule(const TimerRequest& request);
  void drop(const std::string& name);
  size_t size() const;

 private:
  struct Entry {
    TimerRequest request;
    int64_t at = 0;  // in by_due_; later than the request says after an error of the store
    bool is_waiting = false;
  };
  struct Handler {
    const common::Application* version;  // compared only: it may be gone
    std::shared_ptr<TimerHandler> handler;
  };
  struct Work {
    TimerRequest request;
    std::shared_ptr<TimerHandler> handler;
    flow::FlowHold hold;
  };
  Status settle(int64_t now);
  void put_in(const TimerRequest& request, int64_t at);
  void take_out(const std::string& name);
  std::vector<Work> take_due(int64_t now);
  void process(Work work);
  bool run(Work& work);
  void finish(const TimerRequest& request, bool is_done);

  TimerService& service_;
  const std::string timer_;
  mutable std::mutex mutex_;
  std::vector<Handler> handlers_;  // in the order of their start
  std::map<std::string, Entry> entries_;
  std::set<std::pair<int64_t, std::string>> by_due_;
  size_t in_flight_ = 0;
  bool is_loaded_ = false;
  bool must_settle_ = true;
  int64_t retry_at_ = INT64_MIN;    // of settling, after an error
  int64_t down_since_ = INT64_MIN;  // without a handler; INT64_MIN: since before this process
};

class TimerService {
 public:
  explicit TimerService(common::Alarms& alarms) : alarms_(alarms) {}
  // Before deployment; empty: requests are kept in memory.
  void set_work_folder(std::string folder) { work_folder_ = std::move(folder); }
  common::Alarms& alarms() { return alarms_; }

  // Opens the store once; blocking. For start() of nodes, so that problems show while deploying.
  Status open();
  // Logs once that requests end with the server, if they do.
  void warn_unless_kept(const std::string& node_label);
  TimerStore& store() { return *store_; }  // after open()

  Status add_handler(const std::string& timer, const common::Application& application,
                     std::shared_ptr<TimerHandler> handler);
  void remove_handler(const std::string& timer, const TimerHandler* handler);

  // In a fiber. The request counts from the commit of `unit_of_work`.
  Status set(TimerRequest request, std::string_view message, flow::UnitOfWork& unit_of_work);
  void cancel(const std::string& timer, const std::string& name, flow::UnitOfWork& unit_of_work);

  std::shared_ptr<TimerQueue> queue(const std::string& timer);

 private:
  common::Alarms& alarms_;
  std::string work_folder_;
  std::atomic<bool> has_warned_{false};
  std::mutex open_mutex_;  // while the store is opened; never in a fiber
  std::unique_ptr<TimerStore> store_;
  std::mutex mutex_;  // leaf lock: queues_
  std::map<std::string, std::shared_ptr<TimerQueue>> queues_;
};

}  // namespace millstream::nodes::timer
