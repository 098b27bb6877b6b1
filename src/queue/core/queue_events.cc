// Which puts and gets of a queue are events: depth high, low and full, and the service interval.
// An event that was reported is not again before its opposite was, so that a queue that stays full
// does not flood the event queue.
#include "queue/core/queue.h"

namespace millstream::queue {
namespace {

constexpr int64_t kNsPerMs = 1'000'000;

}  // namespace

void Queue::arm_events(const EventSettings& before) {
  const EventSettings& now = settings_.events;
  if (now.reports_high && !before.reports_high) events_.is_high_armed = true;
  if (now.reports_low && !before.reports_low) events_.is_low_armed = true;
  if (now.reports_full && !before.reports_full) events_.is_full_armed = true;
  if (now.service != before.service) {
    events_.service = now.service;
    events_.service_from_ns = 0;
  }
}

void Queue::add_event(int32_t reason, Effects& effects) {
  int64_t now = clock_.monotonic_ns();
  effects.events.push_back({reason, name_, (now - events_.reset_ns) / (1000 * kNsPerMs),
                            events_.high_depth, events_.puts, events_.gets});
  events_.reset_ns = now;
  events_.puts = events_.gets = 0;
  events_.high_depth = depth();
}

void Queue::note_put(Effects& effects) {
  ++statistics.puts;
  if (!reports_events) return;
  ++events_.puts;
  events_.high_depth = std::max(events_.high_depth, depth());
  note_service(false, effects);
  uint64_t high = uint64_t{settings_.depth_max} * settings_.events.high_percent / 100;
  if (!settings_.events.reports_high || !events_.is_high_armed || depth() < high) return;
  events_.is_high_armed = false;
  events_.is_low_armed = events_.is_full_armed = true;
  add_event(mqi::reason::kQDepthHigh, effects);
}

void Queue::note_get(Effects& effects) {
  ++statistics.gets;
  if (!reports_events) return;
  ++events_.gets;
  note_service(true, effects);
  uint64_t low = uint64_t{settings_.depth_max} * settings_.events.low_percent / 100;
  if (!settings_.events.reports_low || !events_.is_low_armed || depth() > low) return;
  events_.is_low_armed = false;
  events_.is_high_armed = events_.is_full_armed = true;
  add_event(mqi::reason::kQDepthLow, effects);
}

void Queue::note_full(Effects& effects) {
  if (!reports_events || !settings_.events.reports_full || !events_.is_full_armed) return;
  events_.is_full_armed = events_.is_high_armed = false;
  events_.is_low_armed = true;
  add_event(mqi::reason::kQFull, effects);
}

// From the put into an empty queue, or the last get, to the next get.
void Queue::note_service(bool is_get, Effects& effects) {
  if (events_.service == ServiceEvent::kNone) return;
  int64_t now = clock_.monotonic_ns();
  int64_t& from = events_.service_from_ns;
  if (from != 0) {
    bool is_late = now - from > int64_t{settings_.events.service_interval_ms} * kNsPerMs;
    if (is_late && events_.service == ServiceEvent::kHigh) {
      events_.service = ServiceEvent::kOk;
      add_event(mqi::reason::kQServiceIntervalHigh, effects);
    } else if (!is_late && is_get && events_.service == ServiceEvent::kOk) {
      events_.service = ServiceEvent::kHigh;
      add_event(mqi::reason::kQServiceIntervalOk, effects);
    }
  }
  if (is_get) {
    from = depth() > 0 ? now : 0;
  } else if (from == 0) {
    from = now;
  }
}

}  // namespace millstream::queue
