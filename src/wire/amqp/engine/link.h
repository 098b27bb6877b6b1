// One end of a link (2.6): its terminus, credit, and the message that is on its way in or out.
// Made by Session::attach() or by the peer's attach; LinkHandler is whoever uses it.
//
// Sender: send() while can_send(); on_credit() tells when it can again, and of drain. A message
// that is longer than a frame goes out frame by frame as the session's window and the output allow.
// Receiver: set_credit(); on_message() gives each message whole, however many frames it came in.
// Settling: settle() with an outcome, on either side; outcomes of the same kind for deliveries that
// follow each other become one disposition (they leave with Engine::flush()).
// Life: from attach to the second of both detaches, or until the session ends; then on_detached()
// has been called and the link is gone. Thread: the engine's.
#pragma once
#include <string>

#include "queue/core/message.h"
#include "wire/amqp/engine/delivery_state.h"

namespace millstream::wire::amqp {

class Engine;
class Link;
class Session;

inline constexpr size_t kDeliveryTagBytesMax = 32;  // 2.8.7
inline constexpr uint8_t kSenderUnsettled = 0, kSenderSettled = 1, kSenderMixed = 2;
inline constexpr uint8_t kReceiverFirst = 0, kReceiverSecond = 1;

// A message that has come in whole.
struct Incoming {
  uint32_t id = 0;
  std::string_view tag;
  uint32_t format = 0;
  bool is_settled = false;
  bool is_resumed = false;
  uint8_t receiver_settle_mode = kReceiverFirst;
  DeliveryState state;           // of the last frame that had one
  std::string_view bytes;        // of all its frames
  std::string* owned = nullptr;  // when they are in a string of their own, which may be taken
};

// A message to be sent: `head`, then `body`, then `tail`.
struct Outgoing {
  std::string_view tag;
  uint32_t format = 0;
  bool is_settled = false;
  bool is_resumed = false;
  std::string_view state;  // encoded
  std::string_view head;
  const queue::Body* body = nullptr;
  std::string_view tail;
  uint64_t cookie = 0;  // comes back with on_state()
};

class LinkHandler {
 public:
  virtual ~LinkHandler() = default;
  // The peer's answer to our attach.
  virtual void on_attached(Link&, const Attach&) {}
  // Of a receiver.
  virtual void on_message(Link&, Incoming&) {}
  // The sender has no more: what is left of the credit (after a drain: 0).
  virtual void on_flow(Link&) {}
  // Of a sender: it may be possible to send; or drained() is asked for.
  virtual void on_credit(Link&) {}
  // What the peer says of a delivery that is not settled here. When `is_settled` the peer has
  // forgotten it, and so has the engine.
  virtual void on_state(Link&, uint32_t /*id*/, uint64_t /*cookie*/, const DeliveryState&,
                        bool /*is_settled*/) {}
  // The link leaves: the peer closed or detached it, its session or the connection ended (then
  // is_closed is false and error null). After our own detach: it is complete.
  virtual void on_detached(Link&, bool /*is_closed*/, const ErrorInfo* /*error*/) {}
};

class Link {
 public:
  Link(Session& session, std::string name, bool is_sender, uint32_t handle)
      : session_(session), name_(std::move(name)), is_sender_(is_sender), handle_(handle) {}
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

  Session& session() { return session_; }
  const std::string& name() const { return name_; }
  bool is_sender() const { return is_sender_; }
  void set_handler(LinkHandler* handler) { handler_ = handler; }
  LinkHandler* handler() { return handler_; }
  bool is_attached() const { return attach_sent_ && attach_received_ && !detach_sent_; }
  bool is_detached_by_peer() const { return detach_received_; }
  bool is_detach_sent() const { return detach_sent_; }

  // Answers the peer's attach. Source, target, modes, capabilities, properties and unsettled are
  // the caller's; name, handle, role and delivery count are filled in.
  void attach(Attach attach);
  void detach(bool is_closed, std::string_view error = {});
  // An attach without the terminus of the other side, and the reason in the detach that follows
  // (2.6.3): what a refusal looks like.
  void refuse(std::string_view condition, std::string_view description, std::string_view info = {});
  void close(std::string_view condition = {}, std::string_view description = {},
             std::string_view info = {});

  // --- sender ---
  // Whole messages only: nothing of an earlier one may wait.
  bool can_send() const;
  uint32_t send(const Outgoing& message);  // its delivery-id
  bool is_sending() const { return is_sending_; }
  // What is not sent yet of a delivery that nobody wants any more is left out.
  void abort_sending();
  bool wants_drain() const { return is_drain_; }
  // Of a sender: what the peer's last flow of the link had, an encoded map; empty when nothing.
  const std::string& flow_properties() const { return flow_properties_; }
  // There is no more: the credit is used up.
  void drained();
  uint64_t peer_message_bytes_max() const { return peer_message_bytes_max_; }

  // --- receiver ---
  // Replaces what was granted; the engine says so with the next flush.
  void set_credit(uint32_t credit);
  void request_drain();
  // Go out with every flow of the link: an encoded map, as acquisition in a transaction wants it
  // ("txn-id"). Empty: none.
  void set_flow_properties(std::string map) { flow_properties_ = std::move(map); }
  // A part of a message is there, and the rest is on its way.
  bool is_receiving() const { return is_receiving_; }
  uint32_t available() const { return available_; }
  uint64_t message_bytes_max() const { return message_bytes_max_; }

  // --- both ---
  uint32_t credit() const { return credit_; }
  uint32_t delivery_count() const { return delivery_count_; }
  uint8_t sender_settle_mode() const { return sender_settle_mode_; }
  uint8_t receiver_settle_mode() const { return receiver_settle_mode_; }
  void settle(uint32_t id, const DeliveryState& state) { say(id, state, true); }
  // With is_settled false: an outcome that the peer has to settle (receiver mode second).
  void say(uint32_t id, const DeliveryState& state, bool is_settled);
  void set_cookie(uint32_t id, uint64_t cookie);
  void forget(uint32_t id);  // settled without a word

 private:
  friend class Engine;
  friend class Session;
  void send_flow(bool is_echo);
  bool send_more();
  void write_frame(const Outgoing* first, size_t bytes, bool has_more);
  void take_part(size_t bytes);
  size_t pending_bytes() const;

  Session& session_;
  const std::string name_;
  const bool is_sender_;
  const uint32_t handle_;
  uint32_t remote_handle_ = 0;
  LinkHandler* handler_ = nullptr;
  bool attach_sent_ = false, attach_received_ = false;
  bool detach_sent_ = false, detach_received_ = false;
  bool was_closed_ = false;
  bool is_refused_ = false;
  bool is_drain_ = false;
  bool needs_flow_ = false;
  bool is_sending_ = false;
  bool is_queued_ = false;  // in the session's list of those that wait to send
  uint8_t sender_settle_mode_ = kSenderMixed;
  uint8_t receiver_settle_mode_ = kReceiverFirst;
  uint32_t delivery_count_ = 0;
  uint32_t credit_ = 0;
  uint32_t available_ = 0;
  std::string flow_properties_;
  uint64_t message_bytes_max_ = 0;       // ours; 0: none
  uint64_t peer_message_bytes_max_ = 0;  // 0: none

  // What waits to be sent of one message, in order.
  std::string rest_head_, rest_tail_;
  queue::Body rest_body_;
  size_t rest_head_at_ = 0, rest_body_at_ = 0, rest_tail_at_ = 0;
  uint32_t sending_id_ = 0;

  // What has come of one message.
  bool is_receiving_ = false;
  Incoming incoming_;
  std::string incoming_tag_;
  std::string incoming_state_;
  std::string incoming_bytes_;
};

}  // namespace millstream::wire::amqp
