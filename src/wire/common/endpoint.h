// Where clients of one protocol come in: ports (plain and TLS), limits, and the sessions that are
// there. A protocol gives a function that makes its Session for each connection.
//
//   auto endpoint = Endpoint::create(reactors, broker, {.protocol = "stomp", ...},
//       [](SessionHost& host, std::unique_ptr<Transport> transport) {
//         return std::make_shared<stomp::Session>(host, std::move(transport)); });
//   MS_TRY(endpoint->listen("0.0.0.0", 61613));
//
// Limits are checked before a session is made: connections in all and of one address, how many come
// in a second. A session that does not say handshake_done() in time is closed.
// Thread: create, listen, stop and destroy the owner's (no reactor's); statistics any. A session
// belongs to the reactor that accepted it.
#pragma once
#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/counter.h"
#include "base/metrics.h"
#include "net/reactor_pool.h"
#include "net/tls_reload.h"
#include "queue/objects/admin_target.h"
#include "wire/common/alarm.h"
#include "wire/common/broker.h"
#include "wire/common/transport.h"

namespace millstream::wire {

struct EndpointLimits {
  uint32_t connections_max = 20'000;
  uint32_t connections_per_address_max = 20'000;
  uint32_t accepts_per_second_max = 10'000;
  int64_t handshake_ns = 10 * net::kSecond;  // to log in
  int64_t stall_ns = 60 * net::kSecond;      // the peer reads nothing
  size_t input_bytes_max = 2u << 20;         // that are received and not understood yet
  size_t message_bytes_max = 100u << 20;     // of one message; the queue's MAXMSGL counts, too
  size_t outgoing_bytes_max = 1u << 20;      // consumers wait while more is on its way out
  size_t unsettled_bytes_max = 256u << 20;   // of deliveries and open transactions of a session
  uint32_t links_max = 1'000;                // consumers, producers, subscriptions of a session
};

struct EndpointOptions {
  std::string protocol;  // "amqp": of metrics, logs, displays
  std::string channel;   // whose rules (SET CHLAUTH) apply
  queue::objects::ChannelType channel_type = queue::objects::ChannelType::kSvrconn;
  EndpointLimits limits;
  std::vector<std::string> websocket_subprotocols;  // empty: no WebSocket
  bool websocket_sends_text = false;
};

class Endpoint;
class Session;

// What displays show of a session, and what it counts.
struct SessionRecord {
  uint64_t id = 0;
  std::string address;
  int64_t started_gmt_ms = 0;
  base::Counter messages_in, messages_out;

  mutable std::mutex mutex;  // leaf; of what follows
  std::string user;
  std::string client_id;
  std::string application;
};

// One reactor's part of an endpoint.
class SessionHost {
 public:
  SessionHost(Endpoint& endpoint, net::Reactor& reactor);
  Endpoint& endpoint() { return endpoint_; }
  net::Reactor& reactor() { return reactor_; }
  Broker& broker();
  base::Executor& executor() { return executor_; }
  const EndpointOptions& options() const;
  const EndpointLimits& limits() const { return options().limits; }
  size_t session_count() const { return sessions_.size(); }
  // f(Session&); sessions may end in it, but not be destroyed.
  template <typename F>
  void for_each_session(F&& f) {
    auto sessions = snapshot();
    for (const auto& session : sessions) f(*session);
  }

  // Of sessions that have ended as well; written on this reactor.
  base::Counter accepted, messages_in, messages_out, bytes_in, bytes_out, handshake_failures;

 private:
  friend class Endpoint;
  friend class Session;
  void open(int fd, std::shared_ptr<const net::TlsContext> tls);
  void remove(Session& session);
  std::vector<std::shared_ptr<Session>> snapshot() const;

  Endpoint& endpoint_;
  net::Reactor& reactor_;
  base::Executor& executor_;
  std::unordered_map<uint64_t, std::shared_ptr<Session>> sessions_;
  mutable std::mutex records_mutex_;  // leaf; guards records_
  std::unordered_map<uint64_t, std::shared_ptr<SessionRecord>> records_;
};

// One client's connection. A protocol derives from it and implements on_received(), on_ended() and
// what it wants of the rest. Held by its host until the connection has ended, and by callbacks of
// calls that are still under way: those look at is_ended().
class Session : public TransportHandler, public std::enable_shared_from_this<Session> {
 public:
  Session(SessionHost& host, std::unique_ptr<Transport> transport);
  ~Session() override;

  // Once, when everything is set up and before the first bytes come.
  virtual void on_started() {}
  // The server stops: say so to the client if the protocol can, then shut().
  virtual void on_stopping() { transport().shut(); }
  // STOP CONN, STOP CHANNEL: likewise.
  virtual void on_stopped_by_operator() { on_stopping(); }
  // The time to log in is over.
  virtual void on_handshake_timeout() { transport().abort(CloseReason::kTimeout); }
  // The connection is gone: back out, release, unsubscribe. Once.
  virtual void on_ended(CloseReason reason) = 0;

  SessionHost& host() { return host_; }
  Broker& broker() { return host_.broker(); }
  base::Executor& executor() { return host_.executor(); }
  net::Reactor& reactor() { return host_.reactor(); }
  const EndpointLimits& limits() const { return host_.limits(); }
  Transport& transport() { return *transport_; }
  bool is_ended() const { return is_ended_; }
  uint64_t id() const { return record_->id; }
  Caller caller();

 protected:
  // The client has logged in: the time for that does not count any more.
  void handshake_done(std::string_view user, std::string_view client_id,
                      std::string_view application = {});
  void count_in(uint64_t messages = 1) {
    record_->messages_in.add(messages);
    host_.messages_in.add(messages);
  }
  void count_out(uint64_t messages = 1) {
    record_->messages_out.add(messages);
    host_.messages_out.add(messages);
  }

 private:
  friend class SessionHost;
  void on_closed(CloseReason reason) final;

  SessionHost& host_;
  std::shared_ptr<SessionRecord> record_;
  std::unique_ptr<Transport> transport_;
  Alarm handshake_alarm_;
  bool is_logged_in_ = false;
  bool is_ended_ = false;
};

struct EndpointStats {
  uint64_t connections = 0;  // now
  uint64_t accepted = 0;     // so far
  uint64_t refused = 0;      // by a limit
  uint64_t handshake_failures = 0;
  uint64_t messages_in = 0, messages_out = 0;
  uint64_t bytes_in = 0, bytes_out = 0;
};

class Endpoint {
 public:
  using MakeSession =
      std::function<std::shared_ptr<Session>(SessionHost& host, std::unique_ptr<Transport>)>;
  static constexpr int64_t kStopGraceNs = 5 * net::kSecond;

  Endpoint(net::ReactorPool& reactors, Broker& broker, EndpointOptions options, MakeSession make);
  ~Endpoint();  // stops, without grace
  Endpoint(const Endpoint&) = delete;
  Endpoint& operator=(const Endpoint&) = delete;

  // 0: any free port.
  Status listen(const std::string& host, int port);
  Status listen_tls(const std::string& host, int port, std::shared_ptr<net::TlsServer> tls);
  int port() const { return plain_ ? plain_->port() : 0; }  // 0: not open
  int tls_port() const { return secure_ ? secure_->port() : 0; }
  // For protocols that begin in plain text and ask for TLS then; null: there is no port with TLS.
  // A reactor's thread.
  std::shared_ptr<const net::TlsContext> tls_context(const net::Reactor& reactor) const;
  // No new connections; those there stay.
  void stop_listening();
  // Sessions say good-bye and have `grace_ns` to end; then they are cut. Listening ends, too.
  void stop(int64_t grace_ns = kStopGraceNs);
  // STOP CHANNEL: the same to the sessions, but listening goes on.
  void stop_sessions();

  const EndpointOptions& options() const { return options_; }
  Broker& broker() { return broker_; }
  net::ReactorPool& reactors() { return reactors_; }
  EndpointStats stats() const;
  // For DISPLAY CHSTATUS.
  std::vector<queue::objects::ChannelStatus> channel_status() const;
  void collect_metrics(base::MetricWriter& writer) const;

 private:
  friend class SessionHost;
  friend class Session;
  SessionHost& host_of(net::Reactor& reactor);
  net::Listener::OnAccept acceptor(std::shared_ptr<net::TlsServer> tls);
  void accept(net::Reactor& reactor, int fd, const std::shared_ptr<net::TlsServer>& tls);
  bool admit(const std::string& address, int64_t now_ns);
  void leave(const std::string& address);
  template <typename F>
  void on_each_reactor(F f);

  net::ReactorPool& reactors_;
  Broker& broker_;
  EndpointOptions options_;
  MakeSession make_;
  std::vector<std::unique_ptr<SessionHost>> hosts_;
  std::unique_ptr<net::Listener> plain_;
  std::unique_ptr<net::Listener> secure_;
  std::shared_ptr<net::TlsServer> tls_;  // of secure_; set before anybody can connect to it
  std::atomic<bool> has_tls_{false};
  std::atomic<uint64_t> last_id_{0};
  std::atomic<uint64_t> connections_{0};
  std::atomic<uint64_t> refused_{0};
  std::atomic<bool> is_stopping_{false};
  // Tasks on reactors look whether the endpoint is still there.
  std::shared_ptr<std::atomic<bool>> is_alive_ = std::make_shared<std::atomic<bool>>(true);
  std::mutex admit_mutex_;  // leaf; of the next three
  std::unordered_map<std::string, uint32_t> by_address_;
  int64_t rate_window_ns_ = 0;
  uint32_t accepted_in_window_ = 0;
};

}  // namespace millstream::wire
