#include "server/wire_protocols.h"

#include <vector>

#include "wire/amqp/protocol.h"

namespace millstream::server {

std::span<const wire::ProtocolSpec* const> wire_protocols() {
  static const std::vector<const wire::ProtocolSpec*> kAll = {
      &wire::amqp::protocol(),
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
