// Global transactions, with the scenarios of other brokers' failures that they come from.
#include <doctest/doctest.h>

#include "queue/core/queue_for_test.h"

namespace millstream::queue {
namespace {

namespace oo = mqi::oo;
namespace gmo = mqi::gmo;
namespace pmo = mqi::pmo;

mqi::MessageDescriptor xa_md(int32_t persistence = 1) {
  mqi::MessageDescriptor md;
  md.persistence = persistence;
  return md;
}

template <typename F>
int32_t xa_wait(QueueWorld& w, F&& call) {
  int32_t result = xa::kPending;
  int32_t now = call([&](int32_t code) { result = code; });
  if (now != xa::kPending) return now;
  w.sim.run_until([&] { return result != xa::kPending; });
  return result;
}

int32_t xa_prepare(QueueWorld& w, Connection& c, const std::string& xid) {
  return xa_wait(w, [&](XaDone done) { return c.xa_prepare(xid, std::move(done)); });
}
int32_t xa_commit(QueueWorld& w, Connection& c, const std::string& xid, bool one = false) {
  return xa_wait(w, [&](XaDone done) { return c.xa_commit(xid, one, std::move(done)); });
}
int32_t xa_rollback(QueueWorld& w, Connection& c, const std::string& xid) {
  return xa_wait(w, [&](XaDone done) { return c.xa_rollback(xid, std::move(done)); });
}

// A branch that got "in" from IN and put "out" on OUT, ended.
void xa_work(QueueWorld& w, const std::string& xid, int32_t persistence = 1) {
  if (w.manager->find_queue("IN") == nullptr) {
    w.define("IN");
    w.define("OUT");
  }
  Hobj in = w.open(*w.a, "IN", oo::kOutput | oo::kInputShared);
  Hobj out = w.open(*w.a, "OUT", oo::kOutput);
  CHECK(w.put(*w.a, in, "in", 0, xa_md(persistence)).is_ok());
  REQUIRE(w.a->xa_start(xid, xa::kNoFlags) == xa::kOk);
  CHECK(w.get(*w.a, in, gmo::kSyncpoint) == "in");
  CHECK(w.put(*w.a, out, "out", pmo::kSyncpoint, xa_md(persistence)).is_ok());
  CHECK(w.a->commit() == Outcome::failed(mqi::reason::kEnvironmentError));
  REQUIRE(w.a->xa_end(xid, xa::kSuccess) == xa::kOk);
}

TEST_CASE("xa: two phases, one phase, rollback") {
  for (int32_t persistence : {0, 1}) {
    QueueWorld w;
    xa_work(w, "one", persistence);
    CHECK(w.depth("OUT") == 1);
    Hobj out = w.open(*w.b, "OUT", oo::kInputShared);
    CHECK(xa_prepare(w, *w.a, "one") == xa::kOk);
    CHECK(w.get(*w.b, out) == "#2033");
    CHECK(w.b->xa_recover() == std::vector<std::string>{"one"});
    CHECK(xa_commit(w, *w.b, "one") == xa::kOk);  // by another connection
    CHECK(w.get(*w.b, out) == "out");
    CHECK(w.depth("IN") == 0);
    CHECK(w.b->xa_recover().empty());

    xa_work(w, "two", persistence);
    CHECK(xa_commit(w, *w.a, "two", true) == xa::kOk);
    CHECK(w.get(*w.b, out) == "out");

    xa_work(w, "three", persistence);
    CHECK(xa_prepare(w, *w.a, "three") == xa::kOk);
    CHECK(xa_rollback(w, *w.a, "three") == xa::kOk);
    Hobj in = w.open(*w.b, "IN", oo::kInputShared);
    CHECK(w.get(*w.b, in) == "in");
    CHECK(w.got.md.backout_count == 1);
    CHECK(w.get(*w.b, out) == "#2033");
    CHECK(w.depth("OUT") == 0);
  }
}

TEST_CASE("xa: codes") {
  QueueWorld w;
  CHECK(w.a->xa_start("", 0) == xa::kErrorInvalid);
  CHECK(w.a->xa_start(std::string(141, 'x'), 0) == xa::kErrorInvalid);
  CHECK(w.a->xa_start("x", 0) == xa::kOk);
  CHECK(w.b->xa_start("x", 0) == xa::kErrorDuplicate);
  CHECK(w.a->xa_start("y", 0) == xa::kErrorProtocol);
  CHECK(w.a->xa_end("y", xa::kSuccess) == xa::kErrorUnknown);
  CHECK(w.a->xa_prepare("x") == xa::kErrorProtocol);
  CHECK(w.a->xa_end("x", xa::kSuspend) == xa::kOk);
  CHECK(w.b->xa_start("x", xa::kResume) == xa::kOk);
  CHECK(w.b->xa_end("x", xa::kSuccess) == xa::kOk);
  CHECK(w.a->xa_commit("x", false) == xa::kErrorProtocol);
  CHECK(w.a->xa_prepare("x") == xa::kReadOnly);
  CHECK(w.a->xa_commit("x", false) == xa::kErrorUnknown);
  CHECK(w.a->xa_start("f", 0) == xa::kOk);
  CHECK(w.a->xa_end("f", xa::kFail) == xa::kRolledBack);
  CHECK(w.a->xa_prepare("f") == xa::kRolledBack);
  w.define("Q");
  Hobj q = w.open(*w.a, "Q", oo::kOutput);
  CHECK(w.put(*w.a, q, "x", pmo::kSyncpoint).is_ok());
  CHECK(w.a->xa_start("z", 0) == xa::kErrorOutside);
}

TEST_CASE("xa: in doubt after the connection died and after a restart (ARTEMIS-3338)") {
  for (bool commits : {true, false}) {
    QueueWorld w;
    xa_work(w, "xid");
    CHECK(xa_prepare(w, *w.a, "xid") == xa::kOk);
    w.a->abandon();
    CHECK(w.b->xa_recover() == std::vector<std::string>{"xid"});
    w.crash();
    w.start();
    REQUIRE(w.is_ok);
    CHECK(w.b->xa_recover() == std::vector<std::string>{"xid"});
    Hobj in = w.open(*w.b, "IN", oo::kInputShared);
    Hobj out = w.open(*w.b, "OUT", oo::kInputShared);
    CHECK(w.get(*w.b, in) == "#2033");
    CHECK(w.get(*w.b, out) == "#2033");
    CHECK(w.depth("IN") == 1);
    CHECK(w.depth("OUT") == 1);
    if (commits) {
      CHECK(xa_commit(w, *w.a, "xid") == xa::kOk);
      CHECK(w.get(*w.b, out) == "out");
    } else {
      CHECK(xa_rollback(w, *w.a, "xid") == xa::kOk);
      CHECK(w.get(*w.b, in) == "in");
    }
    w.restart();
    CHECK(w.depth("IN") == 0);
    CHECK(w.depth("OUT") == 0);
    CHECK(w.a->xa_recover().empty());
  }
}

TEST_CASE("xa: a branch that was not prepared goes with its connection") {
  QueueWorld w;
  xa_work(w, "xid");
  w.a->abandon();
  CHECK(w.b->xa_recover().empty());
  Hobj in = w.open(*w.b, "IN", oo::kInputShared);
  CHECK(w.get(*w.b, in) == "in");
  CHECK(w.depth("OUT") == 0);
}

TEST_CASE("xa: other messages survive a restart with prepared units (QPID-5460)") {
  QueueWorld w;
  xa_work(w, "x1");
  CHECK(xa_prepare(w, *w.a, "x1") == xa::kOk);
  Hobj in = w.open(*w.a, "IN", oo::kOutput);
  for (int i = 0; i < 5; ++i) CHECK(w.put(*w.a, in, std::to_string(i), 0, xa_md()).is_ok());
  w.crash();
  w.start();
  in = w.open(*w.a, "IN", oo::kInputShared);
  for (int i = 0; i < 5; ++i) CHECK(w.get(*w.a, in) == std::to_string(i));
  CHECK(w.get(*w.a, in) == "#2033");
  CHECK(xa_rollback(w, *w.a, "x1") == xa::kOk);
  CHECK(w.get(*w.a, in) == "in");
}

// What a branch recovered is not in memory when its commit makes it visible.
TEST_CASE("xa: what a branch commits after a restart goes to the waiter whose selector it fits") {
  QueueWorld w;
  w.define("Q");
  const Hobj out = w.open(*w.a, "Q", oo::kOutput);
  REQUIRE(w.a->xa_start("one", xa::kNoFlags) == xa::kOk);
  mqi::MessageDescriptor md = xa_md();
  md.priority = 7;
  CHECK(w.put(*w.a, out, "seven", pmo::kSyncpoint, md).is_ok());
  REQUIRE(w.a->xa_end("one", xa::kSuccess) == xa::kOk);
  REQUIRE(xa_prepare(w, *w.a, "one") == xa::kOk);
  w.restart();
  GetCall low, high;
  int low_ends = 0, high_ends = 0;
  auto wait_where = [&](Connection& c, const char* selector, GetCall& call, int& ends) {
    OpenCall open;
    open.object_name = "Q";
    open.selection_string = selector;
    open.options = oo::kInputShared;
    REQUIRE(c.open(open).is_ok());
    call.options = gmo::kNoSyncpoint | gmo::kWait;
    call.match_options = mqi::mo::kNone;
    call.wait_ms = 60'000;
    CHECK(c.get(open.handle, call, [&ends](const Outcome&) { ++ends; }).is_pending());
  };
  wait_where(*w.a, "JMSPriority < 5", low, low_ends);
  wait_where(*w.b, "JMSPriority > 5", high, high_ends);
  auto manager = w.connect("manager");
  CHECK(xa_commit(w, *manager, "one") == xa::kOk);
  w.sim.run_until([&] { return high_ends > 0; });
  CHECK(high.body.view() == "seven");
  CHECK(low_ends == 0);
  CHECK(w.a->cancel(low));
  w.sim.run_ready();
}

TEST_CASE(
    "xa: a prepared unit whose queue is gone: starts, says so, the rest works (ARTEMIS-3554)") {
  QueueWorld w;
  xa_work(w, "xid");
  CHECK(xa_prepare(w, *w.a, "xid") == xa::kOk);
  QueueId out = w.manager->find_queue("OUT")->id();
  w.crash();
  // As if the queue's definition had been lost.
  std::erase_if(w.image.records,
                [](const auto& r) { return r.first.second.find("OUT") != std::string::npos; });
  w.image.queues.erase(out);
  w.start();
  REQUIRE(w.is_ok);
  auto status = w.manager->branches().status();
  REQUIRE(status.size() == 1);
  CHECK(status[0].lost == 1);
  Hobj in = w.open(*w.a, "IN", oo::kInputShared);
  CHECK(w.get(*w.a, in) == "#2033");
  CHECK(xa_rollback(w, *w.a, "xid") == xa::kOk);
  CHECK(w.get(*w.a, in) == "in");
}

TEST_CASE("xa: what an operator decided is kept until it is forgotten") {
  for (bool commits : {true, false}) {
    QueueWorld w;
    xa_work(w, "xid");
    CHECK(xa_prepare(w, *w.a, "xid") == xa::kOk);
    CHECK(xa_wait(w, [&](XaDone done) {
            return w.manager->branches().decide("xid", commits, w.executor, std::move(done));
          }) == xa::kOk);
    CHECK(w.depth("OUT") == (commits ? 1 : 0));
    CHECK(w.depth("IN") == (commits ? 0 : 1));
    w.crash();
    w.start();
    CHECK(w.a->xa_recover() == std::vector<std::string>{"xid"});
    int32_t expected = commits ? xa::kHeuristicCommit : xa::kHeuristicRollback;
    CHECK(w.a->xa_commit("xid", false) == expected);
    CHECK(xa_wait(w, [&](XaDone done) { return w.a->xa_forget("xid", std::move(done)); }) ==
          xa::kOk);
    CHECK(w.a->xa_recover().empty());
    w.restart();
    CHECK(w.a->xa_recover().empty());
    CHECK(w.depth("OUT") == (commits ? 1 : 0));
  }
}

}  // namespace
}  // namespace millstream::queue
