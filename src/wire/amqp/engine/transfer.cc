// What comes in on a session's links (2.6.12, 2.7.5).
#include <algorithm>

#include "base/assert.h"
#include "wire/amqp/engine/engine.h"

namespace millstream::wire::amqp {

void Session::on_transfer(const Transfer& transfer, std::string_view bytes) {
  if (incoming_window_ == 0) return end(condition::kWindowViolation, "more than the window");
  --incoming_window_;
  ++next_incoming_id_;
  if (incoming_window_ <= engine_.limits().incoming_window / 2) needs_flow_ = true;
  Link* link = remote_link(transfer.handle);
  if (link == nullptr) return end(condition::kUnattachedHandle, "no link has this handle");
  if (link->detach_sent_) return;  // on its way when we detached
  if (link->is_sender() || !link->attach_sent_) {
    return end(condition::kNotAllowed, "a transfer on a link that does not take any");
  }
  if (!link->is_receiving_ && !begin_delivery(*link, transfer)) return;
  Incoming& incoming = link->incoming_;
  if (transfer.delivery_id.has_value() && *transfer.delivery_id != incoming.id) {
    return end(condition::kInvalidField, "another delivery-id in the middle of a message");
  }
  if (transfer.settled.value_or(false)) incoming.is_settled = true;
  if (transfer.rcv_settle_mode == kReceiverSecond) incoming.receiver_settle_mode = kReceiverSecond;
  if (!transfer.state.empty()) link->incoming_state_ = transfer.state;
  if (transfer.aborted) {
    link->is_receiving_ = false;
    engine_.partial_bytes_ -= link->incoming_bytes_.size();
    std::string().swap(link->incoming_bytes_);
    if (link->handler_ != nullptr) link->handler_->on_flow(*link);
    return;
  }
  if (transfer.more || !link->incoming_bytes_.empty()) {
    if (!keep_part(*link, bytes) || transfer.more) return;
    bytes = link->incoming_bytes_;
  } else if (link->message_bytes_max_ != 0 && bytes.size() > link->message_bytes_max_) {
    return link->close(condition::kMessageSizeExceeded, "the message is too long");
  }
  deliver(*link, bytes);
}

bool Session::begin_delivery(Link& link, const Transfer& transfer) {
  auto refuse = [&](std::string_view why) {
    end(condition::kInvalidField, why);
    return false;
  };
  if (!transfer.delivery_id.has_value()) return refuse("delivery-id is missing");
  if (transfer.delivery_tag.size() > kDeliveryTagBytesMax) return refuse("delivery-tag too long");
  if (transfer.delivery_tag.data() == nullptr) return refuse("delivery-tag is missing");
  uint32_t id = *transfer.delivery_id;
  if (has_incoming_delivery_ && static_cast<int32_t>(id - last_incoming_delivery_) <= 0) {
    return refuse("delivery-ids have to grow");
  }
  if (link.credit_ == 0) {
    link.close(condition::kTransferLimitExceeded, "a transfer without credit");
    return false;
  }
  has_incoming_delivery_ = true;
  last_incoming_delivery_ = id;
  --link.credit_;
  ++link.delivery_count_;
  link.is_receiving_ = true;
  link.incoming_ = Incoming();
  link.incoming_.id = id;
  link.incoming_.format = transfer.message_format.value_or(0);
  link.incoming_.is_resumed = transfer.resume;
  link.incoming_.receiver_settle_mode = link.receiver_settle_mode_;
  link.incoming_tag_.assign(transfer.delivery_tag);
  link.incoming_state_.clear();
  return true;
}

// Parts are appended: in all each byte is copied twice at most.
bool Session::keep_part(Link& link, std::string_view bytes) {
  std::string& kept = link.incoming_bytes_;
  if (link.message_bytes_max_ != 0 && kept.size() + bytes.size() > link.message_bytes_max_) {
    engine_.partial_bytes_ -= kept.size();
    std::string().swap(kept);
    link.close(condition::kMessageSizeExceeded, "the message is too long");
    return false;
  }
  if (engine_.partial_bytes_ + bytes.size() > engine_.limits().partial_bytes_max) {
    engine_.partial_bytes_ -= kept.size();
    std::string().swap(kept);
    link.close(condition::kResourceLimitExceeded, "too much of messages that are not whole");
    return false;
  }
  engine_.partial_bytes_ += bytes.size();
  kept.append(bytes);
  return true;
}

void Session::deliver(Link& link, std::string_view bytes) {
  Incoming& incoming = link.incoming_;
  if (!decode_state(link.incoming_state_, incoming.state)) {
    return engine_.close(condition::kDecodeError, "a delivery state that is none");
  }
  link.is_receiving_ = false;
  incoming.tag = link.incoming_tag_;
  incoming.bytes = bytes;
  incoming.owned = link.incoming_bytes_.empty() ? nullptr : &link.incoming_bytes_;
  if (!incoming.is_settled) {
    if (unsettled_in_.size() >= engine_.limits().unsettled_max) {
      return end(condition::kResourceLimitExceeded, "too many deliveries that are not settled");
    }
    unsettled_in_.add(incoming.id, &link, 0);
  }
  engine_.partial_bytes_ -= link.incoming_bytes_.size();
  if (link.handler_ != nullptr) link.handler_->on_message(link, incoming);
  // Not a part of the room that the next message needs; a short one's is kept.
  if (link.incoming_bytes_.capacity() > 4096) {
    std::string().swap(link.incoming_bytes_);
  } else {
    link.incoming_bytes_.clear();
  }
}

}  // namespace millstream::wire::amqp
