// Finds the test files below paths.
// Thread: any.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace millstream::flowtest {

struct TestFiles {
  std::vector<std::string> esqltests, flowtests;
};
// `paths`: files, or folders that are searched; sorted. A file of another extension counts as an
// .esqltest. An error names the path that cannot be read.
Result<TestFiles> find_test_files(const std::vector<std::string>& paths);

// The project a test in `folder` lies in: the folder itself or the nearest one around it that has a
// descriptor; empty when there is none.
std::string nearest_project(const std::string& folder);

}  // namespace millstream::flowtest
