// Every 2035 of the MQI: which right of whom on what a call asks for; and the context that puts
// carry, by their options and those of the open.
#include <doctest/doctest.h>

#include "queue/core/queue_for_test.h"

namespace millstream::queue {
namespace {

namespace co = mqi::co;
namespace oo = mqi::oo;
namespace ot = mqi::ot;
namespace pmo = mqi::pmo;
namespace reason = mqi::reason;
namespace so = mqi::so;
using objects::Attr;
using objects::Definition;
using objects::ObjectType;

// Allows everything but what is refused to one user, and notes what was asked for.
class AskedAccess final : public AccessControl {
 public:
  std::string refuses(const AccessRequest& request) const override {
    asked.push_back(std::string(request.user) + " " + std::to_string(request.object_type) + " " +
                    std::string(request.object) + " " + std::to_string(request.rights));
    bool is_refused = request.user == user && (request.rights & refused) != 0;
    return is_refused ? "test" : "";
  }
  std::string user = "bob";
  uint32_t refused = 0;
  mutable std::vector<std::string> asked;
};

struct AuthorityWorld : QueueWorld {
  AuthorityWorld() {
    stop();
    access = &rules;
    start();
    define("Q");
    Definition alias(ObjectType::kQalias, "A");
    alias.set_text(Attr::kTarget, "Q");
    define_object(std::move(alias));
    Definition model(ObjectType::kQmodel, "M");
    model.set_number(Attr::kDeftype, static_cast<int64_t>(objects::QueueDefinitionType::kPermdyn));
    define_object(std::move(model));
    rules.asked.clear();
  }
  void define_object(Definition definition) {
    manager->admin().define(std::move(definition), false, [](objects::AdminResult) {});
    sim.run_ready();
  }
  int32_t open_as_bob(OpenCall call) {
    Outcome o = wait([&](Done done) { return b->open(call, std::move(done)); });
    if (o.is_ok()) {
      Hobj h = call.handle;
      CHECK(b->close(h).is_ok());
    }
    return o.reason;
  }
  AskedAccess rules;
};

TEST_CASE("2035: each option of an open asks for its right on the name that is opened") {
  AuthorityWorld w;
  struct Need {
    int32_t options;
    uint32_t right;
  };
  const Need kQueueNeeds[] = {
      {oo::kInputShared, kRightGet},
      {oo::kInputExclusive, kRightGet},
      {oo::kInputAsQueueDef, kRightGet},
      {oo::kBrowse, kRightBrowse},
      {oo::kOutput, kRightPut},
      {oo::kInquire, kRightInquire},
      {oo::kSet, kRightSet},
      {oo::kOutput | oo::kPassIdentityContext, kRightPassIdentity},
      {oo::kOutput | oo::kPassAllContext, kRightPassContext},
      {oo::kOutput | oo::kSetIdentityContext, kRightSetIdentity},
      {oo::kOutput | oo::kSetAllContext, kRightSetContext},
      {oo::kOutput | oo::kAlternateUserAuthority, kRightAlternateUser},
  };
  for (const char* name : {"Q", "A"}) {
    for (const Need& need : kQueueNeeds) {
      OpenCall call;
      call.object_name = name;
      call.options = need.options;
      call.alternate_user = "carol";
      w.rules.refused = need.right;
      w.rules.asked.clear();
      CHECK(w.open_as_bob(call) == reason::kNotAuthorized);
      if (need.right != kRightAlternateUser) {
        REQUIRE(w.rules.asked.size() == 1);
        CHECK(w.rules.asked[0].starts_with(std::string("bob 1 ") + name + " "));
      }
      // Every other right may be missing.
      w.rules.refused = ~need.right & ~uint32_t{kRightPut};
      if ((need.options & oo::kOutput) == 0) w.rules.refused = ~need.right;
      CHECK(w.open_as_bob(call) == 0);
    }
  }
  OpenCall topic;
  topic.object_type = ot::kTopic;
  topic.object_string = "t";
  topic.options = oo::kOutput;
  w.rules.refused = kRightPublish;
  CHECK(w.open_as_bob(topic) == reason::kNotAuthorized);
  w.rules.refused = ~uint32_t{kRightPublish};
  CHECK(w.open_as_bob(topic) == 0);
  topic.options |= oo::kSetAllContext;
  CHECK(w.open_as_bob(topic) == reason::kNotAuthorized);
  OpenCall self;
  self.object_type = ot::kQueueManager;
  self.options = oo::kInquire;
  CHECK(w.open_as_bob(self) == reason::kNotAuthorized);
  w.rules.refused = ~uint32_t{kRightInquire};
  CHECK(w.open_as_bob(self) == 0);
}

TEST_CASE("2035: who acts for another needs to be allowed to, and then has the other's rights") {
  AuthorityWorld w;
  OpenCall call;
  call.object_name = "Q";
  call.options = oo::kOutput | oo::kAlternateUserAuthority;
  call.alternate_user = "carol";
  w.rules.refused = kRightPut;
  CHECK(w.open_as_bob(call) == 0);  // carol may
  w.rules.user = "carol";
  CHECK(w.open_as_bob(call) == reason::kNotAuthorized);
  OpenCall topic = call;
  topic.object_type = ot::kTopic;
  topic.object_name = "";
  topic.object_string = "t";
  w.rules.refused = kRightPublish;
  CHECK(w.open_as_bob(topic) == reason::kNotAuthorized);
  w.rules.user = "bob";
  CHECK(w.open_as_bob(topic) == 0);

  PutCall put;
  OpenCall where;
  where.object_name = "Q";
  where.alternate_user = "carol";
  w.rules.refused = kRightPut;
  CHECK(w.b->put1(where, put) == Outcome::failed(reason::kNotAuthorized));
  put.options = pmo::kAlternateUserAuthority;
  CHECK(w.b->put1(where, put).is_ok());
  put.options = pmo::kSetAllContext;
  w.rules.refused = kRightSetContext;
  CHECK(w.b->put1(where, put) == Outcome::failed(reason::kNotAuthorized));
}

TEST_CASE("2035: connect, subscribe, its destination, resume, and deleting a dynamic queue") {
  AuthorityWorld w;
  w.rules.refused = kRightConnect;
  std::shared_ptr<Connection> none;
  CHECK(w.manager->connect({.user = "bob", .executor = &w.executor}, none) ==
        Outcome::failed(reason::kNotAuthorized));
  auto subscribe = [&](SubscribeCall& call) {
    return w.wait([&](Done done) { return w.b->subscribe(call, std::move(done)); }).reason;
  };
  SubscribeCall call;
  call.options = so::kCreate | so::kResume | so::kDurable;
  call.object_string = "t";
  call.name = "S";
  call.destination = w.open(*w.b, "Q", oo::kInputShared);
  w.rules.refused = kRightSubscribe;
  CHECK(subscribe(call) == reason::kNotAuthorized);
  w.rules.refused = kRightPut;
  CHECK(subscribe(call) == reason::kNotAuthorized);
  CHECK(w.manager->pubsub().find("S") == nullptr);
  w.rules.refused = 0;
  CHECK(subscribe(call) == 0);
  CHECK(w.b->close(call.handle, co::kKeepSub).is_ok());
  w.rules.refused = kRightSubscribe;
  CHECK(subscribe(call) == reason::kNotAuthorized);
  call.options |= so::kAlternateUserAuthority;
  call.alternate_user = "carol";
  CHECK(subscribe(call) == 0);
  w.rules.refused = kRightAlternateUser;
  CHECK(subscribe(call) == reason::kNotAuthorized);

  w.rules.refused = kRightDelete;
  Hobj h = w.open(*w.b, "M", oo::kOutput);
  REQUIRE(w.last.is_ok());
  CHECK(w.put(*w.b, h, "x").is_ok());
  std::string queue = w.put_call.resolved_queue;
  Hobj again = w.open(*w.b, queue, oo::kInputExclusive);
  REQUIRE(w.last.is_ok());
  CHECK(w.get(*w.b, again) == "x");
  CHECK(w.b->close(again, co::kDelete) == Outcome::failed(reason::kNotAuthorized));
  CHECK(w.b->close(again).is_ok());
  CHECK(w.b->close(h, co::kDelete).is_ok());  // its maker
  CHECK(w.manager->find_queue(queue) == nullptr);
}

TEST_CASE("2035: whoever administers needs the right, and is told the rule") {
  AuthorityWorld w;
  auto target = make_admin_target(*w.manager, "bob");
  w.rules.refused = kRightAdmin;
  std::vector<objects::AdminResult> results;
  auto note = [&](objects::AdminResult r) { results.push_back(std::move(r)); };
  target->define(Definition(ObjectType::kQlocal, "NEW"), false, note);
  objects::DefinitionPtr seen = target->catalogue().find(objects::ObjectFamily::kQueue, "Q");
  target->alter(seen, *seen, false, note);
  target->erase(objects::ObjectFamily::kQueue, "Q", {}, note);
  target->clear_queue("Q", note);
  target->clear_retained("t", note);
  target->move_messages("Q", "Q", note);
  target->set_authority({}, note);
  target->set_channel_auth({}, note);
  target->control({}, note);
  w.sim.run_ready();
  REQUIRE(results.size() == 9);
  for (const objects::AdminResult& r : results) {
    CHECK(r.reason == reason::kNotAuthorized);
    REQUIRE(r.inserts.size() > 1);
    CHECK(r.inserts[1].find("test") != std::string::npos);
  }
  CHECK(w.manager->find_queue("NEW") == nullptr);
  CHECK(w.manager->find_queue("Q") != nullptr);
}

struct ContextCase {
  int32_t options;
  const char* user;
  const char* identity;
  const char* origin;
  const char* application;
  int32_t type;
};

TEST_CASE("context: default, none, passed on and set, of identity and of all") {
  QueueWorld w;
  w.define("IN");
  w.define("OUT");
  constexpr int32_t kAll =
      oo::kPassIdentityContext | oo::kPassAllContext | oo::kSetIdentityContext | oo::kSetAllContext;
  Hobj from = w.open(*w.b, "IN", oo::kOutput | oo::kInputShared | oo::kSaveAllContext | kAll);
  Hobj out = w.open(*w.b, "OUT", oo::kOutput | oo::kInputShared | kAll);
  mqi::MessageDescriptor mine;
  mine.user_identifier = "carol";
  mine.accounting_token = mqi::FixedBytes<32>("token");
  mine.appl_identity_data = "identity";
  mine.appl_origin_data = "orig";
  mine.put_appl_name = "program";
  mine.put_appl_type = 28;
  mine.put_date = "20200102";
  mine.put_time = "03040506";
  CHECK(w.put(*w.b, out, "x", pmo::kPassAllContext, mine) ==
        Outcome::failed(reason::kContextHandleError));
  auto put_with = [&](int32_t options, Hobj context) {
    w.put_call = PutCall();
    w.put_call.options = options;
    w.put_call.md = mine;
    w.put_call.context = context;
    return w.b->put(out, w.put_call);
  };
  CHECK(put_with(pmo::kPassAllContext, from) == Outcome::failed(reason::kContextNotAvailable));
  CHECK(put_with(pmo::kPassAllContext, out) == Outcome::failed(reason::kContextHandleError));
  CHECK(w.put(*w.b, from, "first", pmo::kSetAllContext, mine).is_ok());
  CHECK(w.get(*w.b, from) == "first");
  const ContextCase kCases[] = {
      {pmo::kDefaultContext, "bob", "", "", "test", 6},
      {0, "bob", "", "", "test", 6},
      {pmo::kNoContext, "", "", "", "", 0},
      {pmo::kPassIdentityContext, "carol", "identity", "", "test", 6},
      {pmo::kPassAllContext, "carol", "identity", "orig", "program", 28},
      {pmo::kSetIdentityContext, "zoe", "changed", "", "test", 6},
      {pmo::kSetAllContext, "zoe", "changed", "new", "other", 25},
  };
  mine.user_identifier = "zoe";
  mine.appl_identity_data = "changed";
  mine.appl_origin_data = "new";
  mine.put_appl_name = "other";
  mine.put_appl_type = 25;
  for (const ContextCase& c : kCases) {
    CAPTURE(c.options);
    REQUIRE(put_with(c.options, from).is_ok());
    CHECK(w.get(*w.b, out) == "");
    const mqi::MessageDescriptor& md = w.got.md;
    CHECK(md.user_identifier.view() == c.user);
    CHECK(md.appl_identity_data.view() == c.identity);
    CHECK(md.appl_origin_data.view() == c.origin);
    CHECK(md.put_appl_name.view() == c.application);
    CHECK(md.put_appl_type == c.type);
    bool is_old = c.options == pmo::kPassAllContext || c.options == pmo::kSetAllContext;
    if (c.options == pmo::kNoContext) {
      CHECK(md.put_date.is_blank());
      CHECK(md.put_time.is_blank());
    } else {
      CHECK((md.put_date.view() == "20200102") == is_old);
    }
    bool has_token = md.accounting_token.view().starts_with("token");
    CHECK(has_token == (*c.identity != '\0'));
  }
  // Two of them at a time, and each without its open option.
  CHECK(put_with(pmo::kPassAllContext | pmo::kSetAllContext, from) ==
        Outcome::failed(reason::kOptionsError));
  Hobj plain = w.open(*w.b, "OUT", oo::kOutput);
  for (auto [option, expected] :
       {std::pair{pmo::kPassIdentityContext, reason::kNotOpenForPassIdent},
        {pmo::kPassAllContext, reason::kNotOpenForPassAll},
        {pmo::kSetIdentityContext, reason::kNotOpenForSetIdent},
        {pmo::kSetAllContext, reason::kNotOpenForSetAll}}) {
    CHECK(w.put(*w.b, plain, "x", option) == Outcome::failed(expected));
  }
}

TEST_CASE("reports of exceptions: what is moved to the dead-letter queue, with its data as asked") {
  QueueManagerSettings settings;
  settings.dead_letter_queue = "DLQ";
  QueueWorld w(1, settings);
  w.define("DLQ");
  w.define("REPLIES");
  w.define("Q", {.backout_threshold = 1});
  Hobj out = w.open(*w.a, "Q", oo::kOutput | oo::kInputShared);
  Hobj replies = w.open(*w.a, "REPLIES", oo::kInputShared);
  const std::string body(150, 'x');
  struct ReportCase {
    int32_t report;
    size_t bytes;
  };
  const ReportCase kCases[] = {{mqi::ro::kException, 0},
                               {mqi::ro::kExceptionWithData, 100},
                               {mqi::ro::kExceptionWithFullData, 150}};
  for (const ReportCase& c : kCases) {
    mqi::MessageDescriptor md;
    md.report = c.report;
    md.reply_to_queue = "REPLIES";
    md.format = "MQSTR";
    REQUIRE(w.put(*w.a, out, body, 0, md).is_ok());
    mqi::Id sent = w.put_call.md.message_id;
    CHECK(w.get(*w.a, out, mqi::gmo::kSyncpoint) == body);
    CHECK(w.a->back().is_ok());
    GetCall poison;
    poison.handles_poison = true;
    CHECK(w.get(*w.a, out, poison).reason == reason::kNoMsgAvailable);
    w.sim.run_ready();
    std::string report = w.get(*w.a, replies);
    CHECK(report.size() == c.bytes);
    CHECK(w.got.md.message_type == mqi::mt::kReport);
    CHECK(w.got.md.feedback == reason::kBackoutThresholdReached);
    CHECK(w.got.md.correlation_id.view() == sent.view());
    CHECK(w.got.md.put_appl_type == mqi::at::kQueueManager);
    CHECK(w.got.md.format.is_blank() == (c.bytes == 0));
  }
  CHECK(w.depth("DLQ") == 3);
  CHECK(w.depth("Q") == 0);
  // A delivery that is rejected reports the reason that it was rejected with.
  mqi::MessageDescriptor md;
  md.report = mqi::ro::kException;
  md.reply_to_queue = "REPLIES";
  REQUIRE(w.put(*w.a, out, "no", 0, md).is_ok());
  GetCall get;
  Delivery delivery;
  get.options = mqi::gmo::kSyncpoint;
  get.delivery = &delivery;
  REQUIRE(w.get(*w.a, out, get).is_ok());
  CHECK(w.wait([&](Done done) {
           return delivery.reject(kFeedbackRejected, w.executor, std::move(done));
         }).is_ok());
  CHECK(w.get(*w.a, replies) == "");
  CHECK(w.got.md.feedback == kFeedbackRejected);
}

}  // namespace
}  // namespace millstream::queue
