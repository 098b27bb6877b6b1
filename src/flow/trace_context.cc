#include "flow/trace_context.h"

#include <cstring>

#include "base/ascii.h"
#include "base/random.h"

namespace millstream::flow {
namespace {

// Only lower case, as the recommendation has it; -1 for anything else.
int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool read_hex(std::string_view text, uint8_t* out) {
  for (size_t i = 0; i < text.size(); i += 2) {
    const int high = hex_digit(text[i]), low = hex_digit(text[i + 1]);
    if (high < 0 || low < 0) return false;
    out[i / 2] = static_cast<uint8_t>(high * 16 + low);
  }
  return true;
}

std::string_view trim_blanks(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

}  // namespace

std::string hex_text(const uint8_t* bytes, size_t size) {
  std::string out;
  base::append_hex(out, {reinterpret_cast<const char*>(bytes), size});
  return out;
}

std::string TraceContext::traceparent() const {
  return "00-" + hex_text(trace_id.data(), trace_id.size()) + "-" +
         hex_text(span_id.data(), span_id.size()) + "-" + hex_text(&flags, 1);
}

TraceContext parse_traceparent(std::string_view text) {
  text = trim_blanks(text);
  TraceContext out;
  uint8_t version = 0;
  if (text.size() < TraceContext::kTextBytes || text[2] != '-' || text[35] != '-' ||
      text[52] != '-' || !read_hex(text.substr(0, 2), &version) || version == 0xff) {
    return {};
  }
  // 00 has nothing behind its flags; later versions may, after another dash.
  if (text.size() > TraceContext::kTextBytes &&
      (version == 0 || text[TraceContext::kTextBytes] != '-')) {
    return {};
  }
  if (!read_hex(text.substr(3, 32), out.trace_id.data()) ||
      !read_hex(text.substr(36, 16), out.span_id.data()) ||
      !read_hex(text.substr(53, 2), &out.flags)) {
    return {};
  }
  out.flags &= TraceContext::kSampled;
  return out.is_valid() ? out : TraceContext{};
}

std::string_view checked_tracestate(std::string_view text) {
  text = trim_blanks(text);
  if (text.size() > TraceContext::kStateBytesMax) return {};
  size_t members = 0;
  for (std::string_view rest = text; !rest.empty();) {
    const size_t comma = rest.find(',');
    const std::string_view member = trim_blanks(rest.substr(0, comma));
    rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
    if (member.empty()) continue;
    const size_t equals = member.find('=');
    if (equals == 0 || equals == std::string_view::npos) return {};
    for (const char c : member) {
      if (c < 0x20 || c > 0x7e) return {};
    }
    if (++members > TraceContext::kStateMembersMax) return {};
  }
  return text;
}

std::array<uint8_t, 16> make_trace_id() {
  std::array<uint8_t, 16> id{};
  const auto high = make_span_id(), low = make_span_id();
  std::memcpy(id.data(), high.data(), high.size());
  std::memcpy(id.data() + high.size(), low.data(), low.size());
  return id;
}

std::array<uint8_t, 8> make_span_id() {
  std::array<uint8_t, 8> id{};
  uint64_t bits = 0;
  while (bits == 0) bits = base::system_random().next_u64();
  std::memcpy(id.data(), &bits, id.size());
  return id;
}

}  // namespace millstream::flow
