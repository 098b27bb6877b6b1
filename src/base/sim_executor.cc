#include "base/sim_executor.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"

namespace millstream::base {
namespace {

class SimWorker final : public Worker, private SimActor {
 public:
  SimWorker(SimScheduler& scheduler, std::function<bool()> step)
      : SimActor(scheduler), step_(std::move(step)) {}
  void wake() override { is_awake_ = true; }
  void wake_at(int64_t deadline_ns) override {
    if (timer_ != 0) scheduler_.cancel_timer(timer_);
    timer_ = scheduler_.add_timer(*this, deadline_ns, [this] {
      timer_ = 0;
      is_awake_ = true;
    });
  }

 private:
  bool is_ready() const override { return is_awake_; }
  void run_one() override {
    is_awake_ = false;
    if (step_()) is_awake_ = true;
  }
  void drop_all() override {
    is_awake_ = false;
    timer_ = 0;
  }

  std::function<bool()> step_;
  bool is_awake_ = false;
  uint64_t timer_ = 0;
};

}  // namespace

SimActor::SimActor(SimScheduler& scheduler) : scheduler_(scheduler) {
  scheduler_.actors_.push_back(this);
}

SimActor::~SimActor() {
  std::erase(scheduler_.actors_, this);
  std::erase_if(scheduler_.timers_, [&](const auto& entry) {
    if (entry.second.actor != this) return false;
    scheduler_.timer_deadlines_.erase(entry.first.second);
    return true;
  });
}

bool SimScheduler::step_ready() {
  size_t ready = 0;
  for (SimActor* actor : actors_) ready += actor->is_ready();
  if (ready == 0) return false;
  size_t chosen = ready == 1 ? 0 : random_.next_u64() % ready;
  for (SimActor* actor : actors_) {
    if (!actor->is_ready() || chosen-- > 0) continue;
    ++events_run_;
    actor->run_one();  // may add and remove actors: the loop ends here
    return true;
  }
  MS_ASSERT(false);
  return false;
}

bool SimScheduler::step() {
  if (step_ready()) return true;
  if (timers_.empty()) return false;
  const auto first = timers_.begin();
  const int64_t deadline = first->first.first;
  if (deadline > clock_.monotonic_ns()) clock_.advance_ns(deadline - clock_.monotonic_ns());
  timer_deadlines_.erase(first->first.second);
  std::function<void()> task = std::move(first->second.task);
  timers_.erase(first);
  ++events_run_;
  task();
  return true;
}

size_t SimScheduler::run(size_t steps_max) {
  size_t steps = 0;
  while (steps < steps_max && step()) ++steps;
  return steps;
}

size_t SimScheduler::run_ready(size_t steps_max) {
  size_t steps = 0;
  while (steps < steps_max && step_ready()) ++steps;
  return steps;
}

bool SimScheduler::run_until(const std::function<bool()>& is_done, size_t steps_max) {
  for (size_t steps = 0; !is_done(); ++steps) {
    if (steps == steps_max || !step()) return is_done();
  }
  return true;
}

void SimScheduler::run_for_ns(int64_t span_ns) {
  MS_ASSERT(span_ns >= 0);
  const int64_t end = clock_.monotonic_ns() + span_ns;
  for (;;) {
    if (step_ready()) continue;
    if (timers_.empty() || timers_.begin()->first.first > end) break;
    step();
  }
  if (clock_.monotonic_ns() < end) clock_.advance_ns(end - clock_.monotonic_ns());
}

void SimScheduler::drop_all() {
  for (SimActor* actor : actors_) actor->drop_all();
  timers_.clear();
  timer_deadlines_.clear();
}

uint64_t SimScheduler::add_timer(SimActor& actor, int64_t deadline_ns, std::function<void()> task) {
  const uint64_t id = ++last_timer_;
  timers_.emplace(std::pair(deadline_ns, id), Timer{&actor, std::move(task)});
  timer_deadlines_.emplace(id, deadline_ns);
  return id;
}

bool SimScheduler::cancel_timer(uint64_t timer) {
  const auto found = timer_deadlines_.find(timer);
  if (found == timer_deadlines_.end()) return false;
  const size_t erased = timers_.erase(std::pair(found->second, timer));
  MS_ASSERT(erased == 1);
  static_cast<void>(erased);
  timer_deadlines_.erase(found);
  return true;
}

Executor::TimerId SimExecutor::post_at(int64_t deadline_ns, std::function<void()> task) {
  return scheduler_.add_timer(*this, deadline_ns, std::move(task));
}

bool SimExecutor::cancel(TimerId timer) { return scheduler_.cancel_timer(timer); }

void SimExecutor::run_one() {
  std::function<void()> task = std::move(tasks_.front());
  tasks_.pop_front();
  task();
}

std::unique_ptr<Worker> SimWorkerFactory::start(std::string_view, std::function<bool()> step) {
  return std::make_unique<SimWorker>(scheduler_, std::move(step));
}

}  // namespace millstream::base
