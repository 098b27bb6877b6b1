#include "queue/store/inspect.h"

#include <algorithm>
#include <cstring>
#include <set>
#include <utility>

#include "base/assert.h"
#include "io/disk.h"
#include "queue/store/errors_gen.h"
#include "queue/store/journal_reader.h"
#include "queue/store/journal_walk.h"
#include "queue/store/spill_reader.h"

namespace millstream::queue {
namespace {

using std::string_literals::operator""s;
using store::kPageBytes;

class NoHandler final : public store::BlockVisitor {
 public:
  Status block(const store::BlockHeader&, store::Position, const std::string&,
               std::string_view) override {
    return {};
  }
};

// Verification and dump are one walk; the dump has a sink.
class Inspector {
 public:
  Inspector(io::Disk& disk, const StoreOptions& options, const DumpSink* sink,
            const InspectProgress& progress)
      : disk_(disk), options_(options), sink_(sink), progress_(progress) {}

  Result<StoreInspection> run() {
    store::ManifestPair pair = MS_TRY(store::read_manifests(disk_));
    if (!pair.damaged.empty()) {
      note(pair.damaged, 0,
           pair.has_any ? "not a whole checkpoint; the other one counts"
                        : "no checkpoint can be read",
           {}, !pair.has_any);
    }
    if (!pair.has_any) {
      if (pair.damaged.empty()) note(store::kCheckpointFolder, 0, "there is no checkpoint", {});
    } else {
      out_.generation = pair.newest.generation;
      line(store::manifest_name(pair.slot) + " generation "s +
           std::to_string(pair.newest.generation) + ", replay from " + place(pair.newest.start) +
           ", covers up to " + place(pair.newest.covered));
    }
    MS_TRY(inspect_journal(pair));
    std::set<uint32_t> seen;
    for (const store::Manifest* m : {&pair.newest, &pair.other}) {
      for (const store::ManifestFile& f : m->files) {
        if (seen.insert(f.number).second) MS_TRY(inspect_spill(f));
      }
    }
    return std::move(out_);
  }

 private:
  static std::string place(const store::JournalPoint& p) {
    return "segment " + std::to_string(p.at.segment) + " page " + std::to_string(p.at.page) +
           " block " + std::to_string(p.sequence);
  }
  void line(const std::string& text) {
    if (sink_) (*sink_)(text);
  }
  void note(const std::string& file, uint64_t offset, std::string what, std::vector<QueueId> queues,
            bool is_damage = true) {
    for (const StoreFinding& f : out_.findings) {
      if (f.file == file && f.offset == offset && f.is_damage == is_damage) return;
    }
    out_.findings.push_back({file, offset, std::move(what), std::move(queues), is_damage});
    line(out_.findings.back().describe());
  }

  Status inspect_journal(const store::ManifestPair& pair) {
    store::SegmentFiles segments(disk_, options_);
    std::vector<store::SegmentFile> files = MS_TRY(segments.open_all());
    const uint32_t lowest = pair.has_any ? pair.newest.start.at.segment : 0;
    MS_TRY(store::walk_journal(
        disk_, files, lowest,
        [&](const store::WalkedBlock& block) {
          inspect_block(block);
          return Status();
        },
        [&](const std::string& file, uint64_t offset, std::string what, std::string_view damaged) {
          if (!damaged.empty())
            torn_.push_back({file, offset, what, store::queues_in_frames(damaged)});
        }));
    if (!pair.has_any) return {};
    // What a start would say: it knows a torn tail from damage.
    store::JournalReader reader(files, options_.block_bytes_max, pair.newest.key);
    NoHandler none;
    Status status = reader.index();
    if (status.ok()) {
      Result<store::JournalEnd> end = reader.replay(pair.newest.start, none);
      if (end.ok()) {
        for (const store::CutTail& tail : end.value().tails) {
          note(tail.file, tail.offset,
               "the torn block " + std::to_string(tail.sequence) + " was never acknowledged", {},
               false);
        }
        if (end.value().at < pair.newest.covered.at) {
          note(store::kJournalFolder, 0, "the journal ends before the place the checkpoint covers",
               {});
        }
        return {};
      }
      status = std::move(end).take_status();
    }
    const base::Error& error = status.error();
    if (error.code != &store::errors::kStoreCorrupt || error.inserts.size() < 3) return status;
    std::vector<QueueId> queues;
    const uint64_t offset = std::strtoull(error.inserts[1].text.c_str(), nullptr, 10);
    for (const StoreFinding& f : torn_) {
      if (f.file == error.inserts[0].text && f.offset == offset) queues = f.queues;
    }
    note(error.inserts[0].text, offset, error.inserts[2].text, std::move(queues));
    return {};
  }

  void inspect_block(const store::WalkedBlock& block) {
    ++out_.journal_blocks;
    if (progress_) progress_("journal blocks read:", out_.journal_blocks);
    const uint64_t base = uint64_t{block.at.page} * kPageBytes + sizeof(store::BlockHeader);
    line(block.file + " page " + std::to_string(block.at.page) + " block " +
         std::to_string(block.header.sequence) + " epoch " + std::to_string(block.header.epoch) +
         " frames " + std::to_string(block.header.frames) + " bytes " +
         std::to_string(block.payload.size()));
    uint64_t at = 0;
    for (uint32_t i = 0; i < block.header.frames; ++i) {
      store::FrameHeader frame;
      if (block.payload.size() - at < sizeof frame) break;
      std::memcpy(&frame, block.payload.data() + at, sizeof frame);
      if (frame.bytes < sizeof frame || frame.bytes > block.payload.size() - at) {
        note(block.file, base + at, "the length of a frame is impossible", {});
        return;
      }
      ++out_.journal_frames;
      inspect_frame(frame, block.payload.substr(at, frame.bytes), block.file, base + at);
      at += frame.bytes;
    }
  }

  void inspect_frame(const store::FrameHeader& frame, std::string_view bytes,
                     const std::string& file, uint64_t offset) {
    static const char* const kKinds[] = {"commit",   "prepare",   "commit prepared",
                                         "rollback", "heuristic", "forget"};
    const auto type = static_cast<store::FrameType>(frame.type & 0x3f);
    if (type == store::FrameType::kChunk) {
      line("  chunk " + std::to_string(frame.puts) + " of " + std::to_string(frame.gets) +
           " bytes");
      return;
    }
    if (type == store::FrameType::kChunkedUnit) return line("  end of a unit of chunks");
    if (type == store::FrameType::kEpoch) return line("  epoch");
    store::UnitView unit;
    if (type != store::FrameType::kUnit || !unit.parse(bytes)) {
      return note(file, offset, "a frame cannot be read", {});
    }
    if (sink_) line("  "s + kKinds[frame.kind]);
    unit.for_puts([&](const store::PutView& p) {
      if (store::crc_differs(store::put_crc(p.head, p.header, p.body), p.head.crc)) {
        note(file, offset + p.offset, "the checksum of a message is wrong", {p.head.queue});
      }
      if (sink_) {
        line("    put queue " + std::to_string(p.head.queue) + " sequence " +
             std::to_string(p.head.sequence) + " priority " + std::to_string(p.head.priority) +
             " header " + std::to_string(p.header.size()) + " body " +
             std::to_string(p.body.size()));
      }
    });
    if (!sink_) return;
    for (uint32_t i = 0; i < unit.gets(); ++i) {
      line("    get queue " + std::to_string(unit.get(i).queue) + " sequence " +
           std::to_string(unit.get(i).sequence));
    }
    for (uint32_t i = 0; i < unit.backouts(); ++i) {
      line("    backout queue " + std::to_string(unit.backout(i).queue) + " sequence " +
           std::to_string(unit.backout(i).sequence) + " count " +
           std::to_string(unit.backout(i).backout_count));
    }
    unit.for_records([&](const store::RecordView& r) {
      line("    record kind " + std::to_string(r.head.kind) + " key of " +
           std::to_string(r.key.size()) + " bytes" + (r.head.is_erased ? " erased" : ""));
    });
    for (uint32_t i = 0; i < unit.clears(); ++i) {
      line("    clear queue " + std::to_string(unit.clear(i).queue) + " up to " +
           std::to_string(unit.clear(i).upto) + (unit.clear(i).is_deleted ? ", deleted" : ""));
    }
  }

  Status inspect_spill(const store::ManifestFile& f) {
    const std::string name = store::spill_file_name(f.number);
    Result<std::unique_ptr<io::DiskFile>> opened = disk_.open(name);
    if (!opened.ok()) {
      note(name, 0, "the file is missing", {});
      return {};
    }
    ++out_.spill_files;
    std::shared_ptr<io::DiskFile> file = std::move(opened).take_value();
    if (MS_TRY(file->size()) < f.used_bytes) {
      note(name, MS_TRY(file->size()), "the file is shorter than the checkpoint says", {});
      return {};
    }
    line(name + " slots " + std::to_string(f.slots) + " sections " +
         std::to_string(f.sections.size()));
    keep(store::check_spill_header(*file, f.number, f.kind, f.incarnation));
    uint64_t at = kPageBytes;
    for (const store::SpillSection& section : f.sections) {
      const bool has_index = f.kind == store::SpillKind::kMessages;
      const uint64_t data_end =
          has_index ? section.index_offset : section.index_offset + section.index_bytes;
      inspect_data(f, store::SpillBlocks(file, store::kSpillMagic, f.incarnation, at, data_end));
      if (has_index) {
        store::SpillBlocks index(file, store::kIndexMagic, f.incarnation, section.index_offset,
                                 section.index_offset + section.index_bytes);
        std::string_view payload;
        uint64_t offset;
        uint32_t frames;
        for (;;) {
          Result<bool> more = index.next(&payload, &offset, &frames);
          if (!more.ok())
            keep(std::move(more).take_status());
          else if (more.value())
            continue;
          break;
        }
      }
      at = section.index_offset + section.index_bytes;
    }
    return {};
  }

  void inspect_data(const store::ManifestFile& f, store::SpillBlocks blocks) {
    std::string_view payload;
    uint64_t offset;
    uint32_t frames;
    for (;;) {
      Result<bool> more = blocks.next(&payload, &offset, &frames);
      if (!more.ok()) return keep(std::move(more).take_status());
      if (!more.value()) return;
      uint64_t at = 0;
      for (uint32_t i = 0; i < frames; ++i) {
        uint64_t bytes = 0;
        store::PutView put;
        store::RecordView record;
        const bool is_put = f.kind == store::SpillKind::kMessages;
        if (is_put ? !store::read_put(payload, at, &put, &bytes)
                   : !store::read_record(payload, at, &record, &bytes)) {
          return note(store::spill_file_name(f.number), offset + at, "an entry does not fit", {});
        }
        const bool differs =
            is_put
                ? store::crc_differs(store::put_crc(put.head, put.header, put.body), put.head.crc)
                : store::crc_differs(store::record_crc(record.head, record.key, record.value),
                                     record.head.crc);
        if (differs) {
          note(store::spill_file_name(f.number), offset + at, "the checksum of an entry is wrong",
               is_put ? std::vector<QueueId>{put.head.queue} : std::vector<QueueId>{});
        }
        ++(is_put ? out_.spill_messages : out_.spill_records);
        if (progress_) progress_("entries read:", out_.spill_messages + out_.spill_records);
        if (sink_ && is_put) {
          line("  message queue " + std::to_string(put.head.queue) + " sequence " +
               std::to_string(put.head.sequence) + " body " + std::to_string(put.body.size()));
        }
        at += bytes;
      }
    }
  }

  void keep(Status status) {
    if (status.ok()) return;
    const base::Error& e = status.error();
    if (e.inserts.size() < 3) return note(store::kSpillFolder, 0, e.text, {});
    note(e.inserts[0].text, std::strtoull(e.inserts[1].text.c_str(), nullptr, 10),
         e.inserts[2].text, {});
  }

  io::Disk& disk_;
  const StoreOptions& options_;
  const DumpSink* sink_;
  const InspectProgress& progress_;
  StoreInspection out_;
  std::vector<StoreFinding> torn_;
};

}  // namespace

std::string StoreFinding::describe() const {
  std::string text = file + " at offset " + std::to_string(offset) + ": " + what;
  for (size_t i = 0; i < queues.size(); ++i) {
    text += (i == 0 ? "; queues " : ", ") + std::to_string(queues[i]);
  }
  return text;
}

bool StoreInspection::is_damaged() const {
  return std::any_of(findings.begin(), findings.end(),
                     [](const StoreFinding& f) { return f.is_damage; });
}

Result<StoreInspection> verify_store(io::Disk& disk, const StoreOptions& options,
                                     const InspectProgress& progress) {
  return Inspector(disk, options, nullptr, progress).run();
}

Result<StoreInspection> dump_store(io::Disk& disk, const DumpSink& sink,
                                   const StoreOptions& options) {
  MS_ASSERT(sink);
  const InspectProgress none;
  return Inspector(disk, options, &sink, none).run();
}

}  // namespace millstream::queue
