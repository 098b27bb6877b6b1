#include "wire/stomp/protocol.h"

#include "wire/stomp/session.h"

namespace millstream::wire::stomp {
namespace {

// Sessions share nothing: what they keep is in the queue manager.
class StompProtocol final : public Protocol {
 public:
  std::shared_ptr<wire::Session> make_session(SessionHost& host,
                                              std::unique_ptr<Transport> transport) override {
    return std::make_shared<StompSession>(host, std::move(transport));
  }
};

}  // namespace

const ProtocolSpec& protocol() {
  static const ProtocolSpec kSpec{.name = "stomp",
                                  .title = "STOMP",
                                  .port = 61613,
                                  .tls_port = 61614,
                                  .channel = "DEV.APP.STOMP",
                                  .websocket_subprotocols = {"v12.stomp", "v11.stomp", "v10.stomp"},
                                  .make = [](Broker&) -> std::unique_ptr<Protocol> {
                                    return std::make_unique<StompProtocol>();
                                  }};
  return kSpec;
}

}  // namespace millstream::wire::stomp
