#include "wire/amqp/engine/frame.h"

namespace millstream::wire::amqp {

std::string_view protocol_header(ProtocolId id) {
  switch (id) {
    case ProtocolId::kTls:
      return {"AMQP\2\1\0\0", kProtocolHeaderBytes};
    case ProtocolId::kSasl:
      return {"AMQP\3\1\0\0", kProtocolHeaderBytes};
    default:
      return {"AMQP\0\1\0\0", kProtocolHeaderBytes};
  }
}

bool parse_protocol_header(std::string_view bytes8, ProtocolId& id) {
  for (ProtocolId known : {ProtocolId::kAmqp, ProtocolId::kSasl, ProtocolId::kTls}) {
    if (bytes8.substr(0, kProtocolHeaderBytes) != protocol_header(known)) continue;
    id = known;
    return true;
  }
  return false;
}

FrameResult parse_frame(std::string_view bytes, uint32_t bytes_max, Frame& frame) {
  frame = Frame();
  auto at = [&](size_t i) { return static_cast<uint32_t>(static_cast<uint8_t>(bytes[i])); };
  if (bytes.size() < 4) return FrameResult::kPartial;
  frame.size = at(0) << 24 | at(1) << 16 | at(2) << 8 | at(3);
  if (frame.size < kFrameHeaderBytes || frame.size > bytes_max) return FrameResult::kInvalid;
  if (bytes.size() < frame.size) return FrameResult::kPartial;
  uint32_t offset = at(4) * 4;
  if (offset < kFrameHeaderBytes || offset > frame.size) return FrameResult::kInvalid;
  frame.type = static_cast<uint8_t>(at(5));
  frame.channel = static_cast<uint16_t>(at(6) << 8 | at(7));
  frame.body = bytes.substr(offset, frame.size - offset);
  return FrameResult::kWhole;
}

}  // namespace millstream::wire::amqp
