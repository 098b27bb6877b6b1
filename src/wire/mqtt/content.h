// MQTT's messages and the queue manager's. What an MQTT client has published another one gets with
// the same properties in the same order; other protocols get the projection of wire/common, and
// what they put comes with the properties that MQTT 5 has for it (docs/guide/protocols.md).
//
// Origin bytes, version 1: version, flags (quality of service, retained, version 5), then the
// properties of PUBLISH but expiry, topic alias and subscription identifiers.
// Thread: any.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "queue/core/connection.h"
#include "wire/mqtt/packets.h"

namespace millstream::wire::mqtt {

struct Publication {
  uint8_t qos = 0;
  bool is_retained = false;
  bool has_properties = false;  // version 5
  const Properties* properties = nullptr;
  queue::Body payload;
};
// False: the payload says that it is UTF-8 and is not (0x99).
bool fill_put(const Publication& publication, queue::PutCall& call);

// What an MQTT client gets of a message.
struct Projection {
  uint8_t qos = 0;            // as published; not more than that is delivered
  bool was_retained = false;  // by who published it
  std::string properties;     // of version 5, expiry included
  queue::Body payload;
};
Projection project(const queue::Message& message, const mqi::MessageDescriptor& md,
                   int64_t now_gmt_ms, bool wants_properties);
// Only the quality of service, without the rest.
uint8_t published_qos(const queue::Message& message);
bool is_published_retained(const queue::Message& message);

}  // namespace millstream::wire::mqtt
