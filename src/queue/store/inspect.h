// For a stopped data directory: verify reads every file and every checksum and says what is damaged
// where, dump writes what the files say as text, salvage copies what can be read into a new store
// and lists what is lost. None of them changes the directory that it looks at. Thread: one; they
// block.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "queue/store/journal_store.h"

namespace millstream::queue {

struct StoreFinding {
  std::string file;
  uint64_t offset = 0;
  std::string what;
  std::vector<QueueId> queues;  // affected, as far as the damaged place still says
  bool is_damage = true;        // false: worth knowing, such as a torn tail that was cut
  std::string describe() const;
};

struct StoreInspection {
  uint64_t journal_blocks = 0, journal_frames = 0;
  uint64_t spill_files = 0, spill_messages = 0, spill_records = 0;
  uint64_t generation = 0;
  std::vector<StoreFinding> findings;
  bool is_damaged() const;
};

// Of long work: how much of what was done so far. Called often; it decides what to show. May be
// empty.
using InspectProgress = std::function<void(std::string_view what, uint64_t done)>;

// Errors of the disk itself are the Result's; damage is a finding.
Result<StoreInspection> verify_store(io::Disk& disk, const StoreOptions& options = {},
                                     const InspectProgress& progress = {});

// One line at a time, without its end.
using DumpSink = std::function<void(std::string_view line)>;
Result<StoreInspection> dump_store(io::Disk& disk, const DumpSink& sink,
                                   const StoreOptions& options = {});

struct SalvageReport {
  uint64_t messages = 0, records = 0, prepared = 0;
  std::vector<StoreFinding> lost;       // what could not be read
  std::vector<StoreFinding> uncertain;  // copied, but possibly got or replaced before
};
// `target` is an empty directory.
Result<SalvageReport> salvage_store(io::Disk& source, const StoreEnvironment& target,
                                    const StoreOptions& options = {},
                                    const InspectProgress& progress = {});

}  // namespace millstream::queue
