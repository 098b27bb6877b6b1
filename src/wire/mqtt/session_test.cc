// MQTT over sockets, against a queue manager in memory.
#include <doctest/doctest.h>

#include "wire/mqtt/mqtt_for_test.h"
#include "wire/mqtt/writer.h"

namespace millstream::wire::mqtt {
namespace {

using testing::eventually;
using testing::MqttWorld;
using testing::RawClient;
using testing::WireWorld;

struct Received {
  PacketType type = PacketType::kReserved;
  uint8_t flags = 0;
  std::string body;
  bool is_end = false;
};

struct Client : RawClient {
  explicit Client(MqttWorld& world, std::string id = "c", Version v = Version::k311,
                  bool is_clean = true, std::string properties = {}, ConnectFields more = {})
      : RawClient(world.endpoint->port()), version(v) {
    more.version = v;
    more.is_clean = is_clean;
    more.client_id = id;
    more.properties = properties;
    std::string packet;
    write_connect(packet, more);
    send(packet);
    Received answer = next();
    if (answer.type != PacketType::kConnack || answer.body.size() < 2) return;
    is_present = answer.body[0] != 0;
    code = static_cast<uint8_t>(answer.body[1]);
  }
  Received next() {
    Received out;
    Frame frame;
    Reason reason = Reason::kSuccess;
    while (read_frame(received, kRemainingLengthMax, frame, reason) != FrameState::kWhole) {
      if (!receive_more()) {
        out.is_end = true;
        return out;
      }
    }
    out.type = frame.type;
    out.flags = frame.flags;
    out.body = frame.body;
    received.erase(0, frame.size);
    return out;
  }
  // A PUBLISH as "topic=payload qos dup retain id", answered when `answers`.
  std::string message(bool answers = true) {
    Received got = next();
    if (got.type != PacketType::kPublish) {
      return "no PUBLISH but " + std::to_string(static_cast<int>(got.type));
    }
    Frame frame{got.type, got.flags, got.body.size(), got.body};
    PublishPacket p;
    if (is_error(read_publish(frame, version, p))) return "bad";
    last_id = p.packet_id;
    last_subscription_id = 0;
    p.properties.for_each_subscription_id([&](uint32_t id) { last_subscription_id = id; });
    std::string out = std::string(p.topic) + "=" + std::string(p.payload) + " q" +
                      std::to_string(p.qos) + (p.is_duplicate ? " dup" : "") +
                      (p.is_retained ? " ret" : "");
    if (answers && p.qos == 1) ack(PacketType::kPuback, p.packet_id);
    if (answers && p.qos == 2) {
      ack(PacketType::kPubrec, p.packet_id);
      expect_ack(PacketType::kPubrel, p.packet_id);
      ack(PacketType::kPubcomp, p.packet_id);
    }
    return out;
  }
  void ack(PacketType type, uint16_t id) {
    std::string packet;
    write_ack(packet, version, type, id);
    send(packet);
  }
  void expect_ack(PacketType type, uint16_t id, Reason reason = Reason::kSuccess) {
    Received got = next();
    CHECK(got.type == type);
    Frame frame{got.type, got.flags, got.body.size(), got.body};
    AckPacket p;
    REQUIRE(read_ack(frame, version, p) == Reason::kSuccess);
    CHECK(p.packet_id == id);
    CHECK(p.reason == reason);
  }
  void publish(const std::string& topic, const std::string& payload, uint8_t qos = 0,
               uint16_t id = 0, bool is_retained = false, bool is_duplicate = false,
               const std::string& properties = {}) {
    std::string packet;
    write_publish(packet, version, {is_duplicate, qos, is_retained, id, topic, properties},
                  payload);
    send(packet);
  }
  // Publishes and has it acknowledged.
  void put(const std::string& topic, const std::string& payload, uint8_t qos = 1,
           bool is_retained = false) {
    publish(topic, payload, qos, 77, is_retained);
    if (qos == 1) expect_ack(PacketType::kPuback, 77);
    if (qos == 2) {
      expect_ack(PacketType::kPubrec, 77);
      ack(PacketType::kPubrel, 77);
      expect_ack(PacketType::kPubcomp, 77);
    }
  }
  // The code of one filter.
  int subscribe(const std::string& filter, FilterOptions options,
                const std::string& properties = {}) {
    std::string packet;
    FilterField field{filter, options};
    write_subscribe(packet, version, 7, {&field, 1}, properties);
    send(packet);
    Received got = next();
    CHECK(got.type == PacketType::kSuback);
    return got.body.empty() ? -1 : static_cast<uint8_t>(got.body.back());
  }
  int subscribe(const std::string& filter, uint8_t qos) {
    FilterOptions options;
    options.qos = qos;
    return subscribe(filter, options);
  }
  void unsubscribe(const std::string& filter) {
    std::string packet;
    std::string_view view = filter;
    write_unsubscribe(packet, version, 8, {&view, 1});
    send(packet);
    CHECK(next().type == PacketType::kUnsuback);
  }
  // Nothing is on its way.
  void settle() {
    std::string packet;
    write_empty(packet, PacketType::kPingreq);
    send(packet);
    CHECK(next().type == PacketType::kPingresp);
  }
  void disconnect(Reason reason = Reason::kSuccess, const std::string& properties = {}) {
    std::string packet;
    write_reason(packet, version, PacketType::kDisconnect, reason, properties);
    send(packet);
    CHECK(receive_end());
  }
  Reason ended_with() {
    Received got = next();
    if (got.type != PacketType::kDisconnect) return Reason::kSuccess;
    return got.body.empty() ? Reason::kSuccess
                            : static_cast<Reason>(static_cast<uint8_t>(got.body[0]));
  }

  Version version;
  bool is_present = false;
  int code = -1;
  uint16_t last_id = 0;
  uint32_t last_subscription_id = 0;
};

std::string number_property(PropertyId id, uint32_t value) {
  std::string out;
  PropertyWriter(out).number(id, value);
  return out;
}
std::string expiry(uint32_t seconds) {
  return number_property(PropertyId::kSessionExpiry, seconds);
}

TEST_CASE("mqtt session: each quality of service, in each version") {
  MqttWorld world;
  for (Version v : {Version::k31, Version::k311, Version::k5}) {
    CAPTURE(static_cast<int>(v));
    Client to(world, "to", v), from(world, "from", v);
    CHECK(to.code == 0);
    CHECK_FALSE(to.is_present);
    CHECK(to.subscribe("a/+/c", 2) == 2);
    CHECK(to.subscribe("#", 0) == 0);
    for (uint8_t qos : {0, 1, 2}) {
      from.put("a/b/c", "m", qos);
      std::vector<std::string> got{to.message(), to.message()};
      std::sort(got.begin(), got.end());
      std::vector<std::string> expected{"a/b/c=m q0", "a/b/c=m q" + std::to_string(qos)};
      CHECK(got == expected);
    }
    to.unsubscribe("#");
    from.put("x", "not seen", 1);
    from.put("a//c", "seen", 1);
    CHECK(to.message() == "a//c=seen q1");
    to.settle();
    to.disconnect();
    from.disconnect();
  }
  CHECK(eventually([&] { return world.endpoint->stats().connections == 0; }));
}

TEST_CASE("mqtt session: a message longer than what is kept unread comes whole") {
  MqttWorld world;
  world.run_mqsc("ALTER QMGR MAXMSGL(104857600)\n");
  for (Version v : {Version::k311, Version::k5}) {
    Client c(world, "c", v);
    CHECK(c.subscribe("large", 1) == 1);
    const std::string payload(5u << 20, 'x');
    c.publish("large", payload, 1, 3);
    std::string packet;
    write_empty(packet, PacketType::kPingreq);
    c.send(packet);  // behind it in the same stream
    int answers = 0;
    std::string message;
    for (int i = 0; i < 3; ++i) {
      Received got = c.next();
      if (got.type == PacketType::kPublish) {
        message = got.body;
      } else if (got.type == PacketType::kPuback || got.type == PacketType::kPingresp) {
        ++answers;
      }
    }
    CHECK(answers == 2);
    CHECK(message.ends_with(payload));
  }
}

TEST_CASE("mqtt session: who may come in") {
  MqttWorld world;
  CHECK(Client(world, "", Version::k31).code == 2);
  CHECK(Client(world, "", Version::k311, false).code == 2);
  CHECK(Client(world, "", Version::k311, true).code == 0);
  CHECK(Client(world, "", Version::k5, false).code == 0);
  ConnectFields wrong;
  wrong.user = "app";
  wrong.password = "wrong";
  WireWorld::Options closed;
  closed.is_dev = false;
  MqttWorld strict(closed);
  CHECK(Client(strict, "a", Version::k311).code == 4);
  CHECK(Client(strict, "a", Version::k311, true, {}, wrong).code == 4);
  CHECK(Client(strict, "a", Version::k5, true, {}, wrong).code ==
        static_cast<int>(Reason::kBadUserNameOrPassword));
  RawClient early(world.endpoint->port());
  early.send(std::string("\xc0\0", 2));
  CHECK(early.receive_end());
  Client method(world, "m", Version::k5, true, [] {
    std::string out;
    PropertyWriter(out).text(PropertyId::kAuthenticationMethod, "SCRAM");
    return out;
  }());
  CHECK(method.code == static_cast<int>(Reason::kBadAuthenticationMethod));
  // A packet in pieces of one byte.
  RawClient slow(world.endpoint->port());
  std::string packet;
  ConnectFields fields;
  fields.client_id = "slow";
  write_connect(packet, fields);
  for (char c : packet) slow.send(std::string_view(&c, 1));
  CHECK(slow.receive_bytes(5));
}

TEST_CASE("mqtt session: a durable session gets what came while it was away, once") {
  MqttWorld world;
  Client from(world, "from");
  {
    Client first(world, "d", Version::k311, false);
    CHECK_FALSE(first.is_present);
    CHECK(first.subscribe("t/#", 2) == 2);
    from.put("t/1", "one", 1);
    CHECK(first.message(false) == "t/1=one q1");
    first.reset();
  }
  CHECK(eventually([&] { return world.endpoint->stats().connections == 1; }));
  from.put("t/2", "two", 2);
  from.publish("t/3", "lost: quality of service 0", 0);
  from.settle();
  Client again(world, "d", Version::k311, false);
  CHECK(again.is_present);
  CHECK(again.message() == "t/1=one q1 dup");
  CHECK(again.message() == "t/2=two q2");
  again.settle();
  again.disconnect();
  Client clean(world, "d", Version::k311, true);
  CHECK_FALSE(clean.is_present);
  from.put("t/4", "nobody", 1);
  clean.settle();
}

TEST_CASE("mqtt session: quality of service 2 goes on where it was") {
  MqttWorld world;
  Client other(world, "other");
  CHECK(other.subscribe("q", 2) == 2);
  {
    Client from(world, "f", Version::k311, false);
    from.publish("q", "once", 2, 9);
    from.expect_ack(PacketType::kPubrec, 9);
    from.publish("q", "once", 2, 9, false, true);
    from.expect_ack(PacketType::kPubrec, 9);
    from.reset();
  }
  CHECK(eventually([&] { return world.endpoint->stats().connections == 1; }));
  {
    Client from(world, "f", Version::k311, false);
    CHECK(from.is_present);
    from.publish("q", "once", 2, 9, false, true);
    from.expect_ack(PacketType::kPubrec, 9);
    from.ack(PacketType::kPubrel, 9);
    from.expect_ack(PacketType::kPubcomp, 9);
    CHECK(other.message() == "q=once q2");
    from.publish("q", "again", 2, 9);
    from.expect_ack(PacketType::kPubrec, 9);
    from.disconnect();
  }
  CHECK(other.message() == "q=again q2");
  other.settle();
  // The other way: PUBREC, then the connection breaks before PUBCOMP.
  Client from(world, "g");
  uint16_t id;
  {
    Client to(world, "t", Version::k311, false);
    CHECK(to.subscribe("r", 2) == 2);
    from.put("r", "x", 2);
    CHECK(to.message(false) == "r=x q2");
    id = to.last_id;
    to.reset();
  }
  CHECK(eventually([&] { return world.endpoint->stats().connections == 2; }));
  {
    Client to(world, "t", Version::k311, false);
    CHECK(to.message(false) == "r=x q2 dup");
    CHECK(to.last_id == id);
    to.ack(PacketType::kPubrec, id);
    to.expect_ack(PacketType::kPubrel, id);
    to.reset();
  }
  CHECK(eventually([&] { return world.endpoint->stats().connections == 2; }));
  Client to(world, "t", Version::k311, false);
  to.expect_ack(PacketType::kPubrel, id);
  to.ack(PacketType::kPubcomp, id);
  to.settle();
}

TEST_CASE("mqtt session: retained publications") {
  MqttWorld world;
  Client from(world, "from", Version::k5);
  from.put("r/1", "kept", 1, true);
  from.put("r/2", "kept too", 0, true);
  from.settle();
  Client to(world, "to", Version::k5);
  CHECK(to.subscribe("r/+", 1) == 1);
  std::vector<std::string> got{to.message(), to.message()};
  std::sort(got.begin(), got.end());
  CHECK(got == std::vector<std::string>{"r/1=kept q1 ret", "r/2=kept too q0 ret"});
  from.put("r/1", "new", 1, true);
  CHECK(to.message() == "r/1=new q1");
  FilterOptions options{1, false, true, 1};
  CHECK(to.subscribe("r/+", options) == 1);  // it is there already: nothing comes
  from.put("r/1", "as published", 1, true);
  CHECK(to.message() == "r/1=as published q1 ret");
  from.put("r/1", "", 1, true);
  CHECK(to.message() == "r/1= q1 ret");
  Client late(world, "late", Version::k311);
  CHECK(late.subscribe("r/1", 1) == 1);
  late.settle();
  CHECK(late.subscribe("r/2", 1) == 1);
  CHECK(late.message() == "r/2=kept too q0 ret");
}

TEST_CASE("mqtt session: wills, takeover, keep alive") {
  MqttWorld world;
  Client watch(world, "watch", Version::k5);
  CHECK(watch.subscribe("will/#", 1) == 1);
  ConnectFields will;
  will.has_will = true;
  will.will_topic = "will/a";
  will.will_payload = "gone";
  will.will_qos = 1;
  {
    Client a(world, "a", Version::k311, true, {}, will);
  }
  CHECK(watch.message() == "will/a=gone q1");
  {
    Client a(world, "a", Version::k311, true, {}, will);
    a.disconnect();
  }
  watch.settle();
  {
    Client a(world, "a", Version::k5, true, {}, will);
    a.disconnect(Reason::kDisconnectWithWill);
  }
  CHECK(watch.message() == "will/a=gone q1");
  Client one(world, "same", Version::k5);
  Client two(world, "same", Version::k5);
  CHECK(two.code == 0);
  CHECK(one.ended_with() == Reason::kSessionTakenOver);
  CHECK(one.receive_end());
  two.settle();
  ConnectFields beats;
  beats.keep_alive_s = 1;
  Client quiet(world, "quiet", Version::k5, true, {}, beats);
  CHECK(quiet.ended_with() == Reason::kKeepAliveTimeout);
  CHECK(quiet.receive_end());
}

TEST_CASE("mqtt session: a will has the rights of its user, not more") {
  WireWorld::Options options;
  options.is_dev = false;
  MqttWorld world(options);
  world.run_mqsc(
      "ALTER QMGR CHLAUTH(DISABLED)\n"
      "SET AUTHREC OBJTYPE(QMGR) GROUP('clients') AUTHADD(CONNECT)\n"
      "DEFINE TOPIC(OPEN.TOPIC) TOPICSTR('open')\n"
      "DEFINE TOPIC(CLOSED.TOPIC) TOPICSTR('closed')\n"
      "SET AUTHREC PROFILE(OPEN.TOPIC) OBJTYPE(TOPIC) GROUP('clients') AUTHADD(PUB,SUB)\n"
      "SET AUTHREC PROFILE(CLOSED.TOPIC) OBJTYPE(TOPIC) GROUP('clients') AUTHADD(SUB)\n");
  ConnectFields login;
  login.user = testing::kTestUser;
  login.password = testing::kTestPassword;
  Client watch(world, "watch", Version::k5, true, {}, login);
  CHECK(watch.code == 0);
  CHECK(watch.subscribe("closed/#", 1) == 1);
  CHECK(watch.subscribe("open/#", 1) == 1);
  for (const char* topic : {"closed/will", "open/will"}) {
    ConnectFields fields = login;
    fields.has_will = true;
    fields.will_topic = topic;
    fields.will_payload = "gone";
    fields.will_qos = 1;
    Client leaves(world, "leaves", Version::k5, true, {}, fields);
    CHECK(leaves.code == 0);
  }
  CHECK(watch.message() == "open/will=gone q1");
  watch.settle();
}

TEST_CASE("mqtt session: what version 5 has more") {
  MqttWorld world;
  Client to(world, "to", Version::k5, true,
            number_property(PropertyId::kReceiveMaximum, 1) +
                number_property(PropertyId::kMaximumPacketSize, 200));
  FilterOptions own{2, true, false, 0};
  CHECK(to.subscribe("s", own, number_property(PropertyId::kSubscriptionId, 5)) == 2);
  to.publish("s", "own", 1, 3);
  to.expect_ack(PacketType::kPuback, 3);
  to.settle();
  Client from(world, "from", Version::k5);
  from.put("s", std::string(300, 'x'), 1);  // too large for it
  from.put("s", "1", 1);
  from.put("s", "2", 1);
  CHECK(to.message(false) == "s=1 q1");
  CHECK(to.last_subscription_id == 5);
  const uint16_t first = to.last_id;
  to.settle();  // the second waits for the answer
  to.ack(PacketType::kPuback, first);
  CHECK(to.message() == "s=2 q1");
  // Aliases.
  from.publish("s", "3", 1, 4, false, false, number_property(PropertyId::kTopicAlias, 1));
  from.expect_ack(PacketType::kPuback, 4);
  from.publish("", "4", 1, 5, false, false, number_property(PropertyId::kTopicAlias, 1));
  from.expect_ack(PacketType::kPuback, 5);
  CHECK(to.message() == "s=3 q1");
  CHECK(to.message() == "s=4 q1");
  from.publish("", "5", 1, 6, false, false, number_property(PropertyId::kTopicAlias, 2));
  CHECK(from.ended_with() == Reason::kProtocolError);
  Client bad(world, "bad", Version::k5);
  bad.publish("a/#", "x", 1, 1);
  CHECK(bad.ended_with() == Reason::kTopicNameInvalid);
  Client filter(world, "filter", Version::k5);
  CHECK(filter.subscribe("a/#/b", 1) == static_cast<int>(Reason::kTopicFilterInvalid));
  filter.ack(PacketType::kPubrel, 17);
  filter.expect_ack(PacketType::kPubcomp, 17, Reason::kPacketIdNotFound);
  Client later(world, "later", Version::k5);
  later.disconnect(Reason::kSuccess, "");
  Client longer(world, "longer", Version::k5, true);
  std::string packet;
  write_reason(packet, Version::k5, PacketType::kDisconnect, Reason::kSuccess, expiry(10));
  longer.send(packet);
  CHECK(longer.ended_with() == Reason::kProtocolError);
}

TEST_CASE("mqtt session: shared subscriptions and queues") {
  MqttWorld world;
  Client a(world, "a", Version::k5), b(world, "b", Version::k5), from(world, "from", Version::k5);
  CHECK(a.subscribe("$share/g/w/+", 1) == 1);
  CHECK(b.subscribe("$share/g/w/+", 1) == 1);
  for (int i = 0; i < 4; ++i) from.put("w/1", std::to_string(i), 1);
  // Each goes to one of them. Both are asked in turn until all four are there.
  std::vector<std::string> got;
  CHECK(eventually([&] {
    for (Client* c : {&a, &b}) {
      if (!c->received.empty() || c->receive_more(1)) got.push_back(c->message());
    }
    return got.size() >= 4;
  }));
  std::sort(got.begin(), got.end());
  CHECK(got == std::vector<std::string>{"w/1=0 q1", "w/1=1 q1", "w/1=2 q1", "w/1=3 q1"});
  a.settle();
  b.settle();
}

TEST_CASE("mqtt session: a queue is there by its name") {
  MqttWorld world;
  Client c(world, "c", Version::k5);
  c.put("queue://DEV.QUEUE.1", "to a queue", 1);
  CHECK(world.depth("DEV.QUEUE.1") == 1);
  CHECK(c.subscribe("queue://DEV.QUEUE.1", 1) == 1);
  CHECK(c.message() == "queue://DEV.QUEUE.1=to a queue q1");
  CHECK(eventually([&] { return world.depth("DEV.QUEUE.1") == 0; }));
}

}  // namespace
}  // namespace millstream::wire::mqtt
