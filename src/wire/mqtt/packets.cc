#include "wire/mqtt/packets.h"

#include "wire/mqtt/topic_names.h"

namespace millstream::wire::mqtt {
namespace {

// Goes through a packet's body; a read that does not fit leaves `is_bad`.
class PacketReader {
 public:
  explicit PacketReader(std::string_view bytes) : rest_(bytes) {}
  uint8_t byte() { return static_cast<uint8_t>(number(1)); }
  uint16_t two() { return static_cast<uint16_t>(number(2)); }
  std::string_view bytes() {
    size_t size = number(2);
    return take(size);
  }
  std::string_view text() {
    std::string_view out = bytes();
    if (!is_mqtt_text(out)) is_bad = true;
    return out;
  }
  Reason properties(PropertyPlace place, Properties& out) {
    uint32_t size = 0;
    int length_bytes = read_varint(rest_, size);
    if (length_bytes <= 0) return Reason::kMalformedPacket;
    rest_.remove_prefix(static_cast<size_t>(length_bytes));
    std::string_view raw = take(size);
    return is_bad ? Reason::kMalformedPacket : out.read(raw, place);
  }
  std::string_view rest() const { return rest_; }
  bool at_end() const { return rest_.empty(); }
  Reason end() const {
    return is_bad || !rest_.empty() ? Reason::kMalformedPacket : Reason::kSuccess;
  }
  bool is_bad = false;

 private:
  uint32_t number(size_t size) {
    uint32_t value = 0;
    for (char c : take(size)) value = value << 8 | static_cast<uint8_t>(c);
    return value;
  }
  std::string_view take(size_t size) {
    if (size > rest_.size()) {
      is_bad = true;
      rest_ = {};
      return {};
    }
    std::string_view out = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return out;
  }
  std::string_view rest_;
};

// 2.1.3: which flags each type has.
bool has_right_flags(PacketType type, uint8_t flags) {
  switch (type) {
    case PacketType::kPublish:
      return (flags & 6) != 6 && ((flags & 6) != 0 || (flags & 8) == 0);
    case PacketType::kPubrel:
    case PacketType::kSubscribe:
    case PacketType::kUnsubscribe:
      return flags == 2;
    default:
      return flags == 0;
  }
}

Reason read_will(PacketReader& reader, uint8_t flags, ConnectPacket& out) {
  out.will.qos = flags >> 3 & 3;
  out.will.is_retained = (flags & 0x20) != 0;
  if (out.version == Version::k5) {
    if (Reason r = reader.properties(kWillProperties, out.will.properties); is_error(r)) return r;
  }
  out.will.topic = reader.text();
  out.will.payload = reader.bytes();
  if (reader.is_bad) return Reason::kMalformedPacket;
  return is_topic_name(out.will.topic) ? Reason::kSuccess : Reason::kTopicNameInvalid;
}

Reason check_authentication(const Properties& properties) {
  bool has_data = properties.has(PropertyId::kAuthenticationData);
  bool is_lone = has_data && !properties.has(PropertyId::kAuthenticationMethod);
  return is_lone ? Reason::kProtocolError : Reason::kSuccess;
}

// What comes behind the packet identifier and its properties.
Reason read_head(PacketReader& reader, const Frame& frame, Version version, uint16_t& packet_id,
                 Properties& properties) {
  packet_id = reader.two();
  if (reader.is_bad) return Reason::kMalformedPacket;
  if (packet_id == 0) return Reason::kProtocolError;
  if (version != Version::k5) return Reason::kSuccess;
  return reader.properties(property_place(frame.type), properties);
}

// DISCONNECT, AUTH and the end of acknowledgements: both parts may be left out.
Reason read_reason(PacketReader& reader, const Frame& frame, Reason& reason,
                   Properties& properties) {
  if (reader.at_end()) return Reason::kSuccess;
  reason = static_cast<Reason>(reader.byte());
  if (reader.at_end()) return Reason::kSuccess;
  if (Reason r = reader.properties(property_place(frame.type), properties); is_error(r)) return r;
  return reader.end();
}

bool is_known_ack(PacketType type, Reason reason) {
  if (type == PacketType::kPubrel || type == PacketType::kPubcomp) {
    return reason == Reason::kSuccess || reason == Reason::kPacketIdNotFound;
  }
  switch (reason) {
    case Reason::kSuccess:
    case Reason::kNoMatchingSubscribers:
    case Reason::kUnspecified:
    case Reason::kImplementationSpecific:
    case Reason::kNotAuthorized:
    case Reason::kTopicNameInvalid:
    case Reason::kPacketIdInUse:
    case Reason::kQuotaExceeded:
    case Reason::kPayloadFormatInvalid:
      return true;
    default:
      return false;
  }
}

}  // namespace

FrameState read_frame(std::string_view bytes, uint32_t packet_bytes_max, Frame& frame,
                      Reason& reason) {
  frame.size = 0;
  if (bytes.empty()) return FrameState::kIncomplete;
  uint8_t first = static_cast<uint8_t>(bytes[0]);
  frame.type = static_cast<PacketType>(first >> 4);
  frame.flags = first & 15;
  reason = Reason::kMalformedPacket;
  if (frame.type == PacketType::kReserved || !has_right_flags(frame.type, frame.flags)) {
    return FrameState::kBad;
  }
  uint32_t remaining = 0;
  int length_bytes = read_varint(bytes.substr(1), remaining);
  if (length_bytes < 0) return FrameState::kBad;
  if (length_bytes == 0) return FrameState::kIncomplete;
  size_t head = 1 + static_cast<size_t>(length_bytes);
  frame.size = head + remaining;
  if (frame.size > packet_bytes_max) {
    reason = Reason::kPacketTooLarge;
    return FrameState::kBad;
  }
  if (bytes.size() < frame.size) return FrameState::kIncomplete;
  frame.body = bytes.substr(head, remaining);
  return FrameState::kWhole;
}

Reason read_connect(const Frame& frame, ConnectPacket& out) {
  PacketReader reader(frame.body);
  std::string_view name = reader.text();
  uint8_t level = reader.byte();
  if (reader.is_bad || (name != "MQTT" && name != "MQIsdp")) return Reason::kMalformedPacket;
  bool is_known = name == "MQTT" ? level == 4 || level == 5 : level == 3;
  if (!is_known) return Reason::kUnsupportedProtocolVersion;
  out.version = static_cast<Version>(level);
  uint8_t flags = reader.byte();
  out.is_clean = (flags & 2) != 0;
  out.has_will = (flags & 4) != 0;
  out.has_password = (flags & 0x40) != 0;
  out.has_user = (flags & 0x80) != 0;
  out.keep_alive_s = reader.two();
  bool is_malformed = (flags & 1) != 0 || (flags & 0x18) == 0x18 ||
                      (!out.has_will && (flags & 0x38) != 0) ||
                      (out.version != Version::k5 && out.has_password && !out.has_user);
  if (reader.is_bad || is_malformed) return Reason::kMalformedPacket;
  if (out.version == Version::k5) {
    Reason r = reader.properties(property_place(PacketType::kConnect), out.properties);
    if (is_error(r)) return r;
    if (r = check_authentication(out.properties); is_error(r)) return r;
  }
  out.client_id = reader.text();
  if (out.has_will && !reader.is_bad) {
    if (Reason r = read_will(reader, flags, out); is_error(r)) return r;
  }
  if (out.has_user) out.user = reader.text();
  if (out.has_password) out.password = reader.bytes();
  return reader.end();
}

Reason read_connack(const Frame& frame, Version version, ConnackPacket& out) {
  PacketReader reader(frame.body);
  uint8_t flags = reader.byte();
  out.code = reader.byte();
  if (reader.is_bad || flags > 1) return Reason::kMalformedPacket;
  out.is_session_present = flags == 1;
  if (version == Version::k5 && !reader.at_end()) {
    Reason r = reader.properties(property_place(PacketType::kConnack), out.properties);
    if (is_error(r)) return r;
  }
  return reader.end();
}

Reason read_publish(const Frame& frame, Version version, PublishPacket& out) {
  PacketReader reader(frame.body);
  out.is_duplicate = (frame.flags & 8) != 0;
  out.qos = frame.flags >> 1 & 3;
  out.is_retained = (frame.flags & 1) != 0;
  out.topic = reader.text();
  out.packet_id = 0;
  if (out.qos > 0) {
    out.packet_id = reader.two();
    if (out.packet_id == 0 && !reader.is_bad) return Reason::kProtocolError;
  }
  if (reader.is_bad) return Reason::kMalformedPacket;
  if (version == Version::k5) {
    Reason r = reader.properties(property_place(PacketType::kPublish), out.properties);
    if (is_error(r)) return r;
  }
  bool is_aliased = out.properties.has(PropertyId::kTopicAlias);
  if (out.topic.empty() && is_aliased) {
    out.payload = reader.rest();
    return Reason::kSuccess;
  }
  if (out.topic.empty()) {
    return version == Version::k5 ? Reason::kProtocolError : Reason::kMalformedPacket;
  }
  if (!is_topic_name(out.topic)) return Reason::kTopicNameInvalid;
  out.payload = reader.rest();
  return Reason::kSuccess;
}

Reason read_ack(const Frame& frame, Version version, AckPacket& out) {
  PacketReader reader(frame.body);
  out.packet_id = reader.two();
  out.reason = Reason::kSuccess;
  if (reader.is_bad) return Reason::kMalformedPacket;
  if (out.packet_id == 0) return Reason::kProtocolError;
  if (version != Version::k5) return reader.end();
  if (Reason r = read_reason(reader, frame, out.reason, out.properties); is_error(r)) return r;
  return is_known_ack(frame.type, out.reason) ? Reason::kSuccess : Reason::kProtocolError;
}

uint8_t encode_options(const FilterOptions& options) {
  return static_cast<uint8_t>(options.qos | (options.no_local ? 4 : 0) |
                              (options.retain_as_published ? 8 : 0) | options.retain_handling << 4);
}

std::optional<FilterOptions> decode_options(uint8_t byte, Version version) {
  FilterOptions options;
  options.qos = byte & 3;
  if (options.qos == 3) return std::nullopt;
  if (version != Version::k5) {
    return byte > 2 ? std::nullopt : std::optional<FilterOptions>(options);
  }
  options.no_local = (byte & 4) != 0;
  options.retain_as_published = (byte & 8) != 0;
  options.retain_handling = byte >> 4 & 3;
  if (options.retain_handling == 3 || (byte & 0xC0) != 0) return std::nullopt;
  return options;
}

bool next_filter(SubscribePacket& packet, Version version, std::string_view& filter,
                 FilterOptions& options) {
  if (packet.filters.empty()) return false;
  PacketReader reader(packet.filters);
  filter = reader.bytes();
  options = decode_options(reader.byte(), version).value_or(FilterOptions());
  packet.filters = reader.rest();
  return !reader.is_bad;
}

bool next_filter(SubscribePacket& packet, std::string_view& filter) {
  if (packet.filters.empty()) return false;
  PacketReader reader(packet.filters);
  filter = reader.bytes();
  packet.filters = reader.rest();
  return !reader.is_bad;
}

Reason read_subscribe(const Frame& frame, Version version, SubscribePacket& out) {
  PacketReader reader(frame.body);
  if (Reason r = read_head(reader, frame, version, out.packet_id, out.properties); is_error(r)) {
    return r;
  }
  size_t ids = 0;
  out.properties.for_each_subscription_id([&](uint32_t) { ++ids; });
  if (ids > 1) return Reason::kProtocolError;
  out.filters = reader.rest();
  if (out.filters.empty()) return Reason::kProtocolError;  // 3.8.3: at least one
  out.filter_count = 0;
  while (!reader.at_end()) {
    (void)reader.text();
    if (reader.is_bad) return Reason::kMalformedPacket;
    if (++out.filter_count > kFiltersMax) return Reason::kPacketTooLarge;
    if (frame.type == PacketType::kUnsubscribe) continue;
    bool is_right = decode_options(reader.byte(), version).has_value();
    if (reader.is_bad || !is_right) return Reason::kMalformedPacket;
  }
  return Reason::kSuccess;
}

Reason read_suback(const Frame& frame, Version version, SubackPacket& out) {
  PacketReader reader(frame.body);
  if (Reason r = read_head(reader, frame, version, out.packet_id, out.properties); is_error(r)) {
    return r;
  }
  out.codes = reader.rest();
  return Reason::kSuccess;
}

Reason read_disconnect(const Frame& frame, Version version, ReasonPacket& out) {
  PacketReader reader(frame.body);
  if (version != Version::k5) return reader.end();
  return read_reason(reader, frame, out.reason, out.properties);
}

Reason read_auth(const Frame& frame, Version version, ReasonPacket& out) {
  if (version != Version::k5) return Reason::kProtocolError;
  PacketReader reader(frame.body);
  if (Reason r = read_reason(reader, frame, out.reason, out.properties); is_error(r)) return r;
  bool is_known = out.reason == Reason::kSuccess || out.reason == Reason::kContinueAuthentication ||
                  out.reason == Reason::kReAuthenticate;
  if (!is_known) return Reason::kProtocolError;
  return check_authentication(out.properties);
}

Reason read_empty(const Frame& frame) {
  return frame.body.empty() ? Reason::kSuccess : Reason::kMalformedPacket;
}

}  // namespace millstream::wire::mqtt
