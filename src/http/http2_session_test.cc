#include "http/http2_session.h"

#include <doctest/doctest.h>

#include <functional>

#include "http/http2_client_for_test.h"

namespace millstream::http {
namespace {

using testing::Http2Client;
using testing::Http2Reply;

// A server that keeps what it hears and answers by a function.
class EchoHandler final : public Http2Handler {
 public:
  void on_request(Http2Stream& stream) override {
    ++requests;
    last_target = stream.target;
    last_headers = Headers();
    for (size_t i = 0; i < stream.headers.size(); ++i) {
      last_headers.add(stream.headers.name(i), stream.headers.value(i));
    }
    Response& response = responses[stream.id];
    response.status = stream.refused_status ? stream.refused_status : 200;
    response.body = stream.refused_status ? stream.refused_text : stream.method;
    if (!stream.refused_status && stream.body_size > 0) {
      response.body.assign(stream.body.data(), stream.body_size);
    }
    if (answer) answer(stream, response);
    if (is_silent) return;
    session->reply(stream, response, "Mon, 30 Nov 2026 12:00:00 GMT", stream.method == "HEAD");
  }
  void on_stream_end(Http2Stream& stream) override {
    ++ended;
    responses.erase(stream.id);
  }
  Http2Session* session = nullptr;
  std::function<void(Http2Stream&, Response&)> answer;
  std::map<int32_t, Response> responses;
  std::string last_target;
  Headers last_headers;
  bool is_silent = false;
  int requests = 0, ended = 0;
};

struct Http2Pair {
  explicit Http2Pair(Http2Limits limits = {}, bool takes_data = true)
      : session(handler, pool, limits), client(takes_data) {
    handler.session = &session;
  }
  // Carries bytes across, in pieces, until both are silent; false when the server has had enough.
  bool run(size_t piece = 100'000) {
    for (int i = 0; i < 10'000; ++i) {
      const std::string up = client.output();
      for (size_t at = 0; at < up.size() && is_good; at += piece) {
        is_good = session.feed(std::string_view(up).substr(at, piece), now_ns);
      }
      std::string down;
      while (true) {
        const size_t before = down.size();
        session.produce(down, down.size() + 64 * 1024);
        if (down.size() == before) break;
      }
      client.feed(down);
      if ((up.empty() && down.empty()) || !is_good) break;
    }
    return is_good;
  }
  net::BufferPool pool;
  EchoHandler handler;
  Http2Session session;
  Http2Client client;
  int64_t now_ns = 1;
  bool is_good = true;
};

TEST_CASE("http2: requests come whole and replies go back, in pieces of any size") {
  for (size_t piece : {size_t{1}, size_t{7}, size_t{100'000}}) {
    CAPTURE(piece);
    Http2Pair pair;
    const std::string body(200'000, 'b');
    const int32_t get = pair.client.request("GET", "/a?b=1", {{"x-one", "1"}});
    const int32_t head = pair.client.request("HEAD", "/h");
    REQUIRE(pair.run(piece));
    CHECK(pair.handler.last_headers.get("X-One").empty());
    const int32_t post = pair.client.request("POST", "/p", {{"content-type", "text/plain"}}, body);
    REQUIRE(pair.run(piece));
    Http2Reply& reply = pair.client.replies[get];
    CHECK(reply.status == "200");
    CHECK(reply.body == "GET");
    CHECK(reply.headers["content-length"] == "3");
    CHECK(reply.headers["date"] == "Mon, 30 Nov 2026 12:00:00 GMT");
    CHECK(reply.is_closed);
    CHECK(pair.client.replies[head].body.empty());
    CHECK(pair.client.replies[head].headers["content-length"] == "4");
    CHECK((pair.client.replies[post].body == body));
    CHECK(pair.handler.last_headers.name(0) == "Content-Type");
    CHECK(pair.handler.ended == 3);
    CHECK(pair.session.stream_count() == 0);
  }
}

TEST_CASE("http2: names, cookies and fields of the connection") {
  Http2Pair pair;
  pair.handler.answer = [](Http2Stream&, Response& response) {
    response.headers.add("X-Reply", "1");
    response.headers.add("Connection", "close");
    response.headers.add("Transfer-Encoding", "chunked");
    response.headers.add("Bad Name", "x");
    response.headers.add("X-Bad-Value", "a\nb");
  };
  const int32_t id =
      pair.client.request("GET", "/", {{"cookie", "a=1"}, {"cookie", "b=2"}, {"x-my-header", "v"}});
  REQUIRE(pair.run());
  CHECK(pair.handler.last_headers.get("Cookie") == "a=1; b=2");
  CHECK(pair.handler.last_headers.count("Cookie") == 1);
  CHECK(pair.handler.last_headers.name(0) == "X-My-Header");
  const auto& headers = pair.client.replies[id].headers;
  CHECK(headers.count("x-reply") == 1);
  CHECK(headers.size() == 3);  // date, content-length
}

TEST_CASE("http2: each limit of a request is answered with its status") {
  Http2Limits limits;
  limits.message.body_bytes_max = 10'000;
  limits.message.header_count_max = 20;
  limits.message.head_bytes_max = 2000;
  limits.message.target_bytes_max = 100;
  Http2Pair pair(limits);
  Http2Client::Fields many;
  for (int i = 0; i < 21; ++i) many.emplace_back("x-" + std::to_string(i), "v");
  const int32_t ids[] = {
      pair.client.request("GET", "/", many),
      pair.client.request("GET", "/", {{"x", std::string(3000, 'x')}}),
      pair.client.request("GET", "/" + std::string(200, 'p')),
      pair.client.request("POST", "/", {}, std::string(10'001, 'b')),
      pair.client.request("GET", "nopath"),
      pair.client.request(std::string(50, 'M'), "/"),
      pair.client.request("POST", "/", {}, std::string(10'000, 'b')),
  };
  pair.run();
  const char* const wanted[] = {"431", "431", "414", "413", "400", "400", "200"};
  for (int i = 0; i < 7; ++i) {
    CAPTURE(i);
    Http2Reply& reply = pair.client.replies[ids[i]];
    // nghttp2 itself resets what is malformed.
    CHECK((reply.status == wanted[i] || (reply.status.empty() && reply.error != 0)));
    CHECK(reply.is_closed);
  }
  CHECK(pair.client.replies[ids[3]].status == "413");
  CHECK(pair.client.replies[ids[6]].status == "200");
  CHECK(pair.pool.in_use_bytes() == 0);
}

TEST_CASE("http2: bodies beyond the memory of the pool are refused") {
  Http2Limits limits;
  limits.buffer_bytes_max = 100'000;
  Http2Pair pair(limits);
  const int32_t id = pair.client.request("POST", "/", {}, std::string(300'000, 'b'));
  REQUIRE(pair.run());
  CHECK(pair.client.replies[id].status == "503");
}

TEST_CASE("http2: a reply waits for the client's window and holds no more than that") {
  Http2Pair pair({}, /*takes_data=*/false);
  pair.handler.answer = [](Http2Stream&, Response& response) {
    response.body.assign(1'000'000, 'r');
  };
  const int32_t id = pair.client.request("GET", "/");
  REQUIRE(pair.run());
  CHECK(pair.client.replies[id].body.size() == 65'535);
  CHECK_FALSE(pair.client.replies[id].is_closed);
  CHECK(pair.session.stream_count() == 1);
}

TEST_CASE("http2: more streams than allowed are refused, the others answered") {
  Http2Limits limits;
  limits.streams_max = 5;
  Http2Pair pair(limits);
  REQUIRE(pair.run());  // the client knows the limit now and would keep to it
  pair.handler.is_silent = true;
  for (int i = 0; i < 20; ++i) pair.client.request("GET", "/");
  REQUIRE(pair.run());
  CHECK(pair.session.stream_count() == 5);
}

TEST_CASE("http2: rapid resets end the connection, a few do not") {
  Http2Limits limits;
  limits.bad_streams_burst = 50;
  limits.bad_streams_rate = 10;
  Http2Pair pair(limits);
  pair.handler.is_silent = true;
  auto reset_some = [&](int count) {
    for (int i = 0; i < count && pair.is_good; ++i) {
      const int32_t id = pair.client.request("GET", "/");
      pair.run();
      pair.client.reset(id);
      pair.run();
    }
  };
  reset_some(40);
  CHECK(pair.is_good);
  pair.now_ns += 2 * net::kSecond;
  reset_some(20);
  CHECK(pair.is_good);
  reset_some(40);
  CHECK_FALSE(pair.is_good);
  CHECK(pair.client.goaway_error == NGHTTP2_ENHANCE_YOUR_CALM);
  CHECK(pair.handler.requests < 75);
}

TEST_CASE("http2: resets without an error count as resets") {
  Http2Limits limits;
  limits.bad_streams_burst = 50;
  Http2Pair pair(limits);
  pair.handler.is_silent = true;
  for (int i = 0; i < 100 && pair.is_good; ++i) {
    const int32_t id = pair.client.request("GET", "/");
    pair.run();
    pair.client.reset(id, NGHTTP2_NO_ERROR);
    pair.run();
  }
  CHECK_FALSE(pair.is_good);
  CHECK(pair.client.goaway_error == NGHTTP2_ENHANCE_YOUR_CALM);
  CHECK(pair.handler.requests < 60);
}

TEST_CASE("http2: thousands of cookies cost what they are, not their square") {
  Http2Pair pair;
  Http2Client::Fields fields(1500, {"cookie", "a"});
  size_t text_bytes = 0;
  pair.handler.answer = [&](Http2Stream& stream, Response&) {
    text_bytes = stream.headers.text_bytes();
  };
  pair.client.request("GET", "/", fields);
  REQUIRE(pair.run());
  CHECK(pair.handler.last_headers.get("Cookie").size() == 1500 * 3 - 2);
  CHECK(text_bytes < 6000);
}

TEST_CASE("http2: a Host field that contradicts :authority is refused") {
  Http2Pair pair;
  const int32_t same = pair.client.request("GET", "/", {{"host", "HOST.example"}});
  const int32_t other = pair.client.request("GET", "/", {{"host", "evil.example"}});
  REQUIRE(pair.run());
  CHECK(pair.client.replies[same].status == "200");
  CHECK(pair.client.replies[other].status == "400");
}

TEST_CASE("http2: ping floods end the connection") {
  Http2Limits limits;
  limits.control_frames_burst = 20;
  Http2Pair pair(limits);
  for (int i = 0; i < 10; ++i) pair.client.ping();
  CHECK(pair.run());
  CHECK(pair.client.pings_answered == 10);
  for (int i = 0; i < 100; ++i) pair.client.ping();
  CHECK_FALSE(pair.run());
  CHECK(pair.client.goaway_error == NGHTTP2_ENHANCE_YOUR_CALM);
}

TEST_CASE("http2: window updates without end are a flood, those of a reader are not") {
  const std::string window("\0\0\4\x8\0\0\0\0\0\0\0\0\1", 13);
  {
    Http2Limits limits;
    limits.control_frames_burst = 20;
    Http2Pair pair(limits);
    CHECK(pair.run());
    for (int i = 0; i < 15; ++i) pair.is_good = pair.is_good && pair.session.feed(window, 1);
    CHECK(pair.is_good);
    for (int i = 0; i < 15; ++i) pair.is_good = pair.is_good && pair.session.feed(window, 1);
    CHECK_FALSE(pair.is_good);
  }
  // A client that takes a long reply says so as often as it likes.
  Http2Limits limits;
  limits.control_frames_burst = 20;
  Http2Pair pair(limits);
  pair.handler.answer = [](Http2Stream&, Response& r) { r.body.assign(5'000'000, 'x'); };
  pair.client.request("GET", "/");
  CHECK(pair.run());
  CHECK(pair.client.replies[1].body.size() == 5'000'000);
  for (int i = 0; i < 200; ++i) CHECK(pair.session.feed(window, pair.now_ns));
}

TEST_CASE("http2: the end is announced, then said") {
  Http2Pair pair;
  pair.handler.is_silent = true;
  const int32_t first = pair.client.request("GET", "/");
  REQUIRE(pair.run());
  pair.session.announce_end();
  REQUIRE(pair.run());
  CHECK(pair.client.goaway_error == NGHTTP2_NO_ERROR);
  CHECK(pair.client.goaway_last == INT32_MAX);
  pair.session.end();
  REQUIRE(pair.run());
  CHECK(pair.client.goaway_last == first);
}

TEST_CASE("http2: a hundred-continue comes before the body") {
  Http2Pair pair;
  const int32_t id = pair.client.request("POST", "/", {{"expect", "100-continue"}}, "body");
  REQUIRE(pair.run(1));
  CHECK(pair.client.replies[id].status == "100 200");
}

TEST_CASE("http2: what is no HTTP/2 ends the connection") {
  const std::string preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
  for (const std::string& bytes :
       {std::string("GET / HTTP/1.1\r\n\r\n"), preface + std::string(10'000, '\xFF'),
        preface + std::string("\0\0\1\0\0\0\0\0\0x", 10)}) {
    net::BufferPool pool;
    EchoHandler handler;
    Http2Session session(handler, pool, {});
    handler.session = &session;
    bool is_good = session.feed(bytes, 1);
    std::string out;
    is_good = session.produce(out, 1 << 20) && is_good;
    CHECK((!is_good || session.is_over()));
    CHECK(handler.requests == 0);
  }
}

}  // namespace
}  // namespace millstream::http
