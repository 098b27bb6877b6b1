// A message of a queue as AMQP gives it to a receiver: one that came by AMQP as it was sent, with a
// header of now; any other as a projection (docs/guide/protocols.md has the table).
// Thread: one. The parts live until the next make(), as long as the message does.
#pragma once
#include <string_view>
#include <vector>

#include "queue/core/message.h"
#include "wire/amqp/codec/writer.h"
#include "wire/common/content.h"

namespace millstream::wire::amqp {

class OutboundMessage {
 public:
  // Maybe redelivered: nobody knows whether somebody else has had it before; first-acquirer is then
  // not claimed.
  void make(const queue::Message& message, const mqi::MessageDescriptor& md,
            bool is_maybe_redelivered = false);
  std::string_view head() const { return head_.bytes(); }
  const queue::Body& body() const { return body_; }
  std::string_view tail() const { return tail_; }
  size_t size() const { return head_.size() + body_.size() + tail_.size(); }

 private:
  void write_header(const queue::Message& message, const mqi::MessageDescriptor& md,
                    bool is_maybe_redelivered);
  bool restore(const queue::Message& message);
  void project(const MessageView& view);
  void write_annotations(const MessageView& view);
  void write_properties(const MessageView& view);
  void write_application_properties(const MessageView& view);
  void write_body(const MessageView& view);

  Writer head_;
  queue::Body body_;
  std::string_view tail_;
  std::vector<OriginPiece> pieces_;
};

}  // namespace millstream::wire::amqp
