#include "wire/amqp/broker/producer_link.h"

#include <algorithm>
#include <utility>

#include "wire/amqp/broker/broker_session.h"
#include "wire/amqp/broker/reason_condition.h"

namespace millstream::wire::amqp {

using queue::Outcome;

// A message on its way to a queue. It holds the session, because the answer may come after it.
struct ProducerLink::Put {
  queue::PutCall call;
  std::shared_ptr<BrokerLink> link;
  std::shared_ptr<wire::Session> session;
  uint32_t id = 0;
  std::string tag;  // in mode second
  bool is_settled = false;
  uint64_t transaction = 0;
};

void ProducerLink::on_attach(const Attach& attach) {
  if (const char* why = read_target(attach.target, request_); why != nullptr) {
    return link_->refuse(condition::kInvalidField, why);
  }
  if (!request_.is_there) {
    return link_->refuse(condition::kInvalidField, "a sender needs a target");
  }
  is_relay_ = request_.address.empty() && !request_.is_dynamic;
  Outcome outcome;
  if (!is_relay_) {
    Node node;
    outcome = request_.is_dynamic ? make_dynamic(node) : resolve(node);
    if (!outcome.is_failed()) {
      handles_ = OutputHandles(std::move(node));
      queue::Hobj handle = queue::kNoObject;
      outcome = handles_.of(session_.shared_connection(), handle);
    }
  }
  if (outcome.is_failed()) {
    return link_->refuse(condition_of_reason(outcome.reason), text_of_reason(outcome.reason));
  }
  std::string target = encode_target(request_, address_);
  resumed_ = session_.take_kept(*link_);
  if (attach.unsettled.empty()) resumed_.clear();  // the client remembers nothing
  std::string unsettled = encode_unsettled(resumed_);
  bool wants_delay = has_symbol(attach.desired_capabilities, "DELAYED_DELIVERY");
  std::string offered;
  if (wants_delay) offered = encode_symbols({"DELAYED_DELIVERY"});
  link_->attach({.snd_settle_mode = attach.snd_settle_mode,
                 .rcv_settle_mode = attach.rcv_settle_mode,
                 .source = attach.source,
                 .target = target,
                 .unsettled = unsettled,
                 .max_message_size = session_.engine().limits().message_bytes_max,
                 .offered_capabilities = offered});
  grant();
}

Outcome ProducerLink::resolve(Node& node) {
  address_ = request_.address;
  return session_.broker().resolve(address_, request_.kind, node);
}

Outcome ProducerLink::make_dynamic(Node& node) {
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

// What is on its way to a queue and what the client may still send are the window.
void ProducerLink::grant() {
  uint64_t fit = kWindowBytes / std::max<uint64_t>(usual_bytes_, 1);
  auto window = static_cast<uint32_t>(std::clamp<uint64_t>(fit, kCreditMin, kCreditMax));
  uint32_t used = std::min(putting_, window);
  if (link_->credit() + used <= window / 2 || link_->credit() + used > 2 * window) {
    link_->set_credit(window - used);
  }
}

// --- messages ---

void ProducerLink::on_message(Link&, Incoming& message) {
  if (message.is_resumed && take_resumed(message)) return grant();
  session_.count_in();
  usual_bytes_ = (usual_bytes_ * 7 + message.bytes.size()) / 8;
  auto operation = std::make_unique<Put>();
  operation->id = message.id;
  operation->is_settled = message.is_settled;
  if (message.receiver_settle_mode == kReceiverSecond) operation->tag = message.tag;
  InboundAddress address;
  InboundOptions options{.now_gmt_ms = session_.now_gmt_ms(), .wants_address = is_relay_};
  if (message.format != 0) {
    return reject(message, condition::kNotImplemented, "a message format other than 0");
  }
  const char* why = read_message(message.bytes, message.owned, options, operation->call, address);
  if (why != nullptr) return reject(message, condition::kDecodeError, why);
  OutputHandles* handles = &handles_;
  Outcome outcome = is_relay_ ? handles_for(address, handles) : Outcome::ok();
  if (outcome.is_failed()) {
    return reject(message, condition_of_reason(outcome.reason), text_of_reason(outcome.reason));
  }
  put(std::move(operation), *handles, message);
  if (!is_gone()) grant();
}

Outcome ProducerLink::handles_for(const InboundAddress& address, OutputHandles*& out) {
  for (auto at = relay_.begin(); at != relay_.end(); ++at) {
    if (at->address != address.to || at->kind != address.to_kind) continue;
    relay_.splice(relay_.begin(), relay_, at);
    out = &relay_.front().handles;
    return Outcome::ok();
  }
  Node node;
  Outcome outcome = session_.broker().resolve(address.to, address.to_kind, node);
  if (outcome.is_failed()) return outcome;
  if (relay_.size() == kRelayNodesMax) relay_.pop_back();
  relay_.push_front({address.to, address.to_kind, OutputHandles(std::move(node))});
  out = &relay_.front().handles;
  return Outcome::ok();
}

void ProducerLink::put(std::unique_ptr<Put> operation, OutputHandles& handles,
                       const Incoming& message) {
  std::shared_ptr<queue::Connection> connection = session_.shared_connection();
  operation->call.options = mqi::pmo::kNoSyncpoint;
  if (message.state.is_transactional) {
    Transaction* t = session_.transactions().find(message.state.txn_id);
    if (t == nullptr) {
      return link_->close(condition::kUnknownTransaction, "no transaction has this identifier");
    }
    operation->transaction = t->id();
    operation->call.options = mqi::pmo::kSyncpoint;
    connection = t->shared_unit();
  }
  queue::Hobj handle = queue::kNoObject;
  Outcome outcome = handles.of(connection, handle);
  if (outcome.is_failed()) return finish(*operation, outcome);
  operation->link = shared_from_this();
  operation->session = session_.shared_from_this();
  ++putting_;
  start_put(*operation.release(), *connection, handle, handles);
}

// Takes the operation.
void ProducerLink::start_put(Put& operation, queue::Connection& connection, queue::Hobj handle,
                             OutputHandles& handles) {
  if (handles.is_volatile) operation.call.md.persistence = 0;
  auto done = [put = &operation](const Outcome& outcome) {
    std::unique_ptr<Put> owned(put);
    auto& link = static_cast<ProducerLink&>(*put->link);
    --link.putting_;
    link.finish(*put, outcome);
    if (link.is_gone()) return;
    link.grant();
    link.session_.flush_later();
  };
  Outcome outcome = connection.put(handle, operation.call, done);
  if (outcome.is_failed() && outcome.reason == mqi::reason::kPersistentNotAllowed) {
    // It lives no longer than its queue anyway.
    handles.is_volatile = true;
    operation.call.md.persistence = 0;
    outcome = connection.put(handle, operation.call, done);
  }
  if (!outcome.is_pending()) done(outcome);
}

void ProducerLink::finish(Put& operation, const Outcome& outcome) {
  Transaction* t = nullptr;
  if (operation.transaction != 0) t = session_.transactions().find(operation.transaction);
  if (outcome.is_failed()) {
    if (t != nullptr) t->unit().mark_rollback_only(outcome.reason);
    return refuse(operation.id, operation.is_settled, error_of_reason(outcome.reason));
  }
  if (is_gone() || operation.is_settled) return;
  DeliveryState state{.kind = StateKind::kAccepted};
  std::string name;
  if (t != nullptr) {
    name = t->name();
    state.is_transactional = true;
    state.txn_id = name;
  }
  bool is_second = !operation.tag.empty();
  if (is_second) {
    unsettled_[operation.id] = {.tag = std::move(operation.tag), .said = StateKind::kAccepted};
  }
  link_->say(operation.id, state, !is_second);
}

void ProducerLink::on_state(Link&, uint32_t id, uint64_t, const DeliveryState&, bool is_settled) {
  if (is_settled) unsettled_.erase(id);
}

// A delivery that the link before has accepted: it is on its queue.
bool ProducerLink::take_resumed(const Incoming& message) {
  auto found = std::find_if(resumed_.begin(), resumed_.end(),
                            [&](const KeptDelivery& d) { return d.tag == message.tag; });
  if (found == resumed_.end()) return false;
  StateKind said = found->said;
  resumed_.erase(found);
  if (!message.is_settled) link_->settle(message.id, {.kind = said});
  return true;
}

void ProducerLink::reject(const Incoming& message, std::string_view condition,
                          std::string_view why) {
  if (message.state.is_transactional) {
    Transaction* t = session_.transactions().find(message.state.txn_id);
    if (t != nullptr) t->unit().mark_rollback_only(mqi::reason::kBackedOut);
  }
  refuse(message.id, message.is_settled, encode_error(condition, why));
  if (!is_gone()) grant();
}

void ProducerLink::refuse(uint32_t id, bool is_settled, const std::string& error) {
  if (is_gone()) return;
  if (is_settled) return link_->detach(true, error);
  link_->settle(id, {.kind = StateKind::kRejected, .error = error});
}

void ProducerLink::on_end(Link& link, End end) {
  if (end != End::kClosed && request_.timeout_s > 0) {
    std::vector<KeptDelivery> left = std::move(resumed_);
    for (auto& [id, delivery] : unsettled_) left.push_back(std::move(delivery));
    if (!left.empty()) session_.keep(link, request_.timeout_s, std::move(left));
  }
  handles_.close();
  relay_.clear();
  if (dynamic_ != queue::kNoObject) {
    (void)session_.connection().close(dynamic_);
    session_.drop_temporary_queue(dynamic_queue_);
  }
}

}  // namespace millstream::wire::amqp
