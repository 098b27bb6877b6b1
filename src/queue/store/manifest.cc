#include "queue/store/manifest.h"

#include <algorithm>
#include <cstring>

#include "base/assert.h"
#include "io/aligned_buffer.h"
#include "queue/store/bytes.h"
#include "queue/store/errors_gen.h"

namespace millstream::queue::store {
namespace {

constexpr uint64_t kManifestWriteBytes = 1 << 20;

struct ManifestHead {
  uint64_t generation = 0;
  uint64_t key = 0;
  uint64_t start = 0, start_sequence = 0;
  uint64_t covered = 0, covered_sequence = 0;
  uint64_t floor = 0, floor_sequence = 0;
  uint32_t epoch = 0;
  uint32_t last_spill_number = 0;
};
static_assert(sizeof(ManifestHead) == 72);

struct FileRow {
  uint32_t number = 0, kind = 0;
  uint64_t incarnation = 0, used_bytes = 0, data_bytes = 0, live_bytes = 0;
  uint32_t slots = 0, reserved = 0;
};

struct CountRow {
  uint32_t queue = 0, count = 0;
  uint64_t sequence = 0;
};

struct ClearRow {
  uint32_t queue = 0, is_deleted = 0;
  uint64_t upto = 0, at = 0;
};

}  // namespace

std::string encode_manifest(const Manifest& m) {
  ByteWriter w;
  w.value(ManifestHead{m.generation, m.key, m.start.at.packed(), m.start.sequence,
                       m.covered.at.packed(), m.covered.sequence, m.floor.at.packed(),
                       m.floor.sequence, m.epoch, m.last_spill_number});
  w.value(static_cast<uint64_t>(m.files.size()));
  for (const ManifestFile& f : m.files) {
    w.value(FileRow{f.number, static_cast<uint32_t>(f.kind), f.incarnation, f.used_bytes,
                    f.data_bytes, f.live_bytes, f.slots, 0});
    w.array(f.sections.data(), f.sections.size());
    w.array(f.bits.data(), f.bits.size());
  }
  w.value(static_cast<uint64_t>(m.highest.size()));
  for (const auto& [queue, sequence] : m.highest) w.value(CountRow{queue, 0, sequence});
  w.value(static_cast<uint64_t>(m.backouts.size()));
  for (const auto& [key, count] : m.backouts) w.value(CountRow{key.queue, count, key.sequence});
  w.value(static_cast<uint64_t>(m.cleared.size()));
  for (const auto& [queue, mark] : m.cleared) {
    w.value(ClearRow{queue, mark.is_deleted, mark.upto, mark.at.packed()});
  }
  w.value(static_cast<uint64_t>(m.heuristics.size()));
  for (const auto& [xid, outcome] : m.heuristics) {
    w.text(xid);
    w.value(outcome);
  }
  w.value(static_cast<uint64_t>(m.late_erases.size()));
  for (const LateErase& late : m.late_erases) {
    w.value(late.settled_at.packed());
    w.value(late.prepared_at.packed());
    w.text(late.xid);
    w.value(static_cast<uint64_t>(late.keys.size()));
    for (const std::string& key : late.keys) w.text(key);
  }
  return w.take();
}

bool decode_manifest(std::string_view payload, Manifest* m) {
  ByteReader r(payload);
  const auto head = r.value<ManifestHead>();
  m->generation = head.generation;
  m->key = head.key;
  m->epoch = head.epoch;
  m->start = {Position::unpack(head.start), head.start_sequence};
  m->covered = {Position::unpack(head.covered), head.covered_sequence};
  m->floor = {Position::unpack(head.floor), head.floor_sequence};
  m->last_spill_number = head.last_spill_number;
  for (uint64_t n = r.count(sizeof(FileRow)); n > 0 && r.ok(); --n) {
    ManifestFile& f = m->files.emplace_back();
    const auto row = r.value<FileRow>();
    f.number = row.number;
    f.kind = static_cast<SpillKind>(row.kind);
    f.incarnation = row.incarnation;
    f.used_bytes = row.used_bytes;
    f.data_bytes = row.data_bytes;
    f.live_bytes = row.live_bytes;
    f.slots = row.slots;
    if (row.kind != 1 && row.kind != 2) return false;
    f.sections.resize(r.count(sizeof(SpillSection)));
    r.array(f.sections.data(), f.sections.size());
    f.bits.resize(r.count(8));
    r.array(f.bits.data(), f.bits.size());
    if (f.bits.size() != (uint64_t{f.slots} + 63) / 64) return false;
  }
  for (uint64_t n = r.count(sizeof(CountRow)); n > 0; --n) {
    const auto row = r.value<CountRow>();
    m->highest[row.queue] = row.sequence;
  }
  for (uint64_t n = r.count(sizeof(CountRow)); n > 0; --n) {
    const auto row = r.value<CountRow>();
    m->backouts[{row.queue, row.sequence}] = row.count;
  }
  for (uint64_t n = r.count(sizeof(ClearRow)); n > 0; --n) {
    const auto row = r.value<ClearRow>();
    m->cleared[row.queue] = {row.upto, row.is_deleted != 0, Position::unpack(row.at)};
  }
  for (uint64_t n = r.count(5); n > 0 && r.ok(); --n) {
    std::string xid = r.text();
    m->heuristics[std::move(xid)] = r.value<uint8_t>();
  }
  for (uint64_t n = r.count(28); n > 0 && r.ok(); --n) {
    LateErase& late = m->late_erases.emplace_back();
    late.settled_at = Position::unpack(r.value<uint64_t>());
    late.prepared_at = Position::unpack(r.value<uint64_t>());
    late.xid = r.text();
    for (uint64_t keys = r.count(4); keys > 0 && r.ok(); --keys) {
      late.keys.push_back(r.text());
      if (late.keys.back().empty()) return false;
    }
  }
  return r.ok() && r.at_end() && m->generation > 0 && m->start.at <= m->covered.at;
}

const char* manifest_name(int slot) { return slot == 0 ? "checkpoint/A" : "checkpoint/B"; }

namespace {

// True: a valid one. False with `damaged_bytes` set when there is something else than zeros.
Result<bool> read_slot(io::Disk& disk, int slot, Manifest* manifest, uint64_t* damaged_bytes) {
  auto file = MS_TRY(disk.open(manifest_name(slot)));
  const uint64_t size = MS_TRY(file->size()) / kPageBytes * kPageBytes;
  if (size == 0) return false;
  if (size > kManifestBytesMax + kPageBytes) {
    return base::make_error(errors::kStoreCorrupt, {manifest_name(slot), 0, "it is too large"});
  }
  io::AlignedBuffer page(kPageBytes);
  MS_TRY(file->read(0, page.data(), kPageBytes));
  BlockHeader header;
  uint64_t bytes = kPageBytes;
  if (has_block_header(page.data(), kManifestMagic, &header)) {
    bytes = std::min(size, pad_page(sizeof header + uint64_t{header.payload_bytes}));
  }
  io::AlignedBuffer whole(bytes);
  MS_TRY(file->read(0, whole.data(), bytes));
  const BlockState state = check_block(whole.data(), bytes, kManifestMagic, &header);
  if (state == BlockState::kNewerVersion) {
    return base::make_error(errors::kStoreVersion,
                            {manifest_name(slot), header.version, kFormatVersion});
  }
  if (state == BlockState::kValid &&
      decode_manifest({whole.data() + sizeof header, header.payload_bytes}, manifest)) {
    return true;
  }
  *manifest = {};
  if (std::any_of(whole.data(), whole.data() + bytes, [](char c) { return c != '\0'; })) {
    *damaged_bytes = bytes;
  }
  return false;
}

}  // namespace

Result<ManifestPair> read_manifests(io::Disk& disk) {
  ManifestPair pair;
  const std::vector<std::string> names = MS_TRY(disk.list(kCheckpointFolder));
  Manifest read[2];
  bool is_valid[2] = {false, false};
  for (int slot = 0; slot < 2; ++slot) {
    const std::string name = slot == 0 ? "A" : "B";
    if (std::find(names.begin(), names.end(), name) == names.end()) continue;
    uint64_t damaged = 0;
    is_valid[slot] = MS_TRY(read_slot(disk, slot, &read[slot], &damaged));
    if (damaged > 0) {
      pair.damaged = manifest_name(slot);
      pair.damaged_bytes = damaged;
    }
  }
  if (!is_valid[0] && !is_valid[1]) return pair;
  pair.has_any = true;
  pair.slot = !is_valid[0] || (is_valid[1] && read[1].generation > read[0].generation);
  pair.has_other = is_valid[0] && is_valid[1];
  pair.newest = std::move(read[pair.slot]);
  if (pair.has_other) pair.other = std::move(read[1 - pair.slot]);
  return pair;
}

Status write_manifest(io::Disk& disk, int slot, const Manifest& manifest) {
  MS_ASSERT(manifest.generation > 0);
  MS_ASSERT(manifest.start.at <= manifest.covered.at);
  const std::string payload = encode_manifest(manifest);
  MS_CHECK(payload.size() <= kManifestBytesMax);
  io::AlignedBuffer block(pad_page(sizeof(BlockHeader) + payload.size()));
  std::memcpy(block.data() + sizeof(BlockHeader), payload.data(), payload.size());
  BlockHeader header;
  header.magic = kManifestMagic;
  header.sequence = manifest.generation;
  header.epoch = manifest.epoch;
  header.frames = 1;
  const size_t bytes = seal_block(block.data(), header, payload.size());
  const std::string name = manifest_name(slot);
  const std::vector<std::string> names = MS_TRY(disk.list(kCheckpointFolder));
  std::unique_ptr<io::DiskFile> file;
  if (std::find(names.begin(), names.end(), slot == 0 ? "A" : "B") == names.end()) {
    file = MS_TRY(disk.create(name, bytes));
#ifndef MS_SABOTAGE_SKIPPED_DIRECTORY_SYNC
    MS_TRY(disk.sync_folder(kCheckpointFolder));
#endif
  } else {
    file = MS_TRY(disk.open(name));
  }
  if (MS_TRY(file->size()) < bytes) MS_TRY(file->extend(bytes));
  for (size_t at = 0; at < bytes; at += kManifestWriteBytes) {
    const size_t part = std::min<size_t>(kManifestWriteBytes, bytes - at);
    MS_TRY(file->write_later(at, block.data() + at, part));
  }
#ifdef MS_SABOTAGE_SKIPPED_FLUSH
  return {};
#else
  return file->sync();
#endif
}

}  // namespace millstream::queue::store
