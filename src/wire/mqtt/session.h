// One MQTT client: CONNECT and what is kept of it (clients.h), then its packets in their order.
//
// - Answers to PUBLISH come in the order of the packets (4.6), each when its effect is durable.
// - Quality of service 2: the identifier of a durable session is written in the unit of its
//   message, so that a PUBLISH that comes again after a kill is known.
// - A message that may not be published: version 5 is told by the reason code of the answer;
//   older versions lose the connection, except with quality of service 0, where it is dropped.
// - Keep alive: one and a half of it without a byte ends the connection. Any end without a
//   DISCONNECT leaves the will to be sent.
// - The topic "queue://NAME" is a queue, for PUBLISH as for SUBSCRIBE.
// - Limits: EndpointLimits; kReceiveMax below (version 5 is told), older versions are not read on.
// Thread: its reactor's.
#pragma once
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "wire/common/alarm.h"
#include "wire/common/endpoint.h"
#include "wire/mqtt/clients.h"
#include "wire/mqtt/outbound.h"
#include "wire/mqtt/writer.h"

namespace millstream::wire::mqtt {

// What the queue manager's reason is for a client.
Reason reason_of(const queue::Outcome& outcome);

class MqttSession final : public Session, public ClientOwner, private OutboundOwner {
 public:
  static constexpr uint16_t kReceiveMax = 1'000;  // publications that are not answered yet
  static constexpr uint16_t kTopicAliasMax = 64;
  static constexpr size_t kCollectedBytesMin = 64 * 1024;
  static constexpr size_t kConnectBytesMax = 512 * 1024;  // a CONNECT, its will included

  MqttSession(SessionHost& host, std::unique_ptr<Transport> transport,
              std::shared_ptr<Clients> clients);
  ~MqttSession() override;

  size_t on_received(std::string_view bytes) override;
  void on_drained() override { outbound_.resume(); }
  void on_stopping() override { end(Reason::kServerShuttingDown); }
  void on_stopped_by_operator() override { end(Reason::kAdministrativeAction); }
  void on_ended(CloseReason reason) override;
  void on_taken_over() override;

 private:
  enum class State : uint8_t { kNew, kConnecting, kOpen, kEnding };
  struct Answer {  // to a PUBLISH
    PacketType type = PacketType::kPuback;
    uint16_t packet_id = 0;
    Reason reason = Reason::kSuccess;
    bool is_done = false;
  };
  using PutDone = std::function<void(const queue::Outcome&)>;
  using AnswerRef = std::shared_ptr<Answer>;  // by its call, too
  struct Subscribing;
  using SubscribingRef = std::shared_ptr<Subscribing>;

  // OutboundOwner
  queue::Connection& connection() override { return *connection_; }
  Transport& out() override { return transport(); }
  base::Executor& home() override { return executor(); }
  ClientState& state_of_client() override { return *client_; }
  Version version() const override { return version_; }
  int64_t now_gmt_ms() override { return broker().manager().now_gmt_micros() / 1000; }
  bool is_congested() override;
  void counted_out() override { count_out(); }
  void on_source_failed(const std::string& filter, int32_t reason) override;
  std::weak_ptr<void> life() override { return weak_from_this(); }

  // session_connect.cc
  Reason connect(const Frame& frame);
  void keep_connect(const ConnectPacket& packet);
  bool choose_client_id(const ConnectPacket& packet);
  void logged_in(const LoginAnswer& answer);
  void claimed(Clients::StateRef state);
  void resume_client();
  void accepted(bool is_present);
  std::string connack_properties() const;
  void refuse(Reason reason, ConnectReturn old);

  // session.cc
  uint32_t packet_bytes_max() const;
  bool collect(std::string_view& rest, std::string& whole);
  Reason handle(const Frame& frame);
  Reason disconnect(const Frame& frame);
  void end(Reason reason);
  void leave(bool sends_will);
  void check_keep_alive();
  void send(std::string&& packet) { transport().send(std::move(packet)); }

  // session_publish.cc
  Reason publish(const Frame& frame);
  Reason resolve_alias(const PublishPacket& packet, std::string& topic);
  void put(const PublishPacket& packet, const std::string& topic, PutDone done);
  PutDone clearing(const std::string& topic, PutDone done);
  void publish_once(const PublishPacket& packet, const std::string& topic);
  AnswerRef promise(PacketType type, uint16_t packet_id);
  void settle_answer(const AnswerRef& answer, Reason reason);
  void flush_answers();
  Reason release_received(const Frame& frame);

  // session_subscribe.cc
  Reason subscribe(const Frame& frame);
  Reason unsubscribe(const Frame& frame);
  void subscribe_one(const SubscribingRef& work, size_t at);
  queue::Outcome subscribe_topic(ClientSubscription& s, queue::Done done);
  queue::Outcome may_subscribe(std::string_view filter);
  void take_publications(const queue::Subscription& from, const ClientSubscription& s);
  void subscribed(const SubscribingRef& work, size_t at, const queue::Outcome& outcome);
  void finish_subscribing(const SubscribingRef& work);
  void send_retained(const std::string& filter);

  std::shared_ptr<Clients> clients_;
  Outbound outbound_;
  State state_ = State::kNew;
  Version version_ = Version::kUnknown;
  std::shared_ptr<queue::Connection> connection_;
  Clients::StateRef client_;  // ours from claimed() to leave()
  Login login_;

  // Of CONNECT.
  std::string client_id_;
  bool is_id_assigned_ = false;
  bool is_clean_ = false;
  uint32_t session_expiry_s_ = 0;
  uint32_t asked_expiry_s_ = 0;
  uint16_t receive_max_ = UINT16_MAX;
  uint32_t packet_bytes_max_ = kRemainingLengthMax + kFixedHeaderBytesMax;
  uint16_t alias_max_ = 0;  // of topics to the client
  std::optional<WillMessage> will_;
  int64_t keep_alive_ns_ = 0;

  std::deque<AnswerRef> answers_;
  std::vector<std::string> aliases_;  // from the client; the first is 1
  uint32_t clients_packet_bytes_max_ = 0;
  size_t large_bytes_ = 0;  // of a packet that is collected; 0: none is
  std::string large_;       // grows as its bytes come
  bool is_reading_paused_ = false;
  Alarm keep_alive_alarm_;
  uint64_t received_seen_ = 0;
  int64_t last_received_ns_ = 0;
};

}  // namespace millstream::wire::mqtt
