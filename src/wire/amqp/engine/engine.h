// One connection of AMQP 1.0 behind the protocol header and SASL (2.4 to 2.7), without sockets:
// bytes come in by receive(), frames go out through an Output, time comes with tick(). The same for
// both sides: a broker answers what comes, a client begins with open(), begin(), attach().
//
// The peer's mistakes end the link, the session or the connection with the condition that the
// standard has for them. Limits are in EngineLimits; the peer is told those that the protocol can
// tell. Within receive() nothing that handlers hold is destroyed; what has ended goes at its end.
// Thread: one.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "wire/amqp/engine/conditions.h"
#include "wire/amqp/engine/frame.h"
#include "wire/amqp/engine/session.h"

namespace millstream::wire::amqp {

// Where frames go: a transport, or a test.
class Output {
 public:
  virtual ~Output() = default;
  virtual void send(std::string_view bytes) = 0;
  virtual void send(const queue::Body& body) = 0;
  // True: what was sent lately is still on its way; senders wait for Engine::drained().
  virtual bool is_congested() const { return false; }
};

struct EngineLimits {
  uint32_t frame_bytes_max = 128 * 1024;  // of what we receive
  uint16_t channel_max = 255;             // sessions of a connection, less one
  uint32_t handle_max = 999;              // links of a session, less one
  uint32_t links_max = 1'000;             // of the connection
  uint32_t incoming_window = 2'048;       // frames
  uint64_t message_bytes_max = 100u << 20;
  uint64_t partial_bytes_max = 256u << 20;  // messages that have not come whole, of a connection
  uint32_t unsettled_max = 100'000;         // of a session, in each direction
  int64_t idle_ns = 60'000'000'000;         // without a frame the peer is taken for dead; 0: never
  uint32_t peer_idle_ms_min = 100;          // a shorter idle time-out of the peer is refused
};

class EngineHandler {
 public:
  virtual ~EngineHandler() = default;
  // Of a broker: answer with open(), or with open() and close(error).
  virtual void on_open(Engine&, const Open&) {}
  virtual void on_begin(Session&) {}
  // A link of the peer's: set a handler and answer with attach() or refuse(), now or later. The
  // views of `attach` live during the call.
  virtual void on_attach(Link& link, const Attach&) {
    link.refuse(condition::kNotImplemented, "no links here");
  }
  virtual void on_end(Session&, const ErrorInfo*) {}
  // All that one disposition said has been told.
  virtual void on_states_told(Session&) {}
  // The connection has ended: both have said close, or something made that impossible. Nothing is
  // called after it. `error`: the peer's, or why we ended it.
  virtual void on_finished(Engine&, const ErrorInfo* /*error*/) {}
};

class Engine {
 public:
  Engine(Output& output, EngineHandler& handler, const EngineLimits& limits = {});
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  // Consumes whole frames; returns how many bytes that were. wanted_bytes() says how many have to
  // be there for the next frame.
  size_t receive(std::string_view bytes, int64_t now_ns);
  size_t wanted_bytes() const { return wanted_bytes_; }
  // What has been gathered goes out: dispositions, windows, credit.
  void flush();
  void drained();
  // Sends an empty frame when one is due, ends the connection of a silent peer. Returns when to
  // call it again.
  int64_t tick(int64_t now_ns);

  // Container, hostname, capabilities and properties are the caller's; limits are filled in.
  void open(Open open);
  void close(std::string_view condition = {}, std::string_view description = {},
             std::string_view info = {});
  Session* begin();  // null: as many as the peer takes are there

  bool is_open() const { return open_sent_ && open_received_ && !close_sent_ && !is_finished_; }
  bool is_close_sent() const { return close_sent_; }
  bool is_finished() const { return is_finished_; }
  const std::string& peer_container() const { return peer_container_; }
  const EngineLimits& limits() const { return limits_; }
  uint32_t peer_frame_bytes_max() const { return peer_frame_bytes_max_; }
  bool is_congested() const { return output_.is_congested(); }
  size_t link_count() const { return link_count_; }
  uint64_t frames_in() const { return frames_in_; }
  uint64_t frames_out() const { return frames_out_; }

 private:
  friend class Session;
  friend class Link;
  Writer& begin_frame(uint16_t channel);
  void end_frame();
  template <typename T>
  void send_frame(uint16_t channel, const T& performative) {
    encode(begin_frame(channel), performative);
    end_frame();
  }
  bool on_frame(const Frame& frame);
  void on_open(const Open& open);
  void on_begin(uint16_t channel, const Begin& begin);
  void on_close(const Close& close);
  void finish(const ErrorInfo* error);
  void fail(std::string_view condition, std::string_view description) {
    close(condition, description);
  }
  Session* remote_session(uint16_t channel) {
    return channel < by_remote_.size() ? by_remote_[channel] : nullptr;
  }
  Session* add_session();
  void remove_session(Session& session);
  void bury(std::unique_ptr<Link> link) { dead_links_.push_back(std::move(link)); }
  void clear_dead();

  Output& output_;
  EngineHandler& handler_;
  const EngineLimits limits_;
  Writer frame_;
  bool open_sent_ = false, open_received_ = false;
  bool close_sent_ = false, is_finished_ = false;
  bool is_receiving_ = false;
  bool has_sent_ = false;  // since the last tick
  size_t wanted_bytes_ = kFrameHeaderBytes;
  uint32_t peer_frame_bytes_max_ = kFrameBytesMin;
  uint16_t peer_channel_max_ = 0xffff;
  int64_t peer_idle_ns_ = 0;
  int64_t last_received_ns_ = 0;
  int64_t last_sent_ns_ = 0;
  std::string peer_container_;
  uint64_t partial_bytes_ = 0;
  size_t link_count_ = 0;
  uint64_t frames_in_ = 0, frames_out_ = 0;
  std::string failure_;                             // an encoded error: why we ended it
  std::vector<std::unique_ptr<Session>> sessions_;  // by our channel
  std::vector<Session*> by_remote_;                 // by the peer's
  std::vector<std::unique_ptr<Session>> dead_sessions_;
  std::vector<std::unique_ptr<Link>> dead_links_;
};

}  // namespace millstream::wire::amqp
