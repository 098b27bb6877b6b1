// Message groups, segments, reassembly, marks and locks of browsers.
#include <doctest/doctest.h>

#include "queue/core/queue_for_test.h"

namespace millstream::queue {
namespace {

namespace oo = mqi::oo;
namespace gmo = mqi::gmo;
namespace pmo = mqi::pmo;
namespace mf = mqi::mf;
namespace reason = mqi::reason;

mqi::MessageDescriptor md_flags(int32_t flags, int32_t persistence = 0) {
  mqi::MessageDescriptor md;
  md.flags = flags;
  md.persistence = persistence;
  return md;
}

TEST_CASE("group: logical order of puts and gets, while others put in between") {
  for (int32_t persistence : {0, 1}) {
    QueueWorld w;
    w.define("Q");
    Hobj h = w.open(*w.a, "Q", oo::kOutput | oo::kInputShared);
    Hobj h2 = w.open(*w.b, "Q", oo::kOutput);
    for (int i = 1; i <= 3; ++i) {
      int32_t flags = i == 3 ? mf::kLastInGroup : mf::kInGroup;
      CHECK(
          w.put(*w.a, h, "g" + std::to_string(i), pmo::kLogicalOrder, md_flags(flags, persistence))
              .is_ok());
      CHECK(w.put_call.md.sequence_number == i);
      CHECK_FALSE(w.put_call.md.group_id.is_null());
      CHECK(w.put(*w.b, h2, "other" + std::to_string(i), 0, md_flags(0, persistence)).is_ok());
    }
    for (const char* expected : {"g1", "g2", "g3", "other1", "other2", "other3"}) {
      CHECK(w.get(*w.a, h, gmo::kLogicalOrder) == expected);
      CHECK(w.got.group_status == (expected[0] != 'g' ? ' ' : expected[1] == '3' ? 'L' : 'G'));
    }
  }
}

TEST_CASE("group: ALL_MSGS_AVAILABLE waits for the last one, across a restart, too") {
  QueueWorld w;
  w.define("Q");
  Hobj h = w.open(*w.a, "Q", oo::kOutput | oo::kInputShared);
  int32_t options = gmo::kLogicalOrder | gmo::kAllMessagesAvailable;
  CHECK(w.put(*w.a, h, "1", pmo::kLogicalOrder, md_flags(mf::kInGroup, 1)).is_ok());
  CHECK(w.get(*w.a, h, options) == "#2033");
  w.restart();
  h = w.open(*w.a, "Q", oo::kOutput | oo::kInputShared);
  w.sim.run_ready();
  CHECK(w.get(*w.a, h, options) == "#2033");
  CHECK(w.get(*w.a, h, gmo::kSyncpoint | gmo::kLogicalOrder) == "1");
  mqi::Id group = w.got.md.group_id;
  CHECK(w.a->back().is_ok());
  CHECK(w.a->close(h).is_ok());
  h = w.open(*w.a, "Q", oo::kOutput | oo::kInputShared);
  GetCall call;
  call.options = options | gmo::kWait;
  call.wait_ms = mqi::kUnlimited;
  Outcome result = Outcome::pending();
  REQUIRE(w.a->get(h, call, [&](const Outcome& o) { result = o; }).is_pending());
  mqi::MessageDescriptor last = md_flags(mf::kLastInGroup, 1);
  last.group_id = group;
  last.sequence_number = 2;
  Hobj other = w.open(*w.b, "Q", oo::kOutput);
  CHECK(w.put(*w.b, other, "2", 0, last).is_ok());
  w.sim.run_ready();
  CHECK(result.is_ok());
  CHECK(call.body.view() == "1");
  CHECK(w.get(*w.a, h, options) == "2");
}

TEST_CASE("group: what is refused") {
  QueueWorld w;
  w.define("Q");
  Hobj h = w.open(*w.a, "Q", oo::kOutput);
  mqi::MessageDescriptor md = md_flags(0);
  md.sequence_number = 0;
  CHECK(w.put(*w.a, h, "x", 0, md) == Outcome::failed(reason::kMsgSeqNumberError));
  md = md_flags(0);
  md.offset = 5;
  CHECK(w.put(*w.a, h, "x", 0, md) == Outcome::failed(reason::kOffsetError));
  CHECK(w.put(*w.a, h, "x", 0, md_flags(0x800)) == Outcome::failed(reason::kMsgFlagsError));
  CHECK(w.put(*w.a, h, "", 0, md_flags(mf::kSegment)) ==
        Outcome::failed(reason::kSegmentLengthZero));
  CHECK(w.put(*w.a, h, "x", pmo::kLogicalOrder, md_flags(mf::kInGroup)).is_ok());
  CHECK(w.put(*w.a, h, "x", pmo::kLogicalOrder, md_flags(0)) ==
        Outcome::failed(reason::kIncompleteGroup));
  CHECK(w.put(*w.a, h, "x", pmo::kLogicalOrder, md_flags(mf::kInGroup, 1)) ==
        Outcome::failed(reason::kInconsistentPersistence));
  CHECK(w.put(*w.a, h, "x", pmo::kLogicalOrder | pmo::kSyncpoint, md_flags(mf::kInGroup)) ==
        Outcome::failed(reason::kInconsistentUow));
}

TEST_CASE("segments: the queue manager splits what is too long, and puts it together again") {
  for (int32_t persistence : {0, 1}) {
    QueueWorld w;
    w.define("Q", {.message_bytes_max = 100});
    Hobj h = w.open(*w.a, "Q", oo::kOutput | oo::kInputShared | oo::kBrowse);
    std::string body;
    for (int i = 0; i < 50; ++i) body += "line " + std::to_string(i) + "\n";
    CHECK(w.put(*w.a, h, body, 0, md_flags(0, persistence)) ==
          Outcome::failed(reason::kMsgTooBigForQ));
    CHECK(w.put(*w.a, h, body, 0, md_flags(mf::kSegmentationAllowed, persistence)).is_ok());
    CHECK(w.depth("Q") == (body.size() + 95) / 96);
    if (persistence == 1) {
      w.restart();
      h = w.open(*w.a, "Q", oo::kOutput | oo::kInputShared | oo::kBrowse);
      w.sim.run_ready();
    }
    CHECK(w.get(*w.a, h, gmo::kBrowseFirst | gmo::kCompleteMessage) == body);
    CHECK(w.get(*w.a, h, gmo::kSyncpoint | gmo::kCompleteMessage) == body);
    CHECK(w.got.md.flags == mf::kSegmentationAllowed);
    CHECK(w.got.md.offset == 0);
    CHECK(w.a->back().is_ok());
    CHECK(w.get(*w.a, h, gmo::kLogicalOrder).size() == 96);
    CHECK(w.got.segment_status == 'S');
    CHECK(w.get(*w.a, h, gmo::kLogicalOrder).size() == 96);
    CHECK(w.got.md.offset == 96);
    CHECK(w.get(*w.a, h, gmo::kCompleteMessage) == "#2033");  // no longer complete
  }
}

TEST_CASE("segments: an application's own, taken as one message") {
  QueueWorld w;
  w.define("Q");
  Hobj h = w.open(*w.a, "Q", oo::kOutput | oo::kInputShared);
  CHECK(w.put(*w.a, h, "abc", pmo::kLogicalOrder, md_flags(mf::kSegment)).is_ok());
  CHECK(w.get(*w.a, h, gmo::kCompleteMessage) == "#2033");
  CHECK(w.put(*w.a, h, "def", pmo::kLogicalOrder, md_flags(mf::kLastSegment)).is_ok());
  CHECK(w.put_call.md.offset == 3);
  CHECK(w.get(*w.a, h, gmo::kCompleteMessage) == "abcdef");
  CHECK(w.depth("Q") == 0);
}

TEST_CASE("browse: lock and unlock") {
  QueueWorld w;
  w.define("Q");
  Hobj h = w.open(*w.a, "Q", oo::kOutput | oo::kInputShared | oo::kBrowse);
  Hobj other = w.open(*w.b, "Q", oo::kInputShared | oo::kBrowse);
  CHECK(w.get(*w.a, h, gmo::kUnlock) == "#2209");
  for (int i = 0; i < 3; ++i) CHECK(w.put(*w.a, h, std::to_string(i)).is_ok());
  CHECK(w.get(*w.a, h, gmo::kBrowseFirst | gmo::kLock) == "0");
  CHECK(w.get(*w.b, other, gmo::kBrowseFirst) == "1");
  CHECK(w.get(*w.a, h, gmo::kBrowseUnderCursor) == "0");
  CHECK(w.get(*w.a, h, gmo::kBrowseNext | gmo::kLock) == "1");
  CHECK(w.get(*w.b, other, gmo::kBrowseFirst) == "0");  // one lock a handle
  CHECK(w.get(*w.a, h, gmo::kUnlock).empty());
  CHECK(w.get(*w.b, other, gmo::kBrowseNext) == "1");
  CHECK(w.get(*w.a, h, gmo::kBrowseFirst | gmo::kLock) == "0");
  CHECK(w.get(*w.a, h, gmo::kUnderCursor) == "0");
  CHECK(w.get(*w.a, h, gmo::kBrowseFirst | gmo::kLock) == "1");
  CHECK(w.a->close(h).is_ok());
  CHECK(w.get(*w.b, other) == "1");
}

TEST_CASE("browse: co-operating browsers mark what they have seen, for MARKINT") {
  QueueManagerSettings settings;
  settings.mark_browse_ms = 1000;
  QueueWorld w(1, settings);
  w.define("Q");
  int32_t open = oo::kInputShared | oo::kBrowse | oo::kCoOp;
  Hobj a = w.open(*w.a, "Q", open | oo::kOutput);
  Hobj b = w.open(*w.b, "Q", open);
  for (int i = 0; i < 3; ++i) CHECK(w.put(*w.a, a, std::to_string(i)).is_ok());
  int32_t next = gmo::kBrowseFirst | gmo::kUnmarkedBrowse | gmo::kMarkBrowseCoOp;
  CHECK(w.get(*w.a, a, next) == "0");
  CHECK(w.get(*w.b, b, next) == "1");
  CHECK(w.get(*w.a, a, next) == "2");
  CHECK(w.get(*w.b, b, next) == "#2033");
  w.sim.clock().advance_ns(1'100'000'000);
  CHECK(w.get(*w.b, b, next) == "0");
  Hobj plain = w.open(*w.a, "Q", oo::kBrowse);
  CHECK(w.get(*w.a, plain, gmo::kBrowseFirst | gmo::kMarkBrowseCoOp) == "#2046");
  CHECK(w.get(*w.a, plain, gmo::kBrowseFirst) == "0");
}

TEST_CASE("get: mark skip backout keeps one message in a new unit") {
  QueueWorld w;
  w.define("Q");
  Hobj h = w.open(*w.a, "Q", oo::kOutput | oo::kInputShared);
  CHECK(w.put(*w.a, h, "bad").is_ok());
  CHECK(w.put(*w.a, h, "good").is_ok());
  CHECK(w.get(*w.a, h, gmo::kSyncpoint | gmo::kMarkSkipBackout) == "bad");
  CHECK(w.get(*w.a, h, gmo::kSyncpoint) == "good");
  CHECK(w.a->back().is_ok());
  CHECK(w.get(*w.a, h) == "good");
  CHECK(w.get(*w.a, h) == "#2033");
  CHECK(w.a->back().is_ok());
  CHECK(w.get(*w.a, h) == "bad");
}

TEST_CASE("get: by message token, and if persistent") {
  QueueWorld w;
  w.define("Q");
  Hobj h = w.open(*w.a, "Q", oo::kOutput | oo::kInputShared | oo::kBrowse);
  CHECK(w.put(*w.a, h, "np").is_ok());
  CHECK(w.put(*w.a, h, "p", 0, md_flags(0, 1)).is_ok());
  CHECK(w.get(*w.a, h, gmo::kBrowseNext) == "np");
  CHECK(w.get(*w.a, h, gmo::kBrowseNext) == "p");
  GetCall call;
  call.token = w.got.token;
  call.match_options = mqi::mo::kToken;
  CHECK(w.get(*w.a, h, call).is_ok());
  CHECK(call.body.view() == "p");
  CHECK(w.put(*w.a, h, "p", 0, md_flags(0, 1)).is_ok());
  CHECK(w.get(*w.a, h, gmo::kSyncpointIfPersistent) == "np");
  CHECK(w.get(*w.a, h, gmo::kSyncpointIfPersistent) == "p");
  CHECK(w.a->back().is_ok());
  CHECK(w.get(*w.a, h) == "p");
  CHECK(w.get(*w.a, h) == "#2033");
}

TEST_CASE("get: selectors, also with the index of correlation identifiers") {
  QueueWorld w;
  w.define("Q");
  Hobj out = w.open(*w.a, "Q", oo::kOutput);
  for (int i = 0; i < 100; ++i) {
    mqi::PropertyList properties;
    REQUIRE(properties.set("color", mqi::PropertyView::string(i % 2 ? "red" : "blue")).ok());
    PutCall call;
    call.md.correlation_id = mqi::Id("c" + std::to_string(i));
    call.md.persistence = i % 3 == 0;
    call.body = Body::copy(std::to_string(i));
    call.properties = properties.bytes();
    CHECK(w.wait([&](Done done) { return w.a->put(out, call, std::move(done)); }).is_ok());
  }
  auto open = [&](const char* selector) {
    OpenCall call;
    call.object_name = "Q";
    call.options = oo::kInputShared;
    call.selection_string = selector;
    w.last = w.a->open(call);
    return call.handle;
  };
  Hobj red = open("color = 'red'");
  CHECK(w.get(*w.a, red) == "1");
  CHECK(w.get(*w.a, red) == "3");
  std::string c50 = "633530" + std::string(42, '0');
  Hobj one = open(("JMSCorrelationID = 'ID:" + c50 + "'").c_str());
  QueueRef queue = w.manager->find_queue("Q");
  queue->scan_steps = 0;
  CHECK(w.get(*w.a, one) == "50");
  CHECK(queue->scan_steps <= 2);
  CHECK(w.get(*w.a, one) == "#2033");
  (void)open("color = ");
  CHECK(w.last == Outcome::failed(reason::kSelectorSyntaxError));
}

}  // namespace
}  // namespace millstream::queue
