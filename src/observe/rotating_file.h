// A text file of bounded size: when it is full it becomes NAME.1, the one before NAME.2, and so on;
// the oldest goes. Each write is one write(2), so that lines of several threads do not mix.
// Thread: any; writing blocks as a file does. The lock is never held across a suspension.
#pragma once
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>

#include "base/result.h"

namespace millstream::observe {

class RotatingFile {
 public:
  struct Options {
    std::string path;  // empty: the standard output
    size_t bytes_max = 0;
    int files_max = 1;
    std::string header;
    int64_t age_max_s = 0;     // 0: no limit; then a file becomes NAME.1 whatever its size
    bool starts_anew = false;  // what a former process wrote becomes NAME.1 at the first write
  };
  explicit RotatingFile(Options options);
  // `header` stands at the beginning of each file. An empty path is the standard output.
  RotatingFile(std::string path, size_t bytes_max, int files_max, std::string header = {});
  ~RotatingFile();
  // Makes the folder and the file; later writes try again.
  Status open();
  // A failure is logged once, until a write succeeds.
  void write(std::string_view text);
  // Empties the file; older ones go.
  void clear();
  const std::string& path() const { return path_; }

 private:
  Status open_locked();
  void rotate_locked();

  const std::string path_, header_;
  const size_t bytes_max_;
  const int files_max_;  // with the present one
  const int64_t age_max_s_;
  bool starts_anew_;
  std::mutex mutex_;
  int64_t opened_s_ = 0;
  int fd_ = -1;
  size_t size_ = 0;
  bool is_failing_ = false;
};

}  // namespace millstream::observe
