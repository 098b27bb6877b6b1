// For tests of STOMP: a queue manager in memory with a port.
#pragma once
#include <memory>

#include "wire/common/wire_for_test.h"
#include "wire/stomp/protocol.h"

namespace millstream::wire::testing {

struct StompWorld : WireWorld {
  explicit StompWorld(Options options = {}, EndpointLimits limits = {}) : WireWorld(options) {
    made = stomp::protocol().make(*broker);
    EndpointOptions stomp;
    stomp.protocol = stomp::protocol().name;
    stomp.channel = stomp::protocol().channel;
    stomp.limits = limits;
    stomp.websocket_subprotocols = stomp::protocol().websocket_subprotocols;
    endpoint = std::make_unique<Endpoint>(
        *pool, *broker, stomp, [this](SessionHost& host, std::unique_ptr<Transport> transport) {
          return made->make_session(host, std::move(transport));
        });
    REQUIRE(endpoint->listen("127.0.0.1", 0).ok());
  }
  ~StompWorld() { endpoint->stop(0); }

  std::unique_ptr<Protocol> made;
  std::unique_ptr<Endpoint> endpoint;
};

}  // namespace millstream::wire::testing
