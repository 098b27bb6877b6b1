#include "wire/mqtt/session.h"

#include <algorithm>

#include "base/assert.h"
#include "mqi/reasons.h"

namespace millstream::wire::mqtt {

Reason reason_of(const queue::Outcome& outcome) {
  namespace reason = mqi::reason;
  switch (outcome.reason) {
    case reason::kNone:
    case reason::kNoSubsMatched:
      return Reason::kSuccess;
    case reason::kNotAuthorized:
      return Reason::kNotAuthorized;
    case reason::kUnknownObjectName:
    case reason::kObjectNameError:
    case reason::kObjectStringError:
    case reason::kTopicStringError:
      return Reason::kTopicNameInvalid;
    case reason::kQFull:
    case reason::kMsgTooBigForQ:
    case reason::kMsgTooBigForQMgr:
    case reason::kPagesetFull:
    case reason::kResourceProblem:
    case reason::kPutInhibited:
      return Reason::kQuotaExceeded;
    case reason::kFormatError:
      return Reason::kPayloadFormatInvalid;
    case reason::kQMgrStopping:
    case reason::kQMgrQuiescing:
      return Reason::kServerShuttingDown;
    default:
      return Reason::kUnspecified;
  }
}

MqttSession::MqttSession(SessionHost& host, std::unique_ptr<Transport> transport,
                         std::shared_ptr<Clients> clients)
    : Session(host, std::move(transport)),
      clients_(std::move(clients)),
      outbound_(*this),
      clients_packet_bytes_max_(static_cast<uint32_t>(std::min<size_t>(
          limits().message_bytes_max + kTextBytesMax, kRemainingLengthMax + kFixedHeaderBytesMax))),
      keep_alive_alarm_(reactor(), [this] { check_keep_alive(); }) {}

MqttSession::~MqttSession() = default;

size_t MqttSession::on_received(std::string_view bytes) {
  std::string_view rest = bytes;
  while ((state_ == State::kNew || state_ == State::kOpen) && !is_reading_paused_) {
    Frame frame;
    Reason reason = Reason::kSuccess;
    std::string large;  // what the frame is of, if it was collected
    if (large_bytes_ > 0 && !collect(rest, large)) break;
    const FrameState found =
        read_frame(large.empty() ? rest : large, packet_bytes_max(), frame, reason);
    if (found == FrameState::kIncomplete) {
      if (frame.size > kCollectedBytesMin) {
        large_bytes_ = frame.size;
        continue;
      }
      transport().expect(frame.size);
      break;
    }
    if (found == FrameState::kWhole) {
      if (large.empty()) rest.remove_prefix(frame.size);
      reason = handle(frame);
    }
    if (is_error(reason)) {
      end(reason);
      break;
    }
  }
  if (state_ == State::kOpen) outbound_.settle();
  return state_ == State::kEnding ? bytes.size() : bytes.size() - rest.size();
}

// Who has not logged in yet sends a CONNECT and no message.
uint32_t MqttSession::packet_bytes_max() const {
  if (state_ != State::kNew) return clients_packet_bytes_max_;
  return static_cast<uint32_t>(
      std::min<size_t>(kConnectBytesMax, clients_packet_bytes_max_));
}

// More of a packet that is longer than the transport keeps; true when it is whole.
bool MqttSession::collect(std::string_view& rest, std::string& whole) {
  const size_t taken = std::min(rest.size(), large_bytes_ - large_.size());
  large_ += rest.substr(0, taken);
  rest.remove_prefix(taken);
  if (large_.size() < large_bytes_) return false;
  whole = std::exchange(large_, {});
  large_bytes_ = 0;
  return true;
}

Reason MqttSession::handle(const Frame& frame) {
  if (state_ == State::kNew) {
    return frame.type == PacketType::kConnect ? connect(frame) : Reason::kProtocolError;
  }
  AckPacket ack;
  switch (frame.type) {
    case PacketType::kPublish:
      return publish(frame);
    case PacketType::kPubrel:
      return release_received(frame);
    case PacketType::kPuback:
    case PacketType::kPubrec:
    case PacketType::kPubcomp: {
      if (Reason r = read_ack(frame, version_, ack); is_error(r)) return r;
      if (frame.type == PacketType::kPuback) {
        (void)outbound_.on_puback(ack.packet_id);
      } else if (frame.type == PacketType::kPubcomp) {
        (void)outbound_.on_pubcomp(ack.packet_id);
      } else if (!outbound_.on_pubrec(ack.packet_id, ack.reason) && !is_error(ack.reason)) {
        std::string packet;
        write_ack(packet, version_, PacketType::kPubrel, ack.packet_id, Reason::kPacketIdNotFound);
        send(std::move(packet));
      }
      return Reason::kSuccess;
    }
    case PacketType::kSubscribe:
      return subscribe(frame);
    case PacketType::kUnsubscribe:
      return unsubscribe(frame);
    case PacketType::kPingreq: {
      if (Reason r = read_empty(frame); is_error(r)) return r;
      std::string packet;
      write_empty(packet, PacketType::kPingresp);
      send(std::move(packet));
      return Reason::kSuccess;
    }
    case PacketType::kDisconnect:
      return disconnect(frame);
    default:  // a second CONNECT, AUTH without a method, packets that only servers send
      return Reason::kProtocolError;
  }
}

Reason MqttSession::disconnect(const Frame& frame) {
  ReasonPacket packet;
  if (Reason r = read_disconnect(frame, version_, packet); is_error(r)) return r;
  if (packet.properties.has(PropertyId::kSessionExpiry)) {
    const uint32_t expiry_s = packet.properties.number(PropertyId::kSessionExpiry);
    if (asked_expiry_s_ == 0 && expiry_s != 0) return Reason::kProtocolError;
    client_->session_expiry_s = std::min(expiry_s, clients_->limits().session_expiry_max_s);
  }
  outbound_.settle();
  state_ = State::kEnding;
  leave(packet.reason != Reason::kSuccess);
  transport().shut();
  return Reason::kSuccess;
}

// --- the end ---

void MqttSession::end(Reason reason) {
  if (is_ended() || state_ == State::kEnding) return;
  const bool tells = version_ == Version::k5 && state_ == State::kOpen;
  state_ = State::kEnding;
  if (tells) {
    std::string packet;
    write_reason(packet, version_, PacketType::kDisconnect, reason);
    send(std::move(packet));
  }
  leave(true);
  transport().shut();
}

void MqttSession::on_taken_over() {
  if (state_ != State::kConnecting) return end(Reason::kSessionTakenOver);
  // Still on its way in: whoever came later is let through.
  state_ = State::kEnding;
  leave(true);
  transport().shut();
}

void MqttSession::on_ended(CloseReason) {
  state_ = State::kEnding;
  leave(true);
}

void MqttSession::leave(bool sends_will) {
  keep_alive_alarm_.cancel();
  if (client_ != nullptr) {
    for (const auto& [filter, s] : client_->subscriptions) {
      if (s.kind != SubscriptionKind::kTopic) continue;
      queue::SubscriptionRef found =
          broker().manager().pubsub().find(subscription_name(client_->client_id, filter));
      if (found == nullptr) continue;
      auto route = std::make_shared<queue::PublicationRoute>(*outbound_.route_for(s));
      route->sink = nullptr;  // nobody is there
      broker().manager().pubsub().set_route(*found, std::move(route));
    }
    outbound_.close();
    clients_->release(std::exchange(client_, nullptr), sends_will);
  }
  if (connection_ != nullptr) connection_->abandon();
}

void MqttSession::check_keep_alive() {
  if (keep_alive_ns_ == 0 || state_ != State::kOpen) return;
  const int64_t now_ns = reactor().now_ns();
  if (transport().bytes_received() != received_seen_ || is_reading_paused_) {
    received_seen_ = transport().bytes_received();
    last_received_ns_ = now_ns;
  }
  const int64_t due_ns = last_received_ns_ + keep_alive_ns_;
  if (now_ns >= due_ns) return end(Reason::kKeepAliveTimeout);
  // Bytes may have come at any time since the last look, so look again before it could be over.
  keep_alive_alarm_.set_at(std::min(due_ns, now_ns + keep_alive_ns_ / 3));
}

bool MqttSession::is_congested() {
  return state_ != State::kOpen || transport().outgoing_bytes() > limits().outgoing_bytes_max;
}

void MqttSession::on_source_failed(const std::string& filter, int32_t reason) {
  (void)filter;
  end(reason_of(queue::Outcome::failed(reason)));
}

}  // namespace millstream::wire::mqtt
