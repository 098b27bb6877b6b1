#include "sim/ledger.h"

#include <doctest/doctest.h>

namespace {
namespace sim = millstream::sim;
using Kind = sim::LedgerEntry::Kind;

// A run told in one line a step; time is the step's number.
class Story {
 public:
  Story& put(const char* unit, const char* key, uint64_t number, const char* queue = "Q") {
    sim::LedgerEntry& e = add(Kind::kPut, unit);
    e.queue = queue;
    e.key = key;
    e.producer = "p";
    e.number = number;
    return *this;
  }
  Story& got(const char* unit, const char* key, bool is_flagged = false, const char* queue = "Q") {
    sim::LedgerEntry& e = add(Kind::kGot, unit);
    e.queue = queue;
    e.key = key;
    e.producer = "c";
    e.is_flagged = is_flagged;
    return *this;
  }
  Story& commit(const char* unit) { return step(Kind::kCommit, unit).step(Kind::kCommitted, unit); }
  Story& step(Kind kind, const char* unit) {
    add(kind, unit);
    return *this;
  }
  Story& crash() { return step(Kind::kCrash, ""); }
  Story& left(const char* key, const char* queue = "Q") {
    sim::LedgerEntry& e = add(Kind::kLeft, "");
    e.queue = queue;
    e.key = key;
    return *this;
  }
  Story& depth(uint64_t n, const char* queue = "Q") {
    sim::LedgerEntry& e = add(Kind::kDepth, "");
    e.queue = queue;
    e.number = n;
    return *this;
  }
  sim::LedgerEntry& last() { return entries_.back(); }

  // "" or the promise that was broken first.
  std::string verdict(const sim::LedgerOptions& options = {}) {
    sim::Ledger ledger;
    std::string text, error;
    for (const sim::LedgerEntry& e : entries_) sim::write_entry(e, text);
    std::vector<sim::LedgerEntry> read;
    REQUIRE(sim::read_entries(text, read, error));
    for (sim::LedgerEntry& e : read) ledger.add(std::move(e));
    const sim::LedgerVerdict v = ledger.check(options);
    if (v.ok()) return "";
    return v.violations[0].substr(0, v.violations[0].find(':'));
  }

 private:
  sim::LedgerEntry& add(Kind kind, const char* unit) {
    sim::LedgerEntry e;
    e.kind = kind;
    e.unit = unit;
    e.at_ns = static_cast<int64_t>(entries_.size()) + 1;
    entries_.push_back(e);
    return entries_.back();
  }
  std::vector<sim::LedgerEntry> entries_;
};

TEST_CASE("ledger: what may happen") {
  CHECK(Story().put("a", "k", 1).commit("a").got("b", "k").commit("b").depth(0).verdict() == "");
  CHECK(Story().put("a", "k", 1).commit("a").left("k").depth(1).verdict() == "");
  // Asked, not answered: there or not, but whole.
  CHECK(Story().put("a", "k", 1).step(Kind::kCommit, "a").crash().verdict() == "");
  CHECK(Story().put("a", "k", 1).step(Kind::kCommit, "a").crash().left("k").verdict() == "");
  // Never asked: gone, and what it got comes back with a sign.
  CHECK(Story().put("a", "k", 1).crash().verdict() == "");
  CHECK(Story()
            .put("a", "k", 1)
            .commit("a")
            .got("b", "k")
            .crash()
            .got("c", "k", true)
            .commit("c")
            .verdict() == "");
  CHECK(Story()
            .put("a", "k", 1)
            .commit("a")
            .got("b", "k")
            .step(Kind::kBackedOut, "b")
            .left("k")
            .verdict() == "");
  // A get that was not answered may have taken one message, not two.
  Story one = Story().put("a", "k", 1).commit("a").step(Kind::kGetUnknown, "g");
  one.last().queue = "Q";
  CHECK(one.verdict() == "");
  CHECK(one.put("b", "l", 2).commit("b").verdict() == "lost");
}

TEST_CASE("ledger: lost, phantom, misplaced") {
  CHECK(Story().put("a", "k", 1).commit("a").verdict() == "lost");
  CHECK(Story().put("a", "k", 1).commit("a").got("b", "k").step(Kind::kBackedOut, "b").verdict() ==
        "lost");
  CHECK(Story().put("a", "k", 1).commit("a").got("b", "k").crash().verdict() == "lost");
  CHECK(Story().left("k").verdict() == "phantom");
  CHECK(Story().put("a", "k", 1).left("k").verdict() == "phantom");
  CHECK(Story().put("a", "k", 1).step(Kind::kBackedOut, "a").left("k").verdict() == "phantom");
  CHECK(Story().put("a", "k", 1).got("b", "k").commit("a").commit("b").verdict() == "phantom");
  CHECK(Story().put("a", "k", 1).commit("a").left("k", "DLQ").verdict() == "misplaced");
  CHECK(Story().put("a", "k", 1).commit("a").left("k", "DLQ").verdict({{"DLQ"}, 0}) == "");
}

TEST_CASE("ledger: non-persistent messages go with a crash, and only then") {
  Story crashed = Story().put("a", "k", 1);
  crashed.last().is_persistent = false;
  CHECK(crashed.commit("a").verdict() == "lost");
  CHECK(crashed.crash().verdict() == "");
}

TEST_CASE("ledger: twice, unflagged") {
  Story got = Story().put("a", "k", 1).commit("a").got("b", "k").commit("b");
  CHECK(Story(got).got("c", "k", true).commit("c").verdict() == "twice");
  CHECK(Story(got).left("k").verdict() == "twice");
  CHECK(Story().put("a", "k", 1).commit("a").left("k").left("k").verdict() == "twice");
  CHECK(Story()
            .put("a", "k", 1)
            .commit("a")
            .got("b", "k")
            .step(Kind::kBackedOut, "b")
            .got("c", "k")
            .commit("c")
            .verdict() == "unflagged");
}

TEST_CASE("ledger: units are whole") {
  const Story two = Story().put("a", "k", 1).put("a", "l", 1, "R").step(Kind::kCommit, "a").crash();
  CHECK(Story(two).verdict() == "");
  CHECK(Story(two).left("k").left("l", "R").verdict() == "");
  CHECK(Story(two).left("k").verdict() == "torn");
  // A unit that moves a message: put there and get here happen together.
  const Story moved = Story()
                          .put("a", "k", 1)
                          .commit("a")
                          .got("m", "k")
                          .put("m", "l", 1, "R")
                          .step(Kind::kCommit, "m")
                          .crash();
  CHECK(Story(moved).left("k").verdict() == "");
  CHECK(Story(moved).left("l", "R").verdict() == "");
  CHECK(Story(moved).left("k").left("l", "R").verdict() == "torn");
  CHECK(Story(moved).verdict() == "torn");
}

TEST_CASE("ledger: order by producer and priority, for one consumer") {
  const Story both = Story().put("a", "k", 1).commit("a").put("b", "l", 2).commit("b");
  CHECK(Story(both).got("c", "k").commit("c").got("d", "l").commit("d").verdict() == "");
  CHECK(Story(both).got("c", "l").commit("c").got("d", "k").commit("d").verdict() == "order");
  Story selective = Story(both).got("c", "l");
  selective.last().is_selective = true;
  CHECK(selective.commit("c").got("d", "k").commit("d").verdict() == "");
}

TEST_CASE("ledger: expiry and depth") {
  Story late = Story().put("a", "k", 1);
  late.last().expires_at_ns = 3;
  late.commit("a").got("b", "k").commit("b");
  CHECK(late.verdict() == "late");
  CHECK(late.verdict({{}, 10}) == "");
  Story expired = Story().put("a", "k", 1);
  expired.last().expires_at_ns = 3;
  CHECK(expired.commit("a").depth(0).verdict() == "");
  CHECK(Story().put("a", "k", 1).commit("a").left("k").depth(2).verdict() == "depth");
}

TEST_CASE("ledger: prepared units") {
  const Story prepared =
      Story().put("a", "k", 1).step(Kind::kPrepare, "a").step(Kind::kPrepared, "a").crash();
  CHECK(Story(prepared).verdict() == "in-doubt");
  CHECK(Story(prepared).step(Kind::kInDoubt, "a").verdict() == "");
  CHECK(Story(prepared).step(Kind::kInDoubt, "a").left("k").verdict() == "in-doubt");
  CHECK(Story(prepared).commit("a").left("k").verdict() == "");
  CHECK(Story(prepared).commit("a").left("k").step(Kind::kInDoubt, "a").verdict() == "in-doubt");
  CHECK(Story(prepared).commit("a").verdict() == "lost");
  CHECK(Story(prepared).step(Kind::kBackedOut, "a").verdict() == "");
  // Asked to prepare, not answered: in doubt or gone.
  const Story asked = Story().put("a", "k", 1).step(Kind::kPrepare, "a").crash();
  CHECK(Story(asked).verdict() == "");
  CHECK(Story(asked).step(Kind::kInDoubt, "a").verdict() == "");
  CHECK(Story(asked).step(Kind::kInDoubt, "a").left("k").verdict() == "torn");
}

TEST_CASE("ledger: a file cut in its last line loses that line; anything else is an error") {
  std::vector<sim::LedgerEntry> entries;
  std::string text, error;
  sim::LedgerEntry got, in_doubt;
  got.kind = Kind::kGot;
  got.at_ns = -5;
  got.unit = "u";
  got.is_flagged = true;
  in_doubt.kind = Kind::kInDoubt;
  sim::write_entry(got, text);
  sim::write_entry(in_doubt, text);
  CHECK(sim::read_entries(std::string_view(text).substr(0, text.size() - 1), entries, error));
  REQUIRE(entries.size() == 1);
  CHECK(entries[0].at_ns == -5);
  CHECK(entries[0].unit == "u");
  CHECK(entries[0].is_flagged);
  CHECK(!entries[0].is_selective);
  CHECK(!sim::read_entries("got\t1\tx\n", entries, error));
  CHECK(error == "line 1: 3 fields where 12 belong");
  CHECK(!sim::read_entries("eaten" + text.substr(3), entries, error));
}

}  // namespace
