// The checkpoint's snapshot: what is durable apart from the journal behind `start`. Two files, A
// and B, are written in turn, so that one of them is whole at any moment; the other one's journal
// and spill files are kept until it has been replaced, too.
//
// A replay begins at `start` and applies every unit again, also those before `covered` that the
// snapshot has already: applying is idempotent by queue and sequence, and nothing that `start`
// hides is needed. `floor` is where the next manifest's replay begins. Thread: one; writing is for
// the checkpoint worker.
#pragma once
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "io/disk.h"
#include "queue/store/state.h"

namespace millstream::queue::store {

inline constexpr const char* kCheckpointFolder = "checkpoint";
inline constexpr uint64_t kManifestBytesMax = 2ull << 30;

struct JournalPoint {
  Position at;
  uint64_t sequence = 0;  // of the block that begins there
};

struct ManifestFile {
  uint32_t number = 0;
  SpillKind kind = SpillKind::kMessages;
  uint64_t incarnation = 0;
  uint64_t used_bytes = 0;
  uint64_t data_bytes = 0;
  uint64_t live_bytes = 0;
  uint32_t slots = 0;
  std::vector<SpillSection> sections;
  std::vector<uint64_t> bits;
};

struct Manifest {
  uint64_t generation = 0;
  uint64_t key = 0;  // of the store, for incarnations
  uint32_t epoch = 0;
  JournalPoint start, covered, floor;
  uint32_t last_spill_number = 0;
  std::vector<ManifestFile> files;
  std::unordered_map<QueueId, Sequence> highest;
  std::map<std::string, uint8_t, std::less<>> heuristics;
  std::unordered_map<MessageKey, uint32_t, MessageKeyHash> backouts;
  std::unordered_map<QueueId, ClearMark> cleared;
  std::vector<LateErase> late_erases;
};

std::string encode_manifest(const Manifest& manifest);
// False: these are no manifest's bytes.
bool decode_manifest(std::string_view payload, Manifest* manifest);

struct ManifestPair {
  Manifest newest;
  bool has_any = false;
  int slot = 0;            // of the newest: 0 is A
  bool has_other = false;  // the other slot is valid, too
  Manifest other;
  std::string damaged;         // name of a slot with bytes that are no valid manifest
  uint64_t damaged_bytes = 0;  // that it has
};

const char* manifest_name(int slot);  // "checkpoint/A"
Result<ManifestPair> read_manifests(io::Disk& disk);
// Durable when it returns. kDiskFull: the slot is not valid any more, the other one is.
Status write_manifest(io::Disk& disk, int slot, const Manifest& manifest);

}  // namespace millstream::queue::store
