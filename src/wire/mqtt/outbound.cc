#include "wire/mqtt/outbound.h"

#include <algorithm>

#include "wire/common/content.h"
#include "wire/common/transport.h"
#include "wire/mqtt/content.h"
#include "wire/mqtt/writer.h"

namespace millstream::wire::mqtt {
namespace {

constexpr uint16_t kPacketIdMax = 65'535;

bool was_kept(const queue::Message& message) {
  const mqi::PropertyView ret = mqi::PropertyListView::trusted(message.properties).find("mqps.Ret");
  return ret.is_integer() && ret.integer == 1;
}

}  // namespace

// --- publications without a queue ---

void Inbox::publish(const queue::DirectPublicationRef& publication,
                    std::span<const queue::RouteRef> routes) {
  const size_t bytes = publication->message->body.size();
  bool wakes = false;
  {
    std::lock_guard lock(mutex_);
    if (is_closed_) return;
    for (const queue::RouteRef& route : routes) {
      const bool is_full =
          items_.size() >= kMessagesMax || (!items_.empty() && bytes_ + bytes > kBytesMax);
      if (is_full) {
        dropped_.fetch_add(1, std::memory_order_relaxed);
        continue;
      }
      items_.push_back({publication, route});
      bytes_ += bytes;
    }
    wakes = !items_.empty() && !std::exchange(is_posted_, true);
  }
  if (wakes) executor_.post(wake_);
}

std::vector<Inbox::Item> Inbox::take() {
  std::lock_guard lock(mutex_);
  is_posted_ = false;
  bytes_ = 0;
  return std::exchange(items_, {});
}

void Inbox::close() {
  std::lock_guard lock(mutex_);
  is_closed_ = true;
  items_.clear();
}

// --- begin and end ---

void Outbound::start(const Limits& limits) {
  limits_ = limits;
  limits_.window = std::min(limits.window, kWindowMax);
  inbox_ = std::make_shared<Inbox>(owner_.home(), [this, life = owner_.life()] {
    if (auto alive = life.lock()) drain_inbox();
  });
}

void Outbound::close() {
  if (inbox_ == nullptr) return;
  inbox_->close();
  inbox_ = nullptr;
  settle();
  for (const auto& [filter, source] : sources_) {
    if (source->consumer != nullptr) source->consumer->close();
  }
  ClientState& state = owner_.state_of_client();
  for (auto& [id, one] : in_flight_) {
    if (!one.source.empty()) continue;  // others may get it: backed out
    state.sent.insert(id);
    one.delivery.release();
  }
  in_flight_.clear();
  for (Held& held : held_) held.message.delivery.release();
  held_.clear();
  sources_.clear();
}

void Outbound::pause_if_congested() {
  if (is_paused_ || !owner_.is_congested()) return;
  is_paused_ = true;
  for (const auto& [filter, source] : sources_) source->consumer->pause();
}

void Outbound::resume() {
  if (inbox_ == nullptr || !is_paused_ || owner_.is_congested()) return;
  is_paused_ = false;
  drain_inbox();
  // A consumer's messages may come within the call, and may end sources.
  std::vector<std::shared_ptr<Consumer>> consumers;
  for (const auto& [filter, source] : sources_) consumers.push_back(source->consumer);
  for (const auto& consumer : consumers) {
    if (!is_paused_) consumer->resume();
  }
}

// --- sources ---

queue::RouteRef Outbound::route_for(const ClientSubscription& s) {
  using Takes = queue::PublicationRoute::Takes;
  auto route = std::make_shared<queue::PublicationRoute>();
  route->hides_dollar_topics = true;
  route->takes = s.options.qos == 0 ? Takes::kEverything : Takes::kNotPersistent;
  route->sink = inbox_;
  route->context = std::make_shared<ClientSubscription>(s);
  return route;
}

void Outbound::open_source(const std::string& filter, const std::string& queue, bool is_private,
                           std::function<void(const queue::Outcome&)> done) {
  auto source = std::make_unique<Source>(*this, filter);
  source->consumer = Consumer::create(owner_.connection().shared_from_this(), *source);
  ConsumeOptions options;
  options.node = {NodeKind::kQueue, queue};
  options.is_private = is_private;
  options.handles_poison =
      !filter.empty();  // a session's own messages have nobody else to get them
  std::shared_ptr<Consumer> consumer = source->consumer;
  sources_[filter] = std::move(source);
  consumer->open(options, std::move(done));
}

void Outbound::close_source(std::string_view filter) {
  auto found = sources_.find(filter);
  if (found == sources_.end()) return;
  found->second->consumer->close();
  std::erase_if(held_, [&](const Held& held) { return held.source == filter; });
  sources_.erase(found);
}

void Outbound::start_source(std::string_view filter) {
  auto found = sources_.find(filter);
  if (found == sources_.end()) return;
  std::shared_ptr<Consumer> consumer = found->second->consumer;
  if (is_paused_) consumer->pause();
  consumer->set_credit(limits_.window);
}

void Outbound::send_released() {
  for (uint16_t id : owner_.state_of_client().released) {
    std::string packet;
    write_ack(packet, owner_.version(), PacketType::kPubrel, id);
    owner_.out().send(std::move(packet));
  }
}

void Outbound::add_credit(std::string_view source) {
  auto found = sources_.find(source);
  if (found == sources_.end()) return;
  std::shared_ptr<Consumer> consumer = found->second->consumer;
  consumer->add_credit(1);
}

// --- messages ---

void Outbound::on_message(Source& source, Consumed message) {
  if (!held_.empty() || !has_room()) {
    held_.push_back({source.filter, std::move(message)});
    return;
  }
  deliver(std::string(source.filter), std::move(message));
  pause_if_congested();
}

void Outbound::deliver_held() {
  while (!held_.empty() && has_room()) {
    Held held = std::move(held_.front());
    held_.pop_front();
    deliver(held.source, std::move(held.message));
  }
  pause_if_congested();
}

void Outbound::deliver(const std::string& source, Consumed message) {
  ClientState& state = owner_.state_of_client();
  const ClientSubscription* s = nullptr;
  if (source.empty()) {
    s = state.find_mark(message.md.correlation_id.view());
  } else if (auto found = state.subscriptions.find(source); found != state.subscriptions.end()) {
    s = &found->second;
  }
  if (s == nullptr) {  // unsubscribed meanwhile
    if (source.empty()) (void)message.delivery.accept(owner_.home());
    return add_credit(source);
  }
  const MessageView view(*message.message, message.md);
  const std::string topic(s->kind == SubscriptionKind::kQueue ? std::string_view(s->filter)
                                                              : view.topic());
  Outgoing out;
  out.qos = std::min(published_qos(*message.message), s->options.qos);
  out.is_retained = was_kept(*message.message) ||
                    (s->options.retain_as_published && is_published_retained(*message.message));
  out.topic = topic;
  out.message = message.message.get();
  out.md = &message.md;
  out.subscription_id = s->id;
  if (out.qos > 0) {
    out.packet_id = choose_id(message.sequence);
    out.is_duplicate = state.sent.erase(out.packet_id) > 0 || message.is_maybe_redelivered ||
                       view.delivery_count() > 0;
  }
  const bool is_sent = send_publish(out);
  if (is_sent) owner_.counted_out();
  if (!is_sent || out.qos == 0) {
    (void)message.delivery.accept(owner_.home());
    return add_credit(source);
  }
  in_flight_.emplace(out.packet_id, InFlight{std::move(message.delivery), source, out.qos});
}

void Outbound::drain_inbox() {
  if (inbox_ == nullptr) return;
  if (owner_.is_congested()) {
    is_paused_ = true;  // they wait in the inbox
    return;
  }
  for (const Inbox::Item& item : inbox_->take()) {
    const auto& s = *static_cast<const ClientSubscription*>(item.route->context.get());
    const queue::DirectPublication& publication = *item.publication;
    Outgoing out;
    out.is_retained = publication.is_retained || (s.options.retain_as_published &&
                                                  is_published_retained(*publication.message));
    out.topic = publication.topic;
    out.message = publication.message.get();
    out.md = &publication.message->md;
    out.subscription_id = s.id;
    if (send_publish(out)) owner_.counted_out();
  }
  pause_if_congested();
}

void Outbound::write_topic(std::string_view topic, std::string& properties,
                           std::string_view& written) {
  written = topic;
  if (limits_.alias_max == 0 || topic.empty()) return;
  auto found = aliases_.find(std::string(topic));
  if (found != aliases_.end()) {
    written = {};
  } else if (aliases_.size() < limits_.alias_max) {
    const auto alias = static_cast<uint16_t>(aliases_.size() + 1);
    found = aliases_.emplace(topic, alias).first;
  } else {
    return;
  }
  PropertyWriter(properties).number(PropertyId::kTopicAlias, found->second);
}

bool Outbound::send_publish(const Outgoing& from) {
  const bool is_v5 = owner_.version() == Version::k5;
  Projection p = project(*from.message, *from.md, owner_.now_gmt_ms(), is_v5);
  if (is_v5 && from.subscription_id != 0) {
    PropertyWriter(p.properties).number(PropertyId::kSubscriptionId, from.subscription_id);
  }
  // A topic that is too long for the wire, or no text, came from another protocol.
  if (from.topic.size() > kTextBytesMax || !is_mqtt_text(from.topic)) return false;
  const size_t largest =
      kFixedHeaderBytesMax + 16 + from.topic.size() + p.properties.size() + p.payload.size();
  std::string_view topic = from.topic;
  // An alias is as good as agreed on, so not in a packet that may be too large to be sent.
  if (is_v5 && largest <= limits_.packet_bytes_max) write_topic(from.topic, p.properties, topic);
  PublishFields fields{from.is_duplicate, from.qos, from.is_retained,
                       from.packet_id,    topic,    p.properties};
  std::string packet;
  const size_t size = write_publish_head(packet, owner_.version(), fields, p.payload.size());
  if (size > limits_.packet_bytes_max) return false;
  if (p.payload.size() < Transport::kSharedBytesMin) {
    packet += p.payload.view();
    owner_.out().send(std::move(packet));
  } else {
    owner_.out().send(std::move(packet));
    owner_.out().send(p.payload);
  }
  return true;
}

bool Outbound::is_used(uint16_t id) const {
  return in_flight_.contains(id) || owner_.state_of_client().released.contains(id);
}

uint16_t Outbound::choose_id(queue::Sequence sequence) const {
  auto id = static_cast<uint16_t>(sequence % kPacketIdMax + 1);
  while (is_used(id)) id = id == kPacketIdMax ? 1 : static_cast<uint16_t>(id + 1);
  return id;
}

// --- answers ---

queue::Settlement& Outbound::settlement() {
  if (settlement_ == nullptr) {
    settlement_ = std::make_unique<queue::Settlement>(owner_.connection().manager());
  }
  return *settlement_;
}

bool Outbound::on_puback(uint16_t packet_id) {
  auto found = in_flight_.find(packet_id);
  if (found == in_flight_.end() || found->second.qos != 1) return false;
  InFlight one = std::move(found->second);
  in_flight_.erase(found);
  settlement().accept(std::move(one.delivery));
  deliver_held();
  add_credit(one.source);
  return true;
}

bool Outbound::on_pubrec(uint16_t packet_id, Reason reason) {
  ClientState& state = owner_.state_of_client();
  if (state.released.contains(packet_id)) {  // it has not got the PUBREL
    to_release_.push_back(packet_id);
    return true;
  }
  auto found = in_flight_.find(packet_id);
  if (found == in_flight_.end() || found->second.qos != 2) return false;
  InFlight one = std::move(found->second);
  in_flight_.erase(found);
  settlement().accept(std::move(one.delivery));
  if (!is_error(reason)) {
    state.released.insert(packet_id);
    to_release_.push_back(packet_id);
    if (state.is_durable()) {
      settlement().add_record(queue::client_record(
          packet_id_key(PacketIdKind::kReleased, state.client_id, packet_id), "1"));
    }
  }
  deliver_held();
  add_credit(one.source);
  return true;
}

bool Outbound::on_pubcomp(uint16_t packet_id) {
  ClientState& state = owner_.state_of_client();
  if (state.released.erase(packet_id) == 0) return false;
  if (state.is_stored) {
    settlement().add_record(queue::erased_client_record(
        packet_id_key(PacketIdKind::kReleased, state.client_id, packet_id)));
  }
  deliver_held();
  return true;
}

void Outbound::settle() {
  if (settlement_ == nullptr && to_release_.empty()) return;
  auto release = [this, life = owner_.life(),
                  ids = std::exchange(to_release_, {})](const queue::Outcome&) {
    auto alive = life.lock();
    if (alive == nullptr || inbox_ == nullptr) return;
    std::string packets;
    for (uint16_t id : ids) write_ack(packets, owner_.version(), PacketType::kPubrel, id);
    if (!packets.empty()) owner_.out().send(std::move(packets));
  };
  std::unique_ptr<queue::Settlement> settlement = std::move(settlement_);
  queue::Outcome outcome = queue::Outcome::ok();
  if (settlement != nullptr) outcome = settlement->run(owner_.home(), release);
  if (!outcome.is_pending()) release(outcome);
}

}  // namespace millstream::wire::mqtt
