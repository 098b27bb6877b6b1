// The bytes of a message's header in the journal; the body follows them there as it is.
// Format version 1: version, flags, MQMD version 2 (364 bytes, little-endian), then what the flags
// say: times, property list, origin kind and bytes, identifiers longer than 24 bytes.
// Reading checks every length: a journal that passed its checksums may still be of a newer version.
// Thread: any.
#pragma once
#include <string>
#include <string_view>

#include "base/result.h"
#include "queue/core/message.h"

namespace millstream::queue {

inline constexpr uint8_t kMessageHeaderVersion = 1;

void encode_message_header(const Message& message, std::string& out);
// `body` is taken over.
Result<MessageRef> decode_message(std::string_view header, std::string body);

}  // namespace millstream::queue
