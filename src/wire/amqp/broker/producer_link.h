// A link on which a client sends: to a queue, a topic, a node that is made for it, or without an
// address to whatever each message says in its properties (anonymous relay).
//
// - Unsettled: `accepted` when the message is durable, `rejected` with the reason when it cannot be
//   put. Sent settled: a message that cannot be put ends the link, because nothing else would tell.
// - In a transaction the message becomes part of it; one that is refused makes its commit fail.
// - A sender whose receiver is in mode `second` may resume the link: what was accepted and not
//   settled is in the answer to its attach, and is not put again.
// - Credit: as many messages as make kWindowBytes of their usual size.
// Thread: the session's.
#pragma once
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "wire/amqp/broker/broker_link.h"
#include "wire/amqp/broker/kept_links.h"
#include "wire/amqp/broker/output_handles.h"
#include "wire/amqp/broker/terminus.h"
#include "wire/amqp/message/inbound.h"

namespace millstream::wire::amqp {

class ProducerLink final : public BrokerLink {
 public:
  static constexpr uint32_t kCreditMax = 1'000;
  static constexpr uint32_t kCreditMin = 2;
  static constexpr uint64_t kWindowBytes = 8u << 20;
  static constexpr size_t kRelayNodesMax = 64;

  ProducerLink(BrokerSession& session, Link& link) : BrokerLink(session, link) {}
  void on_attach(const Attach& attach) override;
  void on_end(Link& link, End end) override;
  void on_message(Link& link, Incoming& message) override;
  void on_state(Link& link, uint32_t id, uint64_t cookie, const DeliveryState& state,
                bool is_settled) override;

 private:
  struct Put;
  queue::Outcome resolve(Node& node);
  queue::Outcome make_dynamic(Node& node);
  queue::Outcome handles_for(const InboundAddress& address, OutputHandles*& out);
  void put(std::unique_ptr<Put> operation, OutputHandles& handles, const Incoming& message);
  void start_put(Put& operation, queue::Connection& connection, queue::Hobj handle,
                 OutputHandles& handles);
  void finish(Put& operation, const queue::Outcome& outcome);
  void reject(const Incoming& message, std::string_view condition, std::string_view why);
  void refuse(uint32_t id, bool is_settled, const std::string& error);
  bool take_resumed(const Incoming& message);
  void grant();

  TerminusRequest request_;
  std::string address_;
  bool is_relay_ = false;
  OutputHandles handles_;
  struct RelayNode {
    std::string address;
    NodeKind kind = NodeKind::kAny;
    OutputHandles handles;
  };
  std::list<RelayNode> relay_;  // the last used first
  queue::Hobj dynamic_ = queue::kNoObject;
  std::string dynamic_queue_;
  // In mode second: what was said and the client has not settled, by delivery-id; and of the link
  // that this one resumes.
  std::map<uint32_t, KeptDelivery> unsettled_;
  std::vector<KeptDelivery> resumed_;
  uint64_t usual_bytes_ = 0;
  uint32_t putting_ = 0;
};

}  // namespace millstream::wire::amqp
