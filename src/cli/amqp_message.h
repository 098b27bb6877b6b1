// Messages of the queue commands to and from the encoding of AMQP 1.0.
// Thread: any.
#pragma once
#include <string>
#include <string_view>

#include "cli/queue_client.h"
#include "queue/core/message.h"

namespace millstream::cli {

struct EncodedMessage {
  std::string head;
  queue::Body body;
  std::string tail;
  std::string message_id;  // 24 bytes
};
// What put gives: persistent unless it says otherwise, with a new identifier when it has none.
EncodedMessage amqp_message_of(const batch::FrameMessage& message);
// Null, or why the bytes are no message.
const char* read_amqp_message(std::string_view bytes, batch::FrameMessage& out);
// A selector of JMS for what is selected; empty: everything.
std::string amqp_selector_of(const batch::Selection& selection);

}  // namespace millstream::cli
