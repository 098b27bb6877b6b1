#include "nodes/common/application.h"

namespace millstream::nodes::common {

std::string map_path(std::string_view path, const DriveMapping& mapping) {
  std::string out;
  auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  if (path.size() >= 2 && is_letter(path[0]) && path[1] == ':') {
    const char drive = static_cast<char>(path[0] | 0x20);
    auto it = mapping.folders.find(drive);
    out = it != mapping.folders.end() ? it->second : mapping.default_root + "/" + drive;
    path.remove_prefix(2);
    if (path.empty() || (path[0] != '\\' && path[0] != '/')) out += '/';
  }
  for (char c : path) out += c == '\\' ? '/' : c;
  return out;
}

}  // namespace millstream::nodes::common
