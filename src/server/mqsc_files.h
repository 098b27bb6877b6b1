// MQSC scripts that lie beside projects: `millstream run PATH...` applies each to the default queue
// manager, once a content.
// Thread: one, at start.
#pragma once
#include <string>
#include <vector>

#include "base/result.h"

namespace millstream::server {

constexpr uint64_t kMqscFileBytesMax = 16u << 20;
constexpr size_t kMqscFilesMax = 1'000;

struct MqscFile {
  std::string path;
  std::string name;  // by which the queue manager remembers it: the path below the one given
  std::string content;
};

bool is_mqsc_file(std::string_view path);
// Those that are given as paths themselves, and those in folders that are given, at any depth; in
// order of paths, below a path by name.
Result<std::vector<MqscFile>> find_mqsc_files(const std::vector<std::string>& paths);

}  // namespace millstream::server
