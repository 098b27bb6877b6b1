#include "http/http2_session.h"

#include <nghttp2/nghttp2.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstring>
#include <utility>

#include "http/chars.h"

namespace millstream::http {

namespace {
constexpr size_t kSmallBodyBytes = 16 * 1024;

nghttp2_nv field(std::string_view name, std::string_view value) {
  return {reinterpret_cast<uint8_t*>(const_cast<char*>(name.data())),
          reinterpret_cast<uint8_t*>(const_cast<char*>(value.data())), name.size(), value.size(),
          NGHTTP2_NV_FLAG_NONE};
}

// "content-type" becomes "Content-Type": flows look for the names that HTTP/1.1 clients send.
std::string title_case(std::string_view name) {
  std::string out(name);
  bool is_start = true;
  for (char& c : out) {
    if (is_start) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    is_start = c == '-';
  }
  return out;
}

// RFC 9113 8.2.2: what speaks of the connection has no place in a message.
bool is_connection_field(std::string_view name) {
  for (std::string_view own : {"connection", "keep-alive", "proxy-connection", "transfer-encoding",
                               "upgrade", "content-length", "date", "trailer"}) {
    if (equals_ignore_case(name, own)) return true;
  }
  return false;
}

bool has_body_status(int status) { return status != 204 && status != 304; }
}  // namespace

bool Http2Session::Bucket::take(uint32_t burst, uint32_t rate, int64_t now_ns) {
  const double gained = static_cast<double>(now_ns - at_ns) * rate / net::kSecond;
  level = std::min<double>(burst, level + std::max(0.0, gained));
  at_ns = now_ns;
  if (level < 1) return false;
  level -= 1;
  return true;
}

struct Http2Session::Callbacks {
  static Http2Session& of(void* user) { return *static_cast<Http2Session*>(user); }

  static int begin_headers(nghttp2_session*, const nghttp2_frame* frame, void* user) {
    if (frame->hd.type != NGHTTP2_HEADERS || frame->headers.cat != NGHTTP2_HCAT_REQUEST) return 0;
    auto stream = std::make_unique<Http2Stream>();
    stream->id = frame->hd.stream_id;
    of(user).streams_[frame->hd.stream_id] = std::move(stream);
    return 0;
  }

  static int header(nghttp2_session*, const nghttp2_frame* frame, const uint8_t* name,
                    size_t name_size, const uint8_t* value, size_t value_size, uint8_t,
                    void* user) {
    Http2Session& self = of(user);
    Http2Stream* stream = self.find(frame->hd.stream_id);
    // Trailers are read and dropped.
    if (!stream || frame->headers.cat != NGHTTP2_HCAT_REQUEST) return 0;
    self.add_header(*stream, {reinterpret_cast<const char*>(name), name_size},
                    {reinterpret_cast<const char*>(value), value_size});
    return 0;
  }

  static int data(nghttp2_session* session, uint8_t, int32_t id, const uint8_t* bytes, size_t size,
                  void* user) {
    Http2Session& self = of(user);
    if (Http2Stream* stream = self.find(id)) {
      self.add_body(*stream, {reinterpret_cast<const char*>(bytes), size});
    }
    nghttp2_session_consume(session, id, size);
    return 0;
  }

  static int frame(nghttp2_session*, const nghttp2_frame* frame, void* user) {
    Http2Session& self = of(user);
    const bool ends = (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0;
    const bool is_message = frame->hd.type == NGHTTP2_HEADERS || frame->hd.type == NGHTTP2_DATA;
    const bool is_empty_data = frame->hd.type == NGHTTP2_DATA && !ends && frame->hd.length == 0;
    // Those with an error are counted where the stream ends.
    const bool is_quiet_reset =
        frame->hd.type == NGHTTP2_RST_STREAM && frame->rst_stream.error_code == NGHTTP2_NO_ERROR;
    if (is_quiet_reset && !self.bad_streams_.take(self.limits_.bad_streams_burst,
                                                  self.limits_.bad_streams_rate, self.now_ns_)) {
      self.calm_down();
    }
    const bool is_answer = (frame->hd.flags & NGHTTP2_FLAG_ACK) != 0;
    const bool is_control =
        (frame->hd.type == NGHTTP2_PING || frame->hd.type == NGHTTP2_SETTINGS) && !is_answer;
    bool is_window = frame->hd.type == NGHTTP2_WINDOW_UPDATE;
    if (is_window && self.window_updates_ > 0) {
      --self.window_updates_;
      is_window = false;
    }
    if ((is_control || is_window || is_empty_data || frame->hd.type == NGHTTP2_PRIORITY) &&
        !self.control_frames_.take(self.limits_.control_frames_burst,
                                   self.limits_.control_frames_rate, self.now_ns_)) {
      self.calm_down();
    }
    Http2Stream* stream = is_message ? self.find(frame->hd.stream_id) : nullptr;
    if (!stream) return 0;
    if (ends) {
      self.complete(*stream);
    } else if (stream->expects_continue) {
      self.send_continue(*stream);
    }
    return 0;
  }

  static int frame_sent(nghttp2_session*, const nghttp2_frame* frame, void* user) {
    if (frame->hd.type != NGHTTP2_DATA) return 0;
    Http2Session& self = of(user);
    self.window_updates_ = std::min(self.window_updates_ + self.limits_.window_updates_per_data,
                                    self.limits_.window_updates_burst);
    return 0;
  }

  static int stream_close(nghttp2_session*, int32_t id, uint32_t error, void* user) {
    Http2Session& self = of(user);
    auto found = self.streams_.find(id);
    if (found == self.streams_.end()) return 0;
    std::unique_ptr<Http2Stream> stream = std::move(found->second);
    self.streams_.erase(found);
    // Whoever reset it: a client can make the server do it as well.
    if (error != NGHTTP2_NO_ERROR &&
        !self.bad_streams_.take(self.limits_.bad_streams_burst, self.limits_.bad_streams_rate,
                                self.now_ns_)) {
      self.calm_down();
    }
    self.handler_.on_stream_end(*stream);
    return 0;
  }

  static ssize_t read_payload(nghttp2_session* session, int32_t id, uint8_t* out, size_t size,
                              uint32_t* flags, nghttp2_data_source*, void* user) {
    Http2Session& self = of(user);
    Http2Stream* stream = self.find(id);
    if (!stream) return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
    const size_t n = std::min(size, stream->payload.size());
    std::memcpy(out, stream->payload.data(), n);
    stream->payload.remove_prefix(n);
    self.progress_bytes_ += n;
    if (stream->payload.empty()) {
      *flags |= NGHTTP2_DATA_FLAG_EOF;
      // RFC 9113 8.1: a reply before the end of the request; the rest is not wanted.
      if (!stream->is_complete) {
        nghttp2_submit_rst_stream(session, NGHTTP2_FLAG_NONE, id, NGHTTP2_NO_ERROR);
      }
    }
    return static_cast<ssize_t>(n);
  }

  static nghttp2_session_callbacks* all() {
    static nghttp2_session_callbacks* const kAll = [] {
      nghttp2_session_callbacks* made = nullptr;
      nghttp2_session_callbacks_new(&made);
      nghttp2_session_callbacks_set_on_begin_headers_callback(made, begin_headers);
      nghttp2_session_callbacks_set_on_header_callback(made, header);
      nghttp2_session_callbacks_set_on_data_chunk_recv_callback(made, data);
      nghttp2_session_callbacks_set_on_frame_recv_callback(made, frame);
      nghttp2_session_callbacks_set_on_frame_send_callback(made, frame_sent);
      nghttp2_session_callbacks_set_on_stream_close_callback(made, stream_close);
      return made;
    }();
    return kAll;
  }
};

Http2Session::Http2Session(Http2Handler& handler, net::BufferPool& pool, const Http2Limits& limits)
    : handler_(handler), pool_(pool), limits_(limits) {
  bad_streams_.level = limits.bad_streams_burst;
  control_frames_.level = limits.control_frames_burst;
  nghttp2_option* option = nullptr;
  nghttp2_option_new(&option);
  nghttp2_option_set_no_auto_window_update(option, 1);
  nghttp2_option_set_no_closed_streams(option, 1);
  nghttp2_session_server_new2(&session_, Callbacks::all(), this, option);
  nghttp2_option_del(option);
  const nghttp2_settings_entry settings[] = {
      {NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, limits.streams_max},
      {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, limits.stream_window_bytes},
      {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, static_cast<uint32_t>(limits.message.head_bytes_max)},
      {NGHTTP2_SETTINGS_ENABLE_PUSH, 0}};
  // RFC 9113 6.5.2: a server must not send ENABLE_PUSH with another value than 0; it leaves it out.
  nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, settings, 3);
  nghttp2_session_set_local_window_size(session_, NGHTTP2_FLAG_NONE, 0,
                                        static_cast<int32_t>(limits.connection_window_bytes));
}

Http2Session::~Http2Session() {
  // Streams that are left end here, as far as their handler is concerned.
  for (auto all = std::move(streams_); auto& entry : all) handler_.on_stream_end(*entry.second);
  nghttp2_session_del(session_);
}

Http2Stream* Http2Session::find(int32_t id) {
  auto found = streams_.find(id);
  return found == streams_.end() ? nullptr : found->second.get();
}

void Http2Session::add_header(Http2Stream& stream, std::string_view name, std::string_view value) {
  stream.header_bytes += name.size() + value.size() + 4;
  progress_bytes_ += name.size() + value.size();
  if (stream.header_bytes > limits_.message.head_bytes_max ||
      stream.headers.size() >= limits_.message.header_count_max) {
    return refuse(stream, 431, "header fields too large");
  }
  if (!name.empty() && name.front() == ':') {
    if (name == ":method") stream.method = value.substr(0, kMethodBytesMax + 1);
    if (name == ":path") stream.target = value;
    if (name == ":authority") stream.authority = value;
    if (name == ":scheme") stream.scheme = value;
    if (stream.target.size() > limits_.message.target_bytes_max) {
      refuse(stream, 414, "request target too long");
    }
    return;
  }
  if (!is_valid_field_name(name) || !is_valid_field_value(value)) {
    return refuse(stream, 400, "bad header field");
  }
  if (name == "expect") stream.expects_continue = equals_ignore_case(value, "100-continue");
  if (name == "cookie") {
    // RFC 9113 8.2.3: the parts of a cookie header are one again. Kept apart until all are there:
    // there may be thousands, at a byte each on the wire.
    if (stream.has_cookie) stream.cookie += "; ";
    stream.has_cookie = true;
    stream.cookie += value;
    return;
  }
  // RFC 9113 8.3.1: with two names, what checks one would be passed by way of the other.
  if (name == "host" && !stream.authority.empty() && !equals_ignore_case(value, stream.authority)) {
    return refuse(stream, 400, "two different hosts");
  }
  stream.headers.add(title_case(name), value);
}

void Http2Session::add_body(Http2Stream& stream, std::string_view bytes) {
  progress_bytes_ += bytes.size();
  if (stream.refused_status != 0) return;
  if (stream.body_size + bytes.size() > limits_.message.body_bytes_max) {
    return refuse(stream, 413, "request body too large");
  }
  const size_t needed = stream.body_size + bytes.size();
  if (stream.body.capacity() < needed) {
    const size_t wanted = std::max({needed, stream.body_size * 2, kSmallBodyBytes});
    const bool is_granted =
        wanted <= kSmallBodyBytes || pool_.in_use_bytes() + wanted <= limits_.buffer_bytes_max;
    if (!is_granted || !pool_.grow(stream.body, stream.body_size, wanted)) {
      return refuse(stream, 503, "too much memory in use");
    }
  }
  std::memcpy(stream.body.data() + stream.body_size, bytes.data(), bytes.size());
  stream.body_size = needed;
}

void Http2Session::refuse(Http2Stream& stream, int status, const char* text) {
  if (stream.refused_status != 0) return;
  stream.refused_status = status;
  stream.refused_text = text;
  stream.body.release();
  stream.body_size = 0;
  ready_.push_back(stream.id);
}

void Http2Session::complete(Http2Stream& stream) {
  stream.is_complete = true;
  if (stream.refused_status != 0) return;  // is in ready_ already, or was answered
  if (stream.method.empty() || stream.method.size() > kMethodBytesMax || stream.target.empty() ||
      (stream.target.front() != '/' && stream.target != "*")) {
    return refuse(stream, 400, "bad request");
  }
  for (char c : stream.target) {
    if (!is_target_char(c)) return refuse(stream, 400, "bad request target");
  }
  if (stream.has_cookie) stream.headers.add("Cookie", stream.cookie);
  ready_.push_back(stream.id);
}

void Http2Session::send_continue(Http2Stream& stream) {
  stream.expects_continue = false;
  if (stream.refused_status != 0) return;
  const nghttp2_nv status = field(":status", "100");
  nghttp2_submit_headers(session_, NGHTTP2_FLAG_NONE, stream.id, nullptr, &status, 1, nullptr);
}

void Http2Session::calm_down() {
  if (is_calming_) return;
  is_calming_ = true;
  nghttp2_session_terminate_session(session_, NGHTTP2_ENHANCE_YOUR_CALM);
}

bool Http2Session::feed(std::string_view bytes, int64_t now_ns) {
  now_ns_ = now_ns;
  // Piece by piece, so that a flood is seen before all of it has been read.
  constexpr size_t kPieceBytes = 4096;
  bool is_good = true;
  while (is_good && !bytes.empty() && !is_calming_) {
    const std::string_view piece = bytes.substr(0, kPieceBytes);
    bytes.remove_prefix(piece.size());
    const ssize_t n = nghttp2_session_mem_recv(
        session_, reinterpret_cast<const uint8_t*>(piece.data()), piece.size());
    is_good = n >= 0;
    while (!ready_.empty()) {
      const std::vector<int32_t> ready = std::exchange(ready_, {});
      for (int32_t id : ready) {
        Http2Stream* stream = find(id);
        if (!stream || stream->is_handed_on) continue;
        stream->is_handed_on = true;
        handler_.on_request(*stream);
      }
    }
  }
  return is_good && !is_calming_;
}

bool Http2Session::produce(std::string& out, size_t bytes_max) {
  while (out.size() < bytes_max) {
    const uint8_t* bytes = nullptr;
    const ssize_t n = nghttp2_session_mem_send(session_, &bytes);
    if (n < 0) return false;
    if (n == 0) return true;
    out.append(reinterpret_cast<const char*>(bytes), static_cast<size_t>(n));
  }
  return true;
}

void Http2Session::reply(Http2Stream& stream, const Response& response, std::string_view date,
                         bool is_head) {
  if (stream.is_replied) return;
  stream.is_replied = true;
  const int status = response.status >= 200 && response.status <= 999 ? response.status : 500;
  const std::string_view payload = response.payload();
  std::string text = std::to_string(status);
  const size_t status_size = text.size();
  const bool has_length = has_body_status(status);
  if (has_length) text += std::to_string(payload.size());
  // Names go out in lower case; they are written behind each other, and the views made at the end.
  std::string names;
  std::vector<std::pair<size_t, size_t>> used;  // place in `names`, index of the field
  for (size_t i = 0; i < response.headers.size(); ++i) {
    const std::string_view name = response.headers.name(i);
    if (is_connection_field(name) || !is_valid_field_name(name) ||
        !is_valid_field_value(response.headers.value(i))) {
      continue;
    }
    used.emplace_back(names.size(), i);
    for (char c : name) names += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  std::vector<nghttp2_nv> fields;
  fields.reserve(used.size() + 3);
  const std::string_view all = text;
  fields.push_back(field(":status", all.substr(0, status_size)));
  if (!date.empty()) fields.push_back(field("date", date));
  if (has_length) fields.push_back(field("content-length", all.substr(status_size)));
  for (const auto& [at, i] : used) {
    fields.push_back(field(std::string_view(names).substr(at, response.headers.name(i).size()),
                           response.headers.value(i)));
  }
  const bool has_body = has_length && !is_head && !payload.empty();
  nghttp2_data_provider provider{};
  provider.read_callback = Callbacks::read_payload;
  stream.payload = has_body ? payload : std::string_view();
  nghttp2_submit_response(session_, stream.id, fields.data(), fields.size(),
                          has_body ? &provider : nullptr);
  if (!has_body && !stream.is_complete) {
    nghttp2_submit_rst_stream(session_, NGHTTP2_FLAG_NONE, stream.id, NGHTTP2_NO_ERROR);
  }
}

void Http2Session::reset(Http2Stream& stream) {
  nghttp2_submit_rst_stream(session_, NGHTTP2_FLAG_NONE, stream.id, NGHTTP2_INTERNAL_ERROR);
}

void Http2Session::announce_end() { nghttp2_submit_shutdown_notice(session_); }

void Http2Session::end() {
  nghttp2_submit_goaway(session_, NGHTTP2_FLAG_NONE,
                        nghttp2_session_get_last_proc_stream_id(session_), NGHTTP2_NO_ERROR,
                        nullptr, 0);
}

bool Http2Session::is_over() const {
  return nghttp2_session_want_read(session_) == 0 && nghttp2_session_want_write(session_) == 0;
}

}  // namespace millstream::http
