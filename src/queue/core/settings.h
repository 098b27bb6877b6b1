// What the queue manager needs to know of its objects while messages flow, as typed fields that are
// cheap to read. They are made from definitions (queue/objects) when an object is defined or
// altered; names follow MQSC's keywords.
// Thread: plain data.
#pragma once
#include <cstdint>
#include <string>

#include "mqi/properties.h"

namespace millstream::queue {

enum class TriggerType : uint8_t { kNone, kFirst, kEvery, kDepth };
enum class DynamicKind : uint8_t { kPredefined, kTemporary, kPermanent };

enum class ServiceEvent : uint8_t { kNone, kHigh, kOk };

// Which events of a queue are reported (events.h), while PERFMEV is on.
struct EventSettings {
  uint8_t high_percent = 80;  // of MAXDEPTH
  uint8_t low_percent = 20;
  bool reports_high = false;
  bool reports_low = false;
  bool reports_full = true;
  ServiceEvent service = ServiceEvent::kNone;
  uint32_t service_interval_ms = 999'999'999;
};

// QLOCAL, and what a QMODEL gives its queues.
struct QueueSettings {
  std::string description;
  bool inhibits_put = false;
  bool inhibits_get = false;
  uint8_t default_priority = 0;
  bool default_persistent = false;
  bool is_fifo = false;  // MSGDLVSQ
  bool is_shareable = true;
  bool default_shared = true;    // DEFSOPT
  bool is_transmission = false;  // USAGE
  bool hardens_backout = true;   // HARDENBO: the count is kept either way
  uint32_t depth_max = 5000;
  uint32_t message_bytes_max = 4u << 20;
  uint32_t backout_threshold = 0;
  std::string backout_queue;
  bool is_triggered = false;  // TRIGGER
  TriggerType trigger_type = TriggerType::kFirst;
  uint8_t trigger_priority = 0;
  uint32_t trigger_depth = 1;
  std::string trigger_data;
  std::string process;
  std::string initiation_queue;
  mqi::PropertyControl property_control = mqi::PropertyControl::kCompat;
  int32_t expiry_cap = -1;  // CAPEXPRY in tenths of seconds; -1: none
  DynamicKind dynamic = DynamicKind::kPredefined;
  EventSettings events;
};

// QALIAS.
struct AliasSettings {
  std::string target;
  bool targets_topic = false;
  bool inhibits_put = false;
  bool inhibits_get = false;
  uint8_t default_priority = 0;
  bool default_persistent = false;
  mqi::PropertyControl property_control = mqi::PropertyControl::kCompat;
  int32_t expiry_cap = -1;
};

// QREMOTE.
struct RemoteSettings {
  std::string remote_queue;
  std::string remote_queue_manager;
  std::string transmission_queue;
  bool inhibits_put = false;
  uint8_t default_priority = 0;
  bool default_persistent = false;
  int32_t expiry_cap = -1;
};

struct ProcessSettings {
  int32_t application_type = 6;
  std::string application_id;
  std::string environment_data;
  std::string user_data;
};

struct QueueManagerSettings {
  std::string name = "QM1";
  std::string dead_letter_queue;
  std::string default_transmission_queue;
  uint32_t message_bytes_max = 4u << 20;
  uint32_t uncommitted_max = 10'000;           // MAXUMSGS
  uint32_t handles_max = 256;                  // MAXHANDS
  uint32_t trigger_interval_ms = 999'999'999;  // TRIGINT
  int32_t mark_browse_ms = 5000;               // MARKINT; -1: for ever
  int32_t ccsid = 1208;
  // Events (events.h).
  bool reports_authority = false;
  bool reports_inhibited = false;
  bool reports_local = false;
  bool reports_remote = false;
  bool reports_start_stop = true;
  bool reports_performance = false;
  bool creates_unknown_queues = false;  // from the default model queue, for development
};

}  // namespace millstream::queue
