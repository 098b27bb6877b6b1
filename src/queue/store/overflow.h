// Bodies of non-persistent messages that the memory budget has no room for, in files without a
// name: gone when the process ends, as such messages are. Nothing here is durable or checksummed
// against crashes; a checksum guards against a disk that returns something else.
//
// Space is taken from extents that are freed whole: a file of `extent_bytes` at a time, reused when
// everything in it is freed.
// Thread: any; one lock. Calls block on the page cache, so they belong on a worker.
#pragma once
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace millstream::io {
class Disk;
class DiskFile;
}  // namespace millstream::io

namespace millstream::queue {

struct OverflowPlace {
  uint32_t extent = 0;
  uint32_t bytes = 0;
  uint64_t offset = 0;
  uint32_t crc = 0;
};

class Overflow {
 public:
  explicit Overflow(io::Disk& disk, uint64_t bytes_max = 16ull << 30,
                    uint64_t extent_bytes = 64ull << 20)
      : disk_(disk), bytes_max_(bytes_max), extent_bytes_(extent_bytes) {}
  ~Overflow();

  // kStoreFull when the budget or the disk has no room: the message stays in memory, or its put is
  // refused; nothing else happens.
  Result<OverflowPlace> store(std::string_view bytes);
  Result<std::string> read(const OverflowPlace& place);
  void free(const OverflowPlace& place);
  uint64_t used_bytes() const;  // of live bodies
  uint64_t file_bytes() const;

 private:
  struct Extent {
    std::shared_ptr<io::DiskFile> file;  // shared with reads in flight
    uint64_t end = 0;
    uint64_t live = 0;  // bodies
  };
  io::Disk& disk_;
  uint64_t bytes_max_, extent_bytes_;
  mutable std::mutex mutex_;
  std::vector<Extent> extents_;
  uint32_t current_ = 0;
  uint64_t used_ = 0, file_bytes_ = 0;
};

}  // namespace millstream::queue
