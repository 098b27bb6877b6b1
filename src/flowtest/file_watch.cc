#include "flowtest/file_watch.h"

#include <filesystem>
#include <set>

#include "flowtest/esqltest_file.h"
#include "flowtest/flow_script.h"
#include "flowtest/test_files.h"
#include "io/file.h"

namespace millstream::flowtest {

namespace fs = std::filesystem;

std::vector<std::string> folders_of_tests(const std::vector<std::string>& paths) {
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
  // What a test names may not be there; that is the test's failure to tell.
  std::erase_if(folders, [&](const std::string& f) { return !fs::is_directory(f, error); });
  return {folders.begin(), folders.end()};
}

}  // namespace millstream::flowtest
