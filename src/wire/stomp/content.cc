#include "wire/stomp/content.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "text/utf8.h"
#include "wire/stomp/errors_gen.h"

namespace millstream::wire::stomp {
namespace {

// What says that a body is text, which is UTF-8 then.
constexpr std::string_view kTextType = "text/plain;charset=utf-8";
// Of a SEND: what belongs to this one transfer and not to the message.
constexpr std::string_view kTransferHeaders[] = {
    "receipt", "transaction", "content-length", "message-id", "subscription", "ack", "redelivered"};
// What has a field in the message model, so that it is no property of the application.
constexpr std::string_view kModelHeaders[] = {
    "destination", "content-type", "content-encoding", "persistent", "priority",
    "expires",     "expiration",   "correlation-id",   "reply-to",   "type",
    "JMSXGroupID", "JMSXGroupSeq", "timestamp",        "retain",     "AMQ_SCHEDULED_DELAY"};

template <size_t N>
bool is_one_of(const std::string_view (&names)[N], std::string_view name) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

std::optional<int64_t> number(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return {};
  return value;
}

ContentKind kind_of(const Frame& frame) {
  const std::string_view type = frame.get("content-type");
  if (type.empty()) return frame.has_content_length ? ContentKind::kBytes : ContentKind::kText;
  const bool is_text = type.starts_with("text/") || type.find("json") != std::string_view::npos ||
                       type.find("xml") != std::string_view::npos;
  return is_text ? ContentKind::kText : ContentKind::kBytes;
}

// Each header is a line of "name NUL value NUL"; neither can have a NUL in a frame.
std::string origin_of(const Frame& frame) {
  std::string out;
  for (const Header& header : frame.headers) {
    if (is_one_of(kTransferHeaders, header.first)) continue;
    out += header.first;
    out += '\0';
    out += header.second;
    out += '\0';
  }
  return out;
}

template <typename F>
void for_each_origin_header(std::string_view origin, F&& f) {
  auto take = [&] {
    const size_t end = std::min(origin.find('\0'), origin.size());
    std::string_view text = origin.substr(0, end);
    origin.remove_prefix(std::min(origin.size(), end + 1));
    return text;
  };
  while (!origin.empty()) {
    std::string_view name = take();
    f(name, take());
  }
}

Status bad_number(std::string_view name, std::string_view value) {
  return base::make_error(errors::kBadHeader, {std::string(name), std::string(value)});
}

Status set_times(const Frame& frame, int64_t now_gmt_ms, MessageBuilder& builder) {
  for (std::string_view name : {"expires", "expiration", "AMQ_SCHEDULED_DELAY", "priority"}) {
    const Header* header = frame.find(name);
    if (header == nullptr || header->second.empty()) continue;
    const std::optional<int64_t> value = number(header->second);
    if (!value) return bad_number(name, header->second);
    if (name == "expires") {  // when; 0 is never
      if (*value > 0) builder.set_time_to_live_ms(std::max<int64_t>(0, *value - now_gmt_ms));
    } else if (name == "expiration") {  // after how long
      builder.set_time_to_live_ms(*value);
    } else if (name == "priority") {
      builder.set_priority(static_cast<int>(std::clamp<int64_t>(*value, 0, 9)));
    } else {
      builder.set_delay_ms(*value);
    }
  }
  return {};
}

}  // namespace

Status build_message(const Frame& frame, int64_t now_gmt_ms, const ResolveReply& resolve,
                     queue::PutCall& call) {
  MessageBuilder builder(call);
  ContentKind kind = kind_of(frame);
  const bool is_text = kind == ContentKind::kText && text::is_valid_utf8(frame.body.view());
  builder.set_content(is_text ? ContentKind::kText : ContentKind::kBytes, frame.body);
  if (const Header* persistent = frame.find("persistent")) {
    builder.set_persistent(persistent->second == "true" || persistent->second == "True");
  }
  MS_TRY(set_times(frame, now_gmt_ms, builder));
  builder.set_text(property::kContentType, frame.get("content-type"));
  builder.set_text(property::kContentEncoding, frame.get("content-encoding"));
  builder.set_text(property::kType, frame.get("type"));
  if (std::string_view id = frame.get("correlation-id"); !id.empty()) {
    builder.set_correlation_text(id);
  }
  if (std::string_view address = frame.get("reply-to"); !address.empty()) {
    builder.set_reply_to(resolve(address));
  }
  if (std::string_view group = frame.get("JMSXGroupID"); !group.empty()) {
    const int64_t sequence = number(frame.get("JMSXGroupSeq")).value_or(1);
    builder.set_group(group, static_cast<int32_t>(std::clamp<int64_t>(sequence, 1, 999'999'999)),
                      false);
  }
  for (const Header& header : frame.headers) {
    if (is_one_of(kTransferHeaders, header.first) || is_one_of(kModelHeaders, header.first)) {
      continue;
    }
    if (!text::is_valid_utf8(header.first) || !text::is_valid_utf8(header.second)) continue;
    MS_TRY(builder.set_user(header.first, mqi::PropertyView::string(header.second)));
  }
  builder.set_origin(queue::OriginKind::kStomp, origin_of(frame));
  builder.finish();
  return {};
}

void write_message_headers(const MessageView& view, std::string_view destination,
                           int64_t now_gmt_ms, FrameWriter& writer) {
  const queue::Message& message = view.message();
  if (message.origin_kind == queue::OriginKind::kStomp) {
    for_each_origin_header(message.origin, [&](std::string_view name, std::string_view value) {
      // A temporary destination has a name that others know, too.
      const bool is_temporary = name == "reply-to" && value.starts_with("/temp-");
      writer.add(name, is_temporary ? view.reply_to().address() : std::string(value));
    });
    return;
  }
  auto add = [&](std::string_view name, std::string_view value) {
    if (!value.empty()) writer.add(name, value);
  };
  add("destination", destination);
  const std::string_view type = view.text(property::kContentType);
  const bool is_text = type.empty() && view.kind() == ContentKind::kText;
  add("content-type", is_text ? kTextType : type);
  add("content-encoding", view.text(property::kContentEncoding));
  writer.add("persistent", view.is_persistent() ? "true" : "false");
  writer.add("priority", static_cast<uint64_t>(std::clamp(view.priority(), 0, 9)));
  if (const int64_t ms = view.time_to_live_ms(); ms >= 0) {
    writer.add("expires", static_cast<uint64_t>(now_gmt_ms + ms));
  }
  if (const int64_t ms = view.put_gmt_ms(); ms > 0) {
    writer.add("timestamp", static_cast<uint64_t>(ms));
  }
  if (view.has_correlation_id()) add("correlation-id", view.correlation_text());
  add("reply-to", view.reply_to().address());
  add("type", view.text(property::kType));
  if (const std::string group = view.group_id(); !group.empty()) {
    add("JMSXGroupID", group);
    writer.add("JMSXGroupSeq", static_cast<uint64_t>(std::max(1, view.group_sequence())));
  }
  view.for_each_user([&](std::string_view name, const mqi::PropertyView& value) {
    if (!is_one_of(kTransferHeaders, name) && !is_one_of(kModelHeaders, name)) {
      writer.add(name, property_text(value));
    }
  });
}

}  // namespace millstream::wire::stomp
