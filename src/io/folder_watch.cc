#include "io/folder_watch.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "io/errors_gen.h"
#include "io/file.h"

namespace millstream::io {
namespace {

constexpr uint32_t kWatchedEvents = IN_CLOSE_WRITE | IN_CREATE | IN_DELETE | IN_MOVED_FROM |
                                    IN_MOVED_TO | IN_DELETE_SELF | IN_MOVE_SELF;

// Hidden files are those of editors and version control; no artifact but .project is one.
bool is_beside_the_point(std::string_view name) {
  if (name.empty()) return false;
  if (name == ".project") return false;
  return name.front() == '.' || name.back() == '~' || name == "4913" || name.ends_with(".swp") ||
         name.ends_with(".tmp");
}

uint64_t mix_watch_state(uint64_t state, uint64_t word) {
  return (state ^ word) * 0x9e3779b97f4a7c15ull + (state >> 29);
}

uint64_t state_of(const std::string& path, int depth) {
  struct stat info{};
  if (::stat(path.c_str(), &info) != 0) return 1;
  uint64_t state =
      mix_watch_state(static_cast<uint64_t>(info.st_ino), static_cast<uint64_t>(info.st_size));
  if (!S_ISDIR(info.st_mode)) {
    state = mix_watch_state(state, static_cast<uint64_t>(info.st_mtim.tv_sec));
    return mix_watch_state(state, static_cast<uint64_t>(info.st_mtim.tv_nsec));
  }
  if (depth > FolderWatch::kDepthMax) return state;
  state = 2;
  Result<std::vector<FolderEntry>> entries = list_folder(path);
  if (!entries.ok()) return state;
  for (const FolderEntry& e : entries.value()) {
    if (is_beside_the_point(e.name)) continue;
    for (char c : e.name) state = mix_watch_state(state, static_cast<unsigned char>(c));
    state = mix_watch_state(state, state_of(join_path(path, e.name), depth + 1));
  }
  return state;
}

}  // namespace

Result<FolderWatch> FolderWatch::open(std::vector<std::string> paths) {
  FolderWatch watch(std::move(paths));
  if (::pipe2(watch.wake_, O_CLOEXEC | O_NONBLOCK) != 0) {
    return base::make_error(errors::kFileUnreadable, {"pipe", std::strerror(errno)});
  }
  watch.inotify_ = ::inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
  if (watch.inotify_ < 0) watch.is_polling_ = true;
  MS_TRY(watch.add_all());
  return watch;
}

FolderWatch::FolderWatch(FolderWatch&& other) noexcept
    : paths_(std::move(other.paths_)),
      inotify_(std::exchange(other.inotify_, -1)),
      wake_{std::exchange(other.wake_[0], -1), std::exchange(other.wake_[1], -1)},
      folders_(std::move(other.folders_)),
      single_files_(std::move(other.single_files_)),
      is_polling_(other.is_polling_),
      fingerprint_(other.fingerprint_) {}

FolderWatch::~FolderWatch() {
  for (const int fd : {inotify_, wake_[0], wake_[1]}) {
    if (fd >= 0) ::close(fd);
  }
}

Status FolderWatch::add_all() {
  for (const std::string& path : paths_) {
    switch (path_kind(path)) {
      case PathKind::kFolder:
        add_tree(path, 0);
        break;
      case PathKind::kFile: {
        const std::string_view parent = folder_name(path);
        const std::string folder(parent.empty() ? (path.starts_with('/') ? "/" : ".") : parent);
        single_files_[folder] = std::string(file_name(path));
        add_folder(folder);
        break;
      }
      default:
        return base::make_error(errors::kFileUnreadable, {path, std::strerror(ENOENT)});
    }
  }
  if (is_polling_) has_tree_changed();
  return {};
}

void FolderWatch::add_tree(const std::string& folder, int depth) {
  if (is_polling_ || depth > kDepthMax || !add_folder(folder)) return;
  Result<std::vector<FolderEntry>> entries = list_folder(folder);
  if (!entries.ok()) return;
  for (const FolderEntry& e : entries.value()) {
    if (e.kind != PathKind::kFolder || is_beside_the_point(e.name)) continue;
    const std::string path = join_path(folder, e.name);
    struct stat info{};
    if (::lstat(path.c_str(), &info) == 0 && !S_ISLNK(info.st_mode)) add_tree(path, depth + 1);
  }
}

bool FolderWatch::add_folder(const std::string& folder) {
  const int watch = folders_.size() < kFoldersMax
                        ? ::inotify_add_watch(inotify_, folder.c_str(), kWatchedEvents)
                        : -1;
  if (watch < 0) {
    if (errno != ENOENT && errno != ENOTDIR) is_polling_ = true;
    return false;
  }
  folders_[watch] = folder;
  return true;
}

bool FolderWatch::read_events() {
  alignas(inotify_event) char buffer[16 * 1024];
  bool has_changed = false;
  while (true) {
    const ssize_t got = ::read(inotify_, buffer, sizeof buffer);
    if (got <= 0) return has_changed;
    for (ssize_t at = 0; at < got;) {
      inotify_event event;
      std::memcpy(&event, buffer + at, sizeof event);
      const std::string_view name =
          event.len == 0 ? std::string_view() : std::string_view(buffer + at + sizeof event);
      at += static_cast<ssize_t>(sizeof event + event.len);
      if (event.mask & IN_Q_OVERFLOW) has_changed = true;
      auto folder = folders_.find(event.wd);
      if (folder == folders_.end()) continue;
      if (event.mask & IN_IGNORED) {
        folders_.erase(folder);
        continue;
      }
      if (is_beside_the_point(name)) continue;
      auto single = single_files_.find(folder->second);
      if (single != single_files_.end() && single->second != name) continue;
      has_changed = true;
      if ((event.mask & IN_ISDIR) && (event.mask & (IN_CREATE | IN_MOVED_TO))) {
        add_tree(join_path(folder->second, name), 1);
      }
    }
  }
}

bool FolderWatch::has_tree_changed() {
  uint64_t state = 0;
  for (const std::string& path : paths_) state = mix_watch_state(state, state_of(path, 0));
  return std::exchange(fingerprint_, state) != state;
}

FolderWatch::Event FolderWatch::wait(int timeout_ms) {
  // A folder that was renamed away and back, as version control does, has lost its watch.
  if (!is_polling_) static_cast<void>(add_all().ok());
  while (true) {
    pollfd files[] = {{wake_[0], POLLIN, 0}, {is_polling_ ? -1 : inotify_, POLLIN, 0}};
    int wait_ms = timeout_ms;
    if (is_polling_ && (wait_ms < 0 || wait_ms > kPollMs)) wait_ms = kPollMs;
    const int ready = ::poll(files, 2, wait_ms);
    if (ready < 0 && errno != EINTR) return Event::kTimeout;
    if (files[0].revents != 0) {
      char bytes[64];
      while (::read(wake_[0], bytes, sizeof bytes) > 0) {
      }
      return Event::kWoken;
    }
    if (is_polling_) {
      if (has_tree_changed()) return Event::kChange;
      if (timeout_ms >= 0) return Event::kTimeout;
      continue;
    }
    if (files[1].revents != 0 && read_events()) return Event::kChange;
    if (ready == 0) return Event::kTimeout;
  }
}

void FolderWatch::wake() { static_cast<void>(::write(wake_[1], "w", 1) == 1); }

}  // namespace millstream::io
