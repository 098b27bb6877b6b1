// Writes MQTT packets, each complete, at the end of a string. Property lists are given as the bytes
// that a PropertyWriter made; versions before 5 leave them out.
// Thread: any.
#pragma once
#include <span>
#include <string>
#include <string_view>

#include "wire/mqtt/packets.h"

namespace millstream::wire::mqtt {

// Behind the fixed header: "x" with its length before it.
void append_text(std::string& out, std::string_view bytes);

struct ConnectFields {
  Version version = Version::k5;
  bool is_clean = true;
  uint16_t keep_alive_s = 0;
  std::string_view client_id;
  std::string_view properties;
  bool has_will = false;
  std::string_view will_topic;
  std::string_view will_payload;
  std::string_view will_properties;
  uint8_t will_qos = 0;
  bool is_will_retained = false;
  std::string_view user;  // empty: none
  std::string_view password;
};
void write_connect(std::string& out, const ConnectFields& fields);
void write_connack(std::string& out, Version version, bool is_session_present, uint8_t code,
                   std::string_view properties);

struct PublishFields {
  bool is_duplicate = false;
  uint8_t qos = 0;
  bool is_retained = false;
  uint16_t packet_id = 0;
  std::string_view topic;
  std::string_view properties;
};
// All but the payload, which follows it. Returns the size of the whole packet.
size_t write_publish_head(std::string& out, Version version, const PublishFields& fields,
                          size_t payload_bytes);
void write_publish(std::string& out, Version version, const PublishFields& fields,
                   std::string_view payload);
// PUBACK, PUBREC, PUBREL, PUBCOMP.
void write_ack(std::string& out, Version version, PacketType type, uint16_t packet_id,
               Reason reason = Reason::kSuccess, std::string_view properties = {});

struct FilterField {
  std::string_view filter;
  FilterOptions options;
};
void write_subscribe(std::string& out, Version version, uint16_t packet_id,
                     std::span<const FilterField> filters, std::string_view properties = {});
void write_unsubscribe(std::string& out, Version version, uint16_t packet_id,
                       std::span<const std::string_view> filters);
// SUBACK, UNSUBACK. Codes as bytes; an UNSUBACK before version 5 has none.
void write_suback(std::string& out, Version version, PacketType type, uint16_t packet_id,
                  std::string_view codes, std::string_view properties = {});
void write_empty(std::string& out, PacketType type);  // PINGREQ, PINGRESP
// DISCONNECT, AUTH.
void write_reason(std::string& out, Version version, PacketType type,
                  Reason reason = Reason::kSuccess, std::string_view properties = {});

}  // namespace millstream::wire::mqtt
