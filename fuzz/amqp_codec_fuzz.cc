// Values and messages of AMQP 1.0: what is valid is read to its end; a message that is taken comes
// back as it was sent, and as a delivery it is a message again.
#include <cstdint>
#include <cstdlib>

#include "wire/amqp/engine/delivery_state.h"
#include "wire/amqp/message/inbound.h"
#include "wire/amqp/message/outbound.h"

namespace amqp = millstream::wire::amqp;
namespace queue = millstream::queue;

namespace {

void require(bool is_so) {
  if (!is_so) abort();
}

// Read and written it is the same as when that is read and written.
template <typename T>
void rewrite(std::string_view bytes) {
  T first;
  if (!amqp::decode(bytes, first)) return;
  amqp::Writer once, twice;
  amqp::encode(once, first);
  T second;
  require(amqp::decode(once.bytes(), second));
  amqp::encode(twice, second);
  require(once.bytes() == twice.bytes());
}

queue::MessageRef stored(const queue::PutCall& call) {
  queue::MessageRef m = queue::Message::create();
  m->md = call.md;
  m->body = call.body;
  m->properties = call.properties;
  m->origin = call.origin;
  m->origin_kind = call.origin_kind;
  if (!call.long_ids.empty()) m->long_ids = std::make_unique<queue::LongIds>(call.long_ids);
  return m;
}

// Behind the header and the delivery annotations, which are not kept.
std::string_view kept_part(std::string_view bytes) {
  amqp::Reader reader(bytes);
  std::string_view rest = bytes, raw;
  uint64_t code = 0;
  while (reader.read_descriptor(code) && code < amqp::descriptor::kMessageAnnotations) {
    require(reader.read_raw(raw));
    rest = reader.rest();
  }
  return rest;
}

void exchange(std::string_view bytes) {
  queue::PutCall call;
  amqp::InboundAddress address;
  const amqp::InboundOptions options{.now_gmt_ms = 1'000'000, .wants_address = true};
  if (amqp::read_message(bytes, nullptr, options, call, address) != nullptr) return;
  queue::MessageRef message = stored(call);
  amqp::OutboundMessage out;
  out.make(*message, message->md);
  std::string back(out.head());
  back += out.body().view();
  back += out.tail();
  require(kept_part(back) == kept_part(bytes));
  queue::PutCall again;
  require(amqp::read_message(back, nullptr, options, again, address) == nullptr);
  require(again.body.view() == call.body.view());
  // What another protocol has put.
  message->origin_kind = queue::OriginKind::kNone;
  out.make(*message, message->md);
  back = out.head();
  back += out.body().view();
  back += out.tail();
  queue::PutCall projected;
  require(amqp::read_message(back, nullptr, options, projected, address) == nullptr);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view bytes(reinterpret_cast<const char*>(data), size);
  amqp::Reader reader(bytes);
  amqp::Value value;
  if (amqp::validate(bytes)) require(reader.read(value) && reader.at_end());
  amqp::DeliveryState state;
  if (amqp::decode_state(bytes, state)) {
    amqp::Writer w;
    amqp::encode_state(w, state);
  }
  rewrite<amqp::Open>(bytes);
  rewrite<amqp::Attach>(bytes);
  rewrite<amqp::Flow>(bytes);
  rewrite<amqp::Transfer>(bytes);
  rewrite<amqp::Disposition>(bytes);
  rewrite<amqp::Source>(bytes);
  rewrite<amqp::Properties>(bytes);
  exchange(bytes);
  return 0;
}
