// MQTT control packets, read and written. Reading is strict: reserved flags and bits, lengths that
// do not add up, text that is not UTF-8 or has U+0000, properties that do not belong, all end with
// the reason code that MQTT 5 gives it (older versions only close).
// What needs a session to judge (quality of service 2 answers, aliases) is not judged here.
//
// Thread: any. Views are of the bytes that were read.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "wire/mqtt/properties.h"
#include "wire/mqtt/words.h"

namespace millstream::wire::mqtt {

struct Frame {
  PacketType type = PacketType::kReserved;
  uint8_t flags = 0;
  size_t size = 0;        // of the whole packet
  std::string_view body;  // behind the fixed header
};
enum class FrameState : uint8_t { kWhole, kIncomplete, kBad };
// The first packet in `bytes`. kIncomplete: `frame.size` is the packet's when its header is there,
// else 0. kBad: `reason` says why (malformed, or larger than `packet_bytes_max`, which is found as
// soon as the header is there).
FrameState read_frame(std::string_view bytes, uint32_t packet_bytes_max, Frame& frame,
                      Reason& reason);

struct Will {
  std::string_view topic;
  std::string_view payload;
  uint8_t qos = 0;
  bool is_retained = false;
  Properties properties;
};

struct ConnectPacket {
  Version version = Version::kUnknown;
  bool is_clean = false;
  uint16_t keep_alive_s = 0;
  std::string_view client_id;
  bool has_will = false;
  bool has_user = false;
  bool has_password = false;
  Will will;
  std::string_view user;
  std::string_view password;
  Properties properties;
};

struct ConnackPacket {
  bool is_session_present = false;
  uint8_t code = 0;  // a Reason, or a ConnectReturn
  Properties properties;
};

struct PublishPacket {
  bool is_duplicate = false;
  uint8_t qos = 0;
  bool is_retained = false;
  std::string_view topic;
  uint16_t packet_id = 0;
  Properties properties;
  std::string_view payload;
};

// PUBACK, PUBREC, PUBREL, PUBCOMP.
struct AckPacket {
  uint16_t packet_id = 0;
  Reason reason = Reason::kSuccess;
  Properties properties;
};

struct FilterOptions {
  uint8_t qos = 0;
  bool no_local = false;
  bool retain_as_published = false;
  uint8_t retain_handling = 0;  // 0 send, 1 when it is new, 2 do not
  bool operator==(const FilterOptions&) const = default;
};
uint8_t encode_options(const FilterOptions& options);
std::optional<FilterOptions> decode_options(uint8_t byte, Version version);

// SUBSCRIBE and UNSUBSCRIBE; next_filter() goes through what was checked.
struct SubscribePacket {
  uint16_t packet_id = 0;
  Properties properties;
  size_t filter_count = 0;
  std::string_view filters;  // what is left to read
};
bool next_filter(SubscribePacket& packet, Version version, std::string_view& filter,
                 FilterOptions& options);
bool next_filter(SubscribePacket& packet, std::string_view& filter);  // of an UNSUBSCRIBE

// SUBACK and UNSUBACK.
struct SubackPacket {
  uint16_t packet_id = 0;
  Properties properties;
  std::string_view codes;  // a byte a filter; of an UNSUBACK before version 5 none
};

// DISCONNECT and AUTH.
struct ReasonPacket {
  Reason reason = Reason::kSuccess;
  Properties properties;
};

// A packet of each kind; kSuccess or why it is refused.
[[nodiscard]] Reason read_connect(const Frame& frame, ConnectPacket& out);
[[nodiscard]] Reason read_connack(const Frame& frame, Version version, ConnackPacket& out);
[[nodiscard]] Reason read_publish(const Frame& frame, Version version, PublishPacket& out);
[[nodiscard]] Reason read_ack(const Frame& frame, Version version, AckPacket& out);
[[nodiscard]] Reason read_subscribe(const Frame& frame, Version version, SubscribePacket& out);
[[nodiscard]] Reason read_suback(const Frame& frame, Version version, SubackPacket& out);
[[nodiscard]] Reason read_disconnect(const Frame& frame, Version version, ReasonPacket& out);
[[nodiscard]] Reason read_auth(const Frame& frame, Version version, ReasonPacket& out);
// PINGREQ and PINGRESP.
[[nodiscard]] Reason read_empty(const Frame& frame);

}  // namespace millstream::wire::mqtt
