// What a STOMP client's frames do: SEND, SUBSCRIBE, ACK and NACK, transactions.
#include <algorithm>

#include "wire/stomp/content.h"
#include "wire/stomp/session.h"

namespace millstream::wire::stomp {
namespace {

namespace pmo = mqi::pmo;

constexpr std::string_view kTemporaryQueue = "/temp-queue/";
constexpr std::string_view kTemporaryTopic = "/temp-topic/";

struct Put {
  queue::OpenCall open;
  queue::PutCall call;
};

}  // namespace

// --- addresses ---

bool StompSession::resolve_temporary(std::string_view address, Node& out) {
  const bool is_queue = address.starts_with(kTemporaryQueue);
  if (!is_queue && !address.starts_with(kTemporaryTopic)) return false;
  auto found = temporary_.find(address);
  if (found == temporary_.end()) {
    if (temporary_.size() >= limits().links_max) return false;
    TemporaryQueue made;
    if (!is_queue) {
      made.name = broker().make_temporary_topic();
    } else if (broker().make_temporary_queue(*connection_, made.handle, made.name).is_failed()) {
      return false;
    }
    found = temporary_.emplace(address, std::move(made)).first;
  }
  out = {is_queue ? NodeKind::kQueue : NodeKind::kTopic, found->second.name};
  return true;
}

queue::Outcome StompSession::resolve(const Frame& frame, Node& out) {
  const std::string_view address = frame.get("destination");
  if (resolve_temporary(address, out)) return queue::Outcome::ok();
  return broker().resolve(address, NodeKind::kAny, out);
}

Node StompSession::reply_node(std::string_view address) {
  Node node;
  if (resolve_temporary(address, node)) return node;
  if (!broker().resolve(address, NodeKind::kAny, node).is_failed()) return node;
  return Broker::parse_address(address, NodeKind::kQueue);
}

// --- SEND ---

void StompSession::send_frame(Frame& frame) {
  TransactionRef transaction;
  if (!find_transaction(frame, transaction)) return;
  Node node;
  if (queue::Outcome found = resolve(frame, node); found.is_failed()) {
    return failed(frame.get("receipt"), "There is no such destination.", found);
  }
  auto put = std::make_shared<Put>();
  Status built = build_message(
      frame, now_gmt_ms(), [this](std::string_view address) { return reply_node(address); },
      put->call);
  if (!built.ok()) return error(frame, "The message cannot be kept.", built.error().describe());
  count_in();
  put->open.object_type = node.is_topic() ? mqi::ot::kTopic : mqi::ot::kQueue;
  (node.is_topic() ? put->open.object_string : put->open.object_name) = node.name;
  put->call.options = transaction ? pmo::kSyncpoint : pmo::kNoSyncpoint;
  if (std::string_view retain = frame.get("retain"); retain == "set" || retain == "true") {
    put->call.options |= pmo::kRetain;
  }
  queue::Connection& connection = transaction ? *transaction->connection : *connection_;
  queue::Done done = when_done(frame, put);
  queue::Outcome outcome = connection.put1(put->open, put->call, done);
  if (!outcome.is_pending()) return done(outcome);
  check_pressure();
}

// --- SUBSCRIBE ---

void StompSession::subscribe(Frame& frame) {
  const bool has_id = frame.has("id");
  if (version_ >= Version::k11 && !has_id) return error(frame, "The header id is missing.");
  const std::string id(has_id ? frame.get("id") : frame.get("destination"));
  if (subscriptions_.contains(id)) return error(frame, "There is such a subscription already.", id);
  if (subscriptions_.size() >= limits().links_max) {
    return error(frame, "There are too many subscriptions.");
  }
  Node node;
  if (queue::Outcome found = resolve(frame, node); found.is_failed()) {
    return failed(frame.get("receipt"), "There is no such destination.", found);
  }
  std::string why;
  auto made = Subscription::create(*this, frame, std::move(node), client_id_, why);
  if (made == nullptr) return error(frame, "The subscription is not to the standard.", why);
  Subscription* subscription = made.get();
  subscriptions_.emplace(id, std::move(made));
  subscription->open([this, subscription,
                      receipt_id = std::string(frame.get("receipt"))](const queue::Outcome& o) {
    if (o.is_failed()) return failed(receipt_id, "SUBSCRIBE was refused.", o);
    receipt(receipt_id);
    subscription->start();
  });
}

void StompSession::unsubscribe(Frame& frame) {
  const std::string_view id = frame.has("id") ? frame.get("id") : frame.get("destination");
  const std::string durable = Subscription::durable_name(frame, client_id_);
  auto found = subscriptions_.find(id);
  if (found != subscriptions_.end()) {
    found->second->close(!durable.empty());
    subscriptions_.erase(found);
    return receipt(frame);
  }
  if (durable.empty()) return error(frame, "There is no such subscription.", id);
  remove_durable(frame, durable);
}

// One that no SUBSCRIBE of this session has: gone on with, and removed.
void StompSession::remove_durable(const Frame& frame, const std::string& name) {
  auto call = std::make_shared<queue::SubscribeCall>();
  call->name = name;
  call->options = mqi::so::kResume | mqi::so::kDurable | mqi::so::kManaged;
  auto done = [this, self = shared_from_this(), call,
               id = std::string(frame.get("receipt"))](const queue::Outcome& outcome) {
    if (is_ended()) return;
    if (outcome.is_failed()) return failed(id, "There is no such subscription.", outcome);
    (void)connection_->close(call->destination);
    (void)connection_->close(call->handle, mqi::co::kRemoveSub);
    receipt(id);
  };
  queue::Outcome outcome = connection_->subscribe(*call, done);
  if (!outcome.is_pending()) done(outcome);
}

// --- ACK and NACK ---

// By version: 1.2 has the header id with what MESSAGE had as ack, 1.1 subscription and message-id,
// 1.0 message-id alone.
Subscription* StompSession::find_acknowledged(const Frame& frame, std::string& id,
                                              std::deque<queue::Delivery>& out) {
  std::string name(frame.get("subscription"));
  id = frame.get("message-id");
  if (version_ == Version::k12) {
    const std::string_view both = frame.get("id");
    const size_t colon = both.rfind(':');
    if (colon == std::string_view::npos) return nullptr;
    name = both.substr(0, colon);
    id = both.substr(colon + 1);
  }
  for (const auto& [known, subscription] : subscriptions_) {
    const bool is_meant = name.empty() && version_ == Version::k10 ? true : known == name;
    if (!is_meant) continue;
    out = subscription->take(id);
    if (!out.empty() || !name.empty()) return subscription.get();
  }
  return nullptr;
}

void StompSession::settle(Frame& frame, bool is_ack) {
  TransactionRef transaction;
  if (!find_transaction(frame, transaction)) return;
  std::string id;
  std::deque<queue::Delivery> taken;
  Subscription* subscription = find_acknowledged(frame, id, taken);
  if (taken.empty()) {
    // In mode auto there is nothing to acknowledge, and old clients do it all the same.
    if (subscription != nullptr && subscription->mode() == AckMode::kAuto) return receipt(frame);
    return error(frame, "Nothing waits for this acknowledgement.", id);
  }
  const size_t count = taken.size();
  const bool is_requeued = frame.get("requeue") != "false";
  if (transaction != nullptr) {
    settle_in(*transaction, frame, std::move(taken), is_ack, is_requeued);
  } else if (is_ack) {
    queue::Settlement settlement(broker().manager());
    for (queue::Delivery& delivery : taken) settlement.accept(std::move(delivery));
    queue::Done done = when_done(frame, nullptr);
    queue::Outcome outcome = settlement.run(executor(), done);
    if (!outcome.is_pending()) done(outcome);
  } else {
    for (queue::Delivery& delivery : taken) {
      if (is_requeued) {
        delivery.back_out();
      } else {
        (void)delivery.reject(queue::kFeedbackRejected, executor());
      }
    }
    receipt(frame);
  }
  if (is_ended() || state_ == State::kEnding) return;
  subscription->settled(count);
  for (const auto& [name, other] : subscriptions_) other->resume();
}

void StompSession::settle_in(Transaction& transaction, const Frame& frame,
                             std::deque<queue::Delivery> taken, bool is_ack, bool is_requeued) {
  for (queue::Delivery& delivery : taken) {
    queue::Outcome outcome;
    if (is_ack) {
      outcome = delivery.join(*transaction.connection);
    } else if (!is_requeued) {
      outcome = delivery.join_rejected(*transaction.connection, queue::kFeedbackRejected);
    } else {
      transaction.refused.push_back(std::move(delivery));
    }
    if (outcome.is_failed()) {
      return failed(frame.get("receipt"), "The acknowledgement was refused.", outcome);
    }
  }
  receipt(frame);
}

// --- transactions ---

bool StompSession::find_transaction(const Frame& frame, TransactionRef& out) {
  const Header* name = frame.find("transaction");
  if (name == nullptr) return true;
  auto found = transactions_.find(name->second);
  if (found == transactions_.end()) {
    error(frame, "There is no such transaction.", name->second);
    return false;
  }
  out = found->second;
  return true;
}

void StompSession::begin(Frame& frame) {
  const std::string_view name = frame.get("transaction");
  if (name.empty()) return error(frame, "The header transaction is missing.");
  if (transactions_.contains(name)) {
    return error(frame, "There is such a transaction already.", name);
  }
  if (transactions_.size() >= kTransactionsMax) {
    return error(frame, "There are too many transactions.");
  }
  auto transaction = std::make_shared<Transaction>();
  queue::Outcome outcome =
      broker().connect(caller(), login_, "STOMP client", executor(), transaction->connection);
  if (outcome.is_failed()) {
    return failed(frame.get("receipt"), "The transaction cannot begin.", outcome);
  }
  transactions_.emplace(name, std::move(transaction));
  receipt(frame);
}

bool StompSession::take_transaction(const Frame& frame, TransactionRef& out) {
  if (frame.get("transaction").empty()) {
    error(frame, "The header transaction is missing.");
    return false;
  }
  if (!find_transaction(frame, out)) return false;
  transactions_.erase(transactions_.find(frame.get("transaction")));
  return true;
}

void StompSession::commit(Frame& frame) {
  TransactionRef transaction;
  if (!take_transaction(frame, transaction)) return;
  queue::Done done = when_done(frame, transaction);
  queue::Outcome outcome = transaction->connection->commit(done);
  if (!outcome.is_pending()) done(outcome);
}

void StompSession::abort_transaction(Frame& frame) {
  TransactionRef transaction;
  if (!take_transaction(frame, transaction)) return;
  (void)transaction->connection->back();
  receipt(frame);
}

}  // namespace millstream::wire::stomp
