#include "cli/amqp_message.h"

#include "base/ascii.h"
#include "base/clock.h"
#include "base/random.h"
#include "mqi/options.h"
#include "wire/amqp/codec/performatives_gen.h"
#include "wire/amqp/message/inbound.h"
#include "wire/amqp/message/outbound.h"

namespace millstream::cli {
namespace {

namespace amqp = wire::amqp;

constexpr int32_t kUsualPriority = 4;
constexpr std::string_view kDelay = "x-opt-delivery-delay";

// Printable, so that it travels as text.
std::string new_message_id() {
  char bytes[12];
  base::system_random().fill(bytes, sizeof bytes);
  std::string id;
  base::append_hex(id, std::string_view(bytes, sizeof bytes));
  return id;
}

// The same sections, with one more annotation in the map of the second.
std::string with_delay(std::string_view head, int64_t delay_ms) {
  amqp::Reader reader(head);
  amqp::Value header, annotations;
  if (!reader.read(header) || !reader.read(annotations)) return std::string(head);
  amqp::Writer w;
  w.raw(header.whole);
  w.descriptor(amqp::descriptor::kMessageAnnotations);
  amqp::Writer::Compound map = w.begin_map();
  amqp::for_each_entry(annotations.inner, [&](const amqp::Value& key, const amqp::Value& value) {
    w.element(map);
    w.raw(key.whole);
    w.element(map);
    w.raw(value.whole);
  });
  w.element(map);
  w.symbol(kDelay);
  w.element(map);
  w.slong(delay_ms);
  w.end(map);
  w.raw(reader.rest());
  return std::string(w.bytes());
}

std::string quoted(std::string_view text) {
  std::string out = "'";
  for (char c : text) out.append(c == '\'' ? 2 : 1, c);
  return out + "'";
}

}  // namespace

EncodedMessage amqp_message_of(const batch::FrameMessage& message) {
  queue::MessageRef m = queue::Message::create();
  m->md = message.md;
  m->body = queue::Body::copy(message.body);
  m->properties = message.properties;
  if (m->md.persistence == mqi::kPersistenceAsQueueDef) m->md.persistence = mqi::kPersistent;
  if (m->md.priority < 0) m->md.priority = kUsualPriority;
  if (m->md.message_id.is_null()) m->md.message_id = mqi::Id(new_message_id());
  amqp::OutboundMessage out;
  out.make(*m, m->md);
  EncodedMessage encoded{std::string(out.head()), out.body(), std::string(out.tail()),
                         std::string(m->md.message_id.view())};
  if (message.delay_ms > 0) encoded.head = with_delay(encoded.head, message.delay_ms);
  return encoded;
}

const char* read_amqp_message(std::string_view bytes, batch::FrameMessage& out) {
  queue::PutCall call;
  amqp::InboundAddress address;
  amqp::InboundOptions options;
  options.now_gmt_ms = base::system_clock().wall_gmt_micros() / 1000;
  if (const char* why = amqp::read_message(bytes, nullptr, options, call, address)) return why;
  out.md = call.md;
  out.body = call.body.view();
  out.data_bytes = out.body.size();
  out.properties = std::move(call.properties);
  out.long_message_id = std::move(call.long_ids.message_id);
  out.long_correlation_id = std::move(call.long_ids.correlation_id);
  out.long_group_id = std::move(call.long_ids.group_id);
  return nullptr;
}

std::string amqp_selector_of(const batch::Selection& selection) {
  std::string all;
  auto add = [&](const std::string& condition) {
    if (!all.empty()) all += " AND ";
    all += condition;
  };
  if (!selection.message_id.empty()) {
    add("JMSMessageID = " + quoted(wire::identifier_text(selection.message_id)));
  }
  if (!selection.correlation_id.empty()) {
    add("JMSCorrelationID = " + quoted(wire::identifier_text(selection.correlation_id)));
  }
  if (selection.selector.empty()) return all;
  if (all.empty()) return selection.selector;
  add("(" + selection.selector + ")");
  return all;
}

}  // namespace millstream::cli
