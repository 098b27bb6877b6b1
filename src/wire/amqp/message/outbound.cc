#include "wire/amqp/message/outbound.h"

#include <algorithm>

#include "base/ascii.h"
#include "text/utf8.h"
#include "wire/amqp/codec/performatives_gen.h"

namespace millstream::wire::amqp {
namespace {

constexpr size_t kHeadKeepBytes = 64 * 1024;

void write_property(Writer& w, const mqi::PropertyView& v) {
  using mqi::PropertyType;
  switch (v.type) {
    case PropertyType::kNull:
      return w.null();
    case PropertyType::kBoolean:
      return w.boolean(v.integer != 0);
    case PropertyType::kInt8:
      return w.sbyte(static_cast<int8_t>(v.integer));
    case PropertyType::kInt16:
      return w.sshort(static_cast<int16_t>(v.integer));
    case PropertyType::kInt32:
      return w.sint(static_cast<int32_t>(v.integer));
    case PropertyType::kInt64:
      return w.slong(v.integer);
    case PropertyType::kFloat32:
      return w.float32(static_cast<float>(v.real));
    case PropertyType::kFloat64:
      return w.float64(v.real);
    case PropertyType::kString:
      return w.string(v.text());
    case PropertyType::kBytes:
      return w.binary(v.text());
  }
}

// Maps, streams and objects of other protocols are not in AMQP's form: they go as bytes.
int jms_type_of(ContentKind kind) {
  if (kind == ContentKind::kNone) return 0;
  return kind == ContentKind::kText ? 5 : 3;
}

// Text when it is printable, else bytes: as the table has it for MQ's identifiers.
void write_identifier(Writer& w, std::string_view bytes) {
  std::string text = identifier_text(bytes);
  if (text.substr(0, 3) == "ID:" && text.size() == 51) {
    w.binary(bytes);
  } else {
    w.string(text);
  }
}

}  // namespace

void OutboundMessage::make(const queue::Message& message, const mqi::MessageDescriptor& md,
                           bool is_maybe_redelivered) {
  head_.clear();
  head_.shrink(kHeadKeepBytes);
  body_ = queue::Body();
  tail_ = {};
  write_header(message, md, is_maybe_redelivered);
  if (message.origin_kind == queue::OriginKind::kAmqp10 && restore(message)) return;
  project(MessageView(message, md));
}

void OutboundMessage::write_header(const queue::Message& message, const mqi::MessageDescriptor& md,
                                   bool is_maybe_redelivered) {
  Header header{.durable = message.is_persistent(),
                .priority = static_cast<uint8_t>(std::clamp(md.priority, 0, 9)),
                .first_acquirer = md.backout_count == 0 && !is_maybe_redelivered,
                .delivery_count = static_cast<uint32_t>(std::max(md.backout_count, 0))};
  if (md.expiry >= 0) {
    header.ttl = static_cast<uint32_t>(std::min<int64_t>(int64_t{md.expiry} * 100, UINT32_MAX));
  }
  encode(head_, header);
}

// The bare message as it came. False: its origin is damaged.
bool OutboundMessage::restore(const queue::Message& message) {
  pieces_.clear();
  if (!split_origin(message.origin, pieces_)) return false;
  size_t size = message.body.size();
  bool is_simple = pieces_.size() <= 2 && (pieces_.empty() || pieces_[0].body_offset == 0) &&
                   (pieces_.size() < 2 || pieces_[1].body_offset == size);
  if (is_simple) {
    if (!pieces_.empty()) head_.raw(pieces_[0].bytes);
    if (pieces_.size() == 2) tail_ = pieces_[1].bytes;
    body_ = message.body;
    return true;
  }
  size_t at = 0;
  size_t begin = head_.size();
  for (const OriginPiece& piece : pieces_) {
    if (piece.body_offset > size) {
      head_.truncate(begin);
      return false;
    }
    head_.raw(message.body.view().substr(at, piece.body_offset - at));
    head_.raw(piece.bytes);
    at = piece.body_offset;
  }
  head_.raw(message.body.view().substr(at));
  return true;
}

void OutboundMessage::project(const MessageView& view) {
  write_annotations(view);
  write_properties(view);
  write_application_properties(view);
  write_body(view);
}

void OutboundMessage::write_annotations(const MessageView& view) {
  int jms_type = jms_type_of(view.kind());
  Node reply_to = view.reply_to();
  head_.descriptor(descriptor::kMessageAnnotations);
  Writer::Compound map = head_.begin_map();
  auto add = [&](std::string_view name, int value) {
    head_.element(map);
    head_.symbol(name);
    head_.element(map);
    head_.sbyte(static_cast<int8_t>(value));
  };
  add("x-opt-jms-msg-type", jms_type);
  if (!view.topic().empty()) add("x-opt-jms-dest", 1);
  if (reply_to.kind != NodeKind::kAny) add("x-opt-jms-reply-to", reply_to.is_topic() ? 1 : 0);
  head_.end(map);
}

void OutboundMessage::write_properties(const MessageView& view) {
  Writer ids[2];
  write_identifier(ids[0], view.message().message_id());
  std::string correlation(view.text(property::kCorrelationId));
  if (!correlation.empty()) {
    ids[1].string(correlation);
  } else if (view.has_correlation_id()) {
    write_identifier(ids[1], view.message().correlation_id());
  }
  Node reply_to = view.reply_to();
  Writer to, reply;
  if (!view.topic().empty()) to.string(view.topic());
  if (reply_to.kind != NodeKind::kAny) reply.string(reply_to.name);
  Properties p{.message_id = ids[0].bytes(),
               .to = to.bytes(),
               .reply_to = reply.bytes(),
               .correlation_id = ids[1].bytes()};
  auto text = [&](std::string_view& field, std::string_view value) {
    if (!value.empty()) field = value;
  };
  text(p.user_id, view.user());
  text(p.subject, view.text(property::kType));
  text(p.content_type, view.text(property::kContentType));
  text(p.content_encoding, view.text(property::kContentEncoding));
  text(p.reply_to_group_id, view.text(property::kReplyToGroup));
  if (p.content_type.empty() && view.kind() == ContentKind::kBytes) {
    p.content_type = "application/octet-stream";
  }
  if (int64_t put = view.put_gmt_ms(); put > 0) p.creation_time = put;
  std::string group = view.group_id();
  if (!group.empty()) {
    p.group_id = group;
    p.group_sequence = static_cast<uint32_t>(std::max(view.group_sequence(), 0));
  }
  encode(head_, p);
}

void OutboundMessage::write_application_properties(const MessageView& view) {
  if (view.properties().empty()) return;
  head_.descriptor(descriptor::kApplicationProperties);
  Writer::Compound map = head_.begin_map();
  view.for_each_user([&](std::string_view name, const mqi::PropertyView& value) {
    head_.element(map);
    head_.string(name);
    head_.element(map);
    write_property(head_, value);
  });
  head_.end(map);
}

void OutboundMessage::write_body(const MessageView& view) {
  ContentKind kind = view.kind();
  if (kind == ContentKind::kNone) {
    head_.descriptor(descriptor::kAmqpValue);
    return head_.null();
  }
  body_ = view.body();
  if (kind == ContentKind::kText && text::is_valid_utf8(body_.view())) {
    head_.descriptor(descriptor::kAmqpValue);
    return head_.variable_head(code::kString8, body_.size());
  }
  head_.descriptor(descriptor::kData);
  head_.variable_head(code::kBinary8, body_.size());
}

}  // namespace millstream::wire::amqp
