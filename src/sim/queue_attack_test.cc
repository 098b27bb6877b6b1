// Random sequences of what clients of other protocols never combine: segments and groups taken
// whole or in order, cursors with locks and marks, gets under the cursor, gets that skip a backout,
// deliveries that are settled or joined to a unit, aliases of topics, dynamic queues that close
// with what is not committed, triggers and expiry; judged by the ledger, over crashes and restarts.
#include <doctest/doctest.h>

#include <cstdlib>
#include <map>

#include "queue/core/queue_for_test.h"
#include "sim/ledger.h"

namespace millstream::sim {
namespace {

namespace gmo = mqi::gmo;
namespace mf = mqi::mf;
namespace oo = mqi::oo;
namespace pmo = mqi::pmo;
using queue::Delivery;
using queue::GetCall;
using queue::Hobj;
using queue::Outcome;
using queue::PutCall;
using queue::QueueWorld;
using Kind = LedgerEntry::Kind;

constexpr int kClients = 3;

// One application: its connection, what its unit has got and put, and what it holds apart from it.
struct Attacker {
  std::shared_ptr<queue::Connection> connection;
  std::map<std::string, Hobj> handles;
  std::string unit;                // empty: nothing in it
  std::vector<LedgerEntry> gets;   // of the unit
  std::vector<LedgerEntry> skips;  // of the unit, that a backout leaves in it
  std::vector<std::pair<Delivery, std::string>> deliveries;  // with their queue
};

class Attack {
 public:
  explicit Attack(uint64_t seed) : world_(seed), random_(seed * 7919 + 1) {
    define();
    connect();
  }

  void run(int steps) {
    for (int i = 0; i < steps; ++i) {
      Attacker& a = clients_[up_to(kClients)];
      uint64_t dice = up_to(100);
      if (dice < 40) {
        put(a);
      } else if (dice < 75) {
        get(a);
      } else if (dice < 83) {
        commit(a);
      } else if (dice < 89) {
        back(a);
      } else if (dice < 92) {
        close_handles(a);
      } else if (dice < 94) {
        temporary(a);
      } else if (dice < 96) {
        world_.sim.clock().advance_ns(static_cast<int64_t>(up_to(700)) * 1'000'000);
        world_.sim.run_ready();
      } else if (dice < 98) {
        leave(a);
      } else {
        restart(up_to(2) == 0);
      }
    }
  }

  LedgerVerdict verdict() {
    for (Attacker& a : clients_) up_to(2) == 0 ? commit(a) : back(a);
    restart(false);
    for (const char* name : {"Q1", "Q2", "S1", "S2", "DLQ"}) take_stock(name);
    return ledger_.check({.side_queues = {"DLQ"}, .expiry_slack_ns = 200'000'000});
  }

 private:
  uint64_t up_to(uint64_t n) { return random_.next_u64() % n; }
  bool one_in(uint64_t n) { return up_to(n) == 0; }
  std::string name(const char* kind) { return kind + std::to_string(++last_name_); }
  int64_t now() { return world_.sim.clock().monotonic_ns(); }

  void define() {
    using objects = queue::objects::Definition;
    queue::QueueSettings settings;
    settings.is_triggered = true;
    settings.trigger_type = queue::TriggerType::kEvery;
    settings.trigger_data = "x";
    settings.initiation_queue = "INIT";
    world_.define("Q1", settings);
    world_.define("Q2", {.is_fifo = true});
    for (const char* q : {"S1", "S2", "DLQ", "INIT"}) world_.define(q);
    auto add = [&](objects d) {
      world_.manager->admin().define(std::move(d), true, [](queue::objects::AdminResult) {});
      world_.sim.run_ready();
    };
    using queue::objects::Attr;
    using queue::objects::ObjectType;
    objects topic(ObjectType::kTopic, "T");
    topic.set_text(Attr::kTopicstr, "news");
    add(topic);
    objects alias(ObjectType::kQalias, "ALIAS");
    alias.set_text(Attr::kTarget, "T");
    alias.set_number(Attr::kTargtype, static_cast<int64_t>(queue::objects::TargetType::kTopic));
    add(alias);
    for (const char* q : {"S1", "S2"}) {
      objects sub(ObjectType::kSub, std::string("SUB.") + q);
      sub.set_text(Attr::kTopicstr, "news/#");
      sub.set_text(Attr::kDest, q);
      add(sub);
    }
    objects model(ObjectType::kQmodel, "MODEL");
    add(model);
  }

  void connect() {
    for (Attacker& a : clients_) {
      a = Attacker();
      a.connection = world_.connect();
    }
    (void)world_.open(*world_.a, "INIT", oo::kInputShared);  // a monitor that never reads
  }

  Hobj open(Attacker& a, const std::string& queue) {
    auto [it, is_new] = a.handles.emplace(queue, queue::kNoObject);
    if (!is_new) return it->second;
    int32_t options = oo::kOutput;
    if (queue != "ALIAS") options |= oo::kInputShared | oo::kBrowse | oo::kCoOp;
    it->second = world_.open(*a.connection, queue, options);
    REQUIRE(it->second != queue::kNoObject);
    return it->second;
  }

  std::string unit(Attacker& a) {
    if (a.unit.empty()) a.unit = name("u");
    return a.unit;
  }

  // One logical message: plain, in a group or in segments; or a publication.
  void put(Attacker& a) {
    bool is_topic = one_in(6);
    std::string target = is_topic ? "ALIAS" : one_in(2) ? "Q1" : "Q2";
    bool in_unit = !one_in(3);
    int count = is_topic || !one_in(3) ? 1 : 2 + static_cast<int>(up_to(3));
    bool is_segmented = one_in(2);
    bool is_logical = one_in(2);
    bool is_persistent = !one_in(3);
    if (count > 1) in_unit = true;  // so that it is whole or not at all
    Hobj handle = open(a, target);
    mqi::Id group(name("g"));
    int32_t offset = 0;
    for (int i = 1; i <= count; ++i) {
      LedgerEntry e;
      e.kind = Kind::kPut;
      e.at_ns = now();
      e.unit = in_unit ? unit(a) : name("u");
      e.key = name("k");
      e.producer = e.key;  // order is another test's
      e.number = ++number_;
      e.is_persistent = is_persistent;
      PutCall call;
      std::string body = e.key + ";";
      call.body = queue::Body::copy(body);
      call.md.persistence = is_persistent ? 1 : 0;
      call.md.priority = static_cast<int32_t>(count > 1 ? 3 : up_to(4));
      e.priority = call.md.priority;
      if (one_in(5)) {
        call.md.expiry = static_cast<int32_t>(1 + up_to(10));
        e.expires_at_ns = e.at_ns + int64_t{call.md.expiry} * 100'000'000;
      }
      if (count > 1) {
        call.md.flags = is_segmented ? (i == count ? mf::kLastSegment : mf::kSegment)
                                     : (i == count ? mf::kLastInGroup : mf::kInGroup);
        if (!is_logical) {
          call.md.group_id = group;
          call.md.sequence_number = is_segmented ? 1 : i;
          call.md.offset = is_segmented ? offset : 0;
        }
      }
      offset += static_cast<int32_t>(body.size());
      call.options = (in_unit ? pmo::kSyncpoint : pmo::kNoSyncpoint) |
                     (is_logical && count > 1 ? pmo::kLogicalOrder : 0);
      Outcome o = world_.wait(
          [&](queue::Done done) { return a.connection->put(handle, call, std::move(done)); });
      CAPTURE(o.reason);
      REQUIRE(!o.is_failed());
      for (const char* queue : {"S1", "S2"}) {
        if (!is_topic) break;
        LedgerEntry copy = e;
        copy.queue = queue;
        copy.key += "@" + std::string(queue);
        copy.producer = copy.key;
        ledger_.add(copy);
      }
      e.queue = target;
      if (!is_topic) ledger_.add(e);
      if (!in_unit) end(e.unit, true);
    }
  }

  void end(const std::string& ended, bool is_committed) {
    add(Kind::kCommit, ended);
    add(is_committed ? Kind::kCommitted : Kind::kBackedOut, ended);
  }
  void add(Kind kind, const std::string& ended) {
    LedgerEntry e;
    e.kind = kind;
    e.at_ns = now();
    e.unit = ended;
    ledger_.add(std::move(e));
  }

  // One entry a key of the body, which may be of several segments.
  std::vector<LedgerEntry> entries(const GetCall& call, const std::string& queue) {
    std::vector<LedgerEntry> out;
    std::string_view body = call.body.view();
    while (!body.empty()) {
      LedgerEntry e;
      e.kind = Kind::kGot;
      e.at_ns = now();
      e.queue = queue;
      e.key = body.substr(0, body.find(';'));
      if (queue[0] == 'S') e.key += "@" + queue;
      e.producer = "reader";
      e.is_selective = true;
      e.is_flagged = call.md.backout_count > 0 || call.is_maybe_redelivered;
      out.push_back(std::move(e));
      body.remove_prefix(body.find(';') + 1);
    }
    return out;
  }

  void got(std::vector<LedgerEntry> found, const std::string& in) {
    for (LedgerEntry& e : found) {
      e.unit = in;
      ledger_.add(std::move(e));
    }
  }

  void get(Attacker& a) {
    const char* kQueues[] = {"Q1", "Q2", "S1", "S2"};
    std::string queue = kQueues[up_to(4)];
    Hobj handle = open(a, queue);
    GetCall call;
    call.match_options = mqi::mo::kNone;
    if (one_in(3)) {  // a cursor first
      GetCall browse;
      browse.match_options = mqi::mo::kNone;
      browse.options = one_in(2) ? gmo::kBrowseFirst : gmo::kBrowseNext;
      if (one_in(3)) browse.options |= gmo::kLock;
      if (one_in(4)) browse.options |= gmo::kMarkBrowseCoOp | gmo::kUnmarkedBrowse;
      if (one_in(4)) browse.options |= gmo::kCompleteMessage;
      Outcome o = world_.get(*a.connection, handle, browse);
      if (o.is_ok() && (browse.options & gmo::kCompleteMessage) == 0 && one_in(3)) {
        GetCall again;
        again.options = gmo::kBrowseUnderCursor;
        Outcome seen = world_.get(*a.connection, handle, again);
        bool is_same = !seen.is_ok() || again.body.view() == browse.body.view();
        CHECK(is_same);
      }
      if (one_in(2)) return;
      call.options = gmo::kUnderCursor;
    } else if (one_in(3)) {
      call.options = gmo::kCompleteMessage | (one_in(2) ? gmo::kAllMessagesAvailable : 0);
    } else if (one_in(3)) {
      call.options = gmo::kLogicalOrder | (one_in(2) ? gmo::kAllMessagesAvailable : 0);
    }
    Delivery delivery;
    bool in_unit = !one_in(3);
    // Within a group a handle stays in units or outside of them.
    if ((call.options & gmo::kLogicalOrder) != 0) in_unit = true;
    call.options |= in_unit ? gmo::kSyncpoint : gmo::kNoSyncpoint;
    bool is_plain = (call.options & ~gmo::kSyncpoint) == 0;
    bool skips = in_unit && is_plain && one_in(6);
    if (skips) call.options |= gmo::kMarkSkipBackout;
    bool is_apart = in_unit && is_plain && !skips && one_in(4);
    if (is_apart) call.delivery = &delivery;
    Outcome o = world_.get(*a.connection, handle, call);
    if (!o.is_ok()) return;
    std::vector<LedgerEntry> found = entries(call, queue);
    if (is_apart) return settle(a, std::move(delivery), std::move(found));
    if (!in_unit) {
      std::string own = name("u");
      got(std::move(found), own);
      end(own, true);
      return;
    }
    (void)unit(a);
    auto& to = skips ? a.skips : a.gets;
    to.insert(to.end(), found.begin(), found.end());
  }

  void settle(Attacker& a, Delivery delivery, std::vector<LedgerEntry> found) {
    uint64_t dice = up_to(5);
    std::string own = name("u");
    if (dice == 0) {
      delivery.release();
    } else if (dice == 1) {
      got(std::move(found), own);
      delivery.back_out();
      end(own, false);
    } else if (dice == 2) {
      (void)unit(a);
      REQUIRE(delivery.join(*a.connection).is_ok());
      a.gets.insert(a.gets.end(), found.begin(), found.end());
    } else {
      got(std::move(found), own);
      Outcome o = world_.wait(
          [&](queue::Done done) { return delivery.accept(world_.executor, std::move(done)); });
      REQUIRE(o.is_ok());
      end(own, true);
    }
  }

  void commit(Attacker& a) {
    if (a.unit.empty()) return;
    got(std::exchange(a.gets, {}), a.unit);
    got(std::exchange(a.skips, {}), a.unit);
    add(Kind::kCommit, a.unit);
    Outcome o = world_.commit(*a.connection);
    REQUIRE(o.is_ok());
    add(Kind::kCommitted, std::exchange(a.unit, ""));
  }

  void back(Attacker& a) {
    if (a.unit.empty()) return;
    got(std::exchange(a.gets, {}), a.unit);
    REQUIRE(a.connection->back().is_ok());
    add(Kind::kBackedOut, std::exchange(a.unit, ""));
    if (a.skips.empty()) return;
    (void)unit(a);
    a.gets = std::exchange(a.skips, {});
  }

  void close_handles(Attacker& a) {
    for (auto& [queue, handle] : a.handles) CHECK(a.connection->close(handle).is_ok());
    a.handles.clear();
  }

  // A temporary queue with messages in all states goes, and takes nothing else with it.
  void temporary(Attacker& a) {
    Hobj h = world_.open(*a.connection, "MODEL", oo::kOutput | oo::kInputShared);
    REQUIRE(h != queue::kNoObject);
    PutCall call;
    for (int i = 0; i < 3; ++i) {
      call.options = i == 0 ? pmo::kSyncpoint : pmo::kNoSyncpoint;
      CHECK(a.connection->put(h, call).is_ok());
    }
    GetCall get;
    get.options = gmo::kSyncpoint;
    CHECK(world_.get(*a.connection, h, get).is_ok());
    (void)unit(a);
    CHECK(a.connection->close(h).is_ok());
  }

  void leave(Attacker& a) {
    std::string ended = std::exchange(a.unit, "");
    got(std::exchange(a.gets, {}), ended);
    got(std::exchange(a.skips, {}), ended);
    bool is_clean = one_in(2);
    if (!ended.empty()) add(Kind::kCommit, ended);
    if (is_clean) {
      Outcome o =
          world_.wait([&](queue::Done done) { return a.connection->disconnect(std::move(done)); });
      CHECK(o.is_ok());
    } else {
      a.connection->abandon();
    }
    if (!ended.empty()) add(is_clean ? Kind::kCommitted : Kind::kBackedOut, ended);
    a = Attacker();
    a.connection = world_.connect();
  }

  void restart(bool is_crash) {
    for (Attacker& a : clients_) {
      if (!a.unit.empty()) {
        got(std::exchange(a.gets, {}), a.unit);
        got(std::exchange(a.skips, {}), a.unit);
        add(Kind::kBackedOut, a.unit);
      }
      if (!is_crash) a.connection->abandon();
      a = Attacker();
    }
    if (is_crash) {
      world_.crash();
      add(Kind::kCrash, "");
      world_.start();
    } else {
      world_.restart();
      add(Kind::kCrash, "");  // what was not persistent is gone either way
    }
    world_.sim.run_ready();
    connect();
  }

  void take_stock(const char* queue) {
    Hobj h = world_.open(*world_.b, queue, oo::kBrowse);
    uint64_t count = 0;
    for (;; ++count) {
      GetCall call;
      call.match_options = mqi::mo::kNone;
      call.options = count == 0 ? gmo::kBrowseFirst : gmo::kBrowseNext;
      if (!world_.get(*world_.b, h, call).is_ok()) break;
      for (LedgerEntry& e : entries(call, queue)) {
        e.kind = Kind::kLeft;
        ledger_.add(std::move(e));
      }
    }
    world_.sim.run_ready();
    LedgerEntry e;
    e.kind = Kind::kDepth;
    e.at_ns = now();
    e.queue = queue;
    e.number = world_.depth(queue);
    CHECK(e.number == count);
    ledger_.add(std::move(e));
  }

  QueueWorld world_;
  base::SeededRandom random_;
  Ledger ledger_;
  Attacker clients_[kClients];
  uint64_t last_name_ = 0, number_ = 0;
};

TEST_CASE("attack: every promise holds over random sequences of everything") {
  const char* more = std::getenv("MS_ATTACK_SEEDS");
  const uint64_t seeds = more != nullptr ? std::strtoull(more, nullptr, 10) : 60;
  for (uint64_t seed = 1; seed <= seeds; ++seed) {
    CAPTURE(seed);
    Attack attack(seed);
    attack.run(400);
    LedgerVerdict verdict = attack.verdict();
    INFO(verdict.summary());
    REQUIRE(verdict.ok());
    CHECK(verdict.gets > 0);
  }
}

}  // namespace
}  // namespace millstream::sim
