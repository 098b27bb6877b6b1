// The ledger oracle: what every client of a queue manager meant to do and what it was told, and the
// checker that says whether the queue manager kept its promises. The same checker judges
// simulations and real processes that were killed.
//
// A client writes an entry before it asks (intent) and one when it knows the outcome; a unit of
// work without an outcome is unknown, as after a crash. At the end everything that is left is
// browsed. A message is known by its key, unique over the run, which is in its body.
//
// Promises checked (queue-store-and-reliability, section 6.2 item 1):
//   lost         a message of a committed unit is neither got, left, expired nor allowed to go
//   phantom      a message that nobody put, or whose unit was backed out
//   twice        got in two committed units, got after a committed get, or left in two places
//   unflagged    delivered again without the sign of possible redelivery
//   torn         an unknown unit of which one half happened
//   misplaced    seen on a queue that is neither its own nor one for dead letters
//   order        one producer's messages of one priority overtook each other on a queue
//   late         delivered after it had expired
//   depth        a queue's depth counter differs from what browsing found
//   in-doubt     the list of prepared units is not what clients prepared and left
// Thread: a Ledger one.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace millstream::sim {

struct LedgerEntry {
  enum class Kind : uint8_t {
    kPut,         // intent: unit, queue, key, producer, number, priority, flags
    kGot,         // unit, queue, key, is_flagged, is_selective; `producer` is the consumer
    kGetUnknown,  // a get outside syncpoint that was not answered: one message may have gone
    kCommit,      // intent: unit. A put or get outside syncpoint is a unit of its own.
    kPrepare,     // intent: unit
    kPrepared,    // outcome: unit is in doubt from here on
    kCommitted,   // outcome: unit
    kBackedOut,   // outcome: unit
    kCrash,       // the queue manager ended without warning
    kLeft,        // at the end: queue, key
    kDepth,       // at the end: queue, number
    kInDoubt,     // at the end: unit
  };
  Kind kind = Kind::kPut;
  int64_t at_ns = 0;  // one clock for all clients
  std::string unit;
  std::string queue;
  std::string key;
  std::string producer;
  uint64_t number = 0;  // of the producer's message, rising; or the depth
  int priority = 0;
  int64_t expires_at_ns = 0;  // 0: never; on the clock of at_ns
  bool is_persistent = true;
  bool is_flagged = false;    // backout count above 0, or possibly redelivered
  bool is_selective = false;  // got by identifier or selector: says nothing of order
};

// One entry a line, fields parted by tabs; what write_entry() wrote, read_entries() reads. A last
// line without its end is dropped: its writer was killed.
void write_entry(const LedgerEntry& entry, std::string& out);
// False: `error` says which line is none, and why.
bool read_entries(std::string_view text, std::vector<LedgerEntry>& out, std::string& error);

struct LedgerOptions {
  // Where messages may end up that a client never got: dead letters and backout queues.
  std::vector<std::string> side_queues;
  // How far the clocks of clients and queue manager may differ, when expiry is judged.
  int64_t expiry_slack_ns = 0;
};

struct LedgerVerdict {
  std::vector<std::string> violations;  // "lost: key k17 of unit u3 on Q1 ...", at most kShownMax
  uint64_t violation_count = 0;
  uint64_t units = 0, units_unknown = 0, puts = 0, gets = 0, left = 0, crashes = 0;
  bool ok() const { return violation_count == 0; }
  std::string summary() const;  // one line of counts, then the violations
};

class Ledger {
 public:
  static constexpr size_t kShownMax = 50;

  // Entries of one client in its order; clients in any order.
  void add(LedgerEntry entry) { entries_.push_back(std::move(entry)); }
  LedgerVerdict check(const LedgerOptions& options = {}) const;
  size_t size() const { return entries_.size(); }

 private:
  std::vector<LedgerEntry> entries_;
};

}  // namespace millstream::sim
