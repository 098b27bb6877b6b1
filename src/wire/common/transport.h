// One connection of a protocol: a socket, plain or with TLS, or what a WebSocket on it carries.
// Nothing here blocks: bytes come in through the handler, and what is sent waits in a queue that is
// written once a turn of the reactor.
//
// - Receiving: the handler gets all bytes that it has not consumed yet, in one piece, and says how
//   many it has consumed. The rest is given again with more behind it; expect() spares the calls
//   until there is enough. A connection that has nothing left over owns no buffer.
// - Sending: small pieces are joined, bodies are shared and not copied. on_drained() tells when a
//   queue that was longer than kDrainedBytes is not any more: back-pressure is the handler's.
// - The end: on_closed() comes once, whatever ended it, in a task of its own (never inside a call
//   of the transport). Nothing is called after it. Destroying the transport closes silently.
// Thread: its reactor's.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "net/address.h"
#include "net/buffer_pool.h"
#include "net/reactor.h"
#include "net/tls_channel.h"
#include "queue/core/message.h"

struct iovec;

namespace millstream::wire {

class WebSocket;

enum class CloseReason : uint8_t {
  kPeer,         // it closed, or its connection broke
  kOurs,         // shut() or abort()
  kTimeout,      // the connection, a login, or the peer's reading took too long
  kTlsFailed,    // see failure()
  kWebSocket,    // it does not follow RFC 6455
  kInputTooLong  // more input than the limit that the handler did not consume
};
std::string_view close_reason_text(CloseReason reason);

class TransportHandler {
 public:
  virtual ~TransportHandler() = default;
  // Of a connection that we make: it is there, with TLS when that was asked for.
  virtual void on_connected() {}
  // How many bytes were consumed. Not called while reading is paused.
  virtual size_t on_received(std::string_view bytes) = 0;
  virtual void on_drained() {}
  virtual void on_closed(CloseReason reason) = 0;
};

struct TransportLimits {
  size_t input_bytes_max = 2u << 20;     // not consumed; longer frames belong to the handler
  int64_t stall_ns = 60 * net::kSecond;  // output waits and the peer reads nothing
};

class Transport final : private net::IoHandler {
 public:
  static constexpr size_t kDrainedBytes = 64 * 1024;
  static constexpr size_t kReadBytes = 64 * 1024;      // in one call
  static constexpr size_t kTurnBytesMax = 512 * 1024;  // received in one turn
  static constexpr size_t kSharedBytesMin = 1024;      // shorter bodies are copied

  // Takes the descriptor, which is non-blocking; null when it cannot be watched. `tls`: null is
  // plain. Nothing is received before start().
  static std::unique_ptr<Transport> accept(net::Reactor& reactor, int fd,
                                           std::shared_ptr<const net::TlsContext> tls,
                                           const TransportLimits& limits);
  struct ConnectOptions {
    std::vector<net::Address> addresses;  // tried one after the other
    std::shared_ptr<const net::TlsContext> tls;
    std::string host;  // that the certificate must be for
    int64_t timeout_ns = 30 * net::kSecond;
    TransportLimits limits = {};
  };
  // start() begins it; on_connected() or on_closed() tells.
  static std::unique_ptr<Transport> connect(net::Reactor& reactor, ConnectOptions options);
  ~Transport() override;

  void start(TransportHandler& handler);
  // Before start(): a first "GET " is the handshake of a WebSocket for one of these subprotocols,
  // which is then answered here; text frames instead of binary ones when `sends_text` and it is.
  void allow_websocket(std::vector<std::string> subprotocols, bool sends_text);
  bool is_websocket() const { return websocket_ != nullptr; }
  // The one that was agreed on.
  std::string_view subprotocol() const;
  // After what has been sent so far, everything is TLS: for protocols that begin in plain text.
  // Nothing that was received may be left over.
  void start_tls(std::shared_ptr<const net::TlsContext> context);

  // --- out ---
  void send(std::string_view bytes);
  void send(std::string&& bytes);
  void send(const char* text) { send(std::string_view(text)); }
  void send(const queue::Body& body);
  size_t outgoing_bytes() const { return outgoing_bytes_; }
  // Now, instead of at the end of the turn.
  void flush();

  // --- in ---
  void pause_reading() { is_paused_ = true; }
  void resume_reading();
  // on_received() is not called again before so many bytes are there, or the end is.
  void expect(size_t bytes) { expected_bytes_ = bytes; }

  // --- end ---
  // Sends what waits, then closes; at the deadline at the latest. Nothing is received any more.
  void shut(int64_t linger_ns = 5 * net::kSecond);
  void abort(CloseReason reason = CloseReason::kOurs);
  bool is_open() const { return state_ == State::kOpen; }

  net::Reactor& reactor() { return reactor_; }
  std::string_view peer_address() const { return peer_; }  // "192.0.2.1:1234"
  std::string peer_host() const;                           // without the port
  bool has_tls() const { return tls_ != nullptr; }
  // With has_certificate when it has shown one that was verified; null without TLS.
  const net::TlsPeer* tls_peer() { return tls_ ? &tls_->engine().peer() : nullptr; }
  net::TlsEngine* tls_engine() { return tls_ ? &tls_->engine() : nullptr; }
  const std::string& failure() const { return failure_; }
  uint64_t bytes_received() const { return bytes_received_; }
  uint64_t bytes_sent() const { return bytes_sent_; }
  uint64_t receive_calls() const { return receive_calls_; }
  uint64_t send_calls() const { return send_calls_; }

 private:
  enum class State : uint8_t { kNew, kConnecting, kOpen, kShutting, kClosed };
  struct Piece {
    std::string text;  // or
    queue::Body body;
    size_t size() const { return body.empty() ? text.size() : body.size(); }
    const char* data() const { return body.empty() ? text.data() : body.view().data(); }
  };
  friend class WebSocket;
  friend class FlushList;

  Transport(net::Reactor& reactor, int fd, const TransportLimits& limits);
  void on_io(uint32_t events) override;
  void connect_next();
  void finish_connect();
  void advance_connect();
  void opened();
  void read();
  bool read_once(size_t& turn_bytes);
  ssize_t receive(char* data, size_t size);
  bool take(std::string_view fresh);
  bool append_input(std::string_view bytes);
  size_t give(std::string_view bytes);
  size_t give_to_handler(std::string_view bytes);
  bool detect_websocket(std::string_view bytes, bool& is_known);
  void resume_later();
  void append(std::string_view bytes);
  void append(std::string&& bytes);
  void append(const queue::Body& body);
  void schedule_flush();
  bool write_out();
  ssize_t write_parts(iovec* parts, int count);
  void consumed(size_t bytes);
  void sent_all();
  void close(CloseReason reason);
  void arm_timer();
  void on_timer();

  net::Reactor& reactor_;
  int fd_;
  State state_ = State::kNew;
  bool is_readable_ = false;
  bool is_writable_ = true;
  bool is_peer_closed_ = false;
  bool is_paused_ = false;
  bool is_reading_ = false;
  bool is_resuming_ = false;
  bool is_flush_scheduled_ = false;
  bool is_above_drained_ = false;
  bool may_be_websocket_ = false;
  bool sends_text_ = false;
  bool starts_tls_ = false;
  TransportHandler* handler_ = nullptr;
  TransportLimits limits_;
  std::unique_ptr<net::TlsChannel> tls_;
  std::unique_ptr<WebSocket> websocket_;
  std::vector<std::string> subprotocols_;
  std::unique_ptr<ConnectOptions> connect_;
  std::shared_ptr<const net::TlsContext> pending_tls_;
  size_t connect_at_ = 0;
  net::Buffer input_;
  size_t input_bytes_ = 0;
  size_t expected_bytes_ = 0;
  std::vector<Piece> pieces_;
  size_t first_piece_ = 0;
  size_t first_offset_ = 0;  // of the first piece, sent already
  size_t outgoing_bytes_ = 0;
  uint64_t bytes_received_ = 0;
  uint64_t bytes_sent_ = 0;
  uint64_t receive_calls_ = 0;
  uint64_t send_calls_ = 0;
  uint64_t sent_at_check_ = 0;
  CloseReason shut_reason_ = CloseReason::kOurs;
  net::Timer timer_;
  std::string peer_;
  std::string failure_;
  // Tasks that were posted look whether it is still there.
  const std::shared_ptr<Transport*> self_ = std::make_shared<Transport*>(this);
};

}  // namespace millstream::wire
