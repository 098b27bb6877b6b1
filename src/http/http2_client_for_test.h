// An HTTP/2 client in memory, of nghttp2, for the tests of Http2Session.
#pragma once
#include <nghttp2/nghttp2.h>

#include <cstring>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace millstream::http::testing {

struct Http2Reply {
  std::string status;
  std::map<std::string, std::string> headers;
  std::string body;
  bool is_closed = false;
  uint32_t error = 0;
};

class Http2Client {
 public:
  using Fields = std::vector<std::pair<std::string, std::string>>;

  // `takes_data` false: the client's windows stay shut once they are full.
  explicit Http2Client(bool takes_data = true) {
    nghttp2_session_callbacks* callbacks = nullptr;
    nghttp2_session_callbacks_new(&callbacks);
    nghttp2_session_callbacks_set_on_header_callback(callbacks, on_header);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, on_data);
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, on_close);
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, on_frame);
    nghttp2_option* option = nullptr;
    nghttp2_option_new(&option);
    nghttp2_option_set_no_auto_window_update(option, takes_data ? 0 : 1);
    nghttp2_session_client_new2(&session_, callbacks, this, option);
    nghttp2_option_del(option);
    nghttp2_session_callbacks_del(callbacks);
    nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, nullptr, 0);
  }
  ~Http2Client() { nghttp2_session_del(session_); }

  int32_t request(const std::string& method, const std::string& path, Fields fields = {},
                  std::string body = {}, bool has_end = true) {
    Fields all = {
        {":method", method}, {":scheme", "https"}, {":authority", "host.example"}, {":path", path}};
    all.insert(all.end(), fields.begin(), fields.end());
    std::vector<nghttp2_nv> views;
    for (auto& [name, value] : all) {
      views.push_back({reinterpret_cast<uint8_t*>(name.data()),
                       reinterpret_cast<uint8_t*>(value.data()), name.size(), value.size(),
                       NGHTTP2_NV_FLAG_NONE});
    }
    nghttp2_data_provider provider{};
    provider.read_callback = read_body;
    const bool has_body = !body.empty() || !has_end;
    const int32_t id = nghttp2_submit_request(session_, nullptr, views.data(), views.size(),
                                              has_body ? &provider : nullptr, nullptr);
    bodies_[id] = {std::move(body), has_end};
    return id;
  }
  void reset(int32_t id, uint32_t error = NGHTTP2_CANCEL) {
    nghttp2_submit_rst_stream(session_, NGHTTP2_FLAG_NONE, id, error);
  }
  void ping() { nghttp2_submit_ping(session_, NGHTTP2_FLAG_NONE, nullptr); }
  std::string output() {
    std::string out;
    const uint8_t* bytes = nullptr;
    for (ssize_t n; (n = nghttp2_session_mem_send(session_, &bytes)) > 0;) {
      out.append(reinterpret_cast<const char*>(bytes), static_cast<size_t>(n));
    }
    return out;
  }
  bool feed(std::string_view bytes) {
    return nghttp2_session_mem_recv(session_, reinterpret_cast<const uint8_t*>(bytes.data()),
                                    bytes.size()) >= 0;
  }
  std::map<int32_t, Http2Reply> replies;
  uint32_t goaway_error = UINT32_MAX;  // none came
  int32_t goaway_last = 0;
  int pings_answered = 0;

 private:
  static Http2Client& of(void* user) { return *static_cast<Http2Client*>(user); }
  static int on_header(nghttp2_session*, const nghttp2_frame* frame, const uint8_t* name,
                       size_t name_size, const uint8_t* value, size_t value_size, uint8_t,
                       void* user) {
    Http2Reply& reply = of(user).replies[frame->hd.stream_id];
    const std::string n(reinterpret_cast<const char*>(name), name_size);
    const std::string v(reinterpret_cast<const char*>(value), value_size);
    if (n == ":status") {
      reply.status += (reply.status.empty() ? "" : " ") + v;
    } else {
      reply.headers[n] = v;
    }
    return 0;
  }
  static int on_data(nghttp2_session*, uint8_t, int32_t id, const uint8_t* bytes, size_t size,
                     void* user) {
    of(user).replies[id].body.append(reinterpret_cast<const char*>(bytes), size);
    return 0;
  }
  static int on_close(nghttp2_session*, int32_t id, uint32_t error, void* user) {
    of(user).replies[id].is_closed = true;
    of(user).replies[id].error = error;
    return 0;
  }
  static int on_frame(nghttp2_session*, const nghttp2_frame* frame, void* user) {
    if (frame->hd.type == NGHTTP2_GOAWAY) {
      of(user).goaway_error = frame->goaway.error_code;
      of(user).goaway_last = frame->goaway.last_stream_id;
    }
    if (frame->hd.type == NGHTTP2_PING && (frame->hd.flags & NGHTTP2_FLAG_ACK)) {
      ++of(user).pings_answered;
    }
    return 0;
  }
  static ssize_t read_body(nghttp2_session*, int32_t id, uint8_t* out, size_t size, uint32_t* flags,
                           nghttp2_data_source*, void* user) {
    auto& [body, has_end] = of(user).bodies_[id];
    if (body.empty() && !has_end) return NGHTTP2_ERR_DEFERRED;
    const size_t n = std::min(size, body.size());
    std::memcpy(out, body.data(), n);
    body.erase(0, n);
    if (body.empty() && has_end) *flags |= NGHTTP2_DATA_FLAG_EOF;
    return static_cast<ssize_t>(n);
  }
  nghttp2_session* session_ = nullptr;
  std::map<int32_t, std::pair<std::string, bool>> bodies_;
};

}  // namespace millstream::http::testing
