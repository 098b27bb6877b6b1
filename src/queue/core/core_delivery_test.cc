// Deliveries: messages that are settled one by one, in any order, beside the connection's unit.
#include <doctest/doctest.h>

#include "queue/core/delivery.h"
#include "queue/core/queue_for_test.h"

namespace millstream::queue {
namespace {

namespace oo = mqi::oo;
namespace gmo = mqi::gmo;

struct DeliveryWorld : QueueWorld {
  DeliveryWorld() {
    define("Q");
    QueueSettings dead;
    define("DLQ", dead);
    handle = open(*a, "Q", oo::kInputShared | oo::kOutput);
  }
  void fill(int count, int32_t persistence) {
    mqi::MessageDescriptor md;
    md.persistence = persistence;
    for (int i = 1; i <= count; ++i) {
      REQUIRE(put(*a, handle, "m" + std::to_string(i), 0, md).is_ok());
    }
  }
  Delivery take(Connection& c, Hobj from) {
    Delivery delivery;
    GetCall call;
    call.options = gmo::kSyncpoint;
    call.match_options = mqi::mo::kNone;
    call.delivery = &delivery;
    last = get(c, from, call);
    return delivery;
  }
  Outcome accept(Delivery& delivery) {
    return wait([&](Done done) { return delivery.accept(executor, std::move(done)); });
  }
  static std::string body(const Delivery& delivery) {
    return delivery ? std::string(delivery.message()->body.view()) : "none";
  }
  Hobj handle = kNoObject;
};

TEST_CASE("delivery: settled in any order, accepted is gone after a crash, the rest is not") {
  for (int32_t persistence : {1, 0}) {
    DeliveryWorld w;
    w.fill(4, persistence);
    Delivery first = w.take(*w.a, w.handle);
    Delivery second = w.take(*w.a, w.handle);
    Delivery third = w.take(*w.a, w.handle);
    CHECK(w.body(first) == "m1");
    CHECK(w.body(third) == "m3");
    CHECK_FALSE(w.a->status().has_unit);
    CHECK(w.depth("Q") == 4);  // as gets of open units
    CHECK(w.accept(second).is_ok());
    CHECK_FALSE(second);
    CHECK(w.depth("Q") == 3);
    third.release();
    Delivery again = w.take(*w.a, w.handle);
    CHECK(w.body(again) == "m3");
    CHECK(again.backout_count() == 0);
    again.back_out();
    again = w.take(*w.a, w.handle);
    CHECK(w.body(again) == "m3");
    CHECK(again.backout_count() == 1);
    CHECK(again.is_maybe_redelivered());
    {
      Delivery dropped = std::move(first);
    }
    first = w.take(*w.a, w.handle);
    CHECK(w.body(first) == "m1");
    CHECK(first.backout_count() == 1);
    if (persistence == 0) continue;
    first = {};
    again = {};
    w.crash();
    w.start();
    Hobj h = w.open(*w.a, "Q", oo::kInputShared);
    CHECK(w.get(*w.a, h) == "m1");
    CHECK(w.get(*w.a, h) == "m3");
    CHECK(w.get(*w.a, h) == "m4");
    CHECK(w.get(*w.a, h) == "#2033");
  }
}

TEST_CASE("delivery: joined to a connection's unit it follows its commit and its back") {
  DeliveryWorld w;
  w.fill(3, 1);
  Delivery first = w.take(*w.a, w.handle);
  Delivery second = w.take(*w.a, w.handle);
  CHECK(first.join(*w.b).is_ok());
  CHECK_FALSE(first);
  Hobj out = w.open(*w.b, "DLQ", oo::kOutput);
  REQUIRE(w.put(*w.b, out, "reply", mqi::pmo::kSyncpoint).is_ok());
  CHECK(w.depth("Q") == 3);
  CHECK(w.commit(*w.b).is_ok());
  CHECK(w.depth("Q") == 2);
  CHECK(w.depth("DLQ") == 1);
  CHECK(second.join(*w.b).is_ok());
  CHECK(w.b->back().is_ok());
  second = w.take(*w.a, w.handle);
  CHECK(w.body(second) == "m2");
  CHECK(second.backout_count() == 1);
  CHECK(second.join(*w.b).is_ok());
  w.b->abandon();
  second = w.take(*w.a, w.handle);
  CHECK(second.backout_count() == 2);
}

TEST_CASE("delivery: rejected messages go to the dead-letter queue, and back where there is none") {
  DeliveryWorld w;
  w.fill(2, 1);
  Delivery first = w.take(*w.a, w.handle);
  Outcome outcome = w.wait(
      [&](Done done) { return first.reject(kFeedbackRejected, w.executor, std::move(done)); });
  CHECK(outcome.reason == mqi::reason::kUnknownObjectName);
  CHECK(w.depth("Q") == 2);
  QueueManagerSettings settings;
  settings.dead_letter_queue = "DLQ";
  DeliveryWorld with;
  // The settings are the manager's: an own one with a dead-letter queue.
  QueueWorld dead(7, settings);
  dead.define("Q");
  dead.define("DLQ");
  Hobj h = dead.open(*dead.a, "Q", oo::kInputShared | oo::kOutput);
  REQUIRE(dead.put(*dead.a, h, "bad").is_ok());
  REQUIRE(dead.put(*dead.a, h, "worse").is_ok());
  Delivery delivery;
  GetCall call;
  call.options = gmo::kSyncpoint;
  call.match_options = mqi::mo::kNone;
  call.delivery = &delivery;
  REQUIRE(dead.get(*dead.a, h, call).is_ok());
  CHECK(dead.wait([&](Done done) {
              return delivery.reject(kFeedbackRejected, dead.executor, std::move(done));
            })
            .is_ok());
  CHECK(dead.depth("DLQ") == 1);
  CHECK(dead.depth("Q") == 1);
  REQUIRE(dead.get(*dead.a, h, call).is_ok());
  CHECK(delivery.join_rejected(*dead.b, kFeedbackRejected).is_ok());
  CHECK(dead.depth("DLQ") == 2);  // not committed
  CHECK(dead.b->back().is_ok());
  CHECK(dead.depth("DLQ") == 1);
  CHECK(dead.depth("Q") == 1);
}

TEST_CASE("delivery: many are settled in one unit; a closed handle or a stop does not matter") {
  DeliveryWorld w;
  w.fill(10, 1);
  Settlement settlement(*w.manager);
  std::vector<Delivery> kept;
  for (int i = 0; i < 10; ++i) {
    Delivery d = w.take(*w.a, w.handle);
    REQUIRE(d);
    if (i % 2 == 0) {
      settlement.accept(std::move(d));
    } else {
      kept.push_back(std::move(d));
    }
  }
  CHECK(settlement.count() == 5);
  CHECK(w.wait([&](Done done) { return settlement.run(w.executor, std::move(done)); }).is_ok());
  CHECK(w.depth("Q") == 5);
  CHECK(w.a->close(w.handle).is_ok());
  CHECK(w.accept(kept[0]).is_ok());
  CHECK(w.depth("Q") == 4);
  w.manager->stop();
  w.sim.run_ready();
  kept.clear();  // does nothing any more
}

}  // namespace
}  // namespace millstream::queue
