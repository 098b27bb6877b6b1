// A link to the coordinator of transactions (4.3): declare and discharge come as messages on it.
// When it goes, what it has declared and not discharged is rolled back.
// Thread: the session's.
#pragma once
#include "wire/amqp/broker/broker_link.h"

namespace millstream::wire::amqp {

class CoordinatorLink final : public BrokerLink {
 public:
  static constexpr uint32_t kCredit = 100;

  CoordinatorLink(BrokerSession& session, Link& link) : BrokerLink(session, link) {}
  void on_attach(const Attach& attach) override;
  void on_end(Link& link, End end) override;
  void on_message(Link& link, Incoming& message) override;

 private:
  void declare(const Incoming& message);
  void discharge(const Incoming& message, std::string_view transaction, bool fails);
  void reject(uint32_t id, std::string_view condition, std::string_view why);
};

}  // namespace millstream::wire::amqp
