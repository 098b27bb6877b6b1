// Names and what they lead to, dynamic queues, administration, restart.
#include <doctest/doctest.h>

#include "queue/core/definitions.h"
#include "queue/core/queue_for_test.h"

namespace millstream::queue {
namespace {

namespace oo = mqi::oo;
namespace gmo = mqi::gmo;
namespace pmo = mqi::pmo;
namespace reason = mqi::reason;
using objects::Attr;
using objects::ObjectFamily;
using objects::ObjectType;

objects::AdminResult do_define(QueueWorld& w, objects::Definition d, bool is_replace = false) {
  objects::AdminResult out = objects::AdminResult::failed(-1);
  auto admin = make_admin_target(*w.manager, "admin");
  admin->define(std::move(d), is_replace, [&](objects::AdminResult r) { out = r; });
  w.sim.run_ready();
  return out;
}

objects::Definition alias_of(const std::string& name, const std::string& target) {
  objects::Definition d(ObjectType::kQalias, name);
  d.set_text(Attr::kTarget, target);
  return d;
}

mqi::MessageDescriptor persistent() {
  mqi::MessageDescriptor md;
  md.persistence = 1;
  return md;
}

TEST_CASE("objects: an alias leads to its base, with its own inhibits") {
  QueueWorld w;
  w.define("BASE");
  objects::Definition alias = alias_of("ALIAS", "BASE");
  alias.set_number(Attr::kDefpsist, 1);
  CHECK(do_define(w, alias).ok());
  Hobj h = w.open(*w.a, "ALIAS", oo::kOutput | oo::kInputShared);
  REQUIRE(w.last.is_ok());
  CHECK(w.put(*w.a, h, "x").is_ok());
  CHECK(w.depth("BASE") == 1);
  CHECK(w.get(*w.a, h) == "x");
  CHECK(w.got.md.persistence == 1);
  objects::Definition closed = alias;
  closed.set_number(Attr::kPut, 1);
  CHECK(do_define(w, closed, true).ok());
  CHECK(w.put(*w.a, h, "x") == Outcome::failed(reason::kPutInhibited));
  CHECK(do_define(w, alias_of("NOWHERE", "NO.SUCH")).ok());
  (void)w.open(*w.a, "NOWHERE", oo::kOutput);
  CHECK(w.last == Outcome::failed(reason::kUnknownAliasBaseQ));
  CHECK(do_define(w, alias_of("TWICE", "ALIAS")).ok());
  (void)w.open(*w.a, "TWICE", oo::kOutput);
  CHECK(w.last == Outcome::failed(reason::kAliasBaseQTypeError));
}

TEST_CASE("objects: what is defined between begin_unit() and end_unit() is durable as one") {
  QueueWorld w;
  w.sim.run_ready();
  for (const bool is_crash : {true, false}) {
    const uint64_t before = w.store->usage().units_written;
    w.manager->admin().begin_unit();
    for (const char* name : {"ONE", "TWO", "THREE"}) {
      CHECK(do_define(w, objects::Definition(ObjectType::kQlocal, name)).ok());
      CHECK(w.manager->find_queue(name) != nullptr);  // at once
    }
    CHECK(do_define(w, objects::Definition(ObjectType::kQlocal, "ONE")).reason ==
          reason::kObjectAlreadyExists);
    CHECK(w.store->usage().units_written == before);
    objects::AdminResult ended = objects::AdminResult::failed(-1);
    w.manager->admin().end_unit([&](objects::AdminResult r) { ended = r; });
    if (is_crash) {
      w.crash();
      w.start();
      for (const char* name : {"ONE", "TWO", "THREE"})
        CHECK(w.manager->find_queue(name) == nullptr);
      w.sim.run_ready();
      continue;
    }
    w.sim.run_ready();
    CHECK(ended.ok());
    CHECK(w.store->usage().units_written == before + 1);
    CHECK(do_define(w, objects::Definition(ObjectType::kQlocal, "FOUR")).ok());  // as ever
    w.crash();
    w.start();
    for (const char* name : {"ONE", "TWO", "THREE", "FOUR"}) {
      CHECK(w.manager->find_queue(name) != nullptr);
    }
  }
}

TEST_CASE("objects: a remote definition puts a MQXQH in front, onto the transmission queue") {
  QueueWorld w;
  w.define("XMIT", {.is_transmission = true});
  w.define("PLAIN");
  objects::Definition remote(ObjectType::kQremote, "FAR");
  remote.set_text(Attr::kRname, "THERE.Q");
  remote.set_text(Attr::kRqmname, "QM2");
  remote.set_text(Attr::kXmitq, "XMIT");
  CHECK(do_define(w, remote).ok());
  Hobj h = w.open(*w.a, "FAR", oo::kOutput);
  REQUIRE(w.last.is_ok());
  mqi::MessageDescriptor md;
  md.format = "MQSTR";
  CHECK(w.put(*w.a, h, "hello", 0, md).is_ok());
  CHECK(w.put_call.resolved_queue == "THERE.Q");
  CHECK(w.put_call.resolved_queue_manager == "QM2");
  Hobj x = w.open(*w.a, "XMIT", oo::kInputShared);
  std::string body = w.get(*w.a, x);
  CHECK(w.got.md.format.view() == "MQXMIT");
  REQUIRE(body.size() == 428 + 5);
  CHECK(body.substr(0, 4) == "XQH ");
  CHECK(body.substr(8, 7) == "THERE.Q");
  CHECK(body.substr(56, 3) == "QM2");
  CHECK(body.substr(428) == "hello");
  auto inner = mqi::decode_message_descriptor(std::string_view(body).substr(104));
  REQUIRE(inner.ok());
  CHECK(inner.value().format.view() == "MQSTR");
  CHECK(inner.value().message_id == w.put_call.md.message_id);
  (void)w.open(*w.a, "FAR", oo::kInputShared);
  CHECK(w.last == Outcome::failed(reason::kOptionNotValidForType));

  auto remote_by_name = [&](const char* xmit, int32_t expected) {
    objects::Definition d(ObjectType::kQremote, "OTHER");
    d.set_text(Attr::kRname, "Q");
    d.set_text(Attr::kRqmname, "QM3");
    d.set_text(Attr::kXmitq, xmit);
    CHECK(do_define(w, d, true).ok());
    (void)w.open(*w.a, "OTHER", oo::kOutput);
    CHECK(w.last.reason == expected);
  };
  remote_by_name("NO.SUCH", reason::kUnknownXmitQ);
  remote_by_name("PLAIN", reason::kXmitQUsageError);
  remote_by_name("FAR", reason::kXmitQTypeError);
  remote_by_name("", reason::kUnknownRemoteQMgr);
}

TEST_CASE("objects: names of other queue managers: their transmission queue, else the default") {
  QueueManagerSettings settings;
  settings.default_transmission_queue = "DEFAULT.XMIT";
  QueueWorld w(1, settings);
  w.define("QM2", {.is_transmission = true});
  w.define("DEFAULT.XMIT", {.is_transmission = true});
  OpenCall object;
  object.object_name = "Q";
  object.queue_manager_name = "QM2";
  PutCall call;
  call.body = Body::copy("x");
  CHECK(w.a->put1(object, call).is_ok());
  CHECK(w.depth("QM2") == 1);
  object = OpenCall();
  object.object_name = "Q";
  object.queue_manager_name = "QM9";
  call.md = {};
  CHECK(w.a->put1(object, call).is_ok());
  CHECK(w.depth("DEFAULT.XMIT") == 1);
}

TEST_CASE("objects: temporary and permanent dynamic queues") {
  QueueWorld w;
  objects::Definition model(ObjectType::kQmodel, "MODEL");
  model.set_number(Attr::kDeftype, static_cast<int64_t>(objects::QueueDefinitionType::kTempdyn));
  CHECK(do_define(w, model).ok());
  OpenCall call;
  call.object_name = "MODEL";
  call.dynamic_name = "REPLY.*";
  call.options = oo::kInputExclusive | oo::kOutput;
  REQUIRE(w.a->open(call).is_ok());
  CHECK(call.object_name.substr(0, 6) == "REPLY.");
  CHECK(call.object_name.size() == 22);
  CHECK(w.put(*w.a, call.handle, "x", 0, persistent()) ==
        Outcome::failed(reason::kPersistentNotAllowed));
  CHECK(w.put(*w.a, call.handle, "x").is_ok());
  std::string temporary = call.object_name;
  Hobj other = w.open(*w.b, temporary, oo::kOutput);
  REQUIRE(w.last.is_ok());
  CHECK(w.a->close(call.handle).is_ok());
  (void)w.open(*w.b, temporary, oo::kOutput);
  CHECK(w.last == Outcome::failed(reason::kUnknownObjectName));
  CHECK(w.put(*w.b, other, "x") == Outcome::failed(reason::kQDeleted));

  for (auto [name, expected] :
       std::initializer_list<std::pair<const char*, int32_t>>{{"", reason::kDynamicQNameError},
                                                              {"A*B", reason::kDynamicQNameError},
                                                              {"BAD NAME", 2011}}) {
    call = OpenCall();
    call.object_name = "MODEL";
    call.dynamic_name = name;
    call.options = oo::kInputShared;
    CHECK(w.a->open(call) == Outcome::failed(expected));
  }

  model.set_name("PMODEL");
  model.set_number(Attr::kDeftype, static_cast<int64_t>(objects::QueueDefinitionType::kPermdyn));
  CHECK(do_define(w, model).ok());
  call = OpenCall();
  call.object_name = "PMODEL";
  call.dynamic_name = "KEPT";
  call.options = oo::kInputShared | oo::kOutput;
  CHECK(w.wait([&](Done done) { return w.a->open(call, std::move(done)); }).is_ok());
  CHECK(w.put(*w.a, call.handle, "kept", 0, persistent()).is_ok());
  w.restart();
  Hobj h = w.open(*w.a, "KEPT", oo::kInputShared);
  REQUIRE(w.last.is_ok());
  CHECK(w.a->close(h, mqi::co::kDelete) == Outcome::failed(reason::kQNotEmpty));
  h = w.open(*w.a, "KEPT", oo::kInputShared);
  CHECK(w.a->close(h, mqi::co::kDeletePurge).is_ok());
  w.sim.run_ready();
  w.restart();
  (void)w.open(*w.a, "KEPT", oo::kInputShared);
  CHECK(w.last == Outcome::failed(reason::kUnknownObjectName));
}

TEST_CASE("objects: a restart keeps definitions, persistent messages, order and backout counts") {
  for (bool is_clean : {true, false}) {
    QueueWorld w;
    w.define("Q");
    Hobj h = w.open(*w.a, "Q", oo::kOutput | oo::kInputShared);
    for (int priority : {4, 9, 4, 0}) {
      mqi::MessageDescriptor md = persistent();
      md.priority = priority;
      md.correlation_id = mqi::Id("c" + std::to_string(priority));
      CHECK(w.put(*w.a, h, "p" + std::to_string(priority), 0, md).is_ok());
    }
    CHECK(w.put(*w.a, h, "gone").is_ok());
    CHECK(w.get(*w.a, h, gmo::kSyncpoint) == "p9");
    CHECK(w.a->back().is_ok());
    CHECK(w.get(*w.a, h, gmo::kSyncpoint) == "p9");  // in flight when it stops
    w.sim.run_ready();
    if (is_clean) {
      w.restart();
    } else {
      w.crash();
      w.start();
    }
    REQUIRE(w.is_ok);
    CHECK(w.manager->was_unclean() == !is_clean);
    h = w.open(*w.a, "Q", oo::kOutput | oo::kInputShared);
    CHECK(w.depth("Q") == 4);
    CHECK(w.get(*w.a, h) == "p9");
    CHECK(w.got.is_maybe_redelivered);
    CHECK(w.got.md.backout_count == (is_clean ? 2 : 1));
    mqi::MessageDescriptor by_correlation;
    by_correlation.correlation_id = mqi::Id("c0");
    CHECK(w.get(*w.a, h, 0, by_correlation) == "p0");
    CHECK(w.got.is_maybe_redelivered == !is_clean);
    CHECK(w.get(*w.a, h) == "p4");
    CHECK(w.get(*w.a, h) == "p4");
    CHECK(w.get(*w.a, h) == "#2033");
    w.define("NEW");
    CHECK(w.manager->find_queue("NEW")->id() > w.manager->find_queue("Q")->id());
  }
}

TEST_CASE("objects: delete, clear, alter") {
  QueueWorld w;
  w.define("Q");
  auto admin = make_admin_target(*w.manager, "admin");
  objects::AdminResult result;
  auto done = [&](objects::AdminResult r) { result = std::move(r); };
  Hobj h = w.open(*w.a, "Q", oo::kOutput);
  CHECK(w.put(*w.a, h, "x", 0, persistent()).is_ok());
  admin->clear_queue("Q", done);
  CHECK(result.reason == objects::reason::kObjectOpen);
  admin->erase(ObjectFamily::kQueue, "Q", {}, done);
  CHECK(result.reason == objects::reason::kObjectOpen);
  CHECK(w.a->close(h).is_ok());
  admin->erase(ObjectFamily::kQueue, "Q", {}, done);
  CHECK(result.reason == reason::kQNotEmpty);
  admin->clear_queue("Q", done);
  w.sim.run_ready();
  CHECK(result.ok());
  CHECK(w.depth("Q") == 0);
  Sequence highest = w.manager->find_queue("Q")->last_sequence();
  w.restart();
  CHECK(w.depth("Q") == 0);
  CHECK(w.manager->find_queue("Q")->last_sequence() == highest);

  admin = make_admin_target(*w.manager, "admin");
  objects::DefinitionPtr seen = admin->catalogue().find(ObjectFamily::kQueue, "Q");
  REQUIRE(seen != nullptr);
  objects::Definition changed = *seen;
  changed.set_number(Attr::kMaxdepth, 1);
  admin->alter(seen, changed, false, done);
  w.sim.run_ready();
  CHECK(result.ok());
  admin->alter(seen, changed, false, done);
  CHECK(result.reason == reason::kObjectChanged);
  h = w.open(*w.a, "Q", oo::kOutput);
  CHECK(w.put(*w.a, h, "1").is_ok());
  CHECK(w.put(*w.a, h, "2") == Outcome::failed(reason::kQFull));
  CHECK(w.a->close(h).is_ok());
  admin->erase(ObjectFamily::kQueue, "Q", {.is_purge = true}, done);
  w.sim.run_ready();
  CHECK(result.ok());
  w.restart();
  (void)w.open(*w.a, "Q", oo::kOutput);
  CHECK(w.last == Outcome::failed(reason::kUnknownObjectName));
}

TEST_CASE("objects: status of queues and connections, and moving messages") {
  QueueWorld w;
  w.define("FROM");
  w.define("TO");
  Hobj h = w.open(*w.a, "FROM", oo::kOutput);
  for (int i = 0; i < 250; ++i) {
    CHECK(w.put(*w.a, h, std::to_string(i), 0, persistent()).is_ok());
  }
  auto admin = make_admin_target(*w.manager, "admin");
  auto status = admin->queue_status("FR*");
  REQUIRE(status.size() == 1);
  CHECK(status[0].depth == 250);
  CHECK(status[0].outputs == 1);
  auto connections = admin->connections();
  REQUIRE(connections.size() == 2);
  CHECK(connections[0].user == "alice");
  REQUIRE(connections[0].handles.size() == 1);
  CHECK(connections[0].handles[0].object == "FROM");
  objects::AdminResult result;
  admin->move_messages("FROM", "TO", [&](objects::AdminResult r) { result = std::move(r); });
  w.sim.run_ready();
  CHECK(result.ok());
  REQUIRE(result.inserts.size() == 1);
  CHECK(result.inserts[0] == "250");
  CHECK(w.depth("FROM") == 0);
  Hobj to = w.open(*w.b, "TO", oo::kInputShared);
  CHECK(w.get(*w.b, to) == "0");
  CHECK(w.got.md.user_identifier.view() == "alice");
  CHECK(w.get(*w.b, to) == "1");
}

TEST_CASE("objects: inquire: 2038, attributes, depth") {
  QueueWorld w;
  w.define("Q", {.backout_threshold = 3, .backout_queue = "BOQ"});
  Hobj out = w.open(*w.a, "Q", oo::kOutput);
  CHECK(w.put(*w.a, out, "x").is_ok());
  Connection::Inquiry inquiry;
  CHECK(w.a->inquire(out, inquiry) == Outcome::failed(reason::kNotOpenForInquire));
  Hobj h = w.open(*w.a, "Q", oo::kInquire);
  REQUIRE(w.a->inquire(h, inquiry).is_ok());
  CHECK(inquiry.depth == 1);
  CHECK(inquiry.open_output == 1);
  CHECK(inquiry.definition->number(Attr::kBothresh) == 3);
  CHECK(inquiry.definition->text(Attr::kBoqname) == "BOQ");
  OpenCall call;
  call.object_type = mqi::ot::kQueueManager;
  call.options = oo::kInquire;
  REQUIRE(w.a->open(call).is_ok());
  REQUIRE(w.a->inquire(call.handle, inquiry).is_ok());
  CHECK(inquiry.definition->number(Attr::kMaxumsgs) == 10'000);
}

TEST_CASE("objects: a store that fails ends everything with the connection broken") {
  QueueWorld w;
  w.define("Q");
  Hobj h = w.open(*w.a, "Q", oo::kOutput);
  PutCall call;
  call.md.persistence = 1;
  call.body = Body::copy("x");
  Outcome result = Outcome::pending();
  REQUIRE(w.a->put(h, call, [&](const Outcome& o) { result = o; }).is_pending());
  w.store->fail();
  w.sim.run_ready();
  CHECK(result == Outcome::failed(reason::kConnectionBroken));
  CHECK(w.put(*w.a, h, "x").is_failed());
}

TEST_CASE("objects: a full disk refuses persistent puts, and nothing else") {
  QueueWorld w;
  w.define("Q");
  Hobj h = w.open(*w.a, "Q", oo::kOutput | oo::kInputShared);
  CHECK(w.put(*w.a, h, "old", 0, persistent()).is_ok());
  w.store->set_admits(false);
  CHECK(w.put(*w.a, h, "x", 0, persistent()) == Outcome::failed(reason::kQSpaceNotAvailable));
  CHECK(w.put(*w.a, h, "np").is_ok());
  CHECK(w.get(*w.a, h, gmo::kSyncpoint) == "old");
  CHECK(w.commit(*w.a).is_ok());
}

}  // namespace
}  // namespace millstream::queue
