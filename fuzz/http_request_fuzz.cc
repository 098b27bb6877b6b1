// Heads and chunked bodies of HTTP/1.1 requests. The input is parsed in one piece and in pieces
// whose size the first byte chooses; both must agree, and views must lie within the input.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "http/message_parser.h"

namespace http = millstream::http;

namespace {

struct Outcome {
  http::ParseStatus status = http::ParseStatus::kNeedMore;
  int error = 0;
  size_t head_bytes = 0;
  size_t fields = 0;
  std::string body;
  bool operator==(const Outcome&) const = default;
};

void check(bool condition) {
  if (!condition) abort();
}

void check_view(std::string_view view, const char* data, size_t size) {
  if (view.empty()) return;
  bool is_inside = view.data() >= data && view.data() + view.size() <= data + size;
  check(is_inside || view == "/");
}

void decode_body(const std::vector<char>& input, size_t step, Outcome& out) {
  http::MessageLimits limits;
  limits.body_bytes_max = 4096;
  http::ChunkedDecoder decoder(limits);
  std::vector<char> data = input;
  size_t in = out.head_bytes, end = out.head_bytes, written = out.head_bytes;
  do {
    end = std::min(end + step, data.size());
    http::ParseStatus status = decoder.decode(data.data(), in, end, written);
    check(in <= end && written <= in);
    out.status = status;
    out.error = decoder.error().status;
  } while (out.status == http::ParseStatus::kNeedMore && end < data.size());
  if (out.status != http::ParseStatus::kError) {
    out.body.assign(data.data() + out.head_bytes, written - out.head_bytes);
  }
}

Outcome parse(const std::vector<char>& input, size_t step, http::HeadParser::Kind kind) {
  Outcome out;
  http::Headers headers;
  http::HeadParser parser(kind);
  size_t size = 0;
  do {
    size = std::min(size + step, input.size());
    std::vector<char> copy(input.begin(), input.begin() + static_cast<ptrdiff_t>(size));
    out.status = parser.parse(copy.data(), copy.size(), headers);
    if (out.status == http::ParseStatus::kError) out.error = parser.error().status;
    if (out.status != http::ParseStatus::kDone) continue;
    out.head_bytes = parser.head_bytes();
    out.fields = headers.size();
    headers.borrow_from(input.data());
    for (size_t i = 0; i < headers.size(); ++i) {
      check_view(headers.name(i), input.data(), out.head_bytes);
      check_view(headers.value(i), input.data(), out.head_bytes);
    }
    if (kind == http::HeadParser::Kind::kResponse) break;
    http::RequestHead head = parser.request_in(input.data());
    check_view(head.method, input.data(), out.head_bytes);
    check_view(head.target, input.data(), out.head_bytes);
    check_view(head.path, input.data(), out.head_bytes);
    check_view(head.query, input.data(), out.head_bytes);
    check_view(head.authority, input.data(), out.head_bytes);
    check(!(head.is_chunked && head.has_length));
    if (head.is_chunked) decode_body(input, step, out);
    break;
  } while (out.status == http::ParseStatus::kNeedMore && size < input.size());
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2 || size > 16 * 1024) return 0;
  size_t step = data[0] % 64 + 1;
  std::vector<char> input(data + 1, data + size);
  for (auto kind : {http::HeadParser::Kind::kRequest, http::HeadParser::Kind::kResponse}) {
    check(parse(input, input.size(), kind) == parse(input, step, kind));
  }
  return 0;
}
