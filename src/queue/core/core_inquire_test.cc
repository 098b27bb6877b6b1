// MQINQ, MQSET, MQSTAT, CAPEXPRY, levels of subscriptions, MQSO_ALTER.
#include <doctest/doctest.h>

#include "queue/core/object_selectors.h"
#include "queue/core/queue_for_test.h"

namespace millstream::queue {
namespace {

namespace oo = mqi::oo;
namespace gmo = mqi::gmo;
namespace pmo = mqi::pmo;
namespace so = mqi::so;
namespace reason = mqi::reason;
using objects::Attr;
using objects::Definition;
using objects::ObjectType;

void define_object(QueueWorld& w, Definition definition) {
  (void)w.wait([&](Done done) {
    w.manager->admin().define(std::move(definition), true, [done](objects::AdminResult r) {
      CHECK(r.ok());
      done(Outcome::ok());
    });
    return Outcome::pending();
  });
}

std::string texts(const std::vector<int32_t>& numbers) {
  std::string out;
  for (int32_t n : numbers) out += std::to_string(n) + " ";
  return out;
}

TEST_CASE("MQINQ: numbers and texts of a local queue in the order of the selectors") {
  QueueWorld w;
  w.define("Q", {.depth_max = 77, .backout_threshold = 3, .backout_queue = "BQ"});
  Hobj h = w.open(*w.a, "Q", oo::kInquire | oo::kOutput | oo::kInputShared);
  CHECK(w.put(*w.a, h, "x").is_ok());
  std::vector<int32_t> numbers;
  std::string text;
  const int32_t selectors[] = {15, 2016, 3, 22, 17, 18, 20, 2019};
  CHECK(w.a->inquire(h, selectors, numbers, text).is_ok());
  CHECK(texts(numbers) == "77 1 3 1 1 1 ");
  CHECK(text == std::string("Q") + std::string(47, ' ') + "BQ" + std::string(46, ' '));
  const int32_t dates[] = {2004, 2005};
  CHECK(w.a->inquire(h, dates, numbers, text).is_ok());
  CHECK(text.size() == 20);
  CHECK(text[4] == '-');
  CHECK(text[14] == '.');
}

TEST_CASE("MQINQ: every selector of every type answers, others are refused or warned of") {
  QueueWorld w;
  w.define("Q");
  Definition alias(ObjectType::kQalias, "A");
  alias.set_text(Attr::kTarget, "Q");
  define_object(w, std::move(alias));
  for (const ObjectSelector& s : object_selectors()) {
    CAPTURE(s.selector);
    CHECK((s.selector >= 2001) == (s.length > 0));
    for (auto [name, bit] : std::vector<std::pair<std::string, int>>{{"Q", 1}, {"A", 2}, {"", 8}}) {
      OpenCall call;
      call.object_name = name;
      call.object_type = name.empty() ? mqi::ot::kQueueManager : mqi::ot::kQueue;
      call.options = oo::kInquire;
      REQUIRE(w.a->open(call).is_ok());
      std::vector<int32_t> numbers;
      std::string text;
      Outcome o = w.a->inquire(call.handle, std::vector<int32_t>{s.selector}, numbers, text);
      bool fits = find_object_selector(s.selector, static_cast<uint8_t>(bit)) != nullptr;
      CHECK(o == (fits ? Outcome::ok() : Outcome::warning(reason::kSelectorNotForType)));
      CHECK(numbers.size() + text.size() > 0);
      (void)w.a->close(call.handle);
    }
  }
  Hobj h = w.open(*w.a, "Q", oo::kInquire);
  std::vector<int32_t> numbers;
  std::string text;
  CHECK(w.a->inquire(h, std::vector<int32_t>{1999}, numbers, text) ==
        Outcome::failed(reason::kSelectorError));
  CHECK(w.a->inquire(h, std::vector<int32_t>(257, 3), numbers, text) ==
        Outcome::failed(reason::kSelectorLimitExceeded));
  Hobj out = w.open(*w.a, "Q", oo::kOutput);
  CHECK(w.a->inquire(out, std::vector<int32_t>{3}, numbers, text) ==
        Outcome::failed(reason::kNotOpenForInquire));
}

TEST_CASE("MQSET: inhibits and triggers, at once and after a restart") {
  QueueWorld w;
  w.define("Q");
  Hobj h = w.open(*w.a, "Q", oo::kSet | oo::kOutput | oo::kInputShared | oo::kInquire);
  auto set = [&](std::vector<int32_t> selectors, std::vector<int32_t> numbers,
                 std::string text = "") {
    return w.wait(
        [&](Done done) { return w.a->set(h, selectors, numbers, text, std::move(done)); });
  };
  CHECK(set({10, 24, 28, 29, 26, 2023}, {1, 1, 3, 5, 2}, "data" + std::string(60, ' ')).is_ok());
  CHECK(w.put(*w.a, h, "x") == Outcome::failed(reason::kPutInhibited));
  w.crash();
  w.start();
  h = w.open(*w.a, "Q", oo::kSet | oo::kOutput | oo::kInputShared | oo::kInquire);
  CHECK(w.put(*w.a, h, "x") == Outcome::failed(reason::kPutInhibited));
  std::vector<int32_t> numbers;
  std::string text;
  CHECK(w.a->inquire(h, std::vector<int32_t>{24, 28, 29, 26, 2023}, numbers, text).is_ok());
  CHECK(texts(numbers) == "1 3 5 2 ");
  CHECK(text.substr(0, 6) == "data  ");
  CHECK(set({10, 9}, {0, 1}).is_ok());
  CHECK(w.put(*w.a, h, "x").is_ok());
  CHECK(w.get(*w.a, h) == "#2016");
  CHECK(set({9}, {0}).is_ok());
  CHECK(w.get(*w.a, h) == "x");

  CHECK(set({9}, {2}) == Outcome::failed(reason::kInhibitValueError));
  CHECK(set({10}, {-1}) == Outcome::failed(reason::kInhibitValueError));
  CHECK(set({24}, {2}) == Outcome::failed(reason::kTriggerControlError));
  CHECK(set({28}, {4}) == Outcome::failed(reason::kTriggerTypeError));
  CHECK(set({26}, {10}) == Outcome::failed(reason::kTriggerMsgPriorityError));
  CHECK(set({29}, {0}) == Outcome::failed(reason::kTriggerDepthError));
  CHECK(set({15}, {10}) == Outcome::failed(reason::kSelectorError));
  CHECK(set({4711}, {10}) == Outcome::failed(reason::kSelectorError));
  CHECK(set({2006}, {}, std::string(48, ' ')) == Outcome::failed(reason::kSelectorNotForType));
  CHECK(set({9, 10}, {1}) == Outcome::failed(reason::kIntAttrCountTooSmall));
  CHECK(set({2023}, {}, "short") == Outcome::failed(reason::kCharAttrsTooShort));
  // Nothing of a call that failed counts.
  CHECK(w.put(*w.a, h, "y").is_ok());
  Hobj in = w.open(*w.a, "Q", oo::kInputShared);
  CHECK(w.a->set(in, std::vector<int32_t>{9}, std::vector<int32_t>{1}, "") ==
        Outcome::failed(reason::kNotOpenForSet));
}

TEST_CASE("MQSET: of a temporary dynamic queue nothing is stored") {
  QueueWorld w;
  Definition model(ObjectType::kQmodel, "MODEL");
  define_object(w, std::move(model));
  OpenCall call;
  call.object_name = "MODEL";
  call.dynamic_name = "TEMP.Q";
  call.options = oo::kSet | oo::kOutput | oo::kInputAsQueueDef;
  REQUIRE(w.wait([&](Done done) { return w.a->open(call, std::move(done)); }).is_ok());
  CHECK(w.wait([&](Done done) {
           return w.a->set(call.handle, std::vector<int32_t>{10}, std::vector<int32_t>{1}, "",
                           std::move(done));
         }).is_ok());
  CHECK(w.put(*w.a, call.handle, "x") == Outcome::failed(reason::kPutInhibited));
  w.crash();
  w.start();
  CHECK(w.manager->objects().find("TEMP.Q") == nullptr);
  CHECK(w.manager->admin().catalogue().find(objects::ObjectFamily::kQueue, "TEMP.Q") == nullptr);
}

TEST_CASE("MQSTAT: asynchronous puts are counted, the first failure is kept") {
  QueueWorld w;
  w.define("Q", {.depth_max = 3});
  Hobj h = w.open(*w.a, "Q", oo::kOutput);
  mqi::MessageDescriptor persistent;
  persistent.persistence = 1;
  CHECK(w.put(*w.a, h, "1", pmo::kAsyncResponse).is_ok());
  CHECK(w.put(*w.a, h, "2", pmo::kAsyncResponse, persistent).is_ok());
  mqi::MessageDescriptor high;
  high.priority = 10;
  CHECK(w.put(*w.a, h, "3", pmo::kAsyncResponse, high).is_warning());
  CHECK(w.put(*w.a, h, "4", pmo::kAsyncResponse) == Outcome::failed(reason::kQFull));
  CHECK(w.put(*w.a, h, "5") == Outcome::failed(reason::kQFull));
  Connection::AsyncPuts puts;
  CHECK(w.a->status(0, puts).is_ok());
  CHECK(puts.successes == 2);
  CHECK(puts.warnings == 1);
  CHECK(puts.failures == 1);
  CHECK(puts.outcome == Outcome::failed(reason::kQFull));
  CHECK(puts.object == "Q");
  CHECK(w.a->status(0, puts).is_ok());
  CHECK(puts.successes + puts.warnings + puts.failures == 0);
  CHECK(puts.outcome.is_ok());
  CHECK(w.a->status(3, puts) == Outcome::failed(reason::kStatTypeError));
}

TEST_CASE("CAPEXPRY: the lowest on the way, of queues, aliases and topics") {
  QueueWorld w;
  w.define("Q", {.expiry_cap = 100});
  Definition alias(ObjectType::kQalias, "A");
  alias.set_text(Attr::kTarget, "Q");
  alias.set_number(Attr::kCapexpry, 50);
  define_object(w, std::move(alias));
  auto expiry = [&](const std::string& name, int32_t given) {
    Hobj out = w.open(*w.a, name, oo::kOutput);
    Hobj in = w.open(*w.a, "Q", oo::kInputShared);
    mqi::MessageDescriptor md;
    md.expiry = given;
    CHECK(w.put(*w.a, out, "x", 0, md).is_ok());
    CHECK(w.get(*w.a, in) == "x");
    return w.got.md.expiry;
  };
  CHECK(expiry("Q", -1) == 100);
  CHECK(expiry("Q", 20) == 20);
  CHECK(expiry("Q", 200) == 100);
  CHECK(expiry("A", -1) == 50);
  CHECK(expiry("A", 70) == 50);

  Definition topic(ObjectType::kTopic, "T");
  topic.set_text(Attr::kTopicstr, "news");
  topic.set_number(Attr::kCapexpry, 30);
  define_object(w, std::move(topic));
  w.define("SUBS");
  Definition sub(ObjectType::kSub, "S");
  sub.set_text(Attr::kTopicstr, "news/#");
  sub.set_text(Attr::kDest, "SUBS");
  define_object(w, std::move(sub));
  OpenCall call;
  call.object_type = mqi::ot::kTopic;
  call.object_string = "news/today";
  call.options = oo::kOutput;
  REQUIRE(w.a->open(call).is_ok());
  CHECK(w.put(*w.a, call.handle, "x").is_ok());
  Hobj in = w.open(*w.a, "SUBS", oo::kInputShared);
  CHECK(w.get(*w.a, in) == "x");
  CHECK(w.got.md.expiry == 30);
}

struct SubscribeWorld : QueueWorld {
  SubscribeWorld() {
    for (bool is_durable : {true, false}) {
      Definition model(ObjectType::kQmodel,
                       is_durable ? "SYSTEM.DURABLE.MODEL.QUEUE" : "SYSTEM.NDURABLE.MODEL.QUEUE");
      model.set_number(Attr::kDeftype,
                       static_cast<int64_t>(is_durable ? objects::QueueDefinitionType::kPermdyn
                                                       : objects::QueueDefinitionType::kTempdyn));
      define_object(*this, std::move(model));
    }
  }
  Outcome subscribe(Connection& c, SubscribeCall& call) {
    return wait([&](Done done) { return c.subscribe(call, std::move(done)); });
  }
  Outcome publish(const std::string& topic, int32_t level = 9, const std::string& body = "x") {
    OpenCall open;
    open.object_type = mqi::ot::kTopic;
    open.object_string = topic;
    open.options = oo::kOutput;
    REQUIRE(a->open(open).is_ok());
    put_call = PutCall();
    put_call.publish_level = level;
    put_call.body = Body::copy(body);
    Outcome o = wait([&](Done done) { return a->put(open.handle, put_call, std::move(done)); });
    (void)a->close(open.handle);
    return o;
  }
};

TEST_CASE("levels: the highest that matches intercepts, and passes on with a lower one") {
  SubscribeWorld w;
  auto subscribe = [&](int32_t level, std::string selector = "") {
    SubscribeCall call;
    call.options = so::kCreate | so::kManaged;
    call.object_string = "t";
    call.level = level;
    call.selection_string = std::move(selector);
    REQUIRE(w.subscribe(*w.a, call).is_ok());
    return call.destination;
  };
  Hobj one = subscribe(1);
  Hobj other = subscribe(1);
  Hobj five = subscribe(5);
  Hobj picky = subscribe(7, "never = 1");
  auto who = [&] {
    std::string out;
    for (auto [name, h] : {std::pair{'1', one}, {'o', other}, {'5', five}, {'7', picky}}) {
      if (w.get(*w.a, h) == "x") out += name;
    }
    return out;
  };
  CHECK(w.publish("t").is_ok());
  CHECK(who() == "5");
  CHECK(w.publish("t", 4).is_ok());
  CHECK(who() == "1o");
  CHECK(w.publish("t", 0).is_ok());
  CHECK(who().empty());
  CHECK(w.publish("t", 10) == Outcome::failed(reason::kPmoError));
  SubscribeCall call;
  call.options = so::kCreate | so::kManaged;
  call.object_string = "t";
  call.level = 10;
  CHECK(w.subscribe(*w.a, call) == Outcome::failed(reason::kSdError));
}

TEST_CASE("MQSO_ALTER: what it changes stays changed; what it may not is refused") {
  SubscribeWorld w;
  auto call_of = [](int32_t options) {
    SubscribeCall call;
    call.options = options | so::kDurable | so::kManaged;
    call.name = "S";
    call.object_string = "t";
    call.selection_string = "a = 1";
    return call;
  };
  SubscribeCall call = call_of(so::kCreate);
  SubscribeCall none = call_of(so::kAlter);
  CHECK(w.subscribe(*w.a, none) == Outcome::failed(reason::kNoSubscription));
  REQUIRE(w.subscribe(*w.a, call).is_ok());
  SubscribeCall used = call_of(so::kAlter);
  CHECK(w.subscribe(*w.b, used) == Outcome::failed(reason::kSubscriptionInUse));
  REQUIRE(w.a->close(call.handle, mqi::co::kKeepSub).is_ok());
  SubscribeCall early = call_of(so::kAlter);
  CHECK(w.subscribe(*w.a, early) == Outcome::failed(reason::kObjectInUse));  // its queue is open
  REQUIRE(w.a->close(call.destination).is_ok());

  SubscribeCall wrong = call_of(so::kAlter);
  wrong.object_string = "another";
  CHECK(w.subscribe(*w.a, wrong) == Outcome::failed(reason::kTopicNotAlterable));
  wrong = call_of(so::kAlter);
  wrong.selection_string = "a = 2";
  CHECK(w.subscribe(*w.a, wrong) == Outcome::failed(reason::kSelectorNotAlterable));
  wrong = call_of(so::kAlter);
  wrong.level = 2;
  CHECK(w.subscribe(*w.a, wrong) == Outcome::failed(reason::kSublevelNotAlterable));
  wrong = call_of(so::kAlter);
  wrong.options &= ~so::kDurable;
  CHECK(w.subscribe(*w.a, wrong) == Outcome::failed(reason::kDurabilityNotAlterable));
  wrong = call_of(so::kAlter);
  wrong.options &= ~so::kManaged;
  CHECK(w.subscribe(*w.a, wrong) == Outcome::failed(reason::kDestClassNotAlterable));

  SubscribeCall altered = call_of(so::kAlter);
  altered.user_data = "mine";
  altered.priority = 7;
  REQUIRE(w.subscribe(*w.a, altered).is_ok());
  REQUIRE(w.a->close(altered.handle, mqi::co::kKeepSub).is_ok());
  w.restart();
  SubscriptionRef s = w.manager->pubsub().find("S");
  REQUIRE(s != nullptr);
  CHECK(s->user_data == "mine");
  CHECK(s->priority == 7);
  CHECK(s->selection == "a = 1");
  SubscribeCall resumed = call_of(so::kResume);
  CHECK(w.subscribe(*w.a, resumed).is_ok());
}

TEST_CASE("a durable subscription is shared or not, also after a restart") {
  SubscribeWorld w;
  auto call_of = [](std::string name, bool is_shared) {
    SubscribeCall call;
    call.options = so::kCreate | so::kResume | so::kDurable | so::kManaged;
    call.name = std::move(name);
    call.object_string = "t";
    call.is_shared = is_shared;
    return call;
  };
  SubscribeCall shared = call_of("SHARED", true);
  SubscribeCall own = call_of("OWN", false);
  REQUIRE(w.subscribe(*w.a, shared).is_ok());
  REQUIRE(w.subscribe(*w.a, own).is_ok());
  for (int round = 0; round < 2; ++round) {
    w.restart();
    SubscribeCall first = call_of("SHARED", true);
    SubscribeCall second = call_of("SHARED", true);
    CHECK(w.subscribe(*w.a, first).is_ok());
    CHECK(w.subscribe(*w.b, second).is_ok());
    SubscribeCall wrong = call_of("SHARED", false);
    CHECK(w.subscribe(*w.a, wrong) == Outcome::failed(reason::kSubAlreadyExists));
    wrong = call_of("OWN", true);
    CHECK(w.subscribe(*w.a, wrong) == Outcome::failed(reason::kSubAlreadyExists));
    SubscribeCall mine = call_of("OWN", false);
    CHECK(w.subscribe(*w.a, mine).is_ok());
    SubscribeCall theirs = call_of("OWN", false);
    CHECK(w.subscribe(*w.b, theirs) == Outcome::failed(reason::kSubscriptionInUse));
  }
}

}  // namespace
}  // namespace millstream::queue
