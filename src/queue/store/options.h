// Sizes and rhythms of a store. The defaults are for servers; tests use small ones, so that every
// boundary is met often. Thread: constant once the store is open.
#pragma once
#include <cstddef>
#include <cstdint>

#include "base/result.h"

namespace millstream::queue {

struct StoreOptions {
  uint64_t segment_bytes = 64ull << 20;       // of a journal file
  uint64_t first_segment_bytes = 4ull << 20;  // made while a start waits for it
  uint32_t segments_spare = 4;                // kept ready
  uint64_t block_bytes_max = 1ull << 20;
  uint64_t chunk_bytes = 256ull << 10;  // units with a larger image are written in chunks
  uint64_t spill_file_bytes = 64ull << 20;
  uint64_t spill_block_bytes = 256ull << 10;
  uint64_t checkpoint_bytes = 256ull << 20;  // of journal since the last one
  int64_t checkpoint_interval_ns = 30'000'000'000;
  uint64_t journal_bytes_max = 2ull << 30;  // puts are refused from 3/4 of it
  // Puts are refused below. A checkpoint has to find room under it: no less than five segments.
  uint64_t disk_reserve_bytes = 384ull << 20;
  int64_t disk_look_ns = 5'000'000'000;  // others fill the disk, too: how often it is looked at
  int64_t cover_idle_ns = 20'000'000;  // then an empty block follows the last one
  uint32_t units_told_at_once = 16;    // by the log worker; a block of more is told aside
  uint32_t blocks_recent = 8;          // kept in memory for reads
  uint32_t spill_live_percent = 50;    // files below are rewritten
  uint64_t unit_bytes_max = 2ull << 30;
};

// Whether the sizes fit each other.
Status check_options(const StoreOptions& options);

}  // namespace millstream::queue
