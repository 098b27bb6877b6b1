// One end of a session (2.5): windows in both directions, its links, and the deliveries that are
// not settled. Thread: the engine's; it lives until both ends have been seen.
#pragma once
#include <deque>
#include <memory>
#include <unordered_map>
#include <vector>

#include "wire/amqp/engine/delivery_map.h"
#include "wire/amqp/engine/link.h"

namespace millstream::wire::amqp {

class Session {
 public:
  Session(Engine& engine, uint16_t channel);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  Engine& engine() { return engine_; }
  uint16_t channel() const { return channel_; }
  bool is_open() const { return begin_sent_ && begin_received_ && !end_sent_ && !end_received_; }
  // A link of our own. Source, target and modes are the caller's. Null: too many.
  Link* attach(std::string name, bool is_sender, Attach attach, LinkHandler& handler);
  void end(std::string_view condition = {}, std::string_view description = {});
  Link* find_link(std::string_view name, bool is_sender);
  template <typename F>
  void for_each_link(F&& f) {
    for (size_t i = 0; i < links_.size(); ++i) {
      if (links_[i] != nullptr) f(*links_[i]);
    }
  }
  size_t unsettled_out() const { return unsettled_out_.size(); }
  size_t unsettled_in() const { return unsettled_in_.size(); }
  // f(const DeliveryMap::Entry&) for each delivery of the link that was sent and is not settled.
  template <typename F>
  void for_each_unsettled_out(Link& link, F&& f) {
    unsettled_out_.for_all([&](const DeliveryMap::Entry& e) {
      if (e.link == &link) f(e);
    });
  }

 private:
  friend class Engine;
  friend class Link;
  struct PendingDisposition {
    bool is_there = false;
    bool is_receiver = false;
    bool is_settled = false;
    StateKind kind = StateKind::kNone;
    uint32_t first = 0, last = 0;
  };
  void send_begin(bool is_answer);
  void on_begin(const Begin& begin);
  void on_frame(uint64_t code, Reader& reader);
  void on_attach(const Attach& attach);
  void on_flow(const Flow& flow);
  void on_link_flow(Link& link, const Flow& flow);
  void on_transfer(const Transfer& transfer, std::string_view bytes);
  bool begin_delivery(Link& link, const Transfer& transfer);
  bool keep_part(Link& link, std::string_view bytes);
  void deliver(Link& link, std::string_view bytes);
  void on_disposition(const Disposition& disposition);
  void on_detach(const Detach& detach);
  void on_end(const End& end);
  void drop_links();
  void remove_link(Link& link);
  Link* add_link(std::string name, bool is_sender);
  void bind_remote(Link& link, uint32_t remote_handle);
  Link* remote_link(uint32_t handle) {
    return handle < by_remote_.size() ? by_remote_[handle] : nullptr;
  }
  void add_disposition(bool is_receiver, uint32_t id, const DeliveryState& state, bool is_settled);
  void flush_disposition();
  void flush();
  void send_window();
  void continue_sending();
  Flow window_flow() const;

  Engine& engine_;
  const uint16_t channel_;
  uint16_t remote_channel_ = 0;
  bool begin_sent_ = false, begin_received_ = false;
  bool end_sent_ = false, end_received_ = false;
  bool needs_flow_ = false;
  uint32_t handle_max_ = 0;  // the peer's

  uint32_t next_incoming_id_ = 0;
  uint32_t incoming_window_ = 0;
  uint32_t next_outgoing_id_ = 0;
  uint32_t remote_incoming_window_ = 0;
  uint32_t remote_outgoing_window_ = 0;
  uint32_t next_delivery_id_ = 0;
  uint32_t last_incoming_delivery_ = 0;
  bool has_incoming_delivery_ = false;

  std::vector<std::unique_ptr<Link>> links_;  // by our handle
  std::vector<Link*> by_remote_;              // by the peer's
  std::deque<Link*> sending_;                 // with a message that is not all sent
  DeliveryMap unsettled_out_;
  DeliveryMap unsettled_in_;
  PendingDisposition pending_;
};

}  // namespace millstream::wire::amqp
