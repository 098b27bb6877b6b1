#include "wire/amqp/broker/consumer_link.h"

#include <algorithm>
#include <utility>

#include "wire/amqp/broker/broker_session.h"
#include "wire/amqp/broker/reason_condition.h"

namespace millstream::wire::amqp {

using queue::Outcome;

ConsumerLink::~ConsumerLink() {
  if (consumer_ != nullptr) consumer_->close();
}

// --- attach ---

void ConsumerLink::on_attach(const Attach& attach) {
  sender_settle_mode_ = attach.snd_settle_mode;
  receiver_settle_mode_ = attach.rcv_settle_mode;
  is_settled_mode_ = attach.snd_settle_mode == kSenderSettled;
  target_ = attach.target;
  if (const char* why = read_source(attach.source, request_); why != nullptr) {
    return link_->refuse(condition::kInvalidField, why);
  }
  Node node;
  Outcome outcome = request_.is_dynamic ? make_dynamic(node) : resolve(node);
  if (outcome.is_failed()) return refuse(outcome);
  ConsumeOptions options = options_for(node);
  if (!options.subscription.empty()) {
    outcome = replace_subscription(options);
    if (outcome.is_failed()) return refuse(outcome);
  }
  take_over_unsettled(attach);
  consumer_ = Consumer::create(session_.shared_connection(), *this);
  auto self = shared_from_this();
  consumer_->open(std::move(options), [this, self](const Outcome& o) { on_opened(o); });
}

Outcome ConsumerLink::resolve(Node& node) {
  address_ = request_.address;
  return session_.broker().resolve(address_, request_.kind, node);
}

Outcome ConsumerLink::make_dynamic(Node& node) {
  if (request_.kind == NodeKind::kTopic) {
    address_ = session_.broker().make_temporary_topic();
    node = {NodeKind::kTopic, address_};
    return Outcome::ok();
  }
  Outcome outcome =
      session_.broker().make_temporary_queue(session_.connection(), dynamic_, dynamic_queue_);
  if (outcome.is_failed()) return outcome;
  session_.add_temporary_queue(dynamic_queue_);
  address_ = dynamic_queue_;
  node = {NodeKind::kQueue, dynamic_queue_};
  return Outcome::ok();
}

ConsumeOptions ConsumerLink::options_for(const Node& node) {
  ConsumeOptions options;
  options.node = node;
  options.selector = request_.selector;
  if (node.is_queue()) {
    options.browses = request_.copies;
    // Copies are nobody's to settle.
    options.is_settled = is_settled_mode_ && !request_.copies;
    options.is_private =
        session_.owns_temporary_queue(node.name) && !request_.copies && request_.selector.empty();
    return options;
  }
  is_durable_ = request_.durable > 0;
  options.is_settled = is_settled_mode_;
  options.is_no_local = request_.is_no_local;
  options.is_durable = is_durable_;
  options.is_shared = request_.is_shared;
  if (is_durable_ || request_.is_shared) {
    subscription_ =
        subscription_name(session_.container(), link_->name(), request_.is_global, is_durable_);
    options.subscription = subscription_;
  }
  return options;
}

// A subscription of the same name with another topic or selector is another one (JMS 2, 8.3.3).
Outcome ConsumerLink::replace_subscription(const ConsumeOptions& options) {
  queue::SubscriptionRef there = session_.connection().manager().pubsub().find(subscription_);
  if (there == nullptr || there->is_admin) return Outcome::ok();
  bool is_same = there->topic == options.node.name && there->selection == options.selector &&
                 there->is_shared == options.is_shared;
  return is_same ? Outcome::ok() : remove_subscription(session_.connection(), subscription_);
}

void ConsumerLink::on_opened(const Outcome& outcome) {
  if (is_gone()) return;
  if (outcome.is_failed()) {
    consumer_ = nullptr;
    refuse(outcome);
  } else {
    std::string source = encode_source(request_, address_);
    link_->attach({.snd_settle_mode = sender_settle_mode_,
                   .rcv_settle_mode = receiver_settle_mode_,
                   .source = source,
                   .target = target_,
                   .unsettled = unsettled_});
  }
  session_.flush_later();
}

void ConsumerLink::refuse(const Outcome& outcome) {
  link_->refuse(condition_of_reason(outcome.reason), text_of_reason(outcome.reason));
}

// --- messages ---

void ConsumerLink::on_credit(Link& link) {
  if (consumer_ == nullptr || !link.is_attached()) return;
  auto self = shared_from_this();
  auto consumer = consumer_;
  take_acquisition(link);
  send_resumed();
  if (is_gone() || !resumed_.empty()) return;
  send_waiting();
  if (is_gone() || !waiting_.empty()) return;
  if (session_.is_full()) return wait_for_room();
  is_paused_ = false;
  consumer->resume();
  if (is_gone()) return;
  uint32_t credit = link.credit();
  if (waiting_.empty() && (credit != consumer->credit() || link.wants_drain())) {
    consumer->set_credit(credit);
  }
  if (!is_gone()) drain_if_asked();
}

void ConsumerLink::drain_if_asked() {
  if (!link_->wants_drain()) return;
  auto self = shared_from_this();
  consumer_->drain([this, self] {
    // What waits goes first; that ends in on_credit(), which looks again.
    if (is_gone() || !waiting_.empty()) return;
    link_->drained();
    session_.flush_later();
  });
}

void ConsumerLink::wait_for_room() {
  if (std::exchange(waits_for_room_, true)) return;
  session_.wait_for_room(std::static_pointer_cast<ConsumerLink>(shared_from_this()));
}

void ConsumerLink::resume() {
  waits_for_room_ = false;
  if (!is_gone()) on_credit(*link_);
}

void ConsumerLink::pause() {
  is_paused_ = true;
  if (consumer_ != nullptr) consumer_->pause();
}

void ConsumerLink::on_message(Consumer&, Consumed message) {
  if (is_gone()) return message.delivery.release();
  if (!waiting_.empty() || !link_->can_send()) {
    waiting_.push_back(std::move(message));
    return pause();
  }
  send(std::move(message));
  if (is_gone()) return;
  if (session_.is_full()) {
    wait_for_room();
    pause();
  } else if (link_->credit() > 0 && !link_->can_send()) {
    pause();
  }
}

void ConsumerLink::send_waiting() {
  while (!waiting_.empty() && link_->can_send()) {
    Consumed message = std::move(waiting_.front());
    waiting_.pop_front();
    send(std::move(message));
    if (is_gone()) return;
  }
}

void ConsumerLink::send(Consumed message) {
  OutboundMessage& out = session_.scratch();
  out.make(*message.message, message.md, message.is_maybe_redelivered);
  uint64_t bytes_max = link_->peer_message_bytes_max();
  if (bytes_max != 0 && out.size() > bytes_max) {
    message.delivery.release();
    pause();
    return link_->close(condition::kMessageSizeExceeded, "a message is longer than the link takes");
  }
  Writer tag, state;
  tag.big64(++last_tag_);
  Outgoing outgoing{.tag = tag.bytes(),
                    .is_settled = is_settled_mode_,
                    .head = out.head(),
                    .body = &out.body(),
                    .tail = out.tail()};
  Transaction* transaction = acquiring_ == 0 ? nullptr : session_.transactions().find(acquiring_);
  if (is_settled_mode_) {
    (void)link_->send(outgoing);
  } else {
    uint32_t slot = take_slot(std::move(message.delivery), out.size());
    if (request_.timeout_s > 0) slots_[slot].tag = tag.bytes();
    outgoing.cookie = slot;
    std::string name;
    if (transaction != nullptr) {
      name = transaction->name();
      encode_state(state, {.txn_id = name, .is_transactional = true});
      outgoing.state = state.bytes();
      slots_[slot].acquired_by = acquiring_;
      transaction->add_acquired(std::static_pointer_cast<ConsumerLink>(shared_from_this()), slot);
    }
    slots_[slot].id = link_->send(outgoing);
  }
  session_.count_out();
  session_.flush_later();
}

uint32_t ConsumerLink::take_slot(queue::Delivery delivery, size_t bytes) {
  uint32_t slot = 0;
  if (free_slots_.empty()) {
    slot = static_cast<uint32_t>(slots_.size());
    slots_.emplace_back();
  } else {
    slot = free_slots_.back();
    free_slots_.pop_back();
  }
  Slot& s = slots_[slot];
  s.delivery = std::move(delivery);
  s.bytes = static_cast<uint32_t>(std::min<size_t>(bytes, UINT32_MAX));
  s.is_used = true;
  session_.add_unsettled(s.bytes);
  return slot;
}

void ConsumerLink::free_slot(uint32_t slot) {
  session_.add_unsettled(-static_cast<int64_t>(slots_[slot].bytes));
  slots_[slot] = Slot();
  free_slots_.push_back(slot);
}

void ConsumerLink::on_consumer_failed(Consumer&, int32_t reason) {
  if (is_gone()) return;
  link_->close(condition_of_reason(reason), text_of_reason(reason));
  session_.flush_later();
}

// --- outcomes ---

void ConsumerLink::on_state(Link&, uint32_t, uint64_t cookie, const DeliveryState& state,
                            bool is_settled) {
  auto slot = static_cast<uint32_t>(cookie);
  if (slot >= slots_.size() || !slots_[slot].is_used) return;
  Slot& s = slots_[slot];
  if (s.said != StateKind::kNone) {  // becoming durable
    s.is_settled_by_peer = s.is_settled_by_peer || is_settled;
    return;
  }
  if (state.is_transactional) return retire(slot, state, is_settled);
  if (s.retired_by != 0) {
    Transaction* t = session_.transactions().find(s.retired_by);
    bool has_changed = state.is_terminal();
    if (t != nullptr && has_changed) t->forget(*this, slot);
    if (t != nullptr && !has_changed && is_settled) {
      t->take_over(*this, slot, std::move(s.delivery));
      return free_slot(slot);
    }
    s.retired_by = 0;
  }
  if (state.is_terminal()) {
    apply(slot, state, is_settled);
  } else if (is_settled) {
    // Settled without a word: what the source has as its default, else as if it had failed.
    bool has_default = request_.default_kind != StateKind::kNone;
    apply(slot,
          {.kind = has_default ? request_.default_kind : StateKind::kModified,
           .is_delivery_failed = has_default ? request_.default_is_failed : true},
          true);
  }
  if (is_paused_ && !is_gone() && link_->can_send()) on_credit(*link_);
}

void ConsumerLink::apply(uint32_t slot, const DeliveryState& state, bool is_settled) {
  Slot& s = slots_[slot];
  if (!s.delivery) return finish(slot, state, is_settled);
  bool is_removed = state.kind == StateKind::kAccepted || state.kind == StateKind::kRejected;
  if (!is_removed) {
    if (state.kind == StateKind::kModified && state.is_undeliverable_here && consumer_ != nullptr) {
      consumer_->pass_over(s.delivery.sequence());
    }
    bool counts = state.kind == StateKind::kModified && state.is_delivery_failed;
    counts ? s.delivery.back_out() : s.delivery.release();
    return finish(slot, state, is_settled);
  }
  std::shared_ptr<ConsumerLink> self;
  if (!is_settled) {
    s.said = state.kind;
    self = std::static_pointer_cast<ConsumerLink>(shared_from_this());
  }
  queue::Delivery delivery = std::move(s.delivery);
  if (is_settled) free_slot(slot);
  if (state.kind == StateKind::kAccepted) {
    session_.accept(std::move(delivery), std::move(self), slot);
  } else {
    session_.reject(std::move(delivery), queue::kFeedbackRejected, std::move(self), slot);
  }
}

void ConsumerLink::finish(uint32_t slot, const DeliveryState& state, bool is_settled) {
  if (!is_settled) link_->settle(slots_[slot].id, state);
  free_slot(slot);
}

void ConsumerLink::settled(uint32_t slot) {
  if (is_gone()) return;
  Slot& s = slots_[slot];
  finish(slot, {.kind = s.said}, s.is_settled_by_peer);
}

void ConsumerLink::retire(uint32_t slot, const DeliveryState& state, bool is_settled) {
  if (!state.is_terminal() && !is_settled) return;
  Transaction* t = session_.transactions().find(state.txn_id);
  if (t == nullptr) {
    return link_->close(condition::kUnknownTransaction, "no transaction has this identifier");
  }
  Slot& s = slots_[slot];
  if (s.retired_by != 0) {
    if (Transaction* before = session_.transactions().find(s.retired_by); before != nullptr) {
      before->forget(*this, slot);
    }
  }
  RetiredDelivery retired{.slot = slot,
                          .kind = state.is_terminal() ? state.kind : StateKind::kAccepted,
                          .is_failed = state.is_delivery_failed};
  if (is_settled) {
    retired.delivery = std::move(s.delivery);
    free_slot(slot);
  } else {
    s.retired_by = t->id();
    retired.link = std::static_pointer_cast<ConsumerLink>(shared_from_this());
  }
  t->retire(std::move(retired));
}

void ConsumerLink::discharged(uint32_t slot, StateKind kind, bool is_committed) {
  if (is_gone()) return;
  Slot& s = slots_[slot];
  s.retired_by = 0;
  if (!is_committed) return;
  finish(slot, {.kind = kind}, false);
  session_.flush_later();
}

// --- acquisition in a transaction (4.4.5.3) ---

void ConsumerLink::take_acquisition(Link& link) {
  acquiring_ = 0;
  if (link.flow_properties().empty()) return;
  std::string_view name;
  bool is_map = for_each_entry(link.flow_properties(), [&](const Value& key, const Value& v) {
    if (key.is_text() && key.bytes == "txn-id" && v.type == Type::kBinary) name = v.bytes;
  });
  if (!is_map || name.empty()) return;
  Transaction* t = session_.transactions().find(name);
  if (t != nullptr) acquiring_ = t->id();
}

void ConsumerLink::acquisition_rolled_back(uint32_t slot, uint64_t transaction) {
  if (is_gone() || !slots_[slot].is_used || slots_[slot].acquired_by != transaction) return;
  slots_[slot].delivery.back_out();
  finish(slot, {.kind = StateKind::kReleased}, false);
  session_.flush_later();
}

// --- the end ---

void ConsumerLink::on_end(Link& link, End end) {
  if (consumer_ != nullptr) {
    bool is_removed = false;
    if (end == End::kClosed && is_durable_) {
      auto there = session_.connection().manager().pubsub().find(subscription_);
      is_removed = there != nullptr && there->users <= 1;
    }
    consumer_->close(is_removed);
    consumer_ = nullptr;
  }
  release_all(link, end);
  if (dynamic_ != queue::kNoObject) {
    (void)session_.connection().close(dynamic_);
    session_.drop_temporary_queue(dynamic_queue_);
  }
}

void ConsumerLink::release_all(Link& link, End end) {
  bool is_kept = end != End::kClosed && request_.timeout_s > 0;
  std::vector<KeptDelivery> kept;
  for (KeptDelivery& d : resumed_) {
    if (is_kept) kept.push_back(std::move(d));
  }
  resumed_.clear();
  for (Consumed& message : waiting_) message.delivery.release();
  waiting_.clear();
  std::vector<queue::Delivery> left;
  for (uint32_t slot = 0; slot < slots_.size(); ++slot) {
    Slot& s = slots_[slot];
    if (!s.is_used) continue;
    session_.add_unsettled(-static_cast<int64_t>(s.bytes));
    Transaction* t = s.retired_by == 0 ? nullptr : session_.transactions().find(s.retired_by);
    if (t != nullptr) {
      t->take_over(*this, slot, std::move(s.delivery));
    } else if (s.delivery && is_kept && !s.tag.empty()) {
      kept.push_back({.tag = std::move(s.tag), .delivery = std::move(s.delivery)});
    } else if (s.delivery) {
      left.push_back(std::move(s.delivery));
    }
  }
  // Calls that are under way still refer to slots.
  for (Slot& s : slots_) s = Slot();
  std::sort(left.begin(), left.end(),
            [](const auto& a, const auto& b) { return a.sequence() < b.sequence(); });
  for (queue::Delivery& d : left) end == End::kLost ? d.back_out() : d.release();
  if (!kept.empty()) session_.keep(link, request_.timeout_s, std::move(kept));
}

// --- resumption (2.6.13) ---

// What the client remembers of the link before decides: with an outcome it is settled, without one
// sent again under its tag; what it does not remember goes back to the queue.
void ConsumerLink::take_over_unsettled(const Attach& attach) {
  std::vector<KeptDelivery> kept = session_.take_kept(*link_);
  std::vector<KeptDelivery> remembered;
  for (KeptDelivery& d : kept) {
    bool is_remembered = false;
    (void)for_each_entry(attach.unsettled, [&](const Value& key, const Value& value) {
      DeliveryState state;
      if (key.type != Type::kBinary || key.bytes != d.tag) return;
      is_remembered = decode_state(value.whole, state);
      if (state.is_terminal()) d.said = state.kind;
    });
    if (is_remembered) {
      remembered.push_back(std::move(d));
    } else {
      d.delivery.release();
    }
  }
  // We have said nothing of them.
  std::vector<KeptDelivery> told;
  for (const KeptDelivery& d : remembered) {
    told.push_back({.tag = d.tag});
    // Tags of this link have to be others.
    for (uint64_t tag = 0; const char c : d.tag) {
      tag = tag << 8 | static_cast<uint8_t>(c);
      last_tag_ = std::max(last_tag_, tag);
    }
  }
  unsettled_ = encode_unsettled(told);
  for (KeptDelivery& d : remembered) resumed_.push_back(std::move(d));
}

void ConsumerLink::send_resumed() {
  while (!resumed_.empty() && link_->can_send()) {
    KeptDelivery kept = std::move(resumed_.front());
    resumed_.pop_front();
    kept.said == StateKind::kNone ? send_again(std::move(kept)) : send_outcome(kept);
    if (kept.said == StateKind::kAccepted) session_.accept(std::move(kept.delivery));
    if (kept.said == StateKind::kRejected) {
      session_.reject(std::move(kept.delivery), queue::kFeedbackRejected);
    }
    if (kept.said == StateKind::kReleased) kept.delivery.release();
  }
}

void ConsumerLink::send_again(KeptDelivery kept) {
  OutboundMessage& out = session_.scratch();
  queue::MessageRef message = kept.delivery.message();
  out.make(*message, message->md, true);
  Writer state;
  encode(state, Received{});  // from the beginning
  uint32_t slot = take_slot(std::move(kept.delivery), out.size());
  slots_[slot].tag = kept.tag;
  slots_[slot].id = link_->send({.tag = kept.tag,
                                 .is_resumed = true,
                                 .state = state.bytes(),
                                 .head = out.head(),
                                 .body = &out.body(),
                                 .tail = out.tail(),
                                 .cookie = slot});
  session_.flush_later();
}

// The client has settled it in its mind; this is our word that we know.
void ConsumerLink::send_outcome(const KeptDelivery& kept) {
  Writer state;
  encode_state(state, {.kind = kept.said});
  (void)link_->send(
      {.tag = kept.tag, .is_settled = true, .is_resumed = true, .state = state.bytes()});
  session_.flush_later();
}

// --- unsubscribe ---

void UnsubscribeLink::on_attach(const Attach& attach) {
  bool is_global = has_symbol(attach.desired_capabilities, "global");
  subscription_ = subscription_name(session_.container(), link_->name(), is_global, true);
  auto there = session_.connection().manager().pubsub().find(subscription_);
  if (there == nullptr) {
    subscription_.clear();
    return link_->refuse(condition::kNotFound, "there is no such subscription");
  }
  SourceRequest stored;
  stored.durable = 2;
  stored.expiry_policy = "never";
  stored.copies = true;
  stored.capabilities = encode_symbols({"topic"});
  std::string source = encode_source(stored, there->topic);
  link_->attach({.snd_settle_mode = attach.snd_settle_mode,
                 .rcv_settle_mode = attach.rcv_settle_mode,
                 .source = source,
                 .target = attach.target});
}

void UnsubscribeLink::on_detached(Link& link, bool is_closed, const ErrorInfo* error) {
  if (is_closed && !subscription_.empty()) {
    Outcome outcome = remove_subscription(session_.connection(), subscription_);
    if (outcome.is_failed()) {
      link.close(condition_of_reason(outcome.reason), text_of_reason(outcome.reason));
    }
  }
  BrokerLink::on_detached(link, is_closed, error);
}

Outcome remove_subscription(queue::Connection& connection, const std::string& name) {
  auto there = connection.manager().pubsub().find(name);
  if (there == nullptr) return Outcome::failed(mqi::reason::kNoSubscription);
  if (there->users > 0) return Outcome::failed(mqi::reason::kSubscriptionInUse);
  queue::SubscribeCall call;
  call.name = name;
  call.options = mqi::so::kResume;
  call.is_shared = there->is_shared;
  Outcome outcome = connection.subscribe(call);
  if (outcome.is_failed()) return outcome;
  if (call.destination != queue::kNoObject) (void)connection.close(call.destination);
  return connection.close(call.handle, mqi::co::kRemoveSub);
}

}  // namespace millstream::wire::amqp
