// The trace that a message belongs to, as W3C Trace Context (level 1) passes it between services.
//   traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01
// Thread: any.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace millstream::flow {

struct TraceContext {
  static constexpr size_t kTextBytes = 55;
  static constexpr size_t kStateBytesMax = 512;   // of tracestate; a longer one is dropped
  static constexpr size_t kStateMembersMax = 32;  // entries of tracestate
  static constexpr uint8_t kSampled = 1;

  std::array<uint8_t, 16> trace_id{};
  std::array<uint8_t, 8> span_id{};
  uint8_t flags = 0;
  std::string state;  // tracestate, passed on as it came

  bool is_valid() const {
    return trace_id != decltype(trace_id){} && span_id != decltype(span_id){};
  }
  bool is_sampled() const { return flags & kSampled; }
  std::string traceparent() const;
};

// The two headers as text, on their way.
struct TraceHeaders {
  std::string parent, state;
};

// An invalid context when `text` is no traceparent (3.2.2: then there is none, and tracestate is
// not looked at). A version above 00 is read as far as 00 goes.
TraceContext parse_traceparent(std::string_view text);
// What of a tracestate header may be passed on: all of it, or nothing when it is malformed.
std::string_view checked_tracestate(std::string_view text);

std::array<uint8_t, 16> make_trace_id();
std::array<uint8_t, 8> make_span_id();
std::string hex_text(const uint8_t* bytes, size_t size);

}  // namespace millstream::flow
