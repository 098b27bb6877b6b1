#include <doctest/doctest.h>

#include "wire/amqp/broker/broker_for_test.h"

namespace millstream::wire::amqp {
namespace {

using testing::AmqpWorld;
using testing::Client;
using testing::RawClient;
using wire::testing::eventually;

// What a client writes to open, begin, attach a sender and put one message, in one piece.
std::string whole_conversation() {
  std::string bytes(protocol_header(ProtocolId::kAmqp));
  auto frame = [&](const auto& performative, std::string_view payload = {}) {
    Writer w;
    w.big32(0);
    w.byte(2);
    w.byte(0);
    w.big16(0);
    encode(w, performative);
    w.raw(payload);
    w.put_big32(0, static_cast<uint32_t>(w.size()));
    bytes += w.bytes();
  };
  std::string target = Client::target_of(testing::kQueue);
  frame(Open{.container_id = "c"});
  frame(Begin{.next_outgoing_id = 0, .incoming_window = 100, .outgoing_window = 100});
  frame(Attach{.name = "l",
               .handle = 0,
               .source = Client::empty_source(),
               .target = target,
               .initial_delivery_count = 0});
  // Nobody waits for the credit of a slow peer here: the broker grants it with its attach.
  std::string message = Client::message_of("m");
  frame(Transfer{.handle = 0, .delivery_id = 0, .delivery_tag = "t", .settled = true}, message);
  frame(Close{});
  return bytes;
}

TEST_CASE("amqp hostile: segments of one byte") {
  AmqpWorld world;
  RawClient raw(world.endpoint->port());
  std::string bytes = whole_conversation();
  for (char c : bytes) raw.send(std::string_view(&c, 1));
  CHECK(raw.receive_end());
  CHECK(eventually([&] { return world.depth(testing::kQueue) == 1; }));
}

TEST_CASE("amqp hostile: cut off anywhere, the broker goes on and nothing is left") {
  AmqpWorld world;
  std::string bytes = whole_conversation();
  for (size_t size = 0; size < bytes.size(); size += 3) {
    RawClient raw(world.endpoint->port());
    raw.send(std::string_view(bytes).substr(0, size));
    size % 2 == 0 ? raw.reset() : raw.close();
  }
  CHECK(eventually([&] { return world.endpoint->stats().connections == 0; }));
  Client client(world.endpoint->port());
  auto sender = client.sender(testing::kQueue);
  CHECK(client.put_accepted(*sender, "still"));
}

TEST_CASE("amqp hostile: lengths and bytes that cannot be, at every place") {
  AmqpWorld world;
  const std::string bytes = whole_conversation();
  for (size_t at = 8; at < bytes.size(); at += 2) {
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(at % 4 == 0 ? 0xff : damaged[at] ^ 0x55);
    RawClient raw(world.endpoint->port());
    raw.send(damaged);
    raw.finish_sending();
    CHECK(raw.receive_end());
  }
  CHECK(eventually([&] { return world.endpoint->stats().connections == 0; }));
}

TEST_CASE("amqp hostile: a receiver that takes nothing does not stop others") {
  AmqpWorld world;
  Client slow(world.endpoint->port(), "slow");
  auto held = slow.receiver(testing::kQueue, 1'000);
  slow.settle_down();
  Client good(world.endpoint->port(), "good");
  auto sender = good.sender(testing::kQueue);
  const std::string body(200'000, 'x');
  for (int i = 0; i < 120; ++i) REQUIRE(good.put_accepted(*sender, body));
  // The slow one has what fits into its output and the kernel's; the rest is there for others.
  auto receiver = good.receiver(testing::kQueue, 1);
  REQUIRE(good.wait_messages(*receiver, 1));
  CHECK(receiver->messages[0].body == body);
}

TEST_CASE("amqp hostile: limits of deliveries and links") {
  EndpointLimits limits;
  limits.unsettled_bytes_max = 1'000;
  limits.links_max = 3;
  AmqpWorld world({}, limits);
  Client client(world.endpoint->port());
  auto sender = client.sender(testing::kQueue);
  for (int i = 0; i < 5; ++i) REQUIRE(client.put_accepted(*sender, std::string(400, 'x')));
  auto receiver = client.receiver(testing::kQueue, 10);
  REQUIRE(client.wait_messages(*receiver, 3));
  client.settle_down();
  CHECK(receiver->messages.size() == 3);
  for (size_t i = 0; i < 3; ++i) {
    receiver->link->settle(receiver->messages[i].id, {.kind = StateKind::kAccepted});
  }
  CHECK(client.wait_messages(*receiver, 5));
  auto third = client.receiver("DEV.QUEUE.2");
  CHECK(third->is_attached);
  // The broker has told how many there may be.
  testing::ClientLink fourth;
  CHECK(client.session->attach("more", false, {}, fourth) == nullptr);
  CHECK(client.is_open);
}

}  // namespace
}  // namespace millstream::wire::amqp
