// Any bytes where the queue store reads its files, behind checksums that hold: what a program that
// went wrong, or somebody with a hex editor, could leave. The first byte chooses the reader.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>

#include "base/sim_executor.h"
#include "io/sim_disk.h"
#include "queue/store/inspect.h"
#include "queue/store/journal_store.h"
#include "queue/store/manifest.h"
#include "queue/store/spill_reader.h"
#include "queue/store/unit_codec.h"

namespace {

using namespace millstream;
using namespace millstream::queue;

constexpr uint64_t kFuzzKey = 7;

class FuzzHandler final : public RecoveryHandler, public StoreListener {
 public:
  Status record(uint8_t, std::string_view, std::string_view) override { return {}; }
  Status message(QueueId, const IndexEntry&, Location) override { return {}; }
  Status sequence(QueueId, Sequence) override { return {}; }
  Status prepared(const RedoUnit&, std::span<const Location>) override { return {}; }
  Status heuristic(std::string_view, uint8_t) override { return {}; }
  bool moved(QueueId, Sequence, Location, Location) override { return true; }
  void failed(const base::Error&) override {}
  void space_changed(bool) override {}
};

StoreOptions fuzz_options() {
  StoreOptions o;
  o.segment_bytes = o.first_segment_bytes = 64 << 10;
  o.segments_spare = 1;
  o.block_bytes_max = 16 << 10;
  o.chunk_bytes = 4 << 10;
  o.spill_file_bytes = 64 << 10;
  o.disk_reserve_bytes = 0;
  return o;
}

std::string sealed(store::BlockHeader header, std::string_view payload) {
  std::string block(store::pad_page(sizeof header + payload.size()), '\0');
  if (!payload.empty()) std::memcpy(block.data() + sizeof header, payload.data(), payload.size());
  store::seal_block(block.data(), header, payload.size());
  return block;
}

// Pieces with two bytes of length before each become the payloads of blocks.
std::string blocks_of(std::string_view data, store::BlockHeader header) {
  std::string file;
  while (data.size() > 3 && file.size() < (48 << 10)) {
    const size_t n = std::min<size_t>(
        (static_cast<uint8_t>(data[0]) | static_cast<uint8_t>(data[1]) << 8) % 8000,
        data.size() - 3);
    header.frames = static_cast<uint8_t>(data[2]);
    file += sealed(header, data.substr(3, n));
    ++header.sequence;
    data.remove_prefix(3 + n);
  }
  return file;
}

void open_with(const store::Manifest& manifest, std::string journal, std::string spill) {
  io::SimDisk disk(1);
  journal.resize(64 << 10, '\0');
  store::BlockHeader header;
  header.magic = store::kManifestMagic;
  header.frames = 1;
  disk.set_content("checkpoint/A", sealed(header, store::encode_manifest(manifest)));
  disk.set_content("journal/00000001.seg", std::move(journal));
  if (!spill.empty()) disk.set_content("spill/00000001.spl", std::move(spill));
  static_cast<void>(verify_store(disk, fuzz_options()));
  base::SimScheduler sim(1);
  base::SimWorkerFactory workers(sim);
  FuzzHandler handler;
  auto opened = JournalStore::open(fuzz_options(), {disk, sim.clock(), sim.random(), workers},
                                   handler, handler);
  if (!opened.ok()) return;
  opened.value()->checkpoint();
  sim.run(2000);
}

store::Manifest fuzz_manifest() {
  store::Manifest m;
  m.generation = 1;
  m.key = kFuzzKey;
  m.epoch = 1;
  m.start = m.covered = m.floor = {{1, 0}, 1};
  return m;
}

store::BlockHeader fuzz_header(uint32_t magic) {
  store::BlockHeader header;
  header.magic = magic;
  header.incarnation = store::make_incarnation(99, kFuzzKey);
  header.sequence = 1;
  header.epoch = 1;
  header.segment = 1;
  return header;
}

void fuzz_spill(std::string_view data, store::SpillKind kind) {
  store::BlockHeader header = fuzz_header(store::kSpillMagic);
  header.kind = static_cast<uint16_t>(kind);
  header.frames = 0;
  std::string spill = sealed(header, {});
  const bool is_index = kind == store::SpillKind::kMessages;
  spill += blocks_of(data, fuzz_header(is_index ? store::kIndexMagic : store::kSpillMagic));
  store::Manifest m = fuzz_manifest();
  store::ManifestFile f;
  f.number = 1;
  f.kind = kind;
  f.incarnation = header.incarnation;
  f.used_bytes = spill.size();
  f.slots = 16;
  f.bits = {0xffff};
  f.sections = {{4096, spill.size() - 4096, 16}};
  m.files.push_back(std::move(f));
  spill.resize(64 << 10, '\0');
  open_with(m, blocks_of(std::string_view("\0\0\0\0", 4), fuzz_header(store::kJournalMagic)),
            std::move(spill));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  if (size < 2) return 0;
  const std::string data(reinterpret_cast<const char*>(bytes + 1), size - 1);
  switch (bytes[0] % 5) {
    case 0: {
      store::Manifest m;
      if (store::decode_manifest(data, &m)) static_cast<void>(store::encode_manifest(m));
      break;
    }
    case 1: {
      store::UnitView unit;
      if (unit.parse(data)) static_cast<void>(store::unit_image_bytes(unit.to_unit()));
      break;
    }
    case 2:
      open_with(fuzz_manifest(), blocks_of(data, fuzz_header(store::kJournalMagic)), {});
      break;
    case 3:
      fuzz_spill(data, store::SpillKind::kMessages);
      break;
    default:
      fuzz_spill(data, store::SpillKind::kRecords);
  }
  return 0;
}
