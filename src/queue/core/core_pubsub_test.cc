// Publish/subscribe.
#include <doctest/doctest.h>

#include "queue/core/queue_for_test.h"

namespace millstream::queue {
namespace {

namespace oo = mqi::oo;
namespace gmo = mqi::gmo;
namespace pmo = mqi::pmo;
namespace so = mqi::so;
namespace reason = mqi::reason;
using objects::Attr;
using objects::ObjectType;

struct PubSubWorld : QueueWorld {
  PubSubWorld() {
    define_model("SYSTEM.NDURABLE.MODEL.QUEUE", objects::QueueDefinitionType::kTempdyn);
    define_model("SYSTEM.DURABLE.MODEL.QUEUE", objects::QueueDefinitionType::kPermdyn);
  }
  void define_model(const char* name, objects::QueueDefinitionType type) {
    objects::Definition model(ObjectType::kQmodel, name);
    model.set_number(Attr::kDeftype, static_cast<int64_t>(type));
    manager->admin().define(std::move(model), false, [](objects::AdminResult) {});
    sim.run_ready();
  }
  Hobj open_topic(Connection& c, const std::string& topic) {
    OpenCall call;
    call.object_type = mqi::ot::kTopic;
    call.object_string = topic;
    call.options = oo::kOutput;
    last = c.open(call);
    return call.handle;
  }
  SubscribeCall subscribe(Connection& c, const std::string& topic, int32_t options,
                          const std::string& name = "") {
    SubscribeCall call;
    call.object_string = topic;
    call.options = options;
    call.name = name;
    return subscribe(c, std::move(call));
  }
  SubscribeCall subscribe(Connection& c, SubscribeCall call) {
    auto shared = std::make_shared<SubscribeCall>(std::move(call));
    last = wait([&](Done done) { return c.subscribe(*shared, std::move(done)); });
    return *shared;
  }
};

mqi::MessageDescriptor pub_md(int32_t persistence) {
  mqi::MessageDescriptor md;
  md.persistence = persistence;
  return md;
}

TEST_CASE("pubsub: managed subscriptions with and without wildcards") {
  PubSubWorld w;
  SubscribeCall exact = w.subscribe(*w.a, "sport/football", so::kCreate | so::kManaged);
  REQUIRE(w.last.is_ok());
  SubscribeCall wild = w.subscribe(*w.a, "sport/#", so::kCreate | so::kManaged);
  SubscribeCall character =
      w.subscribe(*w.a, "sport/f*", so::kCreate | so::kManaged | so::kWildcardChar);
  SubscribeCall other = w.subscribe(*w.a, "news/+", so::kCreate | so::kManaged);
  Hobj topic = w.open_topic(*w.b, "sport/football");
  REQUIRE(w.last.is_ok());
  for (int32_t persistence : {0, 1}) {
    CHECK(w.put(*w.b, topic, "goal", 0, pub_md(persistence)).is_ok());
    for (SubscribeCall* call : {&exact, &wild, &character}) {
      CHECK(w.get(*w.a, call->destination) == "goal");
      CHECK(w.got.md.correlation_id == call->correlation_id);
      auto properties = mqi::PropertyListView::trusted(w.got.message->properties);
      CHECK(properties.find("mqps.Top").text() == "sport/football");
    }
    CHECK(w.get(*w.a, other.destination) == "#2033");
  }
  CHECK(w.a->close(wild.handle).is_ok());
  CHECK(w.put(*w.b, topic, "again").is_ok());
  CHECK(w.get(*w.a, exact.destination) == "again");
  w.a->abandon();
  CHECK(w.put(*w.b, topic, "x", pmo::kWarnIfNoSubsMatched) ==
        Outcome::warning(reason::kNoSubsMatched));
}

TEST_CASE("pubsub: in a unit of work, and to a queue of one's own") {
  PubSubWorld w;
  w.define("MINE");
  SubscribeCall call;
  call.object_string = "t";
  call.options = so::kCreate | so::kSetCorrelationId;
  call.correlation_id = mqi::Id("mine");
  call.destination = w.open(*w.a, "MINE", oo::kInputShared);
  call = w.subscribe(*w.a, call);
  REQUIRE(w.last.is_ok());
  Hobj topic = w.open_topic(*w.b, "t");
  CHECK(w.put(*w.b, topic, "x", pmo::kSyncpoint, pub_md(1)).is_ok());
  CHECK(w.get(*w.a, call.destination) == "#2033");
  CHECK(w.commit(*w.b).is_ok());
  CHECK(w.get(*w.a, call.destination) == "x");
  CHECK(w.got.md.correlation_id == mqi::Id("mine"));
  CHECK(w.put(*w.b, topic, "y", pmo::kSyncpoint).is_ok());
  CHECK(w.b->back().is_ok());
  CHECK(w.depth("MINE") == 0);
}

TEST_CASE("pubsub: durable subscriptions survive; resume, in use, remove") {
  PubSubWorld w;
  int32_t create = so::kCreate | so::kResume | so::kDurable | so::kManaged;
  SubscribeCall call = w.subscribe(*w.a, "d/+", create, "SUB1");
  REQUIRE(w.last.is_ok());
  (void)w.subscribe(*w.b, "d/+", create, "SUB1");
  CHECK(w.last == Outcome::failed(reason::kSubscriptionInUse));
  (void)w.subscribe(*w.b, "d/+", so::kCreate | so::kDurable | so::kManaged, "SUB1");
  CHECK(w.last == Outcome::failed(reason::kSubAlreadyExists));
  (void)w.subscribe(*w.b, "d/+", so::kResume | so::kDurable, "SUB2");
  CHECK(w.last == Outcome::failed(reason::kNoSubscription));
  (void)w.subscribe(*w.b, "d/+", so::kCreate | so::kDurable | so::kManaged);
  CHECK(w.last == Outcome::failed(reason::kSubNameError));
  w.a->abandon();
  Hobj topic = w.open_topic(*w.b, "d/1");
  CHECK(w.put(*w.b, topic, "while away", 0, pub_md(1)).is_ok());
  w.crash();
  w.start();
  REQUIRE(w.is_ok);
  topic = w.open_topic(*w.b, "d/2");
  CHECK(w.put(*w.b, topic, "after", 0, pub_md(1)).is_ok());
  call = w.subscribe(*w.a, "d/+", create, "SUB1");
  REQUIRE(w.last.is_ok());
  CHECK(w.get(*w.a, call.destination) == "while away");
  CHECK(w.get(*w.a, call.destination) == "after");
  CHECK(w.a->close(call.destination).is_ok());
  CHECK(w.a->close(call.handle, mqi::co::kRemoveSub).is_ok());
  w.restart();
  topic = w.open_topic(*w.b, "d/2");
  CHECK(w.put(*w.b, topic, "nobody", pmo::kWarnIfNoSubsMatched).reason == reason::kNoSubsMatched);
}

TEST_CASE("pubsub: shared subscriptions spread their messages") {
  PubSubWorld w;
  SubscribeCall call;
  call.object_string = "s";
  call.options = so::kCreate | so::kManaged;
  call.name = "shared";
  call.is_shared = true;
  SubscribeCall one = w.subscribe(*w.a, call);
  REQUIRE(w.last.is_ok());
  SubscribeCall two = w.subscribe(*w.b, call);
  REQUIRE(w.last.is_ok());
  auto third = w.connect("carol");
  Hobj topic = w.open_topic(*third, "s");
  CHECK(w.put(*third, topic, "1").is_ok());
  CHECK(w.put(*third, topic, "2").is_ok());
  CHECK(w.get(*w.a, one.destination) == "1");
  CHECK(w.get(*w.b, two.destination) == "2");
  w.a->abandon();
  CHECK(w.put(*third, topic, "3").is_ok());
  CHECK(w.get(*w.b, two.destination) == "3");
  w.b->abandon();
  CHECK(w.put(*third, topic, "4", pmo::kWarnIfNoSubsMatched).reason == reason::kNoSubsMatched);
}

TEST_CASE("pubsub: retained publications, on request, and after a restart") {
  PubSubWorld w;
  Hobj topic = w.open_topic(*w.b, "price/ibm");
  CHECK(w.put(*w.b, topic, "100", pmo::kRetain, pub_md(1)).is_ok());
  CHECK(w.put(*w.b, topic, "101", pmo::kRetain, pub_md(1)).is_ok());
  w.crash();
  w.start();
  SubscribeCall call = w.subscribe(*w.a, "price/#", so::kCreate | so::kManaged);
  CHECK(w.get(*w.a, call.destination) == "101");
  auto properties = mqi::PropertyListView::trusted(w.got.message->properties);
  CHECK_FALSE(properties.find("mqps.Ret").is_null());
  CHECK(w.get(*w.a, call.destination) == "#2033");
  int32_t count = 0;
  CHECK(w.wait([&](Done done) {
           return w.a->request_retained(call.handle, count, std::move(done));
         }).is_ok());
  CHECK(count == 1);
  CHECK(w.get(*w.a, call.destination) == "101");
  SubscribeCall fresh =
      w.subscribe(*w.a, "price/#", so::kCreate | so::kManaged | so::kNewPublicationsOnly);
  CHECK(w.get(*w.a, fresh.destination) == "#2033");
  objects::AdminResult result;
  make_admin_target(*w.manager, "admin")->clear_retained("price/ibm", [&](objects::AdminResult r) {
    result = std::move(r);
  });
  w.sim.run_ready();
  CHECK(result.ok());
  CHECK(w.a->request_retained(call.handle, count) == Outcome::failed(reason::kNoRetainedMsg));
  w.restart();
  call = w.subscribe(*w.a, "price/#", so::kCreate | so::kManaged);
  CHECK(w.get(*w.a, call.destination) == "#2033");
}

TEST_CASE("pubsub: topic objects say who may, and selectors what") {
  PubSubWorld w;
  objects::Definition object(ObjectType::kTopic, "CLOSED");
  object.set_text(Attr::kTopicstr, "closed");
  object.set_number(Attr::kPub, static_cast<int64_t>(objects::TopicPublish::kDisabled));
  object.set_number(Attr::kSub, static_cast<int64_t>(objects::TopicPublish::kDisabled));
  object.set_number(Attr::kDursub, static_cast<int64_t>(objects::TopicDurable::kNo));
  w.manager->admin().define(object, false, [](objects::AdminResult) {});
  w.sim.run_ready();
  OpenCall open;
  open.object_type = mqi::ot::kTopic;
  open.object_name = "CLOSED";
  open.object_string = "below";
  open.options = oo::kOutput;
  REQUIRE(w.b->open(open).is_ok());
  CHECK(open.resolved_object_string == "closed/below");
  CHECK(w.put(*w.b, open.handle, "x") == Outcome::failed(reason::kPutInhibited));
  (void)w.subscribe(*w.a, "closed/below", so::kCreate | so::kManaged);
  CHECK(w.last == Outcome::failed(reason::kSubInhibited));
  open.object_name = "NO.SUCH";
  CHECK(w.b->open(open) == Outcome::failed(reason::kUnknownObjectName));
  open = OpenCall();
  open.object_type = mqi::ot::kTopic;
  open.object_string = "t";
  open.options = oo::kInputShared;
  CHECK(w.b->open(open) == Outcome::failed(reason::kOptionNotValidForType));

  SubscribeCall call;
  call.object_string = "t";
  call.options = so::kCreate | so::kManaged;
  call.selection_string = "size > 10";
  call = w.subscribe(*w.a, call);
  REQUIRE(w.last.is_ok());
  Hobj topic = w.open_topic(*w.b, "t");
  for (int size : {5, 15}) {
    mqi::PropertyList properties;
    REQUIRE(properties.set("size", mqi::PropertyView::int32(size)).ok());
    PutCall put;
    put.body = Body::copy(std::to_string(size));
    put.properties = properties.bytes();
    CHECK(w.b->put(topic, put).is_ok());
  }
  CHECK(w.get(*w.a, call.destination) == "15");
  CHECK(w.get(*w.a, call.destination) == "#2033");
}

TEST_CASE("pubsub: delivery rules: a full durable subscriber fails a persistent publication") {
  PubSubWorld w;
  w.define("FULL", {.depth_max = 1});
  objects::Definition sub(ObjectType::kSub, "ADMIN.SUB");
  sub.set_text(Attr::kTopicstr, "t");
  sub.set_text(Attr::kDest, "FULL");
  objects::AdminResult result;
  w.manager->admin().define(sub, false, [&](objects::AdminResult r) { result = std::move(r); });
  w.sim.run_ready();
  REQUIRE(result.ok());
  SubscribeCall call = w.subscribe(*w.a, "t", so::kCreate | so::kManaged);
  Hobj topic = w.open_topic(*w.b, "t");
  CHECK(w.put(*w.b, topic, "1", 0, pub_md(1)).is_ok());
  CHECK(w.put(*w.b, topic, "2", 0, pub_md(1)) == Outcome::failed(reason::kPublicationFailure));
  CHECK(w.put(*w.b, topic, "3", 0, pub_md(0)).is_ok());
  CHECK(w.depth("FULL") == 1);
  CHECK(w.get(*w.a, call.destination) == "1");
  CHECK(w.get(*w.a, call.destination) == "3");
}

}  // namespace
}  // namespace millstream::queue
