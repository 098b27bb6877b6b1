#include <doctest/doctest.h>

#include "wire/amqp/broker/broker_for_test.h"

namespace millstream::wire::amqp {
namespace {

using testing::AmqpWorld;
using testing::Client;
using testing::ClientLink;
using wire::testing::eventually;

TEST_CASE("amqp broker: a message there and back") {
  AmqpWorld world;
  Client client(world.endpoint->port());
  auto sender = client.sender("queue://DEV.QUEUE.1");
  REQUIRE(client.put_accepted(*sender, "hello"));
  CHECK(world.depth("DEV.QUEUE.1") == 1);
  auto receiver = client.receiver("DEV.QUEUE.1");
  REQUIRE(client.wait_messages(*receiver, 1));
  CHECK(receiver->messages[0].body == "hello");
  receiver->link->settle(receiver->messages[0].id, {.kind = StateKind::kAccepted});
  client.settle_down();
  CHECK(eventually([&] { return world.depth("DEV.QUEUE.1") == 0; }));
  client.close();
  CHECK(eventually([&] { return world.endpoint->stats().connections == 0; }));
}

}  // namespace
}  // namespace millstream::wire::amqp
