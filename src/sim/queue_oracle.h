// What the clients of one simulated run share: the ledger, the trace, the names that are unique
// over the run, and what the ledger cannot see (bodies, definitions).
// Thread: one.
#pragma once
#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "queue/core/connection.h"
#include "sim/ledger.h"
#include "sim/queue_node.h"

namespace millstream::sim {

class QueueOracle {
 public:
  static constexpr size_t kTraceKept = 80;

  QueueOracle(QueueNode& node, bool keeps_trace) : node_(node), keeps_trace_(keeps_trace) {}

  // One line of what happened; all lines together are the run's hash.
  void note(std::string line);
  void violation(std::string text);
  std::string new_unit(std::string_view client) { return name(client, 'u'); }
  std::string new_key(std::string_view client);
  uint64_t next_number() { return ++last_number_; }
  // The key of an identifier's hash, as the queue's index has it; empty: not one of ours.
  std::string key_of(uint64_t message_id_hash) const;
  // A random key that was put not long ago; empty: none.
  std::string recent_key(base::Random& random) const;

  void add(LedgerEntry::Kind kind, std::string unit);
  // What a get delivered: checks the body and adds it to the ledger.
  void got(const queue::GetCall& call, const std::string& queue, const std::string& unit,
           const std::string& consumer, bool is_selective);
  // A publication is one message a subscription: the ledger knows each as KEY@QUEUE. A side queue
  // gets those of `side_origin`.
  void published(const std::string& key) { publications_.insert(key); }
  bool is_publication(const std::string& key) const { return publications_.contains(key); }
  std::string ledger_key(const std::string& key, const std::string& queue) const;
  std::string side_queue, side_origin;

  // A body seen without being got.
  void saw(const queue::GetCall& call, const std::string& queue);
  void crashed();
  // A get that gave its message back unseen: whoever got others meanwhile saw them out of order.
  void disturbed(const std::string& queue) { disturbed_.insert(queue); }

  // --- definitions: what was asked and what was acknowledged ---
  size_t definition_asked(const std::string& queue, std::string state);
  void definition_acknowledged(const std::string& queue, size_t change);
  void definition_found(const std::string& queue, const std::string& state);

  Ledger ledger;
  std::vector<std::string> violations;
  std::vector<std::string> trace;
  uint64_t hash = 14695981039346656037ull;
  uint64_t calls = 0;

 private:
  struct Definition {
    std::vector<std::string> states{""};  // "": not there
    size_t acknowledged = 0;
  };
  std::string name(std::string_view client, char kind) {
    return std::string(client) + kind + std::to_string(++last_name_);
  }

  QueueNode& node_;
  bool keeps_trace_;
  uint64_t last_name_ = 0, last_number_ = 0;
  std::unordered_map<uint64_t, std::string> keys_;
  std::deque<std::string> recent_;
  std::set<std::string> disturbed_, publications_;
  std::map<std::string, Definition> definitions_;
};

}  // namespace millstream::sim
