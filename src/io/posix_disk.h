// The data directory on a file system of the machine: O_DIRECT, and RWF_DSYNC for durable writes
// (what O_DSYNC does, a write at a time). A directory that cannot do direct I/O is refused, unless
// buffered writes with fdatasync are chosen by name.
// Thread: any; one file's writes one at a time.
#pragma once
#include <memory>
#include <string>

#include "io/disk.h"

namespace millstream::io {

enum class DiskWay : uint8_t { kDirect, kBuffered };

// The directory is created when it is missing (its parent is not).
Result<std::unique_ptr<Disk>> open_posix_disk(const std::string& path,
                                              DiskWay way = DiskWay::kDirect);

}  // namespace millstream::io
