// One message model for all protocols: the message descriptor, message properties and the body are
// what every protocol can read, and `origin` is what gives the same protocol back exactly what it
// sent. docs/guide/protocols.md has the table; this is its code.
//
// - MessageBuilder: from a protocol into a PutCall. MessageView: from a message of whatever origin.
// - Identifiers: up to 24 bytes they are the descriptor's, filled with nulls; longer ones are kept
//   whole beside it (queue::LongIds). As text an identifier is itself when it is printable, else
//   "ID:" and its 48 hexadecimal digits, which is also understood on the way in, as JMS has it.
// - Names of properties: an application's names are kept ("usr"); characters that a property name
//   cannot have are written _HYPHEN_, _DOT_ or _xHH_, and turned back on the way out.
// Thread: any; one object one thread. Views live as long as the message.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mqi/properties.h"
#include "queue/core/connection.h"
#include "wire/common/broker.h"

namespace millstream::wire {

// What the body is, by JMS's kinds; kAmqpValue is a value in AMQP's encoding that is none of them.
enum class ContentKind : uint8_t { kBytes, kText, kMap, kStream, kObject, kNone, kAmqpValue };

// Properties for what has no field in the descriptor.
namespace property {
inline constexpr std::string_view kMessageClass = "mcd.Msd";  // jms_text, jms_bytes, ...
inline constexpr std::string_view kType = "mcd.Type";         // JMSType, AMQP's subject
inline constexpr std::string_view kContentType = "ms.ContentType";
inline constexpr std::string_view kContentEncoding = "ms.ContentEncoding";
inline constexpr std::string_view kReplyTo = "jms.Rto";        // when no queue: topic://...
inline constexpr std::string_view kCorrelationId = "jms.Cid";  // a text
inline constexpr std::string_view kGroupId = "jms.Gid";
inline constexpr std::string_view kGroupSequence = "jms.Seq";
inline constexpr std::string_view kReplyToGroup = "ms.ReplyToGroup";
inline constexpr std::string_view kTo = "ms.To";        // the address as it was sent
inline constexpr std::string_view kTopic = "mqps.Top";  // of a publication
inline constexpr std::string_view kRetained = "mqps.Ret";
}  // namespace property

// Formats of the descriptor.
inline constexpr std::string_view kFormatString = "MQSTR";
inline constexpr std::string_view kFormatAmqp = "MQAMQP";

// The part of a message around its body, so that the body is kept once: pieces of bytes, each with
// the offset in the body that it stands before. For AMQP: the bare message without the contents of
// its data or string.
struct OriginPiece {
  uint32_t body_offset = 0;
  std::string_view bytes;
};
void append_origin_piece(std::string& origin, uint32_t body_offset, std::string_view bytes);
// Of bytes that append_origin_piece() made. False: they are not.
bool split_origin(std::string_view origin, std::vector<OriginPiece>& out);

class MessageBuilder {
 public:
  explicit MessageBuilder(queue::PutCall& call) : call_(call) {}

  // Format, character set and class. Text is UTF-8.
  void set_content(ContentKind kind, queue::Body body);
  void set_persistent(bool is_persistent) { call_.md.persistence = is_persistent ? 1 : 0; }
  void set_priority(int priority);       // 0..9, more is 9
  void set_time_to_live_ms(int64_t ms);  // 0 has passed; below: none
  void set_delay_ms(int64_t ms) { call_.delay_ms = ms > 0 ? ms : 0; }
  void set_message_id(std::string_view id);
  // Text of JMS and STOMP, or bytes of MQTT and AMQP's binary.
  void set_correlation_text(std::string_view id);
  void set_correlation_bytes(std::string_view id);
  void set_group(std::string_view id, int32_t sequence, bool is_last);
  void set_reply_to(const Node& node);
  // Sets a property of ours; empty text: none.
  void set_text(std::string_view name, std::string_view text);
  // An application's; its name may be any text. Fails at the limits of properties only.
  Status set_user(std::string_view name, const mqi::PropertyView& value);
  void set_origin(queue::OriginKind kind, std::string bytes);
  // Writes what was set into the call.
  void finish();

 private:
  queue::PutCall& call_;
  mqi::PropertyList properties_;
};

class MessageView {
 public:
  // `md` as the get has given it.
  MessageView(const queue::Message& message, const mqi::MessageDescriptor& md)
      : message_(message),
        md_(md),
        properties_(mqi::PropertyListView::trusted(message.properties)) {}
  explicit MessageView(const queue::Message& message) : MessageView(message, message.md) {}

  ContentKind kind() const;
  // Text that is not UTF-8 is converted to it; what is no text comes as it is. The body may have
  // headers of MQ (MQRFH2, ...) in front, which are left out when `kind` is text.
  queue::Body body() const;
  bool is_persistent() const { return message_.is_persistent(); }
  int priority() const { return md_.priority; }
  int64_t time_to_live_ms() const;  // what is left; -1: never expires
  uint32_t delivery_count() const { return static_cast<uint32_t>(md_.backout_count); }
  int64_t put_gmt_ms() const;  // 0: not known
  std::string message_id() const;
  bool has_correlation_id() const { return !correlation_bytes().empty(); }
  std::string correlation_text() const;
  std::string_view correlation_bytes() const;  // without nulls at the end
  std::string group_id() const;
  int32_t group_sequence() const { return md_.sequence_number; }
  // kAny: none.
  Node reply_to() const;
  std::string_view text(std::string_view name) const;  // of a property of ours; empty: none
  std::string_view topic() const { return text(property::kTopic); }
  std::string_view user() const { return md_.user_identifier.view(); }
  const mqi::PropertyListView& properties() const { return properties_; }
  const mqi::MessageDescriptor& md() const { return md_; }
  const queue::Message& message() const { return message_; }

  // f(std::string_view name, const mqi::PropertyView& value): the application's properties.
  template <typename F>
  void for_each_user(F&& f) const {
    properties_.for_each([&](std::string_view name, const mqi::PropertyView& value) {
      if (name.find('.') == std::string_view::npos) f(decode_name(name), value);
    });
  }
  static std::string decode_name(std::string_view name);

 private:
  const queue::Message& message_;
  const mqi::MessageDescriptor& md_;
  mqi::PropertyListView properties_;
};

// The name under which an application's header is kept, and a value as text.
std::string encode_property_name(std::string_view name);
std::string property_text(const mqi::PropertyView& value);
// Printable as it is, else "ID:" and hexadecimal digits.
std::string identifier_text(std::string_view id);
// The bytes of "ID:" and 48 hexadecimal digits; anything else as it is.
std::string identifier_bytes(std::string_view text);

}  // namespace millstream::wire
