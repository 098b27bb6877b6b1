#include "admin/mq/rest_message.h"

#include <charconv>

#include "admin/errors_gen.h"
#include "admin/mq/rest_error.h"
#include "admin/mq/rest_properties.h"
#include "base/ascii.h"
#include "base/clock.h"
#include "http/headers.h"
#include "mqi/property_names.h"
#include "mqi/rfh2.h"
#include "queue/objects/object_name.h"
#include "text/ccsid.h"
#include "text/utf8.h"

namespace millstream::admin {
namespace {

constexpr std::string_view kIdPrefix = "ID:";
constexpr std::string_view kFormatString = "MQSTR";
constexpr std::string_view kFormatRfh2 = "MQHRF2";
constexpr size_t kIdDigits = 48;
constexpr size_t kTextIdBytesMax = 1'000;  // of an application's correlation identifier
constexpr int kTopicPriority = 4;          // of a publication that has none
constexpr std::string_view kMediaTypes[] = {"text/plain", "text/html", "text/xml",
                                            "application/json", "application/xml"};

AdminReply bad_header(std::string_view name, std::string_view value, std::string_view why) {
  RestError error;
  error.status = 400;
  error.id = mqwb::kRequestHeader;
  error.message = "The header " + std::string(name) + " cannot be '" + std::string(value) + "'.";
  error.explanation = std::string(why) + ".";
  return rest_error(error);
}

AdminReply bad_query(std::string_view name, std::string_view value, std::string_view why) {
  return rest_error(400, base::make_error(errors::kRestQuery, {name, value, why}).error());
}

// "" when it is not there; `refusal` when it is there twice.
std::string_view single_header(const AdminRequest& request, std::string_view name,
                               std::optional<AdminReply>& refusal) {
  if (request.headers.count(name) > 1 && !refusal) {
    refusal = bad_header(name, request.headers.get(name), "It may come once");
  }
  return request.headers.get(name);
}

bool read_id(std::string_view digits, mqi::Id& id) {
  if (digits.size() != kIdDigits) return false;
  for (size_t i = 0; i < kIdDigits; i += 2) {
    unsigned byte = 0;
    const auto [end, error] = std::from_chars(&digits[i], &digits[i] + 2, byte, 16);
    if (error != std::errc() || end != &digits[i] + 2) return false;
    id.data()[i / 2] = static_cast<char>(byte);
  }
  return true;
}

// An identifier of the descriptor; false with `why` when it is none.
bool read_versioned_id(std::string_view text, RestVersion version, mqi::Id& id, std::string& why) {
  if (version == RestVersion::kV3) {
    if (text.starts_with(kIdPrefix) && read_id(text.substr(kIdPrefix.size()), id)) return true;
    why = "It is ID: and 48 hexadecimal digits";
    return false;
  }
  if (read_id(text, id)) return true;
  why = "It is 48 hexadecimal digits";
  return false;
}

bool is_number(std::string_view text, int64_t lowest, int64_t highest, int64_t& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && value >= lowest &&
         value <= highest;
}

std::optional<AdminReply> check_body(const AdminRequest& request) {
  const http::ContentType type = http::parse_content_type(request.headers.get("Content-Type"));
  bool is_known = false;
  for (std::string_view known : kMediaTypes) {
    is_known = is_known || http::equals_ignore_case(known, type.media_type);
  }
  RestError error;
  error.status = 415;
  if (!is_known) {
    error.id = mqwb::kMediaType;
    error.message = "The media type is not supported for this request.";
    error.explanation =
        "A message is text: text/plain, text/html, text/xml, application/json or application/xml.";
    return rest_error(error);
  }
  if (!type.charset.empty() && !http::equals_ignore_case(type.charset, "utf-8")) {
    error.id = mqwb::kCharset;
    error.message =
        "The character set " + std::string(type.charset) + " is not accepted for this request.";
    error.explanation = "A message comes in UTF-8.";
    return rest_error(error);
  }
  if (request.body.size() > kRestMessageBytesMax) {
    return rest_error(
        413, base::make_error(errors::kRestTooLong, {static_cast<int64_t>(kRestMessageBytesMax)})
                 .error());
  }
  if (const size_t at = text::find_invalid_utf8(request.body); at != std::string_view::npos) {
    error.status = 400;
    error.id = mqwb::kNoMessage;
    error.message = "The message cannot be made.";
    error.explanation = "Its body is not UTF-8 at byte " + std::to_string(at) + ".";
    return rest_error(error);
  }
  return {};
}

std::optional<AdminReply> read_expiry(std::string_view name, std::string_view value,
                                      mqi::MessageDescriptor& md) {
  if (value.empty() || value == "unlimited") return {};
  int64_t ms = 0;
  if (!is_number(value, 0, kRestExpiryMsMax, ms)) {
    return bad_header(name, value, "It is 'unlimited' or milliseconds from 0 to 99999999900");
  }
  // As in JMS, 0 is unlimited.
  if (ms > 0) md.expiry = static_cast<int32_t>((ms + 99) / 100);
  return {};
}

std::optional<AdminReply> read_reply_to(std::string_view name, std::string_view value,
                                        mqi::MessageDescriptor& md) {
  if (value.empty()) return {};
  const size_t at = value.find('@');
  const std::string_view queue = value.substr(0, at);
  const std::string_view manager =
      at == std::string_view::npos ? std::string_view() : value.substr(at + 1);
  const bool is_good = queue::objects::is_object_name(queue) &&
                       (at == std::string_view::npos || queue::objects::is_object_name(manager));
  if (!is_good) return bad_header(name, value, "It is QUEUE or QUEUE@QMGR");
  md.reply_to_queue = queue;
  md.reply_to_queue_manager = manager;
  md.message_type = mqi::mt::kRequest;
  return {};
}

std::optional<AdminReply> read_priority(std::string_view name, std::string_view value,
                                        bool is_publication, mqi::MessageDescriptor& md) {
  if (value.empty() && is_publication) md.priority = kTopicPriority;
  if (value.empty() || value == "asDestination") return {};
  int64_t priority = 0;
  if (!is_number(value, 0, mqi::kPriorityMax, priority)) {
    return bad_header(name, value, "It is 'asDestination' or a number from 0 to 9");
  }
  md.priority = static_cast<int32_t>(priority);
  return {};
}

// What makes it a JMS TextMessage, with the fields that JMS applications look for.
std::optional<AdminReply> make_jms_message(const AdminRequest& request,
                                           std::string_view correlation_text,
                                           std::string_view destination, queue::PutCall& put) {
  constexpr std::string_view kHeader = "ibm-mq-usr";
  mqi::PropertyList user;
  for (size_t i = request.headers.find_index(kHeader); i != http::Headers::kNone;
       i = request.headers.find_index(kHeader, i + 1)) {
    std::string problem;
    if (!text::is_valid_utf8(request.headers.value(i))) problem = "it is not UTF-8";
    if (problem.empty()) read_user_properties(request.headers.value(i), user, problem);
    if (!problem.empty()) {
      return bad_header(kHeader, request.headers.value(i), "It cannot be read: " + problem);
    }
  }
  if (user.empty() && correlation_text.empty()) return {};
  mqi::PropertyList all;
  using mqi::PropertyView;
  const int64_t now_ms = base::system_clock().wall_gmt_micros() / 1000;
  Status status = all.set_unchecked_name("mcd.Msd", PropertyView::string("jms_text"));
  if (status.ok()) status = all.set_unchecked_name("jms.Dst", PropertyView::string(destination));
  if (status.ok()) status = all.set_unchecked_name("jms.Tms", PropertyView::int64(now_ms));
  if (status.ok()) {
    status = all.set_unchecked_name("jms.Dlv", PropertyView::int32(put.md.persistence + 1));
  }
  if (status.ok() && !correlation_text.empty()) {
    status = all.set_unchecked_name("jms.Cid", PropertyView::string(correlation_text));
  }
  user.view().for_each([&](std::string_view name, const PropertyView& value) {
    if (status.ok()) status = all.set(name, value);
  });
  if (!status.ok()) return bad_header(kHeader, "", "It cannot be kept: " + status.error().text);
  put.properties = all.bytes();
  return {};
}

AdminReply not_text(std::string why, int32_t reason) {
  RestError error;
  error.status = 501;
  error.id = mqwb::kMessaging;
  error.type = "messaging";
  error.message = "The message cannot be told as text, and stays on the queue.";
  error.explanation = std::move(why);
  error.action = "Take it by another way, or leave it.";
  error.completion = mqi::cc::kFailed;
  error.reason = reason;
  return rest_error(error);
}

struct TextMessage {
  std::string text;
  mqi::PropertyList from_header;  // keeps what `properties` shows
  std::string_view properties;
};

std::optional<AdminReply> read_text(const queue::GetCall& call, TextMessage& out) {
  std::string_view body = call.body.view();
  std::string format(call.md.format.view());
  int32_t ccsid = call.md.ccsid;
  out.properties = call.message->properties;
  if (format == kFormatRfh2) {
    Result<mqi::Rfh2Split> split = mqi::split_rfh2(body, static_cast<uint32_t>(ccsid));
    if (!split.ok()) {
      return not_text("Its MQRFH2 cannot be read: " + split.error().text,
                      mqi::reason::kFormatError);
    }
    body.remove_prefix(std::min(split.value().size, body.size()));
    format = mqi::FixedText<8>(split.value().format).view();
    if (split.value().ccsid > 0) ccsid = split.value().ccsid;
    if (out.properties.empty()) {
      out.from_header = std::move(split.value().properties);
      out.properties = out.from_header.bytes();
    }
  }
  if (format != kFormatString) {
    return not_text("Its format is '" + format + "', not MQSTR.", mqi::reason::kFormatError);
  }
  const mqi::PropertyView kind =
      out.properties.empty() ? mqi::PropertyView()
                             : mqi::PropertyListView::trusted(out.properties).find("mcd.Msd");
  if (kind.is_string() && kind.text() != "jms_text" && kind.text() != "jms_none") {
    return not_text("It is a JMS message of type " + std::string(kind.text()) + ".",
                    mqi::reason::kFormatError);
  }
  if (ccsid <= 0) ccsid = mqi::kCcsidUtf8;
  Status status = text::to_utf8(body, ccsid, out.text);
  if (!status.ok()) return not_text(status.error().text, mqi::reason::kNotConverted);
  return {};
}

}  // namespace

std::optional<AdminReply> read_rest_message(const AdminRequest& request, RestVersion version,
                                            bool is_publication, std::string_view destination,
                                            queue::PutCall& put) {
  if (std::optional<AdminReply> refusal = check_body(request)) return refusal;
  std::optional<AdminReply> refusal;
  mqi::MessageDescriptor& md = put.md;
  md.ccsid = mqi::kCcsidUtf8;
  md.format = kFormatString;
  constexpr std::string_view kPersistence = "ibm-mq-md-persistence";
  const std::string_view persistence = single_header(request, kPersistence, refusal);
  if (!persistence.empty() && persistence != "persistent" && persistence != "nonPersistent") {
    refusal = bad_header(kPersistence, persistence, "It is 'persistent' or 'nonPersistent'");
  }
  md.persistence = persistence == "persistent" ? mqi::kPersistent : mqi::kNotPersistent;
  constexpr std::string_view kExpiry = "ibm-mq-md-expiry";
  const std::string_view expiry = single_header(request, kExpiry, refusal);
  if (!refusal) refusal = read_expiry(kExpiry, expiry, md);
  constexpr std::string_view kReplyTo = "ibm-mq-md-replyTo";
  const std::string_view reply_to = single_header(request, kReplyTo, refusal);
  if (!refusal) refusal = read_reply_to(kReplyTo, reply_to, md);
  constexpr std::string_view kCorrelation = "ibm-mq-md-correlationId";
  const std::string_view correlation = single_header(request, kCorrelation, refusal);
  std::string why;
  std::string_view correlation_text;
  if (version == RestVersion::kV3 && !correlation.starts_with(kIdPrefix)) {
    correlation_text = correlation;
    md.correlation_id = correlation;  // its first 24 bytes, as JMS does
    if (correlation.size() > kTextIdBytesMax || !text::is_valid_utf8(correlation)) {
      why = "It is up to 1000 bytes of UTF-8";
    }
  } else if (!correlation.empty()) {
    read_versioned_id(correlation, version, md.correlation_id, why);
  }
  if (!refusal && !why.empty()) refusal = bad_header(kCorrelation, correlation, why);
  if (version == RestVersion::kV3) {
    constexpr std::string_view kPriority = "ibm-mq-md-priority";
    const std::string_view priority = single_header(request, kPriority, refusal);
    if (!refusal) refusal = read_priority(kPriority, priority, is_publication, md);
    if (!refusal) refusal = make_jms_message(request, correlation_text, destination, put);
  } else if (is_publication) {
    md.priority = kTopicPriority;
  }
  put.body = queue::Body::copy(request.body);
  return refusal;
}

std::optional<AdminReply> read_rest_match(const AdminRequest& request, RestVersion version,
                                          RestMatch& match) {
  std::string why;
  if (const std::string* text = request.find_query("messageId")) {
    if (!read_versioned_id(*text, version, match.message_id, why)) {
      return bad_query("messageId", *text, why);
    }
    match.match_options |= mqi::mo::kMessageId;
  }
  const std::string* text = request.find_query("correlationId");
  if (!text) return {};
  match.match_options |= mqi::mo::kCorrelationId;
  if (version != RestVersion::kV3 || text->starts_with(kIdPrefix)) {
    if (!read_versioned_id(*text, version, match.correlation_id, why)) {
      return bad_query("correlationId", *text, why);
    }
    return {};
  }
  if (text->empty() || text->size() > kTextIdBytesMax || !text::is_valid_utf8(*text)) {
    return bad_query("correlationId", *text, "It is up to 1000 bytes of UTF-8");
  }
  match.correlation_id = std::string_view(*text);
  match.selector = "JMSCorrelationID = '";
  for (char c : *text) {
    if (c == '\'') match.selector += '\'';
    match.selector += c;
  }
  match.selector += '\'';
  return {};
}

std::optional<AdminReply> read_rest_number(const AdminRequest& request, std::string_view name,
                                           int64_t lowest, int64_t highest, int64_t& value) {
  const std::string* text = request.find_query(name);
  if (!text || is_number(*text, lowest, highest, value)) return {};
  return bad_query(
      name, *text,
      "It is a number from " + std::to_string(lowest) + " to " + std::to_string(highest));
}

std::string rest_id(const mqi::Id& id, RestVersion version) {
  std::string out;
  if (version == RestVersion::kV3) out = kIdPrefix;
  base::append_hex(out, id.view());
  return out;
}

std::string rest_correlation_id(const mqi::MessageDescriptor& md, std::string_view properties,
                                RestVersion version) {
  if (version == RestVersion::kV3 && !properties.empty()) {
    const mqi::PropertyView text = mqi::PropertyListView::trusted(properties).find("jms.Cid");
    if (text.is_string() && !text.text().empty()) return std::string(text.text());
  }
  return md.correlation_id.is_null() ? std::string() : rest_id(md.correlation_id, version);
}

AdminReply rest_message_reply(const queue::GetCall& call, RestVersion version, bool& is_message) {
  is_message = false;
  TextMessage message;
  if (std::optional<AdminReply> refusal = read_text(call, message)) return std::move(*refusal);
  const mqi::MessageDescriptor& md = call.md;
  AdminReply reply = text_reply(std::move(message.text));
  auto add = [&](const char* name, std::string value) {
    reply.headers.emplace_back(name, std::move(value));
  };
  add("ibm-mq-md-messageId", rest_id(md.message_id, version));
  const std::string correlation = rest_correlation_id(md, message.properties, version);
  if (!correlation.empty()) add("ibm-mq-md-correlationId", correlation);
  add("ibm-mq-md-expiry",
      md.expiry < 0 ? "unlimited" : std::to_string(static_cast<int64_t>(md.expiry) * 100));
  add("ibm-mq-md-persistence", md.persistence == mqi::kPersistent ? "persistent" : "nonPersistent");
  if (!md.reply_to_queue.is_blank()) {
    std::string reply_to(md.reply_to_queue.view());
    if (!md.reply_to_queue_manager.is_blank()) {
      reply_to += "@" + std::string(md.reply_to_queue_manager.view());
    }
    add("ibm-mq-md-replyTo", std::move(reply_to));
  }
  if (version == RestVersion::kV3) {
    add("ibm-mq-md-priority", std::to_string(md.priority));
    if (!message.properties.empty()) {
      mqi::PropertyListView::trusted(message.properties)
          .for_each([&](std::string_view name, const mqi::PropertyView& value) {
            if (mqi::folder_of_property(name) != "usr") return;
            add("ibm-mq-usr", write_user_property(name, value));
          });
    }
  }
  for (const auto& [name, value] : reply.headers) {
    if (http::is_valid_field_value(value)) continue;
    RestError error;
    error.id = mqwb::kReplyHeader;
    error.message = "The header " + name + " cannot be set in the reply.";
    error.explanation =
        "The message has control characters in what the header shows. It stays on the queue.";
    error.action = "Take the message by another way.";
    return rest_error(error);
  }
  is_message = true;
  return reply;
}

}  // namespace millstream::admin
