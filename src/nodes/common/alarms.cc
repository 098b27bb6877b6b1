#include "nodes/common/alarms.h"

#include <algorithm>
#include <vector>

#include "base/clock.h"

namespace millstream::nodes::common {

Alarms::~Alarms() { detach(); }

void Alarms::attach(net::ReactorPool& reactors) {
  {
    std::lock_guard lock(mutex_);
    reactors_ = &reactors;
    home_ = &reactors.reactor(0);
    timer_.owner = this;
    timer_.fire = &on_timer;
  }
  post_look();
}

void Alarms::detach() {
  net::ReactorPool* reactors = nullptr;
  {
    std::lock_guard lock(mutex_);
    reactors = std::exchange(reactors_, nullptr);
  }
  if (!reactors) return;
  // Looks that were posted before this run before it.
  reactors->run_on(0, [this] { home_->cancel(timer_); });
}

void Alarms::add(std::shared_ptr<Alarm> alarm) {
  {
    std::lock_guard lock(mutex_);
    const Alarm* key = alarm.get();
    entries_[key].alarm = std::move(alarm);
  }
  post_look();
}

void Alarms::remove(const Alarm* alarm) {
  std::shared_ptr<Alarm> last;  // its destructor runs outside of the lock
  std::lock_guard lock(mutex_);
  auto it = entries_.find(alarm);
  if (it == entries_.end()) return;
  last = std::move(it->second.alarm);
  entries_.erase(it);
}

void Alarms::changed(const Alarm* alarm) {
  {
    std::lock_guard lock(mutex_);
    auto it = entries_.find(alarm);
    if (it == entries_.end()) return;
    it->second.must_ask = true;
  }
  post_look();
}

size_t Alarms::size() const {
  std::lock_guard lock(mutex_);
  return entries_.size();
}

void Alarms::post_look() {
  net::Reactor* home = nullptr;
  {
    std::lock_guard lock(mutex_);
    if (!reactors_ || is_look_posted_) return;
    is_look_posted_ = true;
    home = home_;
  }
  home->post([this] { look(); });
}

void Alarms::on_timer(net::Timer& timer) { static_cast<Alarms*>(timer.owner)->look(); }

void Alarms::look() {
  std::vector<std::pair<std::shared_ptr<Alarm>, int64_t>> due;
  net::ReactorPool* reactors = nullptr;
  {
    std::lock_guard lock(mutex_);
    is_look_posted_ = false;
    if (!reactors_) return;
    reactors = reactors_;
    const int64_t now = base::system_clock().wall_gmt_micros();
    const std::optional<int64_t> next = take_due(now, due);
    if (next) {
      const bool is_far = base::system_clock().wall_may_jump() && *next - now >= kRecheckNs / 1000;
      const int64_t wait_ns = is_far ? kRecheckNs : (*next - now) * 1000;
      home_->arm(timer_, home_->refresh_now() + wait_ns);
    } else {
      home_->cancel(timer_);
    }
  }
  // Without the lock: the fiber may run at once. detach() waits for this to end.
  for (auto& [alarm, at] : due) {
    reactors->next().spawn([this, alarm = std::move(alarm), at = at] { ring(alarm, at); });
  }
}

// Asks what has to be asked; what is due goes to `due`. Returns when to look again.
std::optional<int64_t> Alarms::take_due(
    int64_t now, std::vector<std::pair<std::shared_ptr<Alarm>, int64_t>>& due) {
  std::optional<int64_t> next;
  for (auto& [key, entry] : entries_) {
    if (entry.is_ringing) continue;
    if (entry.must_ask) {
      entry.must_ask = false;
      entry.due = entry.alarm->next_due(now);
    }
    if (!entry.due) continue;
    if (*entry.due > now) {
      next = std::min(next.value_or(*entry.due), *entry.due);
      continue;
    }
    entry.is_ringing = true;
    due.emplace_back(entry.alarm, *entry.due);
  }
  return next;
}

void Alarms::ring(const std::shared_ptr<Alarm>& alarm, int64_t due) {
  {
    std::lock_guard lock(mutex_);
    if (!reactors_ || entries_.find(alarm.get()) == entries_.end()) return;
  }
  alarm->ring(due);
  {
    std::lock_guard lock(mutex_);
    auto it = entries_.find(alarm.get());
    if (it == entries_.end()) return;
    it->second.is_ringing = false;
    it->second.must_ask = true;
  }
  post_look();
}

}  // namespace millstream::nodes::common
