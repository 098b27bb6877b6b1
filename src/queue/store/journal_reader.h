// Reads the journal's blocks in order and tells the end of the log from damage. Only one write is
// in flight at any time, so a crash can tear the last block alone; whatever is invalid before a
// valid block is damage, unless the next epoch's first block names that very place as its
// predecessor's end (then it is the torn tail of an earlier crash, known since). Thread: one.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "io/aligned_buffer.h"
#include "io/disk.h"
#include "queue/store/format.h"
#include "queue/store/manifest.h"
#include "queue/store/segment_files.h"

namespace millstream::queue::store {

struct CutTail {
  std::string file;
  uint64_t offset = 0;
  uint64_t bytes = 0;  // as far as the torn header says
  uint64_t sequence = 0;
};

struct JournalEnd {
  Position at;  // page after the last block
  uint64_t next_sequence = 1;
  uint32_t epoch = 0;            // the highest seen
  uint32_t highest_segment = 0;  // that any header names
  uint64_t blocks = 0;
  uint64_t bytes = 0;
  std::vector<CutTail> tails;  // of this and of earlier crashes
};

class BlockVisitor {
 public:
  virtual ~BlockVisitor() = default;
  virtual Status block(const BlockHeader& header, Position at, const std::string& file,
                       std::string_view payload) = 0;
};

class JournalReader {
 public:
  // `block_bytes_max` of the writer bounds how far a first block reaches.
  JournalReader(std::vector<SegmentFile> files, uint64_t block_bytes_max, uint64_t key)
      : block_bytes_max_(block_bytes_max), key_(key) {
    for (SegmentFile& file : files) files_.push_back({std::move(file), {}, false});
  }

  // Looks at the first page of every file.
  Status index();
  // Sorted by segment; more than the replay needs.
  const std::map<uint32_t, size_t>& segments() const { return segments_; }
  SegmentFile& file(size_t i) { return files_[i].file; }
  size_t files() const { return files_.size(); }
  uint32_t lowest_segment() const { return segments_.empty() ? 0 : segments_.begin()->first; }
  uint64_t first_sequence(uint32_t segment) const;
  // From `start` to the end of the log. kStoreCorrupt names file and offset.
  Result<JournalEnd> replay(JournalPoint start, BlockVisitor& visitor);

 private:
  struct Scanned {
    SegmentFile file;
    BlockHeader first;
    bool has_header = false;  // of page 0; its payload may be torn
  };
  struct Cursor {
    JournalEnd end;
    uint32_t epoch = 0;
  };
  Status read_segment(const Scanned& scanned, Cursor* cursor, BlockVisitor& visitor);
  Status note_tail(const Scanned& scanned, Cursor* cursor, uint64_t* torn_pages);
  Status refuse_later_blocks(const Scanned& scanned, uint64_t from, uint64_t to,
                             uint64_t sequence_min, const Cursor& cursor);
  Result<const Scanned*> next_segment(Cursor* cursor);
  Result<bool> continues(const Scanned& scanned, Cursor* cursor, bool* is_torn);
  Status check_spares(Cursor* cursor);
  Status read_window(const Scanned& scanned, uint64_t offset, uint64_t bytes);
  Status corrupt(const Scanned& scanned, uint64_t offset, std::string what) const;
  const char* window_at(uint64_t offset) const { return window_.data() + (offset - window_from_); }

  std::vector<Scanned> files_;
  std::map<uint32_t, size_t> segments_;
  uint64_t block_bytes_max_;
  uint64_t key_;
  io::AlignedBuffer window_;
  uint64_t window_from_ = 0, window_to_ = 0;
  const Scanned* window_of_ = nullptr;
};

}  // namespace millstream::queue::store
