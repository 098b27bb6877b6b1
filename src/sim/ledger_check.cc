#include <algorithm>
#include <set>
#include <tuple>

#include "sim/ledger.h"

namespace millstream::sim {
namespace {

using Kind = LedgerEntry::Kind;

enum class UnitState : uint8_t {
  kOpen,       // never asked to commit: certainly nothing happened
  kUnknown,    // asked, not answered
  kPrepared,   // in doubt, by the client's knowledge
  kCommitted,  // answered
  kBackedOut,  // answered
};

struct Unit {
  UnitState state = UnitState::kOpen;
  bool was_asked_to_prepare = false;
  bool is_listed_in_doubt = false;
  int64_t asked_at_ns = 0;    // commit or prepare
  int64_t outcome_at_ns = 0;  // of kCommitted and kBackedOut
  std::vector<const LedgerEntry*> puts, gets;
  // Evidence about a unit that is not known to have happened.
  const LedgerEntry* happened = nullptr;
  const LedgerEntry* did_not_happen = nullptr;
  std::string why_not;
};

struct Message {
  const LedgerEntry* put = nullptr;
  std::vector<const LedgerEntry*> got;  // by time
  std::vector<const LedgerEntry*> left;
};

class Checker {
 public:
  Checker(const std::vector<LedgerEntry>& entries, const LedgerOptions& options)
      : options_(options) {
    for (const LedgerEntry& e : entries) by_time_.push_back(&e);
    std::stable_sort(by_time_.begin(), by_time_.end(),
                     [](auto* a, auto* b) { return a->at_ns < b->at_ns; });
  }

  LedgerVerdict run() {
    for (const LedgerEntry* e : by_time_) take(*e);
    for (auto& [key, m] : messages_) check_visibility(m);
    for (auto& [key, m] : messages_) check_presence(m);
    for (auto& [key, m] : messages_) check_deliveries(key, m);
    for (auto& [name, unit] : units_) check_unit(name, unit);
    check_order();
    check_depths();
    verdict_.units = units_.size();
    return std::move(verdict_);
  }

 private:
  void take(const LedgerEntry& e) {
    end_ns_ = e.at_ns;
    switch (e.kind) {
      case Kind::kPut:
        ++verdict_.puts;
        units_[e.unit].puts.push_back(&e);
        messages_[e.key].put = &e;
        break;
      case Kind::kGot:
        ++verdict_.gets;
        units_[e.unit].gets.push_back(&e);
        messages_[e.key].got.push_back(&e);
        break;
      case Kind::kGetUnknown:
        ++may_be_missing_[e.queue];
        break;
      case Kind::kCrash:
        ++verdict_.crashes;
        last_crash_ns_ = e.at_ns;
        break;
      case Kind::kLeft:
        ++verdict_.left;
        ++left_[e.queue];
        messages_[e.key].left.push_back(&e);
        break;
      case Kind::kDepth:
        depths_.push_back(&e);
        break;
      default:
        take_outcome(e, units_[e.unit]);
    }
  }

  static void take_outcome(const LedgerEntry& e, Unit& unit) {
    switch (e.kind) {
      case Kind::kCommit:
        unit.state = UnitState::kUnknown;
        if (!unit.asked_at_ns) unit.asked_at_ns = e.at_ns;
        break;
      case Kind::kPrepare:
        unit.was_asked_to_prepare = true;
        unit.state = UnitState::kUnknown;
        unit.asked_at_ns = e.at_ns;
        break;
      case Kind::kPrepared:
        unit.state = UnitState::kPrepared;
        break;
      case Kind::kCommitted:
        unit.state = UnitState::kCommitted;
        unit.outcome_at_ns = e.at_ns;
        break;
      case Kind::kBackedOut:
        unit.state = UnitState::kBackedOut;
        unit.outcome_at_ns = e.at_ns;
        break;
      case Kind::kInDoubt:
        unit.is_listed_in_doubt = true;
        break;
      default:
        break;
    }
  }

  void report(std::string_view promise, std::string text) {
    if (verdict_.violation_count++ < Ledger::kShownMax) {
      verdict_.violations.push_back(std::string(promise) + ": " + std::move(text));
    }
  }

  static std::string describe(const LedgerEntry& put) {
    return "key " + put.key + " of unit " + put.unit + " on " + put.queue;
  }

  // That somebody saw a message says that its unit happened.
  void check_visibility(Message& m) {
    const LedgerEntry* seen = m.got.empty() ? nullptr : m.got.front();
    if (!seen && !m.left.empty()) seen = m.left.front();
    if (!seen) return;
    if (!m.put) return report("phantom", "key " + seen->key + " was never put");
    Unit& unit = units_[m.put->unit];
    if (unit.state == UnitState::kOpen || unit.state == UnitState::kBackedOut) {
      report("phantom", describe(*m.put) + " was seen though its unit did not commit");
    } else if (seen->at_ns < unit.asked_at_ns) {
      report("phantom", describe(*m.put) + " was seen before its unit was to commit");
    } else if (unit.state != UnitState::kCommitted) {
      unit.happened = m.put;
    }
  }

  bool may_have_expired(const LedgerEntry& put) const {
    return put.expires_at_ns && end_ns_ + options_.expiry_slack_ns >= put.expires_at_ns;
  }

  // A message that nobody has: allowed only for the reasons that the promises know.
  void check_presence(const Message& m) {
    if (!m.put || !m.left.empty()) return;
    Unit& unit = units_[m.put->unit];
    if (unit.state == UnitState::kOpen || unit.state == UnitState::kBackedOut) return;
    if (unit.state == UnitState::kPrepared || unit.is_listed_in_doubt) return;
    if (!m.got.empty()) {
      Unit& taker = units_[m.got.back()->unit];
      // That it is gone shows that it was taken, unless it may have gone by itself.
      const bool may_be_gone = may_have_expired(*m.put) ||
                               (!m.put->is_persistent && unit.asked_at_ns <= last_crash_ns_) ||
                               may_be_missing_.contains(m.put->queue) || taker.is_listed_in_doubt;
      if (taker.state == UnitState::kUnknown && !may_be_gone) taker.happened = m.got.back();
      if (taker.state != UnitState::kBackedOut && taker.state != UnitState::kOpen) return;
    }
    if (may_have_expired(*m.put)) return;
    if (!m.put->is_persistent && unit.asked_at_ns <= last_crash_ns_) return;
    const bool has_happened = unit.state == UnitState::kCommitted || unit.happened;
    auto allowance = may_be_missing_.find(m.put->queue);
    if (has_happened && allowance != may_be_missing_.end() && allowance->second > 0) {
      --allowance->second;
      return;
    }
    if (unit.state == UnitState::kUnknown) {
      unit.did_not_happen = m.put;
      unit.why_not = "is nowhere";
      return;
    }
    report("lost", describe(*m.put) + " is nowhere" + (m.got.empty() ? "" : "; it was backed out"));
  }

  void check_place(const LedgerEntry& seen, const LedgerEntry* put) {
    if (!put || put->queue == seen.queue) return;
    const auto& side = options_.side_queues;
    if (std::find(side.begin(), side.end(), seen.queue) != side.end()) return;
    report("misplaced", describe(*put) + " was seen on " + seen.queue);
  }

  void check_deliveries(const std::string& key, const Message& m) {
    for (const LedgerEntry* left : m.left) check_place(*left, m.put);
    const LedgerEntry* taken = nullptr;  // in a unit that is known to have committed
    for (size_t i = 0; i < m.got.size(); ++i) {
      const LedgerEntry& got = *m.got[i];
      check_place(got, m.put);
      if (taken) {
        report("twice", "key " + key + " was got in unit " + got.unit + " after unit " +
                            taken->unit + " had committed its get");
      } else if (i > 0 && m.got[i - 1]->unit != got.unit) {
        again(m, i);
      }
      if (m.put && m.put->expires_at_ns &&
          got.at_ns > m.put->expires_at_ns + options_.expiry_slack_ns) {
        report("late", "key " + key + " was got " +
                           std::to_string(got.at_ns - m.put->expires_at_ns) +
                           " ns after it had expired");
      }
      if (units_[got.unit].state == UnitState::kCommitted) taken = &got;
    }
    if (m.left.size() > 1) {
      report("twice",
             "key " + key + " is left on " + m.left[0]->queue + " and on " + m.left[1]->queue);
    }
    if (m.left.empty() || m.got.empty()) return;
    if (taken) {
      report("twice", "key " + key + " is left on " + m.left[0]->queue + " though unit " +
                          taken->unit + " committed its get");
    }
    for (const LedgerEntry* got : m.got) not_taken(units_[got->unit], *got, "is left");
  }

  // A delivery after another one: the unit of the first did not happen, and the second shows it.
  void again(const Message& m, size_t i) {
    const LedgerEntry &first = *m.got[i - 1], &second = *m.got[i];
    not_taken(units_[first.unit], first, "was delivered again");
    if (!second.is_flagged) {
      report("unflagged", "key " + second.key + " came again in unit " + second.unit +
                              " without a sign, after unit " + first.unit);
    }
  }

  static void not_taken(Unit& unit, const LedgerEntry& got, const char* why) {
    if (unit.state != UnitState::kUnknown && unit.state != UnitState::kPrepared) return;
    unit.did_not_happen = &got;
    unit.why_not = why;
  }

  void check_unit(const std::string& name, const Unit& unit) {
    if (unit.state == UnitState::kUnknown) ++verdict_.units_unknown;
    if (unit.happened && unit.did_not_happen) {
      report("torn", "unit " + name + ": key " + unit.happened->key + " is there, but key " +
                         unit.did_not_happen->key + " " + unit.why_not);
    }
    const bool is_in_doubt = unit.state == UnitState::kPrepared;
    if (is_in_doubt && (unit.happened || unit.did_not_happen)) {
      report("in-doubt", "unit " + name + " was prepared, but key " +
                             (unit.happened ? unit.happened : unit.did_not_happen)->key +
                             " is free");
    }
    if (is_in_doubt && !unit.is_listed_in_doubt) {
      report("in-doubt", "unit " + name + " was prepared and is not in the list");
    }
    if (unit.is_listed_in_doubt && !is_in_doubt &&
        !(unit.state == UnitState::kUnknown && unit.was_asked_to_prepare)) {
      report("in-doubt", "unit " + name + " is in the list and was not left prepared");
    }
    if (unit.is_listed_in_doubt && unit.state == UnitState::kUnknown && unit.happened) {
      report("torn", "unit " + name + " is in doubt, but key " + unit.happened->key + " is there");
    }
  }

  void check_order() {
    using Stream = std::tuple<std::string, std::string, std::string, int, bool>;
    std::map<Stream, const LedgerEntry*> last;
    for (const LedgerEntry* got : by_time_) {
      if (got->kind != Kind::kGot || got->is_flagged || got->is_selective) continue;
      const LedgerEntry* put = messages_[got->key].put;
      if (!put || put->queue != got->queue) continue;
      const LedgerEntry*& before =
          last[{got->queue, got->producer, put->producer, put->priority, put->is_persistent}];
      if (before && before->number >= put->number) {
        report("order", "key " + put->key + " of producer " + put->producer + " came after key " +
                            before->key + " on " + put->queue);
      }
      before = put;
    }
  }

  void check_depths() {
    for (const LedgerEntry* e : depths_) {
      const uint64_t counted = left_.contains(e->queue) ? left_[e->queue] : 0;
      if (counted != e->number) {
        report("depth", e->queue + " says " + std::to_string(e->number) + ", browsing found " +
                            std::to_string(counted));
      }
    }
  }

  const LedgerOptions& options_;
  std::vector<const LedgerEntry*> by_time_, depths_;
  std::map<std::string, Unit> units_;
  std::map<std::string, Message> messages_;
  std::map<std::string, uint64_t> may_be_missing_, left_;
  int64_t last_crash_ns_ = INT64_MIN, end_ns_ = 0;
  LedgerVerdict verdict_;
};

}  // namespace

LedgerVerdict Ledger::check(const LedgerOptions& options) const {
  return Checker(entries_, options).run();
}

std::string LedgerVerdict::summary() const {
  std::string out = std::to_string(units) + " units (" + std::to_string(units_unknown) +
                    " unknown), " + std::to_string(puts) + " puts, " + std::to_string(gets) +
                    " gets, " + std::to_string(left) + " left, " + std::to_string(crashes) +
                    " crashes: " + std::to_string(violation_count) + " violations\n";
  for (const std::string& v : violations) out += "  " + v + "\n";
  return out;
}

}  // namespace millstream::sim
