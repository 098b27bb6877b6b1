#include "wire/amqp/engine/session.h"

#include <algorithm>

#include "base/assert.h"
#include "wire/amqp/engine/engine.h"

namespace millstream::wire::amqp {

Session::Session(Engine& engine, uint16_t channel) : engine_(engine), channel_(channel) {
  incoming_window_ = engine.limits().incoming_window;
}

Session::~Session() = default;

void Session::send_begin(bool is_answer) {
  Begin begin{.next_outgoing_id = next_outgoing_id_,
              .incoming_window = incoming_window_,
              .outgoing_window = engine_.limits().incoming_window,
              .handle_max = engine_.limits().handle_max};
  if (is_answer) begin.remote_channel = remote_channel_;
  begin_sent_ = true;
  engine_.send_frame(channel_, begin);
}

void Session::on_begin(const Begin& begin) {
  begin_received_ = true;
  next_incoming_id_ = begin.next_outgoing_id;
  remote_incoming_window_ = begin.incoming_window;
  remote_outgoing_window_ = begin.outgoing_window;
  handle_max_ = begin.handle_max;
}

void Session::on_frame(uint64_t code, Reader& reader) {
  auto take = [&](auto performative, auto handle) {
    if (!read_fields(reader, performative)) {
      const char* why = reader.error() != nullptr ? reader.error() : "a performative is damaged";
      engine_.close(condition::kDecodeError, why);
    } else if (!end_sent_) {
      handle(performative);
    }
  };
  switch (code) {
    case descriptor::kTransfer:
      return take(Transfer(), [&](const Transfer& v) { on_transfer(v, reader.rest()); });
    case descriptor::kDisposition:
      return take(Disposition(), [&](const Disposition& v) { on_disposition(v); });
    case descriptor::kFlow:
      return take(Flow(), [&](const Flow& v) { on_flow(v); });
    case descriptor::kAttach:
      return take(Attach(), [&](const Attach& v) { on_attach(v); });
    case descriptor::kDetach:
      return take(Detach(), [&](const Detach& v) { on_detach(v); });
    case descriptor::kEnd: {
      End end;
      static_cast<void>(read_fields(reader, end));
      return on_end(end);
    }
    default:
      return engine_.close(condition::kNotImplemented, "an unknown performative");
  }
}

// --- links ---

Link* Session::add_link(std::string name, bool is_sender) {
  size_t handle = 0;
  while (handle < links_.size() && links_[handle] != nullptr) ++handle;
  if (handle > handle_max_ || handle > engine_.limits().handle_max) return nullptr;
  if (handle == links_.size()) links_.emplace_back();
  links_[handle] =
      std::make_unique<Link>(*this, std::move(name), is_sender, static_cast<uint32_t>(handle));
  ++engine_.link_count_;
  return links_[handle].get();
}

Link* Session::attach(std::string name, bool is_sender, Attach attach, LinkHandler& handler) {
  Link* link = add_link(std::move(name), is_sender);
  if (link == nullptr) return nullptr;
  link->set_handler(&handler);
  link->attach(attach);
  return link;
}

Link* Session::find_link(std::string_view name, bool is_sender) {
  for (auto& link : links_) {
    if (link != nullptr && link->name() == name && link->is_sender() == is_sender &&
        !link->detach_sent_) {
      return link.get();
    }
  }
  return nullptr;
}

void Session::bind_remote(Link& link, uint32_t remote_handle) {
  if (remote_handle >= by_remote_.size()) by_remote_.resize(remote_handle + 1u);
  by_remote_[remote_handle] = &link;
  link.remote_handle_ = remote_handle;
  link.attach_received_ = true;
}

void Session::on_attach(const Attach& attach) {
  if (attach.handle > engine_.limits().handle_max) {
    return engine_.close(condition::kFramingError, "a handle beyond handle-max");
  }
  if (remote_link(attach.handle) != nullptr) return end(condition::kHandleInUse, "handle in use");
  if (attach.snd_settle_mode > kSenderMixed || attach.rcv_settle_mode > kReceiverSecond) {
    return end(condition::kInvalidField, "no such settle mode");
  }
  bool is_sender = attach.role;  // the peer receives
  if (!is_sender && !attach.initial_delivery_count.has_value()) {
    return end(condition::kInvalidField, "initial-delivery-count is missing");
  }
  Link* link = find_link(attach.name, is_sender);
  bool is_answer = link != nullptr && !link->attach_received_;
  if (link != nullptr && !is_answer) {
    link->detach(false, encode_error(condition::kStolen, "another link has the name"));
    link = nullptr;
  }
  if (link == nullptr) {
    bool has_room = engine_.link_count_ < engine_.limits().links_max;
    link = has_room ? add_link(std::string(attach.name), is_sender) : nullptr;
    if (link == nullptr) {
      return engine_.close(condition::kResourceLimitExceeded, "too many links");
    }
  }
  bind_remote(*link, attach.handle);
  link->peer_message_bytes_max_ = attach.max_message_size.value_or(0);
  link->sender_settle_mode_ = attach.snd_settle_mode;
  link->receiver_settle_mode_ = attach.rcv_settle_mode;
  if (!is_sender) link->delivery_count_ = *attach.initial_delivery_count;
  if (!is_answer) return engine_.handler_.on_attach(*link, attach);
  if (link->handler_ != nullptr) link->handler_->on_attached(*link, attach);
}

void Session::on_detach(const Detach& detach) {
  Link* link = remote_link(detach.handle);
  if (link == nullptr) return end(condition::kUnattachedHandle, "no link has this handle");
  by_remote_[detach.handle] = nullptr;
  link->detach_received_ = true;
  ErrorInfo error;
  bool has_error = !detach.error.empty() && decode(detach.error, error);
  LinkHandler* handler = link->handler_;
  bool was_detached = link->detach_sent_;
  if (handler != nullptr) {
    handler->on_detached(*link, detach.closed || link->was_closed_, has_error ? &error : nullptr);
  }
  link->handler_ = nullptr;
  if (!was_detached && !link->detach_sent_) link->detach(detach.closed);
  remove_link(*link);
}

void Session::remove_link(Link& link) {
  auto drop = [&](DeliveryMap& map) {
    if (map.empty()) return;
    map.for_all([&](const DeliveryMap::Entry& e) {
      if (e.link == &link) map.erase(e.id);
    });
  };
  drop(unsettled_out_);
  drop(unsettled_in_);
  std::erase(sending_, &link);
  for (Link*& remote : by_remote_) {
    if (remote == &link) remote = nullptr;
  }
  engine_.partial_bytes_ -= link.incoming_bytes_.size();
  --engine_.link_count_;
  engine_.bury(std::move(links_[link.handle_]));
  if (!engine_.is_receiving_) engine_.clear_dead();
}

void Session::drop_links() {
  for (size_t i = 0; i < links_.size(); ++i) {
    if (links_[i] == nullptr) continue;
    Link& link = *links_[i];
    if (link.handler_ != nullptr) {
      link.detach_sent_ = true;
      std::exchange(link.handler_, nullptr)->on_detached(link, link.was_closed_, nullptr);
    }
    if (links_[i] != nullptr) remove_link(link);
  }
}

void Session::end(std::string_view condition, std::string_view description) {
  if (end_sent_ || !begin_sent_) return;
  flush_disposition();
  std::string error;
  if (!condition.empty()) error = encode_error(condition, description);
  end_sent_ = true;
  drop_links();
  engine_.send_frame(channel_, End{.error = error});
}

void Session::on_end(const End& end) {
  end_received_ = true;
  ErrorInfo error;
  bool has_error = !end.error.empty() && decode(end.error, error);
  drop_links();
  if (!end_sent_) {
    end_sent_ = true;
    flush_disposition();
    engine_.send_frame(channel_, End());
  }
  engine_.handler_.on_end(*this, has_error ? &error : nullptr);
  engine_.remove_session(*this);
}

// --- flow ---

Flow Session::window_flow() const {
  Flow flow{.incoming_window = incoming_window_,
            .next_outgoing_id = next_outgoing_id_,
            .outgoing_window = engine_.limits().incoming_window};
  if (begin_received_) flow.next_incoming_id = next_incoming_id_;
  return flow;
}

void Session::send_window() {
  needs_flow_ = false;
  incoming_window_ = engine_.limits().incoming_window;
  engine_.send_frame(channel_, window_flow());
}

void Session::on_flow(const Flow& flow) {
  uint32_t next_incoming = flow.next_incoming_id.value_or(0);
  // What is on its way to the peer does not count against the window that it tells (2.5.6).
  remote_incoming_window_ = next_incoming + flow.incoming_window - next_outgoing_id_;
  if (static_cast<int32_t>(remote_incoming_window_) < 0 && flow.incoming_window < 0x80000000u) {
    remote_incoming_window_ = 0;
  }
  remote_outgoing_window_ = flow.outgoing_window;
  if (flow.handle.has_value()) {
    Link* link = remote_link(*flow.handle);
    if (link == nullptr) return end(condition::kUnattachedHandle, "no link has this handle");
    if (!link->detach_sent_ && link->attach_sent_) on_link_flow(*link, flow);
  } else if (flow.echo) {
    send_window();
  }
  if (!end_sent_) continue_sending();
}

void Session::on_link_flow(Link& link, const Flow& flow) {
  if (link.is_sender()) {
    if (flow.link_credit.has_value()) {
      uint32_t count = flow.delivery_count.value_or(link.delivery_count_);
      uint32_t credit = count + *flow.link_credit - link.delivery_count_;
      link.credit_ =
          static_cast<int32_t>(credit) < 0 && *flow.link_credit < 0x80000000u ? 0 : credit;
    }
    link.is_drain_ = flow.drain;
    link.flow_properties_.assign(flow.properties);
    if (flow.echo) link.send_flow(false);
    if (link.handler_ != nullptr) link.handler_->on_credit(link);
    return;
  }
  if (flow.delivery_count.has_value()) {
    uint32_t used = *flow.delivery_count - link.delivery_count_;
    if (used > link.credit_) used = link.credit_;
    link.delivery_count_ += used;
    link.credit_ -= used;
    if (link.credit_ == 0) link.is_drain_ = false;
  }
  link.available_ = flow.available.value_or(0);
  if (flow.echo) link.send_flow(false);
  if (link.handler_ != nullptr) link.handler_->on_flow(link);
}

void Session::flush() {
  flush_disposition();
  for (size_t i = 0; i < links_.size(); ++i) {
    if (links_[i] != nullptr && links_[i]->needs_flow_) links_[i]->send_flow(false);
  }
  if (needs_flow_ && !end_sent_) send_window();
}

// Messages that wait for window or output go on; then those who want to send may.
void Session::continue_sending() {
  while (!sending_.empty() && !end_sent_) {
    if (!sending_.front()->send_more()) return;  // done, it leaves the list
  }
  for (size_t i = 0; i < links_.size() && !end_sent_; ++i) {
    Link* link = links_[i].get();
    if (link == nullptr || !link->is_sender() || link->handler_ == nullptr) continue;
    if (link->can_send()) link->handler_->on_credit(*link);
  }
}

// --- dispositions ---

void Session::add_disposition(bool is_receiver, uint32_t id, const DeliveryState& state,
                              bool is_settled) {
  bool is_simple = !state.is_transactional &&
                   (state.kind == StateKind::kAccepted || state.kind == StateKind::kReleased ||
                    state.kind == StateKind::kNone);
  if (pending_.is_there && is_simple && pending_.kind == state.kind &&
      pending_.is_receiver == is_receiver && pending_.is_settled == is_settled &&
      id == pending_.last + 1) {
    pending_.last = id;
    return;
  }
  flush_disposition();
  pending_ = {true, is_receiver, is_settled, state.kind, id, id};
  if (is_simple) return;
  pending_.is_there = false;
  Writer w;
  encode_state(w, state);
  engine_.send_frame(
      channel_,
      Disposition{.role = is_receiver, .first = id, .settled = is_settled, .state = w.bytes()});
}

void Session::flush_disposition() {
  if (!pending_.is_there) return;
  pending_.is_there = false;
  if (end_sent_ || engine_.is_finished()) return;
  Disposition disposition{
      .role = pending_.is_receiver, .first = pending_.first, .settled = pending_.is_settled};
  if (pending_.last != pending_.first) disposition.last = pending_.last;
  static constexpr std::string_view kAccepted("\0\x53\x24\x45", 4), kReleased("\0\x53\x26\x45", 4);
  if (pending_.kind == StateKind::kAccepted) disposition.state = kAccepted;
  if (pending_.kind == StateKind::kReleased) disposition.state = kReleased;
  engine_.send_frame(channel_, disposition);
}

void Session::on_disposition(const Disposition& disposition) {
  DeliveryState state;
  if (!decode_state(disposition.state, state)) {
    return engine_.close(condition::kDecodeError, "a delivery state that is none");
  }
  uint32_t last = disposition.last.value_or(disposition.first);
  if (static_cast<int32_t>(last - disposition.first) < 0) {
    return end(condition::kInvalidField, "a disposition whose last is before its first");
  }
  DeliveryMap& map = disposition.role ? unsettled_out_ : unsettled_in_;
  map.for_range(disposition.first, last, [&](const DeliveryMap::Entry& e) {
    if (disposition.settled) map.erase(e.id);
    Link* link = e.link;
    if (disposition.settled && link->is_sending_ && link->sending_id_ == e.id) {
      link->abort_sending();
    }
    if (link->handler_ != nullptr) {
      link->handler_->on_state(*link, e.id, e.cookie, state, disposition.settled);
    }
  });
  engine_.handler_.on_states_told(*this);
}

}  // namespace millstream::wire::amqp
