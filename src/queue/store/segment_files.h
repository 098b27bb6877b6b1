// The files of the journal: which one holds which segment, and which are free. A file keeps its
// name for ever; to use it again is to write a block of a new incarnation into its first page.
// Nothing here is in the path of a commit but take(), which does no I/O.
// Thread: any; one lock of its own, after the state's.
#pragma once
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "io/disk.h"
#include "queue/store/options.h"

namespace millstream::queue::store {

inline constexpr const char* kJournalFolder = "journal";

struct SegmentFile {
  uint32_t name_number = 0;
  uint64_t bytes = 0;
  std::shared_ptr<io::DiskFile> file;  // shared with reads in flight
};

class SegmentFiles {
 public:
  SegmentFiles(io::Disk& disk, const StoreOptions& options) : disk_(disk), options_(options) {}

  // All files of the folder, to be told apart by recovery.
  Result<std::vector<SegmentFile>> open_all();
  void add_used(uint32_t segment, SegmentFile file);
  void add_free(SegmentFile file);
  // A free file becomes the segment, or false: there is none.
  bool take(uint32_t segment, SegmentFile* file);
  std::shared_ptr<io::DiskFile> file_of(uint32_t segment, uint64_t* bytes = nullptr) const;
  // The files of all segments below are free again, or go.
  void recycle_below(uint32_t segment);
  size_t spares() const;
  uint64_t bytes_used() const;
  uint32_t lowest_used() const;  // 0: none

  // In the background: files to be made or removed.
  bool has_work() const;
  Status work();
  // A free file at once, of the small size; for a start, or when all spares are used up.
  Status make_now(uint64_t bytes);

 private:
  io::Disk& disk_;
  const StoreOptions& options_;
  mutable std::mutex mutex_;
  std::map<uint32_t, SegmentFile> used_;
  std::vector<SegmentFile> free_;
  std::vector<SegmentFile> doomed_;
  uint32_t last_name_ = 0;
};

std::string segment_file_name(uint32_t name_number);

}  // namespace millstream::queue::store
