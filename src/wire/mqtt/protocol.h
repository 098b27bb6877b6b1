// MQTT 3.1, 3.1.1 and 5 for a server: its record.
// Thread: any.
#pragma once
#include "wire/common/protocol.h"

namespace millstream::wire::mqtt {

const ProtocolSpec& protocol();

}  // namespace millstream::wire::mqtt
