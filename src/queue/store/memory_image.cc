#include "queue/store/memory_image.h"

#include <algorithm>

#include "base/assert.h"

namespace millstream::queue {

std::vector<Location> MemoryImage::store_puts(const RedoUnit& unit) {
  std::vector<Location> locations;
  for (const RedoPut& put : unit.puts) {
    const Location location{++last_location};
    bodies[location.at] = {std::string(put.header), std::string(put.body)};
    locations.push_back(location);
  }
  return locations;
}

void MemoryImage::place_put(QueueId queue, const IndexEntry& index, Location location) {
  MS_CHECK(index.sequence != 0);
  const bool is_new = queues[queue].emplace(index.sequence, Message{index, location}).second;
  MS_CHECK(is_new);
  highest[queue] = std::max(highest[queue], index.sequence);
}

void MemoryImage::erase_message(QueueId queue, Sequence sequence) {
  const auto messages = queues.find(queue);
  if (messages == queues.end()) return;
  const auto message = messages->second.find(sequence);
  if (message == messages->second.end()) return;
  bodies.erase(message->second.location.at);
  messages->second.erase(message);
  if (messages->second.empty()) queues.erase(messages);
}

void MemoryImage::apply_content(const RedoUnit& unit) {
  for (const RedoGet& get : unit.gets) erase_message(get.queue, get.sequence);
  for (const RedoBackout& backout : unit.backouts) {
    const auto messages = queues.find(backout.queue);
    if (messages == queues.end()) continue;
    const auto message = messages->second.find(backout.sequence);
    if (message != messages->second.end()) {
      message->second.index.backout_count = backout.backout_count;
    }
  }
  for (const RedoRecord& record : unit.records) {
    std::pair key(record.kind, std::string(record.key));
    if (record.is_erased) {
      records.erase(key);
    } else {
      records[std::move(key)] = record.value;
    }
  }
  for (const RedoClear& clear : unit.clears) {
    Sequence& top = highest[clear.queue];
    top = std::max(top, clear.upto);
    if (const auto messages = queues.find(clear.queue); messages != queues.end()) {
      std::vector<Sequence> gone;
      for (const auto& [sequence, message] : messages->second) {
        if (sequence <= clear.upto || clear.is_deleted) gone.push_back(sequence);
      }
      for (const Sequence sequence : gone) erase_message(clear.queue, sequence);
    }
    if (clear.is_deleted) highest.erase(clear.queue);
  }
}

std::vector<Location> MemoryImage::apply(const RedoUnit& unit) {
  std::vector<Location> locations;
  switch (unit.kind) {
    case RedoKind::kCommit:
      locations = store_puts(unit);
      for (size_t i = 0; i < locations.size(); ++i) {
        place_put(unit.puts[i].queue, unit.puts[i].index, locations[i]);
      }
      apply_content(unit);
      return locations;
    case RedoKind::kPrepare: {
      locations = store_puts(unit);
      const bool is_new =
          prepared.emplace(std::string(unit.xid), Prepared{OwnedUnit(unit, false), locations})
              .second;
      MS_CHECK(is_new);
      return locations;
    }
    case RedoKind::kCommitPrepared:
    case RedoKind::kRollbackPrepared: {
      auto node = prepared.extract(prepared.find(unit.xid));
      MS_CHECK(!node.empty());
      const Prepared& settled = node.mapped();
      if (unit.kind == RedoKind::kCommitPrepared) {
        const RedoUnit& content = settled.unit.unit();
        MS_CHECK(unit.prepared_sequences.size() == content.puts.size());
        for (size_t i = 0; i < content.puts.size(); ++i) {
          IndexEntry index = content.puts[i].index;
          index.sequence = unit.prepared_sequences[i];
          place_put(content.puts[i].queue, index, settled.puts[i]);
        }
        apply_content(content);
        locations = settled.puts;
      } else {
        for (const Location location : settled.puts) bodies.erase(location.at);
      }
      apply_content(unit);
      if (unit.outcome != 0) heuristics[std::string(unit.xid)] = unit.outcome;
      return locations;
    }
    case RedoKind::kHeuristic:
      heuristics[std::string(unit.xid)] = unit.outcome;
      return locations;
    case RedoKind::kForget:
      heuristics.erase(std::string(unit.xid));
      return locations;
  }
  MS_CHECK(false);
  return locations;
}

Status MemoryImage::replay(RecoveryHandler& handler) const {
  for (const auto& [key, value] : records) {
    MS_TRY(handler.record(key.first, key.second, value));
  }
  for (const auto& [queue, messages] : queues) {
    for (const auto& [sequence, message] : messages) {
      MS_TRY(handler.message(queue, message.index, message.location));
    }
  }
  for (const auto& [queue, sequence] : highest) MS_TRY(handler.sequence(queue, sequence));
  for (const auto& [xid, entry] : prepared) {
    MS_TRY(handler.prepared(entry.unit.unit(), entry.puts));
  }
  for (const auto& [xid, outcome] : heuristics) MS_TRY(handler.heuristic(xid, outcome));
  return {};
}

}  // namespace millstream::queue
