// An HTTP/2 connection of the server: Http2Session with a handler that answers everything. The
// first byte chooses the size of the pieces and whether replies come at once or later; the rest is
// what the client sends, behind the preface unless the second byte says otherwise. Whatever comes:
// no stream is lost, no memory of the pool stays in use, and limits hold.
#include <cstdint>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "http/http2_session.h"

namespace http = millstream::http;
namespace net = millstream::net;

namespace {

void check(bool condition) {
  if (!condition) abort();
}

http::Http2Limits small_limits() {
  http::Http2Limits limits;
  limits.message.body_bytes_max = 64 * 1024;
  limits.message.head_bytes_max = 4096;
  limits.message.header_count_max = 50;
  limits.streams_max = 20;
  limits.bad_streams_burst = 20;
  limits.control_frames_burst = 50;
  return limits;
}

class Answers final : public http::Http2Handler {
 public:
  explicit Answers(bool answers_at_once) : answers_at_once_(answers_at_once) {}
  void on_request(http::Http2Stream& stream) override {
    check(open.emplace(stream.id, http::Response()).second);
    check(stream.body_size <= small_limits().message.body_bytes_max);
    check(stream.headers.size() <= small_limits().message.header_count_max);
    if (stream.refused_status == 0) check(stream.target.size() > 0 && stream.method.size() <= 32);
    waiting.push_back(&stream);
    if (answers_at_once_) answer_all();
  }
  void on_stream_end(http::Http2Stream& stream) override {
    std::erase(waiting, &stream);
    open.erase(stream.id);
  }
  void answer_all() {
    for (http::Http2Stream* stream : std::exchange(waiting, {})) {
      http::Response& response = open[stream->id];
      response.status = stream->refused_status ? stream->refused_status : 200;
      response.headers.add("Content-Type", "text/plain");
      response.body.assign(stream->target.size() * 1000, 'r');
      session->reply(*stream, response, {}, stream->method == "HEAD");
    }
  }
  http::Http2Session* session = nullptr;
  std::map<int32_t, http::Response> open;
  std::vector<http::Http2Stream*> waiting;

 private:
  const bool answers_at_once_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2) return 0;
  const size_t step = (data[0] & 0x7F) * 8 + 1;
  std::string input = data[1] & 1 ? "" : "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
  input.append(reinterpret_cast<const char*>(data) + 2, size - 2);
  net::BufferPool pool;
  {
    Answers answers((data[0] & 0x80) != 0);
    http::Http2Session session(answers, pool, small_limits());
    answers.session = &session;
    bool is_good = true;
    int64_t now_ns = 1;
    for (size_t at = 0; at < input.size() && is_good; at += step) {
      is_good = session.feed(std::string_view(input).substr(at, step), now_ns += 1000);
      check(answers.open.size() <= session.stream_count());
      std::string out;
      session.produce(out, 64 * 1024);
      answers.answer_all();
    }
    session.end();
    std::string out;
    session.produce(out, 1 << 20);
  }
  check(pool.in_use_bytes() == 0);
  return 0;
}
