// A SUBSCRIBE of a session: a consumer, and what was delivered and is not acknowledged.
//
// - auto: a message is gone when it is sent. client: an ACK is for all before it, too.
//   client-individual: for that one.
// - Credit: as many messages are with the client at a time as its prefetch header says.
// - A message that was backed out too often goes to the backout or dead-letter queue instead.
// - A browser (browser:true) gets copies of what is there, then an empty message browser:end.
// Thread: the session's.
#pragma once
#include <deque>
#include <memory>
#include <string>

#include "wire/common/consumer.h"
#include "wire/common/content.h"
#include "wire/stomp/frame.h"

namespace millstream::wire::stomp {

class Subscription;

// What it needs of its session.
class SubscriptionOwner {
 public:
  virtual ~SubscriptionOwner() = default;
  virtual queue::Connection& connection() = 0;
  virtual void send_message(std::string head, const queue::Body& body) = 0;
  virtual void on_subscription_failed(Subscription& subscription, int32_t reason) = 0;
  // So much waits to be read by the client, or is not acknowledged, that no more is to come.
  virtual bool is_congested() = 0;
  virtual void count_unsettled(int64_t bytes) = 0;  // may be negative
  virtual int64_t now_gmt_ms() = 0;
  virtual Version version() const = 0;
};

enum class AckMode : uint8_t { kAuto, kClient, kClientIndividual };

class Subscription final : private ConsumerHandler {
 public:
  static constexpr uint32_t kPrefetch = 100;  // without a prefetch header
  static constexpr uint32_t kPrefetchMax = 65'535;

  // From a SUBSCRIBE, whose destination is `node`. Null: `why` says what is wrong with it.
  static std::unique_ptr<Subscription> create(SubscriptionOwner& owner, const Frame& frame,
                                              Node node, std::string_view client_id,
                                              std::string& why);
  // The name under which a durable subscription is known; empty: the frame names none.
  static std::string durable_name(const Frame& frame, std::string_view client_id);
  ~Subscription() override;

  void open(std::function<void(const queue::Outcome&)> done);
  // Messages come from here on.
  void start();
  void close(bool removes_durable);
  void pause();
  // The client reads again.
  void resume() {
    if (is_paused_) resume_now();
  }

  const std::string& id() const { return id_; }
  const std::string& destination() const { return destination_; }
  AckMode mode() const { return mode_; }
  // Takes what an ACK or NACK with this identifier is for; empty: nothing. Identifiers are those
  // of the header ack (1.2), else of message-id.
  std::deque<queue::Delivery> take(std::string_view id);
  // They are settled: as many may come.
  void settled(size_t count);

 private:
  struct Unsettled {
    std::string ack;
    std::string message_id;
    queue::Delivery delivery;
    int64_t bytes = 0;
  };

  explicit Subscription(SubscriptionOwner& owner) : owner_(owner) {}
  void on_message(Consumer& consumer, Consumed message) override;
  void on_consumer_failed(Consumer& consumer, int32_t reason) override;
  std::string head_of(const Consumed& message, const queue::Body& body, const std::string& ack,
                      const std::string& message_id);
  std::string destination_of(const MessageView& view) const;
  void resume_now();
  void end_of_browse();

  SubscriptionOwner& owner_;
  std::string id_;
  bool has_id_ = false;  // 1.0 may leave it out
  std::string destination_;
  AckMode mode_ = AckMode::kAuto;
  uint32_t prefetch_ = kPrefetch;
  bool is_paused_ = false;
  ConsumeOptions options_;
  std::shared_ptr<Consumer> consumer_;
  std::deque<Unsettled> unsettled_;
  uint64_t last_ack_ = 0;
};

}  // namespace millstream::wire::stomp
