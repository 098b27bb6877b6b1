#include "wire/mqtt/content.h"

#include <algorithm>

#include "text/utf8.h"
#include "wire/common/content.h"

namespace millstream::wire::mqtt {
namespace {

using P = PropertyId;

constexpr char kOriginVersion = 1;
constexpr uint8_t kOriginRetained = 4;
constexpr uint8_t kOriginV5 = 8;

// Everything that is not the connection's or the queue manager's to say.
void append_kept_properties(const Properties& from, std::string& out) {
  PropertyWriter to(out);
  for (P id : {P::kPayloadFormat}) {
    if (from.has(id)) to.number(id, from.number(id));
  }
  for (P id : {P::kContentType, P::kResponseTopic, P::kCorrelationData}) {
    if (from.has(id)) to.text(id, from.text(id));
  }
  from.for_each_user([&](const PropertyPair& pair) { to.pair(pair.name, pair.value); });
}

void fill_properties(const Properties& from, MessageBuilder& to) {
  if (from.has(P::kMessageExpiry)) {
    to.set_time_to_live_ms(int64_t{from.number(P::kMessageExpiry)} * 1000);
  }
  if (from.has(P::kContentType)) to.set_text(property::kContentType, from.text(P::kContentType));
  if (from.has(P::kResponseTopic)) {
    to.set_reply_to(Broker::parse_address(from.text(P::kResponseTopic), NodeKind::kTopic));
  }
  if (from.has(P::kCorrelationData)) {
    // As text it stays beside the correlation identifier, which a subscription has its own of.
    const std::string_view data = from.text(P::kCorrelationData);
    if (is_mqtt_text(data)) {
      to.set_correlation_text(data);
    } else {
      to.set_correlation_bytes(data);
    }
  }
  // Other protocols have one value a name; the last one counts there.
  from.for_each_user([&](const PropertyPair& pair) {
    (void)to.set_user(pair.name, mqi::PropertyView::string(pair.value));
  });
}

std::string_view limited_text(std::string_view text) { return text.substr(0, kTextBytesMax); }

// Of a message that no MQTT client has published.
void project_other(const MessageView& view, Projection& out, bool wants_properties) {
  out.qos = view.is_persistent() ? 2 : 0;
  out.payload = view.body();
  if (!wants_properties) return;
  PropertyWriter to(out.properties);
  bool is_text = view.kind() == ContentKind::kText && text::is_valid_utf8(out.payload.view());
  if (is_text) to.number(P::kPayloadFormat, 1);
  std::string_view type = view.text(property::kContentType);
  if (!type.empty() && is_mqtt_text(type)) to.text(P::kContentType, limited_text(type));
  Node reply = view.reply_to();
  if (reply.kind != NodeKind::kAny) {
    std::string topic = reply.is_topic() ? reply.name : reply.address();
    if (topic.size() <= kTextBytesMax && is_mqtt_text(topic)) to.text(P::kResponseTopic, topic);
  }
  std::string_view correlation = view.text(property::kCorrelationId);
  if (correlation.empty()) correlation = view.correlation_bytes();
  bool is_of_publication = !view.topic().empty() && view.text(property::kCorrelationId).empty();
  if (!correlation.empty() && !is_of_publication) {
    to.text(P::kCorrelationData, limited_text(correlation));
  }
  size_t count = 0;
  view.for_each_user([&](std::string_view name, const mqi::PropertyView& value) {
    std::string text = property_text(value);
    bool fits = name.size() <= kTextBytesMax && text.size() <= kTextBytesMax;
    if (!fits || !is_mqtt_text(name) || !is_mqtt_text(text) || ++count > kUserPropertiesMax) return;
    to.pair(name, text);
  });
}

}  // namespace

bool fill_put(const Publication& publication, queue::PutCall& call) {
  const Properties* properties = publication.has_properties ? publication.properties : nullptr;
  bool is_text = properties != nullptr && properties->number(P::kPayloadFormat) == 1;
  if (is_text && !text::is_valid_utf8(publication.payload.view())) return false;
  MessageBuilder to(call);
  to.set_content(is_text ? ContentKind::kText : ContentKind::kBytes, publication.payload);
  to.set_persistent(publication.qos > 0 || publication.is_retained);
  std::string origin{
      kOriginVersion,
      static_cast<char>(publication.qos | (publication.is_retained ? kOriginRetained : 0) |
                        (publication.has_properties ? kOriginV5 : 0))};
  if (properties != nullptr && !properties->empty()) {
    fill_properties(*properties, to);
    append_kept_properties(*properties, origin);
    to.finish();
  }
  to.set_origin(queue::OriginKind::kMqtt, std::move(origin));
  return true;
}

uint8_t published_qos(const queue::Message& message) {
  bool is_ours = message.origin_kind == queue::OriginKind::kMqtt && message.origin.size() >= 2 &&
                 message.origin[0] == kOriginVersion;
  if (!is_ours) return message.is_persistent() ? 2 : 0;
  return static_cast<uint8_t>(message.origin[1]) & 3;
}

bool is_published_retained(const queue::Message& message) {
  return message.origin_kind == queue::OriginKind::kMqtt && message.origin.size() >= 2 &&
         (static_cast<uint8_t>(message.origin[1]) & kOriginRetained) != 0;
}

Projection project(const queue::Message& message, const mqi::MessageDescriptor& md,
                   int64_t now_gmt_ms, bool wants_properties) {
  Projection out;
  bool is_ours = message.origin_kind == queue::OriginKind::kMqtt && message.origin.size() >= 2 &&
                 message.origin[0] == kOriginVersion;
  if (is_ours) {
    uint8_t flags = static_cast<uint8_t>(message.origin[1]);
    out.qos = flags & 3;
    out.was_retained = (flags & kOriginRetained) != 0;
    out.payload = message.body;
    if (wants_properties) out.properties = std::string_view(message.origin).substr(2);
  } else {
    project_other(MessageView(message, md), out, wants_properties);
  }
  if (wants_properties && message.expires_gmt_ms != 0) {
    int64_t left_s = std::max<int64_t>(1, (message.expires_gmt_ms - now_gmt_ms + 999) / 1000);
    PropertyWriter(out.properties)
        .number(P::kMessageExpiry, static_cast<uint32_t>(std::min<int64_t>(left_s, UINT32_MAX)));
  }
  return out;
}

}  // namespace millstream::wire::mqtt
