// Events as IBM MQ has them: PCF messages (format MQEVENT) on SYSTEM.ADMIN.QMGR.EVENT and
// SYSTEM.ADMIN.PERFM.EVENT, when the attributes of the queue manager and the queue say so. Whoever
// monitors reads those queues; an event that its queue does not take is dropped.
//
//   QMGR.EVENT   INHIBTEV  2016, 2051      AUTHOREV  2035 of connect, open, close and subscribe
//                LOCALEV   2001, 2082, 2085            REMOTEEV  2087, 2091, 2092, 2184 to 2199
//                STRSTPEV  2222, 2223
//   PERFM.EVENT  PERFMEV with QDPMAXEV 2053, QDPHIEV 2224, QDPLOEV 2225, QSVCIEV 2226, 2227
// Thread: any; with no queue locked.
#pragma once
#include <cstdint>
#include <string>

namespace millstream::queue {

struct QueueManagerSettings;

// Why a 2035 is (MQRQ_).
namespace event_reason {
inline constexpr int32_t kConnect = 1, kOpen = 2, kClose = 3, kStopping = 5, kSubscribe = 17,
                         kSubscribeDestination = 18;
}  // namespace event_reason

struct ManagerEvent {
  int32_t reason = 0;
  int32_t qualifier = 0;
  std::string queue;
  std::string topic;
  std::string object_manager;
  std::string base_queue;
  std::string transmission_queue;
  std::string user;
  std::string application;
  int32_t application_type = 0;
  int32_t open_options = 0;
};

// Whether anybody wants to know of a call that ended with `reason`.
bool wants_event(const QueueManagerSettings& settings, int32_t reason);

}  // namespace millstream::queue
