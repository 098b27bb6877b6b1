// A SEND frame as a message, and any message as a MESSAGE frame's headers. docs/guide/protocols.md
// has the table.
//
// - A SEND's headers are kept as they came (queue::OriginKind::kStomp), so that another STOMP
// client
//   gets the same ones; the message model has what others can read.
// - A body with a content-length and no content-type is bytes, one without is text; content-type
//   decides when it is there.
// Thread: any.
#pragma once
#include <functional>
#include <string>
#include <string_view>

#include "wire/common/content.h"
#include "wire/stomp/frame.h"

namespace millstream::wire::stomp {

// What replies are to be sent to, as the session resolves the address of a reply-to header.
using ResolveReply = std::function<Node(std::string_view address)>;

// Fails with what is wrong with the frame. `now_gmt_ms` is for the header expires.
Status build_message(const Frame& frame, int64_t now_gmt_ms, const ResolveReply& resolve,
                     queue::PutCall& call);

// All headers of a MESSAGE but subscription, ack, message-id, redelivered and content-length.
// `destination` is for messages that did not come by STOMP.
void write_message_headers(const MessageView& view, std::string_view destination,
                           int64_t now_gmt_ms, FrameWriter& writer);

}  // namespace millstream::wire::stomp
