#include "io/posix_disk.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/assert.h"
#include "io/aligned_buffer.h"
#include "io/durable.h"
#include "io/errors_gen.h"
#include "io/file.h"

namespace millstream::io {
namespace {

constexpr size_t kZerosBytes = 1 << 20;

Status disk_error(const std::string& name, uint64_t offset, int error) {
  const bool is_full = error == ENOSPC || error == EDQUOT;
  return base::make_error(is_full ? errors::kDiskFull : errors::kDiskFailed,
                          {name, static_cast<int64_t>(offset), std::strerror(error)});
}

const AlignedBuffer& zeros() {
  static const AlignedBuffer& buffer = *[] {
    auto* made = new AlignedBuffer(kZerosBytes);
    std::memset(made->data(), 0, made->size());
    return made;
  }();
  return buffer;
}

class PosixFile final : public DiskFile {
 public:
  PosixFile(std::string name, int fd, DiskWay way) : name_(std::move(name)), fd_(fd), way_(way) {}
  ~PosixFile() override { ::close(fd_); }
  const std::string& name() const override { return name_; }

  Result<uint64_t> size() override {
    struct stat info{};
    if (::fstat(fd_, &info) != 0) return disk_error(name_, 0, errno);
    return static_cast<uint64_t>(info.st_size);
  }

  Status read(uint64_t offset, void* out, size_t size) override {
    MS_ASSERT(way_ != DiskWay::kDirect || (offset | size) % 512 == 0);
    auto* to = static_cast<char*>(out);
    while (size > 0) {
      const ssize_t n = ::pread(fd_, to, size, static_cast<off_t>(offset));
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return disk_error(name_, offset, errno);
      if (n == 0) {
        return base::make_error(errors::kDiskFailed,
                                {name_, static_cast<int64_t>(offset), "the file ends here"});
      }
      to += n;
      offset += static_cast<uint64_t>(n);
      size -= static_cast<size_t>(n);
    }
    return {};
  }

  Status write(uint64_t offset, const void* data, size_t size) override {
    MS_ASSERT(way_ != DiskWay::kDirect || (offset | size) % 512 == 0);
    MS_TRY(write_once(offset, data, size, way_ == DiskWay::kDirect ? RWF_DSYNC : 0));
    return way_ == DiskWay::kDirect ? Status() : sync();
  }

  Status write_later(uint64_t offset, const void* data, size_t size) override {
    MS_ASSERT(size > 0);
    return write_once(offset, data, size, 0);
  }

  Status sync() override {
    if (::fdatasync(fd_) != 0) return disk_error(name_, 0, errno);
    return {};
  }

  Status extend(uint64_t size) override {
    const uint64_t before = MS_TRY(this->size());
    for (uint64_t at = before; at < size;) {
      const size_t part = std::min<uint64_t>(kZerosBytes, size - at);
      Status written = write_once(at, zeros().data(), part, 0);
      if (!written.ok()) {
        if (is_disk_full(written.error()) && ::ftruncate(fd_, static_cast<off_t>(before)) != 0) {
          return disk_error(name_, at, errno);
        }
        return written;
      }
      at += part;
    }
    if (::fsync(fd_) != 0) return disk_error(name_, before, errno);
    return {};
  }

 private:
  // A short write is an error like any other: what follows it is not as the caller thinks.
  Status write_once(uint64_t offset, const void* data, size_t size, int flags) {
    const iovec part{const_cast<void*>(data), size};
    ssize_t n;
    do {
      n = ::pwritev2(fd_, &part, 1, static_cast<off_t>(offset), flags);
    } while (n < 0 && errno == EINTR);
    if (n < 0) return disk_error(name_, offset, errno);
    if (static_cast<size_t>(n) != size) return disk_error(name_, offset, ENOSPC);
    return {};
  }

  std::string name_;
  int fd_;
  DiskWay way_;
};

class PosixDisk final : public Disk {
 public:
  PosixDisk(std::string path, DiskWay way) : path_(std::move(path)), way_(way) {}
  ~PosixDisk() override {
    if (lock_fd_ >= 0) ::close(lock_fd_);
  }

  Status make_folder(const std::string& name) override {
    if (::mkdir(full(name).c_str(), 0700) != 0 && errno != EEXIST) {
      return disk_error(name, 0, errno);
    }
    return {};
  }

  Result<std::unique_ptr<DiskFile>> create(const std::string& name, uint64_t bytes) override {
    MS_ASSERT(bytes % kDiskAlignment == 0);
    auto file = MS_TRY(open_file(name, O_CREAT | O_EXCL));
    Status filled = file->extend(bytes);
    if (filled.ok() && bytes == 0) filled = file->sync();
    if (!filled.ok()) {
      if (is_disk_full(filled.error())) ::unlink(full(name).c_str());
      return filled;
    }
    return file;
  }

  Result<std::unique_ptr<DiskFile>> open(const std::string& name) override {
    return open_file(name, 0);
  }

  Result<std::unique_ptr<DiskFile>> create_unlinked() override {
    const int fd = ::open(path_.c_str(), O_RDWR | O_CLOEXEC | O_TMPFILE, 0600);
    if (fd < 0) return disk_error(path_, 0, errno);
    return std::unique_ptr<DiskFile>(
        std::make_unique<PosixFile>("overflow", fd, DiskWay::kBuffered));
  }

  Status rename(const std::string& from, const std::string& to) override {
    if (::rename(full(from).c_str(), full(to).c_str()) != 0) return disk_error(from, 0, errno);
    return {};
  }

  Status remove(const std::string& name) override {
    if (::unlink(full(name).c_str()) != 0) return disk_error(name, 0, errno);
    return {};
  }

  Status sync_folder(const std::string& name) override { return io::sync_folder(full(name)); }

  Result<std::vector<std::string>> list(const std::string& folder) override {
    std::vector<std::string> names;
    if (path_kind(full(folder)) == PathKind::kMissing) return names;
    for (const FolderEntry& entry : MS_TRY(list_folder(full(folder)))) {
      if (entry.kind == PathKind::kFile) names.push_back(entry.name);
    }
    return names;
  }

  Status lock() override {
    if (lock_fd_ >= 0) return {};
    const int fd = ::open(full("lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0) return disk_error("lock", 0, errno);
    if (::flock(fd, LOCK_EX | LOCK_NB) != 0) {
      const int error = errno;
      ::close(fd);
      if (error == EWOULDBLOCK) return base::make_error(errors::kDiskLocked, {path_});
      return disk_error("lock", 0, error);
    }
    lock_fd_ = fd;
    return {};
  }

  Result<uint64_t> free_bytes() override {
    struct statvfs info{};
    if (::statvfs(path_.c_str(), &info) != 0) return disk_error(path_, 0, errno);
    return static_cast<uint64_t>(info.f_bavail) * info.f_frsize;
  }

  size_t page_bytes() const override { return kDiskAlignment; }
  const std::string& path() const override { return path_; }

  // Whether the file system takes a direct write; some only say so at the write.
  Status probe() {
    if (way_ == DiskWay::kBuffered) return {};
    const std::string name = ".direct-io-probe";
    ::unlink(full(name).c_str());
    auto file = open_file(name, O_CREAT | O_EXCL);
    Status wrote = file.ok() ? file.value()->write(0, zeros().data(), kDiskAlignment)
                             : Status(file.take_error());
    ::unlink(full(name).c_str());
    if (wrote.ok() || is_disk_full(wrote.error())) return {};
    return base::wrap_error(base::make_error(errors::kDiskNotDirect, {path_}), std::move(wrote));
  }

 private:
  std::string full(const std::string& name) const {
    return name.empty() ? path_ : join_path(path_, name);
  }
  Result<std::unique_ptr<DiskFile>> open_file(const std::string& name, int flags) {
    const int direct = way_ == DiskWay::kDirect ? O_DIRECT : 0;
    const int fd = ::open(full(name).c_str(), O_RDWR | O_CLOEXEC | direct | flags, 0600);
    if (fd < 0) return disk_error(name, 0, errno);
    return std::unique_ptr<DiskFile>(std::make_unique<PosixFile>(name, fd, way_));
  }

  std::string path_;
  DiskWay way_;
  int lock_fd_ = -1;
};

}  // namespace

bool is_disk_full(const base::Error& error) { return error.code == &errors::kDiskFull; }

Result<std::unique_ptr<Disk>> open_posix_disk(const std::string& path, DiskWay way) {
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) return disk_error(path, 0, errno);
  auto disk = std::make_unique<PosixDisk>(path, way);
  MS_TRY(disk->probe());
  return std::unique_ptr<Disk>(std::move(disk));
}

}  // namespace millstream::io
