// For tests of MQTT: a queue manager in memory with a port.
#pragma once
#include <memory>

#include "wire/common/wire_for_test.h"
#include "wire/mqtt/protocol.h"

namespace millstream::wire::testing {

struct MqttWorld : WireWorld {
  explicit MqttWorld(Options options = {}, EndpointLimits limits = {}) : WireWorld(options) {
    made = mqtt::protocol().make(*broker);
    REQUIRE(made->start().ok());
    EndpointOptions endpoint_options;
    endpoint_options.protocol = mqtt::protocol().name;
    endpoint_options.channel = mqtt::protocol().channel;
    endpoint_options.channel_type = mqtt::protocol().channel_type;
    endpoint_options.limits = limits;
    endpoint_options.websocket_subprotocols = mqtt::protocol().websocket_subprotocols;
    endpoint =
        std::make_unique<Endpoint>(*pool, *broker, endpoint_options,
                                   [this](SessionHost& host, std::unique_ptr<Transport> transport) {
                                     return made->make_session(host, std::move(transport));
                                   });
    REQUIRE(endpoint->listen("127.0.0.1", 0).ok());
  }
  ~MqttWorld() {
    endpoint->stop(0);
    made->stop();
  }

  std::unique_ptr<Protocol> made;
  std::unique_ptr<Endpoint> endpoint;
};

}  // namespace millstream::wire::testing
