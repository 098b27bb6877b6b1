#include "sim/queue_oracle.h"

#include <utility>

#include "sim/message_text.h"

namespace millstream::sim {

void QueueOracle::note(std::string line) {
  line = std::to_string(node_.now_ns() / 1000) + " " + std::to_string(node_.sim.events_run()) +
         " " + std::to_string(node_.disk.operations()) + " " + line;
  for (const char c : line) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ull;
  trace.push_back(std::move(line));
  if (!keeps_trace_ && trace.size() > 2 * kTraceKept) {
    trace.erase(trace.begin(), trace.begin() + kTraceKept);
  }
}

void QueueOracle::violation(std::string text) {
  note("VIOLATION " + text);
  if (violations.size() < Ledger::kShownMax) violations.push_back(std::move(text));
}

std::string QueueOracle::new_key(std::string_view client) {
  std::string key = name(client, 'k');
  keys_[queue::hash_identifier(key)] = key;
  recent_.push_back(key);
  if (recent_.size() > 30) recent_.pop_front();
  return key;
}

std::string QueueOracle::key_of(uint64_t message_id_hash) const {
  const auto found = keys_.find(message_id_hash);
  return found == keys_.end() ? std::string() : found->second;
}

std::string QueueOracle::recent_key(base::Random& random) const {
  return recent_.empty() ? std::string() : recent_[random.next_u64() % recent_.size()];
}

void QueueOracle::add(LedgerEntry::Kind kind, std::string unit) {
  LedgerEntry entry;
  entry.kind = kind;
  entry.at_ns = node_.now_ns();
  entry.unit = std::move(unit);
  ledger.add(std::move(entry));
}

void QueueOracle::got(const queue::GetCall& call, const std::string& queue, const std::string& unit,
                      const std::string& consumer, bool is_selective) {
  MessageText text = read_message_text(call.body.view(), call.data_bytes);
  if (!text.error.empty()) violation("body: got from " + queue + ": " + text.error);
  if (text.key.empty()) return;
  if (!is_publication(text.key) && queue::strip_nulls(call.md.message_id.view()) != text.key) {
    violation("body: the message with the body of key " + text.key + " has another identifier");
  }
  LedgerEntry entry;
  entry.kind = LedgerEntry::Kind::kGot;
  entry.at_ns = node_.now_ns();
  entry.unit = unit;
  entry.queue = queue;
  entry.key = ledger_key(text.key, queue);
  entry.producer = consumer;
  entry.is_flagged = call.md.backout_count > 0 || call.is_maybe_redelivered;
  entry.is_selective = is_selective || disturbed_.contains(queue);
  ledger.add(std::move(entry));
}

std::string QueueOracle::ledger_key(const std::string& key, const std::string& queue) const {
  if (!is_publication(key)) return key;
  return key + "@" + (queue == side_queue ? side_origin : queue);
}

void QueueOracle::saw(const queue::GetCall& call, const std::string& queue) {
  MessageText text = read_message_text(call.body.view(), call.data_bytes);
  if (!text.error.empty()) violation("body: browsed on " + queue + ": " + text.error);
  if (!text.key.empty() && key_of(queue::hash_identifier(text.key)).empty()) {
    violation("phantom: browsed key " + text.key + " that was never put");
  }
}

void QueueOracle::crashed() {
  disturbed_.clear();
  add(LedgerEntry::Kind::kCrash, "");
}

size_t QueueOracle::definition_asked(const std::string& queue, std::string state) {
  Definition& d = definitions_[queue];
  d.states.push_back(std::move(state));
  return d.states.size() - 1;
}

void QueueOracle::definition_acknowledged(const std::string& queue, size_t change) {
  Definition& d = definitions_[queue];
  if (change > d.acknowledged && change < d.states.size()) d.acknowledged = change;
}

void QueueOracle::definition_found(const std::string& queue, const std::string& state) {
  Definition& d = definitions_[queue];
  for (size_t i = d.acknowledged; i < d.states.size(); ++i) {
    if (d.states[i] != state) continue;
    d.states = {state};
    d.acknowledged = 0;
    return;
  }
  violation("definition: " + queue + " is '" + state + "' after a start, acknowledged was '" +
            d.states[d.acknowledged] + "'");
  d.states = {state};
  d.acknowledged = 0;
}

}  // namespace millstream::sim
