#include "wire/mqtt/protocol.h"

#include "wire/mqtt/session.h"

namespace millstream::wire::mqtt {
namespace {

class MqttProtocol final : public Protocol {
 public:
  explicit MqttProtocol(Broker& broker) : clients_(Clients::create(broker, {})) {}

  Status start() override {
    clients_->recover();
    return {};
  }
  std::shared_ptr<wire::Session> make_session(SessionHost& host,
                                              std::unique_ptr<Transport> transport) override {
    return std::make_shared<MqttSession>(host, std::move(transport), clients_);
  }
  void stop() override { clients_->stop(); }
  void collect_metrics(base::MetricWriter& writer) const override {
    writer.family("millstream_mqtt_sessions_kept", base::MetricType::kGauge,
                  "Clients of MQTT that are not connected and have a session.");
    writer.sample({}, static_cast<uint64_t>(clients_->session_count()));
  }

 private:
  std::shared_ptr<Clients> clients_;
};

}  // namespace

const ProtocolSpec& protocol() {
  static const ProtocolSpec kSpec{.name = "mqtt",
                                  .title = "MQTT",
                                  .port = 1883,
                                  .tls_port = 8883,
                                  .channel = "DEV.APP.MQTT",
                                  .channel_type = queue::objects::ChannelType::kMqtt,
                                  .websocket_subprotocols = {"mqtt", "mqttv3.1"},
                                  .make = [](Broker& broker) -> std::unique_ptr<Protocol> {
                                    return std::make_unique<MqttProtocol>(broker);
                                  }};
  return kSpec;
}

}  // namespace millstream::wire::mqtt
