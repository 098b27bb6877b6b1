#include <doctest/doctest.h>

#include "wire/amqp/broker/broker_for_test.h"

namespace millstream::wire::amqp {
namespace {

using testing::AmqpWorld;
using testing::Client;
using testing::ClientLink;
using wire::testing::eventually;

constexpr const char* kFrom = "DEV.QUEUE.1";
constexpr const char* kTo = "DEV.QUEUE.2";

// A client with a coordinator.
struct Transacted {
  explicit Transacted(AmqpWorld& world) : client(world.endpoint->port()) {
    Writer target;
    encode(target, Coordinator{});
    link = client.attach("coordinator", true, {.target = target.bytes()});
  }
  ClientLink::State send(const std::function<void(Writer&)>& value) {
    Writer w;
    w.descriptor(descriptor::kAmqpValue);
    value(w);
    size_t before = link->states.size();
    link->link->send({.tag = std::to_string(before), .head = w.bytes()});
    REQUIRE(client.run_until([&] { return link->states.size() > before || link->is_detached; }));
    REQUIRE(link->states.size() > before);
    return link->states.back();
  }
  std::string declare() {
    ClientLink::State s = send([](Writer& w) { encode(w, Declare{}); });
    CHECK(s.kind == StateKind::kDeclared);
    return s.txn_id;
  }
  ClientLink::State discharge(std::string_view id, bool fails) {
    return send([&](Writer& w) { encode(w, Discharge{.txn_id = id, .fail = fails}); });
  }
  Client client;
  std::unique_ptr<ClientLink> link;
};

TEST_CASE("amqp transactions: posting, two at a time") {
  AmqpWorld world;
  Transacted t(world);
  auto sender = t.client.sender(kTo);
  std::string first = t.declare(), second = t.declare();
  CHECK(first != second);
  t.client.put(*sender, "a", first);
  t.client.put(*sender, "b", second);
  REQUIRE(t.client.run_until([&] { return sender->states.size() == 2; }));
  CHECK(sender->states[0].txn_id == first);
  CHECK(sender->states[0].kind == StateKind::kAccepted);
  auto receiver = t.client.receiver(kTo);
  t.client.settle_down();
  CHECK(t.discharge(first, true).kind == StateKind::kAccepted);
  t.client.settle_down();
  CHECK(receiver->messages.empty());
  CHECK(t.discharge(second, false).kind == StateKind::kAccepted);
  REQUIRE(t.client.wait_messages(*receiver, 1));
  CHECK(receiver->messages[0].body == "b");
  CHECK(t.discharge(second, false).condition == "amqp:transaction:unknown-id");
  CHECK(t.discharge("nonsense", false).condition == "amqp:transaction:unknown-id");
  t.client.put(*sender, "c", first);
  CHECK(t.client.run_until([&] { return sender->is_detached; }));
  CHECK(sender->condition == "amqp:transaction:unknown-id");
}

TEST_CASE("amqp transactions: a message that was refused makes the commit fail") {
  AmqpWorld world;
  world.run_mqsc("ALTER QLOCAL(DEV.QUEUE.2) MAXMSGL(50)");
  Transacted t(world);
  auto sender = t.client.sender(kTo);
  std::string id = t.declare();
  t.client.put(*sender, "good", id);
  t.client.put(*sender, std::string(100, 'x'), id);
  REQUIRE(t.client.run_until([&] { return sender->states.size() == 2; }));
  CHECK(sender->states[1].kind == StateKind::kRejected);
  CHECK(t.discharge(id, false).condition == "amqp:transaction:rollback");
  CHECK(world.depth(kTo) == 0);
}

TEST_CASE("amqp transactions: retirement, settled and not") {
  AmqpWorld world;
  Transacted t(world);
  auto sender = t.client.sender(kFrom);
  REQUIRE(t.client.put_accepted(*sender, "m"));
  auto receiver = t.client.receiver(kFrom, 1);
  REQUIRE(t.client.wait_messages(*receiver, 1));
  std::string id = t.declare();
  auto retire = [&](bool is_settled) {
    receiver->link->say(receiver->messages.back().id,
                        {.kind = StateKind::kAccepted, .txn_id = id, .is_transactional = true},
                        is_settled);
  };
  SUBCASE("committed: gone") {
    for (bool is_settled : {false, true}) {
      CAPTURE(is_settled);
      retire(is_settled);
      CHECK(t.discharge(id, false).kind == StateKind::kAccepted);
      CHECK(world.depth(kFrom) == 0);
      CHECK(t.client.run_until([&] { return t.client.session->unsettled_in() == 0; }));
      if (is_settled) break;
      REQUIRE(t.client.put_accepted(*sender, "n"));
      receiver->link->set_credit(1);
      REQUIRE(t.client.wait_messages(*receiver, 2));
      id = t.declare();
    }
  }
  SUBCASE("rolled back and settled: on the queue again, with a count") {
    retire(true);
    CHECK(t.discharge(id, true).kind == StateKind::kAccepted);
    CHECK(world.depth(kFrom) == 1);
    receiver->link->set_credit(1);
    CHECK(t.client.wait_messages(*receiver, 2));
  }
  SUBCASE("rolled back and not settled: still the link's") {
    retire(false);
    CHECK(t.discharge(id, true).kind == StateKind::kAccepted);
    receiver->link->set_credit(1);
    t.client.settle_down();
    CHECK(receiver->messages.size() == 1);
    receiver->link->settle(receiver->messages[0].id, {.kind = StateKind::kAccepted});
    t.client.settle_down();
    CHECK(eventually([&] { return world.depth(kFrom) == 0; }));
  }
  SUBCASE("rejected: to the dead-letter queue with the commit") {
    receiver->link->settle(receiver->messages.back().id,
                           {.kind = StateKind::kRejected, .txn_id = id, .is_transactional = true});
    t.client.settle_down();
    CHECK(world.depth("DEV.DEAD.LETTER.QUEUE") == 0);
    CHECK(t.discharge(id, false).kind == StateKind::kAccepted);
    CHECK(world.depth("DEV.DEAD.LETTER.QUEUE") == 1);
  }
  SUBCASE("the link goes first: the transaction keeps what it has retired") {
    retire(false);
    receiver->link->close();
    CHECK(t.client.run_until([&] { return receiver->is_detached; }));
    CHECK(t.discharge(id, false).kind == StateKind::kAccepted);
    CHECK(world.depth(kFrom) == 0);
  }
  SUBCASE("the coordinator's link goes: rolled back") {
    retire(true);
    auto other = t.client.sender(kTo);
    t.client.put(*other, "posted", id);
    t.client.settle_down();
    t.link->link->close();
    CHECK(t.client.run_until([&] { return t.link->is_detached; }));
    CHECK(eventually([&] { return world.depth(kFrom) == 1; }));
    CHECK(world.depth(kTo) == 0);
    receiver->link->set_credit(1);
    CHECK(t.client.wait_messages(*receiver, 2));
  }
}

TEST_CASE("amqp transactions: acquisition") {
  AmqpWorld world;
  Transacted t(world);
  auto sender = t.client.sender(kFrom);
  for (const char* body : {"a", "b"}) REQUIRE(t.client.put_accepted(*sender, body));
  auto receiver = t.client.receiver(kFrom, 0);
  std::string id = t.declare();
  Writer properties;
  Writer::Compound map = properties.begin_map();
  properties.element(map);
  properties.symbol("txn-id");
  properties.element(map);
  properties.binary(id);
  properties.end(map);
  receiver->link->set_flow_properties(std::string(properties.bytes()));
  receiver->link->set_credit(2);
  REQUIRE(t.client.wait_messages(*receiver, 2));
  CHECK(receiver->messages[0].is_transactional);
  receiver->link->say(receiver->messages[0].id,
                      {.kind = StateKind::kAccepted, .txn_id = id, .is_transactional = true}, true);
  SUBCASE("rolled back: what was acquired goes back, retired or not") {
    CHECK(t.discharge(id, true).kind == StateKind::kAccepted);
    CHECK(t.client.run_until([&] { return t.client.session->unsettled_in() == 0; }));
    receiver->link->set_flow_properties({});
    receiver->link->set_credit(2);
    CHECK(t.client.wait_messages(*receiver, 4));
  }
  SUBCASE("committed: what was not retired is still the link's") {
    CHECK(t.discharge(id, false).kind == StateKind::kAccepted);
    CHECK(world.depth(kFrom) == 1);
    receiver->link->settle(receiver->messages[1].id, {.kind = StateKind::kAccepted});
    t.client.settle_down();
    CHECK(eventually([&] { return world.depth(kFrom) == 0; }));
  }
}

TEST_CASE("amqp transactions: as many as one client may have open") {
  AmqpWorld world;
  Transacted t(world);
  for (size_t i = 0; i < TransactionTable::kOpenMax; ++i) {
    if (t.declare().empty()) break;
  }
  ClientLink::State refused = t.send([](Writer& w) { encode(w, Declare{}); });
  CHECK(refused.condition == "amqp:resource-limit-exceeded");
}

}  // namespace
}  // namespace millstream::wire::amqp
