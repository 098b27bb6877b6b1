// Expiry, reports, dead letters, poison, triggers, delays.
#include <doctest/doctest.h>

#include "queue/core/queue_for_test.h"

namespace millstream::queue {
namespace {

namespace oo = mqi::oo;
namespace gmo = mqi::gmo;
namespace pmo = mqi::pmo;
namespace ro = mqi::ro;
namespace reason = mqi::reason;

mqi::MessageDescriptor md_expiring(int32_t tenths, int32_t persistence = 0) {
  mqi::MessageDescriptor md;
  md.expiry = tenths;
  md.persistence = persistence;
  return md;
}

mqi::MessageDescriptor md_reporting(int32_t report, int32_t persistence = 0) {
  mqi::MessageDescriptor md;
  md.report = report;
  md.persistence = persistence;
  md.reply_to_queue = "REPLY";
  md.correlation_id = mqi::Id("correlation");
  return md;
}

TEST_CASE("expiry: nobody gets it after its time, and the sweep takes it away") {
  for (int32_t persistence : {0, 1}) {
    QueueWorld w;
    w.define("Q");
    Hobj h = w.open(*w.a, "Q", oo::kOutput | oo::kInputShared | oo::kBrowse);
    CHECK(w.put(*w.a, h, "short", 0, md_expiring(5, persistence)).is_ok());
    CHECK(w.put(*w.a, h, "long", 0, md_expiring(100, persistence)).is_ok());
    CHECK(w.depth("Q") == 2);
    w.sim.clock().advance_ns(500'000'000);
    CHECK(w.get(*w.a, h, gmo::kBrowseFirst) == "long");
    CHECK(w.got.md.expiry == 95);
    w.sim.run();
    CHECK(w.depth("Q") == 0);
    CHECK(w.get(*w.a, h) == "#2033");
    w.restart();
    CHECK(w.depth("Q") == 0);
  }
}

TEST_CASE("expiry: after a restart the time still counts") {
  QueueWorld w;
  w.define("Q");
  Hobj h = w.open(*w.a, "Q", oo::kOutput);
  CHECK(w.put(*w.a, h, "x", 0, md_expiring(10, 1)).is_ok());
  CHECK(w.put(*w.a, h, "y", 0, md_expiring(50, 1)).is_ok());
  w.crash();
  w.sim.clock().advance_ns(1'000'000'000);
  w.start();
  h = w.open(*w.a, "Q", oo::kInputShared);
  CHECK(w.get(*w.a, h) == "y");
  w.sim.run();
  CHECK(w.depth("Q") == 0);
}

TEST_CASE("expiry: a message that is locked when it expires goes when it is given back") {
  QueueWorld w;
  w.define("Q");
  Hobj h = w.open(*w.a, "Q", oo::kOutput | oo::kInputShared);
  CHECK(w.put(*w.a, h, "x", 0, md_expiring(10)).is_ok());
  CHECK(w.get(*w.a, h, gmo::kSyncpoint) == "x");
  w.sim.clock().advance_ns(2'000'000'000);
  CHECK(w.a->back().is_ok());
  CHECK(w.get(*w.a, h) == "#2033");
  CHECK(w.depth("Q") == 0);
}

TEST_CASE("expiry: 2013 for an expiry that is none") {
  QueueWorld w;
  w.define("Q");
  Hobj h = w.open(*w.a, "Q", oo::kOutput);
  CHECK(w.put(*w.a, h, "x", 0, md_expiring(0)) == Outcome::failed(reason::kExpiryError));
  CHECK(w.put(*w.a, h, "x", 0, md_expiring(-2)) == Outcome::failed(reason::kExpiryError));
}

TEST_CASE("reports: arrival and delivery, with identifiers and data as asked") {
  for (int32_t persistence : {0, 1}) {
    QueueWorld w;
    w.define("Q");
    w.define("REPLY");
    Hobj h = w.open(*w.a, "Q", oo::kOutput | oo::kInputShared);
    Hobj r = w.open(*w.a, "REPLY", oo::kInputShared);
    std::string body(250, 'b');
    mqi::MessageDescriptor md = md_reporting(ro::kCoaWithData | ro::kCodWithFullData, persistence);
    CHECK(w.put(*w.a, h, body, 0, md).is_ok());
    mqi::Id id = w.put_call.md.message_id;
    CHECK(w.get(*w.a, r).size() == 100);
    CHECK(w.got.md.message_type == mqi::mt::kReport);
    CHECK(w.got.md.feedback == mqi::fb::kCoa);
    CHECK(w.got.md.correlation_id == id);
    CHECK_FALSE(w.got.md.message_id == id);
    CHECK(w.got.md.put_appl_name.view() == "QM1");
    CHECK(w.get(*w.a, r) == "#2033");
    CHECK(w.get(*w.a, h, gmo::kSyncpoint) == body);
    CHECK(w.get(*w.a, r) == "#2033");  // in the unit of the get
    CHECK(w.commit(*w.a).is_ok());
    CHECK(w.get(*w.a, r) == body);
    CHECK(w.got.md.feedback == mqi::fb::kCod);

    md.report = ro::kCod | ro::kPassMessageId | ro::kPassCorrelationId;
    CHECK(w.put(*w.a, h, body, 0, md).is_ok());
    id = w.put_call.md.message_id;
    CHECK(w.get(*w.a, h) == body);
    CHECK(w.get(*w.a, r) == "");
    CHECK(w.got.md.message_id == id);
    CHECK(w.got.md.correlation_id == mqi::Id("correlation"));
  }
}

TEST_CASE("reports: of a message that expires") {
  for (bool restarts : {false, true}) {
    QueueWorld w;
    w.define("Q");
    w.define("REPLY");
    Hobj h = w.open(*w.a, "Q", oo::kOutput);
    mqi::MessageDescriptor md = md_reporting(ro::kExpirationWithFullData, 1);
    md.expiry = 10;
    CHECK(w.put(*w.a, h, "body", 0, md).is_ok());
    if (restarts) w.restart();
    Hobj r = w.open(*w.a, "REPLY", oo::kInputShared);
    Hobj in = w.open(*w.a, "Q", oo::kInputShared);
    w.sim.clock().advance_ns(1'000'000'000);
    CHECK(w.get(*w.a, in) == "#2033");
    w.sim.run_ready();
    CHECK(w.get(*w.a, r) == "body");
    CHECK(w.got.md.feedback == mqi::fb::kExpiration);
  }
}

TEST_CASE("reports: what the descriptor must say: 2027, 2061, 2029, 2047, 2050") {
  QueueWorld w;
  w.define("Q");
  Hobj h = w.open(*w.a, "Q", oo::kOutput);
  mqi::MessageDescriptor md = md_reporting(ro::kCoa);
  md.reply_to_queue = "";
  CHECK(w.put(*w.a, h, "x", 0, md) == Outcome::failed(reason::kMissingReplyToQ));
  md = {};
  md.message_type = mqi::mt::kRequest;
  CHECK(w.put(*w.a, h, "x", 0, md) == Outcome::failed(reason::kMissingReplyToQ));
  md = md_reporting(0x200);  // half of "with data"
  CHECK(w.put(*w.a, h, "x", 0, md) == Outcome::failed(reason::kReportOptionsError));
  md = {};
  md.message_type = 77;
  CHECK(w.put(*w.a, h, "x", 0, md) == Outcome::failed(reason::kMsgTypeError));
  md = {};
  md.persistence = 3;
  CHECK(w.put(*w.a, h, "x", 0, md) == Outcome::failed(reason::kPersistenceError));
  md = {};
  md.priority = -2;
  CHECK(w.put(*w.a, h, "x", 0, md) == Outcome::failed(reason::kPriorityError));
}

TEST_CASE("dead letters: a report without a place to go gets a MQDLH") {
  QueueManagerSettings settings;
  settings.dead_letter_queue = "DLQ";
  QueueWorld w(1, settings);
  w.define("Q");
  w.define("DLQ");
  Hobj h = w.open(*w.a, "Q", oo::kOutput);
  mqi::MessageDescriptor md = md_reporting(ro::kCoaWithFullData);
  md.format = "MQSTR";
  md.reply_to_queue = "NO.SUCH";
  CHECK(w.put(*w.a, h, "body", 0, md).is_ok());
  Hobj d = w.open(*w.a, "DLQ", oo::kInputShared);
  std::string letter = w.get(*w.a, d);
  CHECK(w.got.md.format.view() == "MQDEAD");
  REQUIRE(letter.size() == 172 + 4);
  CHECK(letter.substr(0, 4) == "DLH ");
  int32_t why;
  std::memcpy(&why, letter.data() + 8, 4);
  CHECK(why == reason::kUnknownObjectName);
  CHECK(letter.substr(12, 7) == "NO.SUCH");
  CHECK(letter.substr(116, 5) == "MQSTR");
  CHECK(letter.substr(172) == "body");
}

TEST_CASE("poison: for other protocols the queue manager moves it, and never drops it") {
  QueueManagerSettings settings;
  settings.dead_letter_queue = "DLQ";
  QueueWorld w(1, settings);
  w.define("Q", {.backout_threshold = 2, .backout_queue = "BOQ"});
  w.define("BOQ");
  w.define("DLQ", {.depth_max = 1});
  Hobj h = w.open(*w.a, "Q", oo::kOutput | oo::kInputShared);
  auto get = [&] {
    w.got = GetCall();
    w.got.options = gmo::kSyncpoint;
    w.got.handles_poison = true;
    w.last = w.get(*w.a, h, w.got);
    return w.last.is_ok() ? std::string(w.got.body.view()) : "#" + std::to_string(w.last.reason);
  };
  mqi::MessageDescriptor md;
  md.persistence = 1;
  CHECK(w.put(*w.a, h, "poison", 0, md).is_ok());
  for (int i = 0; i < 2; ++i) {
    CHECK(get() == "poison");
    CHECK(w.a->back().is_ok());
  }
  CHECK(w.get(*w.a, h, gmo::kSyncpoint) == "poison");  // an MQI getter sees it
  CHECK(w.a->back().is_ok());
  CHECK(get() == "#2033");
  w.sim.run_ready();
  CHECK(w.depth("BOQ") == 1);
  CHECK(w.depth("Q") == 0);

  w.define("P");
  h = w.open(*w.a, "P", oo::kOutput | oo::kInputShared);
  for (int i = 0; i < 2; ++i) CHECK(w.put(*w.a, h, "p" + std::to_string(i), 0, md).is_ok());
  for (int i = 0; i < 10; ++i) {
    CHECK(get() == "p0");
    CHECK(get() == "p1");
    CHECK(w.a->back().is_ok());
  }
  CHECK(get() == "p1");  // the dead-letter queue has room for one
  w.sim.run_ready();
  CHECK(w.depth("DLQ") == 1);
}

TEST_CASE("trigger: FIRST, with a monitor and a process") {
  QueueWorld w;
  w.define("INIT");
  w.define("Q", {.is_triggered = true,
                 .trigger_type = TriggerType::kFirst,
                 .trigger_data = "data",
                 .process = "PROC",
                 .initiation_queue = "INIT"});
  ProcessSettings process;
  process.application_id = "/bin/app";
  w.manager->objects().set_process("PROC", std::make_shared<const ProcessSettings>(process));
  Hobj h = w.open(*w.a, "Q", oo::kOutput);
  CHECK(w.put(*w.a, h, "0").is_ok());
  CHECK(w.depth("INIT") == 0);  // nobody monitors
  Hobj monitor = w.open(*w.b, "INIT", oo::kInputShared);
  CHECK(w.depth("INIT") == 1);  // the monitor comes, and a message is there
  std::string tm = w.get(*w.b, monitor);
  REQUIRE(tm.size() == 684);
  CHECK(tm.substr(0, 4) == "TM  ");
  CHECK(tm.substr(8, 2) == "Q ");
  CHECK(tm.substr(56, 5) == "PROC ");
  CHECK(tm.substr(104, 5) == "data ");
  CHECK(tm.substr(172, 9) == "/bin/app ");
  CHECK(w.got.md.format.view() == "MQTRIG");
  CHECK(w.put(*w.a, h, "1").is_ok());
  CHECK(w.depth("INIT") == 0);  // not the first one
  Hobj in = w.open(*w.a, "Q", oo::kInputShared);
  CHECK(w.get(*w.a, in) == "0");
  CHECK(w.put(*w.a, h, "2").is_ok());
  CHECK(w.depth("INIT") == 0);  // the application is there
  CHECK(w.a->close(in).is_ok());
  CHECK(w.depth("INIT") == 1);  // it left messages behind
}

TEST_CASE("trigger: EVERY and DEPTH") {
  QueueWorld w;
  w.define("INIT");
  w.define("E", {.is_triggered = true,
                 .trigger_type = TriggerType::kEvery,
                 .trigger_priority = 5,
                 .trigger_data = "channel",
                 .initiation_queue = "INIT"});
  w.define("D", {.is_triggered = true,
                 .trigger_type = TriggerType::kDepth,
                 .trigger_depth = 3,
                 .trigger_data = "channel",
                 .initiation_queue = "INIT"});
  (void)w.open(*w.b, "INIT", oo::kInputShared);
  Hobj e = w.open(*w.a, "E", oo::kOutput);
  mqi::MessageDescriptor md;
  md.priority = 5;
  for (int i = 0; i < 3; ++i) CHECK(w.put(*w.a, e, "x", 0, md).is_ok());
  CHECK(w.put(*w.a, e, "low").is_ok());
  CHECK(w.depth("INIT") == 3);
  Hobj d = w.open(*w.a, "D", oo::kOutput);
  for (int i = 0; i < 2; ++i) CHECK(w.put(*w.a, d, "x").is_ok());
  CHECK(w.depth("INIT") == 3);
  CHECK(w.put(*w.a, d, "x", pmo::kSyncpoint).is_ok());
  CHECK(w.depth("INIT") == 3);
  CHECK(w.commit(*w.a).is_ok());
  CHECK(w.depth("INIT") == 4);
  CHECK(w.put(*w.a, d, "x").is_ok());
  CHECK(w.depth("INIT") == 4);  // DEPTH turns itself off
}

TEST_CASE("delay: delivered when it is due, also to who waits, also after a restart") {
  QueueWorld w;
  w.define("Q");
  Hobj h = w.open(*w.a, "Q", oo::kOutput | oo::kInputShared);
  PutCall call;
  call.md.persistence = 1;
  call.delay_ms = 5000;
  call.body = Body::copy("later");
  CHECK(w.wait([&](Done done) { return w.a->put(h, call, std::move(done)); }).is_ok());
  CHECK(w.get(*w.a, h) == "#2033");
  CHECK(w.depth("Q") == 1);
  w.restart();
  h = w.open(*w.a, "Q", oo::kOutput | oo::kInputShared);
  CHECK(w.get(*w.a, h) == "#2033");
  int64_t before = w.sim.clock().monotonic_ns();
  w.got = GetCall();
  w.got.options = gmo::kWait;
  w.got.wait_ms = mqi::kUnlimited;
  CHECK(w.get(*w.a, h, w.got).is_ok());
  CHECK(w.got.body.view() == "later");
  CHECK(w.sim.clock().monotonic_ns() - before >= 4'900'000'000);
}

}  // namespace
}  // namespace millstream::queue
