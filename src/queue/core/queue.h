// One local queue: its index, its limits, who waits, who browses. Knows nothing of connections,
// names or the store: it says what it would have done outside of its lock in an Effects, and the
// caller does it after unlocking.
//
// A put has two steps: reserve() counts against MAXDEPTH when the call is made, publish() makes the
// message visible when its unit is durable. Between them the unit holds the message.
//
// Thread: everything that says "locked" under mutex(), which is never held over I/O. Several queues
// are locked in the order of their ids (LockedQueues).
#pragma once
#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/clock.h"
#include "queue/core/match.h"
#include "queue/core/outcome.h"
#include "queue/core/publication_route.h"
#include "queue/core/queue_index.h"
#include "queue/core/settings.h"
#include "queue/core/waiters.h"

namespace millstream::queue {

class Queue;
using QueueRef = std::shared_ptr<Queue>;

// What is to be done once no queue is locked.
struct Effects {
  struct Trigger {
    QueueRef queue;
    QueueSettings settings;
  };
  // An expired message that left: its get is still to be written, its report to be made.
  struct Expired {
    QueueRef queue;
    Sequence sequence;
  };
  // A message whose header says more than the index: when it is due, where in a group it stands.
  struct Read {
    QueueRef queue;
    Sequence sequence;
    Location location;
  };
  // For SYSTEM.ADMIN.PERFM.EVENT.
  struct QueueEvent {
    int32_t reason = 0;
    std::string queue;
    int64_t seconds = 0;  // since the event before
    uint32_t high_depth = 0;
    uint32_t puts = 0;
    uint32_t gets = 0;
  };
  std::vector<QueueEvent> events;
  std::vector<Read> reads;
  std::vector<std::pair<std::string, MessageRef>> retained;  // publications, by topic
  std::vector<DirectDelivery> direct;                        // publications that need no queue
  std::vector<Trigger> triggers;
  std::vector<Expired> expired;
  bool empty() const {
    return triggers.empty() && expired.empty() && reads.empty() && retained.empty() &&
           direct.empty() && events.empty();
  }
};

// A browse cursor. Registered with the queue while it is placed.
struct Cursor {
  bool is_placed = false;
  int lane = kLanes - 1;
  Sequence sequence = 0;  // go on behind this one
  Sequence under = 0;     // the message browsed last; 0: none, or it is gone
};

// Behind `sequence` of the lane; or, when a scan goes on after a read, at `resume_at`.
struct Position {
  int lane = kLanes - 1;
  Sequence sequence = 0;
  Sequence resume_at = 0;
};

// A message that was read for an operation, so that its scan can look at it.
struct Loaded {
  Sequence sequence = 0;
  MessageRef message;
};

struct QueueStatistics {
  uint64_t puts = 0;
  uint64_t gets = 0;
  int64_t last_put_gmt_micros = 0;
  int64_t last_get_gmt_micros = 0;
};

class Queue : public std::enable_shared_from_this<Queue> {
 public:
  Queue(QueueId id, std::string name, QueueSettings settings, const base::Clock& clock)
      : id_(id), name_(std::move(name)), clock_(clock), settings_(std::move(settings)) {
    events_.service = settings_.events.service;
    events_.reset_ns = clock.monotonic_ns();
  }
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;

  QueueId id() const { return id_; }
  const std::string& name() const { return name_; }
  std::mutex& mutex() { return mutex_; }

  // --- locked ---
  const QueueSettings& settings() const { return settings_; }
  // Inhibiting get tells those who wait (2016).
  void alter(QueueSettings settings);
  bool is_deleted() const { return is_deleted_; }
  void mark_deleted();

  // MAXDEPTH, MAXMSGL, PUT: what a put of so many bytes gets.
  Outcome check_put(uint64_t bytes) const;
  void reserve() { ++uncommitted_puts_; }
  void unreserve() { --uncommitted_puts_; }
  Sequence next_sequence() { return ++last_sequence_; }
  void set_last_sequence(Sequence sequence) {
    if (sequence > last_sequence_) last_sequence_ = sequence;
  }
  Sequence last_sequence() const { return last_sequence_; }
  // Makes a message visible: to the oldest waiter that wants it, else to all.
  Slot publish(const Entry& entry, const GroupPlace* place, Effects& effects);
  // At a start: offered to nobody; one that has expired meanwhile is left to the first sweep.
  void recover(const Entry& entry);
  // A locked one is available again, at its place.
  void release(Slot slot, Effects& effects);
  // queue_events.cc: a put became visible, a message was got, a put found the queue full.
  void note_put(Effects& effects);
  void note_get(Effects& effects);
  void note_full(Effects& effects);
  // For waiters, after settings or places have changed.
  void offer(Slot slot, Effects& effects);

  struct Found {
    Slot slot = kNoSlot;
    bool needs_message = false;  // whether it is one the scan cannot say without reading it
  };
  // The first message behind `from` in delivery order that matches; of an identifier the first at
  // all. Expired ones on the way leave into `effects`.
  Found find(const Matcher& matcher, Position from, const Loaded& loaded, uint64_t marker,
             Effects& effects);
  bool is_expired(const Entry& entry) const {
    return entry.expires_gmt_ms != 0 && entry.expires_gmt_ms <= clock_.wall_gmt_micros() / 1000;
  }
  // An expired message leaves; nobody sees it any more.
  void expire(Slot slot, Effects& effects);
  // Looks at up to `count` places of the index from `from` on; returns where to go on, 0 at the
  // end. `earliest`: the earliest expiry seen that has not passed.
  Slot sweep(Slot from, Slot count, int64_t& earliest, Effects& effects);
  // A trigger for what is there already: the last reader has closed, or a trigger monitor came.
  void reconsider_trigger(Effects& effects);
  // With get under cursor, lock and take, cursors of others stay valid.
  void lock(Slot slot, uint32_t owner);
  void leave(Slot slot);
  void erase(Slot slot);
  void place_cursor(Cursor& cursor, Slot slot);
  void reset_cursor(Cursor& cursor);
  GroupPlace place_of(Slot slot) const;
  // Of a message that was found at a start; whoever waits for its group looks again.
  void set_place(Sequence sequence, const GroupPlace& place);

  QueueIndex& index() { return index_; }
  const QueueIndex& index() const { return index_; }
  Waiters& waiters() { return waiters_; }
  // As CURDEPTH: with messages of open units.
  uint32_t depth() const {
    return static_cast<uint32_t>(index_.size() - leaving_) + uncommitted_puts_;
  }
  uint32_t uncommitted_puts() const { return uncommitted_puts_; }
  uint32_t locked() const { return index_.count_of(EntryState::kLocked); }
  // By units of work, also such that are in doubt, whose handles may be closed; or by a browser.
  bool has_locked() const { return locked() > 0; }
  // When the oldest message that is available was put; 0: not known without reading it.
  int64_t oldest_put_gmt_micros() const;
  void wake_all();

  // Cooperative and private marks of browsers.
  struct Mark {
    int64_t until_ns = 0;  // of the cooperative one; INT64_MAX: for ever
    uint64_t by = 0;       // the handle that made it
    bool is_cooperative = false;
    std::vector<uint64_t> handles;  // private ones
  };
  bool is_marked_for(Sequence sequence, uint64_t handle, bool is_cooperative, int64_t now_ns);
  std::unordered_map<Sequence, Mark>& marks() { return marks_; }

  QueueStatistics statistics;
  std::atomic<bool> reports_events{false};  // PERFMEV
  uint32_t open_input = 0;
  uint32_t open_output = 0;
  uint32_t open_browse = 0;
  bool is_exclusive = false;
  int64_t trigger_again_ns = INT64_MAX;  // TRIGINT after the last one a FIRST counts again
  Sequence trim_hand = 0;   // the last one that was looked at for memory to be given back
  uint64_t scan_steps = 0;  // entries looked at, for tests of complexity
  uint32_t expiring = 0;    // messages that have an expiry
  uint32_t other_cids = 0;  // that the index cannot find by their JMS correlation id

 private:
  struct EventState {
    bool is_high_armed = true;
    bool is_low_armed = true;
    bool is_full_armed = true;
    ServiceEvent service = ServiceEvent::kNone;
    int64_t service_from_ns = 0;  // 0: the queue is empty
    int64_t reset_ns = 0;         // what follows counts from here on
    uint32_t puts = 0;
    uint32_t gets = 0;
    uint32_t high_depth = 0;
  };
  void arm_events(const EventSettings& before);
  void add_event(int32_t reason, Effects& effects);
  void note_service(bool is_get, Effects& effects);
  void consider_trigger(const Entry& entry, Effects& effects);
  uint32_t available_from(uint8_t priority) const;
  Found find_by_identifier(const Matcher& matcher, Position from, const Loaded& loaded,
                           uint64_t marker, Effects& effects);
  Verdict verdict(const Matcher& matcher, Slot slot, const Loaded& loaded, uint64_t marker);
  void fix_cursors(Slot slot);

  const QueueId id_;
  const std::string name_;
  const base::Clock& clock_;
  std::mutex mutex_;
  QueueSettings settings_;
  EventState events_;
  QueueIndex index_;
  Waiters waiters_;
  std::vector<Cursor*> cursors_;
  std::unordered_map<Sequence, GroupPlace> places_;
  std::unordered_map<Sequence, Mark> marks_;
  Sequence last_sequence_ = 0;
  uint32_t uncommitted_puts_ = 0;
  uint32_t leaving_ = 0;
  bool is_deleted_ = false;
};

// Several queues locked in the order of their ids, each once.
class LockedQueues {
 public:
  void add(Queue* queue);
  void lock();
  void unlock();
  ~LockedQueues() { unlock(); }

 private:
  std::vector<Queue*> queues_;
  bool is_locked_ = false;
};

}  // namespace millstream::queue
