// Waits until something changes below paths: sizes and times of all files, looked at twice a
// second. Thread: one.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace millstream::flowtest {

class FileWatch {
 public:
  static constexpr int kIntervalMs = 500;
  static constexpr size_t kFilesMax = 200'000;

  // Of a test file its folder is watched, the project it lies in, and those it names.
  explicit FileWatch(const std::vector<std::string>& paths);
  // True when something is not as it was at the last call, or when this was made.
  bool has_changed();
  void wait_for_change();

 private:
  uint64_t signature() const;

  std::vector<std::string> folders_;
  uint64_t last_ = 0;
};

}  // namespace millstream::flowtest
