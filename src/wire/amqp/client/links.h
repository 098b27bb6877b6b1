// Links of a client: senders with outcomes, receivers with credit, transactions.
// Everything that waits suspends the calling fiber, at most for the connection's time-out where no
// deadline is given. A link that the broker has closed says why in every call.
// Thread: the connection's reactor, in fibers. They go before their connection.
#pragma once
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "wire/amqp/client/connection.h"

namespace millstream::wire::amqp::client {

// What a sender is told of a message, or says of one that was received.
struct Outcome {
  StateKind kind = StateKind::kNone;
  std::string why;     // of a rejection: the broker's error
  std::string txn_id;  // of declared
  bool is_accepted() const { return kind == StateKind::kAccepted; }
};
// "rejected, amqp:not-allowed: ..."
std::string outcome_text(const Outcome& outcome);

// What senders, receivers and coordinators have in common.
class ClientLink : protected LinkHandler {
 public:
  ~ClientLink() override;
  ClientLink(const ClientLink&) = delete;
  ClientLink& operator=(const ClientLink&) = delete;

  Connection& connection() { return connection_; }
  bool is_gone() const { return link_ == nullptr; }
  Status why_gone() const;
  // The name of what was made for a dynamic terminus.
  const std::string& address() const { return address_; }
  // Closes it and waits until the broker has.
  Status close();

 protected:
  ClientLink(Connection& connection, std::string address)
      : connection_(connection), address_(std::move(address)) {}
  Status open(bool is_sender, Attach attach);
  Link* link() { return link_; }
  void on_detached(Link&, bool is_closed, const ErrorInfo* error) override;

 private:
  void on_attached(Link&, const Attach& attach) override;

  Connection& connection_;
  std::string address_;
  Link* link_ = nullptr;
  bool is_answered_ = false;
  bool is_refused_ = false;  // a detach follows
  bool is_closing_ = false;
  std::string why_;
};

class Sender final : public ClientLink {
 public:
  struct Options {
    std::string address;     // empty: an anonymous relay, unless is_dynamic
    std::string capability;  // "queue", "topic"; empty: what the broker makes of the name
    bool is_dynamic = false;
    bool is_settled = false;  // messages are not acknowledged
  };
  struct Message {
    std::string_view head;  // encoded sections, then `body`, then `tail`
    const queue::Body* body = nullptr;
    std::string_view tail = {};
    std::string_view txn_id = {};
  };
  using Done = std::function<void(const Outcome&)>;  // not called when the link has gone

  static Result<std::unique_ptr<Sender>> open(Connection& connection, const Options& options);
  // Waits for credit only; `done` has the outcome later, on the reactor.
  Status post(const Message& message, Done done);
  // Waits for the outcome.
  Result<Outcome> send(const Message& message);
  // Waits until everything that was posted has an outcome.
  Status wait_for_all();
  size_t pending() const { return pending_.size(); }

 private:
  friend class Coordinator;
  explicit Sender(Connection& connection, std::string address)
      : ClientLink(connection, std::move(address)) {}
  void on_credit(Link&) override { connection().notify(); }
  void on_state(Link& link, uint32_t id, uint64_t cookie, const DeliveryState& state,
                bool is_settled) override;

  bool is_settled_ = false;
  uint64_t last_cookie_ = 0;
  std::deque<std::pair<uint64_t, Done>> pending_;  // by cookie, which grows
};

class Receiver final : public ClientLink {
 public:
  struct Options {
    std::string address;
    std::string capability;
    std::string selector;     // of JMS
    bool is_browser = false;  // messages stay where they are
    bool is_dynamic = false;
    bool is_settled = false;  // the broker forgets what it has sent
    // A subscription that outlives the link has a name, and the connection its container.
    std::string durable_name;
  };
  struct Delivery {
    uint32_t id = 0;
    bool is_settled = false;
    std::string bytes;  // of the whole message
  };

  static Result<std::unique_ptr<Receiver>> open(Connection& connection, const Options& options);
  // So many may come beyond those that receive() has returned and those that wait for it.
  void set_credit(uint32_t credit);
  size_t waiting() const { return deliveries_.size(); }
  // The next one; none in time is no error.
  Result<std::optional<Delivery>> receive(int64_t deadline_ns);
  // Waits until the broker has sent what it has for the credit: then there is no credit left.
  Status drain();
  // Dispositions; with a transaction they take effect with it.
  void settle(uint32_t id, const DeliveryState& state);
  void accept(uint32_t id, std::string_view txn_id = {});
  void release(uint32_t id) { settle(id, {.kind = StateKind::kReleased}); }

 private:
  explicit Receiver(Connection& connection, std::string address)
      : ClientLink(connection, std::move(address)) {}
  void on_message(Link&, Incoming& message) override;
  void on_flow(Link&) override { connection().notify(); }

  std::deque<Delivery> deliveries_;
};

// Transactions (part 4). Their identifiers are the broker's.
class Coordinator {
 public:
  // kNoTransactions: the broker has none.
  static Result<std::unique_ptr<Coordinator>> open(Connection& connection);
  Result<std::string> declare();
  // Commits; an error means that nothing has taken effect, unless the connection was lost.
  Status commit(std::string_view txn_id) { return discharge(txn_id, false); }
  Status roll_back(std::string_view txn_id) { return discharge(txn_id, true); }

 private:
  explicit Coordinator(std::unique_ptr<Sender> sender) : sender_(std::move(sender)) {}
  Status discharge(std::string_view txn_id, bool fails);
  std::unique_ptr<Sender> sender_;
};

}  // namespace millstream::wire::amqp::client
