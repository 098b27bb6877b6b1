#include "wire/amqp/broker/broker_session.h"

#include <algorithm>

#include "base/log.h"
#include "wire/amqp/broker/consumer_link.h"
#include "wire/amqp/broker/coordinator_link.h"
#include "wire/amqp/broker/producer_link.h"
#include "wire/amqp/broker/reason_condition.h"
#include "wire/amqp/broker/shared_state.h"

namespace millstream::wire::amqp {

using queue::Outcome;

namespace {

EngineLimits engine_limits(const EndpointLimits& limits) {
  EngineLimits out;
  out.links_max = limits.links_max;
  out.handle_max = limits.links_max == 0 ? 0 : limits.links_max - 1;
  out.message_bytes_max = limits.message_bytes_max;
  return out;
}

void add_text(Writer& w, Writer::Compound& map, std::string_view name, std::string_view value) {
  w.element(map);
  w.symbol(name);
  w.element(map);
  w.string(value);
}

}  // namespace

BrokerSession::BrokerSession(SessionHost& host, std::unique_ptr<Transport> transport,
                             SharedState& shared)
    : wire::Session(host, std::move(transport)),
      shared_(shared),
      engine_(*this, *this, engine_limits(host.limits())),
      alarm_(host.reactor(), [this] { tick(); }),
      transactions_(*this),
      unsettled_bytes_max_(host.limits().unsettled_bytes_max),
      outgoing_bytes_max_(host.limits().outgoing_bytes_max) {}

BrokerSession::~BrokerSession() = default;

// --- headers and SASL ---

void BrokerSession::on_started() { transport().expect(kProtocolHeaderBytes); }

size_t BrokerSession::on_received(std::string_view bytes) {
  size_t consumed = 0;
  bool has_more = true;
  while (has_more && stage_ != Stage::kEnded) {
    Stage before = stage_;
    std::string_view rest = bytes.substr(consumed);
    size_t n = 0;
    switch (stage_) {
      case Stage::kHeader:
      case Stage::kSecondHeader:
        n = receive_header(rest);
        break;
      case Stage::kSasl:
        n = receive_sasl(rest);
        break;
      case Stage::kFrames:
        n = receive_frames(rest);
        break;
      case Stage::kEnded:
        break;
    }
    consumed += n;
    has_more = n > 0 && stage_ != before;
  }
  return stage_ == Stage::kEnded ? bytes.size() : consumed;
}

size_t BrokerSession::receive_header(std::string_view bytes) {
  transport().expect(kProtocolHeaderBytes);
  if (bytes.size() < kProtocolHeaderBytes) return 0;
  ProtocolId id = ProtocolId::kAmqp;
  bool is_known = parse_protocol_header(bytes.substr(0, kProtocolHeaderBytes), id);
  if (stage_ == Stage::kSecondHeader) {
    if (!is_known || id != ProtocolId::kAmqp) {
      refuse_header(ProtocolId::kAmqp);
    } else {
      transport().send(protocol_header(ProtocolId::kAmqp));
      stage_ = Stage::kFrames;
      tick();
    }
  } else if (!is_known) {
    refuse_header(ProtocolId::kSasl);
  } else {
    receive_first_header(id, bytes.size() == kProtocolHeaderBytes);
  }
  return kProtocolHeaderBytes;
}

void BrokerSession::receive_first_header(ProtocolId id, bool is_alone) {
  if (id == ProtocolId::kAmqp) return admit_without_sasl();
  if (id == ProtocolId::kTls && !transport().has_tls() && is_alone) {
    auto tls = host().endpoint().tls_context(reactor());
    if (tls != nullptr) {
      transport().send(protocol_header(ProtocolId::kTls));
      return transport().start_tls(std::move(tls));  // another header follows
    }
  }
  if (id != ProtocolId::kSasl) return refuse_header(ProtocolId::kSasl);
  stage_ = Stage::kSasl;
  sasl_ =
      std::make_unique<SaslExchange>(broker(), caller(), executor(), transport(),
                                     [this](bool is_accepted, Login login, const std::string& why) {
                                       on_login(is_accepted, std::move(login), why);
                                     });
  sasl_->set_resumed([this] { transport().resume_reading(); });
  sasl_->start();
  transport().expect(kFrameHeaderBytes);
}

// 2.2: the header that we want instead, and the end.
void BrokerSession::refuse_header(ProtocolId wanted) {
  stage_ = Stage::kEnded;
  transport().send(protocol_header(wanted));
  transport().shut();
}

void BrokerSession::admit_without_sasl() {
  Caller who = caller();
  bool is_local_dev = broker().is_dev() && queue::security::is_loopback_address(who.address);
  if (!who.certificate_name.empty()) {
    login_ = {who.certificate_name, true};
  } else if (is_local_dev) {
    login_ = {"anonymous", false};
  } else {
    return refuse_header(ProtocolId::kSasl);
  }
  transport().send(protocol_header(ProtocolId::kAmqp));
  stage_ = Stage::kFrames;
  tick();
}

size_t BrokerSession::receive_sasl(std::string_view bytes) {
  size_t consumed = 0;
  while (stage_ == Stage::kSasl) {
    Frame frame;
    FrameResult result = parse_frame(bytes.substr(consumed), SaslExchange::kFrameBytesMax, frame);
    if (result == FrameResult::kPartial) {
      transport().expect(std::max<size_t>(frame.size, kFrameHeaderBytes));
      break;
    }
    SaslExchange::Result taken = SaslExchange::Result::kBroken;
    if (result == FrameResult::kWhole) taken = sasl_->receive(frame);
    if (taken == SaslExchange::Result::kBroken) {
      stage_ = Stage::kEnded;
      transport().abort();
      break;
    }
    consumed += frame.size;
    if (taken == SaslExchange::Result::kWaits) {
      transport().pause_reading();
      break;
    }
  }
  return consumed;
}

void BrokerSession::on_login(bool is_accepted, Login login, const std::string& why) {
  if (is_accepted) {
    login_ = std::move(login);
    stage_ = Stage::kSecondHeader;
    transport().expect(kProtocolHeaderBytes);
    return;
  }
  base::log_warning("AMQP: login from " + std::string(transport().peer_address()) +
                    " refused: " + why);
  stage_ = Stage::kEnded;
  transport().shut();
}

// --- frames ---

size_t BrokerSession::receive_frames(std::string_view bytes) {
  is_receiving_ = true;
  size_t consumed = engine_.receive(bytes, reactor().now_ns());
  is_receiving_ = false;
  if (stage_ != Stage::kFrames) return bytes.size();
  end_turn();
  transport().expect(engine_.wanted_bytes());
  return consumed;
}

void BrokerSession::end_turn() {
  run_settlement();
  resume_waiting();
  engine_.flush();
}

void BrokerSession::flush_later() {
  if (is_receiving_ || is_flush_posted_) return;
  is_flush_posted_ = true;
  executor().post([self = std::static_pointer_cast<BrokerSession>(shared_from_this())] {
    self->is_flush_posted_ = false;
    if (!self->is_ended()) self->end_turn();
  });
}

bool BrokerSession::is_congested() const {
  return const_cast<BrokerSession*>(this)->transport().outgoing_bytes() > outgoing_bytes_max_;
}

void BrokerSession::on_drained() {
  if (stage_ != Stage::kFrames) return;
  engine_.drained();
  end_turn();
}

void BrokerSession::tick() {
  is_lost_ = true;  // what ends here ends because nothing was heard
  int64_t next = engine_.tick(reactor().now_ns());
  is_lost_ = false;
  if (stage_ == Stage::kFrames) alarm_.set_at(next);
}

// --- open, attach, close ---

void BrokerSession::on_open(Engine&, const Open& open) {
  std::string container(open.container_id);
  if (has_symbol(open.desired_capabilities, "sole-connection-for-container")) {
    if (!shared_.claim_container(container)) {
      Writer info;
      Writer::Compound map = info.begin_map();
      info.element(map);
      info.symbol("invalid-field");
      info.element(map);
      info.symbol("container-id");
      info.end(map);
      return refuse_open(condition::kInvalidField, "another connection has this container-id",
                         info.bytes());
    }
    claimed_container_ = container;
  }
  std::string why;
  Outcome outcome = broker().connect(caller(), login_, container, executor(), connection_, &why);
  if (outcome.is_failed()) {
    base::log_warning("AMQP: connection from " + std::string(transport().peer_address()) +
                      " refused: " + (why.empty() ? text_of_reason(outcome.reason) : why));
    return refuse_open(condition_of_reason(outcome.reason), text_of_reason(outcome.reason));
  }
  handshake_done(login_.user, container);
  std::string offered = encode_symbols(
      {"sole-connection-for-container", "DELAYED_DELIVERY", "SHARED-SUBS", "ANONYMOUS-RELAY"});
  Writer properties;
  Writer::Compound map = properties.begin_map();
  add_text(properties, map, "product", "Millstream");
  add_text(properties, map, "queue-prefix", "queue://");
  add_text(properties, map, "topic-prefix", "topic://");
  properties.end(map);
  engine_.open({.container_id = broker().manager().name(),
                .offered_capabilities = offered,
                .properties = properties.bytes()});
  // The peer has said how long it waits.
  alarm_.set_after(1);
}

// An open that says that a close follows, as clients of the JMS mapping want it.
void BrokerSession::refuse_open(std::string_view condition, std::string_view description,
                                std::string_view info) {
  Writer properties;
  Writer::Compound map = properties.begin_map();
  properties.element(map);
  properties.symbol("amqp:connection-establishment-failed");
  properties.element(map);
  properties.boolean(true);
  properties.end(map);
  engine_.open({.container_id = broker().manager().name(), .properties = properties.bytes()});
  engine_.close(condition, description, info);
}

void BrokerSession::on_attach(Link& link, const Attach& attach) {
  std::shared_ptr<BrokerLink> served;
  if (link.is_sender()) {
    if (attach.source.empty()) {
      served = std::make_shared<UnsubscribeLink>(*this, link);
    } else {
      served = std::make_shared<ConsumerLink>(*this, link);
    }
  } else if (is_coordinator(attach.target)) {
    served = std::make_shared<CoordinatorLink>(*this, link);
  } else {
    served = std::make_shared<ProducerLink>(*this, link);
  }
  links_[&link] = served;
  link.set_handler(served.get());
  served->on_attach(attach);
}

Outcome BrokerSession::connect_more(std::shared_ptr<queue::Connection>& out) {
  queue::ConnectOptions options = connection_->options();
  options.publisher = connection_->publisher();
  return broker().manager().connect(options, out);
}

void BrokerSession::keep(const Link& link, uint32_t timeout_s,
                         std::vector<KeptDelivery> deliveries) {
  auto kept = shared_.kept_links();
  uint64_t number = kept->keep({container(), link.name(), link.is_sender()}, std::move(deliveries));
  if (number == 0) return;
  int64_t after_ns = std::min(timeout_s, KeptLinks::kTimeoutSMax) * net::kSecond;
  executor().post_at(executor().clock().monotonic_ns() + after_ns,
                     [weak = std::weak_ptr<KeptLinks>(kept), number] {
                       if (auto still = weak.lock(); still != nullptr) still->expire(number);
                     });
}

std::vector<KeptDelivery> BrokerSession::take_kept(const Link& link) {
  return shared_.kept_links()->take({container(), link.name(), link.is_sender()});
}

bool BrokerSession::owns_temporary_queue(std::string_view name) const {
  return std::find(temporary_queues_.begin(), temporary_queues_.end(), name) !=
         temporary_queues_.end();
}

void BrokerSession::on_finished(Engine&, const ErrorInfo*) {
  stage_ = Stage::kEnded;
  alarm_.cancel();
  run_settlement();
  transport().shut();
}

void BrokerSession::stop_with(std::string_view why) {
  if (stage_ != Stage::kFrames) return transport().shut();
  engine_.flush();
  engine_.close(condition::kConnectionForced, why);
  transport().shut();
}

void BrokerSession::on_stopping() { stop_with("the queue manager stops"); }

void BrokerSession::on_stopped_by_operator() { stop_with("stopped by an operator"); }

void BrokerSession::on_ended(CloseReason) {
  stage_ = Stage::kEnded;
  alarm_.cancel();
  is_lost_ = true;
  sasl_ = nullptr;
  auto links = std::move(links_);
  links_.clear();
  for (auto& [link, served] : links) served->lose();
  transactions_.roll_back_all();
  run_settlement();
  if (connection_ != nullptr) connection_->abandon();
  if (!claimed_container_.empty()) shared_.release_container(claimed_container_);
}

// --- settlement ---

void BrokerSession::accept(queue::Delivery delivery, std::shared_ptr<ConsumerLink> link,
                           uint32_t slot) {
  if (!settlement_.has_value()) settlement_.emplace(broker().manager());
  settlement_->accept(std::move(delivery));
  if (link != nullptr) settling_.push_back({std::move(link), slot});
  flush_later();
}

void BrokerSession::reject(queue::Delivery delivery, int32_t reason,
                           std::shared_ptr<ConsumerLink> link, uint32_t slot) {
  if (!settlement_.has_value()) settlement_.emplace(broker().manager());
  (void)settlement_->reject(std::move(delivery), reason);
  if (link != nullptr) settling_.push_back({std::move(link), slot});
  flush_later();
}

void BrokerSession::run_settlement() {
  if (!settlement_.has_value()) return;
  queue::Settlement settlement = std::move(*settlement_);
  settlement_.reset();
  std::vector<Waiting> waiting = std::exchange(settling_, {});
  if (waiting.empty()) {
    (void)settlement.run(executor());
    return;
  }
  auto told = [self = shared_from_this(), waiting = std::move(waiting)](const Outcome&) {
    for (const Waiting& w : waiting) w.link->settled(w.slot);
    std::static_pointer_cast<BrokerSession>(self)->flush_later();
  };
  Outcome outcome = settlement.run(executor(), told);
  if (!outcome.is_pending()) told(outcome);
}

void BrokerSession::wait_for_room(std::weak_ptr<ConsumerLink> link) {
  waiting_for_room_.push_back(std::move(link));
}

void BrokerSession::resume_waiting() {
  if (waiting_for_room_.empty() || is_full()) return;
  auto waiting = std::exchange(waiting_for_room_, {});
  for (const auto& weak : waiting) {
    if (auto link = weak.lock(); link != nullptr) link->resume();
  }
}

}  // namespace millstream::wire::amqp
