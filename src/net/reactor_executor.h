// A reactor as the Executor of what knows no sockets (base/executor.h).
// Ownership: lives as long as its reactor runs, and is destroyed on any thread after that; tasks
// that have not run by then never do. Thread: any.
#pragma once
#include <memory>
#include <mutex>
#include <unordered_map>

#include "base/executor.h"
#include "net/reactor.h"

namespace millstream::net {

class ReactorExecutor final : public base::Executor {
 public:
  explicit ReactorExecutor(Reactor& reactor, const base::Clock& clock = base::system_clock());
  ~ReactorExecutor() override;
  const base::Clock& clock() const override { return clock_; }
  void post(std::function<void()> task) override;
  void post_all(std::vector<std::function<void()>>& tasks) override { reactor_.post_all(tasks); }
  TimerId post_at(int64_t deadline_ns, std::function<void()> task) override;
  bool cancel(TimerId timer) override;

 private:
  struct Entry {
    ReactorExecutor* executor = nullptr;
    TimerId id = 0;
    Timer timer;  // touched on the reactor's thread only
    std::function<void()> task;
  };
  // Shared with the tasks that this executor posts to the reactor, which may outlive it.
  struct State {
    std::mutex mutex;  // leaf lock
    std::unordered_map<TimerId, std::unique_ptr<Entry>> entries;
    TimerId last_id = 0;
  };
  void on_reactor(std::function<void()> task);
  static void fire(Timer& timer);

  Reactor& reactor_;
  const base::Clock& clock_;
  const std::shared_ptr<State> state_ = std::make_shared<State>();
};

}  // namespace millstream::net
