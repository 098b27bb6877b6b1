#include "wire/common/content.h"

#include <algorithm>
#include <cstdio>

#include "base/ascii.h"
#include "text/ccsid.h"
#include "text/utf8.h"

namespace millstream::wire {
namespace {

constexpr size_t kIdBytes = 24;
constexpr std::string_view kIdPrefix = "ID:";

std::string_view class_name(ContentKind kind) {
  switch (kind) {
    case ContentKind::kText:
      return "jms_text";
    case ContentKind::kBytes:
      return "jms_bytes";
    case ContentKind::kMap:
      return "jms_map";
    case ContentKind::kStream:
      return "jms_stream";
    case ContentKind::kObject:
      return "jms_object";
    case ContentKind::kNone:
      return "jms_none";
    case ContentKind::kAmqpValue:
      return "";
  }
  return "";
}

bool is_name_start(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$';
}

void put_number(std::string& out, uint32_t n) {
  for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(n >> shift);
}

uint32_t get_number(std::string_view bytes) {
  uint32_t n = 0;
  for (size_t i = 0; i < 4; ++i) n = n << 8 | static_cast<uint8_t>(bytes[i]);
  return n;
}

}  // namespace

void append_origin_piece(std::string& origin, uint32_t body_offset, std::string_view bytes) {
  put_number(origin, body_offset);
  put_number(origin, static_cast<uint32_t>(bytes.size()));
  origin += bytes;
}

bool split_origin(std::string_view origin, std::vector<OriginPiece>& out) {
  constexpr size_t kHeaderBytes = 8;
  uint32_t last = 0;
  while (!origin.empty()) {
    if (origin.size() < kHeaderBytes) return false;
    uint32_t offset = get_number(origin);
    uint32_t size = get_number(origin.substr(4));
    origin.remove_prefix(kHeaderBytes);
    if (size > origin.size() || offset < last) return false;
    last = offset;
    out.push_back({offset, origin.substr(0, size)});
    origin.remove_prefix(size);
  }
  return true;
}

// --- names and identifiers ---

std::string encode_property_name(std::string_view name) {
  if (mqi::check_property_name(name).ok() && name.find('.') == std::string_view::npos) {
    return std::string(name);
  }
  std::string out;
  for (size_t i = 0; i < name.size(); ++i) {
    char c = name[i];
    bool is_digit = c >= '0' && c <= '9';
    if (is_name_start(c) || (is_digit && i > 0)) {
      out += c;
    } else if (c == '-') {
      out += "_HYPHEN_";
    } else if (c == '.') {
      out += "_DOT_";
    } else {
      out += "_x";
      base::append_upper_hex(out, {&c, 1});
      out += '_';
    }
  }
  // A word that no property may be named by: NULL, or one of JMS.
  if (out.empty() || !mqi::check_property_name(out).ok()) out = "_x_" + out;
  return out;
}

std::string MessageView::decode_name(std::string_view name) {
  if (name.find('_') == std::string_view::npos) return std::string(name);
  std::string out;
  if (name.substr(0, 3) == "_x_") name.remove_prefix(3);
  while (!name.empty()) {
    constexpr std::string_view kHyphen = "_HYPHEN_", kDot = "_DOT_";
    if (name.substr(0, kHyphen.size()) == kHyphen) {
      out += '-';
      name.remove_prefix(kHyphen.size());
    } else if (name.substr(0, kDot.size()) == kDot) {
      out += '.';
      name.remove_prefix(kDot.size());
    } else if (name.size() >= 5 && name.substr(0, 2) == "_x" && name[4] == '_' &&
               base::append_bytes_of_hex(out, name.substr(2, 2))) {
      name.remove_prefix(5);
    } else {
      out += name.front();
      name.remove_prefix(1);
    }
  }
  return out;
}

std::string property_text(const mqi::PropertyView& value) {
  using mqi::PropertyType;
  switch (value.type) {
    case PropertyType::kNull:
      return {};
    case PropertyType::kBoolean:
      return value.integer != 0 ? "true" : "false";
    case PropertyType::kInt8:
    case PropertyType::kInt16:
    case PropertyType::kInt32:
    case PropertyType::kInt64:
      return std::to_string(value.integer);
    case PropertyType::kFloat32:
    case PropertyType::kFloat64: {
      char text[32];
      int digits = value.type == PropertyType::kFloat32 ? 9 : 17;
      std::snprintf(text, sizeof text, "%.*g", digits, value.real);
      return text;
    }
    case PropertyType::kBytes: {
      std::string out;
      base::append_hex(out, value.text());
      return out;
    }
    case PropertyType::kString:
      return std::string(value.text());
  }
  return {};
}

std::string identifier_text(std::string_view id) {
  std::string_view shown = queue::strip_nulls(id);
  if (shown.empty()) return {};
  bool is_printable =
      text::is_valid_utf8(shown) && std::none_of(shown.begin(), shown.end(), [](char c) {
        return static_cast<unsigned char>(c) < 0x20 || c == 0x7F;
      });
  if (is_printable) return std::string(shown);
  std::string out(kIdPrefix);
  std::string padded(id);
  if (padded.size() < kIdBytes) padded.resize(kIdBytes, '\0');
  base::append_hex(out, padded);
  return out;
}

std::string identifier_bytes(std::string_view text) {
  if (text.size() == kIdPrefix.size() + 2 * kIdBytes &&
      text.substr(0, kIdPrefix.size()) == kIdPrefix) {
    std::string out;
    if (base::append_bytes_of_hex(out, text.substr(kIdPrefix.size()))) return out;
  }
  return std::string(text);
}

// --- MessageBuilder ---

void MessageBuilder::set_content(ContentKind kind, queue::Body body) {
  call_.body = std::move(body);
  call_.md.encoding = 273;
  call_.md.ccsid = mqi::kCcsidUtf8;
  if (kind == ContentKind::kText) {
    call_.md.format = kFormatString;
  } else if (kind == ContentKind::kBytes || kind == ContentKind::kNone) {
    call_.md.format = "";
  } else {
    call_.md.format = kFormatAmqp;
  }
  // What the format says already needs no class.
  bool is_plain = kind == ContentKind::kBytes || kind == ContentKind::kText;
  if (!is_plain) set_text(property::kMessageClass, class_name(kind));
}

void MessageBuilder::set_priority(int priority) { call_.md.priority = std::clamp(priority, 0, 9); }

void MessageBuilder::set_time_to_live_ms(int64_t ms) {
  if (ms < 0) return;
  int64_t tenths = std::max<int64_t>(1, (ms + 99) / 100);
  call_.md.expiry = static_cast<int32_t>(std::min<int64_t>(tenths, INT32_MAX));
}

void MessageBuilder::set_message_id(std::string_view id) {
  std::string bytes = identifier_bytes(id);
  if (bytes.size() <= kIdBytes) {
    call_.md.message_id = mqi::Id(bytes);
  } else {
    call_.long_ids.message_id = std::move(bytes);
  }
}

void MessageBuilder::set_correlation_bytes(std::string_view id) {
  if (id.size() <= kIdBytes) {
    call_.md.correlation_id = mqi::Id(id);
  } else {
    call_.md.correlation_id = mqi::Id(id.substr(0, kIdBytes));
    call_.long_ids.correlation_id = id;
  }
}

void MessageBuilder::set_correlation_text(std::string_view id) {
  std::string bytes = identifier_bytes(id);
  set_correlation_bytes(bytes);
  if (bytes == id && !id.empty()) set_text(property::kCorrelationId, id);
}

void MessageBuilder::set_group(std::string_view id, int32_t sequence, bool is_last) {
  if (id.empty()) return;
  std::string bytes = identifier_bytes(id);
  call_.md.group_id = mqi::Id(std::string_view(bytes).substr(0, kIdBytes));
  if (bytes.size() > kIdBytes) call_.long_ids.group_id = bytes;
  call_.md.sequence_number = std::max(1, sequence);
  call_.md.flags |= mqi::mf::kInGroup;
  if (is_last) call_.md.flags |= mqi::mf::kLastInGroup;
  if (bytes == id) set_text(property::kGroupId, id);
}

void MessageBuilder::set_reply_to(const Node& node) {
  constexpr size_t kNameBytes = 48;
  if (node.kind == NodeKind::kAny || node.name.empty()) return;
  if (node.is_queue() && node.name.size() <= kNameBytes) {
    call_.md.reply_to_queue = node.name;
  } else {
    set_text(property::kReplyTo, node.address());
  }
}

void MessageBuilder::set_text(std::string_view name, std::string_view text) {
  if (text.empty()) return;
  (void)properties_.set_unchecked_name(name, mqi::PropertyView::string(text));
}

Status MessageBuilder::set_user(std::string_view name, const mqi::PropertyView& value) {
  return properties_.set_unchecked_name(encode_property_name(name), value);
}

void MessageBuilder::set_origin(queue::OriginKind kind, std::string bytes) {
  call_.origin_kind = kind;
  call_.origin = std::move(bytes);
}

void MessageBuilder::finish() { call_.properties = properties_.bytes(); }

// --- MessageView ---

ContentKind MessageView::kind() const {
  std::string_view name = text(property::kMessageClass);
  for (ContentKind kind : {ContentKind::kText, ContentKind::kBytes, ContentKind::kMap,
                           ContentKind::kStream, ContentKind::kObject, ContentKind::kNone}) {
    if (!name.empty() && name == class_name(kind)) return kind;
  }
  std::string_view format = md_.format.view();
  if (format == kFormatAmqp) return ContentKind::kAmqpValue;
  return format == kFormatString ? ContentKind::kText : ContentKind::kBytes;
}

queue::Body MessageView::body() const {
  if (kind() != ContentKind::kText || md_.ccsid == mqi::kCcsidUtf8 || md_.ccsid == 0) {
    return message_.body;
  }
  std::string converted;
  bool is_converted = text::to_utf8(message_.body.view(), md_.ccsid, converted).ok();
  return is_converted ? queue::Body::adopt(std::move(converted)) : message_.body;
}

int64_t MessageView::time_to_live_ms() const {
  return md_.expiry < 0 ? -1 : static_cast<int64_t>(md_.expiry) * 100;
}

int64_t MessageView::put_gmt_ms() const {
  return mqi::parse_put_time(md_.put_date.padded(), md_.put_time.padded()) / 1000;
}

std::string MessageView::message_id() const { return identifier_text(message_.message_id()); }

std::string_view MessageView::correlation_bytes() const {
  return queue::strip_nulls(message_.correlation_id());
}

std::string MessageView::correlation_text() const {
  std::string_view named = text(property::kCorrelationId);
  return named.empty() ? identifier_text(message_.correlation_id()) : std::string(named);
}

std::string MessageView::group_id() const {
  std::string_view named = text(property::kGroupId);
  return named.empty() ? identifier_text(message_.group_id()) : std::string(named);
}

Node MessageView::reply_to() const {
  std::string_view named = text(property::kReplyTo);
  if (!named.empty()) return Broker::parse_address(named, NodeKind::kAny);
  std::string_view queue = md_.reply_to_queue.view();
  return queue.empty() ? Node() : Node{NodeKind::kQueue, std::string(queue)};
}

std::string_view MessageView::text(std::string_view name) const {
  mqi::PropertyView value = properties_.find(name);
  return value.is_string() ? value.text() : std::string_view();
}

}  // namespace millstream::wire
