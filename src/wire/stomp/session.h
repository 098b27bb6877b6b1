// One STOMP client: negotiation, then its frames in their order. A frame whose effect has to become
// durable is answered (RECEIPT) when it is; frames behind it are not held up by that.
//
// - CONNECT waits for the password; frames that come meanwhile wait in the transport.
// - What cannot be done ends the connection with an ERROR frame, as the standard has it. What was
//   delivered and not acknowledged goes back, open transactions are backed out.
// - Each transaction is a unit of work of its own: several may be open.
// - Heart-beats: twice the agreed time without a byte ends the connection.
// - Limits: EndpointLimits; transactions below; puts under way stop the reading (back-pressure).
// Thread: its reactor's.
#pragma once
#include <deque>
#include <map>
#include <memory>
#include <string>

#include "wire/common/alarm.h"
#include "wire/common/endpoint.h"
#include "wire/stomp/frame.h"
#include "wire/stomp/subscription.h"

namespace millstream::wire::stomp {

class StompSession final : public Session, private SubscriptionOwner {
 public:
  static constexpr size_t kTransactionsMax = 100;
  static constexpr size_t kPendingMax = 1'000;  // frames that wait to be durable
  static constexpr int64_t kBeatMinMs = 250;

  StompSession(SessionHost& host, std::unique_ptr<Transport> transport);
  ~StompSession() override;

  size_t on_received(std::string_view bytes) override;
  void on_drained() override;
  void on_stopping() override;
  void on_ended(CloseReason reason) override;

 private:
  struct Transaction {
    std::shared_ptr<queue::Connection> connection;
    std::deque<queue::Delivery> refused;  // NACK: back when it ends, whatever the end is
    ~Transaction() {
      if (connection != nullptr) connection->abandon();
    }
  };
  using TransactionRef = std::shared_ptr<Transaction>;
  using Command = void (StompSession::*)(Frame& frame);
  enum class State : uint8_t { kNew, kLoggingIn, kOpen, kEnding };

  // SubscriptionOwner
  queue::Connection& connection() override { return *connection_; }
  void send_message(std::string head, const queue::Body& body) override;
  void on_subscription_failed(Subscription& subscription, int32_t reason) override;
  bool is_congested() override;
  void count_unsettled(int64_t bytes) override;
  int64_t now_gmt_ms() override { return broker().manager().now_gmt_micros() / 1000; }
  Version version() const override { return version_; }

  static Command command_of(std::string_view name);
  void handle(Frame& frame);
  void connect(Frame& frame);
  bool negotiate(const Frame& frame);
  void logged_in(const LoginAnswer& answer);
  void agree_on_beats(const Frame& frame);
  void send_frame(Frame& frame);
  void subscribe(Frame& frame);
  void unsubscribe(Frame& frame);
  void ack(Frame& frame) { settle(frame, true); }
  void nack(Frame& frame) { settle(frame, false); }
  void settle(Frame& frame, bool is_ack);
  void begin(Frame& frame);
  void commit(Frame& frame);
  void abort_transaction(Frame& frame);
  void disconnect(Frame& frame);

  void remove_durable(const Frame& frame, const std::string& name);
  Subscription* find_acknowledged(const Frame& frame, std::string& id,
                                  std::deque<queue::Delivery>& out);
  void settle_in(Transaction& transaction, const Frame& frame, std::deque<queue::Delivery> taken,
                 bool is_ack, bool is_requeued);
  // False: the frame names one that is not there, and has been answered.
  bool find_transaction(const Frame& frame, TransactionRef& out);
  bool take_transaction(const Frame& frame, TransactionRef& out);
  queue::Outcome resolve(const Frame& frame, Node& out);
  bool resolve_temporary(std::string_view address, Node& out);  // false: it is none, or failed
  Node reply_node(std::string_view address);
  // The callback of something that has to become durable: answers the frame then. `kept` lives as
  // long. To be called with an outcome that is not pending, too.
  queue::Done when_done(const Frame& frame, std::shared_ptr<void> kept);
  void receipt(const Frame& frame) { receipt(std::string(frame.get("receipt"))); }
  void receipt(const std::string& id);
  void error(const Frame& frame, std::string_view message, std::string_view details = {});
  void error(std::string_view receipt, std::string_view message, std::string_view details = {});
  void failed(std::string_view receipt, std::string_view what, const queue::Outcome& outcome);
  void finish_disconnect();
  void check_pressure();
  void check_beats();
  bool may_read() const {
    return (state_ == State::kNew || state_ == State::kOpen) && !is_reading_paused_;
  }

  FrameReader reader_;
  State state_ = State::kNew;
  Version version_ = Version::kNone;
  std::string beats_;  // of CONNECTED
  std::shared_ptr<queue::Connection> connection_;
  std::map<std::string, std::unique_ptr<Subscription>, std::less<>> subscriptions_;  // by id
  std::map<std::string, TransactionRef, std::less<>> transactions_;
  struct TemporaryQueue {
    queue::Hobj handle = queue::kNoObject;
    std::string name;
  };
  std::map<std::string, TemporaryQueue, std::less<>> temporary_;  // by the name of the client
  Login login_;
  std::string client_id_;
  size_t pending_ = 0;  // frames that are not durable yet
  int64_t unsettled_bytes_ = 0;
  bool is_reading_paused_ = false;
  bool is_disconnecting_ = false;
  std::string disconnect_receipt_;
  Alarm beat_alarm_;
  int64_t send_every_ns_ = 0;
  int64_t receive_every_ns_ = 0;
  int64_t last_received_ns_ = 0;
  int64_t last_sent_ns_ = 0;
  uint64_t received_seen_ = 0;
  uint64_t sent_seen_ = 0;
};

}  // namespace millstream::wire::stomp
