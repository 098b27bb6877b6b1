#include "server/mqsc_files.h"

#include "io/file.h"
#include "server/errors_gen.h"

namespace millstream::server {

bool is_mqsc_file(std::string_view path) {
  return path.ends_with(".mqsc") || path.ends_with(".MQSC");
}

Result<std::vector<MqscFile>> find_mqsc_files(const std::vector<std::string>& paths) {
  std::vector<MqscFile> files;
  auto add = [&](const std::string& path, const std::string& name) -> Status {
    if (files.size() == kMqscFilesMax) {
      return base::make_error(errors::kTooManyScripts, {path, kMqscFilesMax});
    }
    files.push_back({path, name, MS_TRY(io::read_file(path, kMqscFileBytesMax))});
    return {};
  };
  for (const std::string& path : paths) {
    if (is_mqsc_file(path) && io::path_kind(path) == io::PathKind::kFile) {
      MS_TRY(add(path, std::string(io::file_name(path))));
    } else if (io::path_kind(path) == io::PathKind::kFolder) {
      for (const std::string& name : MS_TRY(io::list_files(path))) {
        if (is_mqsc_file(name)) MS_TRY(add(io::join_path(path, name), name));
      }
    }
  }
  return files;
}

}  // namespace millstream::server
