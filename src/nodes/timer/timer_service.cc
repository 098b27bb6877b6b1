#include "nodes/timer/timer_service.h"

#include "base/clock.h"
#include "base/log.h"
#include "io/file.h"
#include "net/blocking_pool.h"
#include "nodes/timer/errors_gen.h"

namespace millstream::nodes::timer {
namespace {

int64_t timer_now() { return base::system_clock().wall_gmt_micros(); }

Status store_error(const std::string& name, const char* what, Status cause) {
  return base::wrap_error(base::make_error(errors::kStoreFailed, {name, what}), std::move(cause));
}

// What one unit of work has set and cancelled.
class TimerWork final : public flow::Participant {
 public:
  static TimerWork& of(TimerService& service, flow::UnitOfWork& unit_of_work) {
    if (flow::Participant* joined = unit_of_work.find(&service)) {
      return static_cast<TimerWork&>(*joined);
    }
    return static_cast<TimerWork&>(
        unit_of_work.enlist_owned(&service, std::make_unique<TimerWork>(service)));
  }
  explicit TimerWork(TimerService& service) : service_(service) {}

  void note_set(TimerRequest request, std::optional<StoredRequest> former) {
    steps_.push_back({std::move(request), std::move(former)});
  }
  void note_cancel(const std::string& timer, const std::string& name) {
    TimerRequest request;
    request.action = TimerAction::kCancel;
    request.timer = timer;
    request.name = name;
    steps_.push_back({std::move(request), {}});
  }
  bool is_cancelled(const TimerRequest& request) const {
    for (auto it = steps_.rbegin(); it != steps_.rend(); ++it) {
      if (is_same(it->request, request)) return it->request.action == TimerAction::kCancel;
    }
    return false;
  }

  std::string_view name() const override { return "timeout requests"; }

  Status commit() override {
    for (size_t i = 0; i < steps_.size(); ++i) {
      const TimerRequest& request = steps_[i].request;
      if (is_superseded(i)) continue;
      const std::shared_ptr<TimerQueue> queue = service_.queue(request.timer);
      if (request.action == TimerAction::kSet) {
        queue->schedule(request);
        continue;
      }
      Status status;
      net::run_blocking([&] { status = service_.store().remove(request.timer, request.name); });
      if (!status.ok()) return store_error(request.name, "cancelled", std::move(status));
      queue->drop(request.name);
    }
    steps_.clear();
    return {};
  }

  void rollback() override {
    for (auto it = steps_.rbegin(); it != steps_.rend(); ++it) {
      if (it->request.action == TimerAction::kCancel) continue;
      Status status;
      net::run_blocking([&] { status = service_.store().undo_put(it->request, it->former); });
      if (status.ok()) continue;
      status = store_error(it->request.name, "taken back", std::move(status));
      base::log_error(status.error());
    }
    steps_.clear();
  }

 private:
  struct Step {
    TimerRequest request;
    std::optional<StoredRequest> former;
  };
  static bool is_same(const TimerRequest& a, const TimerRequest& b) {
    return a.timer == b.timer && a.name == b.name;
  }
  // A later step of the same request decides.
  bool is_superseded(size_t at) const {
    for (size_t i = at + 1; i < steps_.size(); ++i) {
      if (is_same(steps_[i].request, steps_[at].request)) return true;
    }
    return false;
  }

  TimerService& service_;
  std::vector<Step> steps_;
};

}  // namespace

std::optional<int64_t> TimerQueue::next_due(int64_t now) {
  std::lock_guard lock(mutex_);
  if (handlers_.empty()) return {};
  if (must_settle_) return std::max(now, retry_at_);
  if (by_due_.empty() || in_flight_ >= kInFlightMax) return {};
  return by_due_.begin()->first;
}

void TimerQueue::ring(int64_t) {
  bool must_settle = false;
  {
    std::lock_guard lock(mutex_);
    must_settle = must_settle_;
  }
  if (must_settle) {
    const int64_t now = timer_now();
    Status status;
    net::run_blocking([&] { status = settle(now); });
    if (!status.ok()) {
      base::log_error(status.error());
      std::lock_guard lock(mutex_);
      retry_at_ = now + kRetryMicros;
      return;
    }
  }
  for (Work& work : take_due(timer_now())) {
    net::Reactor::current()->spawn([self = shared_from_this(), work = std::move(work)]() mutable {
      self->process(std::move(work));
    });
  }
}

// A node has come where there was none: reads what is stored, at first, and decides about what was
// due meanwhile.
Status TimerQueue::settle(int64_t now) {
  bool must_load = false;
  int64_t down_since = 0;
  {
    std::lock_guard lock(mutex_);
    must_load = !is_loaded_;
    down_since = down_since_;
  }
  std::vector<TimerRequest> stored;
  if (must_load) stored = MS_TRY(service_.store().list(timer_));
  std::vector<TimerRequest> changed;
  {
    std::lock_guard lock(mutex_);
    // What was set since the list was read is there already, and newer.
    for (const TimerRequest& r : stored) {
      if (entries_.find(r.name) == entries_.end()) put_in(r, r.due_micros());
    }
    is_loaded_ = true;
    must_settle_ = false;
    const bool is_long_gap = down_since == INT64_MIN || now - down_since > kGapGraceMicros;
    for (auto& [name, entry] : entries_) {
      TimerRequest& r = entry.request;
      const bool is_missed = is_long_gap && r.due_micros() < now && r.due_micros() >= down_since;
      if (!is_missed || !r.ignores_missed || r.is_firing || !entry.is_waiting) continue;
      r.skip_missed(now);
      changed.push_back(r);
    }
    for (const TimerRequest& r : changed) {
      take_out(r.name);
      if (!r.is_over()) put_in(r, r.due_micros());
    }
  }
  for (const TimerRequest& r : changed) MS_TRY(service_.store().update(r));
  return {};
}

void TimerQueue::put_in(const TimerRequest& request, int64_t at) {
  take_out(request.name);
  entries_[request.name] = {request, at, true};
  by_due_.emplace(at, request.name);
}

void TimerQueue::take_out(const std::string& name) {
  auto it = entries_.find(name);
  if (it == entries_.end()) return;
  if (it->second.is_waiting) by_due_.erase({it->second.at, name});
  entries_.erase(it);
}

std::vector<TimerQueue::Work> TimerQueue::take_due(int64_t now) {
  std::vector<Work> due;
  std::lock_guard lock(mutex_);
  if (handlers_.empty()) return due;
  const std::shared_ptr<TimerHandler>& newest = handlers_.back().handler;
  while (in_flight_ < kInFlightMax && !by_due_.empty() && by_due_.begin()->first <= now) {
    Entry& entry = entries_[by_due_.begin()->second];
    by_due_.erase(by_due_.begin());
    entry.is_waiting = false;
    ++in_flight_;
    due.push_back({entry.request, newest, flow::FlowHold(newest->flow())});
  }
  return due;
}

void TimerQueue::process(Work work) {
  const bool is_done = run(work);
  // The server is stopping: the event stays as it is on disk.
  if (net::is_current_cancelled()) return;
  finish(work.request, is_done);
  service_.alarms().changed(this);
}

// False: the store failed before the flow began, so that the event has to come again.
bool TimerQueue::run(Work& work) {
  TimerRequest& request = work.request;
  TimerStore& store = service_.store();
  const bool is_transactional = work.handler->is_transactional();
  std::optional<StoredRequest> stored;
  Status status;
  net::run_blocking([&] {
    Result<std::optional<StoredRequest>> loaded = store.load(request);
    if (!loaded.ok()) {
      status = std::move(loaded).take_status();
      return;
    }
    stored = std::move(loaded).take_value();
    if (!stored) return;
    TimerRequest begun = request;
    begun.is_firing = is_transactional;
    if (!is_transactional) ++begun.next_event;
    if (begun.is_firing != request.is_firing || !is_transactional) status = store.update(begun);
  });
  if (!status.ok()) {
    status = store_error(request.name, "read", std::move(status));
    base::log_error(status.error());
    return false;
  }
  if (!stored) return true;
  work.handler->fire(request, stored->message);
  ++request.next_event;
  request.is_firing = false;
  if (!is_transactional || net::is_current_cancelled()) return true;
  net::run_blocking([&] { status = store.update(request); });
  if (!status.ok()) {
    status = store_error(request.name, "marked as done", std::move(status));
    base::log_error(status.error());
  }
  return true;
}

void TimerQueue::finish(const TimerRequest& request, bool is_done) {
  std::lock_guard lock(mutex_);
  --in_flight_;
  auto it = entries_.find(request.name);
  // It may have been cancelled or set anew while its event ran.
  if (it == entries_.end() || it->second.request.generation != request.generation) return;
  if (request.is_over()) {
    take_out(request.name);
  } else {
    put_in(request, is_done ? request.due_micros() : timer_now() + kRetryMicros);
  }
}

Status TimerQueue::add_handler(const common::Application& application,
                               std::shared_ptr<TimerHandler> handler) {
  std::lock_guard lock(mutex_);
  for (const Handler& h : handlers_) {
    if (h.version != &application) continue;
    return base::make_error(errors::kIdentifierTaken,
                            {handler->node_label(), h.handler->node_label(), timer_});
  }
  if (handlers_.empty()) must_settle_ = true;
  handlers_.push_back({&application, std::move(handler)});
  return {};
}

void TimerQueue::remove_handler(const TimerHandler* handler) {
  const int64_t now = timer_now();
  std::lock_guard lock(mutex_);
  const size_t before = handlers_.size();
  std::erase_if(handlers_, [&](const Handler& h) { return h.handler.get() == handler; });
  if (handlers_.empty() && before != 0 && !must_settle_) down_since_ = now;
}

void TimerQueue::schedule(const TimerRequest& request) {
  {
    std::lock_guard lock(mutex_);
    auto it = entries_.find(request.name);
    // Two units of work may end in another order than they wrote: the store has the newer one.
    if (it != entries_.end() && it->second.request.generation > request.generation) return;
    put_in(request, request.due_micros());
  }
  service_.alarms().changed(this);
}

void TimerQueue::drop(const std::string& name) {
  std::lock_guard lock(mutex_);
  take_out(name);
}

size_t TimerQueue::size() const {
  std::lock_guard lock(mutex_);
  return entries_.size();
}

Status TimerService::open() {
  std::lock_guard lock(open_mutex_);
  if (store_) return {};
  const std::string path =
      work_folder_.empty() ? ":memory:" : io::join_path(work_folder_, "state/timers.db");
  store_ = MS_TRY(TimerStore::open(path));
  return {};
}

void TimerService::warn_unless_kept(const std::string& node_label) {
  if (!work_folder_.empty() || has_warned_.exchange(true)) return;
  Status status = base::make_error(errors::kNotKept, {node_label});
  base::log_error(status.error());
}

std::shared_ptr<TimerQueue> TimerService::queue(const std::string& timer) {
  std::lock_guard lock(mutex_);
  std::shared_ptr<TimerQueue>& queue = queues_[timer];
  if (!queue) {
    queue = std::make_shared<TimerQueue>(*this, timer);
    alarms_.add(queue);
  }
  return queue;
}

Status TimerService::add_handler(const std::string& timer, const common::Application& application,
                                 std::shared_ptr<TimerHandler> handler) {
  MS_TRY(open());
  const std::shared_ptr<TimerQueue> found = queue(timer);
  MS_TRY(found->add_handler(application, std::move(handler)));
  alarms_.changed(found.get());
  return {};
}

void TimerService::remove_handler(const std::string& timer, const TimerHandler* handler) {
  queue(timer)->remove_handler(handler);
}

Status TimerService::set(TimerRequest request, std::string_view message,
                         flow::UnitOfWork& unit_of_work) {
  TimerWork& work = TimerWork::of(*this, unit_of_work);
  const bool overwrites = request.allows_overwrite || work.is_cancelled(request);
  std::optional<StoredRequest> former;
  Status status;
  net::run_blocking([&] {
    Result<std::optional<StoredRequest>> stored = store_->put(request, message, overwrites);
    if (stored.ok()) {
      former = std::move(stored).take_value();
    } else {
      status = std::move(stored).take_status();
    }
  });
  if (!status.ok()) {
    const base::ErrorCode* code = status.error().code;
    if (code == &errors::kRequestExists || code == &errors::kTooManyRequests) return status;
    return store_error(request.name, "stored", std::move(status));
  }
  work.note_set(std::move(request), std::move(former));
  return {};
}

void TimerService::cancel(const std::string& timer, const std::string& name,
                          flow::UnitOfWork& unit_of_work) {
  TimerWork::of(*this, unit_of_work).note_cancel(timer, name);
}

}  // namespace millstream::nodes::timer
