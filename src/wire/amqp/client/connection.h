// A connection to an AMQP 1.0 broker, with the engine that the server's side has as well: TLS,
// SASL, open, and one session for all links. What waits suspends the calling fiber; the rest goes
// on.
//
//   auto connection = MS_TRY(Connection::open(*net::Reactor::current(), options));
//   auto sender = MS_TRY(Sender::open(*connection, {.address = "ORDERS"}));
//   MS_TRY(sender->send({.head = bytes}));
//   connection->close();
//
// It does not reconnect: when it has ended, every call says why, and what was not acknowledged is
// not known to have arrived.
// Thread: one reactor, in fibers. Links (links.h) must go before their connection.
#pragma once
#include <deque>
#include <memory>
#include <string>

#include "wire/amqp/client/sasl_client.h"
#include "wire/amqp/client/waiters.h"
#include "wire/amqp/engine/engine.h"
#include "wire/common/alarm.h"
#include "wire/common/transport.h"

namespace millstream::wire::amqp::client {

struct ConnectionOptions {
  std::string host;
  int port = 0;
  std::shared_ptr<const net::TlsContext> tls;  // null: plain
  SaslIdentity identity;
  std::string container_id;                // empty: a new one
  int64_t timeout_ns = 30 * net::kSecond;  // to log in, and for each answer
  EngineLimits limits = {};
  size_t outgoing_bytes_max = 1u << 20;  // senders wait while more is on its way
};

class Connection final : private TransportHandler, private Output, private EngineHandler {
 public:
  static Result<std::unique_ptr<Connection>> open(net::Reactor& reactor, ConnectionOptions options);
  ~Connection() override;  // without a word to the broker
  // Says so, and waits until the broker has done everything that was asked of it before.
  Status close();

  bool is_ended() const { return is_ended_; }
  Status why_ended() const;  // a failure
  Session& session() { return *session_; }
  Engine& engine() { return *engine_; }
  net::Reactor& reactor() { return reactor_; }
  const ConnectionOptions& options() const { return options_; }
  const std::string& peer_text() const { return peer_; }  // host and port, for people
  // What has been gathered goes out at the end of the turn.
  void flush_later();
  // Waits until it is so; false: in time it was not, or the connection has ended.
  template <typename F>
  bool wait(int64_t deadline_ns, F&& is_so) {
    engine_->flush();
    return waiters_.wait(deadline_ns, [&] { return is_ended_ || is_so(); }) && is_so();
  }
  int64_t deadline() const;
  void notify() { waiters_.notify(); }

 private:
  enum class State : uint8_t { kConnecting, kSaslHeader, kSasl, kAmqpHeader, kOpen };

  Connection(net::Reactor& reactor, ConnectionOptions options);
  Status log_in();
  Status open_engine();
  Result<std::string> next_sasl_frame();
  template <typename T>
  void send_sasl(const T& performative);
  size_t take_header(std::string_view bytes, ProtocolId wanted);
  size_t take_sasl(std::string_view bytes);
  void end(std::string why);
  void tick();

  // TransportHandler
  void on_connected() override;
  size_t on_received(std::string_view bytes) override;
  void on_drained() override;
  void on_closed(CloseReason reason) override;
  // Output
  void send(std::string_view bytes) override;
  void send(const queue::Body& body) override;
  bool is_congested() const override;
  // EngineHandler
  void on_open(Engine&, const Open&) override { waiters_.notify(); }
  void on_begin(Session&) override { waiters_.notify(); }
  void on_end(Session&, const ErrorInfo* error) override;
  void on_finished(Engine&, const ErrorInfo* error) override;

  net::Reactor& reactor_;
  ConnectionOptions options_;
  const std::string peer_;
  std::unique_ptr<Transport> transport_;
  std::unique_ptr<Engine> engine_;
  Session* session_ = nullptr;
  Waiters waiters_;
  Alarm tick_alarm_;
  State state_ = State::kConnecting;
  bool is_connected_ = false;
  bool is_closing_ = false;
  bool is_closed_ = false;  // both have said so, without an error
  bool is_ended_ = false;
  bool is_flush_posted_ = false;
  std::string why_;
  std::string not_amqp_;                                         // why the peer does not speak it
  std::deque<std::string> sasl_frames_;                          // bodies
  const std::shared_ptr<char> life_ = std::make_shared<char>();  // tasks look whether it is there
};

// "amqp:not-found: no such queue"; without an error the other text.
std::string error_text(const ErrorInfo* error, std::string_view otherwise);

}  // namespace millstream::wire::amqp::client
