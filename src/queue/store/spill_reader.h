// Reads files of survivors: the listing of messages row by row in the order of queue and sequence,
// and records whole. Every block's checksum is verified.
// Thread: one a reader; the file is shared.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "io/aligned_buffer.h"
#include "io/disk.h"
#include "queue/store/tables.h"
#include "queue/store/unit_codec.h"

namespace millstream::queue::store {

inline constexpr const char* kSpillFolder = "spill";
std::string spill_file_name(uint32_t number);
// 0: it is no name of ours.
uint32_t spill_file_number(const std::string& name);

// Page 0 of the file: that it is the one the manifest means.
Status check_spill_header(io::DiskFile& file, uint32_t number, SpillKind kind,
                          uint64_t incarnation);

// Blocks one after another from `begin` to `end`; each is checked to belong to the file.
class SpillBlocks {
 public:
  SpillBlocks(std::shared_ptr<io::DiskFile> file, uint32_t magic, uint64_t incarnation,
              uint64_t begin, uint64_t end)
      : file_(std::move(file)), magic_(magic), incarnation_(incarnation), at_(begin), end_(end) {}
  // False: there is no more. The payload lives until the next call; `offset` is its place in the
  // file.
  Result<bool> next(std::string_view* payload, uint64_t* offset, uint32_t* frames);

 private:
  std::shared_ptr<io::DiskFile> file_;
  uint32_t magic_;
  uint64_t incarnation_;
  uint64_t at_, end_;
  io::AlignedBuffer block_;
};

class IndexCursor {
 public:
  IndexCursor(SpillTable* table, const SpillSection& section);
  // The first row, then the next ones; false: no more.
  Result<bool> next();
  const IndexRow& row() const { return row_; }
  SpillTable* table() const { return table_; }
  bool operator<(const IndexCursor& other) const {
    return row_.head.queue != other.row_.head.queue ? row_.head.queue < other.row_.head.queue
                                                    : row_.head.sequence < other.row_.head.sequence;
  }

 private:
  SpillTable* table_;
  SpillBlocks blocks_;
  std::string_view payload_;
  size_t at_ = 0;
  IndexRow row_;
};

// Every record entry of a kRecords file in the order of slots.
Status scan_record_file(const SpillTable& table,
                        const std::function<Status(const RecordView&, uint64_t offset)>& visit);

}  // namespace millstream::queue::store
