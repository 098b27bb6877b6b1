// Events: which call makes which message on which queue, as a monitor reads it.
#include <doctest/doctest.h>

#include <cstring>
#include <map>

#include "queue/core/queue_for_test.h"

namespace millstream::queue {
namespace {

namespace gmo = mqi::gmo;
namespace oo = mqi::oo;
namespace reason = mqi::reason;
using objects::Attr;
using objects::Definition;
using objects::ObjectType;

struct EventRead {
  int32_t command = 0;
  int32_t reason = 0;
  std::map<int32_t, int32_t> numbers;
  std::map<int32_t, std::string> texts;
};

// A reader of PCF of its own: not the writer's code.
EventRead read_event(std::string_view bytes) {
  auto number = [&](size_t at) {
    int32_t v = 0;
    REQUIRE(at + 4 <= bytes.size());
    std::memcpy(&v, bytes.data() + at, 4);
    return v;
  };
  EventRead out;
  CHECK(number(0) == 7);
  CHECK(number(4) == 36);
  CHECK(number(16) == 1);
  CHECK(number(20) == 1);
  CHECK(number(24) == mqi::cc::kWarning);
  out.command = number(12);
  out.reason = number(28);
  size_t at = 36;
  for (int i = number(32); i > 0; --i) {
    int32_t type = number(at), length = number(at + 4), parameter = number(at + 8);
    if (type == 3) {
      CHECK(length == 16);
      out.numbers[parameter] = number(at + 12);
    } else {
      REQUIRE(type == 4);
      std::string text(bytes.substr(at + 20, static_cast<size_t>(number(at + 16))));
      out.texts[parameter] = text.substr(0, text.find_last_not_of(' ') + 1);
    }
    at += static_cast<size_t>(length);
  }
  CHECK(at == bytes.size());
  return out;
}

class RefuseAll final : public AccessControl {
 public:
  std::string refuses(const AccessRequest& request) const override {
    bool is_refused = (request.rights & refused) != 0 && request.user == "bob";
    return is_refused ? "test" : "";
  }
  uint32_t refused = 0;
};

struct EventWorld : QueueWorld {
  EventWorld() {
    stop();
    access = &rules;
    start();
    define("SYSTEM.ADMIN.QMGR.EVENT");
    define("SYSTEM.ADMIN.PERFM.EVENT");
    define("Q");
  }
  void set(std::initializer_list<Attr> attributes) {
    objects::DefinitionPtr seen =
        manager->admin().catalogue().find(objects::ObjectFamily::kQmgr, manager->name());
    Definition changed = *seen;
    for (Attr attribute : attributes) changed.set_number(attribute, 1);
    manager->admin().alter(seen, std::move(changed), false, [](objects::AdminResult) {});
    sim.run_ready();
  }
  void alter(const std::string& queue, const std::function<void(Definition&)>& change) {
    objects::DefinitionPtr seen =
        manager->admin().catalogue().find(objects::ObjectFamily::kQueue, queue);
    Definition changed = *seen;
    change(changed);
    manager->admin().alter(seen, std::move(changed), false, [](objects::AdminResult) {});
    sim.run_ready();
  }
  EventRead next(const char* queue = "SYSTEM.ADMIN.QMGR.EVENT") {
    Hobj h = open(*a, queue, oo::kInputShared);
    std::string body = get(*a, h);
    Hobj closed = h;
    (void)a->close(closed);
    if (body == "#2033") return {};
    REQUIRE(last.is_ok());
    CHECK(got.md.format.padded() == "MQEVENT ");
    CHECK(got.md.put_appl_type == mqi::at::kQueueManager);
    return read_event(body);
  }
  RefuseAll rules;
};

TEST_CASE("events: of the queue manager, when they are enabled and not otherwise") {
  EventWorld w;
  auto fail_all = [&] {
    CHECK(w.open(*w.b, "NO.SUCH", oo::kOutput) == kNoObject);
    OpenCall remote;
    remote.object_name = "X";
    remote.queue_manager_name = "ELSEWHERE";
    remote.options = oo::kOutput;
    CHECK(w.b->open(remote) == Outcome::failed(reason::kUnknownRemoteQMgr));
    w.rules.refused = kRightPut;
    CHECK(w.open(*w.b, "Q", oo::kOutput | oo::kInquire) == kNoObject);
    w.rules.refused = kRightConnect;
    CHECK(w.connect("bob") == nullptr);
    w.rules.refused = 0;
    w.alter("Q", [](Definition& d) {
      d.set_number(Attr::kPut, 1);
      d.set_number(Attr::kGet, 1);
    });
    Hobj h = w.open(*w.b, "Q", oo::kOutput | oo::kInputShared);
    CHECK(w.put(*w.b, h, "x") == Outcome::failed(reason::kPutInhibited));
    CHECK(w.get(*w.b, h) == "#2016");
    CHECK(w.b->close(h).is_ok());
  };
  fail_all();
  CHECK(w.depth("SYSTEM.ADMIN.QMGR.EVENT") == 0);
  w.set({Attr::kLocalev, Attr::kRemoteev, Attr::kAuthorev, Attr::kInhibtev});
  fail_all();
  EventRead e = w.next();
  CHECK(e.command == 44);
  CHECK(e.reason == reason::kUnknownObjectName);
  CHECK(e.texts[2015] == "QM1");
  CHECK(e.texts[2016] == "NO.SUCH");
  CHECK(e.texts[3024] == "test");
  CHECK(e.numbers[1] == 6);
  e = w.next();
  CHECK(e.reason == reason::kUnknownRemoteQMgr);
  CHECK(e.texts[3023] == "ELSEWHERE");
  e = w.next();
  CHECK(e.reason == reason::kNotAuthorized);
  CHECK(e.numbers[1020] == 2);
  CHECK(e.numbers[1022] == (oo::kOutput | oo::kInquire));
  CHECK(e.texts[2016] == "Q");
  CHECK(e.texts[3025] == "bob");
  e = w.next();
  CHECK(e.reason == reason::kNotAuthorized);
  CHECK(e.numbers[1020] == 1);
  CHECK(e.texts.count(2016) == 0);
  e = w.next();
  CHECK(e.reason == reason::kPutInhibited);
  CHECK(e.texts[2016] == "Q");
  CHECK(w.next().reason == reason::kGetInhibited);
  CHECK(w.next().reason == 0);
}

TEST_CASE("events: start and stop, unless switched off") {
  EventWorld w;
  w.alter("SYSTEM.ADMIN.QMGR.EVENT", [](Definition& d) { d.set_number(Attr::kDefpsist, 1); });
  w.restart();
  EventRead stop = w.next();
  CHECK(stop.reason == reason::kQMgrNotActive);
  CHECK(stop.numbers[1020] == 5);
  CHECK(w.next().reason == reason::kQMgrActive);
  CHECK(w.next().reason == 0);
}

TEST_CASE("events: depth high, full and low, each once until its opposite") {
  EventWorld w;
  const char* queue = "SYSTEM.ADMIN.PERFM.EVENT";
  w.define("D", {.depth_max = 5});
  w.alter("D", [](Definition& d) {
    d.set_number(Attr::kQdphiev, 1);
    d.set_number(Attr::kQdploev, 1);
  });
  Hobj h = w.open(*w.a, "D", oo::kOutput | oo::kInputShared);
  auto fill = [&] {
    for (int i = 0; i < 5; ++i) CHECK(w.put(*w.a, h, "x").is_ok());
    for (int i = 0; i < 3; ++i) CHECK(w.put(*w.a, h, "x") == Outcome::failed(reason::kQFull));
  };
  auto drain = [&] {
    for (int i = 0; i < 5; ++i) CHECK(w.get(*w.a, h, i % 2 ? gmo::kSyncpoint : 0) == "x");
    CHECK(w.commit(*w.a).is_ok());
  };
  fill();
  drain();
  CHECK(w.depth(queue) == 0);  // PERFMEV is off
  w.set({Attr::kPerfmev});
  for (int round = 0; round < 2; ++round) {
    fill();
    drain();
    EventRead e = w.next(queue);
    CHECK(e.command == 45);
    CHECK(e.reason == reason::kQDepthHigh);
    CHECK(e.texts[2002] == "D");
    CHECK(e.numbers[36] == 4);
    CHECK(e.numbers[37] == 4);
    e = w.next(queue);
    CHECK(e.reason == reason::kQFull);
    CHECK(e.numbers[37] == 1);
    e = w.next(queue);
    CHECK(e.reason == reason::kQDepthLow);
    CHECK(e.numbers[36] == 5);
    CHECK(w.next(queue).reason == 0);
  }
}

TEST_CASE("events: the service interval, late and in time again") {
  EventWorld w;
  const char* queue = "SYSTEM.ADMIN.PERFM.EVENT";
  w.set({Attr::kPerfmev});
  w.alter("Q", [](Definition& d) {
    d.set_number(Attr::kQsvciev, 1);
    d.set_number(Attr::kQsvcint, 1000);
  });
  Hobj h = w.open(*w.a, "Q", oo::kOutput | oo::kInputShared);
  auto round = [&](int64_t wait_ms) {
    CHECK(w.put(*w.a, h, "x").is_ok());
    w.sim.clock().advance_ns(wait_ms * 1'000'000);
    CHECK(w.get(*w.a, h) == "x");
    int32_t found = w.next(queue).reason;
    CHECK(w.next(queue).reason == 0);
    return found;
  };
  CHECK(round(10) == 0);
  CHECK(round(1500) == reason::kQServiceIntervalHigh);
  CHECK(round(1500) == 0);
  CHECK(round(10) == reason::kQServiceIntervalOk);
  CHECK(round(10) == 0);
  CHECK(round(1500) == reason::kQServiceIntervalHigh);
}

TEST_CASE("events: an event queue that is full or away harms nobody") {
  EventWorld w;
  w.set({Attr::kLocalev, Attr::kPerfmev});
  w.alter("SYSTEM.ADMIN.QMGR.EVENT", [](Definition& d) {
    d.set_number(Attr::kMaxdepth, 2);
    d.set_number(Attr::kQdphiev, 1);
  });
  w.alter("SYSTEM.ADMIN.PERFM.EVENT", [](Definition& d) {
    d.set_number(Attr::kMaxdepth, 1);
    d.set_number(Attr::kQdphiev, 1);
  });
  for (int i = 0; i < 5; ++i) CHECK(w.open(*w.b, "NO.SUCH", oo::kOutput) == kNoObject);
  CHECK(w.depth("SYSTEM.ADMIN.QMGR.EVENT") == 2);
  CHECK(w.depth("SYSTEM.ADMIN.PERFM.EVENT") == 1);
}

}  // namespace
}  // namespace millstream::queue
