// One HTTP/2 connection of the server, without sockets (RFC 9113): bytes go in by feed() and come
// out of produce(); complete requests go to the handler, replies come from it. Frames and header
// compression are nghttp2's.
//
// Limits: streams at once, header bytes and fields, body bytes, memory of the pool, streams that
// end badly and control frames by a rate (rapid reset, ping and settings floods end the connection
// with ENHANCE_YOUR_CALM). The client's windows open again as the body is taken over. Ownership:
// streams belong to the session; a Stream& is valid until on_stream_end(). Thread: one. The
// handler's functions run inside feed(), produce() and reply(), and may call reply().
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "http/headers.h"
#include "http/limits.h"
#include "http/response.h"
#include "net/buffer_pool.h"
#include "net/deadline.h"

struct nghttp2_session;

namespace millstream::http {

struct Http2Limits {
  MessageLimits message;
  uint32_t streams_max = 100;
  uint32_t stream_window_bytes = 256 * 1024;
  uint32_t connection_window_bytes = 4 * 1024 * 1024;
  size_t buffer_bytes_max = size_t{2} << 30;  // of the pool, beyond it bodies are refused
  // Burst and rate a second of what costs the client nothing.
  uint32_t bad_streams_burst = 200;
  uint32_t bad_streams_rate = 20;
  uint32_t control_frames_burst = 1000;
  uint32_t control_frames_rate = 100;
  // Updates of windows that cost nothing, for each frame with data that the client has got; more of
  // them are control frames.
  uint32_t window_updates_per_data = 10;
  uint32_t window_updates_burst = 10'000;
};

struct Http2Stream {
  int32_t id = 0;
  std::string method, target, authority, scheme;
  Headers headers;     // names as HTTP/1.1 writes them: Content-Type
  std::string cookie;  // its parts, until the request is complete
  bool has_cookie = false;
  net::Buffer body;
  size_t body_size = 0;
  void* user = nullptr;  // of the handler

  size_t header_bytes = 0;
  int refused_status = 0;  // not a request that can be handled
  const char* refused_text = "";
  bool is_complete = false;  // all of the request is here
  bool is_handed_on = false;
  bool is_replied = false;
  bool expects_continue = false;
  std::string_view payload;  // of the reply; what is left to send
};

class Http2Handler {
 public:
  // The whole request is there, or `refused_status` says what to answer instead.
  virtual void on_request(Http2Stream& stream) = 0;
  // The stream is over, replied to or not.
  virtual void on_stream_end(Http2Stream& stream) = 0;

 protected:
  ~Http2Handler() = default;
};

class Http2Session {
 public:
  Http2Session(Http2Handler& handler, net::BufferPool& pool, const Http2Limits& limits);
  ~Http2Session();
  Http2Session(const Http2Session&) = delete;
  Http2Session& operator=(const Http2Session&) = delete;

  // False: the connection is over, after what produce() still gives.
  bool feed(std::string_view bytes, int64_t now_ns);
  // Appends what is to be sent, about `bytes_max` at most; false on a connection error.
  bool produce(std::string& out, size_t bytes_max);
  // Head and body of the reply; the payload's memory must live until on_stream_end().
  void reply(Http2Stream& stream, const Response& response, std::string_view date, bool is_head);
  void reset(Http2Stream& stream);
  // Says that no new streams are welcome; those that are on their way still come.
  void announce_end();
  // Says which stream was the last that is handled.
  void end();

  bool is_over() const;  // neither side has anything to say
  size_t stream_count() const { return streams_.size(); }
  // Bytes of heads and bodies that have gone through, for looking whether the client moves.
  uint64_t progress_bytes() const { return progress_bytes_; }

 private:
  struct Callbacks;  // what nghttp2 calls
  struct Bucket {
    double level;
    int64_t at_ns = 0;
    bool take(uint32_t burst, uint32_t rate, int64_t now_ns);
  };
  Http2Stream* find(int32_t id);
  void add_header(Http2Stream& stream, std::string_view name, std::string_view value);
  void add_body(Http2Stream& stream, std::string_view bytes);
  void refuse(Http2Stream& stream, int status, const char* text);
  void complete(Http2Stream& stream);
  void calm_down();
  void send_continue(Http2Stream& stream);

  Http2Handler& handler_;
  net::BufferPool& pool_;
  const Http2Limits limits_;
  nghttp2_session* session_ = nullptr;
  std::unordered_map<int32_t, std::unique_ptr<Http2Stream>> streams_;
  std::vector<int32_t> ready_;  // to be handed on when nghttp2 has returned
  int64_t now_ns_ = 0;
  Bucket bad_streams_, control_frames_;
  uint32_t window_updates_ = 0;  // that are still free
  uint64_t progress_bytes_ = 0;
  bool is_calming_ = false;
};

}  // namespace millstream::http
