#include "flowtest/file_watch.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <functional>
#include <set>
#include <thread>

#include "flowtest/esqltest_file.h"
#include "flowtest/flow_script.h"
#include "flowtest/test_files.h"
#include "io/file.h"

namespace millstream::flowtest {

namespace fs = std::filesystem;

FileWatch::FileWatch(const std::vector<std::string>& paths) {
  std::set<std::string> folders;
  std::error_code error;
  for (const std::string& path : paths) {
    const fs::path at(path);
    const std::string folder = fs::is_directory(at, error) ? path
                               : at.has_parent_path()      ? at.parent_path().string()
                                                           : ".";
    folders.insert(folder);
  }
  Result<TestFiles> files = find_test_files(paths);
  if (files.ok()) {
    for (const std::string& file : files.value().flowtests) {
      Result<std::string> text = io::read_file(file);
      if (!text.ok()) continue;
      Result<TestFile> parsed = TestFile::parse(file, text.value(), flowtest_grammar());
      if (!parsed.ok()) continue;
      const std::string project = nearest_project(std::string(io::folder_name(file)));
      if (!project.empty()) folders.insert(project);
      std::vector<const TestCase*> cases = {&parsed.value().prelude};
      for (const TestCase& c : parsed.value().cases) cases.push_back(&c);
      for (const TestCase* c : cases) {
        for (const TestSection& s : c->sections) {
          if (s.kind != "project") continue;
          folders.insert(s.argument.starts_with('/')
                             ? s.argument
                             : io::join_path(io::folder_name(file), s.argument));
        }
      }
    }
  }
  folders_.assign(folders.begin(), folders.end());
  last_ = signature();
}

uint64_t FileWatch::signature() const {
  uint64_t sum = 0;
  size_t count = 0;
  std::error_code error;
  for (const std::string& folder : folders_) {
    for (fs::recursive_directory_iterator it(folder, error), end; !error && it != end;
         it.increment(error)) {
      if (!it->is_regular_file(error) || ++count > kFilesMax) continue;
      // Order does not matter, so that a sum will do.
      const std::string state =
          it->path().string() + ":" + std::to_string(it->file_size(error)) + ":" +
          std::to_string(it->last_write_time(error).time_since_epoch().count());
      sum += std::hash<std::string>()(state);
    }
  }
  return sum;
}

bool FileWatch::has_changed() {
  const uint64_t now = signature();
  return std::exchange(last_, now) != now;
}

void FileWatch::wait_for_change() {
  while (!has_changed()) std::this_thread::sleep_for(std::chrono::milliseconds(kIntervalMs));
}

}  // namespace millstream::flowtest
