// One HTTP/2 connection of the server: moves the bytes of an Http2Session, and makes Requests of
// its streams. Requests look to their handlers as those of HTTP/1.1 do. Back-pressure: while the
// client does not take what is to be sent, nothing more is read from it. Internal to http.
// Ownership: its shard holds it in a list; it deletes itself, one reactor turn after close().
// Thread: the reactor's.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "http/http2_session.h"
#include "http/request.h"
#include "http/server.h"
#include "http/server_shard.h"
#include "net/reactor.h"
#include "net/tls_channel.h"

namespace millstream::http {

class Http2Connection final : private net::IoHandler,
                              private Http2Handler,
                              public RequestHost,
                              public ShardMember {
 public:
  // Takes the descriptor from a connection that has received `received` on it; closes it when it
  // cannot be watched.
  static void open(ServerShard& shard, int fd, std::unique_ptr<net::TlsChannel> tls,
                   std::string_view received);
  void close() override;
  void begin_stop() override;

  void send(Request& request) override;
  void set_reply_deadline(Request& request, int64_t deadline_ns) override;
  std::string_view peer() override;
  const net::TlsPeer* tls_peer() override { return tls_ ? &tls_->engine().peer() : nullptr; }

 private:
  // What a stream has here; its timer is for the reply.
  struct Exchange {
    Http2Connection* connection;
    Http2Stream* stream;
    Request* request;
    bool is_counted = false;
    net::Timer timer;
  };

  Http2Connection(ServerShard& shard, int fd, std::unique_ptr<net::TlsChannel> tls);
  void on_io(uint32_t events) override;
  void on_request(Http2Stream& stream) override;
  void on_stream_end(Http2Stream& stream) override;
  void take(std::string_view bytes);
  void process();
  bool receive();
  void flush();
  bool send_out();
  void finish_turn();
  void end();
  void say_last();
  void drain();
  void drop_exchanges();
  void fill_head(Request& request, Http2Stream& stream);
  void refuse(Exchange& exchange);
  Exchange* find(Request& request);
  void set_deadline(int64_t deadline_ns);
  void on_deadline();

  ServerShard& shard_;
  net::Reactor& reactor_;
  int fd_;
  std::unique_ptr<net::TlsChannel> tls_;
  bool is_readable_ = true;
  bool is_peer_closed_ = false;
  bool is_blocked_ = false;  // the socket takes no more
  bool is_inside_ = false;   // in the session: whoever is there flushes
  bool is_closed_ = false;
  bool is_resuming_ = false;
  bool is_ending_ = false;  // the session is over: closed when all is sent
  bool is_stopping_ = false;
  bool is_lingering_ = false;  // all is said; what still comes is read and forgotten
  std::string output_;
  size_t output_sent_ = 0;
  std::string peer_;
  std::vector<std::unique_ptr<Exchange>> exchanges_;  // of the streams that are open
  net::Timer timer_;
  int64_t deadline_ns_ = net::kNever;
  uint64_t seen_progress_ = 0;
  Http2Session session_;  // last: its end calls on_stream_end
};

}  // namespace millstream::http
