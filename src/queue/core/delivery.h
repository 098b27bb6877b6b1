// A message that was taken from a queue for somebody, on its own: out of everybody's sight until it
// is settled, in any order and by itself, whatever the connection's unit of work does. What AMQP,
// MQTT and STOMP acknowledge one by one. A get makes one when GetCall::delivery is given, with
// MQGMO_SYNCPOINT.
//
// - accept(): gone; `done` says that this is durable. Several in one unit: Settlement.
// - release(): back at its place, as if it had never been taken.
// - back_out(): back at its place, with a higher backout count. So does the destructor: whoever had
//   it is gone.
// - reject(): to the dead-letter queue, with the reason, in one unit. What cannot go there is
//   backed out.
// - join(): its settlement becomes part of a connection's unit: commit removes it, back puts it
//   back with a higher count.
// Thread: one. The manager outlives it; after the manager's stop it does nothing any more.
#pragma once
#include <memory>
#include <utility>

#include "base/executor.h"
#include "queue/core/message.h"
#include "queue/core/outcome.h"
#include "queue/core/unit_of_work.h"

namespace millstream::queue {

class Connection;
class QueueManager;

// Of messages that an application has refused: the first feedback code that is the applications'.
inline constexpr int32_t kFeedbackRejected = 65536;

class Delivery {
 public:
  Delivery() = default;
  Delivery(QueueManager& manager, UnitGet get, MessageRef message, uint32_t backout_count,
           bool is_maybe_redelivered)
      : manager_(&manager),
        get_(std::move(get)),
        message_(std::move(message)),
        backout_count_(backout_count),
        is_maybe_redelivered_(is_maybe_redelivered) {}
  Delivery(Delivery&& other) noexcept { swap(other); }
  Delivery& operator=(Delivery&& other) noexcept {
    Delivery old(std::move(*this));
    swap(other);
    return *this;
  }
  ~Delivery() { back_out(); }

  // False: settled, or never was one.
  explicit operator bool() const { return manager_ != nullptr; }
  const MessageRef& message() const { return message_; }
  const std::string& queue_name() const { return get_.queue->name(); }
  Sequence sequence() const { return get_.sequence; }
  bool is_persistent() const { return get_.is_persistent; }
  uint32_t backout_count() const { return backout_count_; }
  bool is_maybe_redelivered() const { return is_maybe_redelivered_; }

  Outcome accept(base::Executor& executor, Done done = nullptr);
  void release();
  void back_out();
  Outcome reject(int32_t reason, base::Executor& executor, Done done = nullptr);
  // 2024 when the unit has as many as it may; then it is not settled.
  Outcome join(Connection& connection);
  // As join(); the commit moves the message to the dead-letter queue.
  Outcome join_rejected(Connection& connection, int32_t reason);

 private:
  friend class Connection;
  friend class Settlement;
  void swap(Delivery& other) noexcept {
    std::swap(manager_, other.manager_);
    std::swap(get_, other.get_);
    std::swap(message_, other.message_);
    std::swap(backout_count_, other.backout_count_);
    std::swap(is_maybe_redelivered_, other.is_maybe_redelivered_);
  }
  void add_to(UnitOfWork& unit);

  QueueManager* manager_ = nullptr;
  UnitGet get_;
  MessageRef message_;
  uint32_t backout_count_ = 0;
  bool is_maybe_redelivered_ = false;
};

// Several deliveries that are settled together, with one write.
class Settlement {
 public:
  explicit Settlement(QueueManager& manager) : manager_(manager) {}
  void accept(Delivery delivery) { delivery.add_to(unit_); }
  // What it gets of the dead-letter queue; failed: it was backed out.
  Outcome reject(Delivery delivery, int32_t reason);
  bool empty() const { return unit_.empty(); }
  // What goes with it (client_records.h).
  void add_record(UnitRecord record) { unit_.records.push_back(std::move(record)); }
  size_t count() const { return unit_.gets.size(); }
  // Once. Pending when something persistent is among them.
  Outcome run(base::Executor& executor, Done done = nullptr);

 private:
  QueueManager& manager_;
  UnitOfWork unit_;
};

}  // namespace millstream::queue
