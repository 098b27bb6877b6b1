#include "wire/amqp/message/inbound.h"

#include <algorithm>
#include <optional>

#include "text/utf8.h"
#include "wire/amqp/codec/performatives_gen.h"
#include "wire/common/content.h"

namespace millstream::wire::amqp {
namespace {

// Of x-opt-jms-msg-type (3.1 of the JMS mapping).
ContentKind kind_of_jms_type(int64_t type, ContentKind otherwise) {
  switch (type) {
    case 0:
      return ContentKind::kNone;
    case 1:
      return ContentKind::kObject;
    case 2:
      return ContentKind::kMap;
    case 3:
      return ContentKind::kBytes;
    case 4:
      return ContentKind::kStream;
    case 5:
      return ContentKind::kText;
    default:
      return otherwise;
  }
}

// 0 queue, 1 topic, 2 temporary queue, 3 temporary topic.
NodeKind kind_of_jms_destination(int64_t type) {
  if (type == 0 || type == 2) return NodeKind::kQueue;
  return type == 1 || type == 3 ? NodeKind::kTopic : NodeKind::kAny;
}

int64_t integer_of(const Value& v, int64_t otherwise) {
  if (v.is_signed() || v.type == Type::kTimestamp) return v.i;
  return v.is_unsigned() ? static_cast<int64_t>(v.u) : otherwise;
}

mqi::PropertyView property_of(const Value& v) {
  using mqi::PropertyView;
  switch (v.type) {
    case Type::kBoolean:
      return PropertyView::boolean(v.u != 0);
    case Type::kByte:
      return PropertyView::make(mqi::PropertyType::kInt8, v.i);
    case Type::kShort:
      return PropertyView::make(mqi::PropertyType::kInt16, v.i);
    case Type::kInt:
      return PropertyView::int32(static_cast<int32_t>(v.i));
    case Type::kLong:
    case Type::kTimestamp:
      return PropertyView::int64(v.i);
    // Unsigned numbers become the signed type that holds them.
    case Type::kUbyte:
      return PropertyView::make(mqi::PropertyType::kInt16, static_cast<int64_t>(v.u));
    case Type::kUshort:
      return PropertyView::int32(static_cast<int32_t>(v.u));
    case Type::kUint:
    case Type::kUlong:
    case Type::kChar:
      return PropertyView::int64(static_cast<int64_t>(v.u));
    case Type::kFloat:
      return PropertyView::float32(static_cast<float>(v.real));
    case Type::kDouble:
      return PropertyView::float64(v.real);
    case Type::kString:
    case Type::kSymbol:
      return PropertyView::string(v.bytes);
    case Type::kBinary:
    case Type::kUuid:
    case Type::kDecimal32:
    case Type::kDecimal64:
    case Type::kDecimal128:
      return PropertyView::bytes(v.bytes);
    default:
      return PropertyView::null();
  }
}

class InboundReader {
 public:
  InboundReader(std::string_view all, const InboundOptions& options, queue::PutCall& call,
                InboundAddress& address)
      : all_(all), options_(options), call_(call), address_(address), builder_(call) {}
  const char* read(queue::Body whole, bool has_whole);

 private:
  const char* read_section(uint64_t code, Reader& reader, const char* from);
  const char* read_header(Reader& reader);
  const char* read_annotations(std::string_view map);
  const char* read_properties(Reader& reader);
  const char* read_application_properties(std::string_view map);
  const char* read_value(Reader& reader);
  // A part of the bytes that becomes body.
  const char* add_body(std::string_view part, ContentKind kind);
  void keep_origin();
  void set_expiry();
  size_t offset_of(const char* p) const { return static_cast<size_t>(p - all_.data()); }

  struct Cut {
    size_t at = 0, size = 0;
  };
  static constexpr size_t kCutsMax = 1'000;  // data sections of a message

  std::string_view all_;
  const InboundOptions& options_;
  queue::PutCall& call_;
  InboundAddress& address_;
  MessageBuilder builder_;
  Header header_;
  bool is_fresh_ = true;  // nothing of a body yet
  size_t origin_from_ = SIZE_MAX;
  ContentKind kind_ = ContentKind::kBytes;
  int64_t jms_type_ = -1;
  NodeKind reply_kind_ = NodeKind::kAny;
  std::string_view reply_to_;
  std::optional<int64_t> expires_gmt_ms_;
  Cut first_cut_;
  std::vector<Cut> more_cuts_;
  size_t cut_bytes_ = 0;
  bool has_cut_ = false;
};

const char* InboundReader::read(queue::Body whole, bool has_whole) {
  Reader reader(all_);
  bool has_body = false;
  uint64_t last = 0;
  uint32_t seen = 0;  // sections, by code
  while (!reader.at_end()) {
    const char* from = reader.position();
    uint64_t code = 0;
    if (!reader.read_descriptor(code)) return reader.error();
    if (code < descriptor::kHeader || code > descriptor::kFooter) return "an unknown section";
    // Rhea puts the footer in front of the body; what is ours to write has to be in front of all.
    if (code < last && code < descriptor::kMessageAnnotations) return "sections are out of order";
    bool is_repeated =
        code == last && (code == descriptor::kData || code == descriptor::kAmqpSequence);
    uint32_t bit = 1u << (code - descriptor::kHeader);
    if ((seen & bit) != 0 && !is_repeated) return "a section is there twice";
    bool is_body = code >= descriptor::kData && code <= descriptor::kAmqpValue;
    if (is_body && has_body && !is_repeated) return "bodies of two kinds";
    seen |= bit;
    last = code;
    if (const char* why = read_section(code, reader, from); why != nullptr) return why;
    has_body = has_body || is_body;
  }
  // Proton leaves the body out when there is none to send.
  if (last == 0) return "nothing at all";
  if (!has_body) kind_ = ContentKind::kNone;
  kind_ = kind_of_jms_type(jms_type_, kind_);
  queue::Body body;
  if (!more_cuts_.empty()) {
    std::string joined(all_.substr(first_cut_.at, first_cut_.size));
    for (const Cut& cut : more_cuts_) joined += all_.substr(cut.at, cut.size);
    body = queue::Body::adopt(std::move(joined));
  } else if (has_whole) {
    body = whole.part(first_cut_.at, first_cut_.size);
  } else if (has_cut_) {
    body = queue::Body::copy(all_.substr(first_cut_.at, first_cut_.size));
  }
  builder_.set_content(kind_, std::move(body));
  builder_.set_persistent(header_.durable);
  builder_.set_priority(header_.priority);
  set_expiry();
  if (!reply_to_.empty()) {
    Node node = Broker::parse_address(reply_to_, reply_kind_);
    if (node.kind == NodeKind::kAny) node.kind = NodeKind::kQueue;
    builder_.set_reply_to(node);
  }
  keep_origin();
  builder_.finish();
  return nullptr;
}

const char* InboundReader::read_section(uint64_t code, Reader& reader, const char* from) {
  if (code == descriptor::kHeader) return read_header(reader);
  std::string_view raw;
  if (code == descriptor::kDeliveryAnnotations) {
    return reader.read_raw(raw) && validate(raw) ? nullptr : "delivery-annotations are damaged";
  }
  // Everything from here on is kept.
  if (origin_from_ == SIZE_MAX) origin_from_ = offset_of(from);
  switch (code) {
    case descriptor::kMessageAnnotations:
      if (!reader.read_raw(raw) || !validate(raw)) return "message-annotations are damaged";
      return read_annotations(raw);
    case descriptor::kProperties:
      return read_properties(reader);
    case descriptor::kApplicationProperties:
      if (!reader.read_raw(raw) || !validate(raw)) return "application-properties are damaged";
      return read_application_properties(raw);
    case descriptor::kData: {
      std::string_view bytes;
      if (!reader.read_binary(bytes)) return "a data section is damaged";
      return add_body(bytes, ContentKind::kBytes);
    }
    case descriptor::kAmqpSequence:
      if (!reader.read_raw(raw) || !validate(raw)) return "an amqp-sequence is damaged";
      // Several are one body: the sections with their descriptors.
      return add_body({from, static_cast<size_t>(reader.position() - from)},
                      ContentKind::kAmqpValue);
    case descriptor::kAmqpValue:
      return read_value(reader);
    case descriptor::kFooter:
      return reader.read_raw(raw) && validate(raw) ? nullptr : "the footer is damaged";
    default:
      return "an unknown section";
  }
}

const char* InboundReader::read_header(Reader& reader) {
  return read_fields(reader, header_) ? nullptr : "the header is damaged";
}

const char* InboundReader::read_annotations(std::string_view map) {
  bool is_map = for_each_entry(map, [&](const Value& key, const Value& v) {
    if (!key.is_text()) return;
    if (key.bytes == "x-opt-jms-msg-type") {
      jms_type_ = integer_of(v, -1);
    } else if (key.bytes == "x-opt-jms-dest") {
      address_.to_kind = kind_of_jms_destination(integer_of(v, -1));
    } else if (key.bytes == "x-opt-jms-reply-to") {
      reply_kind_ = kind_of_jms_destination(integer_of(v, -1));
    } else if (key.bytes == "x-opt-to-type" && v.is_text()) {
      address_.to_kind =
          v.bytes.find("topic") != std::string_view::npos ? NodeKind::kTopic : NodeKind::kQueue;
    } else if (key.bytes == "x-opt-reply-type" && v.is_text()) {
      reply_kind_ =
          v.bytes.find("topic") != std::string_view::npos ? NodeKind::kTopic : NodeKind::kQueue;
    } else if (key.bytes == "x-opt-delivery-time") {
      builder_.set_delay_ms(integer_of(v, 0) - options_.now_gmt_ms);
    } else if (key.bytes == "x-opt-delivery-delay") {
      builder_.set_delay_ms(integer_of(v, 0));
    }
  });
  return is_map ? nullptr : "message-annotations are no map";
}

const char* InboundReader::read_properties(Reader& reader) {
  Properties p;
  if (!read_fields(reader, p)) return "the properties are damaged";
  auto read_one = [](std::string_view raw, Value& v) {
    if (raw.empty()) return true;
    Reader one(raw);
    return one.read(v) && (v.type != Type::kString || text::is_valid_utf8(v.bytes));
  };
  auto is_id = [](const Value& v) {
    return v.is_null() || v.type == Type::kString || v.type == Type::kBinary ||
           v.type == Type::kUlong || v.type == Type::kUuid;
  };
  Value id, correlation, to, reply_to;
  if (!read_one(p.message_id, id) || !read_one(p.correlation_id, correlation) ||
      !read_one(p.to, to) || !read_one(p.reply_to, reply_to)) {
    return "the properties are damaged";
  }
  if (!is_id(id) || !is_id(correlation)) return "an identifier is of no type that it may have";
  auto is_address = [](const Value& v) { return v.is_null() || v.type == Type::kString; };
  if (!is_address(to) || !is_address(reply_to)) return "an address is no string";
  auto id_bytes = [](const Value& v) {
    return v.type == Type::kUlong ? std::to_string(v.u) : std::string(v.bytes);
  };
  if (!id.is_null()) builder_.set_message_id(id_bytes(id));
  if (correlation.type == Type::kString || correlation.type == Type::kUlong) {
    builder_.set_correlation_text(id_bytes(correlation));
  } else if (!correlation.is_null()) {
    builder_.set_correlation_bytes(correlation.bytes);
  }
  if (options_.wants_address) address_.to = to.bytes;
  reply_to_ = reply_to.bytes;
  builder_.set_text(property::kType, p.subject);
  builder_.set_text(property::kContentType, p.content_type);
  builder_.set_text(property::kContentEncoding, p.content_encoding);
  builder_.set_text(property::kReplyToGroup, p.reply_to_group_id);
  if (!p.group_id.empty()) {
    builder_.set_group(
        p.group_id,
        static_cast<int32_t>(std::min<uint32_t>(p.group_sequence.value_or(1), INT32_MAX)), false);
  }
  expires_gmt_ms_ = p.absolute_expiry_time;
  return nullptr;
}

const char* InboundReader::read_application_properties(std::string_view map) {
  const char* why = nullptr;
  bool is_map = for_each_entry(map, [&](const Value& key, const Value& v) {
    if (key.type != Type::kString) {
      why = "a name of an application property is no string";
    } else if (v.type >= Type::kList) {
      why = "an application property is no simple value";
    } else if (!builder_.set_user(key.bytes, property_of(v)).ok()) {
      why = "too many or too long application properties";
    }
  });
  return is_map ? why : "application-properties are no map";
}

const char* InboundReader::read_value(Reader& reader) {
  std::string_view raw;
  if (!reader.read_raw(raw) || !validate(raw)) return "the amqp-value is damaged";
  Reader inside(raw);
  Value v;
  if (!inside.read(v)) return "the amqp-value is damaged";
  switch (v.type) {
    case Type::kString:
      return add_body(v.bytes, ContentKind::kText);
    case Type::kBinary:
      return add_body(v.bytes, ContentKind::kBytes);
    case Type::kNull:
      kind_ = ContentKind::kNone;
      return nullptr;
    default:
      return add_body(raw, ContentKind::kAmqpValue);
  }
}

const char* InboundReader::add_body(std::string_view part, ContentKind kind) {
  Cut cut{offset_of(part.data()), part.size()};
  kind_ = kind;
  cut_bytes_ += part.size();
  if (!has_cut_) {
    first_cut_ = cut;
    has_cut_ = true;
    return nullptr;
  }
  if (more_cuts_.size() + 1 == kCutsMax) return "too many sections";
  more_cuts_.push_back(cut);
  return nullptr;
}

// What is around the body, piece by piece.
void InboundReader::keep_origin() {
  std::string origin;
  size_t at = origin_from_, body_at = 0;
  auto keep = [&](size_t end) {
    if (end > at) {
      append_origin_piece(origin, static_cast<uint32_t>(body_at), all_.substr(at, end - at));
    }
  };
  auto pass = [&](const Cut& cut) {
    keep(cut.at);
    at = cut.at + cut.size;
    body_at += cut.size;
  };
  if (has_cut_) pass(first_cut_);
  for (const Cut& cut : more_cuts_) pass(cut);
  keep(all_.size());
  builder_.set_origin(queue::OriginKind::kAmqp10, std::move(origin));
}

// The earlier of both.
void InboundReader::set_expiry() {
  int64_t ms = -1;
  if (header_.ttl.has_value()) ms = *header_.ttl;
  if (expires_gmt_ms_.has_value() && *expires_gmt_ms_ != 0) {
    int64_t left = std::max<int64_t>(*expires_gmt_ms_ - options_.now_gmt_ms, 0);
    if (ms < 0 || left < ms) ms = left;
  }
  builder_.set_time_to_live_ms(ms);
}

}  // namespace

const char* read_message(std::string_view bytes, std::string* owned, const InboundOptions& options,
                         queue::PutCall& call, InboundAddress& address) {
  if (owned == nullptr) {
    return InboundReader(bytes, options, call, address).read(queue::Body(), false);
  }
  queue::Body whole = queue::Body::adopt(std::move(*owned));
  return InboundReader(whole.view(), options, call, address).read(whole, true);
}

}  // namespace millstream::wire::amqp
