// SUBSCRIBE and UNSUBSCRIBE. What a subscription is in the queue manager: client_state.h.
#include "mqi/reasons.h"
#include "wire/mqtt/session.h"
#include "wire/mqtt/topic_names.h"

namespace millstream::wire::mqtt {

using queue::Outcome;

// One SUBSCRIBE: it is answered when all its subscriptions, and the client's record, are durable.
struct MqttSession::Subscribing {
  struct Item {
    ClientSubscription subscription;
    Reason code = Reason::kUnspecified;
    bool was_there = false;
  };
  uint16_t packet_id = 0;
  std::vector<Item> items;
  size_t left = 0;
};

namespace {

SubscriptionKind mqtt_kind(std::string_view filter) {
  if (filter.starts_with(kQueuePrefix)) return SubscriptionKind::kQueue;
  FilterParts parts;
  if (split_filter(filter, parts) && !parts.group.empty()) return SubscriptionKind::kShared;
  return SubscriptionKind::kTopic;
}

Reason filter_reason(const Outcome& outcome) {
  const Reason reason = reason_of(outcome);
  return reason == Reason::kTopicNameInvalid ? Reason::kTopicFilterInvalid : reason;
}

}  // namespace

Reason MqttSession::subscribe(const Frame& frame) {
  SubscribePacket packet;
  if (Reason r = read_subscribe(frame, version_, packet); is_error(r)) return r;
  auto work = std::make_shared<Subscribing>();
  work->packet_id = packet.packet_id;
  uint32_t id = 0;
  packet.properties.for_each_subscription_id([&](uint32_t given) { id = given; });
  std::string_view filter;
  FilterOptions options;
  while (next_filter(packet, version_, filter, options)) {
    Subscribing::Item item;
    item.subscription.filter = filter;
    item.subscription.kind = mqtt_kind(filter);
    item.subscription.options = options;
    item.subscription.id = id;
    const bool is_shared = item.subscription.kind == SubscriptionKind::kShared;
    if (is_shared && options.no_local) return Reason::kProtocolError;
    work->items.push_back(std::move(item));
  }
  work->left = work->items.size();
  for (size_t i = 0; i < work->items.size() && state_ == State::kOpen; ++i) {
    subscribe_one(work, i);
  }
  return Reason::kSuccess;
}

void MqttSession::subscribe_one(const SubscribingRef& work, size_t at) {
  Subscribing::Item& item = work->items[at];
  ClientSubscription& s = item.subscription;
  FilterParts parts;
  if (s.kind != SubscriptionKind::kQueue && !split_filter(s.filter, parts)) {
    return subscribed(work, at, Outcome::failed(mqi::reason::kTopicStringError));
  }
  auto known = client_->subscriptions.find(s.filter);
  item.was_there = known != client_->subscriptions.end();
  if (!item.was_there && client_->subscriptions.size() >= limits().links_max) {
    return subscribed(work, at, Outcome::failed(mqi::reason::kResourceProblem));
  }
  auto done = [this, self = shared_from_this(), work, at](const Outcome& outcome) {
    subscribed(work, at, outcome);
  };
  if (item.was_there) {  // only what the session makes of it changes
    s.mark = known->second.mark;
    known->second = s;
    return done(Outcome::ok());
  }
  if (s.kind == SubscriptionKind::kQueue) {
    Node node;
    Outcome found = broker().resolve(s.filter, NodeKind::kQueue, node);
    if (found.is_failed()) return done(found);
    client_->subscriptions[s.filter] = s;
    return outbound_.open_source(s.filter, node.name, false, done);
  }
  if (Outcome o = may_subscribe(parts.filter); o.is_failed()) return done(o);
  if (s.kind == SubscriptionKind::kShared) {
    std::string queue;
    Outcome joined = clients_->join_group(s.filter, client_->user, queue);
    if (joined.is_failed()) return done(joined);
    client_->subscriptions[s.filter] = s;
    return outbound_.open_source(s.filter, queue, true, done);
  }
  s.mark = clients_->new_mark();
  Outcome outcome = subscribe_topic(s, done);
  if (!outcome.is_pending()) done(outcome);
}

// Whether the user may: what MQSUB says to a subscription that is gone at once. The one that stays
// is the queue manager's own, because its queue is not the user's to put to.
Outcome MqttSession::may_subscribe(std::string_view filter) {
  queue::SubscribeCall call;
  namespace so = mqi::so;
  call.options = so::kCreate | so::kManaged | so::kNewPublicationsOnly;
  call.object_string = filter;
  Outcome outcome = connection_->subscribe(call);
  if (outcome.is_failed()) return outcome;
  (void)connection_->close(call.handle);
  (void)connection_->close(call.destination);
  return Outcome::ok();
}

Outcome MqttSession::subscribe_topic(ClientSubscription& s, queue::Done done) {
  if (client_->queue.empty()) {
    if (Outcome o = clients_->make_queue(*client_); o.is_failed()) return o;
    outbound_.open_source("", client_->queue, true, [](const Outcome&) {});
    outbound_.start_source("");
  }
  Outcome outcome = clients_->add_subscription(*client_, s, executor(), std::move(done));
  if (!outcome.is_failed()) client_->subscriptions[s.filter] = s;
  return outcome;
}

void MqttSession::take_publications(const queue::Subscription& from, const ClientSubscription& s) {
  from.not_from = s.options.no_local ? connection_->publisher() : 0;
  broker().manager().pubsub().set_route(from, outbound_.route_for(s));
}

void MqttSession::subscribed(const SubscribingRef& work, size_t at, const Outcome& outcome) {
  if (is_ended() || state_ != State::kOpen) return;
  Subscribing::Item& item = work->items[at];
  const ClientSubscription& s = item.subscription;
  if (outcome.is_failed()) {
    item.code = filter_reason(outcome);
    if (!item.was_there) {
      outbound_.close_source(s.filter);
      client_->subscriptions.erase(s.filter);
    }
  } else {
    item.code = static_cast<Reason>(s.options.qos);
    if (s.kind == SubscriptionKind::kTopic) {
      queue::SubscriptionRef found =
          broker().manager().pubsub().find(subscription_name(client_id_, s.filter));
      if (found != nullptr) take_publications(*found, s);
    }
  }
  if (--work->left > 0) return;
  clients_->save(*client_, executor(),
                 [this, self = shared_from_this(), work](const Outcome& saved) {
                   if (is_ended() || state_ != State::kOpen) return;
                   if (saved.is_failed()) return end(reason_of(saved));
                   finish_subscribing(work);
                 });
}

void MqttSession::finish_subscribing(const SubscribingRef& work) {
  std::string codes;
  for (const Subscribing::Item& item : work->items) {
    const bool is_old_failure = is_error(item.code) && version_ != Version::k5;
    codes += static_cast<char>(is_old_failure ? Reason::kUnspecified : item.code);
  }
  std::string packet;
  write_suback(packet, version_, PacketType::kSuback, work->packet_id, codes);
  send(std::move(packet));
  for (const Subscribing::Item& item : work->items) {
    if (is_error(item.code)) continue;
    const ClientSubscription& s = item.subscription;
    if (s.kind != SubscriptionKind::kTopic) {
      if (!item.was_there) outbound_.start_source(s.filter);
      if (state_ != State::kOpen) return;
      continue;
    }
    const uint8_t handling = s.options.retain_handling;
    if (handling == 0 || (handling == 1 && !item.was_there)) send_retained(s.filter);
  }
}

void MqttSession::send_retained(const std::string& filter) {
  queue::PubSub& pubsub = broker().manager().pubsub();
  queue::SubscriptionRef found = pubsub.find(subscription_name(client_id_, filter));
  if (found == nullptr) return;
  queue::UnitOfWork unit;
  pubsub.send_retained(*found, unit);
  broker().manager().run_detached(std::move(unit));
}

Reason MqttSession::unsubscribe(const Frame& frame) {
  SubscribePacket packet;
  if (Reason r = read_subscribe(frame, version_, packet); is_error(r)) return r;
  std::string codes;
  std::string_view filter;
  while (next_filter(packet, filter)) {
    auto found = client_->subscriptions.find(filter);
    if (found == client_->subscriptions.end()) {
      codes += static_cast<char>(Reason::kNoSubscriptionExisted);
      continue;
    }
    const ClientSubscription gone = std::move(found->second);
    client_->subscriptions.erase(found);
    if (gone.kind != SubscriptionKind::kTopic) outbound_.close_source(gone.filter);
    clients_->drop_subscription(*client_, gone);
    codes += static_cast<char>(Reason::kSuccess);
  }
  clients_->save(*client_, executor(),
                 [this, self = shared_from_this(), codes, id = packet.packet_id](const Outcome& o) {
                   if (is_ended() || state_ != State::kOpen) return;
                   if (o.is_failed()) return end(reason_of(o));
                   std::string answer;
                   write_suback(answer, version_, PacketType::kUnsuback, id, codes);
                   send(std::move(answer));
                 });
  return Reason::kSuccess;
}

}  // namespace millstream::wire::mqtt
