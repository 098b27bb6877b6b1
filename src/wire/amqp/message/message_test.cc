#include <doctest/doctest.h>

#include "wire/amqp/codec/performatives_gen.h"
#include "wire/amqp/message/inbound.h"
#include "wire/amqp/message/outbound.h"

namespace millstream::wire::amqp {
namespace {

std::string bytes_of_hex(std::string_view hex) {
  auto digit = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
  std::string out;
  for (size_t i = 0; i + 1 < hex.size(); i += 2) {
    out += static_cast<char>(digit(hex[i]) * 16 + digit(hex[i + 1]));
  }
  return out;
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

std::string joined(const OutboundMessage& out) {
  return std::string(out.head()) + std::string(out.body().view()) + std::string(out.tail());
}

// Behind the header.
std::string bare(std::string_view bytes) {
  Reader reader(bytes);
  uint64_t code = 0;
  std::string_view raw;
  REQUIRE(reader.read_descriptor(code));
  REQUIRE(code == descriptor::kHeader);
  REQUIRE(reader.read_raw(raw));
  return std::string(reader.rest());
}

const char* read(std::string_view bytes, queue::PutCall& call, bool is_owned = false) {
  InboundAddress address;
  std::string owned(bytes);
  return read_message(is_owned ? std::string_view(owned) : bytes, is_owned ? &owned : nullptr,
                      {.now_gmt_ms = 1'000'000}, call, address);
}

// Encoded by Qpid Proton: header, message annotation, properties, application properties, text.
const char* const kProton =
    "005370c009034150077000001388005372d10000000f00000002a307782d6f70742d615501005373c02a0aa1026d31"
    "40a10171a101734098000000000000000000000000000000054040408300000000000003e8005374d10000000f0000"
    "0004a101615501a10162a10178005377a10568656c6c6f";

TEST_CASE("amqp message: as it was sent, and what others see of it") {
  std::string bytes = bytes_of_hex(kProton);
  for (bool is_owned : {false, true}) {
    queue::PutCall call;
    REQUIRE(read(bytes, call, is_owned) == nullptr);
    CHECK(call.body.view() == "hello");
    CHECK(call.md.persistence == 1);
    CHECK(call.md.priority == 7);
    CHECK(call.md.expiry == 50);
    CHECK(call.md.format.view() == "MQSTR");
    CHECK(call.md.ccsid == 1208);
    CHECK(call.md.message_id == mqi::Id("m1"));
    mqi::PropertyListView properties = mqi::PropertyListView::trusted(call.properties);
    CHECK(properties.find("a").integer == 1);
    CHECK(properties.find("b").text() == "x");
    CHECK(properties.find("mcd.Type").text() == "s");
    OutboundMessage out;
    queue::MessageRef message = stored(call);
    out.make(*message, message->md);
    CHECK(bare(joined(out)) == bare(bytes));
    CHECK(out.tail().empty());
    Header header;
    Reader reader(out.head());
    uint64_t code = 0;
    REQUIRE((reader.read_descriptor(code) && read_fields(reader, header)));
    CHECK(header.durable);
    CHECK(header.priority == 7);
    CHECK(header.ttl == 5000);
    CHECK(header.first_acquirer);
    message->md.backout_count = 2;
    out.make(*message, message->md);
    header = Header();
    Reader again(out.head());
    REQUIRE((again.read_descriptor(code) && read_fields(again, header)));
    CHECK(header.delivery_count == 2);
    CHECK_FALSE(header.first_acquirer);
    message->md.backout_count = 0;
    out.make(*message, message->md, true);
    header = Header();
    Reader maybe(out.head());
    REQUIRE((maybe.read_descriptor(code) && read_fields(maybe, header)));
    CHECK(header.delivery_count == 0);
    CHECK_FALSE(header.first_acquirer);
  }
}

TEST_CASE("amqp message: all kinds of bodies come back bit for bit") {
  std::string data1 = bytes_of_hex("005375a003010203"),
              data2 = bytes_of_hex("005375b00000000204ff");
  std::string footer = bytes_of_hex("005378c10702a3017aa10179");
  std::string sequence = bytes_of_hex("005376c0050254015402");
  std::string null_body = bytes_of_hex("00537740");
  std::string map = bytes_of_hex("005377c10602a101615401");
  struct Case {
    std::string bytes;
    std::string body;
    std::string_view format;
  };
  Case cases[] = {
      {data1, bytes_of_hex("010203"), ""},
      {data1 + data2, bytes_of_hex("01020304ff"), ""},
      {data1 + data2 + data1 + footer, bytes_of_hex("01020304ff010203"), ""},
      {data1 + footer, bytes_of_hex("010203"), ""},
      {bytes_of_hex("005375a000"), "", ""},
      {sequence, sequence, "MQAMQP"},
      {sequence + sequence, sequence + sequence, "MQAMQP"},
      {null_body, "", ""},
      {null_body + footer, "", ""},
      {footer + data1, bytes_of_hex("010203"), ""},  // as rhea orders them
      {bytes_of_hex("005373c00401a1016d"), "", ""},  // no body, as Proton sends nothing
      {map, bytes_of_hex("c10602a101615401"), "MQAMQP"},
      {bytes_of_hex("005377a100"), "", "MQSTR"},
      {bytes_of_hex("00537780ffffffffffffffff"), bytes_of_hex("80ffffffffffffffff"), "MQAMQP"},
  };
  for (const Case& c : cases) {
    for (bool is_owned : {false, true}) {
      queue::PutCall call;
      REQUIRE(read(c.bytes, call, is_owned) == nullptr);
      CHECK(call.body.view() == c.body);
      CHECK(call.md.format.view() == c.format);
      CHECK(call.md.persistence == 0);
      CHECK(call.md.priority == 4);
      queue::MessageRef message = stored(call);
      OutboundMessage out;
      out.make(*message, message->md);
      CHECK(bare(joined(out)) == c.bytes);
    }
  }
}

TEST_CASE("amqp message: what is no message") {
  for (const char* hex : {
           "",                                // nothing
           "005370c00101",                    // cut off
           "005377a10568656c",                // cut off
           "005377a102c328",                  // no UTF-8
           "00537740005370450053774000",      // out of order
           "0053774000537740",                // twice
           "00537740005375a000",              // two kinds of bodies
           "00539940",                        // unknown
           "40",                              // not described
           "005374c10502540154020053774000",  // a name that is no string
           "005373c00401c0010000537740",      // an id of another type
       }) {
    CAPTURE(hex);
    queue::PutCall call;
    CHECK(read(bytes_of_hex(hex), call) != nullptr);
  }
}

TEST_CASE("amqp message: expiry, delay and addresses") {
  Writer w;
  encode(w, Header{.ttl = 60'000});
  w.descriptor(descriptor::kMessageAnnotations);
  Writer::Compound map = w.begin_map();
  auto add_long = [&](std::string_view name, int64_t v) {
    w.element(map);
    w.symbol(name);
    w.element(map);
    w.slong(v);
  };
  add_long("x-opt-delivery-time", 1'000'500);
  add_long("x-opt-jms-dest", 1);
  add_long("x-opt-jms-reply-to", 1);
  w.end(map);
  Writer to, reply;
  to.string("a/b");
  reply.string("replies");
  encode(w, Properties{.to = to.bytes(),
                       .reply_to = reply.bytes(),
                       .absolute_expiry_time = 1'030'000,
                       .group_id = "g",
                       .group_sequence = 3});
  w.raw(bytes_of_hex("00537740"));
  queue::PutCall call;
  InboundAddress address;
  REQUIRE(read_message(w.bytes(), nullptr, {.now_gmt_ms = 1'000'000, .wants_address = true}, call,
                       address) == nullptr);
  CHECK(call.delay_ms == 500);
  CHECK(call.md.expiry == 300);
  CHECK(address.to == "a/b");
  CHECK(address.to_kind == NodeKind::kTopic);
  CHECK(call.md.sequence_number == 3);
  mqi::PropertyListView properties = mqi::PropertyListView::trusted(call.properties);
  CHECK(properties.find("jms.Rto").text() == "topic://replies");
}

TEST_CASE("amqp message: a projection of one that another put") {
  queue::PutCall call;
  MessageBuilder builder(call);
  builder.set_content(ContentKind::kText, queue::Body::copy("text"));
  builder.set_persistent(true);
  builder.set_priority(3);
  builder.set_correlation_text("c-1");
  builder.set_reply_to({NodeKind::kQueue, "R.Q"});
  REQUIRE(builder.set_user("colour", mqi::PropertyView::string("blue")).ok());
  builder.finish();
  queue::MessageRef message = stored(call);
  message->md.message_id =
      mqi::Id(bytes_of_hex("414d5120514d312020202020202020200102030405060708"));
  OutboundMessage out;
  out.make(*message, message->md);
  std::string bytes = joined(out);
  queue::PutCall back;
  REQUIRE(read(bytes, back) == nullptr);
  CHECK(back.body.view() == "text");
  CHECK(back.md.message_id == message->md.message_id);
  CHECK(back.md.reply_to_queue.view() == "R.Q");
  CHECK(back.md.persistence == 1);
  CHECK(back.md.priority == 3);
  mqi::PropertyListView properties = mqi::PropertyListView::trusted(back.properties);
  CHECK(properties.find("colour").text() == "blue");
  CHECK(properties.find("jms.Cid").text() == "c-1");
}

}  // namespace
}  // namespace millstream::wire::amqp
