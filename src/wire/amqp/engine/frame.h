// Frames (2.3) and protocol headers (2.2) of AMQP 1.0. Thread: any.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace millstream::wire::amqp {

inline constexpr size_t kProtocolHeaderBytes = 8;
enum class ProtocolId : uint8_t { kAmqp = 0, kTls = 2, kSasl = 3 };
// "AMQP", the identifier, 1.0.0.
std::string_view protocol_header(ProtocolId id);
// What the peer wants; false: no header of AMQP 1.0.
bool parse_protocol_header(std::string_view bytes8, ProtocolId& id);

inline constexpr size_t kFrameHeaderBytes = 8;
inline constexpr uint32_t kFrameBytesMin = 512;  // what every peer takes
enum class FrameType : uint8_t { kAmqp = 0, kSasl = 1 };

struct Frame {
  uint32_t size = 0;  // of all of it
  uint8_t type = 0;
  uint16_t channel = 0;
  std::string_view body;
};
enum class FrameResult : uint8_t { kWhole, kPartial, kInvalid };
// The frame at the start of `bytes`. Partial: `frame.size` tells how many bytes it needs, 0 when
// not even that is known. Invalid: shorter than its header says, or longer than `bytes_max`.
FrameResult parse_frame(std::string_view bytes, uint32_t bytes_max, Frame& frame);

}  // namespace millstream::wire::amqp
