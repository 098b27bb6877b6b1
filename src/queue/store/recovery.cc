#include "queue/store/recovery.h"

#include <algorithm>
#include <queue>
#include <utility>

#include "base/assert.h"
#include "queue/store/errors_gen.h"
#include "queue/store/replay.h"
#include "queue/store/spill_reader.h"

namespace millstream::queue::store {
namespace {

// The whole of a start, step by step.
class Recovery {
 public:
  Recovery(StoreShared& shared, RecoveryHandler& handler)
      : shared_(shared), state_(shared.state), handler_(handler), replay_(shared.state) {}

  Result<Recovered> run() {
    const int64_t begin_ns = shared_.clock.monotonic_ns();
    ManifestPair pair = MS_TRY(read_manifests(shared_.disk));
    std::vector<SegmentFile> files = MS_TRY(shared_.segments.open_all());
    if (!pair.has_any) {
      MS_TRY(refuse_old_store(pair, files));
      out_.report.is_new = true;
      for (SegmentFile& file : files) shared_.segments.add_free(std::move(file));
      out_.end.at = {0, 0};
      return std::move(out_);
    }
    out_.manifest_slot = pair.slot;
    out_.manifest = std::move(pair.newest);
    out_.other_start = pair.has_other ? pair.other.start : out_.manifest.start;
    out_.other_files = std::move(pair.other.files);
    out_.report.damaged_manifest = pair.damaged;
    shared_.key = out_.manifest.key;
    state_.highest = out_.manifest.highest;
    state_.heuristics = out_.manifest.heuristics;
    state_.backouts = out_.manifest.backouts;
    state_.cleared = out_.manifest.cleared;
    state_.late_erases = out_.manifest.late_erases;
    MS_TRY(open_spill());
    MS_TRY(replay_journal(std::move(files)));
    MS_TRY(tell_records());
    MS_TRY(tell_messages());
    MS_TRY(tell_rest());
    finish(begin_ns);
    return std::move(out_);
  }

 private:
  // Without a manifest there is either nothing yet, or something is lost.
  Status refuse_old_store(const ManifestPair& pair, const std::vector<SegmentFile>& files) {
    if (!pair.damaged.empty()) {
      return base::make_error(errors::kStoreCorrupt,
                              {pair.damaged, 0, "no checkpoint can be read"});
    }
    bool has_more = !MS_TRY(shared_.disk.list(kSpillFolder)).empty();
    io::AlignedBuffer page(kPageBytes);
    for (const SegmentFile& file : files) {
      for (uint64_t at = 0; at + kPageBytes <= file.bytes && !has_more; at += kPageBytes) {
        MS_TRY(file.file->read(at, page.data(), kPageBytes));
        BlockHeader header;
        // A start that was cut short has written the first block at most.
        has_more = has_block_header(page.data(), kJournalMagic, &header) && header.sequence > 1;
        if (at >= 2 * kPageBytes) break;
      }
    }
    if (!has_more) return {};
    return base::make_error(errors::kStoreNotEmpty, {shared_.disk.path()});
  }

  Status open_spill() {
    for (const ManifestFile& f : out_.manifest.files) {
      SpillTable& table = state_.spill[f.number];
      table.number = f.number;
      table.kind = f.kind;
      table.incarnation = f.incarnation;
      table.used_bytes = f.used_bytes;
      table.data_bytes = f.data_bytes;
      table.live_bytes = f.live_bytes;
      table.sections = f.sections;
      table.bits = f.bits;
      for (const uint64_t word : table.bits) {
        table.live += static_cast<uint32_t>(__builtin_popcountll(word));
      }
      table.file = MS_TRY(shared_.disk.open(spill_file_name(f.number)));
      table.file_bytes = MS_TRY(table.file->size());
      if (table.file_bytes < table.used_bytes) {
        return base::make_error(errors::kStoreCorrupt,
                                {table.file->name(), static_cast<int64_t>(table.file_bytes),
                                 "the file is shorter than the checkpoint says"});
      }
      MS_TRY(check_spill_header(*table.file, f.number, f.kind, f.incarnation));
      if (f.kind == SpillKind::kMessages) {
        if (uint64_t{f.slots} * sizeof(PutHead) > f.used_bytes) {
          return base::make_error(errors::kStoreCorrupt,
                                  {table.file->name(), 0, "it cannot have so many messages"});
        }
        table.at.resize(f.slots);
      } else {
        MS_TRY(scan_record_file(table, [&](const RecordView& record, uint64_t offset) -> Status {
          const auto slot = static_cast<uint32_t>(table.at.size());
          table.at.push_back(static_cast<uint32_t>(offset / 8));
          if (table.is_live(slot)) {
            std::string key = StoreState::record_key(record.head.kind, record.key);
            state_.replay_spilled.insert(key);
            state_.records[std::move(key)] = make_location(true, table.number, slot);
          }
          return {};
        }));
        if (table.at.size() != f.slots) {
          return base::make_error(errors::kStoreCorrupt,
                                  {table.file->name(), 0, "records are missing"});
        }
      }
      ++out_.report.spill_files;
    }
    return {};
  }

  Status replay_journal(std::vector<SegmentFile> files) {
    JournalReader reader(std::move(files), shared_.options.block_bytes_max, shared_.key);
    MS_TRY(reader.index());
    state_.replay = &replay_;
    state_.replay_covered = out_.manifest.covered.at;
    state_.open_segment(out_.manifest.start.at.segment);
    out_.end = MS_TRY(reader.replay(out_.manifest.start, replay_));
    state_.replay = nullptr;
    state_.replay_spilled.clear();
    forget_deleted_queues();
    state_.units_applied = 0;
    if (out_.end.at < out_.manifest.covered.at) {
      return base::make_error(
          errors::kStoreCorrupt,
          {kJournalFolder, static_cast<int64_t>(uint64_t{out_.end.at.page} * kPageBytes),
           "segment " + std::to_string(out_.end.at.segment) +
               " ends before the place that the checkpoint covers"});
    }
    out_.end.epoch = std::max(out_.end.epoch, out_.manifest.epoch);
    state_.next_sequence = out_.end.next_sequence;
    state_.applied_end = out_.end.at;
    const uint32_t lowest = std::min(out_.manifest.start.at.segment, out_.other_start.at.segment);
    std::vector<bool> is_used(reader.files(), false);
    for (const auto& [segment, i] : reader.segments()) {
      if (segment < lowest || segment > out_.end.at.segment) continue;
      is_used[i] = true;
      // A block that the last process was writing when it ended may be read and yet not be durable.
      // What was accepted here must be there the next time, too.
      if (segment == out_.end.at.segment) MS_TRY(reader.file(i).file->sync());
      shared_.segments.add_used(segment, reader.file(i));
    }
    for (size_t i = 0; i < is_used.size(); ++i) {
      if (!is_used[i]) shared_.segments.add_free(reader.file(i));
    }
    return {};
  }

  // A prepare before the journal that is left may have deleted a queue after puts that the replay
  // has repeated.
  void forget_deleted_queues() {
    for (const auto& [queue, mark] : state_.cleared) {
      replay_.clear(queue, mark.upto, mark.is_deleted);
      if (mark.is_deleted) state_.highest.erase(queue);
    }
  }

  Status tell_records() {
    for (const auto& [key, location] : state_.records) {
      if (is_spill(location)) continue;
      const auto value = replay_.records().find(key);
      MS_CHECK(value != replay_.records().end());
      ++out_.report.records;
      MS_TRY(handler_.record(static_cast<uint8_t>(key[0]), std::string_view(key).substr(1),
                             value->second));
    }
    for (auto& [number, table] : state_.spill) {
      if (table.kind != SpillKind::kRecords || table.live == 0) continue;
      uint32_t slot = 0;
      MS_TRY(scan_record_file(table, [&](const RecordView& record, uint64_t) -> Status {
        const Location here = make_location(true, number, slot++);
        const auto found =
            state_.records.find(StoreState::record_key(record.head.kind, record.key));
        if (found == state_.records.end() || found->second != here) return {};
        ++out_.report.records;
        return handler_.record(record.head.kind, record.key, record.value);
      }));
    }
    return {};
  }

  Status tell_message(QueueId queue, IndexEntry index, Location location) {
    if (!state_.backouts.empty()) {
      const auto count = state_.backouts.find({queue, index.sequence});
      if (count != state_.backouts.end()) index.backout_count = count->second;
    }
    if (!wanted_.empty()) {
      const auto range = wanted_.equal_range({queue, index.sequence});
      for (auto it = range.first; it != range.second; ++it) *it->second = location;
    }
    ++out_.report.messages;
    return handler_.message(queue, index, location);
  }

  // Locations in prepared units are those of a former process.
  void collect_wanted() {
    for (auto& [xid, entry] : state_.prepared) {
      for (RedoGet& get : entry.unit.unit().gets) {
        get.location = {};
        wanted_.emplace(MessageKey{get.queue, get.sequence}, &get.location);
      }
      for (RedoBackout& b : entry.unit.unit().backouts) {
        b.location = {};
        wanted_.emplace(MessageKey{b.queue, b.sequence}, &b.location);
      }
    }
  }

  // Spilled rows and those of the journal, merged by queue and sequence.
  Status tell_messages() {
    collect_wanted();
    std::vector<IndexCursor> cursors;
    for (auto& [number, table] : state_.spill) {
      if (table.kind != SpillKind::kMessages) continue;
      for (const SpillSection& section : table.sections) cursors.emplace_back(&table, section);
    }
    auto later = [&](size_t a, size_t b) { return cursors[b] < cursors[a]; };
    std::priority_queue<size_t, std::vector<size_t>, decltype(later)> heap(later);
    for (size_t i = 0; i < cursors.size(); ++i) {
      if (MS_TRY(cursors[i].next())) heap.push(i);
    }
    auto queue = replay_.rows().begin();
    size_t row = 0;
    auto tell_journal_upto = [&](QueueId q, Sequence sequence) -> Status {
      for (; queue != replay_.rows().end() && queue->first <= q; ++queue, row = 0) {
        for (; row < queue->second.size(); ++row) {
          const Replay::Row& r = queue->second[row];
          if (queue->first == q && r.index.sequence >= sequence) return {};
          if (!r.is_dead) MS_TRY(tell_message(queue->first, r.index, r.location));
        }
      }
      return {};
    };
    while (!heap.empty()) {
      const size_t i = heap.top();
      heap.pop();
      const IndexRow spilled = cursors[i].row();
      SpillTable& table = *cursors[i].table();
      table.at[spilled.slot] = static_cast<uint32_t>(spilled.offset / 8);
      const QueueId q = spilled.head.queue;
      const Sequence sequence = spilled.head.sequence;
      if (table.ranges.empty() || table.ranges.back().queue != q ||
          table.ranges.back().highest < sequence) {
        table.extend_range(q, sequence);
      }
      if (table.is_live(spilled.slot)) {
        if (replay_.is_dead_in_spill(q, sequence) || state_.is_cleared(q, sequence)) {
          table.release(spilled.slot);
        } else {
          MS_TRY(tell_journal_upto(q, sequence));
          MS_TRY(tell_message(q, spilled.head.index(),
                              make_location(true, table.number, spilled.slot)));
        }
      }
      if (MS_TRY(cursors[i].next())) heap.push(i);
    }
    return tell_journal_upto(UINT32_MAX, UINT64_MAX);
  }

  Status tell_rest() {
    for (const auto& [queue, sequence] : state_.highest) {
      MS_TRY(handler_.sequence(queue, sequence));
    }
    for (const auto& [xid, entry] : state_.prepared) {
      MS_TRY(handler_.prepared(entry.unit.unit(), entry.puts));
    }
    for (const auto& [xid, outcome] : state_.heuristics) {
      MS_TRY(handler_.heuristic(xid, outcome));
    }
    return {};
  }

  void finish(int64_t begin_ns) {
    RecoveryReport& report = out_.report;
    report.generation = out_.manifest.generation;
    report.blocks = out_.end.blocks;
    report.bytes = out_.end.bytes;
    report.units = replay_.units();
    report.prepared = state_.prepared.size();
    report.tails = out_.end.tails;
    report.elapsed_ns = shared_.clock.monotonic_ns() - begin_ns;
  }

  StoreShared& shared_;
  StoreState& state_;
  RecoveryHandler& handler_;
  Replay replay_;
  Recovered out_;
  std::unordered_multimap<MessageKey, Location*, MessageKeyHash> wanted_;
};

}  // namespace

Result<Recovered> recover_store(StoreShared& shared, RecoveryHandler& handler) {
  MS_ASSERT(shared.state.journal.empty());
  MS_ASSERT(shared.state.spill.empty());
  return Recovery(shared, handler).run();
}

}  // namespace millstream::queue::store
