// Incremental parser of HTTP/1.1 message heads (RFC 9112 sections 2 to 6), strict: what could be
// read in two ways is refused, because that is how requests are smuggled. It works line by line on
// a receive buffer that may grow and move between calls; the parsed fields are ranges of that
// buffer. Thread: one at a time. Allocates nothing once warmed up.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "http/headers.h"
#include "http/limits.h"

namespace millstream::http {

enum class ParseStatus : uint8_t { kNeedMore, kDone, kError };

// What is wrong, with the status that a server answers.
struct ParseError {
  int status = 0;
  const char* text = "";
};

struct RequestHead {
  std::string_view method;
  std::string_view target;     // as received
  std::string_view authority;  // Host, or that of an absolute-form target
  std::string_view path;       // without query; "*" for OPTIONS *
  std::string_view query;      // without '?'
  int major_version = 1;
  int minor_version = 1;  // HTTP/1.0 or HTTP/1.1; 0 with HTTP/2
  bool is_chunked = false;
  bool has_length = false;
  bool is_keep_alive = true;
  bool expects_continue = false;
  uint64_t content_length = 0;
};

struct ResponseHead {
  int status = 0;
  std::string_view reason;
  int minor_version = 1;
  bool is_chunked = false;
  bool has_length = false;
  bool is_keep_alive = true;
  uint64_t content_length = 0;
};

class HeadParser {
 public:
  enum class Kind : uint8_t { kRequest, kResponse };
  explicit HeadParser(Kind kind, const MessageLimits& limits = {}) : kind_(kind), limits_(limits) {}

  // Looks at data[0, size), of which earlier calls have seen a prefix. Fields go to `headers`.
  ParseStatus parse(const char* data, size_t size, Headers& headers);
  void reset();  // for the next message; data starts anew

  // After kDone. Views into the data of the last call.
  const RequestHead& request() const { return request_; }
  const ResponseHead& response() const { return response_; }
  // The same with views into `data`, to which the bytes of the head have been moved.
  RequestHead request_in(const char* data) const;
  ResponseHead response_in(const char* data) const;
  size_t head_bytes() const { return line_at_; }
  const ParseError& error() const { return error_; }

 private:
  ParseStatus fail(int status, const char* text);
  ParseStatus check_size(size_t size);
  ParseStatus parse_line(const char* data, size_t end, Headers& headers);
  ParseStatus parse_request_line(const char* data, size_t end);
  ParseStatus parse_status_line(const char* data, size_t end);
  ParseStatus parse_target();
  ParseStatus parse_version(std::string_view text, int& minor);
  ParseStatus finish_request(const char* data, Headers& headers);
  ParseStatus finish_response(const char* data, Headers& headers);
  ParseStatus read_framing(const Headers& headers, int minor, bool& is_chunked, bool& has_length,
                           uint64_t& length);

  Kind kind_;
  MessageLimits limits_;
  const char* base_ = nullptr;  // the data that the views are of
  size_t line_at_ = 0;          // start of the line being read
  size_t scanned_ = 0;          // no line end in [line_at_, scanned_)
  int empty_lines_ = 0;
  bool has_start_line_ = false;
  uint32_t method_size_ = 0, target_at_ = 0, target_size_ = 0, start_at_ = 0;
  RequestHead request_;
  ResponseHead response_;
  ParseError error_;
};

// One field line without its CRLF, at data[begin, end); null when it is well formed, else what is
// wrong.
const char* parse_field_line(const char* data, size_t begin, size_t end, Headers& headers);

// Chunked transfer coding (RFC 9112 section 7.1), decoded in place: data chunks are moved together
// at the front, so that the body is contiguous.
class ChunkedDecoder {
 public:
  explicit ChunkedDecoder(const MessageLimits& limits = {})
      : limits_(limits), body_bytes_max_(limits.body_bytes_max) {}
  // Decodes data[in, size) on, writing the body to data[out...) with out <= in; both advance.
  // kDone: the final chunk and the trailers (checked and dropped) have been read, `in` is behind
  // them.
  ParseStatus decode(char* data, size_t& in, size_t size, size_t& out);
  void reset();
  // Until reset().
  void set_body_bytes_max(size_t bytes) { body_bytes_max_ = bytes; }
  const ParseError& error() const { return error_; }

 private:
  enum class State : uint8_t { kSize, kExtension, kSizeEnd, kData, kDataCr, kDataLf, kTrailer };
  ParseStatus fail(int status, const char* text);
  ParseStatus read_size_char(char c);
  ParseStatus read_trailers(const char* data, size_t& in, size_t size);

  MessageLimits limits_;
  size_t body_bytes_max_;
  State state_ = State::kSize;
  uint64_t left_ = 0;
  uint64_t body_bytes_ = 0;
  size_t digits_ = 0;
  size_t extension_bytes_ = 0;
  size_t extension_total_ = 0;
  size_t trailer_bytes_ = 0;
  Headers trailers_;
  ParseError error_;
};

}  // namespace millstream::http
