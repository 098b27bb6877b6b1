// A link on which a client receives: from a queue, as a browser, from a subscription, or from a
// node that is made for it. Messages come from a wire::Consumer as fast as credit, window and
// output allow.
//
// Outcomes (3.4): accepted removes a message; released puts it back as it was; modified puts it
// back, with a higher count when delivery-failed, and never again to this link when
// undeliverable-here; rejected moves it to the dead-letter queue. A link that ends in good order
// releases what was not settled, a connection that breaks backs it out.
// A link whose source has a timeout may be resumed: what was not settled waits that long for it.
// A receiver in mode `second` gets the settlement when it is durable; others need none.
// Thread: the session's.
#pragma once
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "wire/amqp/broker/broker_link.h"
#include "wire/amqp/broker/kept_links.h"
#include "wire/amqp/broker/terminus.h"
#include "wire/common/consumer.h"

namespace millstream::wire::amqp {

class Transaction;

class ConsumerLink final : public BrokerLink, private ConsumerHandler {
 public:
  ConsumerLink(BrokerSession& session, Link& link) : BrokerLink(session, link) {}
  ~ConsumerLink() override;

  void on_attach(const Attach& attach) override;
  void on_end(Link& link, End end) override;
  void on_credit(Link& link) override;
  void on_state(Link& link, uint32_t id, uint64_t cookie, const DeliveryState& state,
                bool is_settled) override;

  // --- for the session and its transactions ---
  // There is room for unsettled messages again.
  void resume();
  // What was accepted or rejected is durable.
  void settled(uint32_t slot);
  queue::Delivery& delivery(uint32_t slot) { return slots_[slot].delivery; }
  // A transaction that has the slot's retirement was committed (or not, at its end), rolled back.
  void discharged(uint32_t slot, StateKind kind, bool is_committed);
  void rolled_back(uint32_t slot) { slots_[slot].retired_by = 0; }
  void acquisition_rolled_back(uint32_t slot, uint64_t transaction);

 private:
  struct Slot {
    std::string tag;           // when the link may be resumed
    queue::Delivery delivery;  // empty: browsed, or settled here and not by the peer
    uint32_t id = 0;           // of the delivery
    uint32_t bytes = 0;
    StateKind said = StateKind::kNone;  // the outcome that is becoming durable
    uint64_t retired_by = 0;            // transaction
    uint64_t acquired_by = 0;
    bool is_used = false;
    bool is_settled_by_peer = false;
  };

  queue::Outcome resolve(Node& node);
  queue::Outcome make_dynamic(Node& node);
  ConsumeOptions options_for(const Node& node);
  queue::Outcome replace_subscription(const ConsumeOptions& options);
  void on_opened(const queue::Outcome& outcome);
  void refuse(const queue::Outcome& outcome);
  void take_acquisition(Link& link);

  void on_message(Consumer& consumer, Consumed message) override;
  void on_consumer_failed(Consumer& consumer, int32_t reason) override;
  void send_waiting();
  void send(Consumed message);
  uint32_t take_slot(queue::Delivery delivery, size_t bytes);
  void free_slot(uint32_t slot);
  void drain_if_asked();
  void pause();
  void wait_for_room();
  void apply(uint32_t slot, const DeliveryState& state, bool is_settled);
  void finish(uint32_t slot, const DeliveryState& state, bool is_settled);
  void retire(uint32_t slot, const DeliveryState& state, bool is_settled);
  void release_all(Link& link, End end);
  void take_over_unsettled(const Attach& attach);
  void send_resumed();
  void send_again(KeptDelivery kept);
  void send_outcome(const KeptDelivery& kept);

  SourceRequest request_;
  std::string target_;        // as the client has sent it
  std::string address_;       // in the answer
  std::string subscription_;  // its name at the queue manager
  std::string unsettled_;     // in the answer
  uint8_t sender_settle_mode_ = kSenderMixed;
  uint8_t receiver_settle_mode_ = kReceiverFirst;
  bool is_settled_mode_ = false;
  bool is_paused_ = false;
  bool waits_for_room_ = false;
  bool is_durable_ = false;
  queue::Hobj dynamic_ = queue::kNoObject;  // holds a node that was made for the link
  std::string dynamic_queue_;
  std::shared_ptr<Consumer> consumer_;
  std::deque<Consumed> waiting_;      // that came when nothing could be sent
  std::deque<KeptDelivery> resumed_;  // of the link before, that are still to be told of
  std::vector<Slot> slots_;
  std::vector<uint32_t> free_slots_;
  uint64_t last_tag_ = 0;
  uint64_t acquiring_ = 0;  // transaction
};

// Unsubscribes: a client attaches a receiver without a source to a subscription's name, and closes
// it (as the JMS mapping has it).
class UnsubscribeLink final : public BrokerLink {
 public:
  UnsubscribeLink(BrokerSession& session, Link& link) : BrokerLink(session, link) {}
  void on_attach(const Attach& attach) override;
  void on_detached(Link& link, bool is_closed, const ErrorInfo* error) override;
  void on_end(Link&, End) override {}

 private:
  std::string subscription_;
};

// Ends a durable subscription that nobody uses. 2428 there is none, 2429 somebody uses it.
queue::Outcome remove_subscription(queue::Connection& connection, const std::string& name);

}  // namespace millstream::wire::amqp
