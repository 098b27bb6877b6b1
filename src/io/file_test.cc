#include "io/file.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <string>

namespace millstream::io {
namespace {

TEST_CASE("file: appending to a standard stream goes on where the stream is") {
  const std::string path =
      "/tmp/millstream_file_test_" + std::to_string(static_cast<long>(::getpid()));
  for (const char* name : {"/proc/self/fd/2", "/dev/fd/2", "/dev/stderr"}) {
    // As `2> file` of a shell opens it: without O_APPEND.
    const int target = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    const int kept = ::dup(STDERR_FILENO);
    REQUIRE(target >= 0);
    REQUIRE(kept >= 0);
    ::dup2(target, STDERR_FILENO);
    const bool is_first_whole = ::write(STDERR_FILENO, "one ", 4) == 4;
    Status status = append_file(name, "two ");
    const bool is_last_whole = ::write(STDERR_FILENO, "three", 5) == 5;
    ::dup2(kept, STDERR_FILENO);
    ::close(kept);
    ::close(target);
    CAPTURE(name);
    CHECK(status.ok());
    CHECK(is_first_whole);
    CHECK(is_last_whole);
    Result<std::string> content = read_file(path);
    REQUIRE(content.ok());
    CHECK(content.value() == "one two three");
  }
  std::remove(path.c_str());
}

}  // namespace
}  // namespace millstream::io
