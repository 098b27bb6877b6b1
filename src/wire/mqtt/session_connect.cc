// CONNECT: what it asks for, the login, the client that it claims, CONNACK.
#include <algorithm>

#include "base/ascii.h"
#include "base/log.h"
#include "mqi/reasons.h"
#include "wire/mqtt/session.h"
#include "wire/mqtt/topic_names.h"

namespace millstream::wire::mqtt {
namespace {

using P = PropertyId;

WillMessage mqtt_will(const Will& will, bool is_v5) {
  WillMessage out;
  out.topic = will.topic;
  out.payload = will.payload;
  out.qos = will.qos;
  out.is_retained = will.is_retained;
  out.has_properties = is_v5;
  out.delay_s = will.properties.number(P::kWillDelay);
  PropertyWriter to(out.properties);
  for (P id : {P::kPayloadFormat, P::kMessageExpiry}) {
    if (will.properties.has(id)) to.number(id, will.properties.number(id));
  }
  for (P id : {P::kContentType, P::kResponseTopic, P::kCorrelationData}) {
    if (will.properties.has(id)) to.text(id, will.properties.text(id));
  }
  will.properties.for_each_user([&](const PropertyPair& p) { to.pair(p.name, p.value); });
  return out;
}

}  // namespace

Reason MqttSession::connect(const Frame& frame) {
  ConnectPacket packet;
  const Reason reason = read_connect(frame, packet);
  version_ = packet.version;
  if (reason == Reason::kUnsupportedProtocolVersion) {
    // An unknown level: say so in the words of the nearest version.
    if (version_ == Version::kUnknown) version_ = Version::k311;
    refuse(reason, ConnectReturn::kUnacceptableVersion);
    return Reason::kSuccess;
  }
  if (is_error(reason)) {
    if (version_ == Version::k5) refuse(reason, ConnectReturn::kServerUnavailable);
    return reason;
  }
  if (packet.properties.has(P::kAuthenticationMethod)) {
    refuse(Reason::kBadAuthenticationMethod, ConnectReturn::kNotAuthorized);
    return Reason::kSuccess;
  }
  if (packet.has_will && !is_topic_name(packet.will.topic)) {
    refuse(Reason::kTopicNameInvalid, ConnectReturn::kServerUnavailable);
    return Reason::kSuccess;
  }
  if (!choose_client_id(packet)) {
    refuse(Reason::kClientIdNotValid, ConnectReturn::kIdentifierRejected);
    return Reason::kSuccess;
  }
  keep_connect(packet);
  state_ = State::kConnecting;
  transport().pause_reading();
  auto answer = [this, self = shared_from_this()](LoginAnswer given) {
    if (!is_ended() && state_ == State::kConnecting) logged_in(given);
  };
  const Caller who = caller();
  if (!packet.has_user && !who.certificate_name.empty()) {
    LoginAnswer known;  // the certificate says who it is
    known.is_accepted = true;
    known.login = {who.certificate_name, true};
    executor().post([answer, known] { answer(known); });
    return Reason::kSuccess;
  }
  broker().log_in(who, std::string(packet.user), std::string(packet.password), executor(), answer);
  return Reason::kSuccess;
}

bool MqttSession::choose_client_id(const ConnectPacket& packet) {
  client_id_ = packet.client_id;
  if (packet.version == Version::k31) {
    return !client_id_.empty() && client_id_.size() <= kOldClientIdBytesMax;
  }
  if (!client_id_.empty()) return true;
  if (packet.version == Version::k311 && !packet.is_clean) return false;
  const uint64_t unique = broker().manager().options().random->next_u64();
  client_id_ = "auto-";
  base::append_upper_hex(client_id_, {reinterpret_cast<const char*>(&unique), sizeof unique});
  is_id_assigned_ = true;
  return true;
}

void MqttSession::keep_connect(const ConnectPacket& packet) {
  const bool is_v5 = packet.version == Version::k5;
  is_clean_ = packet.is_clean;
  asked_expiry_s_ = is_v5             ? packet.properties.number(P::kSessionExpiry)
                    : packet.is_clean ? 0
                                      : kNeverExpires;
  session_expiry_s_ = std::min(asked_expiry_s_, clients_->limits().session_expiry_max_s);
  receive_max_ = static_cast<uint16_t>(packet.properties.number(P::kReceiveMaximum, UINT16_MAX));
  packet_bytes_max_ = packet.properties.number(P::kMaximumPacketSize, packet_bytes_max_);
  alias_max_ = std::min<uint16_t>(
      static_cast<uint16_t>(packet.properties.number(P::kTopicAliasMaximum)), kTopicAliasMax);
  keep_alive_ns_ = int64_t{packet.keep_alive_s} * net::kSecond * 3 / 2;
  if (packet.has_will) will_ = mqtt_will(packet.will, is_v5);
}

void MqttSession::logged_in(const LoginAnswer& answer) {
  std::string why = answer.why;
  queue::Outcome outcome = queue::Outcome::failed(mqi::reason::kNotAuthorized);
  if (answer.is_accepted) {
    login_ = answer.login;
    outcome = broker().connect(caller(), login_, "MQTT client", executor(), connection_, &why);
  }
  if (outcome.is_failed()) {
    base::log_event(
        base::LogLevel::kWarning, "MS2841W",
        "The MQTT client '" + client_id_ + "' of " + std::string(transport().peer_address()) +
            " was not let in: " + (why.empty() ? "reason " + std::to_string(outcome.reason) : why));
    return answer.is_accepted
               ? refuse(Reason::kNotAuthorized, ConnectReturn::kNotAuthorized)
               : refuse(Reason::kBadUserNameOrPassword, ConnectReturn::kBadUserNameOrPassword);
  }
  auto self = shared_from_this();
  const Clients::Refusal refusal = clients_->claim(
      client_id_, connection_->options().user, std::shared_ptr<ClientOwner>(self, this), executor(),
      [this, self](Clients::StateRef state) { claimed(std::move(state)); });
  if (refusal == Clients::Refusal::kOtherUser) {
    refuse(Reason::kNotAuthorized, ConnectReturn::kNotAuthorized);
  } else if (refusal == Clients::Refusal::kTooMany) {
    refuse(Reason::kQuotaExceeded, ConnectReturn::kServerUnavailable);
  }
}

void MqttSession::claimed(Clients::StateRef state) {
  if (is_ended() || state_ != State::kConnecting) return clients_->release(state, true);
  client_ = std::move(state);
  if (is_clean_) {
    clients_->discard_session(*client_);
  } else {
    clients_->resume_will(*client_);
  }
  const bool is_present = !client_->is_new;
  client_->is_new = false;
  client_->user = connection_->options().user;
  client_->session_expiry_s = session_expiry_s_;
  client_->disconnected_gmt_ms = 0;
  client_->will_due_gmt_ms = 0;
  client_->will = std::move(will_);
  if (client_->will.has_value()) client_->will->user = client_->user;
  clients_->save(*client_, executor(),
                 [this, self = shared_from_this(), is_present](const queue::Outcome& outcome) {
                   if (is_ended() || state_ != State::kConnecting) return;
                   if (outcome.is_failed()) {
                     return refuse(Reason::kServerUnavailable, ConnectReturn::kServerUnavailable);
                   }
                   accepted(is_present);
                 });
}

void MqttSession::accepted(bool is_present) {
  state_ = State::kOpen;
  static constexpr std::string_view kNames[] = {"MQTT 3.1", "MQTT 3.1.1", "MQTT 5"};
  handshake_done(client_->user, client_id_, kNames[static_cast<size_t>(version_) - 3]);
  std::string packet;
  write_connack(packet, version_, is_present, 0, connack_properties());
  send(std::move(packet));
  outbound_.start({receive_max_, packet_bytes_max_, alias_max_});
  if (is_present) resume_client();
  last_received_ns_ = reactor().now_ns();
  check_keep_alive();
  transport().resume_reading();
}

std::string MqttSession::connack_properties() const {
  std::string out;
  if (version_ != Version::k5) return out;
  PropertyWriter to(out);
  if (session_expiry_s_ != asked_expiry_s_) to.number(P::kSessionExpiry, session_expiry_s_);
  to.number(P::kReceiveMaximum, kReceiveMax);
  to.number(P::kMaximumPacketSize, clients_packet_bytes_max_);
  if (is_id_assigned_) to.text(P::kAssignedClientId, client_id_);
  to.number(P::kTopicAliasMaximum, kTopicAliasMax);
  return out;
}

// What an earlier connection has left: its subscriptions get their way to us, its messages come.
void MqttSession::resume_client() {
  outbound_.send_released();
  queue::PubSub& pubsub = broker().manager().pubsub();
  std::vector<std::pair<std::string, std::string>> sources;  // filter, queue
  if (!client_->queue.empty()) sources.emplace_back(std::string(), client_->queue);
  for (const auto& [filter, s] : client_->subscriptions) {
    if (s.kind == SubscriptionKind::kQueue) {
      sources.emplace_back(filter, Broker::parse_address(filter, NodeKind::kAny).name);
      continue;
    }
    const bool is_shared = s.kind == SubscriptionKind::kShared;
    queue::SubscriptionRef found = pubsub.find(is_shared ? shared_subscription_name(filter)
                                                         : subscription_name(client_id_, filter));
    if (found == nullptr) continue;
    if (is_shared) {
      sources.emplace_back(filter, found->destination);
    } else {
      take_publications(*found, s);
    }
  }
  for (const auto& [filter, queue] : sources) {
    const bool is_private = client_->subscriptions.find(filter) == client_->subscriptions.end() ||
                            client_->subscriptions[filter].kind != SubscriptionKind::kQueue;
    outbound_.open_source(filter, queue, is_private,
                          [this, self = shared_from_this(), filter](const queue::Outcome& o) {
                            if (is_ended() || state_ != State::kOpen) return;
                            if (o.is_failed()) return on_source_failed(filter, o.reason);
                            outbound_.start_source(filter);
                          });
    if (state_ != State::kOpen) return;
  }
}

void MqttSession::refuse(Reason reason, ConnectReturn old) {
  if (is_ended() || state_ == State::kEnding) return;
  std::string packet;
  const uint8_t code =
      version_ == Version::k5 ? static_cast<uint8_t>(reason) : static_cast<uint8_t>(old);
  write_connack(packet, version_, false, code, {});
  send(std::move(packet));
  state_ = State::kEnding;
  leave(false);
  transport().shut();
}

}  // namespace millstream::wire::mqtt
