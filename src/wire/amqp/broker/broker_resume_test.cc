#include <doctest/doctest.h>

#include "wire/amqp/broker/broker_for_test.h"

namespace millstream::wire::amqp {
namespace {

using testing::AmqpWorld;
using testing::Client;
using testing::ClientLink;
using wire::testing::eventually;

// A client's memory of unsettled deliveries, as an attach has it.
std::string unsettled_map(const std::vector<std::pair<std::string, StateKind>>& entries) {
  Writer w;
  Writer::Compound map = w.begin_map();
  for (const auto& [tag, kind] : entries) {
    w.element(map);
    w.binary(tag);
    w.element(map);
    encode_state(w, {.kind = kind});
  }
  w.end(map);
  return std::string(w.bytes());
}

std::unique_ptr<ClientLink> resume_receiver(Client& c, std::string_view unsettled,
                                            uint32_t credit) {
  std::string source = Client::source_of(testing::kQueue, {.timeout = 60});
  return c.attach("resumed", false,
                  {.source = source, .target = Client::empty_target(), .unsettled = unsettled},
                  credit);
}

TEST_CASE("amqp resumption: a receiver goes on where its connection broke") {
  AmqpWorld world;
  Client other(world.endpoint->port(), "other");
  auto sender = other.sender(testing::kQueue);
  for (const char* body : {"a", "b", "c"}) REQUIRE(other.put_accepted(*sender, body));
  auto first = std::make_unique<Client>(world.endpoint->port(), "one");
  auto before = resume_receiver(*first, {}, 3);
  REQUIRE(first->wait_messages(*before, 3));
  first->raw.reset();
  CHECK(eventually([&] { return world.endpoint->stats().connections == 1; }));
  // Nobody else gets them meanwhile.
  auto rival = other.receiver(testing::kQueue);
  other.settle_down();
  CHECK(rival->messages.empty());
  Client second(world.endpoint->port(), "one");
  SUBCASE("accepted, unknown and not remembered") {
    std::string mine = unsettled_map({{before->messages[0].tag, StateKind::kAccepted},
                                      {before->messages[1].tag, StateKind::kNone}});
    auto again = resume_receiver(second, mine, 2);
    CHECK(again->unsettled.find(before->messages[1].tag) != std::string::npos);
    REQUIRE(second.wait_messages(*again, 2));
    CHECK(again->messages[0].tag == before->messages[0].tag);
    CHECK(again->messages[0].is_resumed);
    CHECK(again->messages[0].is_settled);
    CHECK(again->messages[0].bytes.empty());
    CHECK(again->messages[1].tag == before->messages[1].tag);
    CHECK(again->messages[1].is_resumed);
    CHECK(again->messages[1].body == "b");
    again->link->settle(again->messages[1].id, {.kind = StateKind::kAccepted});
    second.settle_down();
    REQUIRE(other.wait_messages(*rival, 1));
    CHECK(rival->messages[0].body == "c");
    CHECK(eventually([&] { return world.depth(testing::kQueue) == 1; }));
  }
  SUBCASE("a client that remembers nothing: all go back") {
    auto again = resume_receiver(second, {}, 0);
    CHECK(again->unsettled.empty());
    CHECK(other.wait_messages(*rival, 3));
  }
}

TEST_CASE("amqp resumption: a sender whose message was accepted does not put it twice") {
  AmqpWorld world;
  std::string target = Client::target_of(testing::kQueue, {.timeout = 60});
  auto attach = [&](Client& c, std::string_view unsettled) {
    return c.attach("resumed", true,
                    {.rcv_settle_mode = kReceiverSecond,
                     .source = Client::empty_source(),
                     .target = target,
                     .unsettled = unsettled});
  };
  auto first = std::make_unique<Client>(world.endpoint->port(), "one");
  auto before = attach(*first, {});
  first->put(*before, "m");
  REQUIRE(first->run_until([&] { return !before->states.empty(); }));
  CHECK_FALSE(before->states[0].is_settled);
  first->raw.reset();
  CHECK(eventually([&] { return world.endpoint->stats().connections == 0; }));
  Client second(world.endpoint->port(), "one");
  std::string mine = unsettled_map({{"1", StateKind::kNone}, {"2", StateKind::kNone}});
  auto again = attach(second, mine);
  CHECK(again->unsettled == unsettled_map({{"1", StateKind::kAccepted}}));
  std::string bytes = Client::message_of("m");
  again->link->send({.tag = "1", .is_resumed = true, .head = bytes});
  again->link->send({.tag = "2", .is_resumed = true, .head = bytes});
  REQUIRE(second.run_until([&] { return again->states.size() >= 2; }));
  CHECK(again->states[0].kind == StateKind::kAccepted);
  CHECK(again->states[1].kind == StateKind::kAccepted);
  CHECK(world.depth(testing::kQueue) == 2);
}

TEST_CASE("amqp resumption: what nobody takes up in time goes back") {
  KeptLinks kept;
  std::vector<KeptDelivery> some;
  some.push_back({.tag = "t", .said = StateKind::kAccepted});
  uint64_t number = kept.keep({"c", "l", true}, std::move(some));
  CHECK(kept.take({"c", "l", false}).empty());
  kept.expire(number + 1);
  kept.expire(number);
  CHECK(kept.take({"c", "l", true}).empty());
  for (size_t i = 0; i < KeptLinks::kLinksMax; ++i) {
    CHECK(kept.keep({"c", std::to_string(i), true}, {}) != 0);
  }
  CHECK(kept.keep({"c", "one more", true}, {}) == 0);
  kept.clear();
  CHECK(kept.keep({"c", "one more", true}, {}) != 0);
}

}  // namespace
}  // namespace millstream::wire::amqp
