// All blocks of the journal's files that can be read, in order, whatever is between them: for
// looking at a damaged store. A start never uses this. Thread: one.
#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "queue/store/format.h"
#include "queue/store/segment_files.h"

namespace millstream::queue::store {

struct WalkedBlock {
  BlockHeader header;
  Position at;
  std::string file;
  std::string_view payload;  // until the visitor returns
};

// Blocks from `segment_min` on, by segment and page. `gap` is told of pages that should be a block
// of the segment (valid header, damaged payload) and of jumps in the sequence.
Status walk_journal(io::Disk& disk, const std::vector<SegmentFile>& files, uint32_t segment_min,
                    const std::function<Status(const WalkedBlock&)>& visit,
                    const std::function<void(const std::string& file, uint64_t offset,
                                             std::string what, std::string_view damaged)>& gap);

// The queues that frames name, as far as they can be parsed; for damaged payloads, too.
std::vector<QueueId> queues_in_frames(std::string_view payload);

}  // namespace millstream::queue::store
