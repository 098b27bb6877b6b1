#include "queue/store/segment_files.h"

#include <cstdio>
#include <cstdlib>
#include <utility>

#include "base/assert.h"
#include "queue/store/format.h"

namespace millstream::queue::store {
namespace {

Status sync_journal_folder(io::Disk& disk) {
#ifdef MS_SABOTAGE_SKIPPED_DIRECTORY_SYNC
  static_cast<void>(disk);
  return {};
#else
  return disk.sync_folder(kJournalFolder);
#endif
}

}  // namespace

std::string segment_file_name(uint32_t name_number) {
  char name[40];
  std::snprintf(name, sizeof name, "%s/%08u.seg", kJournalFolder, name_number);
  return name;
}

Result<std::vector<SegmentFile>> SegmentFiles::open_all() {
  std::vector<SegmentFile> files;
  for (const std::string& name : MS_TRY(disk_.list(kJournalFolder))) {
    if (name.size() < 5 || name.substr(name.size() - 4) != ".seg") continue;
    SegmentFile file;
    file.name_number = static_cast<uint32_t>(std::strtoul(name.c_str(), nullptr, 10));
    if (segment_file_name(file.name_number) != std::string(kJournalFolder) + "/" + name) continue;
    last_name_ = std::max(last_name_, file.name_number);
    file.file = MS_TRY(disk_.open(std::string(kJournalFolder) + "/" + name));
    file.bytes = MS_TRY(file.file->size()) / kPageBytes * kPageBytes;
    files.push_back(std::move(file));
  }
  // The process that made a file may have ended before its name was durable.
  if (!files.empty()) MS_TRY(sync_journal_folder(disk_));
  return files;
}

void SegmentFiles::add_used(uint32_t segment, SegmentFile file) {
  std::lock_guard lock(mutex_);
  MS_CHECK(used_.emplace(segment, std::move(file)).second);
}

// A file of another size than this store's is not kept: it was cut short by a crash, or made small
// to be quick.
void SegmentFiles::add_free(SegmentFile file) {
  std::lock_guard lock(mutex_);
  const bool is_odd = file.bytes != options_.segment_bytes;
  if (is_odd || free_.size() >= options_.segments_spare * 2) {
    doomed_.push_back(std::move(file));
  } else {
    free_.push_back(std::move(file));
  }
}

bool SegmentFiles::take(uint32_t segment, SegmentFile* file) {
  std::lock_guard lock(mutex_);
  if (free_.empty()) return false;
  *file = free_.back();
  free_.pop_back();
  MS_CHECK(used_.emplace(segment, *file).second);
  return true;
}

std::shared_ptr<io::DiskFile> SegmentFiles::file_of(uint32_t segment, uint64_t* bytes) const {
  std::lock_guard lock(mutex_);
  const auto found = used_.find(segment);
  if (found == used_.end()) return nullptr;
  if (bytes) *bytes = found->second.bytes;
  return found->second.file;
}

void SegmentFiles::recycle_below(uint32_t segment) {
  std::vector<SegmentFile> gone;
  {
    std::lock_guard lock(mutex_);
    while (!used_.empty() && used_.begin()->first < segment) {
      gone.push_back(std::move(used_.begin()->second));
      used_.erase(used_.begin());
    }
  }
  for (SegmentFile& file : gone) add_free(std::move(file));
}

size_t SegmentFiles::spares() const {
  std::lock_guard lock(mutex_);
  return free_.size();
}

uint64_t SegmentFiles::bytes_used() const {
  std::lock_guard lock(mutex_);
  uint64_t bytes = 0;
  for (const auto& [segment, file] : used_) bytes += file.bytes;
  return bytes;
}

uint32_t SegmentFiles::lowest_used() const {
  std::lock_guard lock(mutex_);
  return used_.empty() ? 0 : used_.begin()->first;
}

bool SegmentFiles::has_work() const {
  std::lock_guard lock(mutex_);
  return !doomed_.empty() || free_.size() < options_.segments_spare;
}

Status SegmentFiles::make_now(uint64_t bytes) {
  MS_ASSERT(bytes % kPageBytes == 0);
  SegmentFile file;
  {
    std::lock_guard lock(mutex_);
    file.name_number = ++last_name_;
  }
  file.bytes = bytes;
  file.file = MS_TRY(disk_.create(segment_file_name(file.name_number), bytes));
  MS_TRY(sync_journal_folder(disk_));
  std::lock_guard lock(mutex_);
  free_.push_back(std::move(file));
  return {};
}

Status SegmentFiles::work() {
  std::vector<SegmentFile> doomed;
  {
    std::lock_guard lock(mutex_);
    doomed.swap(doomed_);
  }
  for (const SegmentFile& file : doomed) MS_TRY(disk_.remove(segment_file_name(file.name_number)));
  if (!doomed.empty()) MS_TRY(sync_journal_folder(disk_));
  if (spares() < options_.segments_spare) MS_TRY(make_now(options_.segment_bytes));
  return {};
}

}  // namespace millstream::queue::store
