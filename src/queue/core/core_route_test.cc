// Publications that need no queue, and what protocols keep of their clients.
#include <doctest/doctest.h>

#include "queue/core/delivery.h"
#include "queue/core/queue_for_test.h"

namespace millstream::queue {
namespace {

namespace so = mqi::so;
namespace pmo = mqi::pmo;
using Takes = PublicationRoute::Takes;

struct RouteSink final : PublicationSink {
  void publish(const DirectPublicationRef& publication, std::span<const RouteRef> routes) override {
    ++calls;
    for (const RouteRef& route : routes) {
      got += *std::static_pointer_cast<std::string>(route->context) + ":" + publication->topic +
             "=" + std::string(publication->message->body.view()) +
             (publication->is_retained ? "(r) " : " ");
    }
  }
  std::string take() { return std::exchange(got, {}); }
  std::string got;
  int calls = 0;
};

struct RouteWorld : QueueWorld {
  SubscribeCall subscribe(const std::string& topic, const std::string& queue, Takes takes,
                          std::shared_ptr<PublicationSink> to, bool hides_dollar = false) {
    SubscribeCall call;
    call.object_string = topic;
    call.options = so::kCreate | so::kDurable | so::kNewPublicationsOnly;
    call.name = "S/" + topic;
    call.destination = open(*a, queue, mqi::oo::kInputShared);
    last = wait([&](Done done) { return a->subscribe(call, std::move(done)); });
    auto route = std::make_shared<PublicationRoute>();
    route->takes = takes;
    route->sink = std::move(to);
    route->hides_dollar_topics = hides_dollar;
    route->context = std::make_shared<std::string>(topic);
    manager->pubsub().set_route(*manager->pubsub().find(call.name), route);
    return call;
  }
  Outcome publish(const std::string& topic, const std::string& body, int32_t persistence,
                  int32_t options = 0) {
    OpenCall call;
    call.object_type = mqi::ot::kTopic;
    call.object_string = topic;
    call.options = mqi::oo::kOutput;
    (void)b->open(call);
    mqi::MessageDescriptor md;
    md.persistence = persistence;
    Outcome outcome = put(*b, call.handle, body, options, md);
    (void)b->close(call.handle);
    return outcome;
  }
};

TEST_CASE("routes: what may be lost goes straight, the rest to the queue") {
  RouteWorld w;
  w.define("Q1");
  w.define("Q2");
  auto sink = std::make_shared<RouteSink>();
  (void)w.subscribe("t/+", "Q1", Takes::kNotPersistent, sink);
  REQUIRE(w.last.is_ok());
  (void)w.subscribe("t/#", "Q2", Takes::kEverything, sink);
  CHECK(w.publish("t/1", "lost", 0).is_ok());
  CHECK(sink->take() == "t/+:t/1=lost t/#:t/1=lost ");
  CHECK(sink->calls == 1);  // one call for both
  CHECK(w.publish("t/1", "kept", 1).is_ok());
  CHECK(sink->take() == "t/#:t/1=kept ");
  CHECK(w.depth("Q1") == 1);
  CHECK(w.depth("Q2") == 0);
  // Nobody there: dropped, or kept.
  auto route = std::make_shared<PublicationRoute>();
  route->takes = Takes::kNotPersistent;
  w.manager->pubsub().set_route(*w.manager->pubsub().find("S/t/+"), route);
  CHECK(w.publish("t/1", "lost", 0).is_ok());
  CHECK(w.publish("t/1", "kept", 1).is_ok());
  CHECK(sink->take() == "t/#:t/1=lost t/#:t/1=kept ");
  CHECK(w.depth("Q1") == 2);
  CHECK(w.manager->pubsub().named("S/t").size() == 2);
  CHECK(w.manager->pubsub().named("S/t/#").size() == 1);
  CHECK(w.manager->pubsub().named("T").empty());
}

TEST_CASE("routes: in a unit of work, behind its commit") {
  RouteWorld w;
  w.define("Q1");
  auto sink = std::make_shared<RouteSink>();
  (void)w.subscribe("t", "Q1", Takes::kEverything, sink);
  CHECK(w.publish("t", "a", 0, pmo::kSyncpoint).is_ok());
  CHECK(w.publish("t", "b", 1, pmo::kSyncpoint).is_ok());
  CHECK(sink->take().empty());
  CHECK(w.commit(*w.b).is_ok());
  CHECK(sink->take() == "t:t=a t:t=b ");
  CHECK(w.publish("t", "c", 0, pmo::kSyncpoint).is_ok());
  CHECK(w.b->back().is_ok());
  CHECK(w.commit(*w.b).is_ok());
  CHECK(sink->take().empty());
}

TEST_CASE("routes: topics with a dollar, own publications, what is retained") {
  RouteWorld w;
  w.define("Q1");
  auto sink = std::make_shared<RouteSink>();
  (void)w.subscribe("#", "Q1", Takes::kEverything, sink, true);
  (void)w.subscribe("$x/#", "Q1", Takes::kEverything, sink, true);
  CHECK(w.publish("$x/1", "a", 0, pmo::kRetain).is_ok());
  CHECK(sink->take() == "$x/#:$x/1=a ");
  CHECK(w.publish("x", "b", 1, pmo::kRetain).is_ok());
  CHECK(sink->take() == "#:x=b ");
  for (const char* name : {"S/#", "S/$x/#"}) {
    UnitOfWork unit;
    CHECK(w.manager->pubsub().send_retained(*w.manager->pubsub().find(name), unit) == 1);
    w.manager->run_detached(std::move(unit));
  }
  CHECK(sink->take() == "#:x=b(r) $x/#:$x/1=a(r) ");
  w.manager->pubsub().find("S/#")->not_from = w.b->publisher();
  CHECK(w.publish("x", "c", 0).is_ok());
  CHECK(sink->take().empty());
}

TEST_CASE("retained publications: what has expired leaves memory") {
  RouteWorld w;
  mqi::MessageDescriptor md;
  md.expiry = 10;  // a second
  OpenCall call;
  call.object_type = mqi::ot::kTopic;
  call.object_string = "r";
  call.options = mqi::oo::kOutput;
  REQUIRE(w.a->open(call).is_ok());
  CHECK(w.put(*w.a, call.handle, "x", pmo::kRetain, md).is_ok());
  CHECK(w.publish("s", "y", 0, pmo::kRetain).is_ok());
  CHECK(w.manager->pubsub().drop_expired_retained() == 0);
  w.sim.run_for_ns(2'000'000'000);
  CHECK(w.manager->pubsub().drop_expired_retained() == 1);
  CHECK(w.manager->pubsub().drop_expired_retained() == 0);
}

TEST_CASE("client records: one fact with what was put and got") {
  RouteWorld w;
  w.define("Q1");
  Hobj out = w.open(*w.a, "Q1", mqi::oo::kOutput | mqi::oo::kInputShared);
  mqi::MessageDescriptor md;
  md.persistence = 1;
  CHECK(w.put(*w.a, out, "m", pmo::kSyncpoint, md).is_ok());
  w.a->add_record(client_record("x/1", "id"));
  CHECK(w.commit(*w.a).is_ok());
  w.a->add_record(client_record("x/2", "never"));
  CHECK(w.a->back().is_ok());
  w.crash();
  w.start();
  REQUIRE(w.is_ok);
  CHECK(w.depth("Q1") == 1);
  CHECK(w.manager->client_records().take("y/").empty());
  auto records = w.manager->client_records().take("x/");
  CHECK(records.size() == 1);
  CHECK(records["x/1"] == "id");
  CHECK(w.manager->client_records().take("x/").empty());
  // A private queue needs no rights; the settlement erases the record with the message.
  Hobj in = kNoObject;
  REQUIRE(w.a->open_private("Q1", in).is_ok());
  GetCall got;
  Delivery delivery;
  got.options = mqi::gmo::kSyncpoint;
  got.delivery = &delivery;
  REQUIRE(w.get(*w.a, in, got).is_ok());
  Settlement settlement(*w.manager);
  settlement.accept(std::move(delivery));
  settlement.add_record(erased_client_record("x/1"));
  CHECK(w.wait([&](Done done) { return settlement.run(w.executor, std::move(done)); }).is_ok());
  w.crash();
  w.start();
  CHECK(w.depth("Q1") == 0);
  CHECK(w.manager->client_records().take("x/").empty());
}

}  // namespace
}  // namespace millstream::queue
