// Which folders the result of tests depends on, for io::FolderWatch. Thread: any.
#pragma once
#include <string>
#include <vector>

namespace millstream::flowtest {

// The folders among the paths, and of each test file its own, the project it lies in, and those it
// names.
std::vector<std::string> folders_of_tests(const std::vector<std::string>& paths);

}  // namespace millstream::flowtest
