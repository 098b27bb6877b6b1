// Consumers over a queue manager: credit, drain, settlement, browsing, subscriptions.
#include "wire/common/consumer.h"

#include <doctest/doctest.h>

#include <deque>

#include "wire/common/wire_for_test.h"

namespace millstream::wire {
namespace {

using testing::eventually;
using testing::WireWorld;

// Everything runs on the reactor; what tests look at is under the mutex.
struct Collector final : ConsumerHandler {
  void on_message(Consumer& consumer, Consumed message) override {
    std::lock_guard lock(mutex);
    bodies.emplace_back(message.message->body.view());
    held.push_back(std::move(message.delivery));
    if (pauses) consumer.pause();
  }
  void on_consumer_failed(Consumer&, int32_t code) override {
    std::lock_guard lock(mutex);
    failure = code;
  }
  size_t count() {
    std::lock_guard lock(mutex);
    return bodies.size();
  }
  std::string all() {
    std::lock_guard lock(mutex);
    std::string out;
    for (const std::string& body : bodies) out += body + ' ';
    return out;
  }
  std::mutex mutex;
  std::vector<std::string> bodies;
  std::deque<queue::Delivery> held;
  int32_t failure = 0;
  bool pauses = false;
};

struct ConsumerWorld : WireWorld {
  ConsumerWorld() {
    on_reactor([&] {
      Caller caller{.protocol = "test", .channel = "TEST", .address = "127.0.0.1"};
      REQUIRE(broker->connect(caller, {"app", true}, "test", *executors[0], connection).is_ok());
      REQUIRE(broker->connect(caller, {"app", true}, "other", *executors[0], other).is_ok());
    });
  }
  ~ConsumerWorld() {
    on_reactor([&] {
      for (auto& c : consumers) c->close();
      consumers.clear();
      collector.held.clear();
      connection->abandon();
      other->abandon();
      connection = other = nullptr;
    });
  }
  std::shared_ptr<Consumer> consume(ConsumeOptions options, uint32_t credit) {
    std::shared_ptr<Consumer> consumer;
    std::atomic<int> reason{-1};
    on_reactor([&] {
      consumer = Consumer::create(connection, collector);
      consumers.push_back(consumer);
      consumer->open(std::move(options), [&](const queue::Outcome& o) { reason = o.reason; });
    });
    REQUIRE(eventually([&] { return reason != -1; }));
    open_reason = reason;
    if (reason == 0) on_reactor([&] { consumer->set_credit(credit); });
    return consumer;
  }
  void put(const std::string& name, const std::string& body, bool is_topic = false) {
    std::atomic<bool> is_done{false};
    queue::OpenCall open;
    queue::PutCall call;
    on_reactor([&] {
      open.object_type = is_topic ? mqi::ot::kTopic : mqi::ot::kQueue;
      (is_topic ? open.object_string : open.object_name) = name;
      call.body = queue::Body::copy(body);
      call.md.persistence = 1;
      queue::Outcome o = other->put1(open, call, [&](const queue::Outcome&) { is_done = true; });
      CHECK_FALSE(o.is_failed());
      if (!o.is_pending()) is_done = true;
    });
    REQUIRE(eventually([&] { return is_done.load(); }));
  }
  static ConsumeOptions of_queue(const std::string& name) {
    ConsumeOptions options;
    options.node = {NodeKind::kQueue, name};
    return options;
  }
  static ConsumeOptions of_topic(const std::string& name) {
    ConsumeOptions options;
    options.node = {NodeKind::kTopic, name};
    return options;
  }

  std::shared_ptr<queue::Connection> connection, other;
  std::vector<std::shared_ptr<Consumer>> consumers;
  Collector collector;
  int open_reason = 0;
};

TEST_CASE("wire consumer: takes as many as it has credit for, and gives back what is dropped") {
  ConsumerWorld w;
  for (int i = 1; i <= 5; ++i) w.put("DEV.QUEUE.1", std::to_string(i));
  auto consumer = w.consume(w.of_queue("DEV.QUEUE.1"), 2);
  CHECK(eventually([&] { return w.collector.count() == 2; }));
  w.on_reactor([&] { w.collector.held.pop_front(); });  // backed out
  w.on_reactor([&] { consumer->add_credit(1); });
  CHECK(eventually([&] { return w.collector.count() == 3; }));
  CHECK(w.collector.all() == "1 2 1 ");
  CHECK(w.depth("DEV.QUEUE.1") == 5);
  std::atomic<int> settled{0};
  w.on_reactor([&] {
    for (auto& d : w.collector.held) {
      (void)d.accept(*w.executors[0], [&](const queue::Outcome& o) { settled += o.is_ok(); });
    }
  });
  CHECK(eventually([&] { return settled == 2; }));
  CHECK(w.depth("DEV.QUEUE.1") == 3);
  w.on_reactor([&] { consumer->set_credit(100); });
  CHECK(eventually([&] { return w.collector.count() == 6; }));
  w.put("DEV.QUEUE.1", "late");  // to a get that waits
  CHECK(eventually([&] { return w.collector.count() == 7; }));
  w.on_reactor([&] { CHECK(consumer->credit() == 96); });
}

TEST_CASE("wire consumer: drain takes what is there and ends with no credit") {
  ConsumerWorld w;
  w.put("DEV.QUEUE.1", "1");
  auto consumer = w.consume(w.of_queue("DEV.QUEUE.1"), 10);
  CHECK(eventually([&] { return w.collector.count() == 1; }));
  std::atomic<int> drained{0};
  // Its get waits now.
  w.on_reactor([&] { consumer->drain([&] { ++drained; }); });
  CHECK(eventually([&] { return drained == 1; }));
  w.on_reactor([&] { CHECK(consumer->credit() == 0); });
  w.put("DEV.QUEUE.1", "2");
  w.put("DEV.QUEUE.1", "3");
  w.on_reactor([&] {
    CHECK(w.collector.count() == 1);
    consumer->set_credit(1);
    consumer->drain([&] { ++drained; });
  });
  CHECK(eventually([&] { return drained == 2; }));
  CHECK(w.collector.all() == "1 2 ");
  w.on_reactor([&] { consumer->drain([&] { ++drained; }); });
  CHECK(drained == 3);
}

TEST_CASE("wire consumer: a pause stops it, a browser shows each message once") {
  ConsumerWorld w;
  for (int i = 1; i <= 3; ++i) w.put("DEV.QUEUE.1", std::to_string(i));
  w.collector.pauses = true;
  ConsumeOptions browse = w.of_queue("DEV.QUEUE.1");
  browse.browses = true;
  auto consumer = w.consume(browse, 100);
  CHECK(w.collector.count() == 1);
  w.on_reactor([&] {
    w.collector.pauses = false;
    consumer->resume();
  });
  CHECK(eventually([&] { return w.collector.count() == 3; }));
  w.put("DEV.QUEUE.1", "4");
  CHECK(eventually([&] { return w.collector.count() == 4; }));
  CHECK(w.collector.all() == "1 2 3 4 ");
  CHECK(w.depth("DEV.QUEUE.1") == 4);
  w.on_reactor([&] {
    for (auto& d : w.collector.held) CHECK_FALSE(d);
  });
}

TEST_CASE("wire consumer: selectors, missing queues, exclusive use, poison, settled at once") {
  ConsumerWorld w;
  w.consume(w.of_queue("SYSTEM.NOT.THERE"), 1);
  CHECK(w.open_reason == mqi::reason::kUnknownObjectName);
  ConsumeOptions bad = w.of_queue("DEV.QUEUE.1");
  bad.selector = "this is = = none";
  w.consume(bad, 1);
  CHECK(w.open_reason == mqi::reason::kSelectorSyntaxError);
  ConsumeOptions exclusive = w.of_queue("DEV.QUEUE.2");
  exclusive.is_exclusive = true;
  auto first = w.consume(exclusive, 0);
  CHECK(w.open_reason == 0);
  w.consume(w.of_queue("DEV.QUEUE.2"), 1);
  CHECK(w.open_reason == mqi::reason::kObjectInUse);
  w.put("DEV.QUEUE.1", "poison");
  auto consumer = w.consume(w.of_queue("DEV.QUEUE.1"), 1'000);
  // Ten times backed out; then it goes to the dead-letter queue.
  for (size_t i = 1; i <= 10; ++i) {
    CHECK(eventually([&] { return w.collector.count() == i; }));
    w.on_reactor([&] { w.collector.held.clear(); });
  }
  CHECK(eventually([&] { return w.depth("DEV.DEAD.LETTER.QUEUE") == 1; }));
  CHECK(w.depth("DEV.QUEUE.1") == 0);
  CHECK(w.collector.count() == 10);
  w.on_reactor([&] { consumer->close(); });
  ConsumeOptions settled = w.of_queue("DEV.QUEUE.1");
  settled.is_settled = true;
  w.put("DEV.QUEUE.1", "gone");
  w.consume(settled, 10);
  CHECK(eventually([&] { return w.collector.count() == 11; }));
  CHECK(w.depth("DEV.QUEUE.1") == 0);
}

TEST_CASE("wire consumer: gets that are inhibited are waited for, a deleted queue ends it") {
  ConsumerWorld w;
  auto consumer = w.consume(w.of_queue("DEV.QUEUE.1"), 10);
  w.run_mqsc("ALTER QLOCAL(DEV.QUEUE.1) GET(DISABLED)");
  w.put("DEV.QUEUE.1", "1");
  w.run_mqsc("ALTER QLOCAL(DEV.QUEUE.1) GET(ENABLED) DESCR('again')");
  CHECK(eventually([&] { return w.collector.count() == 1; }));
  CHECK(w.collector.failure == 0);
}

TEST_CASE("wire consumer: subscriptions, durable, shared, and without own publications") {
  ConsumerWorld w;
  auto plain = w.consume(w.of_topic("a/+"), 10);
  w.put("a/b", "1", true);
  w.put("a/c", "2", true);
  CHECK(eventually([&] { return w.collector.count() == 2; }));
  w.on_reactor([&] { plain->close(); });
  ConsumeOptions durable = w.of_topic("a/#");
  durable.subscription = "client:sub";
  durable.is_durable = true;
  auto consumer = w.consume(durable, 10);
  CHECK(w.open_reason == 0);
  w.on_reactor([&] { consumer->close(); });
  w.put("a/b", "3", true);
  durable.resume = 2;
  consumer = w.consume(durable, 10);
  CHECK(eventually([&] { return w.collector.count() == 3; }));
  w.on_reactor([&] {
    w.collector.held.clear();
    consumer->close(/*removes_subscription=*/true);
  });
  w.consume(durable, 10);
  CHECK(w.open_reason == mqi::reason::kNoSubscription);
  ConsumeOptions no_local = w.of_topic("a/#");
  no_local.is_no_local = true;
  std::atomic<int> reason{-1};
  Collector own;
  std::shared_ptr<Consumer> mine;
  w.on_reactor([&] {
    mine = Consumer::create(w.other, own);  // the connection that publishes
    mine->open(no_local, [&](const queue::Outcome& o) { reason = o.reason; });
    mine->set_credit(10);
  });
  CHECK(reason == 0);
  w.consume(no_local, 10);
  w.put("a/x", "4", true);
  CHECK(eventually([&] { return w.collector.count() >= 4; }));
  CHECK(own.count() == 0);
  w.on_reactor([&] { mine->close(); });
}

TEST_CASE("wire broker: addresses") {
  auto parse = [](std::string_view text, NodeKind hint = NodeKind::kAny) {
    Node node = Broker::parse_address(text, hint, "QM1");
    return (node.is_queue() ? "q " : node.is_topic() ? "t " : "? ") + node.name;
  };
  CHECK(parse("queue://A.B") == "q A.B");
  CHECK(parse("queue:///A.B?priority=3") == "q A.B");
  CHECK(parse("queue://QM1/A") == "q A");
  CHECK(parse("queue://A/B") == "q A/B");
  CHECK(parse("/queue/A") == "q A");
  CHECK(parse("topic://a/b?x=1") == "t a/b");
  CHECK(parse("/topic/a/?b") == "t a/?b");
  CHECK(parse("A") == "? A");
  CHECK(parse("A", NodeKind::kTopic) == "t A");
  CHECK(parse("/topic/A", NodeKind::kQueue) == "t A");
  for (bool is_dev : {true, false}) {
    WireWorld world({.is_dev = is_dev});
    Node node;
    CHECK(world.broker->resolve("DEV.QUEUE.1", NodeKind::kAny, node).is_ok());
    CHECK(node.is_queue());
    CHECK(world.broker->resolve("some/topic", NodeKind::kAny, node).is_ok());
    CHECK(node.is_topic());
    CHECK(world.broker->resolve("NEW", NodeKind::kAny, node).is_ok());
    CHECK(node.is_queue() == is_dev);
    CHECK(world.broker->resolve("queue://NEW", NodeKind::kAny, node).is_ok() == is_dev);
    CHECK(world.broker->resolve("queue://no name", NodeKind::kAny, node).is_failed());
    CHECK(world.broker->resolve("", NodeKind::kAny, node).is_failed());
  }
}

}  // namespace
}  // namespace millstream::wire
