// millstream version.
#include <cstdio>

#include "cli/commands.h"

namespace millstream::cli {

const base::CommandSpec& version_command() {
  static const base::CommandSpec kSpec{
      .name = "version",
      .summary = "Print the version.",
      .examples = {{"millstream version", "the version of this program"}}};
  return kSpec;
}

int run_version(const base::ParsedFlags&) {
  std::printf("millstream %s\n", MS_VERSION);
  return 0;
}

}  // namespace millstream::cli
