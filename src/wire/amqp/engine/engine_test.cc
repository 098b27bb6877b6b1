#include <doctest/doctest.h>

#include "wire/amqp/engine/engine_for_test.h"

namespace millstream::wire::amqp {
namespace {

std::string frame_of(uint16_t channel, std::string_view body, uint8_t type = 0) {
  Writer w;
  w.big32(static_cast<uint32_t>(body.size() + 8));
  w.byte(2);
  w.byte(type);
  w.big16(channel);
  w.raw(body);
  return std::string(w.bytes());
}

template <typename T>
std::string frame_with(uint16_t channel, const T& performative, std::string_view payload = {}) {
  Writer w;
  encode(w, performative);
  w.raw(payload);
  return frame_of(channel, w.bytes());
}

// A server that is given frames by hand, as far as a session with a link that takes 3 messages.
struct ByHand {
  TestSide server;
  explicit ByHand(const EngineLimits& limits = {}, uint32_t credit = 3) : server(limits) {
    server.credit = credit;
    give(frame_with(0, Open{.container_id = "c"}));
    give(frame_with(5,
                    Begin{.next_outgoing_id = 0, .incoming_window = 100, .outgoing_window = 100}));
    give(frame_with(5,
                    Attach{.name = "l", .handle = 7, .role = false, .initial_delivery_count = 0}));
    server.engine.flush();
    server.output.bytes.clear();
  }
  void give(std::string_view bytes) {
    std::string kept(bytes);
    kept.erase(0, server.engine.receive(kept, 1));
    server.engine.flush();
  }
  Transfer transfer(uint32_t id) {
    return {.handle = 7, .delivery_id = id, .delivery_tag = "t", .message_format = 0};
  }
  // The condition of the first end, detach or close that the server has sent.
  std::string said() {
    std::string_view bytes = server.output.bytes;
    Frame frame;
    while (parse_frame(bytes, 1u << 20, frame) == FrameResult::kWhole) {
      bytes.remove_prefix(frame.size);
      std::string_view error;
      const char* what = "";
      End end;
      Close close;
      Detach detach;
      if (decode(frame.body, end)) error = end.error, what = "end ";
      if (decode(frame.body, close)) error = close.error, what = "close ";
      if (decode(frame.body, detach)) error = detach.error, what = "detach ";
      ErrorInfo info;
      if (*what != '\0') return what + (decode(error, info) ? std::string(info.condition) : "");
    }
    return "nothing";
  }
};

TEST_CASE("amqp engine: a message there, its outcome back") {
  for (size_t segment : {SIZE_MAX, size_t{1}, size_t{7}}) {
    TestPair pair;
    pair.segment = segment;
    Link* link = pair.attach(true);
    REQUIRE(link != nullptr);
    CHECK(pair.client.saw("attached link"));
    REQUIRE(link->can_send());
    CHECK(link->credit() == 100);
    queue::Body body = queue::Body::copy("world");
    link->send({.tag = "1", .head = "hello ", .body = &body, .tail = "!"});
    link->send({.tag = "2", .is_settled = true, .head = "settled"});
    pair.run();
    REQUIRE(pair.server.messages.size() == 2);
    CHECK(pair.server.messages[0] == "hello world!");
    CHECK_FALSE(pair.server.settled[0]);
    CHECK(pair.server.settled[1]);
    CHECK(pair.client.saw("state 0 amqp:accepted:list settled"));
    CHECK(pair.client.session->unsettled_out() == 0);
    CHECK(pair.server.session->unsettled_in() == 0);
    CHECK(link->credit() == 98);
    link->close();
    pair.run();
    CHECK(pair.server.saw("detached link closed "));
    CHECK(pair.client.engine.link_count() == 0);
    CHECK(pair.server.engine.link_count() == 0);
    pair.client.session->end();
    pair.run();
    CHECK(pair.server.saw("end "));
    pair.client.engine.close();
    pair.run();
    CHECK(pair.client.is_finished);
    CHECK(pair.server.is_finished);
    CHECK(pair.server.error == "");
  }
}

TEST_CASE("amqp engine: outcomes of many deliveries are one disposition") {
  TestPair pair;
  Link* link = pair.attach(true);
  uint64_t before = pair.server.engine.frames_out();
  for (int i = 0; i < 50; ++i) link->send({.tag = "t", .head = "x"});
  pair.run();
  CHECK(pair.server.messages.size() == 50);
  CHECK(pair.server.engine.frames_out() - before == 1);
  CHECK(pair.client.events.size() > 50);
  CHECK(pair.client.session->unsettled_out() == 0);
}

TEST_CASE("amqp engine: long messages in frames of 512 bytes, through a small window") {
  EngineLimits small{.frame_bytes_max = 512, .incoming_window = 4};
  TestPair pair({}, small);
  Link* link = pair.attach(true);
  std::string bytes;
  for (int i = 0; i < 100'000; ++i) bytes += static_cast<char>('a' + i % 26);
  queue::Body body = queue::Body::copy(bytes);
  std::string head(700, 'h'), tail(600, 't');
  link->send({.tag = "1", .head = head, .body = &body, .tail = tail});
  CHECK(link->is_sending());
  CHECK_FALSE(link->can_send());
  pair.run();
  REQUIRE(pair.server.messages.size() == 1);
  CHECK(pair.server.messages[0] == head + bytes + tail);
  CHECK_FALSE(link->is_sending());
  CHECK(link->can_send());
  // Two links share the window.
  Link* other = pair.client.session->attach("other", true, {}, pair.client);
  pair.run();
  bool is_sent = false;
  pair.client.credit_hook = [&](Link& l) {
    if (&l != other || is_sent) return;
    is_sent = true;
    other->send({.tag = "2", .head = bytes});
  };
  link->send({.tag = "1", .head = bytes});
  CHECK_FALSE(other->can_send());
  pair.run();
  REQUIRE(pair.server.messages.size() == 3);
  CHECK(pair.server.messages[2] == bytes);
}

TEST_CASE("amqp engine: a congested output holds senders up") {
  TestPair pair;
  Link* link = pair.attach(true);
  pair.client.output.congested = true;
  CHECK_FALSE(link->can_send());
  pair.client.output.congested = false;
  int told = 0;
  pair.client.credit_hook = [&](Link&) { ++told; };
  pair.client.engine.drained();
  CHECK(told == 1);
}

TEST_CASE("amqp engine: credit, drain and echo") {
  TestPair pair;
  Link* link = pair.attach(false);
  REQUIRE(pair.server.link != nullptr);
  Link& sender = *pair.server.link;
  CHECK_FALSE(sender.can_send());
  link->set_credit(3);
  pair.run();
  CHECK(sender.credit() == 3);
  sender.send({.tag = "1", .head = "m"});
  pair.run();
  CHECK(pair.client.messages.size() == 1);
  CHECK(link->credit() == 2);
  pair.server.credit_hook = [](Link& l) {
    if (l.wants_drain()) l.drained();
  };
  link->request_drain();
  pair.run();
  CHECK(sender.credit() == 0);
  CHECK(link->credit() == 0);
  CHECK(pair.client.saw("flow 0"));
  CHECK(link->delivery_count() == 3);
  link->set_credit(1);
  pair.run();
  CHECK(sender.credit() == 1);
  CHECK_FALSE(sender.wants_drain());
}

TEST_CASE("amqp engine: the peer refuses a link") {
  TestPair pair;
  pair.begin();
  pair.server.refuses = true;
  pair.client.session->attach("bad", true, {}, pair.client);
  pair.run();
  CHECK(pair.client.saw("attached bad"));
  CHECK(pair.client.saw("detached bad closed amqp:not-found"));
  CHECK(pair.server.engine.link_count() == 0);
}

TEST_CASE("amqp engine: mistakes of a peer, each with its condition") {
  SUBCASE("no open") {
    TestSide server;
    std::string begin = frame_with(0, Begin{});
    server.engine.receive(begin, 1);
    CHECK(server.is_finished);
    CHECK(server.error == "amqp:illegal-state");
  }
  SUBCASE("size too small") {
    ByHand peer;
    peer.give(std::string_view("\0\0\0\7\2\0\0\0", 8));
    CHECK(peer.said() == "close amqp:connection:framing-error");
    CHECK(peer.server.is_finished);
  }
  SUBCASE("size too long") {
    ByHand peer;
    peer.give(std::string_view("\xff\xff\xff\xff\2\0\0\0", 8));
    CHECK(peer.said() == "close amqp:connection:framing-error");
  }
  SUBCASE("data offset beyond the frame") {
    ByHand peer;
    peer.give(std::string_view("\0\0\0\x8\3\0\0\0", 8));
    CHECK(peer.said() == "close amqp:connection:framing-error");
  }
  SUBCASE("a frame of SASL") {
    ByHand peer;
    peer.give(frame_of(0, std::string_view("\0\x53\x40\x45", 4), 1));
    CHECK(peer.said() == "close amqp:connection:framing-error");
  }
  SUBCASE("a body that is no performative") {
    ByHand peer;
    peer.give(frame_of(5, "\x40"));
    CHECK(peer.said() == "close amqp:decode-error");
  }
  SUBCASE("an unknown performative") {
    ByHand peer;
    peer.give(frame_of(5, std::string_view("\0\x53\x99\x45", 4)));
    CHECK(peer.said() == "close amqp:not-implemented");
  }
  SUBCASE("a second open") {
    ByHand peer;
    peer.give(frame_with(0, Open{.container_id = "c"}));
    CHECK(peer.said() == "close amqp:illegal-state");
  }
  SUBCASE("unknown channel") {
    ByHand peer;
    peer.give(frame_with(6, Flow{}));
    CHECK(peer.said() == "close amqp:not-allowed");
  }
  SUBCASE("channel in use, channel too high") {
    ByHand peer;
    peer.give(frame_with(5, Begin{}));
    CHECK(peer.said() == "close amqp:not-allowed");
    ByHand other;
    other.give(frame_with(256, Begin{}));
    CHECK(other.said() == "close amqp:connection:framing-error");
  }
  SUBCASE("unknown handle") {
    ByHand peer;
    peer.give(frame_with(5, Transfer{.handle = 8, .delivery_id = 0, .delivery_tag = "t"}));
    CHECK(peer.said() == "end amqp:session:unattached-handle");
    ByHand other;
    other.give(frame_with(5, Detach{.handle = 4000000000u}));
    CHECK(other.said() == "end amqp:session:unattached-handle");
    ByHand third;
    third.give(frame_with(5, Flow{.handle = 9}));
    CHECK(third.said() == "end amqp:session:unattached-handle");
  }
  SUBCASE("handle in use, handle too high") {
    ByHand peer;
    peer.give(frame_with(5, Attach{.name = "m", .handle = 7, .initial_delivery_count = 0}));
    CHECK(peer.said() == "end amqp:session:handle-in-use");
    ByHand other;
    other.give(frame_with(5, Attach{.name = "m", .handle = 4000000000u}));
    CHECK(other.said() == "close amqp:connection:framing-error");
  }
  SUBCASE("no initial delivery count") {
    ByHand peer;
    peer.give(frame_with(5, Attach{.name = "m", .handle = 1}));
    CHECK(peer.said() == "end amqp:invalid-field");
  }
  SUBCASE("a link of the same name") {
    ByHand peer;
    peer.give(frame_with(5, Attach{.name = "l", .handle = 8, .initial_delivery_count = 0}));
    CHECK(peer.said() == "detach amqp:link:stolen");
  }
}

TEST_CASE("amqp engine: mistakes of a peer on its links, each with its condition") {
  SUBCASE("a transfer without credit") {
    ByHand peer({}, 0);
    peer.give(frame_with(5, peer.transfer(0), "x"));
    CHECK(peer.said() == "detach amqp:link:transfer-limit-exceeded");
  }
  SUBCASE("a transfer without id, without tag, with an old id") {
    ByHand peer;
    peer.give(frame_with(5, Transfer{.handle = 7, .delivery_tag = "t"}, "x"));
    CHECK(peer.said() == "end amqp:invalid-field");
    ByHand other;
    other.give(frame_with(5, Transfer{.handle = 7, .delivery_id = 1}, "x"));
    CHECK(other.said() == "end amqp:invalid-field");
    ByHand third;
    third.give(frame_with(5, third.transfer(4), "x"));
    third.give(frame_with(5, third.transfer(4), "x"));
    CHECK(third.said() == "end amqp:invalid-field");
  }
  SUBCASE("a message that is too long, at once and in parts") {
    ByHand peer({.message_bytes_max = 10});
    peer.give(frame_with(5, peer.transfer(0), "12345678901"));
    CHECK(peer.said() == "detach amqp:link:message-size-exceeded");
    ByHand other({.message_bytes_max = 10});
    Transfer part = other.transfer(0);
    part.more = true;
    other.give(frame_with(5, part, "123456"));
    other.give(frame_with(5, Transfer{.handle = 7, .more = true}, "123456"));
    CHECK(other.said() == "detach amqp:link:message-size-exceeded");
    // What was on its way is ignored.
    other.give(frame_with(5, Transfer{.handle = 7}, "123456"));
    CHECK(other.server.messages.empty());
    CHECK_FALSE(other.server.is_finished);
  }
  SUBCASE("more parts than the connection may have") {
    ByHand peer({.partial_bytes_max = 10});
    Transfer part = peer.transfer(0);
    part.more = true;
    peer.give(frame_with(5, part, "12345678901"));
    CHECK(peer.said() == "detach amqp:resource-limit-exceeded");
  }
  SUBCASE("beyond the window") {
    EngineLimits limits{.incoming_window = 2};
    TestSide server(limits);
    std::string bytes = frame_with(0, Open{.container_id = "c"}) +
                        frame_with(0, Begin{.incoming_window = 100, .outgoing_window = 100}) +
                        frame_with(0, Attach{.name = "l", .initial_delivery_count = 0});
    for (uint32_t i = 0; i < 3; ++i) {
      bytes += frame_with(0, Transfer{.delivery_id = i, .delivery_tag = "t"}, "x");
    }
    server.engine.receive(bytes, 1);
    CHECK(server.messages.size() == 2);
    REQUIRE(server.session != nullptr);
    CHECK_FALSE(server.session->is_open());
  }
  SUBCASE("an aborted message") {
    ByHand peer;
    Transfer part = peer.transfer(0);
    part.more = true;
    peer.give(frame_with(5, part, "123456"));
    peer.give(frame_with(5, Transfer{.handle = 7, .aborted = true}));
    CHECK(peer.server.messages.empty());
    peer.give(frame_with(5, peer.transfer(1), "whole"));
    REQUIRE(peer.server.messages.size() == 1);
    CHECK(peer.server.messages[0] == "whole");
  }
  SUBCASE("a disposition of nothing, and one that ends before it begins") {
    ByHand peer;
    peer.give(frame_with(5, Disposition{.role = true, .first = 0, .last = 0xfffffff0}));
    CHECK(peer.said() == "end amqp:invalid-field");
    ByHand other;
    other.give(frame_with(5, Disposition{.role = false, .first = 0, .last = 0x7ffffff0}));
    CHECK(other.said() == "nothing");
  }
  SUBCASE("frames behind a close do not count") {
    ByHand peer;
    peer.server.engine.close(condition::kInternalError, "x");
    peer.give(frame_with(5, peer.transfer(0), "x"));
    CHECK(peer.server.messages.empty());
    peer.give(frame_with(0, Close{}));
    CHECK(peer.server.is_finished);
  }
  SUBCASE("too many links, too many sessions") {
    ByHand peer({.links_max = 1});
    peer.give(frame_with(5, Attach{.name = "m", .handle = 1, .initial_delivery_count = 0}));
    CHECK(peer.said() == "close amqp:resource-limit-exceeded");
    ByHand other({.channel_max = 5});
    for (uint16_t c = 0; c < 6; ++c) {
      if (c != 5) other.give(frame_with(c, Begin{}));
    }
    CHECK(other.said() == "nothing");
  }
  SUBCASE("too many unsettled") {
    ByHand peer({.unsettled_max = 2});
    peer.server.accepts = false;
    for (uint32_t i = 0; i < 3; ++i) peer.give(frame_with(5, peer.transfer(i), "x"));
    CHECK(peer.said() == "end amqp:resource-limit-exceeded");
  }
}

TEST_CASE("amqp engine: idle time-outs") {
  EngineLimits limits{.idle_ns = 10'000'000'000};
  TestSide server(limits);
  std::string open = frame_with(0, Open{.container_id = "c", .idle_time_out = 6'000});
  server.engine.receive(open, 1'000'000'000);
  server.output.bytes.clear();
  CHECK(server.engine.tick(1'000'000'000) == 3'000'000'000);
  CHECK(server.engine.tick(3'000'000'000) == 5'000'000'000);
  CHECK(server.output.bytes == std::string("\0\0\0\x8\2\0\0\0", 8));
  server.engine.receive(std::string_view("\0\0\0\x8\2\0\0\0", 8), 9'000'000'000);
  server.engine.tick(12'000'000'000);
  CHECK_FALSE(server.is_finished);
  server.engine.tick(19'000'000'000);
  CHECK(server.is_finished);
  CHECK(server.error == "amqp:resource-limit-exceeded");
  // One that is too short to be kept up.
  ByHand peer;
  TestSide other;
  std::string hasty = frame_with(0, Open{.container_id = "c", .idle_time_out = 5});
  other.engine.receive(hasty, 1);
  CHECK(other.engine.is_close_sent());
}

TEST_CASE("amqp engine: deliveries settled out of turn leave no room behind") {
  DeliveryMap map;
  Link* link = reinterpret_cast<Link*>(8);
  uint32_t id = 0xffffff00;  // wraps around
  uint32_t oldest = id;
  map.add(id++, link, 0);
  for (int i = 0; i < 100'000; ++i) {
    map.add(id, link, i);
    REQUIRE(map.find(id) != nullptr);
    REQUIRE(map.erase(id));
    CHECK(map.find(id) == nullptr);
    ++id;
  }
  CHECK(map.size() == 1);
  CHECK(map.find(oldest) != nullptr);
  for (int i = 0; i < 10; ++i) map.add(id++, link, i);
  int seen = 0;
  map.for_range(oldest, id - 1, [&](const DeliveryMap::Entry& e) {
    ++seen;
    map.erase(e.id);
  });
  CHECK(seen == 11);
  CHECK(map.empty());
}

}  // namespace
}  // namespace millstream::wire::amqp
