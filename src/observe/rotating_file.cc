#include "observe/rotating_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "base/clock.h"
#include "base/log.h"
#include "io/file.h"
#include "observe/errors_gen.h"

namespace millstream::observe {

RotatingFile::RotatingFile(Options options)
    : path_(std::move(options.path)),
      header_(std::move(options.header)),
      bytes_max_(options.bytes_max),
      files_max_(options.files_max),
      age_max_s_(options.age_max_s),
      starts_anew_(options.starts_anew) {}

RotatingFile::RotatingFile(std::string path, size_t bytes_max, int files_max, std::string header)
    : RotatingFile(Options{.path = std::move(path),
                           .bytes_max = bytes_max,
                           .files_max = files_max,
                           .header = std::move(header)}) {}

RotatingFile::~RotatingFile() {
  if (fd_ > STDERR_FILENO) ::close(fd_);
}

Status RotatingFile::open() {
  std::lock_guard lock(mutex_);
  return open_locked();
}

Status RotatingFile::open_locked() {
  if (fd_ >= 0) return {};
  if (path_.empty()) {
    fd_ = STDOUT_FILENO;
    return {};
  }
  MS_TRY(io::make_folders(std::string(io::folder_name(path_))));
  fd_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (fd_ < 0) return base::make_error(errors::kTraceFile, {path_, std::strerror(errno)});
  struct stat about{};
  size_ = ::fstat(fd_, &about) == 0 ? static_cast<size_t>(about.st_size) : 0;
  opened_s_ = base::system_clock().monotonic_ns() / 1'000'000'000;
  if (std::exchange(starts_anew_, false) && size_ > 0) {
    rotate_locked();
    return open_locked();
  }
  if (size_ == 0 && !header_.empty()) {
    if (::write(fd_, header_.data(), header_.size()) > 0) size_ = header_.size();
  }
  return {};
}

void RotatingFile::rotate_locked() {
  ::close(fd_);
  fd_ = -1;
  for (int n = files_max_ - 1; n > 0; --n) {
    const std::string older = path_ + "." + std::to_string(n);
    const std::string newer = n == 1 ? path_ : path_ + "." + std::to_string(n - 1);
    ::rename(newer.c_str(), older.c_str());
  }
  if (files_max_ == 1) ::unlink(path_.c_str());
}

void RotatingFile::clear() {
  std::lock_guard lock(mutex_);
  if (path_.empty()) return;
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
  ::unlink(path_.c_str());
  for (int n = 1; n < files_max_; ++n) ::unlink((path_ + "." + std::to_string(n)).c_str());
}

void RotatingFile::write(std::string_view text) {
  std::lock_guard lock(mutex_);
  Status status = open_locked();
  const bool is_old = age_max_s_ > 0 &&
                      base::system_clock().monotonic_ns() / 1'000'000'000 - opened_s_ >= age_max_s_;
  if (status.ok() && !path_.empty() && size_ > header_.size() &&
      (is_old || size_ + text.size() > bytes_max_)) {
    rotate_locked();
    status = open_locked();
  }
  while (status.ok() && !text.empty()) {
    const ssize_t written = ::write(fd_, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      status = base::make_error(errors::kTraceFile,
                                {path_.empty() ? "stdout" : path_, std::strerror(errno)});
      break;
    }
    size_ += static_cast<size_t>(written);
    text.remove_prefix(static_cast<size_t>(written));
  }
  if (!status.ok() && !is_failing_) base::log_error(status.error());
  is_failing_ = !status.ok();
}

}  // namespace millstream::observe
