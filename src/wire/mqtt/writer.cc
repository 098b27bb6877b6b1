#include "wire/mqtt/writer.h"

#include "base/assert.h"

namespace millstream::wire::mqtt {
namespace {

void append_two(std::string& out, uint16_t value) {
  out += static_cast<char>(value >> 8);
  out += static_cast<char>(value);
}

void append_head(std::string& out, PacketType type, uint8_t flags, size_t remaining) {
  MS_ASSERT(remaining <= kRemainingLengthMax);
  out += static_cast<char>(static_cast<uint8_t>(type) << 4 | flags);
  append_varint(out, static_cast<uint32_t>(remaining));
}

size_t properties_bytes(Version version, std::string_view properties) {
  if (version != Version::k5) return 0;
  return varint_bytes(static_cast<uint32_t>(properties.size())) + properties.size();
}

void append_properties(std::string& out, Version version, std::string_view properties) {
  if (version != Version::k5) return;
  append_varint(out, static_cast<uint32_t>(properties.size()));
  out += properties;
}

}  // namespace

void append_text(std::string& out, std::string_view bytes) {
  MS_ASSERT(bytes.size() <= kTextBytesMax);
  append_two(out, static_cast<uint16_t>(bytes.size()));
  out += bytes;
}

void write_connect(std::string& out, const ConnectFields& f) {
  std::string body;
  append_text(body, f.version == Version::k31 ? "MQIsdp" : "MQTT");
  body += static_cast<char>(f.version);
  uint8_t flags = f.is_clean ? 2 : 0;
  if (f.has_will)
    flags |= static_cast<uint8_t>(4 | f.will_qos << 3 | (f.is_will_retained ? 32 : 0));
  if (!f.password.empty()) flags |= 0x40;
  if (!f.user.empty()) flags |= 0x80;
  body += static_cast<char>(flags);
  append_two(body, f.keep_alive_s);
  append_properties(body, f.version, f.properties);
  append_text(body, f.client_id);
  if (f.has_will) {
    append_properties(body, f.version, f.will_properties);
    append_text(body, f.will_topic);
    append_text(body, f.will_payload);
  }
  if (!f.user.empty()) append_text(body, f.user);
  if (!f.password.empty()) append_text(body, f.password);
  append_head(out, PacketType::kConnect, 0, body.size());
  out += body;
}

void write_connack(std::string& out, Version version, bool is_session_present, uint8_t code,
                   std::string_view properties) {
  append_head(out, PacketType::kConnack, 0, 2 + properties_bytes(version, properties));
  out += is_session_present ? '\1' : '\0';
  out += static_cast<char>(code);
  append_properties(out, version, properties);
}

size_t write_publish_head(std::string& out, Version version, const PublishFields& f,
                          size_t payload_bytes) {
  size_t before = out.size();
  size_t remaining = 2 + f.topic.size() + (f.qos > 0 ? 2 : 0) +
                     properties_bytes(version, f.properties) + payload_bytes;
  uint8_t flags =
      static_cast<uint8_t>((f.is_duplicate ? 8 : 0) | f.qos << 1 | (f.is_retained ? 1 : 0));
  append_head(out, PacketType::kPublish, flags, remaining);
  append_text(out, f.topic);
  if (f.qos > 0) append_two(out, f.packet_id);
  append_properties(out, version, f.properties);
  return out.size() - before + payload_bytes;
}

void write_publish(std::string& out, Version version, const PublishFields& fields,
                   std::string_view payload) {
  (void)write_publish_head(out, version, fields, payload.size());
  out += payload;
}

void write_ack(std::string& out, Version version, PacketType type, uint16_t packet_id,
               Reason reason, std::string_view properties) {
  uint8_t flags = type == PacketType::kPubrel ? 2 : 0;
  bool has_properties = version == Version::k5 && !properties.empty();
  bool has_reason = version == Version::k5 && (reason != Reason::kSuccess || has_properties);
  size_t remaining = 2u + (has_reason ? 1u : 0u);
  if (has_properties) remaining += properties_bytes(version, properties);
  append_head(out, type, flags, remaining);
  append_two(out, packet_id);
  if (has_reason) out += static_cast<char>(reason);
  if (has_properties) append_properties(out, version, properties);
}

void write_subscribe(std::string& out, Version version, uint16_t packet_id,
                     std::span<const FilterField> filters, std::string_view properties) {
  std::string body;
  append_two(body, packet_id);
  append_properties(body, version, properties);
  for (const FilterField& f : filters) {
    append_text(body, f.filter);
    body += static_cast<char>(encode_options(f.options));
  }
  append_head(out, PacketType::kSubscribe, 2, body.size());
  out += body;
}

void write_unsubscribe(std::string& out, Version version, uint16_t packet_id,
                       std::span<const std::string_view> filters) {
  std::string body;
  append_two(body, packet_id);
  append_properties(body, version, {});
  for (std::string_view filter : filters) append_text(body, filter);
  append_head(out, PacketType::kUnsubscribe, 2, body.size());
  out += body;
}

void write_suback(std::string& out, Version version, PacketType type, uint16_t packet_id,
                  std::string_view codes, std::string_view properties) {
  if (type == PacketType::kUnsuback && version != Version::k5) codes = {};
  append_head(out, type, 0, 2 + properties_bytes(version, properties) + codes.size());
  append_two(out, packet_id);
  append_properties(out, version, properties);
  out += codes;
}

void write_empty(std::string& out, PacketType type) { append_head(out, type, 0, 0); }

void write_reason(std::string& out, Version version, PacketType type, Reason reason,
                  std::string_view properties) {
  bool has_any = version == Version::k5 && (reason != Reason::kSuccess || !properties.empty());
  bool has_properties = has_any && !properties.empty();
  size_t remaining = has_any ? 1 : 0;
  if (has_properties) remaining += properties_bytes(version, properties);
  append_head(out, type, 0, remaining);
  if (has_any) out += static_cast<char>(reason);
  if (has_properties) append_properties(out, version, properties);
}

}  // namespace millstream::wire::mqtt
