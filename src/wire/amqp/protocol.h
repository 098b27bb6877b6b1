// AMQP 1.0 as a protocol of a server (wire/common/protocol.h).
#pragma once
#include "wire/common/protocol.h"

namespace millstream::wire::amqp {

const ProtocolSpec& protocol();

}  // namespace millstream::wire::amqp
