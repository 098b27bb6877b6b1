// Put, get, browse, wait and units of work, with exact codes.
#include <doctest/doctest.h>

#include "queue/core/queue_for_test.h"

namespace millstream::queue {
namespace {

namespace oo = mqi::oo;
namespace gmo = mqi::gmo;
namespace pmo = mqi::pmo;
namespace reason = mqi::reason;

mqi::MessageDescriptor md_priority(int32_t priority, int32_t persistence = 0) {
  mqi::MessageDescriptor md;
  md.priority = priority;
  md.persistence = persistence;
  return md;
}

mqi::MessageDescriptor md_correlation(std::string_view id, int32_t persistence = 0) {
  mqi::MessageDescriptor md;
  md.correlation_id = mqi::Id(id);
  md.persistence = persistence;
  return md;
}

TEST_CASE("core: put and get, first in first out within a priority") {
  for (int32_t persistence : {0, 1}) {
    QueueWorld w;
    w.define("Q");
    Hobj h = w.open(*w.a, "Q", oo::kOutput | oo::kInputShared);
    REQUIRE(w.last.is_ok());
    for (int i = 0; i < 3; ++i) {
      CHECK(w.put(*w.a, h, "low" + std::to_string(i), 0, md_priority(2, persistence)).is_ok());
      CHECK(w.put(*w.a, h, "high" + std::to_string(i), 0, md_priority(8, persistence)).is_ok());
    }
    CHECK(w.depth("Q") == 6);
    for (const char* expected : {"high0", "high1", "high2", "low0", "low1", "low2", "#2033"}) {
      CHECK(w.get(*w.a, h) == expected);
    }
    CHECK(w.depth("Q") == 0);
  }
}

TEST_CASE("core: MSGDLVSQ(FIFO) does not look at priorities") {
  QueueWorld w;
  w.define("Q", {.is_fifo = true});
  Hobj h = w.open(*w.a, "Q", oo::kOutput | oo::kInputShared);
  (void)w.put(*w.a, h, "1", 0, md_priority(1));
  (void)w.put(*w.a, h, "2", 0, md_priority(9));
  CHECK(w.get(*w.a, h) == "1");
  CHECK(w.got.md.priority == 1);
  CHECK(w.get(*w.a, h) == "2");
}

TEST_CASE("core: the descriptor that comes back") {
  QueueWorld w;
  w.define("Q", {.default_priority = 3, .default_persistent = true});
  Hobj h = w.open(*w.a, "Q", oo::kOutput | oo::kInputShared);
  mqi::MessageDescriptor md;
  md.format = "MQSTR";
  md.expiry = 100;
  CHECK(w.put(*w.a, h, "x", 0, md).is_ok());
  CHECK(w.put_call.md.message_id.view().substr(0, 7) == "AMQ QM1");
  CHECK(w.get(*w.a, h) == "x");
  CHECK(w.got.md.priority == 3);
  CHECK(w.got.md.persistence == 1);
  CHECK(w.got.md.format.view() == "MQSTR");
  CHECK(w.got.md.user_identifier.view() == "alice");
  CHECK(w.got.md.put_appl_name.view() == "test");
  CHECK(w.got.md.put_date.view() == "20231114");
  CHECK(w.got.md.message_id == w.put_call.md.message_id);
  CHECK(w.got.md.expiry <= 100);
  CHECK(w.got.md.backout_count == 0);
}

TEST_CASE("core: 2049 is a warning, and the put counts with the highest priority") {
  QueueWorld w;
  w.define("Q");
  Hobj h = w.open(*w.a, "Q", oo::kOutput | oo::kInputShared);
  Outcome o = w.put(*w.a, h, "x", 0, md_priority(12));
  CHECK(o == Outcome::warning(reason::kPriorityExceedsMaximum));
  CHECK(w.get(*w.a, h) == "x");
  CHECK(w.got.md.priority == 9);
}

TEST_CASE("core: get by message and correlation identifier; nulls match any") {
  QueueWorld w;
  w.define("Q");
  Hobj h = w.open(*w.a, "Q", oo::kOutput | oo::kInputShared);
  for (const char* id : {"a", "b", "c", "b"}) {
    (void)w.put(*w.a, h, id, 0, md_correlation(id));
  }
  mqi::Id third = w.put_call.md.message_id;
  CHECK(w.get(*w.a, h, 0, md_correlation("b")) == "b");
  CHECK(w.get(*w.a, h, 0, md_correlation("z")) == "#2033");
  mqi::MessageDescriptor by_message;
  by_message.message_id = third;
  CHECK(w.get(*w.a, h, 0, by_message) == "b");
  CHECK(w.get(*w.a, h, 0, by_message) == "#2033");
  w.got = GetCall();
  w.got.md = md_correlation("c");
  w.got.match_options = mqi::mo::kNone;
  CHECK(w.get(*w.a, h, w.got).is_ok());
  CHECK(w.got.body.view() == "a");
  CHECK(w.got.md.correlation_id == mqi::Id("a"));
  CHECK(w.get(*w.a, h) == "c");
}

TEST_CASE("core: a message that does not fit: 2080 leaves it, 2079 takes it") {
  QueueWorld w;
  w.define("Q");
  Hobj h = w.open(*w.a, "Q", oo::kOutput | oo::kInputShared);
  (void)w.put(*w.a, h, "0123456789");
  GetCall call;
  call.buffer_bytes = 4;
  CHECK(w.get(*w.a, h, call) == Outcome::warning(reason::kTruncatedMsgFailed));
  CHECK(call.data_bytes == 10);
  CHECK(call.body.view() == "0123");
  CHECK(w.depth("Q") == 1);
  call.md = {};
  call.options = gmo::kAcceptTruncated;
  CHECK(w.get(*w.a, h, call) == Outcome::warning(reason::kTruncatedMsgAccepted));
  CHECK(call.body.view() == "0123");
  CHECK(w.depth("Q") == 0);
}

TEST_CASE("core: a get that waits: granted, timed out, cancelled, inhibited") {
  QueueWorld w;
  w.define("Q");
  Hobj in = w.open(*w.a, "Q", oo::kInputShared);
  Hobj out = w.open(*w.b, "Q", oo::kOutput);
  GetCall call;
  call.options = gmo::kWait;
  call.wait_ms = 1000;
  Outcome result = Outcome::pending();
  auto done = [&](const Outcome& o) { result = o; };
  REQUIRE(w.a->get(in, call, done).is_pending());
  w.sim.run_ready();
  CHECK(result.is_pending());
  CHECK(w.put(*w.b, out, "hello").is_ok());
  w.sim.run_ready();
  CHECK(result.is_ok());
  CHECK(call.body.view() == "hello");
  CHECK(w.depth("Q") == 0);

  result = Outcome::pending();
  int64_t before = w.sim.clock().monotonic_ns();
  REQUIRE(w.a->get(in, call = {.options = gmo::kWait, .wait_ms = 1000}, done).is_pending());
  w.sim.run();
  CHECK(result == Outcome::failed(reason::kNoMsgAvailable));
  CHECK(w.sim.clock().monotonic_ns() - before == 1'000'000'000);

  result = Outcome::pending();
  call = {.options = gmo::kWait, .wait_ms = mqi::kUnlimited};
  REQUIRE(w.a->get(in, call, done).is_pending());
  CHECK(w.a->cancel(call));
  w.sim.run_ready();
  CHECK(result == Outcome::failed(reason::kNoMsgAvailable));
  CHECK_FALSE(w.a->cancel(call));

  result = Outcome::pending();
  REQUIRE(w.a->get(in, call, done).is_pending());
  {
    QueueRef queue = w.manager->find_queue("Q");
    std::lock_guard lock(queue->mutex());
    QueueSettings settings = queue->settings();
    settings.inhibits_get = true;
    queue->alter(settings);
  }
  w.sim.run_ready();
  CHECK(result == Outcome::failed(reason::kGetInhibited));
  CHECK(w.get(*w.a, in) == "#2016");
}

TEST_CASE("core: a thousand requesters wait on one queue, each gets its reply") {
  QueueWorld w;
  w.define("Q");
  Hobj in = w.open(*w.a, "Q", oo::kInputShared);
  Hobj out = w.open(*w.b, "Q", oo::kOutput);
  std::vector<GetCall> calls(1000);
  int served = 0;
  for (int i = 0; i < 1000; ++i) {
    calls[i].options = gmo::kWait;
    calls[i].wait_ms = mqi::kUnlimited;
    calls[i].md = md_correlation("id" + std::to_string(i));
    REQUIRE(w.a->get(in, calls[i], [&](const Outcome& o) { served += o.is_ok(); }).is_pending());
  }
  for (int i = 999; i >= 0; --i) {
    std::string id = "id" + std::to_string(i);
    (void)w.put(*w.b, out, id, 0, md_correlation(id, i % 2));
  }
  w.sim.run_ready();
  CHECK(served == 1000);
  for (int i = 0; i < 1000; ++i) CHECK(calls[i].body.view() == "id" + std::to_string(i));
}

TEST_CASE("core: a unit of work over three queues") {
  for (int32_t persistence : {0, 1, 2}) {  // 2: mixed
    QueueWorld w;
    Hobj handles[3];
    for (int i = 0; i < 3; ++i) {
      std::string name = "Q" + std::to_string(i);
      w.define(name);
      handles[i] = w.open(*w.a, name, oo::kOutput | oo::kInputShared);
    }
    Hobj other = w.open(*w.b, "Q1", oo::kInputShared);
    (void)w.put(*w.a, handles[0], "first", 0, md_priority(0, persistence & 1));
    CHECK(w.get(*w.a, handles[0], gmo::kSyncpoint) == "first");
    for (int i = 1; i < 3; ++i) {
      int32_t p = persistence == 2 ? i % 2 : persistence;
      CHECK(w.put(*w.a, handles[i], "out", pmo::kSyncpoint, md_priority(0, p)).is_ok());
    }
    CHECK(w.depth("Q1") == 1);  // counted, not seen
    CHECK(w.get(*w.b, other) == "#2033");
    CHECK(w.a->back().is_ok());
    CHECK(w.depth("Q1") == 0);
    CHECK(w.get(*w.a, handles[0], gmo::kSyncpoint) == "first");
    CHECK(w.got.md.backout_count == 1);
    for (int i = 1; i < 3; ++i) {
      int32_t p = persistence == 2 ? i % 2 : persistence;
      CHECK(w.put(*w.a, handles[i], "again", pmo::kSyncpoint, md_priority(0, p)).is_ok());
    }
    CHECK(w.commit(*w.a).is_ok());
    CHECK(w.get(*w.b, other) == "again");
    CHECK(w.depth("Q0") == 0);
    CHECK(w.depth("Q2") == 1);
  }
}

TEST_CASE("core: nothing persistent is seen or answered before it is durable") {
  QueueWorld w;
  w.define("Q");
  Hobj h = w.open(*w.a, "Q", oo::kOutput);
  Hobj in = w.open(*w.b, "Q", oo::kInputShared);
  PutCall call;
  call.md.persistence = 1;
  call.body = Body::copy("x");
  Outcome result = Outcome::pending();
  REQUIRE(w.a->put(h, call, [&](const Outcome& o) { result = o; }).is_pending());
  CHECK(w.get(*w.b, in) == "#2033");
  w.sim.run_ready();
  CHECK(result.is_ok());
  CHECK(w.get(*w.b, in) == "x");
}

TEST_CASE("core: messages that were backed out return to their place (ARTEMIS-4517)") {
  QueueWorld w;
  w.define("Q");
  Hobj h = w.open(*w.a, "Q", oo::kOutput);
  Hobj h2 = w.open(*w.b, "Q", oo::kOutput | oo::kInputShared);
  for (int i = 0; i < 20; ++i) {
    auto& c = i % 2 == 0 ? *w.a : *w.b;
    (void)w.put(c, i % 2 == 0 ? h : h2, std::to_string(i), 0, md_priority(0, i % 3 == 0));
  }
  for (int i = 0; i < 10; ++i) {
    CHECK(w.get(*w.b, h2, gmo::kSyncpoint) == std::to_string(i));
  }
  CHECK(w.b->back().is_ok());
  for (int i = 0; i < 20; ++i) CHECK(w.get(*w.b, h2) == std::to_string(i));
}

TEST_CASE("core: browse first, next and under the cursor") {
  QueueWorld w;
  w.define("Q");
  Hobj h = w.open(*w.a, "Q", oo::kOutput | oo::kInputShared | oo::kBrowse);
  for (int i = 0; i < 4; ++i) (void)w.put(*w.a, h, std::to_string(i));
  CHECK(w.get(*w.a, h, gmo::kBrowseUnderCursor) == "#2034");
  CHECK(w.get(*w.a, h, gmo::kBrowseNext) == "0");
  CHECK(w.get(*w.a, h, gmo::kBrowseNext) == "1");
  CHECK(w.get(*w.a, h, gmo::kBrowseUnderCursor) == "1");
  CHECK(w.get(*w.a, h, gmo::kUnderCursor) == "1");
  CHECK(w.get(*w.a, h, gmo::kUnderCursor) == "#2034");
  CHECK(w.get(*w.a, h, gmo::kBrowseNext) == "2");
  CHECK(w.get(*w.a, h, gmo::kBrowseFirst) == "0");
  CHECK(w.get(*w.a, h, gmo::kBrowseNext) == "2");
  CHECK(w.get(*w.a, h, gmo::kBrowseNext) == "3");
  CHECK(w.get(*w.a, h, gmo::kBrowseNext) == "#2033");
  (void)w.put(*w.a, h, "4");
  CHECK(w.get(*w.a, h, gmo::kBrowseNext) == "4");
  CHECK(w.depth("Q") == 4);
}

TEST_CASE("core: what a handle was not opened for") {
  QueueWorld w;
  w.define("Q");
  Hobj out = w.open(*w.a, "Q", oo::kOutput);
  Hobj in = w.open(*w.a, "Q", oo::kInputShared);
  CHECK(w.get(*w.a, out) == "#2037");
  CHECK(w.put(*w.a, in, "x") == Outcome::failed(reason::kNotOpenForOutput));
  CHECK(w.get(*w.a, in, gmo::kBrowseFirst) == "#2036");
  CHECK(w.get(*w.a, 999) == "#2019");
  CHECK(w.open(*w.a, "NO.SUCH.QUEUE", oo::kOutput) == kNoObject);
  CHECK(w.last == Outcome::failed(reason::kUnknownObjectName));
  (void)w.open(*w.a, "Q", 0);
  CHECK(w.last == Outcome::failed(reason::kOptionsError));
  (void)w.open(*w.b, "Q", oo::kInputExclusive);
  CHECK(w.last == Outcome::failed(reason::kObjectInUse));
}

TEST_CASE("core: MAXDEPTH, MAXMSGL, MAXUMSGS, inhibited put") {
  QueueManagerSettings settings;
  settings.uncommitted_max = 3;
  QueueWorld w(1, settings);
  w.define("Q", {.depth_max = 2, .message_bytes_max = 10});
  Hobj h = w.open(*w.a, "Q", oo::kOutput | oo::kInputShared);
  CHECK(w.put(*w.a, h, "12345678901") == Outcome::failed(reason::kMsgTooBigForQ));
  CHECK(w.put(*w.a, h, "1").is_ok());
  CHECK(w.put(*w.a, h, "2", pmo::kSyncpoint).is_ok());
  CHECK(w.put(*w.a, h, "3") == Outcome::failed(reason::kQFull));
  CHECK(w.a->back().is_ok());
  CHECK(w.put(*w.a, h, "3").is_ok());
  w.define("P");
  Hobj p = w.open(*w.a, "P", oo::kOutput);
  for (int i = 0; i < 3; ++i) CHECK(w.put(*w.a, p, "x", pmo::kSyncpoint).is_ok());
  CHECK(w.put(*w.a, p, "x", pmo::kSyncpoint) == Outcome::failed(reason::kSyncpointLimitReached));
  CHECK(w.get(*w.a, h, gmo::kSyncpoint) == "#2024");
  CHECK(w.commit(*w.a).is_ok());
  w.define("R", {.inhibits_put = true});
  Hobj r = w.open(*w.a, "R", oo::kOutput);
  CHECK(w.put(*w.a, r, "x") == Outcome::failed(reason::kPutInhibited));
}

TEST_CASE("core: a connection that breaks backs out; a disconnect commits") {
  QueueWorld w;
  w.define("Q");
  Hobj h = w.open(*w.a, "Q", oo::kOutput | oo::kInputShared);
  (void)w.put(*w.a, h, "x", 0, md_priority(0, 1));
  CHECK(w.get(*w.a, h, gmo::kSyncpoint) == "x");
  w.a->abandon();
  Hobj in = w.open(*w.b, "Q", oo::kInputShared);
  CHECK(w.get(*w.b, in, gmo::kSyncpoint) == "x");
  CHECK(w.got.md.backout_count == 1);
  CHECK(w.wait([&](Done done) { return w.b->disconnect(std::move(done)); }).is_ok());
  CHECK(w.depth("Q") == 0);
  CHECK(w.b->back() == Outcome::failed(reason::kHconnError));
}

TEST_CASE("core: a million commits and rollbacks leave the order right, whatever the seed") {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    QueueWorld w(seed);
    w.define("Q");
    Hobj h = w.open(*w.a, "Q", oo::kOutput | oo::kInputShared);
    Hobj g = w.open(*w.b, "Q", oo::kInputShared);
    base::SeededRandom random(seed);
    int put = 0;
    int next = 0;
    for (int step = 0; step < 300; ++step) {
      switch (random.next_u64() % 4) {
        case 0:
        case 1:
          (void)w.put(*w.a, h, std::to_string(put++), 0, md_priority(0, 1));
          break;
        case 2: {
          for (int i = 0; i < 3; ++i) (void)w.get(*w.b, g, gmo::kSyncpoint);
          (void)w.b->back();
          break;
        }
        case 3: {
          std::string got = w.get(*w.b, g, gmo::kSyncpoint);
          CHECK(got == (next < put ? std::to_string(next) : "#2033"));
          if (next < put) ++next;
          (void)w.commit(*w.b);
          break;
        }
      }
    }
  }
}

}  // namespace
}  // namespace millstream::queue
