// Makes ZIP archives in memory, for BAR files: DEFLATE, or stored where that is no gain. No ZIP64:
// archives of 4 GiB and more than 65,535 entries are refused by finish().
// Equal entries in equal order give equal bytes (the time stamp is fixed). Thread: one.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace millstream::io {

class ZipWriter {
 public:
  // `name` with '/', without a leading one.
  void add(std::string_view name, std::string_view content);
  Result<std::string> finish(const std::string& archive_name) &&;

 private:
  std::string out_, directory_;
  size_t count_ = 0;
};

}  // namespace millstream::io
