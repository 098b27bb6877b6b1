// A data directory as the queue store sees it: few operations, each with a stated moment at which
// its effect survives a power cut. PosixDisk is the shipped one; SimDisk is memory that crashes,
// tears writes and lies on demand, so that the store's code is the same in tests.
//
//  - write() is durable when it returns; write_later() is after a later sync() of the same file.
//  - A file that was created, renamed or removed is so for ever only after sync_folder().
//  - Nothing is ever retried. After any error but kDiskFull of create() or extend() the caller has
//    to stop: the state of the disk is unknown until a restart reads it.
//
// Names are relative to the directory, with '/'. Offsets, sizes and addresses of reads and writes
// are multiples of page_bytes(). Thread: any; one file's writes one at a time.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace millstream::io {

class DiskFile {
 public:
  virtual ~DiskFile() = default;
  virtual const std::string& name() const = 0;
  virtual Result<uint64_t> size() = 0;
  // All of `size`; a range beyond the end is an error. Reads the disk, not a cache, where the
  // directory can do direct I/O.
  virtual Status read(uint64_t offset, void* out, size_t size) = 0;
  virtual Status write(uint64_t offset, const void* data, size_t size) = 0;
  virtual Status write_later(uint64_t offset, const void* data, size_t size) = 0;
  virtual Status sync() = 0;
  // Writes zeros from the end up to the new size and syncs. kDiskFull leaves what was there.
  virtual Status extend(uint64_t size) = 0;
};

class Disk {
 public:
  virtual ~Disk() = default;
  virtual Status make_folder(const std::string& name) = 0;
  // A new file of so many zeros, written and synced; an existing one of the name is an error. On
  // kDiskFull nothing is left of it.
  virtual Result<std::unique_ptr<DiskFile>> create(const std::string& name, uint64_t bytes) = 0;
  virtual Result<std::unique_ptr<DiskFile>> open(const std::string& name) = 0;
  // Without a name: gone when it is closed. Grows by write_later(); alignment does not matter.
  virtual Result<std::unique_ptr<DiskFile>> create_unlinked() = 0;
  virtual Status rename(const std::string& from, const std::string& to) = 0;
  virtual Status remove(const std::string& name) = 0;
  virtual Status sync_folder(const std::string& name) = 0;  // "": the directory itself
  // Files of a folder, sorted; empty when there is no such folder.
  virtual Result<std::vector<std::string>> list(const std::string& folder) = 0;
  // Exclusive among processes, until the Disk is destroyed.
  virtual Status lock() = 0;
  virtual Result<uint64_t> free_bytes() = 0;
  virtual size_t page_bytes() const = 0;
  virtual const std::string& path() const = 0;  // for messages
};

// Whether the error only says that there is no room.
bool is_disk_full(const base::Error& error);

}  // namespace millstream::io
