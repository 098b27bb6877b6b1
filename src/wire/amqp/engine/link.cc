#include "wire/amqp/engine/link.h"

#include <algorithm>

#include "base/assert.h"
#include "wire/amqp/engine/engine.h"

namespace millstream::wire::amqp {

void Link::attach(Attach attach) {
  if (attach_sent_ || session_.end_sent_ || session_.engine_.is_close_sent()) return;
  attach.name = name_;
  attach.handle = handle_;
  attach.role = !is_sender_;
  if (is_sender_) attach.initial_delivery_count = delivery_count_;
  if (!is_sender_) message_bytes_max_ = attach.max_message_size.value_or(0);
  sender_settle_mode_ = attach.snd_settle_mode;
  receiver_settle_mode_ = attach.rcv_settle_mode;
  attach_sent_ = true;
  session_.engine_.send_frame(session_.channel_, attach);
}

void Link::refuse(std::string_view condition, std::string_view description, std::string_view info) {
  attach({.snd_settle_mode = sender_settle_mode_, .rcv_settle_mode = receiver_settle_mode_});
  is_refused_ = true;
  close(condition, description, info);
}

void Link::close(std::string_view condition, std::string_view description, std::string_view info) {
  detach(true, condition.empty() ? std::string() : encode_error(condition, description, info));
}

void Link::detach(bool is_closed, std::string_view error) {
  if (detach_sent_ || session_.end_sent_ || session_.engine_.is_close_sent()) return;
  // A detach needs an attach before it.
  if (!attach_sent_) {
    attach({.snd_settle_mode = sender_settle_mode_, .rcv_settle_mode = receiver_settle_mode_});
  }
  session_.flush_disposition();
  abort_sending();
  detach_sent_ = true;
  was_closed_ = is_closed;
  needs_flow_ = false;
  session_.engine_.send_frame(session_.channel_,
                              Detach{.handle = handle_, .closed = is_closed, .error = error});
}

// --- credit ---

void Link::send_flow(bool is_echo) {
  needs_flow_ = false;
  if (!attach_sent_ || detach_sent_) return;
  Flow flow = session_.window_flow();
  flow.incoming_window = session_.incoming_window_ = session_.engine_.limits().incoming_window;
  session_.needs_flow_ = false;
  flow.handle = handle_;
  flow.delivery_count = delivery_count_;
  flow.link_credit = credit_;
  flow.drain = is_drain_;
  flow.echo = is_echo;
  if (!is_sender_) flow.properties = flow_properties_;
  if (is_sender_) flow.available = is_sending_ ? 1 : 0;
  session_.engine_.send_frame(session_.channel_, flow);
}

void Link::set_credit(uint32_t credit) {
  MS_ASSERT(!is_sender_);
  if (credit_ == credit) return;
  credit_ = credit;
  needs_flow_ = true;
}

void Link::request_drain() {
  MS_ASSERT(!is_sender_);
  is_drain_ = true;
  needs_flow_ = true;
}

void Link::drained() {
  MS_ASSERT(is_sender_);
  if (!is_drain_) return;
  delivery_count_ += credit_;
  credit_ = 0;
  send_flow(false);
  is_drain_ = false;
}

bool Link::can_send() const {
  return is_attached() && credit_ > 0 && !is_sending_ && session_.remote_incoming_window_ > 0 &&
         session_.unsettled_out_.size() < session_.engine_.limits().unsettled_max &&
         !session_.engine_.is_congested();
}

// --- sending ---

namespace {
// Of a transfer without its tag and state: constructors and numbers.
constexpr size_t kTransferBytes = 64;
// Longer parts go out by reference.
constexpr size_t kSharedBytesMin = 1024;
}  // namespace

size_t Link::pending_bytes() const {
  return rest_head_.size() - rest_head_at_ + rest_body_.size() - rest_body_at_ + rest_tail_.size() -
         rest_tail_at_;
}

uint32_t Link::send(const Outgoing& message) {
  MS_ASSERT(can_send());
  uint32_t id = session_.next_delivery_id_++;
  ++delivery_count_;
  --credit_;
  sending_id_ = id;
  if (!message.is_settled) session_.unsettled_out_.add(id, this, message.cookie);
  size_t body_bytes = message.body != nullptr ? message.body->size() : 0;
  size_t bytes = message.head.size() + body_bytes + message.tail.size();
  size_t room = session_.engine_.peer_frame_bytes_max() - kFrameHeaderBytes - kTransferBytes -
                message.tag.size() - message.state.size();
  if (bytes <= room) {
    write_frame(&message, bytes, false);
    return id;
  }
  rest_head_.assign(message.head);
  rest_tail_.assign(message.tail);
  if (message.body != nullptr) rest_body_ = *message.body;
  rest_head_at_ = rest_body_at_ = rest_tail_at_ = 0;
  is_sending_ = true;
  write_frame(&message, room, true);
  if (!send_more() && !is_queued_) {
    is_queued_ = true;
    session_.sending_.push_back(this);
  }
  return id;
}

// False: not all of it could be sent.
bool Link::send_more() {
  size_t room = session_.engine_.peer_frame_bytes_max() - kFrameHeaderBytes - kTransferBytes;
  while (is_sending_) {
    if (session_.remote_incoming_window_ == 0 || session_.engine_.is_congested()) return false;
    size_t bytes = pending_bytes();
    write_frame(nullptr, std::min(bytes, room), bytes > room);
  }
  return true;
}

// The next `bytes` of what waits, or the whole of a message that does not wait at all. `first`: the
// first frame of a message.
void Link::write_frame(const Outgoing* first, size_t bytes, bool has_more) {
  Engine& engine = session_.engine_;
  Transfer transfer{.handle = handle_, .more = has_more};
  if (first != nullptr) {
    transfer.delivery_id = sending_id_;
    transfer.delivery_tag = first->tag;
    transfer.message_format = first->format;
    if (first->is_settled) transfer.settled = true;
    transfer.state = first->state;
    transfer.resume = first->is_resumed;
  }
  Writer& w = engine.begin_frame(session_.channel_);
  encode(w, transfer);
  --session_.remote_incoming_window_;
  ++session_.next_outgoing_id_;
  if (!is_sending_) {
    const queue::Body* body = first->body;
    w.raw(first->head);
    if (body == nullptr || body->size() < kSharedBytesMin) {
      if (body != nullptr) w.raw(body->view());
      w.raw(first->tail);
      return engine.end_frame();
    }
    w.put_big32(0, static_cast<uint32_t>(w.size() + body->size() + first->tail.size()));
    engine.output_.send(w.bytes());
    engine.output_.send(*body);
    if (!first->tail.empty()) engine.output_.send(first->tail);
    w.clear();
  } else {
    w.put_big32(0, static_cast<uint32_t>(w.size() + bytes));
    engine.output_.send(w.bytes());
    w.clear();
    take_part(bytes);
    if (!has_more) abort_sending();
  }
  engine.has_sent_ = true;
  ++engine.frames_out_;
}

void Link::take_part(size_t bytes) {
  Output& output = session_.engine_.output_;
  auto take_text = [&](const std::string& text, size_t& at) {
    size_t n = std::min(bytes, text.size() - at);
    if (n > 0) output.send(std::string_view(text).substr(at, n));
    at += n;
    bytes -= n;
  };
  take_text(rest_head_, rest_head_at_);
  size_t n = std::min(bytes, rest_body_.size() - rest_body_at_);
  if (n > 0) output.send(rest_body_.part(rest_body_at_, n));
  rest_body_at_ += n;
  bytes -= n;
  take_text(rest_tail_, rest_tail_at_);
}

// The state after the last part. Of a message whose last part has not gone: it is aborted.
void Link::abort_sending() {
  if (!is_sending_) return;
  if (pending_bytes() > 0 && is_attached() && session_.remote_incoming_window_ > 0) {
    --session_.remote_incoming_window_;
    ++session_.next_outgoing_id_;
    session_.engine_.send_frame(session_.channel_, Transfer{.handle = handle_, .aborted = true});
    session_.unsettled_out_.erase(sending_id_);
  }
  is_sending_ = false;
  std::erase(session_.sending_, this);
  is_queued_ = false;
  std::string().swap(rest_head_);
  std::string().swap(rest_tail_);
  rest_body_ = queue::Body();
  rest_head_at_ = rest_body_at_ = rest_tail_at_ = 0;
}

// --- settlement ---

void Link::say(uint32_t id, const DeliveryState& state, bool is_settled) {
  DeliveryMap& map = is_sender_ ? session_.unsettled_out_ : session_.unsettled_in_;
  DeliveryMap::Entry* entry = map.find(id);
  if (entry == nullptr) return;
  if (is_settled) map.erase(*entry);
  if (session_.end_sent_ || session_.engine_.is_close_sent()) return;
  session_.add_disposition(!is_sender_, id, state, is_settled);
}

void Link::set_cookie(uint32_t id, uint64_t cookie) {
  DeliveryMap& map = is_sender_ ? session_.unsettled_out_ : session_.unsettled_in_;
  if (DeliveryMap::Entry* entry = map.find(id); entry != nullptr) entry->cookie = cookie;
}

void Link::forget(uint32_t id) {
  (is_sender_ ? session_.unsettled_out_ : session_.unsettled_in_).erase(id);
}

}  // namespace millstream::wire::amqp
