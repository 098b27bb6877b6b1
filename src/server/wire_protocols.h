// The protocols of messaging clients that this build speaks (wire/common/protocol.h). A new one is
// one line in the .cc.
// Thread: any.
#pragma once
#include <span>
#include <string_view>

#include "wire/common/protocol.h"

namespace millstream::server {

// That `millstream run` knows by name, whether they are there or not.
inline constexpr std::string_view kWireProtocolNames[] = {"amqp", "mqtt", "stomp"};

std::span<const wire::ProtocolSpec* const> wire_protocols();
const wire::ProtocolSpec* find_wire_protocol(std::string_view name);

}  // namespace millstream::server
