#include "queue/store/overflow.h"

#include "base/assert.h"
#include "io/crc32c.h"
#include "io/disk.h"
#include "queue/store/errors_gen.h"

namespace millstream::queue {

Overflow::~Overflow() = default;

Result<OverflowPlace> Overflow::store(std::string_view bytes) {
  MS_ASSERT(!bytes.empty());
  MS_CHECK(bytes.size() <= UINT32_MAX);
  OverflowPlace place;
  std::shared_ptr<io::DiskFile> file;
  {
    std::lock_guard lock(mutex_);
    if (file_bytes_ + bytes.size() > bytes_max_) {
      return base::make_error(store::errors::kStoreFull, {"the overflow has reached its limit"});
    }
    if (extents_.empty() || extents_[current_].end >= extent_bytes_) {
      current_ = 0;
      while (current_ < extents_.size() && extents_[current_].file) ++current_;
      if (current_ == extents_.size()) extents_.emplace_back();
      Result<std::unique_ptr<io::DiskFile>> made = disk_.create_unlinked();
      if (!made.ok()) {
        extents_[current_].end = extent_bytes_;  // the next call tries again
        return std::move(made).take_status();
      }
      extents_[current_] = {std::move(made).take_value(), 0, 0};
    }
    Extent& extent = extents_[current_];
    place.extent = current_;
    place.offset = extent.end;
    place.bytes = static_cast<uint32_t>(bytes.size());
    extent.end += bytes.size();
    ++extent.live;
    used_ += bytes.size();
    file_bytes_ += bytes.size();
    file = extent.file;
  }
  place.crc = io::crc32c(bytes.data(), bytes.size());
  Status written = file->write_later(place.offset, bytes.data(), bytes.size());
  if (written.ok()) return place;
  free(place);
  if (!io::is_disk_full(written.error())) return written;
  return base::make_error(store::errors::kStoreFull, {written.error().text});
}

Result<std::string> Overflow::read(const OverflowPlace& place) {
  std::shared_ptr<io::DiskFile> file;
  {
    std::lock_guard lock(mutex_);
    MS_CHECK(place.extent < extents_.size() && extents_[place.extent].live > 0);
    file = extents_[place.extent].file;
  }
  std::string bytes(place.bytes, '\0');
  MS_TRY(file->read(place.offset, bytes.data(), bytes.size()));
  if (io::crc32c(bytes.data(), bytes.size()) != place.crc) {
    return base::make_error(store::errors::kStoreCorrupt,
                            {file->name(), static_cast<int64_t>(place.offset),
                             "an overflowed message is not what was written"});
  }
  return bytes;
}

void Overflow::free(const OverflowPlace& place) {
  std::lock_guard lock(mutex_);
  MS_CHECK(place.extent < extents_.size());
  Extent& extent = extents_[place.extent];
  MS_CHECK(extent.live > 0);
  used_ -= place.bytes;
  if (--extent.live > 0) return;
  file_bytes_ -= extent.end;
  extent.end = 0;
  if (place.extent != current_) {
    extent.file.reset();  // its space is the file system's again
  } else {
    extent.end = extent_bytes_;  // not appended to any more, so that the space comes back
    extent.file.reset();
  }
}

uint64_t Overflow::used_bytes() const {
  std::lock_guard lock(mutex_);
  return used_;
}

uint64_t Overflow::file_bytes() const {
  std::lock_guard lock(mutex_);
  return file_bytes_;
}

}  // namespace millstream::queue
