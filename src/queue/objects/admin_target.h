// What MQSC, the REST API and the commands ask of a queue manager, and the core implements.
//
// A target is one queue manager seen by one user: whoever makes it has bound the identity whose
// authority is checked (2035 with the rule that refused as the insert).
//
// - Reading is a snapshot and returns at once. What status a queue manager does not keep is left at
//   the "unknown" value that the member says.
// - Changing ends in `done`, once, when the change is durable; inline or later on the target's
//   executor. The caller keeps everything it passed alive by value.
// - Results are MQI completion and reason codes (PCF reasons from 3000 on for what the MQI has no
//   code for, reason:: below) and what the message text names.
// Values of definitions are checked against the records before; the target checks what depends on
// its state: existence (2085, 2100), use (2042), emptiness (2055), authority (2035), references.
// Thread: any.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "queue/objects/authority.h"
#include "queue/objects/catalogue.h"
#include "queue/objects/channel_auth.h"
#include "queue/objects/definition.h"

namespace millstream::queue::objects {

// Beside mqi/reasons.h: MQRCCF_* codes of administration.
namespace reason {
constexpr int32_t kCommandFailed = 3008;
constexpr int32_t kChannelStatusNotFound = 3065;
constexpr int32_t kSubscriptionExists = 3154;
constexpr int32_t kListenerRunning = 3249;
constexpr int32_t kServiceRunning = 3251;
constexpr int32_t kServiceNotRunning = 3253;
constexpr int32_t kListenerNotRunning = 3268;
constexpr int32_t kSyntax = 3014;  // a parameter is not known
constexpr int32_t kUnsupported = 3170;
constexpr int32_t kNothingFound = 3200;
constexpr int32_t kObjectOpen = 4004;
constexpr int32_t kWrongType = 4002;
constexpr int32_t kChannelInUse = 4031;
constexpr int32_t kChannelNotFound = 4032;
constexpr int32_t kConnectionClosed = 4017;
constexpr int32_t kPingFailed = 4030;
constexpr int32_t kChannelNotActive = 4064;
}  // namespace reason

struct AdminResult {
  int32_t completion = 0;            // MQCC: 0 ok, 1 warning, 2 failed
  int32_t reason = 0;                // MQRC or MQRCCF
  std::vector<std::string> inserts;  // {0}: the object or what else the message names; {1}: why
  bool ok() const { return completion != 2; }
  static AdminResult failed(int32_t reason, std::vector<std::string> inserts = {}) {
    return {2, reason, std::move(inserts)};
  }
};
using AdminDone = std::function<void(AdminResult)>;

// Times are GMT in milliseconds since 1970; 0 is "never".
struct QueueStatus {
  std::string queue;
  int64_t depth = 0;
  int32_t inputs = 0;   // IPPROCS
  int32_t outputs = 0;  // OPPROCS
  bool has_monitoring = false;
  int64_t last_get_gmt_ms = 0;
  int64_t last_put_gmt_ms = 0;
  int64_t oldest_age_s = -1;   // -1: not known or empty
  int64_t time_short_us = -1;  // QTIME
  int64_t time_long_us = -1;
  int64_t uncommitted = 0;
  int64_t bytes = 0;  // of bodies and headers
};

enum class HandleInput : uint8_t { kNo, kShared, kExclusive };
struct HandleStatus {
  std::string object;
  ObjectFamily family = ObjectFamily::kQueue;
  HandleInput input = HandleInput::kNo;
  bool is_browse = false;
  bool is_inquire = false;
  bool is_output = false;
  bool is_set = false;
  bool is_waiting = false;  // HSTATE ACTIVE: in a call, or a consumer
  int32_t open_options = 0;
  std::string topic;  // TOPICSTR when it is one
};
struct ConnectionStatus {
  std::string id;                         // 24 bytes: EXTCONN is the first 16, CONN the last 8
  std::string application;                // APPLTAG
  std::string application_type = "USER";  // APPLTYPE
  std::string description;                // APPLDESC
  int64_t process_id = 0;
  int64_t thread_id = 0;
  std::string user;
  std::string channel;
  std::string address;  // CONNAME
  std::string client_id;
  int32_t connect_options = 0;
  std::string connection_tag;
  int64_t unit_started_gmt_ms = 0;  // of the unit of work that is open
  bool has_unit = false;            // with changes
  bool is_prepared = false;
  std::string xid;  // external units: printable
  std::vector<HandleStatus> handles;
};
struct ChannelStatus {
  std::string channel;
  ChannelType type = ChannelType::kSvrconn;
  std::string address;
  std::string status = "RUNNING";
  std::string substate;
  std::string remote_manager;
  std::string transmission_queue;
  std::string user;
  std::string remote_application;  // RAPPLTAG
  std::string remote_product;
  std::string cipher;
  std::string peer_name;
  std::string job;
  std::string local_address;
  int64_t messages = 0;
  int64_t bytes_sent = 0;
  int64_t bytes_received = 0;
  int64_t buffers_sent = 0;
  int64_t buffers_received = 0;
  int64_t started_gmt_ms = 0;
  int64_t last_message_gmt_ms = 0;
  int32_t heartbeat_s = 0;
  int32_t conversations = 0;      // CURSHCNV
  int32_t conversations_max = 0;  // MAXSHCNV
  bool is_stop_requested = false;
};
struct ListenerStatus {
  std::string listener;
  std::string status = "RUNNING";
  std::string address;
  int32_t port = 0;
  int32_t backlog = 0;
  int64_t process_id = 0;
  int64_t started_gmt_ms = 0;
  ListenerControl control = ListenerControl::kManual;
  std::string description;
};
struct ServiceStatus {
  std::string service;
  std::string status;
  int64_t process_id = 0;
  int64_t started_gmt_ms = 0;
};
struct ManagerStatus {
  std::string status = "RUNNING";
  int64_t connections = 0;
  int64_t started_gmt_ms = 0;
  std::string data_path;
  std::string journal_path;
  int64_t journal_bytes = 0;
  int64_t journal_bytes_max = 0;
  int64_t checkpoints = 0;
  bool is_command_server_running = true;
  bool is_channel_initiator_running = false;
  std::string host;
};
struct TopicStatus {
  std::string topic;
  std::string object;  // ADMIN: the topic object of this node
  TopicAttributes resolved;
  bool has_retained = false;
  int64_t publishers = 0;
  int64_t subscriptions = 0;
};
struct SubscriptionStatus {
  std::string subscription;
  std::string id;  // 24 bytes
  std::string user;
  std::string topic;
  SubscriptionDurable durable = SubscriptionDurable::kYes;
  SubscriptionType origin = SubscriptionType::kAdmin;
  bool is_active = false;
  std::string connection_id;
  int64_t messages = 0;
  int64_t last_message_gmt_ms = 0;
  int64_t resumed_gmt_ms = 0;
};
struct PublishStatus {
  std::string status = "ACTIVE";
  int64_t topics = 0;
  int64_t subscriptions = 0;
};

enum class ControlVerb : uint8_t { kStart, kStop, kReset, kResolve, kPing, kRefresh };
enum class ControlObject : uint8_t {
  kChannel,
  kListener,
  kService,
  kConnection,  // STOP CONN: `name` are the 24 bytes
  kManager,     // PING, RESET, REFRESH QMGR
  kSecurity,    // REFRESH SECURITY
  kCluster,
};
// What is not given is empty, or -1.
struct ControlRequest {
  ControlVerb verb = ControlVerb::kStart;
  ControlObject object = ControlObject::kChannel;
  std::string name;
  std::string mode;     // QUIESCE, FORCE, TERMINATE
  std::string status;   // STOPPED, INACTIVE
  std::string type;     // of REFRESH and RESET
  std::string action;   // COMMIT, BACKOUT of RESOLVE
  std::string address;  // CONNAME
  std::string manager;  // QMNAME
  int64_t sequence = -1;
  int64_t data_bytes = -1;
  bool ignores_state = false;  // IGNSTATE(YES): started or stopped already is fine
};

struct EraseOptions {
  bool is_purge = false;           // delete the messages with the queue
  bool erases_authorities = true;  // AUTHREC(YES): records of exactly this name
};

// Who runs channels and listeners of a queue manager. Names are exact, patterns generic names.
class ChannelHost {
 public:
  virtual ~ChannelHost() = default;
  virtual std::vector<ChannelStatus> channel_status(std::string_view pattern) const = 0;
  virtual std::vector<ListenerStatus> listener_status(std::string_view pattern) const = 0;
  // START, STOP and the like of channels and listeners, as AdminTarget::control().
  virtual void control(ControlRequest request, AdminDone done) = 0;
};

class AdminTarget {
 public:
  virtual ~AdminTarget() = default;
  virtual std::string manager_name() const = 0;

  // Definitions; the queue manager's own is in ObjectFamily::kQmgr under manager_name().
  virtual const Catalogue& catalogue() const = 0;
  // Makes the object; 2100 (3154) when there is one in the family and not `is_replace`. With it the
  // attributes are replaced and the messages stay; 4002 when the one there has another type.
  virtual void define(Definition definition, bool is_replace, AdminDone done) = 0;
  // `seen` is what `changed` was made from: 2041 when it is not the current one any more (read it
  // again and repeat). 4004 when it is in use and the change needs FORCE.
  virtual void alter(DefinitionPtr seen, Definition changed, bool is_force, AdminDone done) = 0;
  virtual void erase(ObjectFamily family, std::string name, EraseOptions options,
                     AdminDone done) = 0;
  virtual void clear_queue(std::string queue, AdminDone done) = 0;
  virtual void clear_retained(std::string topic, AdminDone done) = 0;  // CLEAR TOPICSTR
  // Moves messages in one unit of work after another; {0} of the result is how many.
  virtual void move_messages(std::string from, std::string to, AdminDone done) = 0;

  // Status; `pattern` is a name or generic name.
  virtual std::vector<QueueStatus> queue_status(std::string_view pattern) const = 0;
  virtual std::vector<ConnectionStatus> connections() const = 0;
  virtual std::vector<ChannelStatus> channel_status(std::string_view pattern) const = 0;
  virtual std::vector<ListenerStatus> listener_status(std::string_view pattern) const = 0;
  virtual std::vector<ServiceStatus> service_status(std::string_view pattern) const = 0;
  virtual ManagerStatus manager_status() const = 0;
  // Nodes of the tree: `pattern` is a topic string, with `+` and `#`.
  virtual std::vector<TopicStatus> topic_status(std::string_view pattern) const = 0;
  virtual std::vector<SubscriptionStatus> subscription_status(std::string_view pattern) const = 0;
  virtual PublishStatus publish_status() const = 0;

  virtual const AuthorityTable& authorities() const = 0;
  virtual void set_authority(AuthorityRecord record, AdminDone done) = 0;  // adds or replaces
  virtual void erase_authority(std::string key, AdminDone done) = 0;       // 2085
  virtual const ChannelAuthTable& channel_auth() const = 0;
  virtual void set_channel_auth(ChannelAuthRule rule, AdminDone done) = 0;
  virtual void erase_channel_auth(std::string key, AdminDone done) = 0;  // 2085

  // START, STOP, RESET, RESOLVE, PING, REFRESH; 3170 with the reason for what makes no sense here.
  virtual void control(ControlRequest request, AdminDone done) = 0;

  // Scripts that were applied, by name: the hash of the content. Empty: never.
  virtual std::string applied_script(std::string_view name) const = 0;
  virtual void set_applied_script(std::string name, std::string hash, AdminDone done) = 0;
};

}  // namespace millstream::queue::objects
