#include "io/file.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "io/errors_gen.h"

namespace millstream::io {
namespace {

constexpr int kFolderDepthMax = 64;

Status unreadable(const std::string& path) {
  return base::make_error(errors::kFileUnreadable, {path, std::strerror(errno)});
}
Status unwritable(const std::string& path) {
  return base::make_error(errors::kFileUnwritable, {path, std::strerror(errno)});
}

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

Status write_to(int fd, const std::string& path, std::string_view content) {
  while (!content.empty()) {
    ssize_t written = ::write(fd, content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0 && errno == EAGAIN) {  // a standard stream that another process made so
      pollfd writable{fd, POLLOUT, 0};
      ::poll(&writable, 1, -1);
      continue;
    }
    if (written < 0) return unwritable(path);
    content.remove_prefix(static_cast<size_t>(written));
  }
  return {};
}

Status write_all(const std::string& path, int flags, std::string_view content) {
  Descriptor fd(::open(path.c_str(), flags | O_CLOEXEC, 0644));
  if (fd.get() < 0) return unwritable(path);
  return write_to(fd.get(), path, content);
}

// The descriptor behind a name of the standard output or error, or -1.
int standard_stream(std::string_view path) {
  for (const char* name : {"/proc/self/fd/1", "/dev/fd/1", "/dev/stdout"}) {
    if (path == name) return STDOUT_FILENO;
  }
  for (const char* name : {"/proc/self/fd/2", "/dev/fd/2", "/dev/stderr"}) {
    if (path == name) return STDERR_FILENO;
  }
  return -1;
}

Status list_below(const std::string& root, const std::string& relative, int depth,
                  std::vector<std::string>& out) {
  const std::string folder = relative.empty() ? root : join_path(root, relative);
  if (depth > kFolderDepthMax) {
    return base::make_error(errors::kFileUnreadable, {folder, "folders are nested too deeply"});
  }
  for (const FolderEntry& entry : MS_TRY(list_folder(folder))) {
    const std::string path = relative.empty() ? entry.name : join_path(relative, entry.name);
    if (entry.kind == PathKind::kFolder) {
      struct stat info{};
      if (::lstat(join_path(root, path).c_str(), &info) == 0 && S_ISLNK(info.st_mode)) continue;
      MS_TRY(list_below(root, path, depth + 1, out));
    } else if (entry.kind == PathKind::kFile) {
      out.push_back(path);
    }
  }
  return {};
}

}  // namespace

PathKind path_kind(const std::string& path) {
  struct stat info{};
  if (::stat(path.c_str(), &info) != 0) return PathKind::kMissing;
  if (S_ISREG(info.st_mode)) return PathKind::kFile;
  return S_ISDIR(info.st_mode) ? PathKind::kFolder : PathKind::kOther;
}

Result<std::string> read_file(const std::string& path, uint64_t bytes_max) {
  Descriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (fd.get() < 0) return unreadable(path);
  struct stat info{};
  if (::fstat(fd.get(), &info) != 0) return unreadable(path);
  if (S_ISDIR(info.st_mode)) {
    return base::make_error(errors::kFileUnreadable, {path, "it is a folder"});
  }
  std::string content;
  char buffer[65536];
  while (true) {
    ssize_t got = ::read(fd.get(), buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return unreadable(path);
    if (got == 0) return content;
    content.append(buffer, static_cast<size_t>(got));
    if (content.size() > bytes_max) {
      return base::make_error(errors::kFileTooLarge, {path, static_cast<int64_t>(info.st_size),
                                                      static_cast<int64_t>(bytes_max)});
    }
  }
}

Status write_file(const std::string& path, std::string_view content) {
  return write_all(path, O_WRONLY | O_CREAT | O_TRUNC, content);
}

Status append_file(const std::string& path, std::string_view content) {
  // Opened anew, a redirected stream would have a second position and the two would overwrite each
  // other; a socket or a file of another user could not be opened at all.
  if (const int stream = standard_stream(path); stream >= 0) {
    return write_to(stream, path, content);
  }
  return write_all(path, O_WRONLY | O_CREAT | O_APPEND, content);
}

Status make_folders(const std::string& path) {
  for (size_t at = 1; at != std::string::npos;) {
    at = path.find('/', at);
    const std::string part = path.substr(0, at);
    if (::mkdir(part.c_str(), 0755) != 0 && errno != EEXIST) return unwritable(part);
    if (at != std::string::npos) ++at;
  }
  return {};
}

Result<std::vector<FolderEntry>> list_folder(const std::string& path) {
  DIR* folder = ::opendir(path.c_str());
  if (!folder) return unreadable(path);
  std::vector<FolderEntry> entries;
  while (dirent* entry = ::readdir(folder)) {
    std::string name = entry->d_name;
    if (name == "." || name == "..") continue;
    PathKind kind = path_kind(join_path(path, name));
    entries.push_back({std::move(name), kind});
  }
  ::closedir(folder);
  std::sort(entries.begin(), entries.end(),
            [](const FolderEntry& a, const FolderEntry& b) { return a.name < b.name; });
  return entries;
}

Result<std::vector<std::string>> list_files(const std::string& path) {
  std::vector<std::string> files;
  MS_TRY(list_below(path, "", 0, files));
  std::sort(files.begin(), files.end());
  return files;
}

std::string join_path(std::string_view folder, std::string_view name) {
  std::string path(folder);
  if (!path.empty() && path.back() != '/') path += '/';
  path += name;
  return path;
}

std::string_view file_name(std::string_view path) {
  size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

std::string_view folder_name(std::string_view path) {
  size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? std::string_view() : path.substr(0, slash);
}

}  // namespace millstream::io
