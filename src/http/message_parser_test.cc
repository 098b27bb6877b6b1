#include "http/message_parser.h"

#include <doctest/doctest.h>

#include <cstring>
#include <string>
#include <vector>

namespace {
namespace http = millstream::http;

// Status 0: valid. Otherwise what the server answers.
struct RequestCase {
  const char* name;
  std::string text;
  int status;
};

std::string with_lines(const std::string& lines) {
  return "GET / HTTP/1.1\r\nHost: a\r\n" + lines + "\r\n";
}

std::vector<RequestCase> start_and_field_cases() {
  return {
      {"plain", with_lines(""), 0},
      {"leading empty lines", "\r\n\r\n" + with_lines(""), 0},
      {"three leading empty lines", "\r\n\r\n\r\n" + with_lines(""), 400},
      {"all token characters", with_lines("!#$%&'*+-.^_`|~09azAZ: v\r\n"), 0},
      {"empty value", with_lines("x:\r\n"), 0},
      {"tabs around the value", with_lines("x:\t v \t\r\n"), 0},
      {"obs-text in a value", with_lines("x: \xe4\xff\r\n"), 0},
      {"http 1.0 without host", "GET / HTTP/1.0\r\n\r\n", 0},
      {"http 1.1 without host", "GET / HTTP/1.1\r\n\r\n", 400},
      {"two hosts", with_lines("Host: b\r\n"), 400},
      {"host with path", "GET / HTTP/1.1\r\nHost: a/b\r\n\r\n", 400},
      {"host with user", "GET / HTTP/1.1\r\nHost: u@b\r\n\r\n", 400},
      {"empty host", "GET / HTTP/1.1\r\nHost:\r\n\r\n", 0},
      {"higher minor version", "GET / HTTP/1.7\r\nHost: a\r\n\r\n", 0},
      {"http 2 preface", "PRI * HTTP/2.0\r\n\r\n", 505},
      {"http 0.9", "GET / HTTP/0.9\r\n\r\n", 505},
      {"lower case version", "GET / http/1.1\r\nHost: a\r\n\r\n", 400},
      {"no version", "GET /\r\nHost: a\r\n\r\n", 400},
      {"two-digit version", "GET / HTTP/1.10\r\nHost: a\r\n\r\n", 400},
      {"two spaces", "GET  / HTTP/1.1\r\nHost: a\r\n\r\n", 400},
      {"tab as separator", "GET\t/ HTTP/1.1\r\nHost: a\r\n\r\n", 400},
      {"space after version", "GET / HTTP/1.1 \r\nHost: a\r\n\r\n", 400},
      {"control character in target", "GET /\x01 HTTP/1.1\r\nHost: a\r\n\r\n", 400},
      {"non-ASCII target", "GET /\xc3\xa4 HTTP/1.1\r\nHost: a\r\n\r\n", 400},
      {"fragment in target", "GET /a#b HTTP/1.1\r\nHost: a\r\n\r\n", 400},
      {"relative target", "GET a HTTP/1.1\r\nHost: a\r\n\r\n", 400},
      {"absolute target", "GET http://b:80/c?d HTTP/1.1\r\nHost: a\r\n\r\n", 0},
      {"absolute target without path", "GET http://b HTTP/1.1\r\nHost: a\r\n\r\n", 0},
      {"absolute target of another scheme", "GET ftp://b/ HTTP/1.1\r\nHost: a\r\n\r\n", 400},
      {"absolute target without authority", "GET http:///x HTTP/1.1\r\nHost: a\r\n\r\n", 400},
      {"asterisk", "OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n", 0},
      {"asterisk of GET", "GET * HTTP/1.1\r\nHost: a\r\n\r\n", 400},
      {"connect", "CONNECT a:443 HTTP/1.1\r\nHost: a\r\n\r\n", 501},
      {"bad method", "G(T / HTTP/1.1\r\nHost: a\r\n\r\n", 400},
      {"long method", std::string(33, 'M') + " / HTTP/1.1\r\nHost: a\r\n\r\n", 501},
      {"TLS hello", std::string("\x16\x03\x01\x02\x00\x01\x00\n", 8), 400},
      {"bare LF after request line", "GET / HTTP/1.1\nHost: a\r\n\r\n", 400},
      {"bare LF after field", "GET / HTTP/1.1\r\nHost: a\n\r\n", 400},
      {"bare LF at the end", "GET / HTTP/1.1\r\nHost: a\r\n\n", 400},
      {"bare CR in value", with_lines("x: a\rb\r\n"), 400},
      {"CR CR LF", with_lines("x: a\r\r\n"), 400},
      {"NUL in value", with_lines(std::string("x: a\0b\r\n", 8)), 400},
      {"DEL in value", with_lines("x: a\x7f\r\n"), 400},
      {"NUL in name", with_lines(std::string("x\0: a\r\n", 7)), 400},
      {"folded line", with_lines("x: a\r\n b\r\n"), 400},
      {"folded with tab", with_lines("x: a\r\n\tb\r\n"), 400},
      {"space before colon", with_lines("x : a\r\n"), 400},
      {"tab before colon", with_lines("Content-Length\t: 3\r\n"), 400},
      {"no colon", with_lines("x\r\n"), 400},
      {"empty name", with_lines(": v\r\n"), 400},
      {"name with slash", with_lines("a/b: v\r\n"), 400},
  };
}

std::vector<RequestCase> framing_and_limit_cases() {
  const std::string big(20'000, 'a');
  std::string many;
  for (int i = 0; i < 201; ++i) many += "x: y\r\n";
  return {
      {"length", with_lines("Content-Length: 3\r\n"), 0},
      {"length zero", with_lines("Content-Length: 0\r\n"), 0},
      {"leading zeros", with_lines("Content-Length: 0003\r\n"), 0},
      {"signed length", with_lines("Content-Length: +3\r\n"), 400},
      {"negative length", with_lines("Content-Length: -1\r\n"), 400},
      {"hexadecimal length", with_lines("Content-Length: 0x3\r\n"), 400},
      {"empty length", with_lines("Content-Length:\r\n"), 400},
      {"length list", with_lines("Content-Length: 3, 3\r\n"), 400},
      {"length with text", with_lines("Content-Length: 3 3\r\n"), 400},
      {"two equal lengths", with_lines("Content-Length: 3\r\nContent-Length: 3\r\n"), 400},
      {"two different lengths", with_lines("Content-Length: 3\r\ncontent-length: 4\r\n"), 400},
      {"length over the limit", with_lines("Content-Length: 67108865\r\n"), 413},
      {"length over 64 bits", with_lines("Content-Length: 99999999999999999999999\r\n"), 413},
      {"chunked", with_lines("Transfer-Encoding: chunked\r\n"), 0},
      {"chunked in capitals", with_lines("TRANSFER-ENCODING: CHUNKED\r\n"), 0},
      {"chunked and length", with_lines("Transfer-Encoding: chunked\r\nContent-Length: 3\r\n"),
       400},
      {"length and chunked", with_lines("Content-Length: 3\r\nTransfer-Encoding: chunked\r\n"),
       400},
      {"chunked twice", with_lines("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n"),
       400},
      {"gzip, chunked", with_lines("Transfer-Encoding: gzip, chunked\r\n"), 501},
      {"identity", with_lines("Transfer-Encoding: identity\r\n"), 501},
      {"xchunked", with_lines("Transfer-Encoding: xchunked\r\n"), 501},
      {"chunked with quote", with_lines("Transfer-Encoding: \"chunked\"\r\n"), 501},
      {"chunked with vertical tab",
       with_lines("Transfer-Encoding: \x0b"
                  "chunked\r\n"),
       400},
      {"chunked in 1.0", "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", 400},
      {"expect", with_lines("Expect: 100-Continue\r\n"), 0},
      {"another expectation", with_lines("Expect: 200-ok\r\n"), 417},
      {"long target", "GET /" + big + " HTTP/1.1\r\nHost: a\r\n\r\n", 414},
      {"long line without end", "GET /" + big, 414},
      {"too many fields", with_lines(many), 431},
      {"fields too large", with_lines("x: " + std::string(66'000, 'v') + "\r\n"), 431},
      {"large fields within the limit", with_lines("x: " + std::string(60'000, 'v') + "\r\n"), 0},
  };
}

// Feeds `text` in pieces of `step` bytes, each time from a fresh copy, as a moving buffer would be.
int feed_request(const std::string& text, size_t step, http::Headers& headers,
                 http::RequestHead* head = nullptr) {
  http::HeadParser parser(http::HeadParser::Kind::kRequest);
  for (size_t size = std::min(step, text.size());; size = std::min(size + step, text.size())) {
    std::vector<char> copy(text.begin(), text.begin() + static_cast<ptrdiff_t>(size));
    http::ParseStatus status = parser.parse(copy.data(), size, headers);
    if (status == http::ParseStatus::kError) return parser.error().status;
    if (status == http::ParseStatus::kDone) {
      if (head) *head = parser.request_in(text.data());
      headers.borrow_from(text.data());
      return 0;
    }
    if (size == text.size()) return -1;
  }
}
}  // namespace

TEST_CASE("request heads: valid and invalid, in one piece and byte by byte") {
  std::vector<RequestCase> cases = start_and_field_cases();
  for (RequestCase c : framing_and_limit_cases()) cases.push_back(std::move(c));
  for (const RequestCase& c : cases) {
    CAPTURE(c.name);
    http::Headers headers;
    CHECK(feed_request(c.text, c.text.size(), headers) == c.status);
    if (c.text.size() < 1000) CHECK(feed_request(c.text, 1, headers) == c.status);
    CHECK(feed_request(c.text, 7, headers) == c.status);
  }
}

TEST_CASE("a request head is taken apart") {
  std::string text =
      "POST http://other:81/a/b?c=d&e HTTP/1.1\r\nHost: a:80\r\nX-One:  1 \r\nx-one: 2\r\n"
      "Content-Length: 5\r\nExpect: 100-continue\r\nConnection: foo, Close\r\n\r\nhello";
  for (size_t step : {size_t{1}, size_t{10}, text.size()}) {
    http::Headers headers;
    http::RequestHead head;
    REQUIRE(feed_request(text, step, headers, &head) == 0);
    CHECK(head.method == "POST");
    CHECK(head.target == "http://other:81/a/b?c=d&e");
    CHECK(head.authority == "other:81");
    CHECK(head.path == "/a/b");
    CHECK(head.query == "c=d&e");
    CHECK(head.content_length == 5);
    CHECK(head.expects_continue);
    CHECK_FALSE(head.is_keep_alive);
    REQUIRE(headers.size() == 6);
    CHECK(headers.get("x-ONE") == "1");
    CHECK(headers.count("X-One") == 2);
    CHECK(headers.name(2) == "x-one");
  }
}

TEST_CASE("persistence of HTTP/1.0 and 1.1") {
  auto keeps_alive = [](const std::string& text) {
    http::Headers headers;
    http::RequestHead head;
    REQUIRE(feed_request(text, text.size(), headers, &head) == 0);
    return head.is_keep_alive;
  };
  CHECK(keeps_alive("GET / HTTP/1.1\r\nHost: a\r\n\r\n"));
  CHECK_FALSE(keeps_alive("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"));
  CHECK_FALSE(keeps_alive("GET / HTTP/1.0\r\n\r\n"));
  CHECK(keeps_alive("GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n"));
  CHECK_FALSE(keeps_alive("GET / HTTP/1.0\r\nConnection: keep-alive, close\r\n\r\n"));
}

namespace {
// The decoded body, or "!status" on an error, or "?" when the text ends too early.
std::string decode_chunks(const std::string& text, size_t step, size_t body_max = 1000) {
  http::MessageLimits limits;
  limits.body_bytes_max = body_max;
  http::ChunkedDecoder decoder(limits);
  std::string data = text;
  size_t in = 0, out = 0;
  for (size_t size = std::min(step, text.size());; size = std::min(size + step, text.size())) {
    http::ParseStatus status = decoder.decode(data.data(), in, size, out);
    if (status == http::ParseStatus::kError) return "!" + std::to_string(decoder.error().status);
    if (status == http::ParseStatus::kDone) {
      return data.substr(0, out) + (in == text.size() ? "" : "+" + text.substr(in));
    }
    if (size == text.size()) return "?";
  }
}
}  // namespace

TEST_CASE("chunked bodies: valid and invalid, in one piece and byte by byte") {
  struct Case {
    std::string text, body;
  };
  const Case cases[] = {
      {"0\r\n\r\n", ""},
      {"5\r\nhello\r\n0\r\n\r\n", "hello"},
      {"5\r\nhello\r\n1\r\n \r\n0005\r\nworld\r\n0\r\n\r\n", "hello world"},
      {"A\r\n0123456789\r\na\r\n0123456789\r\n0\r\n\r\n", "01234567890123456789"},
      {"5;name=value;x=\"y\"\r\nhello\r\n0;last\r\n\r\n", "hello"},
      {"5\r\nhello\r\n0\r\nTrailer: x\r\nOther: y\r\n\r\n", "hello"},
      {"5\r\nhello\r\n0\r\n\r\nGET / HTTP/1.1\r\n", "hello+GET / HTTP/1.1\r\n"},
      {"5\r\nhello\r\n0\r\n", "?"},
      {"5\r\nhel", "?"},
      {"\r\nhello", "!400"},
      {"g\r\n", "!400"},
      {"-1\r\n", "!400"},
      {"+5\r\nhello\r\n", "!400"},
      {"0x5\r\nhello\r\n", "!400"},
      {" 5\r\nhello\r\n", "!400"},
      {"5 \r\nhello\r\n", "!400"},
      {"5\nhello\r\n", "!400"},
      {"5\r\nhello\n0\r\n\r\n", "!400"},
      {"5\r\nhelloX\r\n0\r\n\r\n", "!400"},
      {"5\r\rhello", "!400"},
      {"5;a\nb\r\nhello\r\n0\r\n\r\n", "!400"},
      {"5;" + std::string(300, 'e') + "\r\nhello\r\n0\r\n\r\n", "!400"},
      {"0000000000000005\r\nhello\r\n", "!400"},
      {"fffffffffffffff\r\n", "!413"},
      {"3e9\r\n", "!413"},
      {"0\r\nbad trailer\r\n\r\n", "!400"},
      {"0\r\n folded: x\r\n\r\n", "!400"},
      {"0\r\nx: y\n\r\n", "!400"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.text);
    CHECK(decode_chunks(c.text, c.text.size()) == c.body);
    CHECK(decode_chunks(c.text, 1) == c.body);
    CHECK(decode_chunks(c.text, 3) == c.body);
  }
}

TEST_CASE("chunk extensions and trailers are bounded in sum") {
  std::string text;
  for (int i = 0; i < 200; ++i) text += "1;" + std::string(100, 'e') + "\r\nx\r\n";
  CHECK(decode_chunks(text + "0\r\n\r\n", text.size()) == "!400");
  std::string trailers = "0\r\n";
  for (int i = 0; i < 201; ++i) trailers += "x: y\r\n";
  CHECK(decode_chunks(trailers + "\r\n", trailers.size()) == "!431");
  CHECK(decode_chunks("0\r\nx: " + std::string(70'000, 'v') + "\r\n\r\n", 1 << 20) == "!431");
}

TEST_CASE("response heads") {
  struct Case {
    std::string text;
    bool is_valid;
    int status;
    std::string reason;
  };
  const Case cases[] = {
      {"HTTP/1.1 200 OK\r\n\r\n", true, 200, "OK"},
      {"HTTP/1.1 404 \r\n\r\n", true, 404, ""},
      {"HTTP/1.1 404\r\n\r\n", true, 404, ""},
      {"HTTP/1.0 500 Any text \xe4\r\n\r\n", true, 500, "Any text \xe4"},
      {"HTTP/1.1 20 OK\r\n\r\n", false, 0, ""},
      {"HTTP/1.1 2000 OK\r\n\r\n", false, 0, ""},
      {"HTTP/2.0 200 OK\r\n\r\n", false, 0, ""},
      {"HTTP/1.1 099 OK\r\n\r\n", false, 0, ""},
      {"\r\nHTTP/1.1 200 OK\r\n\r\n", false, 0, ""},
      {"SSH-2.0-OpenSSH\r\n", false, 0, ""},
      {"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", false, 0, ""},
  };
  for (const Case& c : cases) {
    CAPTURE(c.text);
    http::Headers headers;
    http::HeadParser parser(http::HeadParser::Kind::kResponse);
    http::ParseStatus status = parser.parse(c.text.data(), c.text.size(), headers);
    CHECK(status == (c.is_valid ? http::ParseStatus::kDone : http::ParseStatus::kError));
    if (!c.is_valid) continue;
    CHECK(parser.response().status == c.status);
    CHECK(parser.response().reason == c.reason);
  }
}
