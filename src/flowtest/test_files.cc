#include "flowtest/test_files.h"

#include <algorithm>
#include <filesystem>

#include "flowtest/errors_gen.h"

namespace millstream::flowtest {

Result<TestFiles> find_test_files(const std::vector<std::string>& paths) {
  namespace fs = std::filesystem;
  TestFiles files;
  for (const std::string& path : paths) {
    std::error_code error;
    if (fs::is_directory(path, error)) {
      for (fs::recursive_directory_iterator it(path, error), end; !error && it != end;
           it.increment(error)) {
        if (it->path().extension() == ".esqltest") files.esqltests.push_back(it->path().string());
        if (it->path().extension() == ".flowtest") files.flowtests.push_back(it->path().string());
      }
    } else if (fs::exists(path, error)) {
      (fs::path(path).extension() == ".flowtest" ? files.flowtests : files.esqltests)
          .push_back(path);
    } else {
      return base::make_error(errors::kTestIo, {base::Insert(path)});
    }
    if (error) return base::make_error(errors::kTestIo, {base::Insert(path)});
  }
  for (auto* list : {&files.esqltests, &files.flowtests}) {
    std::sort(list->begin(), list->end());
    list->erase(std::unique(list->begin(), list->end()), list->end());
  }
  return files;
}

std::string nearest_project(const std::string& folder) {
  namespace fs = std::filesystem;
  std::error_code error;
  fs::path at = fs::absolute(folder.empty() ? "." : folder, error).lexically_normal();
  for (int i = 0; i < 20 && !at.empty(); ++i, at = at.parent_path()) {
    for (const char* mark : {"application.descriptor", "restapi.descriptor", "service.descriptor",
                             "library.descriptor", ".project"}) {
      if (fs::exists(at / mark, error)) {
        const fs::path near = fs::proximate(at, error);  // as short as people would write it
        return near.empty() || *near.begin() == ".." ? at.string() : near.string();
      }
    }
    if (at == at.root_path()) break;
  }
  return {};
}

}  // namespace millstream::flowtest
