// Files and folders that must be whole after a crash: written, flushed to the disk, then renamed.
// Blocking. Paths use '/'. Thread: any.
#pragma once
#include <string>
#include <string_view>

#include "base/result.h"

namespace millstream::io {

// The file and its bytes are on the disk when it returns; the folder's entry is after sync_folder.
Status write_file_synced(const std::string& path, std::string_view content);
Status sync_folder(const std::string& path);
// Within one file system; an existing file is replaced in one step, a folder only when it is empty.
Status rename_path(const std::string& from, const std::string& to);
// A file, or a folder with all that is in it; symbolic links are removed, not followed. No error
// when it is not there.
Status remove_tree(const std::string& path);

}  // namespace millstream::io
