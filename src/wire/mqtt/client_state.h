// What is kept of an MQTT client between its connections: subscriptions, its queue, packet
// identifiers of quality of service 2 that are not done, its will. With a session expiry it is
// durable: a record of its own in the store (queue/core/client_records.h) and one for each such
// identifier, written in the same unit as the message that it belongs to.
//
// Thread: whoever owns the client (clients.h): the session that is connected, or the registry.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/result.h"
#include "queue/core/client_records.h"
#include "wire/mqtt/packets.h"

namespace millstream::wire::mqtt {

enum class SubscriptionKind : uint8_t { kTopic, kShared, kQueue };

struct ClientSubscription {
  std::string filter;  // as the client has it
  SubscriptionKind kind = SubscriptionKind::kTopic;
  FilterOptions options;  // `qos` is the granted one
  uint32_t id = 0;        // subscription identifier; 0: none
  std::string mark;       // correlation identifier of its publications on the client's queue
};

struct WillMessage {
  std::string topic;
  std::string payload;
  std::string properties;  // MQTT's bytes, without the delay
  uint8_t qos = 0;
  bool is_retained = false;
  bool has_properties = false;  // version 5
  uint32_t delay_s = 0;
  std::string user;
};

struct ClientState {
  std::string client_id;
  std::string user;
  bool is_new = true;  // nothing is there that a client could resume
  uint32_t session_expiry_s = 0;
  int64_t disconnected_gmt_ms = 0;  // 0: connected
  std::string queue;                // empty: none yet
  bool is_queue_permanent = false;
  std::map<std::string, ClientSubscription, std::less<>> subscriptions;
  // Quality of service 2: what came and was not released; what was received there and is released.
  std::set<uint16_t> received;
  std::set<uint16_t> released;
  // Sent on an earlier connection and not answered; not kept over a restart.
  std::set<uint16_t> sent;
  std::optional<WillMessage> will;
  int64_t will_due_gmt_ms = 0;  // 0: not to be sent (yet)
  bool is_stored = false;       // it has a record

  bool is_durable() const { return session_expiry_s > 0; }
  int64_t expires_gmt_ms() const {  // INT64_MAX: never; of one that is not connected
    if (session_expiry_s == kNeverExpires) return INT64_MAX;
    return disconnected_gmt_ms + int64_t{session_expiry_s} * 1000;
  }
  const ClientSubscription* find_mark(std::string_view mark) const;
};

// Records. Keys: kind, client identifier, a zero byte, a packet identifier.
inline constexpr std::string_view kRecordPrefix = "mqtt/";
enum class PacketIdKind : char { kReceived = 'r', kReleased = 's' };
std::string client_key(std::string_view client_id);
std::string packet_id_key(PacketIdKind kind, std::string_view client_id, uint16_t id);
queue::UnitRecord client_state_record(const ClientState& state);
// Adds what a key and its value say; false: they are not of this version, or damaged.
bool recover_client_record(std::string_view key, std::string_view value,
                           std::map<std::string, ClientState, std::less<>>& clients);

// The name of the queue manager's subscription: "MQTT/client/filter", with slashes of the client's
// identifier written %2F; "MQTT/$share/group/filter" of a shared one.
inline constexpr std::string_view kSubscriptionPrefix = "MQTT/";
std::string subscription_name(std::string_view client_id, std::string_view filter);
std::string shared_subscription_name(std::string_view filter);  // "$share/group/filter"

}  // namespace millstream::wire::mqtt
