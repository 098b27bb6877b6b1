// One client's connection to the broker: protocol headers, SASL, and an Engine whose links are
// served by BrokerLinks.
//
//   [TLS header -> TLS ->] SASL header -> SASL frames -> AMQP header -> frames of the engine
//
// A client that leaves SASL out may come in when it needs no password: by its certificate, or with
// --dev from this machine. Any other header is answered with the one that we want, and closed.
// What a turn settles is settled in one unit of work, and what it says goes out in one write.
// Thread: its reactor's.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "wire/amqp/broker/broker_link.h"
#include "wire/amqp/broker/kept_links.h"
#include "wire/amqp/broker/sasl_exchange.h"
#include "wire/amqp/broker/transaction.h"
#include "wire/amqp/engine/engine.h"
#include "wire/amqp/message/outbound.h"
#include "wire/common/endpoint.h"

namespace millstream::wire::amqp {

class ConsumerLink;
class SharedState;
struct PutOperation;

class BrokerSession final : public wire::Session, private Output, private EngineHandler {
 public:
  BrokerSession(SessionHost& host, std::unique_ptr<Transport> transport, SharedState& shared);
  ~BrokerSession() override;

  // --- for its links ---
  queue::Connection& connection() { return *connection_; }
  const std::shared_ptr<queue::Connection>& shared_connection() const { return connection_; }
  // Another one of the same client, for a unit of work of its own; null and why not.
  queue::Outcome connect_more(std::shared_ptr<queue::Connection>& out);
  Engine& engine() { return engine_; }
  const std::string& container() const { return engine_.peer_container(); }
  // What a link leaves behind, for as long as its terminus says.
  void keep(const Link& link, uint32_t timeout_s, std::vector<KeptDelivery> deliveries);
  std::vector<KeptDelivery> take_kept(const Link& link);
  TransactionTable& transactions() { return transactions_; }
  OutboundMessage& scratch() { return scratch_; }
  int64_t now_gmt_ms() { return executor().clock().wall_gmt_micros() / 1000; }
  using wire::Session::count_in;
  using wire::Session::count_out;

  // Deliveries that are settled at the end of the turn. With a link, it is told when that is
  // durable: ConsumerLink::settled(slot).
  void accept(queue::Delivery delivery, std::shared_ptr<ConsumerLink> link = nullptr,
              uint32_t slot = 0);
  void reject(queue::Delivery delivery, int32_t reason,
              std::shared_ptr<ConsumerLink> link = nullptr, uint32_t slot = 0);
  // Something has been said outside of a receive: it goes out at the end of this turn.
  void flush_later();
  // Messages that have been delivered and are not settled.
  void add_unsettled(int64_t bytes) { unsettled_bytes_ += bytes; }
  bool is_full() const { return unsettled_bytes_ > static_cast<int64_t>(unsettled_bytes_max_); }
  // Links that wait for room among them.
  void wait_for_room(std::weak_ptr<ConsumerLink> link);
  void link_ended(Link& link) { links_.erase(&link); }
  bool is_lost() const { return is_lost_; }
  // A node that lives as long as its link: its queue, when it is one.
  void add_temporary_queue(const std::string& name) { temporary_queues_.push_back(name); }
  void drop_temporary_queue(const std::string& name) { std::erase(temporary_queues_, name); }
  bool owns_temporary_queue(std::string_view name) const;

 private:
  enum class Stage : uint8_t { kHeader, kSasl, kSecondHeader, kFrames, kEnded };
  struct Waiting {
    std::shared_ptr<ConsumerLink> link;
    uint32_t slot = 0;
  };

  // wire::Session
  void on_started() override;
  size_t on_received(std::string_view bytes) override;
  void on_drained() override;
  void on_ended(CloseReason reason) override;
  void on_stopping() override;
  void on_stopped_by_operator() override;
  // Output
  void send(std::string_view bytes) override { transport().send(bytes); }
  void send(const queue::Body& body) override { transport().send(body); }
  bool is_congested() const override;
  // EngineHandler
  void on_open(Engine& engine, const Open& open) override;
  void on_attach(Link& link, const Attach& attach) override;
  void on_finished(Engine& engine, const ErrorInfo* error) override;

  size_t receive_header(std::string_view bytes);
  // TLS begins only where nothing else was sent with its header.
  void receive_first_header(ProtocolId id, bool is_alone);
  size_t receive_sasl(std::string_view bytes);
  size_t receive_frames(std::string_view bytes);
  void refuse_header(ProtocolId wanted);
  void admit_without_sasl();
  void on_login(bool is_accepted, Login login, const std::string& why);
  void refuse_open(std::string_view condition, std::string_view description,
                   std::string_view info = {});
  void end_turn();
  void run_settlement();
  void tick();
  void resume_waiting();
  void stop_with(std::string_view why);

  SharedState& shared_;
  Stage stage_ = Stage::kHeader;
  std::unique_ptr<SaslExchange> sasl_;
  Login login_;
  Engine engine_;
  Alarm alarm_;
  std::shared_ptr<queue::Connection> connection_;
  std::unordered_map<Link*, std::shared_ptr<BrokerLink>> links_;
  TransactionTable transactions_;
  OutboundMessage scratch_;
  std::optional<queue::Settlement> settlement_;
  std::vector<Waiting> settling_;  // of the settlement
  std::vector<std::weak_ptr<ConsumerLink>> waiting_for_room_;
  std::vector<std::string> temporary_queues_;
  std::string claimed_container_;
  const size_t unsettled_bytes_max_;
  const size_t outgoing_bytes_max_;
  int64_t unsettled_bytes_ = 0;
  bool is_receiving_ = false;
  bool is_flush_posted_ = false;
  bool is_lost_ = false;
};

}  // namespace millstream::wire::amqp
