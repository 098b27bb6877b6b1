// Executors and workers of a simulation: one thread, a virtual clock, one seed. What is ready runs
// in an order that the seed chooses among executors and workers; one executor's tasks keep theirs.
// The clock moves only when nothing is ready, to the next timer. The same seed gives the same run.
//
//   SimScheduler sim(seed);
//   SimExecutor reactor(sim);
//   SimWorkerFactory workers(sim);
//   ... sim.run();   // until nothing is left to do
//
// Thread: one. The scheduler outlives executors and workers.
#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <vector>

#include "base/clock.h"
#include "base/executor.h"
#include "base/random.h"

namespace millstream::base {

class SimScheduler {
 public:
  explicit SimScheduler(uint64_t seed, int64_t start_gmt_micros = 1'700'000'000'000'000)
      : clock_(start_gmt_micros), random_(seed) {}
  SimScheduler(const SimScheduler&) = delete;
  SimScheduler& operator=(const SimScheduler&) = delete;

  VirtualClock& clock() { return clock_; }
  Random& random() { return random_; }
  // One event: a ready one, else the next timer's after moving the clock. False: nothing is left.
  bool step();
  // One ready event, or false: the clock stays.
  bool step_ready();
  // Until nothing is left, or so many events; returns how many ran.
  size_t run(size_t steps_max = SIZE_MAX);
  size_t run_ready(size_t steps_max = SIZE_MAX);
  // False: nothing was left, or so many events ran, before it came true.
  bool run_until(const std::function<bool()>& is_done, size_t steps_max = 10'000'000);
  // All timers of the span, and what is ready.
  void run_for_ns(int64_t span_ns);
  // What has not run never will: the power is cut.
  void drop_all();
  uint64_t events_run() const { return events_run_; }
  uint64_t add_timer(class SimActor& actor, int64_t deadline_ns, std::function<void()> task);
  bool cancel_timer(uint64_t timer);

 private:
  friend class SimActor;
  friend class SimExecutor;
  struct Timer {
    class SimActor* actor;
    std::function<void()> task;
  };

  VirtualClock clock_;
  SeededRandom random_;
  std::vector<class SimActor*> actors_;
  std::map<std::pair<int64_t, uint64_t>, Timer> timers_;  // by deadline and id
  std::map<uint64_t, int64_t> timer_deadlines_;
  uint64_t last_timer_ = 0;
  uint64_t events_run_ = 0;
};

// Something with events of its own order.
class SimActor {
 public:
  explicit SimActor(SimScheduler& scheduler);
  virtual ~SimActor();
  SimActor(const SimActor&) = delete;
  SimActor& operator=(const SimActor&) = delete;
  virtual bool is_ready() const = 0;
  virtual void run_one() = 0;
  virtual void drop_all() = 0;

 protected:
  SimScheduler& scheduler_;
};

class SimExecutor final : public Executor, private SimActor {
 public:
  explicit SimExecutor(SimScheduler& scheduler) : SimActor(scheduler) {}
  const Clock& clock() const override { return scheduler_.clock_; }
  void post(std::function<void()> task) override { tasks_.push_back(std::move(task)); }
  TimerId post_at(int64_t deadline_ns, std::function<void()> task) override;
  bool cancel(TimerId timer) override;

 private:
  bool is_ready() const override { return !tasks_.empty(); }
  void run_one() override;
  void drop_all() override { tasks_.clear(); }
  std::deque<std::function<void()>> tasks_;
};

class SimWorkerFactory final : public WorkerFactory {
 public:
  explicit SimWorkerFactory(SimScheduler& scheduler) : scheduler_(scheduler) {}
  std::unique_ptr<Worker> start(std::string_view name, std::function<bool()> step) override;

 private:
  SimScheduler& scheduler_;
};

}  // namespace millstream::base
