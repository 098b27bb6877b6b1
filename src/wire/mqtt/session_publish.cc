// PUBLISH of a client, and what follows it.
#include "mqi/reasons.h"
#include "wire/mqtt/content.h"
#include "wire/mqtt/session.h"
#include "wire/mqtt/topic_names.h"

namespace millstream::wire::mqtt {

using queue::Outcome;

Reason MqttSession::publish(const Frame& frame) {
  PublishPacket packet;
  if (Reason r = read_publish(frame, version_, packet); is_error(r)) return r;
  std::string topic;
  if (Reason r = resolve_alias(packet, topic); is_error(r)) return r;
  if (!is_topic_name(topic)) return Reason::kTopicNameInvalid;
  if (packet.properties.has(PropertyId::kSubscriptionId)) return Reason::kProtocolError;
  count_in();
  if (packet.qos == 0) {
    put(packet, topic, [](const Outcome&) {});  // who may not publish is not told
    return Reason::kSuccess;
  }
  if (version_ == Version::k5 && answers_.size() >= kReceiveMax) {
    return Reason::kReceiveMaximumExceeded;
  }
  if (packet.qos == 2) {
    publish_once(packet, topic);
  } else {
    AnswerRef answer = promise(PacketType::kPuback, packet.packet_id);
    put(packet, topic, [this, self = shared_from_this(), answer](const Outcome& outcome) {
      settle_answer(answer, reason_of(outcome));
    });
  }
  if (answers_.size() >= kReceiveMax && state_ == State::kOpen && !is_reading_paused_) {
    is_reading_paused_ = true;
    transport().pause_reading();
  }
  return Reason::kSuccess;
}

Reason MqttSession::resolve_alias(const PublishPacket& packet, std::string& topic) {
  topic = packet.topic;
  if (!packet.properties.has(PropertyId::kTopicAlias)) return Reason::kSuccess;
  const uint32_t alias = packet.properties.number(PropertyId::kTopicAlias);
  if (alias == 0 || alias > kTopicAliasMax) return Reason::kTopicAliasInvalid;
  if (aliases_.size() < alias) aliases_.resize(alias);
  std::string& known = aliases_[alias - 1];
  if (!topic.empty()) {
    known = topic;
  } else if (known.empty()) {
    return Reason::kProtocolError;
  } else {
    topic = known;
  }
  return Reason::kSuccess;
}

// Calls `done` once, within the call or later.
void MqttSession::put(const PublishPacket& packet, const std::string& topic, PutDone done) {
  auto call = std::make_shared<queue::PutCall>();
  Publication publication{packet.qos, packet.is_retained, version_ == Version::k5,
                          &packet.properties, queue::Body::copy(packet.payload)};
  if (!fill_put(publication, *call)) return done(Outcome::failed(mqi::reason::kFormatError));
  queue::OpenCall object;
  const bool is_queue = topic.starts_with(kQueuePrefix);
  if (is_queue) {
    Node node;
    Outcome found = broker().resolve(topic, NodeKind::kQueue, node);
    if (found.is_failed()) return done(found);
    object.object_name = node.name;
  } else {
    object.object_type = mqi::ot::kTopic;
    object.object_string = topic;
  }
  const bool clears = packet.is_retained && packet.payload.empty() && !is_queue;
  if (packet.is_retained && !clears && !is_queue) call->options |= mqi::pmo::kRetain;
  if (clears) done = clearing(topic, std::move(done));
  auto finish = [call, done](const Outcome& outcome) { done(outcome); };
  if (packet.qos < 2) {
    Outcome outcome = connection_->put1(object, *call, finish);
    if (!outcome.is_pending()) done(outcome);
    return;
  }
  call->options |= mqi::pmo::kSyncpoint;
  Outcome outcome = connection_->put1(object, *call);
  if (outcome.is_failed()) {
    (void)connection_->back();
    return done(outcome);
  }
  if (client_->is_durable()) {
    connection_->add_record(queue::client_record(
        packet_id_key(PacketIdKind::kReceived, client_id_, packet.packet_id), "1"));
  }
  outcome = connection_->commit(finish);
  if (!outcome.is_pending()) done(outcome);
}

// An empty retained publication goes to those who have subscribed, then nothing is retained.
MqttSession::PutDone MqttSession::clearing(const std::string& topic, PutDone done) {
  return [this, self = shared_from_this(), topic, done = std::move(done)](const Outcome& outcome) {
    if (outcome.is_failed()) return done(outcome);
    broker().manager().clear_retained(
        topic, [&home = executor(), done, outcome](queue::objects::AdminResult) {
          home.post([done, outcome] { done(outcome); });
        });
  };
}

void MqttSession::publish_once(const PublishPacket& packet, const std::string& topic) {
  AnswerRef answer = promise(PacketType::kPubrec, packet.packet_id);
  const uint16_t id = packet.packet_id;
  // It has come already; the answer goes behind that of the first.
  if (!client_->received.insert(id).second) return settle_answer(answer, Reason::kSuccess);
  put(packet, topic, [this, self = shared_from_this(), answer, id](const Outcome& outcome) {
    const Reason reason = reason_of(outcome);
    if (is_error(reason) && client_ != nullptr) client_->received.erase(id);
    settle_answer(answer, reason);
  });
}

Reason MqttSession::release_received(const Frame& frame) {
  AckPacket packet;
  if (Reason r = read_ack(frame, version_, packet); is_error(r)) return r;
  AnswerRef answer = promise(PacketType::kPubcomp, packet.packet_id);
  if (client_->received.erase(packet.packet_id) == 0) {
    // Only version 5 has a word for it; it is no failure for the others.
    settle_answer(answer, version_ == Version::k5 ? Reason::kPacketIdNotFound : Reason::kSuccess);
    return Reason::kSuccess;
  }
  if (!client_->is_stored) {
    settle_answer(answer, Reason::kSuccess);
    return Reason::kSuccess;
  }
  connection_->add_record(queue::erased_client_record(
      packet_id_key(PacketIdKind::kReceived, client_id_, packet.packet_id)));
  auto done = [this, self = shared_from_this(), answer](const Outcome& outcome) {
    settle_answer(answer, reason_of(outcome));
  };
  Outcome outcome = connection_->commit(done);
  if (!outcome.is_pending()) done(outcome);
  return Reason::kSuccess;
}

// --- answers ---

MqttSession::AnswerRef MqttSession::promise(PacketType type, uint16_t packet_id) {
  auto answer = std::make_shared<Answer>();
  answer->type = type;
  answer->packet_id = packet_id;
  answers_.push_back(answer);
  return answer;
}

void MqttSession::settle_answer(const AnswerRef& answer, Reason reason) {
  answer->reason = reason;
  answer->is_done = true;
  if (is_ended() || state_ != State::kOpen) return;
  const bool ends = is_error(reason) && version_ != Version::k5;
  if (ends) return end(reason);
  flush_answers();
}

void MqttSession::flush_answers() {
  std::string packets;
  while (!answers_.empty() && answers_.front()->is_done) {
    const Answer& answer = *answers_.front();
    write_ack(packets, version_, answer.type, answer.packet_id, answer.reason);
    answers_.pop_front();
  }
  if (!packets.empty()) send(std::move(packets));
  if (is_reading_paused_ && answers_.size() <= kReceiveMax / 2) {
    is_reading_paused_ = false;
    transport().resume_reading();
  }
}

}  // namespace millstream::wire::mqtt
