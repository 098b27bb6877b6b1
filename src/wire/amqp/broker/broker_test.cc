#include <doctest/doctest.h>

#include "net/tls_for_test.h"
#include "wire/amqp/broker/broker_for_test.h"

namespace millstream::wire::amqp {
namespace {

using testing::AmqpWorld;
using testing::Client;
using testing::ClientLink;
using testing::kTestPassword;
using testing::kTestUser;
using testing::RawClient;
using wire::testing::eventually;

TEST_CASE("amqp broker: a message there and back") {
  AmqpWorld world;
  Client client(world.endpoint->port());
  auto sender = client.sender("queue://DEV.QUEUE.1");
  REQUIRE(client.put_accepted(*sender, "hello"));
  CHECK(world.depth(testing::kQueue) == 1);
  auto receiver = client.receiver(testing::kQueue);
  REQUIRE(client.wait_messages(*receiver, 1));
  CHECK(receiver->messages[0].body == "hello");
  CHECK(receiver->messages[0].bytes.substr(0, 3) == std::string("\0\x53\x70", 3));
  receiver->link->settle(receiver->messages[0].id, {.kind = StateKind::kAccepted});
  client.settle_down();
  CHECK(eventually([&] { return world.depth(testing::kQueue) == 0; }));
  client.close();
  CHECK(eventually([&] { return world.endpoint->stats().connections == 0; }));
}

// --- headers and logins

std::string sasl_frame(const std::function<void(Writer&)>& body) {
  Writer w;
  w.big32(0);
  w.byte(2);
  w.byte(1);
  w.big16(0);
  body(w);
  w.put_big32(0, static_cast<uint32_t>(w.size()));
  return std::string(w.bytes());
}

// The next frame's body after its descriptor.
uint64_t receive_sasl_frame(RawClient& raw, std::string& body) {
  Frame frame;
  while (parse_frame(raw.received, 4096, frame) != FrameResult::kWhole) {
    if (!raw.receive_more()) return 0;
  }
  body = frame.body;
  raw.received.erase(0, frame.size);
  Reader reader(body);
  uint64_t code = 0;
  REQUIRE(reader.read_descriptor(code));
  return code;
}

uint8_t log_in(RawClient& raw, std::string_view mechanism, std::string_view response) {
  raw.send(protocol_header(ProtocolId::kSasl));
  REQUIRE(raw.receive_bytes(8));
  CHECK(raw.received.substr(0, 8) == protocol_header(ProtocolId::kSasl));
  raw.received.erase(0, 8);
  std::string body;
  CHECK(receive_sasl_frame(raw, body) == descriptor::kSaslMechanisms);
  raw.send(sasl_frame([&](Writer& w) {
    encode(w, SaslInit{.mechanism = mechanism, .initial_response = response});
  }));
  REQUIRE(receive_sasl_frame(raw, body) == descriptor::kSaslOutcome);
  SaslOutcome outcome;
  REQUIRE(decode(body, outcome));
  return outcome.code;
}

std::string plain(std::string_view password) {
  return std::string(1, '\0') + std::string(kTestUser) + std::string(1, '\0') +
         std::string(password);
}

TEST_CASE("amqp broker: logins by SASL") {
  AmqpWorld world({.is_dev = false});
  world.run_mqsc(
      "ALTER QMGR CHLAUTH(DISABLED)\n"
      "SET AUTHREC OBJTYPE(QMGR) GROUP('clients') AUTHADD(CONNECT)\n");
  SUBCASE("the right password") {
    Client client(world.endpoint->port(), "c", false);
    CHECK(log_in(client.raw, "PLAIN", plain(kTestPassword)) == 0);
    client.raw.send(protocol_header(ProtocolId::kAmqp));
    REQUIRE(client.raw.receive_bytes(8));
    client.raw.received.erase(0, 8);
    client.open("c");
    CHECK(client.is_open);
    CHECK_FALSE(client.is_finished);
    auto status = world.endpoint->channel_status();
    REQUIRE(status.size() == 1);
    CHECK(status[0].user == kTestUser);
    // What he may not do.
    auto sender = client.sender("queue://SYSTEM.DEFAULT.LOCAL.QUEUE");
    CHECK(client.run_until([&] { return sender->is_detached; }));
    CHECK(sender->condition == "amqp:unauthorized-access");
  }
  SUBCASE("everything in one segment, without waiting for answers") {
    Client client(world.endpoint->port(), "c", false);
    std::string all(protocol_header(ProtocolId::kSasl));
    std::string response = plain(kTestPassword);
    all += sasl_frame([&](Writer& w) {
      encode(w, SaslInit{.mechanism = "PLAIN", .initial_response = response});
    });
    all += protocol_header(ProtocolId::kAmqp);
    client.raw.send(all);
    REQUIRE(client.raw.receive_until(std::string(protocol_header(ProtocolId::kAmqp))) != "");
    client.open("c");
    CHECK(client.is_open);
  }
  SUBCASE("a wrong password") {
    RawClient raw(world.endpoint->port());
    CHECK(log_in(raw, "PLAIN", plain("wrong")) == 1);
    CHECK(raw.receive_end());
  }
  SUBCASE("mechanisms that are not offered here") {
    for (const char* mechanism : {"ANONYMOUS", "EXTERNAL", "GSSAPI"}) {
      RawClient raw(world.endpoint->port());
      CHECK(log_in(raw, mechanism, "x") == 1);
      CHECK(raw.receive_end());
    }
  }
  SUBCASE("headers that lead nowhere are answered with the one that does") {
    for (std::string header : {std::string("AMQP\0\1\0\0", 8), std::string("AMQP\2\1\0\0", 8),
                               std::string("AMQP\1\1\0\12", 8), std::string("GET / HTTP")}) {
      RawClient raw(world.endpoint->port());
      raw.send(header);
      REQUIRE(raw.receive_bytes(8));
      CHECK(raw.received == protocol_header(ProtocolId::kSasl));
      CHECK(raw.receive_end());
    }
  }
  SUBCASE("frames that are none of SASL, too long, or in another order") {
    for (std::string bytes :
         {std::string("\0\0\0\x8\2\0\0\0", 8), std::string("\0\1\0\0\2\1\0\0", 8),
          sasl_frame([](Writer& w) { encode(w, SaslResponse{.response = "x"}); })}) {
      RawClient raw(world.endpoint->port());
      raw.send(protocol_header(ProtocolId::kSasl));
      raw.send(bytes);
      CHECK(raw.receive_end());
    }
  }
}

TEST_CASE("amqp broker: TLS that begins on the plain port") {
  AmqpWorld world;
  net::testing::TestPki pki;
  auto server = net::TlsServer::create(pki.server_settings());
  REQUIRE(server.ok());
  REQUIRE(world.endpoint->listen_tls("127.0.0.1", 0, std::move(server).take_value()).ok());
  RawClient raw(world.endpoint->port());
  raw.send(protocol_header(ProtocolId::kTls));
  REQUIRE(raw.receive_bytes(8));
  CHECK(raw.received == protocol_header(ProtocolId::kTls));
  // From here on only TLS is understood.
  raw.send(protocol_header(ProtocolId::kSasl));
  CHECK(raw.receive_end());
  CHECK(raw.received.find(protocol_header(ProtocolId::kSasl)) == std::string::npos);
  // TLS does not begin behind what was sent with its header.
  RawClient hasty(world.endpoint->port());
  hasty.send(std::string(protocol_header(ProtocolId::kTls)) + "x");
  REQUIRE(hasty.receive_bytes(8));
  CHECK(hasty.received == protocol_header(ProtocolId::kSasl));
  CHECK(hasty.receive_end());
}

TEST_CASE("amqp broker: a container that may be connected once only") {
  AmqpWorld world;
  std::string sole = encode_symbols({"sole-connection-for-container"});
  auto connect = [&](Client& c) {
    c.raw.send(protocol_header(ProtocolId::kAmqp));
    REQUIRE(c.raw.receive_bytes(8));
    c.raw.received.erase(0, 8);
    c.open("only", sole);
  };
  auto first = std::make_unique<Client>(world.endpoint->port(), "", false);
  connect(*first);
  CHECK_FALSE(first->is_finished);
  CHECK(has_symbol(first->offered, "ANONYMOUS-RELAY"));
  CHECK(has_symbol(first->offered, "sole-connection-for-container"));
  Client second(world.endpoint->port(), "", false);
  connect(second);
  CHECK(second.run_until([&] { return second.is_finished; }));
  CHECK(second.error == "amqp:invalid-field");
  CHECK(second.properties.find("amqp:connection-establishment-failed") != std::string::npos);
  CHECK(second.error_info.find("container-id") != std::string::npos);
  first->close();
  CHECK(eventually([&] { return world.endpoint->stats().connections == 0; }));
  Client third(world.endpoint->port(), "", false);
  connect(third);
  CHECK_FALSE(third.is_finished);
}

// --- settlement

uint32_t count_of(const ClientLink::Message& m) {
  Reader reader(m.bytes);
  uint64_t code = 0;
  Header header;
  REQUIRE((reader.read_descriptor(code) && code == descriptor::kHeader));
  REQUIRE(read_fields(reader, header));
  return header.delivery_count;
}

TEST_CASE("amqp broker: outcomes") {
  AmqpWorld world;
  Client client(world.endpoint->port());
  auto sender = client.sender(testing::kQueue);
  REQUIRE(client.put_accepted(*sender, "m"));
  auto receiver = client.receiver(testing::kQueue, 1);
  auto next = [&] {
    size_t before = receiver->messages.size();
    receiver->link->set_credit(1);
    REQUIRE(client.wait_messages(*receiver, before + 1));
    return receiver->messages.back();
  };
  REQUIRE(client.wait_messages(*receiver, 1));
  auto say = [&](const DeliveryState& state) {
    receiver->link->settle(receiver->messages.back().id, state);
  };
  SUBCASE("released comes again as it was, modified with a higher count") {
    say({.kind = StateKind::kReleased});
    CHECK(count_of(next()) == 0);
    say({.kind = StateKind::kModified});
    CHECK(count_of(next()) == 0);
    say({.kind = StateKind::kModified, .is_delivery_failed = true});
    CHECK(count_of(next()) == 1);
    say({.kind = StateKind::kAccepted});
    client.settle_down();
    CHECK(eventually([&] { return world.depth(testing::kQueue) == 0; }));
  }
  SUBCASE("rejected goes to the dead-letter queue") {
    say({.kind = StateKind::kRejected});
    client.settle_down();
    CHECK(eventually([&] { return world.depth("DEV.DEAD.LETTER.QUEUE") == 1; }));
    CHECK(world.depth(testing::kQueue) == 0);
  }
  SUBCASE("undeliverable here: not to this link again, but to another") {
    receiver->link->set_credit(5);
    client.settle_down();
    say({.kind = StateKind::kModified, .is_undeliverable_here = true});
    client.settle_down();
    REQUIRE(client.put_accepted(*sender, "next"));
    REQUIRE(client.wait_messages(*receiver, 2));
    CHECK(receiver->messages[1].body == "next");
    auto other = client.receiver(testing::kQueue, 1);
    REQUIRE(client.wait_messages(*other, 1));
    CHECK(other->messages[0].body == "m");
  }
  SUBCASE("settled without a word has failed") {
    say({});
    CHECK(count_of(next()) == 1);
  }
  SUBCASE("a message that fails ten times goes to the dead-letter queue") {
    for (int i = 0; i < 10; ++i) {
      say({.kind = StateKind::kModified, .is_delivery_failed = true});
      if (i < 9) CHECK(count_of(next()) == static_cast<uint32_t>(i) + 1);
    }
    receiver->link->set_credit(1);
    client.settle_down();
    CHECK(eventually([&] { return world.depth("DEV.DEAD.LETTER.QUEUE") == 1; }));
  }
  SUBCASE("an end in good order does not count, a broken connection does") {
    client.close();
    auto second = std::make_unique<Client>(world.endpoint->port());
    auto again = second->receiver(testing::kQueue, 1);
    REQUIRE(second->wait_messages(*again, 1));
    CHECK(count_of(again->messages[0]) == 0);
    second->raw.reset();
    Client third(world.endpoint->port());
    auto last = third.receiver(testing::kQueue, 1);
    REQUIRE(third.wait_messages(*last, 1));
    CHECK(count_of(last->messages[0]) == 1);
  }
}

TEST_CASE("amqp broker: settle modes") {
  AmqpWorld world;
  Client client(world.endpoint->port());
  SUBCASE("of a sender: settled, no outcome comes; a message that cannot be put ends the link") {
    auto sender = client.sender(testing::kQueue, kSenderSettled);
    client.put(*sender, "a", {}, true);
    client.settle_down();
    CHECK(eventually([&] { return world.depth(testing::kQueue) == 1; }));
    CHECK(sender->states.empty());
    world.run_mqsc("ALTER QLOCAL(DEV.QUEUE.1) PUT(DISABLED)");
    client.put(*sender, "b", {}, true);
    CHECK(client.run_until([&] { return sender->is_detached; }));
    CHECK(sender->condition == "amqp:not-allowed");
  }
  SUBCASE("of a sender: its receiver in mode second waits for the settlement") {
    auto sender = client.sender(testing::kQueue, kSenderUnsettled, kReceiverSecond);
    uint32_t id = client.put(*sender, "a");
    CHECK(client.run_until([&] { return !sender->states.empty(); }));
    CHECK(sender->states[0].kind == StateKind::kAccepted);
    CHECK_FALSE(sender->states[0].is_settled);
    sender->link->settle(id, {.kind = StateKind::kAccepted});
    client.settle_down();
    CHECK(client.session->unsettled_out() == 0);
  }
  SUBCASE("of a receiver: settled, it is gone when it is sent") {
    auto sender = client.sender(testing::kQueue);
    REQUIRE(client.put_accepted(*sender, "a"));
    auto receiver = client.receiver(testing::kQueue, 5, kSenderSettled);
    REQUIRE(client.wait_messages(*receiver, 1));
    CHECK(receiver->messages[0].is_settled);
    CHECK(eventually([&] { return world.depth(testing::kQueue) == 0; }));
  }
  SUBCASE("of a receiver: in mode second the settlement comes when it is durable") {
    auto sender = client.sender(testing::kQueue);
    REQUIRE(client.put_accepted(*sender, "a"));
    auto receiver = client.receiver(testing::kQueue, 5, kSenderUnsettled, kReceiverSecond);
    REQUIRE(client.wait_messages(*receiver, 1));
    receiver->link->say(receiver->messages[0].id, {.kind = StateKind::kAccepted}, false);
    CHECK(client.run_until([&] { return !receiver->states.empty(); }));
    CHECK(receiver->states[0].is_settled);
    CHECK(receiver->states[0].kind == StateKind::kAccepted);
    CHECK(world.depth(testing::kQueue) == 0);
  }
}

TEST_CASE("amqp broker: what cannot be put is rejected, with the reason") {
  AmqpWorld world;
  world.run_mqsc("ALTER QLOCAL(DEV.QUEUE.1) MAXDEPTH(1) MAXMSGL(100)");
  Client client(world.endpoint->port());
  auto sender = client.sender(testing::kQueue);
  auto put = [&](std::string_view body) {
    size_t before = sender->states.size();
    client.put(*sender, body);
    REQUIRE(client.run_until([&] { return sender->states.size() > before; }));
    return sender->states.back();
  };
  CHECK(put(std::string(200, 'x')).condition == "amqp:link:message-size-exceeded");
  CHECK(put("one").kind == StateKind::kAccepted);
  CHECK(put("two").condition == "amqp:resource-limit-exceeded");
  sender->link->send({.tag = "t", .head = "no message"});
  REQUIRE(client.run_until([&] { return sender->states.size() > 3; }));
  CHECK(sender->states.back().condition == "amqp:decode-error");
  CHECK_FALSE(sender->is_detached);
}

TEST_CASE("amqp broker: credit, drain, browsing, selectors") {
  AmqpWorld world;
  Client client(world.endpoint->port());
  auto sender = client.sender(testing::kQueue);
  for (const char* body : {"a", "b", "c"}) REQUIRE(client.put_accepted(*sender, body));
  SUBCASE("no more than the credit, then what the next credit asks for") {
    auto receiver = client.receiver(testing::kQueue, 2);
    client.settle_down();
    CHECK(receiver->messages.size() == 2);
    client.settle_down();
    CHECK(receiver->messages.size() == 2);
    receiver->link->set_credit(1);
    CHECK(client.wait_messages(*receiver, 3));
  }
  SUBCASE("a drain gives what is there, and takes the rest of the credit away") {
    auto receiver = client.receiver(testing::kQueue, 0);
    receiver->link->set_credit(10);
    receiver->link->request_drain();
    CHECK(client.run_until([&] { return receiver->link->credit() == 0; }));
    CHECK(receiver->messages.size() == 3);
    REQUIRE(client.put_accepted(*sender, "d"));
    client.settle_down();
    CHECK(receiver->messages.size() == 3);
    receiver->link->set_credit(1);
    CHECK(client.wait_messages(*receiver, 4));
  }
  SUBCASE("a browser leaves them, and sees each once") {
    std::string source = Client::source_of(testing::kQueue, {.distribution_mode = "copy"});
    auto browser = client.attach("b", false, {.source = source, .target = "\0\x53\x29\x45"}, 10);
    REQUIRE(client.wait_messages(*browser, 3));
    for (const auto& m : browser->messages) {
      browser->link->settle(m.id, {.kind = StateKind::kAccepted});
    }
    client.settle_down();
    CHECK(browser->messages.size() == 3);
    CHECK(world.depth(testing::kQueue) == 3);
  }
  SUBCASE("a selector that is none") {
    Writer filter;
    Writer::Compound map = filter.begin_map();
    filter.element(map);
    filter.symbol("jms-selector");
    filter.element(map);
    filter.descriptor(descriptor::kSelectorFilter);
    filter.string("this is ( none");
    filter.end(map);
    std::string source = Client::source_of(testing::kQueue, {.filter = filter.bytes()});
    auto refused = client.attach("f", false, {.source = source});
    CHECK(client.run_until([&] { return refused->is_detached; }));
    CHECK(refused->condition == "amqp:invalid-field");
    CHECK_FALSE(refused->has_source);
  }
}

TEST_CASE("amqp broker: a message in many small frames, both ways") {
  AmqpWorld world;
  Client client(world.endpoint->port(), "small", true,
                {.frame_bytes_max = 512, .incoming_window = 8});
  std::string body;
  for (int i = 0; i < 20'000; ++i) body += std::to_string(i);
  auto sender = client.sender(testing::kQueue);
  REQUIRE(client.put_accepted(*sender, body));
  auto receiver = client.receiver(testing::kQueue);
  REQUIRE(client.wait_messages(*receiver, 1));
  CHECK(receiver->messages[0].body == body);
}

// --- nodes

TEST_CASE("amqp broker: addresses that lead nowhere, and those of an anonymous relay") {
  AmqpWorld world({.is_dev = false});
  world.run_mqsc(
      "ALTER QMGR CHLAUTH(DISABLED)\n"
      "SET AUTHREC OBJTYPE(QMGR) GROUP('clients') AUTHADD(CONNECT)\n"
      "SET AUTHREC PROFILE('DEV.**') OBJTYPE(QUEUE) GROUP('clients') AUTHADD(ALL)\n");
  Client client(world.endpoint->port(), "c", false);
  CHECK(log_in(client.raw, "PLAIN", plain(kTestPassword)) == 0);
  client.raw.send(protocol_header(ProtocolId::kAmqp));
  REQUIRE(client.raw.receive_bytes(8));
  client.raw.received.erase(0, 8);
  client.open("c");
  auto missing = client.receiver("queue://NO.SUCH.QUEUE");
  CHECK(client.run_until([&] { return missing->is_detached; }));
  CHECK(missing->condition == "amqp:not-found");
  auto relay = client.sender("");
  auto send = [&](std::string_view to) {
    std::string address = Client::text_value(to);
    Writer w;
    encode(w, Properties{.to = to.empty() ? std::string_view() : address});
    w.descriptor(descriptor::kAmqpValue);
    w.string("relayed");
    size_t before = relay->states.size();
    relay->link->send({.tag = std::to_string(before), .head = w.bytes()});
    REQUIRE(client.run_until([&] { return relay->states.size() > before; }));
    return relay->states.back();
  };
  CHECK(send("queue://DEV.QUEUE.2").kind == StateKind::kAccepted);
  CHECK(send("DEV.QUEUE.2").kind == StateKind::kAccepted);
  CHECK(send("queue://NO.SUCH.QUEUE").condition == "amqp:not-found");
  CHECK(send("").kind == StateKind::kRejected);
  CHECK(world.depth("DEV.QUEUE.2") == 2);
}

TEST_CASE("amqp broker: nodes that live as long as their link") {
  AmqpWorld world;
  Client client(world.endpoint->port());
  Writer source;
  encode(source, Source{.dynamic = true});
  auto replies = client.attach("d", false, {.source = source.bytes()}, 5);
  REQUIRE(replies->address != "");
  Client other(world.endpoint->port(), "other");
  auto sender = other.sender(replies->address);
  REQUIRE(other.put_accepted(*sender, "reply"));
  CHECK(client.wait_messages(*replies, 1));
  std::string name = replies->address;
  replies->link->close();
  CHECK(client.run_until([&] { return replies->is_detached; }));
  client.settle_down();
  CHECK(eventually([&] { return world.manager->find_queue(name) == nullptr; }));
}

TEST_CASE("amqp broker: subscriptions") {
  AmqpWorld world;
  Client publisher(world.endpoint->port(), "publisher");
  auto sender = publisher.sender("topic://news/sport");
  auto subscribe = [](Client& c, std::string name, Source source, uint32_t credit = 10) {
    std::string raw = Client::source_of("topic://news/sport", source);
    return c.attach(std::move(name), false, {.source = raw}, credit);
  };
  SUBCASE("everyone gets a copy") {
    Client one(world.endpoint->port(), "one"), two(world.endpoint->port(), "two");
    auto a = subscribe(one, "s", {}), b = subscribe(two, "s", {});
    one.settle_down();
    two.settle_down();
    REQUIRE(publisher.put_accepted(*sender, "goal"));
    CHECK(one.wait_messages(*a, 1));
    CHECK(two.wait_messages(*b, 1));
  }
  SUBCASE("a durable one goes on after a detach, and ends with a close") {
    Source durable{.durable = 2, .expiry_policy = "never"};
    {
      Client one(world.endpoint->port(), "one");
      auto a = subscribe(one, "sub", durable);
      a->link->detach(false);
      CHECK(one.run_until([&] { return a->is_detached; }));
    }
    REQUIRE(publisher.put_accepted(*sender, "while away"));
    {
      Client one(world.endpoint->port(), "one");
      auto a = subscribe(one, "sub", durable);
      REQUIRE(one.wait_messages(*a, 1));
      a->link->settle(a->messages[0].id, {.kind = StateKind::kAccepted});
      a->link->detach(false);
      CHECK(one.run_until([&] { return a->is_detached; }));
      // Unsubscribed as JMS does it.
      auto gone = one.attach("sub", false, {.target = Client::empty_target()});
      CHECK(gone->has_source);
      CHECK(gone->address == "news/sport");
      gone->link->close();
      CHECK(one.run_until([&] { return gone->is_detached; }));
      auto never = one.attach("never", false, {.target = Client::empty_target()});
      CHECK(one.run_until([&] { return never->is_detached; }));
      CHECK(never->condition == "amqp:not-found");
    }
    REQUIRE(publisher.put_accepted(*sender, "for nobody"));
    Client one(world.endpoint->port(), "one");
    auto a = subscribe(one, "sub", durable);
    one.settle_down();
    CHECK(a->messages.empty());
  }
  SUBCASE("a shared one gives each message to one of those who share it") {
    std::string capabilities = encode_symbols({"shared", "global", "topic"});
    Client one(world.endpoint->port(), "one"), two(world.endpoint->port(), "two");
    auto a = subscribe(one, "team|global", {.capabilities = capabilities}, 1);
    auto b = subscribe(two, "team|global2", {.capabilities = capabilities}, 1);
    one.settle_down();
    two.settle_down();
    REQUIRE(publisher.put_accepted(*sender, "1"));
    REQUIRE(publisher.put_accepted(*sender, "2"));
    CHECK(one.wait_messages(*a, 1));
    CHECK(two.wait_messages(*b, 1));
  }
}

}  // namespace
}  // namespace millstream::wire::amqp
