// Tells when something changes below folders: inotify on every folder of a tree, new ones included.
// What editors leave beside a file (".x.swp", "x~", "4913") is no change. When the system has no
// watches left, the tree is compared by names, sizes and times twice a second instead.
// Thread: one waits; wake() any.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"

namespace millstream::io {

class FolderWatch {
 public:
  static constexpr int kDepthMax = 64;
  static constexpr size_t kFoldersMax = 50'000;
  static constexpr int kPollMs = 500;

  // A path that is a file means just this file, in its folder.
  static Result<FolderWatch> open(std::vector<std::string> paths);
  ~FolderWatch();
  FolderWatch(FolderWatch&& other) noexcept;
  FolderWatch& operator=(FolderWatch&&) = delete;

  enum class Event : uint8_t { kChange, kTimeout, kWoken };
  // Until a change, but no longer than the time-out (-1: for ever).
  Event wait(int timeout_ms);
  void wake();
  bool is_polling() const { return is_polling_; }

 private:
  explicit FolderWatch(std::vector<std::string> paths) : paths_(std::move(paths)) {}
  Status add_all();
  void add_tree(const std::string& folder, int depth);
  bool add_folder(const std::string& folder);
  bool read_events();
  bool has_tree_changed();

  std::vector<std::string> paths_;
  int inotify_ = -1;
  int wake_[2] = {-1, -1};
  std::map<int, std::string> folders_;               // by watch descriptor
  std::map<std::string, std::string> single_files_;  // folder -> the one file meant, by name
  bool is_polling_ = false;
  uint64_t fingerprint_ = 0;
};

}  // namespace millstream::io
