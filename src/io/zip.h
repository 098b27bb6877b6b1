// Reads ZIP archives held in memory (BAR files and the archives inside them). Follows APPNOTE.TXT
// 6.3: end-of-central-directory record, central directory, local headers; methods stored and
// deflate; no encryption, no multi-disk, no ZIP64 (a BAR is far below 4 GiB).
// Entry names with '\' (archives built on Windows) come out with '/'; names that leave the archive
// ("../x", absolute ones) are refused.
// Thread: any; blocking.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace millstream::io {

struct ZipLimits {
  size_t entries_max = 100'000;
  uint64_t entry_bytes_max = 256ull << 20;  // unpacked
  uint64_t archive_bytes_max = 1ull << 30;  // all entries together, unpacked
};

struct ZipEntry {
  std::string name;  // with '/', without a leading one
  std::string content;
};

// All files of the archive (folders are left out), in the order of its directory. `name` is for
// messages.
Result<std::vector<ZipEntry>> read_zip(std::string_view archive, const std::string& name,
                                       const ZipLimits& limits = {});
// The names alone, without unpacking anything.
Result<std::vector<std::string>> list_zip(std::string_view archive, const std::string& name,
                                          const ZipLimits& limits = {});
// True when the bytes begin like a ZIP archive.
bool is_zip(std::string_view bytes);

}  // namespace millstream::io
