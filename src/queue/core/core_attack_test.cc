// What an attacker of the semantics tried: groups and units, cursors and expiry, retained
// publications and restarts, managed queues and their subscriptions.
#include <doctest/doctest.h>

#include "queue/core/queue_for_test.h"

namespace millstream::queue {
namespace {

namespace co = mqi::co;
namespace gmo = mqi::gmo;
namespace mf = mqi::mf;
namespace oo = mqi::oo;
namespace pmo = mqi::pmo;
namespace reason = mqi::reason;
namespace so = mqi::so;
using objects::Attr;
using objects::Definition;
using objects::ObjectType;

mqi::MessageDescriptor attack_md(int32_t flags, int32_t persistence = 0) {
  mqi::MessageDescriptor md;
  md.flags = flags;
  md.persistence = persistence;
  return md;
}

struct AttackWorld : QueueWorld {
  explicit AttackWorld(QueueManagerSettings settings = {}) : QueueWorld(1, std::move(settings)) {
    define_models();
  }
  void define_models() {
    for (bool is_durable : {true, false}) {
      Definition model(ObjectType::kQmodel,
                       is_durable ? "SYSTEM.DURABLE.MODEL.QUEUE" : "SYSTEM.NDURABLE.MODEL.QUEUE");
      model.set_number(Attr::kDeftype,
                       static_cast<int64_t>(is_durable ? objects::QueueDefinitionType::kPermdyn
                                                       : objects::QueueDefinitionType::kTempdyn));
      change([&](objects::AdminDone done) {
        manager->admin().define(std::move(model), true, std::move(done));
      });
    }
  }
  int32_t change(const std::function<void(objects::AdminDone)>& step) {
    objects::AdminResult result;
    result.reason = -1;
    step([&](objects::AdminResult r) { result = std::move(r); });
    sim.run_ready();
    return result.reason;
  }
  SubscribeCall subscribe(const std::string& topic, int32_t options) {
    SubscribeCall call;
    call.options = so::kCreate | options;
    call.object_string = topic;
    last = wait([&](Done done) { return a->subscribe(call, std::move(done)); });
    return call;
  }
  Hobj open_topic(const std::string& topic) {
    OpenCall call;
    call.object_type = mqi::ot::kTopic;
    call.object_string = topic;
    call.options = oo::kOutput;
    last = a->open(call);
    return call.handle;
  }
  std::string retained(const std::string& topic) {
    SubscribeCall call = subscribe(topic, so::kManaged);
    REQUIRE(last.is_ok());
    std::string body = get(*a, call.destination);
    (void)a->close(call.handle);
    return body;
  }
};

TEST_CASE("MQBACK puts handles back to where they were in a group") {
  AttackWorld w;
  w.define("Q");
  Hobj h = w.open(*w.a, "Q", oo::kOutput | oo::kInputShared);
  auto put = [&](int32_t flags) {
    Outcome o = w.put(*w.a, h, std::to_string(flags), pmo::kLogicalOrder | pmo::kSyncpoint,
                      attack_md(flags, 1));
    return o.is_ok() ? w.put_call.md.sequence_number : -o.reason;
  };
  CHECK(put(mf::kInGroup) == 1);
  mqi::Id group = w.put_call.md.group_id;
  CHECK(w.commit(*w.a).is_ok());
  CHECK(put(mf::kInGroup) == 2);
  CHECK(put(mf::kInGroup) == 3);
  CHECK(w.a->back().is_ok());
  CHECK(put(mf::kInGroup) == 2);
  CHECK(w.put_call.md.group_id.view() == group.view());
  // The state that a unit leaves behind is the next one's to go back to.
  CHECK(w.commit(*w.a).is_ok());
  CHECK(put(mf::kLastInGroup) == 3);
  CHECK(w.a->back().is_ok());
  CHECK(put(mf::kLastInGroup) == 3);
  CHECK(w.commit(*w.a).is_ok());

  int32_t options = gmo::kLogicalOrder | gmo::kSyncpoint;
  CHECK(w.get(*w.a, h, options) == "8");
  CHECK(w.commit(*w.a).is_ok());
  CHECK(w.get(*w.a, h, gmo::kLogicalOrder) == "#2245");  // inside of the group: in units only
  CHECK(w.get(*w.a, h, options) == "8");
  CHECK(w.get(*w.a, h, options) == "16");
  CHECK(w.a->back().is_ok());
  CHECK(w.get(*w.a, h, options) == "8");
  CHECK(w.got.md.sequence_number == 2);
  CHECK(w.get(*w.a, h, options) == "16");
  CHECK(w.commit(*w.a).is_ok());
  CHECK(w.get(*w.a, h, options) == "#2033");
}

TEST_CASE("a segment that has expired makes its message incomplete") {
  AttackWorld w;
  w.define("Q");
  Hobj h = w.open(*w.a, "Q", oo::kOutput | oo::kInputShared);
  mqi::MessageDescriptor md = attack_md(mf::kSegment);
  CHECK(w.put(*w.a, h, "one", pmo::kLogicalOrder, md).is_ok());
  md = attack_md(mf::kLastSegment);
  md.expiry = 10;
  CHECK(w.put(*w.a, h, "two", pmo::kLogicalOrder, md).is_ok());
  GetCall whole;
  whole.options = gmo::kCompleteMessage | gmo::kBrowseFirst;
  Hobj b = w.open(*w.b, "Q", oo::kBrowse | oo::kInputShared);
  CHECK(w.get(*w.b, b, whole).is_ok());
  CHECK(whole.body.view() == "onetwo");
  // Time passes, and nobody has swept yet.
  w.sim.clock().advance_ns(1'500'000'000);
  CHECK(w.get(*w.b, b, gmo::kCompleteMessage) == "#2033");
  CHECK(w.get(*w.b, b) == "one");
}

TEST_CASE("a message that is taken whole counts as delivered as often as any of its segments") {
  AttackWorld w;
  w.define("Q");
  Hobj h = w.open(*w.a, "Q", oo::kOutput | oo::kInputShared);
  CHECK(w.put(*w.a, h, "one", pmo::kLogicalOrder, attack_md(mf::kSegment)).is_ok());
  CHECK(w.put(*w.a, h, "two", pmo::kLogicalOrder, attack_md(mf::kLastSegment)).is_ok());
  GetCall second;
  second.options = gmo::kSyncpoint;
  second.match_options = mqi::mo::kOffset;
  second.md.offset = 3;
  CHECK(w.get(*w.a, h, second).is_ok());
  CHECK(second.body.view() == "two");
  CHECK(w.a->back().is_ok());
  CHECK(w.get(*w.a, h, gmo::kCompleteMessage) == "onetwo");
  CHECK(w.got.md.backout_count == 1);
  CHECK(w.got.is_maybe_redelivered);
}

TEST_CASE("REFRESH QMGR TYPE(EXPIRY) takes expired messages away, other types are refused") {
  AttackWorld w;
  w.define("Q");
  Hobj h = w.open(*w.a, "Q", oo::kOutput);
  mqi::MessageDescriptor md;
  md.expiry = 1;
  CHECK(w.put(*w.a, h, "x", 0, md).is_ok());
  w.sim.clock().advance_ns(500'000'000);
  CHECK(w.depth("Q") == 1);
  auto target = make_admin_target(*w.manager, "admin");
  objects::ControlRequest request;
  request.verb = objects::ControlVerb::kRefresh;
  request.object = objects::ControlObject::kManager;
  request.type = "EXPIRY";
  CHECK(w.change([&](objects::AdminDone done) { target->control(request, std::move(done)); }) == 0);
  CHECK(w.depth("Q") == 0);
  request.type = "CONFIGEV";
  CHECK(w.change([&](objects::AdminDone done) { target->control(request, std::move(done)); }) ==
        objects::reason::kUnsupported);
}

TEST_CASE("under the cursor nothing that has expired is seen or got") {
  AttackWorld w;
  w.define("Q");
  Hobj h = w.open(*w.a, "Q", oo::kOutput);
  mqi::MessageDescriptor md;
  md.expiry = 10;
  for (int32_t option : {gmo::kBrowseUnderCursor, gmo::kUnderCursor}) {
    for (bool locks : {false, true}) {
      Hobj b = w.open(*w.b, "Q", oo::kBrowse | oo::kInputShared);
      CHECK(w.put(*w.a, h, "old", 0, md).is_ok());
      CHECK(w.put(*w.a, h, "new").is_ok());
      CHECK(w.get(*w.b, b, gmo::kBrowseFirst | (locks ? gmo::kLock : 0)) == "old");
      w.sim.clock().advance_ns(1'500'000'000);
      CHECK(w.get(*w.b, b, option) == "#2034");
      CHECK(w.get(*w.b, b) == "new");
      w.sim.run_ready();
      CHECK(w.depth("Q") == 0);
      CHECK(w.b->close(b).is_ok());
    }
  }
}

TEST_CASE("under the cursor a message that is not in memory is found whatever the descriptor has") {
  AttackWorld w;
  w.define("Q");
  Hobj h = w.open(*w.a, "Q", oo::kOutput);
  CHECK(w.put(*w.a, h, "1", 0, attack_md(0, 1)).is_ok());
  CHECK(w.put(*w.a, h, "2", 0, attack_md(0, 1)).is_ok());
  w.restart();
  Hobj b = w.open(*w.b, "Q", oo::kBrowse | oo::kInputShared);
  CHECK(w.get(*w.b, b, gmo::kBrowseFirst | gmo::kLock) == "1");
  mqi::MessageDescriptor other;
  other.correlation_id = mqi::Id("another");
  CHECK(w.get(*w.b, b, gmo::kBrowseUnderCursor, other) == "1");
  CHECK(w.get(*w.b, b, gmo::kUnderCursor, other) == "1");
  CHECK(w.get(*w.b, b, gmo::kUnderCursor) == "#2034");
}

TEST_CASE("an inhibited alias inhibits gets under the cursor, too") {
  AttackWorld w;
  w.define("Q");
  Definition alias(ObjectType::kQalias, "A");
  alias.set_text(Attr::kTarget, "Q");
  w.manager->admin().define(alias, false, [](objects::AdminResult) {});
  w.sim.run_ready();
  Hobj h = w.open(*w.a, "A", oo::kOutput | oo::kBrowse | oo::kInputShared | oo::kSet);
  CHECK(w.put(*w.a, h, "1").is_ok());
  CHECK(w.get(*w.a, h, gmo::kBrowseFirst) == "1");
  constexpr int32_t kInhibitGet = 9;
  const int32_t selectors[] = {kInhibitGet};
  const int32_t values[] = {1};
  CHECK(w.wait([&](Done done) {
           return w.a->set(h, selectors, values, {}, std::move(done));
         }).is_ok());
  // An alias's settings are read at open.
  h = w.open(*w.a, "A", oo::kBrowse | oo::kInputShared);
  CHECK(w.get(*w.a, h, gmo::kBrowseFirst) == "#2016");
  CHECK(w.get(*w.a, h, gmo::kUnderCursor) == "#2016");
}

TEST_CASE("MAXUMSGS counts publications, and each segment of a message that is taken whole") {
  QueueManagerSettings settings;
  settings.uncommitted_max = 3;
  AttackWorld w(settings);
  w.define("Q");
  SubscribeCall call = w.subscribe("t", so::kManaged);
  Hobj topic = w.open_topic("t");
  for (int i = 0; i < 3; ++i) CHECK(w.put(*w.a, topic, "x", pmo::kSyncpoint).is_ok());
  CHECK(w.put(*w.a, topic, "x", pmo::kSyncpoint) ==
        Outcome::failed(reason::kSyncpointLimitReached));
  CHECK(w.commit(*w.a).is_ok());
  Hobj h = w.open(*w.a, "Q", oo::kOutput | oo::kInputShared);
  for (int i = 0; i < 4; ++i) {
    int32_t flags = i == 3 ? mf::kLastSegment : mf::kSegment;
    CHECK(w.put(*w.a, h, "s", pmo::kLogicalOrder, attack_md(flags)).is_ok());
  }
  CHECK(w.get(*w.a, h, gmo::kSyncpoint | gmo::kCompleteMessage) == "#2024");
  CHECK(w.get(*w.a, h, gmo::kCompleteMessage) == "ssss");
  CHECK(w.get(*w.a, call.destination) == "x");
}

TEST_CASE("segments that the queue manager makes follow the rules of every put") {
  AttackWorld w;
  w.define("REPLIES");
  w.define("Q", {.message_bytes_max = 32});
  Hobj h = w.open(*w.a, "Q", oo::kOutput);
  mqi::MessageDescriptor md = attack_md(mf::kSegmentationAllowed);
  md.report = mqi::ro::kCoa;
  md.reply_to_queue = "REPLIES";
  CHECK(w.put(*w.a, h, std::string(80, 'x'), 0, md).is_ok());
  CHECK(w.depth("Q") == 3);
  CHECK(w.depth("REPLIES") == 3);  // an arrival each
  w.define("TEMP", {.message_bytes_max = 32, .dynamic = DynamicKind::kTemporary});
  h = w.open(*w.a, "TEMP", oo::kOutput);
  CHECK(w.put(*w.a, h, std::string(80, 'x'), 0, attack_md(mf::kSegmentationAllowed, 1)) ==
        Outcome::failed(reason::kPersistentNotAllowed));
  CHECK(w.depth("TEMP") == 0);
}

TEST_CASE("a retained publication takes the place of the one before, whatever their persistence") {
  AttackWorld w;
  Hobj topic = w.open_topic("t");
  CHECK(w.put(*w.a, topic, "kept", pmo::kRetain, attack_md(0, 1)).is_ok());
  CHECK(w.put(*w.a, topic, "passing", pmo::kRetain, attack_md(0, 0)).is_ok());
  CHECK(w.retained("t") == "passing");
  w.restart();
  CHECK(w.retained("t") == "#2033");  // not the one before it
}

TEST_CASE("xa: what is retained is decided with its branch, also when found at a start") {
  for (bool commits : {true, false}) {
    AttackWorld w;
    Hobj topic = w.open_topic("t");
    CHECK(w.put(*w.a, topic, "before", pmo::kRetain, attack_md(0, 1)).is_ok());
    CHECK(w.a->xa_start("x1", xa::kNoFlags) == xa::kOk);
    CHECK(w.put(*w.a, topic, "after", pmo::kRetain | pmo::kSyncpoint, attack_md(0, 1)).is_ok());
    CHECK(w.a->xa_end("x1", xa::kSuccess) == xa::kOk);
    int32_t result = w.a->xa_prepare("x1", [&](int32_t r) { result = r; });
    w.sim.run_ready();
    CHECK(result == xa::kOk);
    w.crash();
    w.start();
    CHECK(w.retained("t") == "before");
    auto decided = [&](int32_t r) { result = r; };
    result = commits ? w.a->xa_commit("x1", false, decided) : w.a->xa_rollback("x1", decided);
    w.sim.run_ready();
    CHECK(result == xa::kOk);
    CHECK(w.retained("t") == (commits ? "after" : "before"));
    w.restart();
    CHECK(w.retained("t") == (commits ? "after" : "before"));
  }
}

TEST_CASE("memory: what is retained counts in the budget, and what goes gives it back") {
  AttackWorld w;
  w.stop();
  w.memory_bytes_max = 64 * 1024;
  w.start();
  uint64_t before = w.manager->memory_bytes();
  Hobj topic = w.open_topic("big");
  CHECK(w.put(*w.a, topic, std::string(40 * 1024, 'x'), pmo::kRetain).is_ok());
  CHECK(w.manager->memory_bytes() > before + 40 * 1024);
  Hobj other = w.open_topic("other");
  for (int32_t persistence : {0, 1}) {
    CHECK(w.put(*w.a, other, std::string(48 * 1024, 'x'), pmo::kRetain,
                attack_md(0, persistence)) == Outcome::failed(reason::kStorageNotAvailable));
  }
  CHECK(w.put(*w.a, topic, "small", pmo::kRetain).is_ok());
  CHECK(w.put(*w.a, other, std::string(48 * 1024, 'x'), pmo::kRetain, attack_md(0, 1)).is_ok());
  uint64_t held = w.manager->memory_bytes();
  w.restart();
  CHECK(w.manager->memory_bytes() > 48 * 1024);
  CHECK(w.manager->memory_bytes() <= held);
  for (const char* t : {"big", "other"}) {
    CHECK(w.change([&](objects::AdminDone done) {
      make_admin_target(*w.manager, "admin")->clear_retained(t, std::move(done));
    }) == 0);
  }
  CHECK(w.manager->memory_bytes() == 0);
}

TEST_CASE("DEFINE SUB with DESTCLAS(MANAGED) makes its queue, and DELETE SUB takes it away") {
  AttackWorld w;
  Definition sub(ObjectType::kSub, "S");
  sub.set_text(Attr::kTopicstr, "t");
  sub.set_number(Attr::kDestclas, static_cast<int64_t>(objects::DestinationClass::kManaged));
  auto define = [&](bool is_replace) {
    return w.change([&](objects::AdminDone done) {
      w.manager->admin().define(sub, is_replace, std::move(done));
    });
  };
  CHECK(define(false) == 0);
  SubscriptionRef s = w.manager->pubsub().find("S");
  REQUIRE(s != nullptr);
  std::string queue = s->destination;
  CHECK(queue.starts_with("SYSTEM.MANAGED.DURABLE."));
  Hobj topic = w.open_topic("t");
  CHECK(w.put(*w.a, topic, "1", 0, attack_md(0, 1)).is_ok());
  CHECK(define(false) == objects::reason::kSubscriptionExists);
  CHECK(define(true) == 0);
  w.crash();
  w.start();
  CHECK(w.manager->pubsub().find("S")->destination == queue);
  CHECK(w.depth(queue) == 1);
  size_t managed = 0;
  for (const NamedQueueRef& object : w.manager->objects().all()) {
    managed += object->name.starts_with("SYSTEM.MANAGED.");
  }
  CHECK(managed == 1);
  CHECK(w.change([&](objects::AdminDone done) {
    w.manager->admin().erase(objects::ObjectFamily::kSubscription, "S", {}, std::move(done));
  }) == 0);
  CHECK(w.manager->find_queue(queue) == nullptr);
  w.crash();
  w.start();
  CHECK(w.manager->find_queue(queue) == nullptr);
  // One that is refused leaves no queue behind.
  sub.set_text(Attr::kSelector, "a = = 1");
  CHECK(define(false) == reason::kSelectorSyntaxError);
  for (const NamedQueueRef& object : w.manager->objects().all()) {
    CHECK_FALSE(object->name.starts_with("SYSTEM.MANAGED."));
  }
}

TEST_CASE("a permanent dynamic queue with uncommitted messages is not deleted") {
  AttackWorld w;
  Hobj h = w.open(*w.a, "SYSTEM.DURABLE.MODEL.QUEUE", oo::kOutput | oo::kInputShared);
  REQUIRE(w.last.is_ok());
  CHECK(w.put(*w.a, h, "x", pmo::kSyncpoint, attack_md(0, 1)).is_ok());
  std::string queue = w.put_call.resolved_queue;
  CHECK(w.a->close(h, co::kDeletePurge) == Outcome::failed(reason::kQNotEmpty));
  CHECK(w.commit(*w.a).is_ok());
  h = w.open(*w.a, queue, oo::kInputShared);
  CHECK(w.get(*w.a, h, gmo::kSyncpoint) == "x");
  CHECK(w.a->close(h, co::kDeletePurge) == Outcome::failed(reason::kQNotEmpty));
  CHECK(w.a->back().is_ok());
  h = w.open(*w.a, queue, oo::kInputShared);
  CHECK(w.a->close(h, co::kDelete) == Outcome::failed(reason::kQNotEmpty));
  h = w.open(*w.a, queue, oo::kInputShared);
  CHECK(w.a->close(h, co::kDeletePurge).is_ok());
  CHECK(w.manager->find_queue(queue) == nullptr);
}

TEST_CASE("a subscription's close takes its own options only") {
  AttackWorld w;
  SubscribeCall call = w.subscribe("t", so::kManaged);
  CHECK(w.a->close(call.handle, co::kDeletePurge) == Outcome::failed(reason::kOptionsError));
  CHECK(w.a->close(call.handle, co::kKeepSub | co::kRemoveSub) ==
        Outcome::failed(reason::kOptionsError));
  CHECK(w.a->close(call.handle, co::kRemoveSub).is_ok());
}

}  // namespace
}  // namespace millstream::queue
