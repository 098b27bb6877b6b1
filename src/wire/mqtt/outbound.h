// What goes to a client: publications straight from the topic tree (quality of service 0) and
// messages of queues, with packet identifiers, receive maximum, topic aliases and answers.
//
// - Sources: the client's own queue (""), and a queue for each shared subscription and for each
//   filter "queue://NAME". A message is settled when the client has answered: PUBACK, or PUBREC
//   together with the record that its identifier is to be released.
// - The packet identifier follows from the message's sequence, so a message that is sent again,
//   also after a kill, has the one that it had.
// - What was not answered goes back to its queue when the client goes: a later connection gets it
//   with DUP.
// - Quality of service 0 is dropped while the client does not read (Inbox's limits); what is in
//   queues waits there.
// Thread: the session's; an Inbox takes publications on any.
#pragma once
#include <atomic>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "queue/core/delivery.h"
#include "queue/core/publication_route.h"
#include "wire/common/consumer.h"
#include "wire/mqtt/client_state.h"

namespace millstream::wire::mqtt {

class OutboundOwner {
 public:
  virtual ~OutboundOwner() = default;
  virtual queue::Connection& connection() = 0;
  virtual Transport& out() = 0;
  virtual base::Executor& home() = 0;
  virtual ClientState& state_of_client() = 0;
  virtual Version version() const = 0;
  virtual int64_t now_gmt_ms() = 0;
  virtual bool is_congested() = 0;
  virtual void counted_out() = 0;
  virtual void on_source_failed(const std::string& filter, int32_t reason) = 0;
  virtual std::weak_ptr<void> life() = 0;  // of the owner
};

// Publications that are on their way to one session.
class Inbox final : public queue::PublicationSink {
 public:
  static constexpr size_t kMessagesMax = 10'000;
  static constexpr size_t kBytesMax = 32u << 20;  // but for one message
  struct Item {
    queue::DirectPublicationRef publication;
    queue::RouteRef route;
  };
  Inbox(base::Executor& executor, std::function<void()> wake)
      : executor_(executor), wake_(std::move(wake)) {}
  void publish(const queue::DirectPublicationRef& publication,
               std::span<const queue::RouteRef> routes) override;
  std::vector<Item> take();
  void close();
  uint64_t dropped() const { return dropped_.load(std::memory_order_relaxed); }

 private:
  base::Executor& executor_;
  std::function<void()> wake_;
  std::mutex mutex_;  // leaf; of the next four
  std::vector<Item> items_;
  size_t bytes_ = 0;
  bool is_posted_ = false;
  bool is_closed_ = false;
  std::atomic<uint64_t> dropped_{0};
};

class Outbound {
 public:
  static constexpr uint32_t kWindowMax = 1'000;  // messages that are not answered
  struct Limits {
    uint32_t window = kWindowMax;  // receive maximum
    uint32_t packet_bytes_max = 0;
    uint16_t alias_max = 0;
  };

  explicit Outbound(OutboundOwner& owner) : owner_(owner) {}
  ~Outbound() { close(); }

  void start(const Limits& limits);
  // Everything back to its queue. Nothing is sent any more.
  void close();
  void resume();

  // The route of a subscription of this client.
  queue::RouteRef route_for(const ClientSubscription& s);
  // Opens where messages come from; `done` within the call or later.
  void open_source(const std::string& filter, const std::string& queue, bool is_private,
                   std::function<void(const queue::Outcome&)> done);
  bool has_source(std::string_view filter) const { return sources_.contains(filter); }
  void close_source(std::string_view filter);
  // Messages come from here on.
  void start_source(std::string_view filter);
  // PUBREL for what an earlier connection had got so far.
  void send_released();

  // Answers of the client. False: version 5 has to know that the identifier is not in use.
  bool on_puback(uint16_t packet_id);
  bool on_pubrec(uint16_t packet_id, Reason reason);
  bool on_pubcomp(uint16_t packet_id);
  // At the end of what was received in one piece: what was answered is settled with one write.
  void settle();

 private:
  struct Source final : ConsumerHandler {
    Source(Outbound& owner, std::string name) : outbound(owner), filter(std::move(name)) {}
    void on_message(Consumer&, Consumed message) override {
      outbound.on_message(*this, std::move(message));
    }
    void on_consumer_failed(Consumer&, int32_t reason) override {
      outbound.owner_.on_source_failed(filter, reason);
    }
    Outbound& outbound;
    std::string filter;
    std::shared_ptr<Consumer> consumer;
  };
  struct InFlight {
    queue::Delivery delivery;
    std::string source;
    uint8_t qos = 1;
  };
  struct Held {
    std::string source;
    Consumed message;
  };
  struct Outgoing {
    uint8_t qos = 0;
    bool is_retained = false;
    bool is_duplicate = false;
    uint16_t packet_id = 0;
    std::string_view topic;
    const queue::Message* message = nullptr;
    const mqi::MessageDescriptor* md = nullptr;
    uint32_t subscription_id = 0;
  };

  void on_message(Source& source, Consumed message);
  void deliver(const std::string& source, Consumed message);
  void drain_inbox();
  // False: larger than the client takes.
  bool send_publish(const Outgoing& from);
  void write_topic(std::string_view topic, std::string& properties, std::string_view& written);
  uint16_t choose_id(queue::Sequence sequence) const;
  bool is_used(uint16_t id) const;
  bool has_room() const { return in_flight_.size() + released_count() < limits_.window; }
  size_t released_count() const { return owner_.state_of_client().released.size(); }
  void add_credit(std::string_view source);
  void deliver_held();
  void pause_if_congested();
  queue::Settlement& settlement();

  OutboundOwner& owner_;
  Limits limits_;
  std::shared_ptr<Inbox> inbox_;
  std::map<std::string, std::unique_ptr<Source>, std::less<>> sources_;
  std::unordered_map<uint16_t, InFlight> in_flight_;
  std::deque<Held> held_;  // more than the window, because there are several sources
  std::unordered_map<std::string, uint16_t> aliases_;
  std::unique_ptr<queue::Settlement> settlement_;
  std::vector<uint16_t> to_release_;  // PUBREL when the settlement is durable
  bool is_paused_ = false;
};

}  // namespace millstream::wire::mqtt
