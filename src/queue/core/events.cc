#include "queue/core/events.h"

#include "queue/core/name_resolution.h"
#include "queue/core/queue_manager.h"

namespace millstream::queue {
namespace {

namespace reason = mqi::reason;

constexpr int32_t kQueueManagerEvent = 44;  // MQCMD_Q_MGR_EVENT
constexpr int32_t kPerformanceEvent = 45;   // MQCMD_PERFM_EVENT
constexpr int32_t kQueueManagerActive = 2222, kQueueManagerNotActive = 2223;
constexpr size_t kNameBytes = 48, kUserBytes = 12, kApplicationBytes = 28;

// One MQCFH and its parameters, in this machine's byte order.
class PcfWriter {
 public:
  void text(int32_t parameter, std::string_view value, size_t length) {
    constexpr int32_t kString = 4;  // MQCFT_STRING
    size_t padded = (length + 3) / 4 * 4;
    number(kString);
    number(static_cast<int32_t>(20 + padded));
    number(parameter);
    number(ccsid_);
    number(static_cast<int32_t>(length));
    value = value.substr(0, length);
    body_ += value;
    body_.append(length - value.size(), ' ');
    body_.append(padded - length, '\0');
    ++count_;
  }
  void integer(int32_t parameter, int64_t value) {
    constexpr int32_t kInteger = 3;  // MQCFT_INTEGER
    number(kInteger);
    number(16);
    number(parameter);
    number(static_cast<int32_t>(std::min<int64_t>(value, INT32_MAX)));
    ++count_;
  }
  void name(int32_t parameter, std::string_view value) {
    if (!value.empty()) text(parameter, value, kNameBytes);
  }
  std::string finish(int32_t command, int32_t event_reason) {
    std::string parameters = std::exchange(body_, std::string());
    // Type event, length, version, command, number, the last one, warning, reason, parameters.
    for (int32_t v : {7, 36, 1, command, 1, 1, mqi::cc::kWarning, event_reason, count_}) number(v);
    return body_ + parameters;
  }
  explicit PcfWriter(int32_t ccsid) : ccsid_(ccsid) {}

 private:
  void number(int32_t v) { body_.append(reinterpret_cast<const char*>(&v), 4); }
  int32_t ccsid_;
  int32_t count_ = 0;
  std::string body_;
};

bool event_is_remote(int32_t code) {
  return code == reason::kUnknownRemoteQMgr || code == reason::kXmitQTypeError ||
         code == reason::kXmitQUsageError || code == 2184 ||
         (code >= reason::kUnknownXmitQ && code <= reason::kDefXmitQUsageError);
}

}  // namespace

bool wants_event(const QueueManagerSettings& settings, int32_t code) {
  switch (code) {
    case reason::kGetInhibited:
    case reason::kPutInhibited:
      return settings.reports_inhibited;
    case reason::kNotAuthorized:
      return settings.reports_authority;
    case reason::kAliasBaseQTypeError:
    case reason::kUnknownAliasBaseQ:
    case reason::kUnknownObjectName:
      return settings.reports_local;
    case kQueueManagerActive:
    case kQueueManagerNotActive:
      return settings.reports_start_stop;
    default:
      return settings.reports_remote && event_is_remote(code);
  }
}

void QueueManager::report(const ManagerEvent& event) {
  if (!wants_event(settings(), event.reason)) return;
  PcfWriter out(settings().ccsid);
  out.name(2015, name());                                        // MQCA_Q_MGR_NAME
  if (event.qualifier != 0) out.integer(1020, event.qualifier);  // MQIACF_REASON_QUALIFIER
  out.name(2016, event.queue);                                   // MQCA_Q_NAME
  if (!event.topic.empty()) out.text(2094, event.topic, event.topic.size());  // MQCA_TOPIC_STRING
  out.name(2002, event.base_queue);                                           // MQCA_BASE_Q_NAME
  out.name(2024, event.transmission_queue);                                   // MQCA_XMIT_Q_NAME
  if (event.open_options != 0) out.integer(1022, event.open_options);         // MQIACF_OPEN_OPTIONS
  if (event.reason == reason::kNotAuthorized) {
    out.text(3025, event.user, kUserBytes);  // MQCACF_USER_IDENTIFIER
  }
  if (event.application_type != 0) {
    out.integer(1, event.application_type);                // MQIA_APPL_TYPE
    out.text(3024, event.application, kApplicationBytes);  // MQCACF_APPL_NAME
  }
  out.name(3023, event.object_manager);  // MQCACF_OBJECT_Q_MGR_NAME
  put_event("SYSTEM.ADMIN.QMGR.EVENT", out.finish(kQueueManagerEvent, event.reason));
}

void QueueManager::report(const Effects::QueueEvent& event) {
  PcfWriter out(settings().ccsid);
  out.name(2015, name());
  out.name(2002, event.queue);
  out.integer(35, event.seconds);     // MQIA_TIME_SINCE_RESET
  out.integer(36, event.high_depth);  // MQIA_HIGH_Q_DEPTH
  out.integer(37, event.puts);        // MQIA_MSG_ENQ_COUNT
  out.integer(38, event.gets);        // MQIA_MSG_DEQ_COUNT
  put_event("SYSTEM.ADMIN.PERFM.EVENT", out.finish(kPerformanceEvent, event.reason));
}

void QueueManager::put_event(const char* queue, std::string body) {
  Resolved to;
  if (store_ == nullptr || !resolve_queue(*this, queue, {}, false, to).is_ok()) return;
  MessageRef message = Message::create();
  mqi::MessageDescriptor& md = message->md;
  md.format = "MQEVENT";
  md.ccsid = settings().ccsid;
  md.priority = to.default_priority;
  md.persistence = to.default_persistent ? mqi::kPersistent : mqi::kNotPersistent;
  md.put_appl_type = mqi::at::kQueueManager;
  md.put_appl_name = std::string_view(name());
  mqi::format_put_time(now_gmt_micros(), md.put_date, md.put_time);
  make_message_id(md.message_id);
  message->body = Body::adopt(std::move(body));
  UnitOfWork unit;
  UnitPut put;
  if (!make_manager_put(*this, to, std::move(message), put).is_ok()) return;
  unit.puts.push_back(std::move(put));
  run_detached(std::move(unit));
}

}  // namespace millstream::queue
