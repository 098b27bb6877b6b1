#include "server/wire_protocols.h"

#include "wire/amqp/protocol.h"
#include "wire/mqtt/protocol.h"
#include "wire/stomp/protocol.h"

namespace millstream::server {

std::span<const wire::ProtocolSpec* const> wire_protocols() {
  static const wire::ProtocolSpec* const kAll[] = {
      &wire::amqp::protocol(),
      &wire::mqtt::protocol(),
      &wire::stomp::protocol(),
  };
  return kAll;
}

const wire::ProtocolSpec* find_wire_protocol(std::string_view name) {
  for (const wire::ProtocolSpec* spec : wire_protocols()) {
    if (spec->name == name) return spec;
  }
  return nullptr;
}

}  // namespace millstream::server
