// Brings a session the messages of a queue or of a subscription, as many as it has credit for, one
// by one as they come. Each comes as a queue::Delivery that the session settles by itself, in any
// order, or joins to a transaction's connection.
//
// - Credit is what the protocol's client has granted: each message takes one. Without credit
//   nothing is taken from the queue. drain() uses it up or gives it back.
// - pause() is back-pressure of the connection: nothing is taken until resume(), credit stays.
// - A message that was backed out too often goes to the backout or dead-letter queue instead.
// - While gets are inhibited it waits and looks again.
// - One connection may have several consumers; each waits by itself.
// Ownership: the session's, as a shared_ptr, because gets may be under way; close() before letting
// it go. The handler outlives close(); nothing is called after it. Deliveries that are not settled
// are not the consumer's: the session settles or drops them (dropped: backed out).
// Thread: the connection's executor.
#pragma once
#include <functional>
#include <memory>
#include <string>

#include "base/executor.h"
#include "queue/core/connection.h"
#include "wire/common/broker.h"

namespace millstream::wire {

class Consumer;

struct Consumed {
  queue::Delivery delivery;   // empty: browsed, or settled already (ConsumeOptions::is_settled)
  queue::MessageRef message;  // shared, not to be changed
  mqi::MessageDescriptor md;  // with what is special to this get: backout count, what is left of
                              // the expiry
  queue::Sequence sequence = 0;
  bool is_maybe_redelivered = false;
};

class ConsumerHandler {
 public:
  virtual ~ConsumerHandler() = default;
  // May call anything of the consumer, and settle at once.
  virtual void on_message(Consumer& consumer, Consumed message) = 0;
  // It ends by itself: 2052 the queue was deleted, 2009 or 2162 the connection or the manager
  // stops, 2428 the subscription went. Nothing else is called after it.
  virtual void on_consumer_failed(Consumer& consumer, int32_t reason) = 0;
};

struct ConsumeOptions {
  Node node;
  std::string selector;
  bool browses = false;       // messages stay; copies come, each once
  bool is_settled = false;    // at most once: a message is gone before it is handed over
  bool is_exclusive = false;  // no other consumer of the queue
  bool is_private = false;    // a queue that the protocol itself has made: no rights are asked for
  bool is_no_local = false;   // of topics: not what this session has published
  bool handles_poison = true;
  // --- of topics ---
  std::string subscription;  // its name; needed for durable and shared ones
  bool is_durable = false;
  bool is_shared = false;
  bool has_character_wildcards = false;  // `*` and `?` instead of `+` and `#`
  bool skips_retained = false;
  int32_t resume = 0;  // 0: make it or go on with it; 1: only make; 2: only go on (2428)
};

class Consumer : public std::enable_shared_from_this<Consumer> {
 public:
  static constexpr int kTurnMessages = 64;                // handed over in one turn
  static constexpr size_t kPassedOverMax = 1'000;
  static constexpr int64_t kInhibitedNs = 1'000'000'000;  // between looks while gets are inhibited

  static std::shared_ptr<Consumer> create(std::shared_ptr<queue::Connection> connection,
                                          ConsumerHandler& handler);
  ~Consumer();

  // Ends in `done`, within the call or later: the reason codes of MQOPEN and MQSUB.
  void open(ConsumeOptions options, std::function<void(const queue::Outcome&)> done);
  // With `removes_subscription` a durable one goes, too.
  void close(bool removes_subscription = false);
  bool is_open() const { return handle_ != queue::kNoObject; }

  uint32_t credit() const { return credit_; }
  void set_credit(uint32_t credit);
  void add_credit(uint32_t credit) { set_credit(credit_ + credit); }
  // What is there now comes as far as the credit goes; then the credit is 0 and `drained` is
  // called, within the call or later. set_credit() of more in between ends it likewise.
  void drain(std::function<void()> drained);
  void pause() { is_paused_ = true; }
  // Never to take this message again; to be called before it is put back. Of more than
  // kPassedOverMax the oldest are forgotten.
  void pass_over(queue::Sequence sequence);
  void resume();

  const ConsumeOptions& options() const { return options_; }
  queue::Connection& connection() { return *connection_; }
  // Where messages come from: the queue, or that of the subscription.
  const std::string& queue_name() const { return queue_name_; }
  const std::string& topic() const { return topic_; }  // as resolved

 private:
  Consumer(std::shared_ptr<queue::Connection> connection, ConsumerHandler& handler)
      : connection_(std::move(connection)), handler_(&handler) {}
  void open_queue(std::function<void(const queue::Outcome&)> done);
  void subscribe(std::function<void(const queue::Outcome&)> done);
  void pump();
  void pump_later();
  bool may_get() const {
    return handle_ != queue::kNoObject && credit_ > 0 && !is_paused_ && !is_getting_;
  }
  queue::Outcome get();
  void got(const queue::Outcome& outcome);
  void on_nothing_or_failure(int32_t code);
  void fail(int32_t code);
  void wait_inhibited();

  std::shared_ptr<queue::Connection> connection_;
  ConsumerHandler* handler_;
  ConsumeOptions options_;
  queue::Hobj handle_ = queue::kNoObject;
  queue::Hobj subscription_ = queue::kNoObject;
  std::string queue_name_;
  std::string topic_;
  uint32_t credit_ = 0;
  bool is_paused_ = false;
  bool is_getting_ = false;  // a get is under way; call_ is its
  bool is_pumping_ = false;
  bool is_pump_posted_ = false;
  bool is_first_browse_ = true;
  bool is_looked_ = false;  // once more, after the get of a drain was cancelled
  std::function<void()> drained_;
  queue::GetCall call_;
  queue::Delivery taken_;
  std::shared_ptr<const std::vector<queue::Sequence>> passed_over_;
  base::Executor::TimerId timer_ = 0;
};

}  // namespace millstream::wire
