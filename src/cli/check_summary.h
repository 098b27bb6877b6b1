// The overview of `millstream check --summary`. Thread: one.
#pragma once
#include <string>
#include <vector>

namespace millstream::cli {

// Prints it; the exit code is 1 when a path does not exist.
int run_check_summary(const std::vector<std::string>& paths, bool is_json);

}  // namespace millstream::cli
