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

}  // namespace millstream::flowtest
