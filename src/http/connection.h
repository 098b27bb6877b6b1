// One HTTP/1.1 connection of the server, plain or with TLS: a state machine that reads, frames and
// answers requests one after the other. A client that speaks HTTP/2, by ALPN or by its first bytes,
// is handed over to an Http2Connection. Internal to http. Ownership: its shard holds it in a list;
// it deletes itself, one reactor turn after close(). Thread: the reactor's.
#pragma once
#include <cstdint>
#include <string>

#include "http/message_parser.h"
#include "http/request.h"
#include "http/server.h"
#include "http/server_shard.h"
#include "net/reactor.h"
#include "net/tls_channel.h"

namespace millstream::http {

class Connection final : private net::IoHandler, public RequestHost, public ShardMember {
 public:
  // Takes the descriptor; closes it at once when it cannot be watched.
  static void open(ServerShard& shard, int fd, const ListenOptions& options);
  void close() override;

  void send(Request& request) override;  // the claimed reply of the current request
  void set_reply_deadline(Request&, int64_t deadline_ns) override { set_deadline(deadline_ns); }
  // "address:port" of the client, asked of the kernel once.
  std::string_view peer() override;
  void set_ends_with_input() override;
  void go_on(Request& request, size_t body_bytes_max) override;
  const net::TlsPeer* tls_peer() override { return tls_ ? &tls_->engine().peer() : nullptr; }

 private:
  enum class State : uint8_t { kHead, kBody, kInFlight, kWriting, kLingering, kClosed };

  Connection(ServerShard& shard, int fd, const ListenOptions& options);
  void on_io(uint32_t events) override;
  void process();
  bool is_turn_over(uint64_t requests);
  bool receive();
  void take_count(ssize_t n, size_t room);
  bool has_turned_to_http2();
  void become_http2();
  void detach();
  ssize_t send_parts(iovec* parts);
  char* data() { return buffer_.data() + begin_; }
  void compact();
  bool reserve(size_t target);
  size_t receive_target() const;
  void advance();
  void await_head();
  void advance_body();
  void begin_body();
  bool needs_asking() const;
  void ask();
  void read_body();
  char* hand_over(Request& request, size_t end);
  void dispatch(size_t end);
  void refuse(int status, const char* text);
  void write_out();
  void finish_exchange();
  void drop_request();
  void begin_lingering();
  void drain_lingering();
  void set_deadline(int64_t deadline_ns);
  void on_deadline();
  void on_reply_deadline();
  bool has_progressed();

  ServerShard& shard_;
  net::Reactor& reactor_;
  int fd_;
  State state_ = State::kHead;
  bool is_readable_ = false;
  bool is_peer_closed_ = false;
  bool ends_with_input_ = false;  // of the current request
  bool is_processing_ = false;
  bool is_counted_ = false;   // the current request is in the server's in-flight count
  bool must_linger_ = false;  // unread input is likely when this reply has gone
  bool is_keep_alive_ = true;
  bool has_head_deadline_ = false;
  bool is_resuming_ = false;  // process() goes on in the next turn
  bool is_protocol_known_;    // it is HTTP/1, not HTTP/2
  std::string peer_;
  std::unique_ptr<net::TlsChannel> tls_;  // null: plain

  net::Buffer buffer_;
  size_t begin_ = 0;  // of what is not handled yet; all offsets below count from here
  size_t used_ = 0;
  size_t expected_bytes_ = 0;          // size of the last request: the next is read in one go
  size_t body_in_ = 0, body_out_ = 0;  // chunked decoding
  Headers headers_;
  HeadParser parser_;
  ChunkedDecoder chunks_;

  Request* request_ = nullptr;  // one reference, from dispatch to the end of the exchange
  size_t head_sent_ = 0;
  size_t payload_sent_ = 0;
  bool has_payload_ = false;

  net::Timer timer_;
  int64_t deadline_ns_ = net::kNever;
  size_t progress_bytes_ = 0;  // since the last progress check
  size_t turn_bytes_ = 0;      // received in this call of process()
};

}  // namespace millstream::http
