// A timeout request: when a stored message is to come back. Read from the message tree as the
// product documents it (spec C6), and as it is stored.
// Thread: any.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "tree/element.h"
#include "value/time_zone.h"

namespace millstream::nodes::timer {

constexpr int64_t kForever = -1;              // as Count
constexpr int64_t kPassedGraceSeconds = 300;  // a start that long ago means now
constexpr size_t kIdentifierBytesMax = 4096;

enum class TimerAction : uint8_t { kSet, kCancel };

struct TimerRequest {
  TimerAction action = TimerAction::kSet;
  std::string timer;         // unique identifier of the nodes
  std::string name;          // Identifier of the request
  int64_t start_micros = 0;  // GMT, of the first event
  int64_t interval_s = 0;
  int64_t count = 1;  // events in all, or kForever
  bool ignores_missed = true;
  bool allows_overwrite = true;
  bool survives_restart = true;

  // State: which event comes next, 0 for the first.
  int64_t next_event = 0;
  int64_t generation = 0;  // of each SET another, so that a late event finds out it was replaced
  bool is_firing = false;  // begun, not known to have ended

  int64_t due_micros() const { return start_micros + next_event * interval_s * 1'000'000; }
  bool is_over() const { return count != kForever && next_event >= count; }
  int64_t events_left() const { return count == kForever ? kForever : count - next_event; }
  // To the first event that is due at `now` or later, or beyond the last one.
  void skip_missed(int64_t now_micros);
};

// `folder` is the TimeoutRequest element. Times are of `zone`; `now` is GMT.
Result<TimerRequest> read_timer_request(tree::Element* folder, const value::TimeZone& zone,
                                        int64_t now_micros);

// LocalEnvironment.TimeoutRequest of the message that an event sends; `event_micros` is when it was
// due.
void write_timer_request(tree::TreeContext& context, tree::Element* local_environment,
                         const TimerRequest& request, int64_t event_micros,
                         const value::TimeZone& zone);

}  // namespace millstream::nodes::timer
