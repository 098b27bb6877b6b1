#include <algorithm>
#include <cstring>
#include <deque>
#include <memory>
#include <set>
#include <utility>

#include "base/assert.h"
#include "io/disk.h"
#include "queue/store/errors_gen.h"
#include "queue/store/inspect.h"
#include "queue/store/journal_walk.h"
#include "queue/store/memory_image.h"
#include "queue/store/replay.h"
#include "queue/store/spill_reader.h"

namespace millstream::queue {
namespace {

using store::kPageBytes;

// Units that go into the new store one after another; the caller's thread drives nothing, so it
// closes the store to wait for all.
class SalvageWriter final : public StoreListener, public RecoveryHandler {
 public:
  class Ignored final : public Pending {
   public:
    void durable(std::span<const Location>) override {}
  };
  Status record(uint8_t, std::string_view, std::string_view) override { return not_empty(); }
  Status message(QueueId, const IndexEntry&, Location) override { return not_empty(); }
  Status sequence(QueueId, Sequence) override { return not_empty(); }
  Status prepared(const RedoUnit&, std::span<const Location>) override { return not_empty(); }
  Status heuristic(std::string_view, uint8_t) override { return not_empty(); }
  bool moved(QueueId, Sequence, Location, Location) override { return false; }
  void failed(const base::Error&) override {}
  void space_changed(bool) override {}
  void append(JournalStore& to, const RedoUnit& unit) { to.append(unit, pending_.emplace_back()); }

 private:
  static Status not_empty() {
    return base::make_error(store::errors::kStoreNotEmpty, {"the directory to salvage into"});
  }
  std::deque<Ignored> pending_;
};

// The content of the old store, as maps: spill first, then the journal's units in order.
class Salvage {
 public:
  Salvage(io::Disk& disk, const StoreOptions& options, const InspectProgress& progress)
      : disk_(disk), options_(options), progress_(progress) {}

  Status read() {
    store::ManifestPair pair = MS_TRY(store::read_manifests(disk_));
    if (!pair.has_any) {
      lose(pair.damaged.empty() ? store::kCheckpointFolder : pair.damaged, 0,
           "no checkpoint can be read: what is in spill only is lost, and the journal may repeat "
           "what was got");
    }
    const store::Manifest& m = pair.newest;
    image_.highest.insert(m.highest.begin(), m.highest.end());
    for (const auto& [xid, outcome] : m.heuristics) image_.heuristics[xid] = outcome;
    for (const store::ManifestFile& f : m.files) MS_TRY(read_spill(f, m));
    store::SegmentFiles segments(disk_, options_);
    const std::vector<store::SegmentFile> files = MS_TRY(segments.open_all());
    return store::walk_journal(
        disk_, files, pair.has_any ? m.start.at.segment : 0,
        [&](const store::WalkedBlock& block) {
          if (progress_) progress_("journal blocks read:", ++blocks_);
          if (!pair.has_any || block.header.sequence >= m.start.sequence) apply_block(block);
          return Status();
        },
        [&](const std::string& file, uint64_t offset, std::string what, std::string_view damaged) {
          report.lost.push_back(
              {file, offset, std::move(what), store::queues_in_frames(damaged), true});
          chunks_.clear();
        });
  }

  Status write(const StoreEnvironment& to, const StoreOptions& options) {
    SalvageWriter writer;
    std::unique_ptr<JournalStore> target = MS_TRY(JournalStore::open(options, to, writer, writer));
    for (const auto& [key, value] : image_.records) {
      RedoUnit unit;
      unit.records.push_back({key.first, key.second, value, false});
      writer.append(*target, unit);
      ++report.records;
    }
    for (const auto& [queue, messages] : image_.queues) {
      for (const auto& [sequence, message] : messages) {
        const StoredMessage& body = image_.bodies.at(message.location.at);
        RedoUnit unit;
        unit.puts.push_back({queue, message.index, body.header, body.body});
        writer.append(*target, unit);
        ++report.messages;
        if (progress_) progress_("messages copied:", report.messages);
      }
    }
    for (const auto& [queue, highest] : image_.highest) {
      if (highest == 0 || image_.queues.contains(queue)) continue;  // its messages say it
      RedoUnit unit;
      unit.clears.push_back({queue, highest, false});
      writer.append(*target, unit);
    }
    for (const auto& [xid, entry] : image_.prepared) {
      OwnedUnit unit = entry.unit;
      for (size_t i = 0; i < entry.puts.size(); ++i) {
        const StoredMessage& body = image_.bodies.at(entry.puts[i].at);
        unit.unit().puts[i].header = body.header;
        unit.unit().puts[i].body = body.body;
      }
      for (RedoGet& get : unit.unit().gets)
        get.location = {};  // found by sequence at the next start
      for (RedoBackout& backout : unit.unit().backouts) backout.location = {};
      writer.append(*target, unit.unit());
      ++report.prepared;
    }
    for (const auto& [xid, outcome] : image_.heuristics) {
      RedoUnit unit;
      unit.kind = RedoKind::kHeuristic;
      unit.xid = xid;
      unit.outcome = outcome;
      writer.append(*target, unit);
    }
    return target->close();
  }

  SalvageReport report;

 private:
  void lose(const std::string& file, uint64_t offset, std::string what,
            std::vector<QueueId> queues = {}) {
    report.lost.push_back({file, offset, std::move(what), std::move(queues), true});
  }

  void add_message(const store::PutView& put) {
    const QueueId queue = put.head.queue;
    auto& messages = image_.queues[queue];
    if (messages.contains(put.head.sequence)) return;
    const Location location{++image_.last_location};
    image_.bodies[location.at] = {std::string(put.header), std::string(put.body)};
    messages[put.head.sequence] = {put.head.index(), location};
    Sequence& top = image_.highest[queue];
    top = std::max(top, put.head.sequence);
  }

  Status read_spill(const store::ManifestFile& f, const store::Manifest& m) {
    const std::string name = store::spill_file_name(f.number);
    Result<std::unique_ptr<io::DiskFile>> opened = disk_.open(name);
    if (!opened.ok()) {
      lose(name, 0, "the file is missing");
      return {};
    }
    const std::shared_ptr<io::DiskFile> file = std::move(opened).take_value();
    const uint64_t bytes = std::min(MS_TRY(file->size()), f.used_bytes) / kPageBytes * kPageBytes;
    if (bytes < f.used_bytes) lose(name, bytes, "the file is shorter than it was");
    io::AlignedBuffer whole(bytes);
    if (bytes > 0) MS_TRY(file->read(0, whole.data(), bytes));
    // Entries in the order of their slots; behind a damaged block the slots are not known.
    uint64_t slot = 0;
    bool knows_slots = true;
    for (uint64_t at = kPageBytes; at + kPageBytes <= bytes;) {
      store::BlockHeader header;
      const bool is_index = store::has_block_header(whole.data() + at, store::kIndexMagic, &header);
      const store::BlockState state =
          store::check_block(whole.data() + at, bytes - at,
                             is_index ? store::kIndexMagic : store::kSpillMagic, &header);
      if (state != store::BlockState::kValid || header.incarnation != f.incarnation) {
        if (knows_slots && !is_index) lose(name, at, "a block is damaged");
        const bool has_header = state == store::BlockState::kTornPayload;
        if (!is_index && has_header) slot += header.frames;
        if (!is_index && !has_header) knows_slots = false;
        at += has_header ? store::pad_page(sizeof header + uint64_t{header.payload_bytes})
                         : kPageBytes;
        continue;
      }
      if (!is_index) read_block(f, m, name, at, header, whole, &slot, knows_slots);
      at += store::pad_page(sizeof header + uint64_t{header.payload_bytes});
    }
    return {};
  }

  void read_block(const store::ManifestFile& f, const store::Manifest& m, const std::string& name,
                  uint64_t block_at, const store::BlockHeader& header,
                  const io::AlignedBuffer& whole, uint64_t* slot, bool knows_slots) {
    const std::string_view payload(whole.data() + block_at + sizeof header, header.payload_bytes);
    uint64_t at = 0;
    for (uint32_t i = 0; i < header.frames; ++i, ++*slot) {
      const bool is_live =
          !knows_slots || (*slot / 64 < f.bits.size() && (f.bits[*slot / 64] >> (*slot % 64) & 1));
      uint64_t bytes = 0;
      store::PutView put;
      store::RecordView record;
      if (f.kind == store::SpillKind::kMessages) {
        if (!store::read_put(payload, at, &put, &bytes)) return;
        if (is_live && !is_cleared(m, put.head)) {
          const auto count = m.backouts.find({put.head.queue, put.head.sequence});
          if (count != m.backouts.end()) put.head.backout_count = count->second;
          add_message(put);
          if (!knows_slots) doubt(name, block_at + at, {put.head.queue});
        }
      } else {
        if (!store::read_record(payload, at, &record, &bytes)) return;
        if (is_live) {
          image_.records[{record.head.kind, std::string(record.key)}] = record.value;
          if (!knows_slots) doubt(name, block_at + at, {});
        }
      }
      at += bytes;
    }
  }

  static bool is_cleared(const store::Manifest& m, const store::PutHead& head) {
    const auto mark = m.cleared.find(head.queue);
    return mark != m.cleared.end() &&
           (mark->second.is_deleted || head.sequence <= mark->second.upto);
  }

  void doubt(const std::string& file, uint64_t offset, std::vector<QueueId> queues) {
    report.uncertain.push_back(
        {file, offset, "kept, though it may have been got or replaced", std::move(queues), false});
  }

  void apply_block(const store::WalkedBlock& block) {
    uint64_t at = 0;
    for (uint32_t i = 0; i < block.header.frames; ++i) {
      store::FrameHeader frame;
      if (block.payload.size() - at < sizeof frame) return;
      std::memcpy(&frame, block.payload.data() + at, sizeof frame);
      if (frame.bytes < sizeof frame || frame.bytes > block.payload.size() - at) return;
      const std::string_view bytes = block.payload.substr(at, frame.bytes);
      at += frame.bytes;
      switch (static_cast<store::FrameType>(frame.type & 0x3f)) {
        case store::FrameType::kUnit:
          apply_unit(bytes, block);
          break;
        case store::FrameType::kChunk:
          if (frame.puts == 0) chunks_.clear();
          if (frame.gets <= bytes.size() - sizeof frame) {
            chunks_.append(bytes.substr(sizeof frame, frame.gets));
          }
          break;
        case store::FrameType::kChunkedUnit:
          if (!chunks_.empty()) apply_unit(std::exchange(chunks_, {}), block);
          break;
        case store::FrameType::kEpoch:
          chunks_.clear();
          break;
      }
    }
  }

  void apply_unit(std::string_view image, const store::WalkedBlock& block) {
    store::UnitView view;
    const uint64_t offset = uint64_t{block.at.page} * kPageBytes;
    if (!view.parse(image)) return lose(block.file, offset, "a unit of work cannot be read");
    RedoUnit unit = view.to_unit();
    const bool is_outcome =
        unit.kind == RedoKind::kCommitPrepared || unit.kind == RedoKind::kRollbackPrepared;
    const auto prepared = image_.prepared.find(unit.xid);
    if (is_outcome && prepared == image_.prepared.end()) return;  // before the journal that is left
    if (is_outcome && unit.kind == RedoKind::kCommitPrepared &&
        unit.prepared_sequences.size() != prepared->second.puts.size()) {
      return lose(block.file, offset, "an outcome does not fit its prepare");
    }
    if (unit.kind == RedoKind::kPrepare && prepared != image_.prepared.end()) return;  // again
    if (unit.kind == RedoKind::kCommit) {
      std::erase_if(unit.puts, [&](const RedoPut& put) {
        const auto queue = image_.queues.find(put.queue);
        return put.index.sequence == 0 ||
               (queue != image_.queues.end() && queue->second.contains(put.index.sequence));
      });
    }
    image_.apply(unit);
  }

  io::Disk& disk_;
  const StoreOptions& options_;
  const InspectProgress& progress_;
  uint64_t blocks_ = 0;
  MemoryImage image_;
  std::string chunks_;
};

}  // namespace

Result<SalvageReport> salvage_store(io::Disk& source, const StoreEnvironment& target,
                                    const StoreOptions& options, const InspectProgress& progress) {
  MS_ASSERT(&source != &target.disk);
  Salvage salvage(source, options, progress);
  MS_TRY(salvage.read());
  MS_TRY(salvage.write(target, options));
  return std::move(salvage.report);
}

}  // namespace millstream::queue
