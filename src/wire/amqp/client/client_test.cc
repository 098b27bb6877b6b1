#include <doctest/doctest.h>
#include <sys/socket.h>
#include <unistd.h>

#include "wire/amqp/client/client_for_test.h"
#include "wire/amqp/client/url.h"

namespace millstream::wire::amqp::client {
namespace {

// Runs `body` in a fiber of a reactor that has a test broker as well.
struct ClientWorld {
  explicit ClientWorld(TestBrokerOptions wish = {}) : options(std::move(wish)) {
    pool = net::ReactorPool::create(1).take_value();
    listener = net::Listener::open(*pool, "127.0.0.1", 0, [this](net::Reactor& reactor, int fd) {
                 brokers.push_back(std::make_unique<TestBroker>(reactor, fd, queues, options));
               }).take_value();
  }
  ~ClientWorld() {
    listener->close();
    pool->run_on(0, [this] { brokers.clear(); });
    pool->stop();
  }
  void run(const std::function<void()>& body) { pool->run_on(0, body); }
  Result<std::unique_ptr<Connection>> connect(std::string user = "app",
                                              std::string password = "secret") {
    ConnectionOptions how{.host = "127.0.0.1", .port = listener->port()};
    how.identity.user = std::move(user);
    how.identity.password = std::move(password);
    return Connection::open(*net::Reactor::current(), std::move(how));
  }
  TestBrokerOptions options;
  TestBroker::Queues queues;
  std::unique_ptr<net::ReactorPool> pool;
  std::unique_ptr<net::Listener> listener;
  std::vector<std::unique_ptr<TestBroker>> brokers;
};

std::string description(const base::Error& error) { return error.describe(); }

TEST_CASE("amqp client: URLs") {
  BrokerUrl url = parse_broker_url("amqp://me%40x:p%3Aw@[::1]:5673/").take_value();
  CHECK(url.user == "me@x");
  CHECK(url.password == "p:w");
  CHECK(url.host == "::1");
  CHECK(url.port == 5673);
  CHECK_FALSE(url.has_tls);
  url = parse_broker_url("amqps://broker.example").take_value();
  CHECK(url.has_tls);
  CHECK(url.port == 5671);
  CHECK(url.user.empty());
  for (const char* bad : {"http://x", "amqp://", "amqp://x:0", "amqp://x:65536", "amqp://x:1a",
                          "amqp://x/queue", "amqp://[::1", "amqp://[::1]5"}) {
    CHECK_MESSAGE(!parse_broker_url(bad).ok(), bad);
  }
}

TEST_CASE("amqp client: messages go and come, with outcomes") {
  ClientWorld world;
  world.run([&] {
    auto connection = world.connect().take_value();
    CHECK(world.brokers[0]->initial_response == std::string("\0app\0secret", 11));
    auto sender = Sender::open(*connection, {.address = "Q"}).take_value();
    const std::string large(300'000, 'x');
    int accepted = 0;
    for (int i = 0; i < 50; ++i) {
      REQUIRE(sender
                  ->post({.head = i == 7 ? large : std::to_string(i)},
                         [&](const Outcome& o) { accepted += o.is_accepted(); })
                  .ok());
    }
    REQUIRE(sender->wait_for_all().ok());
    CHECK(accepted == 50);
    auto receiver = Receiver::open(*connection, {.address = "Q"}).take_value();
    receiver->set_credit(60);
    for (int i = 0; i < 50; ++i) {
      auto delivery = receiver->receive(connection->deadline()).take_value();
      REQUIRE(delivery.has_value());
      CHECK(delivery->bytes == (i == 7 ? large : std::to_string(i)));
      if (i != 9) receiver->accept(delivery->id);
      if (i == 9) receiver->release(delivery->id);
    }
    REQUIRE(receiver->drain().ok());
    CHECK(receiver->waiting() == 1);  // the one that was released
    REQUIRE(connection->close().ok());
  });
}

TEST_CASE("amqp client: browsers leave messages where they are") {
  ClientWorld world;
  world.queues["Q"] = {"a", "b"};
  world.run([&] {
    auto connection = world.connect().take_value();
    auto browser = Receiver::open(*connection, {.address = "Q", .is_browser = true}).take_value();
    browser->set_credit(10);
    REQUIRE(browser->drain().ok());
    CHECK(browser->waiting() == 2);
    CHECK(world.queues["Q"].size() == 2);
    REQUIRE(connection->close().ok());
  });
}

TEST_CASE("amqp client: a drain waits for the rest of a long message") {
  ClientWorld world;
  world.queues["Q"] = {std::string(3'000'000, 'x')};
  world.run([&] {
    auto connection = world.connect().take_value();
    auto receiver = Receiver::open(*connection, {.address = "Q"}).take_value();
    receiver->set_credit(1);
    REQUIRE(receiver->drain().ok());
    CHECK(receiver->waiting() == 1);
    REQUIRE(connection->close().ok());
  });
}

TEST_CASE("amqp client: transactions") {
  ClientWorld world;
  world.queues["IN"] = {"a", "b"};
  world.run([&] {
    auto connection = world.connect().take_value();
    auto coordinator = Coordinator::open(*connection).take_value();
    auto sender = Sender::open(*connection, {.address = "OUT"}).take_value();
    auto receiver = Receiver::open(*connection, {.address = "IN"}).take_value();
    for (bool commits : {false, true}) {
      const std::string txn = coordinator->declare().take_value();
      receiver->set_credit(1);
      auto delivery = receiver->receive(connection->deadline()).take_value();
      REQUIRE(delivery.has_value());
      CHECK(delivery->bytes == "a");
      Outcome outcome = sender->send({.head = delivery->bytes, .txn_id = txn}).take_value();
      CHECK(outcome.is_accepted());
      receiver->accept(delivery->id, txn);
      CHECK(world.queues["OUT"].empty());
      REQUIRE((commits ? coordinator->commit(txn) : coordinator->roll_back(txn)).ok());
    }
    CHECK(world.queues["OUT"].size() == 1);
    CHECK(world.queues["IN"].size() == 1);
    REQUIRE(connection->close().ok());
  });
}

TEST_CASE("amqp client: a broker without transactions") {
  ClientWorld world({.has_transactions = false});
  world.run([&] {
    auto connection = world.connect().take_value();
    auto coordinator = Coordinator::open(*connection);
    REQUIRE_FALSE(coordinator.ok());
    CHECK(description(coordinator.error()).find("MS2805") != std::string::npos);
    CHECK_FALSE(connection->is_ended());
  });
}

TEST_CASE("amqp client: refusals have their reasons") {
  ClientWorld world;
  world.run([&] {
    auto wrong = world.connect("app", "wrong");
    REQUIRE_FALSE(wrong.ok());
    CHECK(description(wrong.error()).find("MS2803") != std::string::npos);
    auto nobody = world.connect("", "");
    REQUIRE_FALSE(nobody.ok());
    CHECK(description(nobody.error()).find("one of PLAIN") != std::string::npos);
    auto connection = world.connect().take_value();
    for (bool is_sender : {true, false}) {
      std::string why;
      if (is_sender) {
        auto sender = Sender::open(*connection, {.address = "REFUSED"});
        REQUIRE_FALSE(sender.ok());
        why = description(sender.error());
      } else {
        auto receiver = Receiver::open(*connection, {.address = "REFUSED"});
        REQUIRE_FALSE(receiver.ok());
        why = description(receiver.error());
      }
      CHECK(why.find("'REFUSED'") != std::string::npos);
      CHECK(why.find("amqp:not-found: no such queue") != std::string::npos);
    }
    auto sender = Sender::open(*connection, {.address = "REJECTS"}).take_value();
    Outcome outcome = sender->send({.head = "x"}).take_value();
    CHECK(outcome.kind == StateKind::kRejected);
    CHECK(outcome_text(outcome) == "rejected, amqp:not-allowed: not today");
  });
}

TEST_CASE("amqp client: a connection that breaks ends what waits") {
  ClientWorld world;
  world.run([&] {
    auto connection = world.connect().take_value();
    auto receiver = Receiver::open(*connection, {.address = "Q"}).take_value();
    receiver->set_credit(1);
    world.brokers[0]->cut();
    auto delivery = receiver->receive(net::kNever);
    REQUIRE_FALSE(delivery.ok());
    CHECK(description(delivery.error()).find("MS2801") != std::string::npos);
    CHECK_FALSE(Sender::open(*connection, {.address = "Q"}).ok());
    CHECK_FALSE(connection->close().ok());
  });
}

TEST_CASE("amqp client: something else answers") {
  auto pool = net::ReactorPool::create(1).take_value();
  std::vector<int> sockets;
  auto listener = net::Listener::open(*pool, "127.0.0.1", 0, [&](net::Reactor&, int fd) {
                    CHECK(::send(fd, "HTTP/1.1 400 Bad\r\n\r\n", 20, MSG_NOSIGNAL) == 20);
                    sockets.push_back(fd);
                  }).take_value();
  pool->run_on(0, [&] {
    auto connection =
        Connection::open(*net::Reactor::current(), {.host = "127.0.0.1", .port = listener->port()});
    REQUIRE_FALSE(connection.ok());
    CHECK(description(connection.error()).find("MS2802") != std::string::npos);
  });
  listener->close();
  pool->stop();
  for (int fd : sockets) ::close(fd);
}

}  // namespace
}  // namespace millstream::wire::amqp::client
