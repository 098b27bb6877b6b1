// Reads a packet and writes it again: what was read must be all that it said. For tests of samples
// and for the fuzzer.
#pragma once
#include <string>
#include <vector>

#include "wire/mqtt/writer.h"

namespace millstream::wire::mqtt {

inline Reason rewrite_connect(const Frame& frame, std::string& out) {
  ConnectPacket p;
  if (Reason r = read_connect(frame, p); is_error(r)) return r;
  ConnectFields f;
  f.version = p.version;
  f.is_clean = p.is_clean;
  f.keep_alive_s = p.keep_alive_s;
  f.client_id = p.client_id;
  f.properties = p.properties.raw();
  f.has_will = p.has_will;
  f.will_topic = p.will.topic;
  f.will_payload = p.will.payload;
  f.will_properties = p.will.properties.raw();
  f.will_qos = p.will.qos;
  f.is_will_retained = p.will.is_retained;
  f.user = p.user;
  f.password = p.password;
  write_connect(out, f);
  return Reason::kSuccess;
}

inline Reason rewrite_publish(const Frame& frame, Version version, std::string& out) {
  PublishPacket p;
  if (Reason r = read_publish(frame, version, p); is_error(r)) return r;
  write_publish(out, version,
                {.is_duplicate = p.is_duplicate,
                 .qos = p.qos,
                 .is_retained = p.is_retained,
                 .packet_id = p.packet_id,
                 .topic = p.topic,
                 .properties = p.properties.raw()},
                p.payload);
  return Reason::kSuccess;
}

inline Reason rewrite_filters(const Frame& frame, Version version, std::string& out) {
  SubscribePacket p;
  if (Reason r = read_subscribe(frame, version, p); is_error(r)) return r;
  std::string_view filter;
  if (frame.type == PacketType::kUnsubscribe) {
    std::vector<std::string_view> filters;
    while (next_filter(p, filter)) filters.push_back(filter);
    write_unsubscribe(out, version, p.packet_id, filters);
    return Reason::kSuccess;
  }
  std::vector<FilterField> filters;
  FilterOptions options;
  while (next_filter(p, version, filter, options)) filters.push_back({filter, options});
  write_subscribe(out, version, p.packet_id, filters, p.properties.raw());
  return Reason::kSuccess;
}

// Shortest forms come out, so that long ones of the same meaning differ.
inline Reason rewrite_packet(const Frame& frame, Version version, std::string& out) {
  switch (frame.type) {
    case PacketType::kConnect:
      return rewrite_connect(frame, out);
    case PacketType::kConnack: {
      ConnackPacket p;
      Reason r = read_connack(frame, version, p);
      write_connack(out, version, p.is_session_present, p.code, p.properties.raw());
      return r;
    }
    case PacketType::kPublish:
      return rewrite_publish(frame, version, out);
    case PacketType::kPuback:
    case PacketType::kPubrec:
    case PacketType::kPubrel:
    case PacketType::kPubcomp: {
      AckPacket p;
      Reason r = read_ack(frame, version, p);
      write_ack(out, version, frame.type, p.packet_id, p.reason, p.properties.raw());
      return r;
    }
    case PacketType::kSubscribe:
    case PacketType::kUnsubscribe:
      return rewrite_filters(frame, version, out);
    case PacketType::kSuback:
    case PacketType::kUnsuback: {
      SubackPacket p;
      Reason r = read_suback(frame, version, p);
      write_suback(out, version, frame.type, p.packet_id, p.codes, p.properties.raw());
      return r;
    }
    case PacketType::kPingreq:
    case PacketType::kPingresp:
      write_empty(out, frame.type);
      return read_empty(frame);
    case PacketType::kDisconnect:
    case PacketType::kAuth: {
      ReasonPacket p;
      Reason r = frame.type == PacketType::kAuth ? read_auth(frame, version, p)
                                                 : read_disconnect(frame, version, p);
      write_reason(out, version, frame.type, p.reason, p.properties.raw());
      return r;
    }
    case PacketType::kReserved:
      break;
  }
  return Reason::kMalformedPacket;
}

}  // namespace millstream::wire::mqtt
