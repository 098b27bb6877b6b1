#include "wire/amqp/protocol.h"

#include "wire/amqp/broker/broker_session.h"
#include "wire/amqp/broker/shared_state.h"

namespace millstream::wire::amqp {
namespace {

class BrokerProtocol final : public Protocol {
 public:
  std::shared_ptr<wire::Session> make_session(SessionHost& host,
                                              std::unique_ptr<Transport> transport) override {
    return std::make_shared<BrokerSession>(host, std::move(transport), shared_);
  }
  void stop() override { shared_.kept_links()->clear(); }

 private:
  SharedState shared_;
};

}  // namespace

const ProtocolSpec& protocol() {
  static const ProtocolSpec kSpec = {
      .name = "amqp",
      .title = "AMQP",
      .port = 5672,
      .tls_port = 5671,
      .channel = "DEV.APP.AMQP",
      .channel_type = queue::objects::ChannelType::kAmqp,
      .websocket_subprotocols = {"amqp"},
      .make = [](Broker&) -> std::unique_ptr<Protocol> {
        return std::make_unique<BrokerProtocol>();
      },
  };
  return kSpec;
}

}  // namespace millstream::wire::amqp
