// STOMP 1.0, 1.1 and 1.2 for a server: its record.
// Thread: any.
#pragma once
#include "wire/common/protocol.h"

namespace millstream::wire::stomp {

const ProtocolSpec& protocol();

}  // namespace millstream::wire::stomp
