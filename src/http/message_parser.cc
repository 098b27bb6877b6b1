#include "http/message_parser.h"

#include <cstring>

#include "http/chars.h"

namespace millstream::http {

ParseStatus HeadParser::fail(int status, const char* text) {
  error_ = {status, text};
  return ParseStatus::kError;
}

void HeadParser::reset() {
  line_at_ = scanned_ = 0;
  empty_lines_ = 0;
  has_start_line_ = false;
  error_ = {};
}

ParseStatus HeadParser::parse(const char* data, size_t size, Headers& headers) {
  for (;;) {
    const void* found =
        size > scanned_ ? std::memchr(data + scanned_, '\n', size - scanned_) : nullptr;
    if (!found) {
      scanned_ = size;
      return check_size(size);
    }
    size_t end = static_cast<size_t>(static_cast<const char*>(found) - data);
    // 2.2: a bare LF is not a line end here.
    if (end == line_at_ || data[end - 1] != '\r') return fail(400, "line without CRLF");
    scanned_ = end + 1;
    if (check_size(end) == ParseStatus::kError) return ParseStatus::kError;
    size_t text_end = end - 1;
    if (text_end == line_at_ && has_start_line_) {
      line_at_ = end + 1;
      return kind_ == Kind::kRequest ? finish_request(data, headers)
                                     : finish_response(data, headers);
    }
    if (parse_line(data, text_end, headers) == ParseStatus::kError) return ParseStatus::kError;
    line_at_ = end + 1;
  }
}

// `size`: bytes seen so far that belong to the head.
ParseStatus HeadParser::check_size(size_t size) {
  if (!has_start_line_) {
    size_t line_max = limits_.target_bytes_max + kMethodBytesMax + 16;
    if (size - line_at_ > line_max) {
      return kind_ == Kind::kRequest ? fail(414, "request target too long")
                                     : fail(400, "status line too long");
    }
  }
  if (size > limits_.head_bytes_max) return fail(431, "header fields too large");
  return ParseStatus::kNeedMore;
}

ParseStatus HeadParser::parse_line(const char* data, size_t end, Headers& headers) {
  if (!has_start_line_) {
    if (end == line_at_) {
      // 2.2: a few empty lines before a request are ignored.
      if (kind_ == Kind::kRequest && ++empty_lines_ <= kLeadingEmptyLinesMax) {
        return ParseStatus::kDone;
      }
      return fail(400, "empty line instead of a start line");
    }
    headers.clear();
    has_start_line_ = true;
    start_at_ = static_cast<uint32_t>(line_at_);
    return kind_ == Kind::kRequest ? parse_request_line(data, end) : parse_status_line(data, end);
  }
  if (headers.size() >= limits_.header_count_max) return fail(431, "too many header fields");
  if (const char* wrong = parse_field_line(data, line_at_, end, headers)) return fail(400, wrong);
  return ParseStatus::kDone;
}

ParseStatus HeadParser::parse_request_line(const char* data, size_t end) {
  // 3: method SP request-target SP HTTP-version, single spaces, nothing else.
  size_t at = line_at_;
  while (at < end && is_token_char(data[at])) ++at;
  method_size_ = static_cast<uint32_t>(at - line_at_);
  if (method_size_ == 0 || at == end || data[at] != ' ') return fail(400, "bad method");
  if (method_size_ > kMethodBytesMax) return fail(501, "method too long");
  target_at_ = static_cast<uint32_t>(++at);
  while (at < end && is_target_char(data[at])) ++at;
  target_size_ = static_cast<uint32_t>(at - target_at_);
  if (target_size_ > limits_.target_bytes_max) return fail(414, "request target too long");
  if (target_size_ == 0 || at == end || data[at] != ' ') return fail(400, "bad request target");
  ++at;
  request_ = {};
  return parse_version({data + at, end - at}, request_.minor_version);
}

ParseStatus HeadParser::parse_version(std::string_view text, int& minor) {
  auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  if (text.size() != 8 || text.substr(0, 5) != "HTTP/" || !is_digit(text[5]) || text[6] != '.' ||
      !is_digit(text[7])) {
    return fail(400, "bad HTTP version");
  }
  if (text[5] != '1') return fail(505, "HTTP version not supported");
  minor = text[7] == '0' ? 0 : 1;  // 2.5: a higher minor version is understood as 1.1
  return ParseStatus::kDone;
}

ParseStatus HeadParser::parse_status_line(const char* data, size_t end) {
  // 4: HTTP-version SP status-code SP [reason-phrase]; the last space is often missing.
  std::string_view line(data + line_at_, end - line_at_);
  response_ = {};
  if (line.size() < 12 || line[8] != ' ') return fail(400, "bad status line");
  if (parse_version(line.substr(0, 8), response_.minor_version) == ParseStatus::kError) {
    return ParseStatus::kError;
  }
  for (size_t i = 9; i < 12; ++i) {
    if (line[i] < '0' || line[i] > '9') return fail(400, "bad status code");
    response_.status = response_.status * 10 + (line[i] - '0');
  }
  if (response_.status < 100 || (line.size() > 12 && line[12] != ' ')) {
    return fail(400, "bad status code");
  }
  std::string_view reason = line.size() > 13 ? line.substr(13) : std::string_view();
  if (!is_valid_field_value(reason)) return fail(400, "bad reason phrase");
  target_at_ = static_cast<uint32_t>(line_at_ + (line.size() > 13 ? 13 : line.size()));
  target_size_ = static_cast<uint32_t>(reason.size());
  return ParseStatus::kDone;
}

const char* parse_field_line(const char* data, size_t begin, size_t end, Headers& headers) {
  // 5: field-name ":" OWS field-value OWS; no folding (5.2), no space before the colon (5.1).
  size_t at = begin;
  while (at < end && is_token_char(data[at])) ++at;
  if (at == begin) {
    return data[begin] == ' ' || data[begin] == '\t' ? "folded header line" : "bad header name";
  }
  if (at == end) return "header line without colon";
  if (data[at] != ':') {
    return data[at] == ' ' || data[at] == '\t' ? "space before colon" : "bad header name";
  }
  size_t value_at = at + 1;
  while (value_at < end && (data[value_at] == ' ' || data[value_at] == '\t')) ++value_at;
  size_t value_end = end;
  while (value_end > value_at && (data[value_end - 1] == ' ' || data[value_end - 1] == '\t')) {
    --value_end;
  }
  for (size_t i = value_at; i < value_end; ++i) {
    if (!is_field_char(data[i])) return "control character in header value";
  }
  headers.add_range({static_cast<uint32_t>(begin), static_cast<uint32_t>(at - begin),
                     static_cast<uint32_t>(value_at), static_cast<uint32_t>(value_end - value_at)});
  return nullptr;
}

// 6.1 to 6.3: how long the body is. Anything ambiguous is an error.
ParseStatus HeadParser::read_framing(const Headers& headers, int minor, bool& is_chunked,
                                     bool& has_length, uint64_t& length) {
  for (size_t i = 0; i < headers.size(); ++i) {
    std::string_view name = headers.name(i);
    if (name.size() == 14 && equals_ignore_case(name, "content-length")) {
      std::string_view text = headers.value(i);
      if (has_length) return fail(400, "several Content-Length fields");
      if (text.empty()) return fail(400, "bad Content-Length");
      uint64_t value = 0;
      for (char c : text) {
        if (c < '0' || c > '9') return fail(400, "bad Content-Length");
        if (value > (UINT64_MAX >> 4) / 10) return fail(413, "body too large");
        value = value * 10 + static_cast<uint64_t>(c - '0');
      }
      has_length = true;
      length = value;
    } else if (name.size() == 17 && equals_ignore_case(name, "transfer-encoding")) {
      if (is_chunked) return fail(400, "several Transfer-Encoding fields");
      if (minor == 0) return fail(400, "Transfer-Encoding in HTTP/1.0");
      if (!equals_ignore_case(headers.value(i), "chunked")) {
        return fail(501, "transfer coding not supported");
      }
      is_chunked = true;
    }
  }
  if (is_chunked && has_length) return fail(400, "both Content-Length and Transfer-Encoding");
  return ParseStatus::kDone;
}

namespace {
bool is_valid_host(std::string_view host) {
  for (char c : host) {
    if (!is_target_char(c) || c == '/' || c == '?' || c == '@' || c == '\\' || c == '"' ||
        c == '<' || c == '>') {
      return false;
    }
  }
  return true;
}

bool keep_alive_of(const Headers& headers, int minor) {
  // 9.3: HTTP/1.1 persists unless told otherwise, HTTP/1.0 only when asked to.
  bool has_close = false, has_keep_alive = false;
  for (size_t i = headers.find_index("connection"); i != Headers::kNone;
       i = headers.find_index("connection", i + 1)) {
    has_close |= list_has_token(headers.value(i), "close");
    has_keep_alive |= list_has_token(headers.value(i), "keep-alive");
  }
  if (has_close) return false;
  return minor >= 1 || has_keep_alive;
}
}  // namespace

ParseStatus HeadParser::parse_target() {
  RequestHead& r = request_;
  std::string_view rest = r.target;
  if (r.method == "CONNECT") return fail(501, "CONNECT is not supported");
  if (rest == "*") {
    if (r.method != "OPTIONS") return fail(400, "bad request target");
    r.path = rest;
    return ParseStatus::kDone;
  }
  if (rest.front() != '/') {
    // 3.2.2: absolute form; its authority replaces Host.
    size_t scheme = rest.find("://");
    if (scheme == std::string_view::npos ||
        !(equals_ignore_case(rest.substr(0, scheme), "http") ||
          equals_ignore_case(rest.substr(0, scheme), "https"))) {
      return fail(400, "bad request target");
    }
    rest.remove_prefix(scheme + 3);
    size_t end = std::min(rest.find_first_of("/?"), rest.size());
    r.authority = rest.substr(0, end);
    if (r.authority.empty() || !is_valid_host(r.authority)) return fail(400, "bad request target");
    rest.remove_prefix(end);
  }
  size_t question = rest.find('?');
  r.path = rest.substr(0, question);
  if (question != std::string_view::npos) r.query = rest.substr(question + 1);
  if (r.path.empty()) r.path = "/";
  return ParseStatus::kDone;
}

RequestHead HeadParser::request_in(const char* data) const {
  RequestHead out = request_;
  auto move = [this, data](std::string_view& view) {
    uintptr_t at = reinterpret_cast<uintptr_t>(view.data()) - reinterpret_cast<uintptr_t>(base_);
    if (view.data() && at < line_at_) view = {data + at, view.size()};  // not a literal
  };
  move(out.method);
  move(out.target);
  move(out.authority);
  move(out.path);
  move(out.query);
  return out;
}

ParseStatus HeadParser::finish_request(const char* data, Headers& headers) {
  headers.borrow_from(data);
  base_ = data;
  RequestHead& r = request_;
  r.method = {data + start_at_, method_size_};
  r.target = {data + target_at_, target_size_};
  // 3.2: exactly one Host in HTTP/1.1, at most one ever.
  size_t host = headers.find_index("host");
  if (host == Headers::kNone) {
    if (r.minor_version >= 1) return fail(400, "no Host field");
  } else {
    if (headers.find_index("host", host + 1) != Headers::kNone) {
      return fail(400, "several Host fields");
    }
    r.authority = headers.value(host);
    if (!is_valid_host(r.authority)) return fail(400, "bad Host field");
  }
  if (parse_target() == ParseStatus::kError) return ParseStatus::kError;
  if (read_framing(headers, r.minor_version, r.is_chunked, r.has_length, r.content_length) ==
      ParseStatus::kError) {
    return ParseStatus::kError;
  }
  if (r.content_length > limits_.body_bytes_max) return fail(413, "body too large");
  r.is_keep_alive = keep_alive_of(headers, r.minor_version);
  size_t expect = headers.find_index("expect");
  if (expect != Headers::kNone && r.minor_version >= 1) {
    if (!equals_ignore_case(headers.value(expect), "100-continue") ||
        headers.find_index("expect", expect + 1) != Headers::kNone) {
      return fail(417, "expectation not supported");
    }
    r.expects_continue = true;
  }
  return ParseStatus::kDone;
}

ResponseHead HeadParser::response_in(const char* data) const {
  ResponseHead out = response_;
  out.reason = {data + target_at_, target_size_};
  return out;
}

ParseStatus HeadParser::finish_response(const char* data, Headers& headers) {
  headers.borrow_from(data);
  ResponseHead& r = response_;
  r.reason = {data + target_at_, target_size_};
  if (read_framing(headers, r.minor_version, r.is_chunked, r.has_length, r.content_length) ==
      ParseStatus::kError) {
    return ParseStatus::kError;
  }
  r.is_keep_alive = keep_alive_of(headers, r.minor_version);
  return ParseStatus::kDone;
}

void ChunkedDecoder::reset() {
  state_ = State::kSize;
  left_ = body_bytes_ = 0;
  body_bytes_max_ = limits_.body_bytes_max;
  digits_ = extension_bytes_ = extension_total_ = trailer_bytes_ = 0;
  trailers_.clear();
  error_ = {};
}

ParseStatus ChunkedDecoder::fail(int status, const char* text) {
  error_ = {status, text};
  return ParseStatus::kError;
}

ParseStatus ChunkedDecoder::read_size_char(char c) {
  if (is_hex_char(c)) {
    if (++digits_ > kChunkSizeDigitsMax) return fail(400, "chunk size too long");
    left_ = left_ * 16 + hex_value(c);
    return ParseStatus::kNeedMore;
  }
  if (digits_ == 0) return fail(400, "bad chunk size");
  if (body_bytes_ + left_ > body_bytes_max_) return fail(413, "body too large");
  if (c == ';') {
    state_ = State::kExtension;
    extension_bytes_ = 0;
  } else if (c == '\r') {
    state_ = State::kSizeEnd;
  } else {
    return fail(400, "bad chunk size");
  }
  return ParseStatus::kNeedMore;
}

ParseStatus ChunkedDecoder::decode(char* data, size_t& in, size_t size, size_t& out) {
  while (in < size) {
    switch (state_) {
      case State::kSize:
        if (read_size_char(data[in++]) == ParseStatus::kError) return ParseStatus::kError;
        break;
      case State::kExtension: {
        char c = data[in++];
        if (c == '\r') {
          state_ = State::kSizeEnd;
        } else if (!is_field_char(c)) {
          return fail(400, "bad chunk extension");
        } else if (++extension_bytes_ > kChunkExtensionBytesMax ||
                   ++extension_total_ > kChunkExtensionTotalMax) {
          return fail(400, "chunk extension too long");
        }
        break;
      }
      case State::kSizeEnd:
        if (data[in++] != '\n') return fail(400, "bad line end after chunk size");
        state_ = left_ == 0 ? State::kTrailer : State::kData;
        digits_ = 0;
        break;
      case State::kData: {
        size_t step = static_cast<size_t>(std::min<uint64_t>(left_, size - in));
        if (in != out) std::memmove(data + out, data + in, step);
        in += step;
        out += step;
        left_ -= step;
        body_bytes_ += step;
        if (left_ == 0) state_ = State::kDataCr;
        break;
      }
      case State::kDataCr:
        if (data[in++] != '\r') return fail(400, "bad line end after chunk");
        state_ = State::kDataLf;
        break;
      case State::kDataLf:
        if (data[in++] != '\n') return fail(400, "bad line end after chunk");
        state_ = State::kSize;
        break;
      case State::kTrailer:
        return read_trailers(data, in, size);
    }
  }
  return ParseStatus::kNeedMore;
}

// 7.1.2: trailer fields must be well formed; they are dropped. `in` stays at an incomplete line.
ParseStatus ChunkedDecoder::read_trailers(const char* data, size_t& in, size_t size) {
  for (;;) {
    const void* found = std::memchr(data + in, '\n', size - in);
    size_t end = found ? static_cast<size_t>(static_cast<const char*>(found) - data) : size;
    if (trailer_bytes_ + (end - in) > limits_.head_bytes_max)
      return fail(431, "trailers too large");
    if (!found) return ParseStatus::kNeedMore;
    if (end == in || data[end - 1] != '\r') return fail(400, "line without CRLF");
    if (end - 1 == in) {
      in = end + 1;
      return ParseStatus::kDone;
    }
    if (trailers_.size() >= limits_.header_count_max) return fail(431, "too many trailers");
    if (const char* wrong = parse_field_line(data, in, end - 1, trailers_)) return fail(400, wrong);
    trailer_bytes_ += end + 1 - in;
    in = end + 1;
    if (in == size) return ParseStatus::kNeedMore;
  }
}

}  // namespace millstream::http
