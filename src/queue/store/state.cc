#include "queue/store/state.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"

namespace millstream::queue::store {

std::string StoreState::record_key(uint8_t kind, std::string_view key) {
  std::string joined;
  joined.reserve(key.size() + 1);
  joined.push_back(static_cast<char>(kind));
  joined.append(key);
  return joined;
}

JournalTable& StoreState::open_segment(uint32_t segment) {
  MS_CHECK(journal.empty() || journal.back().segment < segment);
  // A number is left out where a start cut a tail that had a segment to itself.
  const uint32_t first = journal.empty() ? segment : journal.back().segment + 1;
  for (uint32_t s = first; s <= segment; ++s) journal.emplace_back().segment = s;
  return journal.back();
}

JournalTable* StoreState::find_segment(uint32_t segment) {
  if (journal.empty() || segment < journal.front().segment) return nullptr;
  const size_t i = segment - journal.front().segment;
  return i < journal.size() ? &journal[i] : nullptr;
}

SpillTable* StoreState::find_spill(uint32_t number) {
  const auto found = spill.find(number);
  return found == spill.end() ? nullptr : &found->second;
}

Location StoreState::resolve(Location location) const {
  auto* self = const_cast<StoreState*>(this);
  for (;;) {
    if (is_spill(location)) {
      const SpillTable* table = self->find_spill(location_file(location));
      if (!table) return location;
      const auto found = table->forwards.find(location_slot(location));
      if (found == table->forwards.end()) return location;
      location = found->second;
    } else {
      const JournalTable* table = self->find_segment(location_file(location));
      if (!table || location_slot(location) >= table->slots.size()) return location;
      const JournalSlot& slot = table->slots[location_slot(location)];
      if (!(slot.at & JournalSlot::kMoved)) return location;
      location = Location{slot.sequence};
    }
  }
}

bool StoreState::is_live(Location location) const {
  auto* self = const_cast<StoreState*>(this);
  if (is_spill(location)) {
    const SpillTable* table = self->find_spill(location_file(location));
    return table && table->is_live(location_slot(location));
  }
  const JournalTable* table = self->find_segment(location_file(location));
  return table && location_slot(location) < table->slots.size() &&
         (table->slots[location_slot(location)].at & JournalSlot::kLive);
}

void StoreState::kill(Location location) {
  if (!location) return;
  const Location now = resolve(location);
  if (is_spill(now)) {
    if (SpillTable* table = find_spill(location_file(now))) table->release(location_slot(now));
  } else if (JournalTable* table = find_segment(location_file(now))) {
    table->release(location_slot(now));
  }
}

void StoreState::forward(Location from, Location to) {
  MS_ASSERT(from != to);
  const bool was_live = is_live(from);
  if (!was_live) kill(to);
  if (is_spill(from)) {
    SpillTable* table = find_spill(location_file(from));
    MS_CHECK(table);
    table->release(location_slot(from));
    table->forwards[location_slot(from)] = to;
    return;
  }
  JournalTable* table = find_segment(location_file(from));
  MS_CHECK(table && location_slot(from) < table->slots.size());
  table->release(location_slot(from));
  JournalSlot& slot = table->slots[location_slot(from)];
  slot.at |= JournalSlot::kMoved;
  slot.sequence = to.at;
}

bool StoreState::is_cleared(QueueId queue, Sequence sequence) const {
  const auto found = cleared.find(queue);
  if (found == cleared.end()) return false;
  return found->second.is_deleted || sequence <= found->second.upto;
}

void StoreState::drop_forwards_through(bool is_spill_file, uint32_t number) {
  auto goes = [&](Location l) {
    return is_spill(l) == is_spill_file && location_file(l) == number;
  };
  for (JournalTable& table : journal) {
    for (JournalSlot& slot : table.slots) {
      if (!(slot.at & JournalSlot::kMoved) || !goes(Location{slot.sequence})) continue;
      slot.sequence = resolve(Location{slot.sequence}).at;
    }
  }
  for (auto& [other, table] : spill) {
    for (auto& [slot, to] : table.forwards) {
      if (goes(to)) to = resolve(to);
    }
  }
  for (auto& [xid, entry] : prepared) {
    for (RedoGet& get : entry.unit.unit().gets) {
      if (goes(get.location)) get.location = resolve(get.location);
    }
    for (RedoBackout& b : entry.unit.unit().backouts) {
      if (goes(b.location)) b.location = resolve(b.location);
    }
  }
}

Location StoreState::place_entry(const EntryPlace& place, uint64_t offset, QueueId queue,
                                 Sequence sequence, uint32_t flags) {
  JournalTable* table = find_segment(place.segment);
  MS_CHECK(table);
  const uint32_t slot = table->add({place.segment, place.offset + offset, place.chunks}, queue,
                                   sequence, flags | JournalSlot::kLive);
  return make_location(false, place.segment, slot);
}

bool StoreState::message_arrives(QueueId queue, const IndexEntry& index, Location location) {
  Sequence& top = highest[queue];
  top = std::max(top, index.sequence);
  return !replay || replay->put(queue, index, location);
}

void StoreState::message_leaves(QueueId queue, Sequence sequence, Location location) {
  if (!backouts.empty()) backouts.erase({queue, sequence});
  if (replay) {
    replay->get(queue, sequence);
  } else {
    kill(location);
  }
}

void StoreState::count_backout(QueueId queue, Sequence sequence, uint32_t count, Position block) {
  // Of a spilled message the manifest knows the count as of the place that it covers.
  if (replay && !replay->backout(queue, sequence, count) && block < replay_covered) return;
  backouts[{queue, sequence}] = count;
}

void StoreState::set_record(const RedoRecord& record, Location location, Position block) {
  std::string joined = record_key(record.kind, record.key);
  if (replay) {
    if (block < replay_covered && replay_spilled.contains(joined)) {
      kill(location);  // what the manifest has in spill is newer
      return;
    }
    replay->record(joined, record.value, record.is_erased);
  }
  const auto found = records.find(joined);
  if (found != records.end()) kill(found->second);
  if (record.is_erased) {
    if (found != records.end()) records.erase(found);
  } else if (found != records.end()) {
    found->second = location;
  } else {
    records.emplace(std::move(joined), location);
  }
}

void StoreState::clear_queue(QueueId queue, Sequence upto, bool is_deleted, Position block) {
  ClearMark& mark = cleared[queue];
  mark.upto = std::max(mark.upto, upto);
  mark.is_deleted |= is_deleted;
  mark.at = block;
  if (is_deleted) {
    highest.erase(queue);
  } else {
    Sequence& top = highest[queue];
    top = std::max(top, upto);
  }
  if (replay) replay->clear(queue, upto, is_deleted);
  if (!backouts.empty()) {
    std::erase_if(backouts, [&](const auto& entry) {
      return entry.first.queue == queue && (is_deleted || entry.first.sequence <= upto);
    });
  }
}

void StoreState::apply_content(const UnitView& unit, const EntryPlace& place, Position block) {
  for (uint32_t i = 0; i < unit.gets(); ++i) {
    const GetEntry e = unit.get(i);
    message_leaves(e.queue, e.sequence, Location{e.location});
  }
  for (uint32_t i = 0; i < unit.backouts(); ++i) {
    const GetEntry e = unit.backout(i);
    count_backout(e.queue, e.sequence, e.backout_count, block);
  }
  unit.for_records([&](const RecordView& r) {
    Location location;
    if (!r.head.is_erased) location = place_entry(place, r.offset, 0, 0, 0);
    set_record({r.head.kind, r.key, r.value, r.head.is_erased != 0}, location, block);
  });
  for (uint32_t i = 0; i < unit.clears(); ++i) {
    const ClearEntry e = unit.clear(i);
    clear_queue(e.queue, e.upto, e.is_deleted != 0, block);
  }
}

bool StoreState::prepare(const UnitView& unit, const EntryPlace& place, Position block,
                         std::vector<Location>* out) {
  PreparedUnit entry;
  entry.unit = OwnedUnit(unit.to_unit(), false);
  entry.at = block;
  if (place.chunks) {  // the first of them decides what a replay finds
    const ChunkList::Piece& first = place.chunks->pieces.front();
    entry.at = {first.segment, static_cast<uint32_t>(first.offset / kPageBytes)};
  }
  unit.for_puts([&](const PutView& p) {
    entry.puts.push_back(place_entry(place, p.offset, p.head.queue, 0, JournalSlot::kHeld));
    out->push_back(entry.puts.back());
  });
  unit.for_records([&](const RecordView& r) {
    entry.records.push_back(place_entry(place, r.offset, 0, 0, JournalSlot::kHeld));
  });
  const auto found = prepared.find(unit.xid());
  if (found != prepared.end()) {  // written again by the checkpoint
    PreparedUnit& old = found->second;
    if (!unit.is_relogged() || old.puts.size() != entry.puts.size() ||
        old.records.size() != entry.records.size()) {
      return false;
    }
    for (size_t i = 0; i < old.puts.size(); ++i) forward(old.puts[i], entry.puts[i]);
    for (size_t i = 0; i < old.records.size(); ++i) forward(old.records[i], entry.records[i]);
    prepared.erase(found);
  }
  prepared.emplace(std::string(unit.xid()), std::move(entry));
  return true;
}

// The content counts from now on.
void StoreState::unhold(Location location, Sequence sequence) {
  JournalTable* table = find_segment(location_file(location));
  MS_CHECK(table && location_slot(location) < table->slots.size());
  JournalSlot& slot = table->slots[location_slot(location)];
  MS_CHECK(slot.at & JournalSlot::kHeld);
  slot.at &= ~JournalSlot::kHeld;
  slot.sequence = sequence;
}

// In replay the prepare may lie before the journal that is left. Then the manifest has what it did,
// but for records that it erased and that the replay has just set again.
bool StoreState::settle_unknown(const UnitView& unit, Position block) {
  if (!replay || !(block < replay_covered)) return false;
  for (const LateErase& late : late_erases) {
    if (late.settled_at != block || late.xid != unit.xid()) continue;
    for (const std::string& key : late.keys) {
      const RedoRecord erased{
          static_cast<uint8_t>(key[0]), std::string_view(key).substr(1), {}, true};
      set_record(erased, {}, block);
    }
  }
  return true;
}

bool StoreState::settle(const UnitView& unit, Position block, std::vector<Location>* out) {
  const auto found = prepared.find(unit.xid());
  if (found == prepared.end()) return settle_unknown(unit, block);
  const PreparedUnit entry = std::move(found->second);
  prepared.erase(found);
  const RedoUnit& content = entry.unit.unit();
  if (unit.kind() == RedoKind::kRollbackPrepared) {
    for (const Location location : entry.puts) kill(location);
    for (const Location location : entry.records) kill(location);
    return true;
  }
  if (unit.sequences() != content.puts.size()) return false;
  for (size_t i = 0; i < content.puts.size(); ++i) {
    IndexEntry index = content.puts[i].index;
    index.sequence = unit.sequence(static_cast<uint32_t>(i));
    unhold(entry.puts[i], index.sequence);
    if (!message_arrives(content.puts[i].queue, index, entry.puts[i])) return false;
    out->push_back(entry.puts[i]);
  }
  for (const RedoGet& get : content.gets) message_leaves(get.queue, get.sequence, get.location);
  for (const RedoBackout& b : content.backouts) {
    count_backout(b.queue, b.sequence, b.backout_count, block);
  }
  LateErase late{block, entry.at, std::string(unit.xid()), {}};
  for (size_t i = 0; i < content.records.size(); ++i) {
    const RedoRecord& record = content.records[i];
    unhold(entry.records[i], 0);
    if (record.is_erased) kill(entry.records[i]);
    set_record(record, entry.records[i], block);
    if (record.is_erased) late.keys.push_back(record_key(record.kind, record.key));
  }
  if (!late.keys.empty()) late_erases.push_back(std::move(late));
  for (const RedoClear& c : content.clears) clear_queue(c.queue, c.upto, c.is_deleted, block);
  return true;
}

bool StoreState::apply(const UnitView& unit, const EntryPlace& place, Position block,
                       std::vector<Location>* out) {
  MS_ASSERT(replay || applied_end.segment <= block.segment);
  ++units_applied;
  bool is_possible = true;
  switch (unit.kind()) {
    case RedoKind::kCommit:
      unit.for_puts([&](const PutView& p) {
        const Location location = place_entry(place, p.offset, p.head.queue, p.head.sequence, 0);
        is_possible &= message_arrives(p.head.queue, p.head.index(), location);
        out->push_back(location);
      });
      break;
    case RedoKind::kPrepare:
      return prepare(unit, place, block, out);
    case RedoKind::kCommitPrepared:
    case RedoKind::kRollbackPrepared:
      is_possible = settle(unit, block, out);
      if (unit.outcome() != 0) heuristics[std::string(unit.xid())] = unit.outcome();
      break;
    case RedoKind::kHeuristic:
      heuristics[std::string(unit.xid())] = unit.outcome();
      break;
    case RedoKind::kForget:
      heuristics.erase(std::string(unit.xid()));
      break;
  }
  apply_content(unit, place, block);
  return is_possible;
}

}  // namespace millstream::queue::store
