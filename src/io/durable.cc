#include "io/durable.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <vector>

#include "io/errors_gen.h"
#include "io/file.h"

namespace millstream::io {
namespace {

constexpr int kRemoveDepthMax = 128;

Status durable_error(const std::string& path) {
  return base::make_error(errors::kFileUnwritable, {path, std::strerror(errno)});
}

Status sync_path(const std::string& path, int flags) {
  const int fd = ::open(path.c_str(), flags | O_CLOEXEC);
  if (fd < 0) return durable_error(path);
  Status status;
  if (::fsync(fd) != 0) status = durable_error(path);
  ::close(fd);
  return status;
}

Status remove_below(const std::string& path, int depth) {
  struct stat info{};
  if (::lstat(path.c_str(), &info) != 0) return errno == ENOENT ? Status() : durable_error(path);
  if (!S_ISDIR(info.st_mode)) {
    return ::unlink(path.c_str()) == 0 || errno == ENOENT ? Status() : durable_error(path);
  }
  if (depth > kRemoveDepthMax) {
    return base::make_error(errors::kFileUnwritable, {path, "folders are nested too deeply"});
  }
  for (const FolderEntry& e : MS_TRY(list_folder(path))) {
    MS_TRY(remove_below(join_path(path, e.name), depth + 1));
  }
  return ::rmdir(path.c_str()) == 0 || errno == ENOENT ? Status() : durable_error(path);
}

}  // namespace

Status write_file_synced(const std::string& path, std::string_view content) {
  MS_TRY(write_file(path, content));
  return sync_path(path, O_WRONLY);
}

Status sync_folder(const std::string& path) { return sync_path(path, O_RDONLY | O_DIRECTORY); }

Status rename_path(const std::string& from, const std::string& to) {
  if (::rename(from.c_str(), to.c_str()) != 0) return durable_error(to);
  return {};
}

Status remove_tree(const std::string& path) { return remove_below(path, 0); }

}  // namespace millstream::io
