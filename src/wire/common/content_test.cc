// The message model: what a builder makes, a view shows.
#include "wire/common/content.h"

#include <doctest/doctest.h>

namespace millstream::wire {
namespace {

queue::MessageRef message_of(const queue::PutCall& call) {
  queue::MessageRef message = queue::Message::create();
  message->md = call.md;
  message->body = call.body;
  message->properties = call.properties;
  message->origin = call.origin;
  message->origin_kind = call.origin_kind;
  message->long_ids = std::make_unique<queue::LongIds>(call.long_ids);
  return message;
}

TEST_CASE("wire content: what one protocol sets, another sees") {
  queue::PutCall call;
  MessageBuilder builder(call);
  builder.set_content(ContentKind::kText, queue::Body::copy("gr\xC3\xBC\xC3\x9F"));
  builder.set_persistent(true);
  builder.set_priority(12);
  builder.set_time_to_live_ms(1'250);
  builder.set_correlation_text("order-17");
  builder.set_reply_to({NodeKind::kQueue, "REPLIES"});
  builder.set_text(property::kContentType, "text/plain");
  builder.set_group("g", 3, true);
  CHECK(builder.set_user("color", mqi::PropertyView::string("blue")).ok());
  CHECK(builder.set_user("x-my.header", mqi::PropertyView::int32(7)).ok());
  CHECK(builder.set_user("9 lives", mqi::PropertyView::boolean(true)).ok());
  builder.finish();
  CHECK(call.md.format.view() == "MQSTR");
  CHECK(call.md.expiry == 13);
  CHECK(call.md.priority == 9);
  CHECK(call.md.persistence == 1);
  queue::MessageRef message = message_of(call);
  MessageView view(*message);
  CHECK(view.kind() == ContentKind::kText);
  CHECK(view.body().view() == "gr\xC3\xBC\xC3\x9F");
  CHECK(view.correlation_text() == "order-17");
  CHECK(view.correlation_bytes() == "order-17");
  CHECK(view.reply_to().address() == "queue://REPLIES");
  CHECK(view.text(property::kContentType) == "text/plain");
  CHECK(view.group_id() == "g");
  CHECK(view.group_sequence() == 3);
  CHECK(view.time_to_live_ms() == 1'300);
  std::string user;
  view.for_each_user([&](std::string_view name, const mqi::PropertyView& value) {
    user += std::string(name) + "=" + property_text(value) + ";";
  });
  CHECK(user == "color=blue;x-my.header=7;9 lives=true;");
}

TEST_CASE("wire content: identifiers, short and long, text and bytes") {
  CHECK(identifier_text(std::string("abc\0\0", 5)) == "abc");
  std::string binary("AMQ QM1     \x01\x02\x03\x04\x05\x06\x07\x08\x09\x0A\x0B\x0C", 24);
  std::string text = identifier_text(binary);
  CHECK(text ==
        "ID:414d5120514d31202020202001020304"
        "05060708090a0b0c");
  CHECK(identifier_bytes(text) == binary);
  CHECK(identifier_bytes("ID:short") == "ID:short");
  CHECK(identifier_text("") == "");
  for (size_t size : {1u, 24u, 25u, 300u}) {
    queue::PutCall call;
    MessageBuilder builder(call);
    std::string id(size, 'k');
    builder.set_message_id(id);
    builder.set_correlation_text(id);
    builder.finish();
    queue::MessageRef message = message_of(call);
    MessageView view(*message);
    CHECK(view.message_id() == id);
    CHECK(view.correlation_text() == id);
    CHECK(view.correlation_bytes() == id);
  }
  queue::PutCall call;
  MessageBuilder builder(call);
  builder.set_correlation_text(text);
  builder.finish();
  CHECK(call.md.correlation_id.view() == binary);
  queue::MessageRef message = message_of(call);
  CHECK(MessageView(*message).correlation_text() == text);
}

TEST_CASE("wire content: names that no property can have") {
  for (std::string name : {"plain", "a-b", "a.b", "JMSType", "NULL", "", "1", "\xC3\xA4", "a b_c",
                           "_x41_", "x_HYPHEN_y", "content-length"}) {
    std::string encoded = encode_property_name(name);
    CHECK(mqi::check_property_name(encoded).ok());
    CHECK(encoded.find('.') == std::string::npos);
    bool is_ambiguous = name == "_x41_" || name == "x_HYPHEN_y";
    if (!is_ambiguous) CHECK(MessageView::decode_name(encoded) == name);
  }
}

TEST_CASE("wire content: kinds by format and class, text in another character set") {
  for (ContentKind kind :
       {ContentKind::kBytes, ContentKind::kText, ContentKind::kMap, ContentKind::kStream,
        ContentKind::kObject, ContentKind::kNone, ContentKind::kAmqpValue}) {
    queue::PutCall call;
    MessageBuilder builder(call);
    builder.set_content(kind, queue::Body::copy("x"));
    builder.finish();
    queue::MessageRef message = message_of(call);
    CHECK(MessageView(*message).kind() == kind);
  }
  queue::PutCall call;
  call.md.format = "MQSTR";
  call.md.ccsid = 500;
  call.body = queue::Body::copy("\xC8\x85\x93\x93\x96");
  queue::MessageRef message = message_of(call);
  CHECK(MessageView(*message).body().view() == "Hello");
}

TEST_CASE("wire content: pieces around a body") {
  std::string origin;
  append_origin_piece(origin, 0, "head");
  append_origin_piece(origin, 5, "");
  append_origin_piece(origin, 9, "tail");
  std::vector<OriginPiece> pieces;
  REQUIRE(split_origin(origin, pieces));
  REQUIRE(pieces.size() == 3);
  CHECK(pieces[0].bytes == "head");
  CHECK(pieces[2].body_offset == 9);
  CHECK(pieces[2].bytes == "tail");
  for (size_t n = 1; n < origin.size(); ++n) {
    std::vector<OriginPiece> part;
    bool is_whole = n == 12 || n == 20;
    CHECK(split_origin(std::string_view(origin).substr(0, n), part) == is_whole);
  }
}

}  // namespace
}  // namespace millstream::wire
