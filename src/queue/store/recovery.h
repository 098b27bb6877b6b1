// A start: the newest manifest, the journal behind it, the listing of spilled messages; then the
// RecoveryHandler is told everything alive. Bodies are not read. Nothing on the disk is changed
// here, so that a refusal leaves everything as it was, and a crash during a start costs nothing.
// Thread: one, before the workers start.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "queue/store/journal_reader.h"
#include "queue/store/shared.h"

namespace millstream::queue::store {

struct RecoveryReport {
  bool is_new = false;
  uint64_t generation = 0;
  uint32_t epoch = 0;  // the new one
  uint64_t blocks = 0, bytes = 0, units = 0, messages = 0, records = 0, prepared = 0;
  uint64_t spill_files = 0;
  int64_t elapsed_ns = 0;
  std::vector<CutTail> tails;
  std::string damaged_manifest;
};

struct Recovered {
  Manifest manifest;  // the newest; empty in a new store
  int manifest_slot = 1;
  JournalPoint other_start;  // of the other slot's, or the newest's
  JournalEnd end;
  RecoveryReport report;
  std::vector<ManifestFile> other_files;  // of the other slot's manifest
};

// Fills shared.state and shared.segments and tells `handler`.
Result<Recovered> recover_store(StoreShared& shared, RecoveryHandler& handler);

}  // namespace millstream::queue::store
