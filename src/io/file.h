// Files and folders as the loaders and commands need them: whole files, sorted listings.
// Blocking; not for a reactor thread. Paths use '/'. Thread: any.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace millstream::io {

constexpr uint64_t kProjectFileBytesMax = 256ull << 20;

enum class PathKind : uint8_t { kMissing, kFile, kFolder, kOther };
PathKind path_kind(const std::string& path);

Result<std::string> read_file(const std::string& path, uint64_t bytes_max = kProjectFileBytesMax);
Status write_file(const std::string& path, std::string_view content);
// Appends, creating the file when needed; one write call. The names of the standard output and
// error
// (/dev/stdout, /dev/stderr, /dev/fd/N, /proc/self/fd/N) mean the streams this process has open.
Status append_file(const std::string& path, std::string_view content);
Status make_folders(const std::string& path);

struct FolderEntry {
  std::string name;
  PathKind kind;
};
// Sorted by name, without "." and "..".
Result<std::vector<FolderEntry>> list_folder(const std::string& path);
// All files below `path`, as paths relative to it, sorted. Symbolic links to folders are not
// followed; folders deeper than 64 levels are an error.
Result<std::vector<std::string>> list_files(const std::string& path);

std::string join_path(std::string_view folder, std::string_view name);
std::string_view file_name(std::string_view path);    // after the last '/'
std::string_view folder_name(std::string_view path);  // before it, "" when there is none

}  // namespace millstream::io
