#include "queue/core/message_codec.h"

#include "queue/core/errors_gen.h"

namespace millstream::queue {
namespace {

enum HeaderPart : uint8_t {
  kPartTimes = 1,
  kPartProperties = 2,
  kPartOrigin = 4,
  kPartLongIds = 8,
};
constexpr uint8_t kPartsKnown = 15;

void codec_put_u32(std::string& out, uint32_t v) {
  out.append(reinterpret_cast<const char*>(&v), sizeof v);
}
void codec_put_i64(std::string& out, int64_t v) {
  out.append(reinterpret_cast<const char*>(&v), sizeof v);
}
void codec_put_text(std::string& out, std::string_view text) {
  codec_put_u32(out, static_cast<uint32_t>(text.size()));
  out.append(text);
}

class HeaderReader {
 public:
  explicit HeaderReader(std::string_view bytes) : bytes_(bytes) {}
  template <typename T>
  bool number(T& out) {
    if (bytes_.size() < sizeof out) return false;
    std::memcpy(&out, bytes_.data(), sizeof out);
    bytes_.remove_prefix(sizeof out);
    return true;
  }
  bool take(size_t size, std::string_view& out) {
    if (bytes_.size() < size) return false;
    out = bytes_.substr(0, size);
    bytes_.remove_prefix(size);
    return true;
  }
  bool text(std::string& out) {
    uint32_t size;
    std::string_view view;
    if (!number(size) || !take(size, view)) return false;
    out = view;
    return true;
  }
  bool at_end() const { return bytes_.empty(); }

 private:
  std::string_view bytes_;
};

bool codec_read_parts(HeaderReader& reader, uint8_t parts, Message& message) {
  if ((parts & kPartTimes) != 0 &&
      (!reader.number(message.expires_gmt_ms) || !reader.number(message.due_gmt_ms))) {
    return false;
  }
  if ((parts & kPartProperties) != 0 && !reader.text(message.properties)) return false;
  if ((parts & kPartOrigin) != 0) {
    uint8_t kind;
    if (!reader.number(kind) || !reader.text(message.origin)) return false;
    message.origin_kind = static_cast<OriginKind>(kind);
  }
  if ((parts & kPartLongIds) != 0) {
    message.long_ids = std::make_unique<LongIds>();
    LongIds& ids = *message.long_ids;
    if (!reader.text(ids.message_id) || !reader.text(ids.correlation_id) ||
        !reader.text(ids.group_id)) {
      return false;
    }
  }
  return reader.at_end();
}

}  // namespace

void encode_message_header(const Message& message, std::string& out) {
  uint8_t parts = 0;
  if (message.expires_gmt_ms != 0 || message.due_gmt_ms != 0) parts |= kPartTimes;
  if (!message.properties.empty()) parts |= kPartProperties;
  if (message.origin_kind != OriginKind::kNone || !message.origin.empty()) parts |= kPartOrigin;
  if (message.long_ids && !message.long_ids->empty()) parts |= kPartLongIds;
  out.reserve(out.size() + 2 + mqi::kMqmdBytes + message.properties.size() + message.origin.size() +
              64);
  out += static_cast<char>(kMessageHeaderVersion);
  out += static_cast<char>(parts);
  mqi::encode_message_descriptor(message.md, out);
  if ((parts & kPartTimes) != 0) {
    codec_put_i64(out, message.expires_gmt_ms);
    codec_put_i64(out, message.due_gmt_ms);
  }
  if ((parts & kPartProperties) != 0) codec_put_text(out, message.properties);
  if ((parts & kPartOrigin) != 0) {
    out += static_cast<char>(message.origin_kind);
    codec_put_text(out, message.origin);
  }
  if ((parts & kPartLongIds) != 0) {
    codec_put_text(out, message.long_ids->message_id);
    codec_put_text(out, message.long_ids->correlation_id);
    codec_put_text(out, message.long_ids->group_id);
  }
}

Result<MessageRef> decode_message(std::string_view header, std::string body) {
  HeaderReader reader(header);
  uint8_t version = 0;
  uint8_t parts = 0;
  std::string_view md;
  if (!reader.number(version) || !reader.number(parts)) {
    return base::make_error(core::errors::kMessageHeader, {"it is too short"});
  }
  if (version != kMessageHeaderVersion || (parts & ~kPartsKnown) != 0) {
    return base::make_error(core::errors::kMessageHeader,
                            {"its version is newer than this program"});
  }
  if (!reader.take(mqi::kMqmdBytes, md)) {
    return base::make_error(core::errors::kMessageHeader, {"its descriptor is too short"});
  }
  MessageRef message = Message::create();
  message->md = MS_TRY(mqi::decode_message_descriptor(md));
  if (!codec_read_parts(reader, parts, *message)) {
    return base::make_error(core::errors::kMessageHeader, {"its parts do not add up"});
  }
  message->body = Body::adopt(std::move(body));
  return message;
}

}  // namespace millstream::queue
