#include "cli/queue_message.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>

#include "admin/batch/dead_letter.h"
#include "base/ascii.h"
#include "base/base64.h"
#include "base/clock.h"
#include "cli/errors_gen.h"
#include "mqi/options.h"
#include "mqi/properties.h"
#include "text/utf8.h"

namespace millstream::cli {
namespace {

using base::json::Value;

constexpr size_t kIdBytes = 24;
constexpr int64_t kProgressNs = 200'000'000;

Status bad_option(std::string_view option, std::string_view value, std::string_view why) {
  return base::make_error(errors::kBadOption, {option, value, why});
}

template <typename T>
bool read_number(std::string_view text, T& out) {
  const auto r = std::from_chars(text.data(), text.data() + text.size(), out);
  return r.ec == std::errc() && r.ptr == text.data() + text.size() && !text.empty();
}

// NAME=VALUE is text; NAME:TYPE=VALUE another type.
Status set_property(std::string_view text, mqi::PropertyList& list) {
  const size_t equals = text.find('=');
  if (equals == std::string_view::npos) return bad_option("property", text, "there is no =");
  std::string_view name = text.substr(0, equals);
  const std::string_view value = text.substr(equals + 1);
  std::string_view type = "string";
  if (const size_t colon = name.find(':'); colon != std::string_view::npos) {
    type = name.substr(colon + 1);
    name = name.substr(0, colon);
  }
  mqi::PropertyView view;
  std::string bytes;
  int64_t integer = 0;
  double real = 0;
  if (type == "string") {
    view = mqi::PropertyView::string(value);
  } else if (type == "bool" && (value == "true" || value == "false")) {
    view = mqi::PropertyView::boolean(value == "true");
  } else if (type == "int" && read_number(value, integer) && integer == int32_t(integer)) {
    view = mqi::PropertyView::int32(static_cast<int32_t>(integer));
  } else if (type == "long" && read_number(value, integer)) {
    view = mqi::PropertyView::int64(integer);
  } else if (type == "double" && read_number(value, real)) {
    view = mqi::PropertyView::float64(real);
  } else if (type == "bytes" && base::append_bytes_of_hex(bytes, value)) {
    view = mqi::PropertyView::bytes(bytes);
  } else {
    return bad_option("property", text,
                      "types are string, bool, int, long, double and bytes (hexadecimal)");
  }
  return list.set(name, view);
}

Value property_json(const mqi::PropertyView& p) {
  if (p.is_boolean()) return p.integer != 0;
  if (p.is_integer()) return p.integer;
  if (p.is_float()) return p.real;
  if (p.is_string()) return std::string(p.text());
  if (p.is_bytes()) return hexadecimal(p.text());
  return {};
}

void set_text(Value& to, std::string_view name, std::string_view text) {
  if (!text.empty()) to.set(name, text);
}

}  // namespace

std::vector<base::FlagSpec> message_flags() {
  using base::FlagKind;
  return {
      {.name = "format", .value_name = "NAME", .help = "MQMD Format, such as MQSTR."},
      {.name = "priority",
       .value_name = "0-9",
       .help = "Without, the queue's default.",
       .kind = FlagKind::kInteger,
       .integer_max = 9},
      {.name = "persistence",
       .value_name = "WHICH",
       .help = "Whether messages survive a restart.",
       .kind = FlagKind::kChoice,
       .default_text = "queue",
       .choices = {"yes", "no", "queue"}},
      {.name = "expiry",
       .value_name = "SECONDS",
       .help = "Messages that nobody gets in this time are discarded.",
       .kind = FlagKind::kInteger,
       .integer_min = 1,
       .integer_max = 200'000'000},
      {.name = "delay",
       .value_name = "MS",
       .help = "Messages can be got after this time.",
       .kind = FlagKind::kInteger},
      {.name = "type",
       .value_name = "TYPE",
       .help = "MQMD MsgType.",
       .kind = FlagKind::kChoice,
       .default_text = "datagram",
       .choices = {"datagram", "request", "reply", "report"}},
      {.name = "message-id",
       .value_name = "ID",
       .help = "Text of at most 24 bytes, or 48 hexadecimal digits. Without, a new one each."},
      {.name = "correlation-id", .value_name = "ID", .help = "As --message-id."},
      {.name = "reply-to", .value_name = "QUEUE", .help = "MQMD ReplyToQ."},
      {.name = "reply-to-qmgr", .value_name = "NAME", .help = "MQMD ReplyToQMgr."},
      {.name = "ccsid",
       .value_name = "NUMBER",
       .help = "MQMD CodedCharSetId of the body.",
       .kind = FlagKind::kInteger,
       .integer_max = 65535},
      {.name = "encoding",
       .value_name = "NUMBER",
       .help = "MQMD Encoding of the body.",
       .kind = FlagKind::kInteger,
       .integer_max = 0xFFF},
      {.name = "property",
       .value_name = "NAME=VALUE",
       .help =
           "A message property. NAME:int=1, and :bool, :long, :double, :bytes, give others than "
           "text.",
       .short_name = 'p',
       .is_repeated = true}};
}

Result<batch::FrameMessage> message_of(const base::ParsedFlags& flags) {
  batch::FrameMessage out;
  mqi::MessageDescriptor& md = out.md;
  md.format = flags.text("format");
  if (flags.has("priority")) md.priority = static_cast<int32_t>(flags.integer("priority"));
  const std::string_view persistence = flags.text("persistence");
  md.persistence = persistence == "yes"  ? mqi::kPersistent
                   : persistence == "no" ? mqi::kNotPersistent
                                         : mqi::kPersistenceAsQueueDef;
  if (flags.has("expiry")) md.expiry = static_cast<int32_t>(flags.integer("expiry") * 10);
  if (flags.has("delay")) out.delay_ms = flags.integer("delay");
  const std::string_view type = flags.text("type");
  md.message_type = type == "request"  ? mqi::mt::kRequest
                    : type == "reply"  ? mqi::mt::kReply
                    : type == "report" ? mqi::mt::kReport
                                       : mqi::mt::kDatagram;
  if (flags.has("message-id")) {
    md.message_id = mqi::Id(MS_TRY(identifier_of("message-id", flags.text("message-id"))));
  }
  if (flags.has("correlation-id")) {
    md.correlation_id =
        mqi::Id(MS_TRY(identifier_of("correlation-id", flags.text("correlation-id"))));
  }
  md.reply_to_queue = flags.text("reply-to");
  md.reply_to_queue_manager = flags.text("reply-to-qmgr");
  if (flags.has("ccsid")) md.ccsid = static_cast<int32_t>(flags.integer("ccsid"));
  if (flags.has("encoding")) md.encoding = static_cast<int32_t>(flags.integer("encoding"));
  mqi::PropertyList properties;
  for (std::string_view text : flags.all("property")) MS_TRY(set_property(text, properties));
  out.properties = properties.bytes();
  return out;
}

std::vector<base::FlagSpec> selection_flags() {
  return {{.name = "message-id",
           .value_name = "ID",
           .help = "Only the message of this identifier: text, or 48 hexadecimal digits."},
          {.name = "correlation-id",
           .value_name = "ID",
           .help = "Only messages of this correlation identifier."},
          {.name = "selector",
           .value_name = "TEXT",
           .help = "Only messages that this selector of JMS is true of: \"color = 'red'\"."}};
}

Result<batch::Selection> selection_of(const base::ParsedFlags& flags) {
  batch::Selection out;
  if (flags.has("message-id")) {
    out.message_id = MS_TRY(identifier_of("message-id", flags.text("message-id")));
  }
  if (flags.has("correlation-id")) {
    out.correlation_id = MS_TRY(identifier_of("correlation-id", flags.text("correlation-id")));
  }
  out.selector = flags.text("selector");
  return out;
}

Result<std::string> identifier_of(std::string_view option, std::string_view text) {
  if (text.starts_with("ID:")) text.remove_prefix(3);
  std::string bytes;
  if (text.size() == 2 * kIdBytes && base::append_bytes_of_hex(bytes, text)) return bytes;
  if (text.empty() || text.size() > kIdBytes) {
    return bad_option(option, text, "it is neither 48 hexadecimal digits nor 1 to 24 bytes");
  }
  return std::string(text);
}

std::string hexadecimal(std::string_view bytes) {
  std::string out;
  base::append_hex(out, bytes);
  return out;
}

std::string one_line(std::string_view bytes, size_t width) {
  std::string out;
  for (char c : bytes.substr(0, width)) {
    out += static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) > 0x7E ? '.' : c;
  }
  return out;
}

std::string put_time_text(const mqi::MessageDescriptor& md) {
  const std::string_view d = md.put_date.view(), t = md.put_time.view();
  if (d.size() != 8 || t.size() < 6) return {};
  std::string out(d.substr(0, 4));
  out.append("-").append(d.substr(4, 2)).append("-").append(d.substr(6, 2)).append(" ");
  out.append(t.substr(0, 2)).append(":").append(t.substr(2, 2)).append(":").append(t.substr(4, 2));
  return out;
}

Value message_json(const batch::FrameMessage& m) {
  const mqi::MessageDescriptor& md = m.md;
  Value out = Value::object();
  out.set("messageId", hexadecimal(md.message_id.view()));
  if (!md.correlation_id.is_null()) {
    out.set("correlationId", hexadecimal(md.correlation_id.view()));
  }
  if (!md.group_id.is_null()) {
    out.set("groupId", hexadecimal(md.group_id.view()));
    out.set("sequenceNumber", md.sequence_number);
  }
  set_text(out, "format", md.format.view());
  out.set("type", md.message_type);
  out.set("persistence", md.persistence == mqi::kPersistent);
  out.set("priority", md.priority);
  if (md.expiry >= 0) out.set("expiryTenths", md.expiry);
  out.set("ccsid", md.ccsid);
  out.set("encoding", md.encoding);
  if (md.report != 0) out.set("report", md.report);
  if (md.feedback != 0) out.set("feedback", md.feedback);
  if (md.backout_count != 0) out.set("backoutCount", md.backout_count);
  set_text(out, "replyToQueue", md.reply_to_queue.view());
  set_text(out, "replyToQueueManager", md.reply_to_queue_manager.view());
  set_text(out, "user", md.user_identifier.view());
  set_text(out, "application", md.put_appl_name.view());
  set_text(out, "putTime", put_time_text(md));
  if (!m.properties.empty()) {
    Value properties = Value::object();
    Result<mqi::PropertyListView> list = mqi::PropertyListView::view(m.properties);
    if (list.ok()) {
      list.value().for_each([&](std::string_view name, const mqi::PropertyView& value) {
        properties.set(name, property_json(value));
      });
    }
    out.set("properties", std::move(properties));
  }
  if (const auto letter = batch::read_dead_letter(m.body)) {
    Value dead = Value::object();
    dead.set("reason", letter->reason);
    dead.set("queue", letter->queue);
    dead.set("queueManager", letter->queue_manager);
    dead.set("format", letter->format);
    dead.set("ccsid", letter->ccsid);
    dead.set("encoding", letter->encoding);
    dead.set("application", letter->put_appl_name);
    dead.set("date", letter->put_date);
    dead.set("time", letter->put_time);
    out.set("deadLetter", std::move(dead));
  }
  out.set("bytes", m.data_bytes);
  const bool is_text = text::is_valid_utf8(m.body);
  if (is_text) {
    out.set("body", m.body);
  } else {
    out.set("bodyBase64", base::base64_encode(m.body));
  }
  return out;
}

QueueProgress::QueueProgress(bool is_quiet) : is_on_(!is_quiet && ::isatty(STDERR_FILENO)) {}

QueueProgress::~QueueProgress() {
  if (has_shown_) std::fputs("\r\033[K", stderr);
}

void QueueProgress::show(std::string_view what, uint64_t done, uint64_t of) {
  if (!is_on_) return;
  const int64_t now = base::system_clock().monotonic_ns();
  if (now < next_ns_) return;
  next_ns_ = now + kProgressNs;
  has_shown_ = true;
  std::fprintf(stderr, "\r\033[K%.*s %llu", static_cast<int>(what.size()), what.data(),
               static_cast<unsigned long long>(done));
  if (of > 0) std::fprintf(stderr, " of %llu", static_cast<unsigned long long>(of));
}

base::FlagSpec count_flag(std::string_view help) {
  return {.name = "count",
          .value_name = "N",
          .help = help,
          .kind = base::FlagKind::kInteger,
          .short_name = 'n',
          .integer_min = 1};
}

base::FlagSpec unit_flag(std::string_view default_text, uint32_t max) {
  return {.name = "unit",
          .value_name = "N",
          .help = "Messages of a unit of work.",
          .kind = base::FlagKind::kInteger,
          .default_text = default_text,
          .integer_min = 1,
          .integer_max = max};
}

base::FlagSpec quiet_flag() {
  return {.name = "quiet",
          .help = "No count at the end, no progress.",
          .kind = base::FlagKind::kSwitch,
          .short_name = 'q'};
}

uint64_t count_of(const base::ParsedFlags& flags) {
  return flags.has("count") ? static_cast<uint64_t>(flags.integer("count")) : 0;
}

std::vector<base::FlagSpec> with_flags(std::vector<base::FlagSpec> flags,
                                       const std::vector<std::vector<base::FlagSpec>>& more) {
  for (const auto& group : more) flags.insert(flags.end(), group.begin(), group.end());
  return flags;
}

ReadResult read_messages(QueueClient& client, ReadPlan plan,
                         const std::function<bool(const batch::Answer&)>& take) {
  ReadResult result;
  batch::Request& request = plan.request;
  const uint32_t unit = request.messages_max;
  bool has_unit = false;
  int64_t wait_left_ms = plan.wait_ms;
  auto fail = [&](const base::Error& error) {
    result.exit_code = print_queue_error(error);
    return result;
  };
  while (plan.count_max == 0 || result.count < plan.count_max) {
    if (plan.count_max != 0) {
      request.messages_max =
          static_cast<uint32_t>(std::min<uint64_t>(unit, plan.count_max - result.count));
    }
    const auto wait = static_cast<uint32_t>(
        std::clamp<int64_t>(wait_left_ms, 0, static_cast<int64_t>(batch::kWaitMsMax)));
    request.wait_ms = wait;
    request.flags = has_unit ? batch::kCommit : 0;
    const Result<batch::Answer> answer = client.call(request);
    if (!answer.ok()) return fail(answer.error());
    const batch::Answer& a = answer.value();
    has_unit = false;
    if (request.token == 0 && a.token != 0 && plan.is_get) client.guard(a.token);
    request.token = a.token;
    if (!a.messages.empty()) {
      if (!take(a)) {
        result.exit_code = kExitRefused;
        break;
      }
      result.count += a.messages.size();
      has_unit = plan.is_get;
      wait_left_ms = plan.wait_ms;
    }
    if (a.is_failed()) {
      result.exit_code = print_queue_refusal(a);
      break;
    }
    if (a.token == 0) break;
    if ((a.flags & batch::kNoMore) != 0 && a.messages.empty()) {
      wait_left_ms -= wait;
      if (wait_left_ms <= 0) break;
    } else if ((a.flags & batch::kNoMore) != 0 && plan.wait_ms == 0) {
      break;
    }
  }
  if (request.token != 0) {
    batch::Request end;
    end.operation = batch::Operation::kEnd;
    end.token = request.token;
    end.flags = has_unit ? batch::kCommit : 0;
    const Result<batch::Answer> answer = client.call(end);
    if (!answer.ok()) return fail(answer.error());
    if (answer.value().is_failed()) result.exit_code = print_queue_refusal(answer.value());
  }
  return result;
}

}  // namespace millstream::cli
