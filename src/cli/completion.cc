// millstream completion: what makes a shell complete its command lines.
#include <cstdio>

#include "cli/commands.h"

namespace millstream::cli {

const base::CommandSpec& completion_command() {
  static const base::CommandSpec kSpec{
      .name = "completion",
      .arguments = "bash|zsh|fish",
      .summary = "Print a script that makes a shell complete commands, options and names.",
      .arguments_min = 1,
      .arguments_max = 1,
      .examples = {
          {"eval \"$(millstream completion bash)\"", "in ~/.bashrc"},
          {"millstream completion zsh > ~/.zfunc/_millstream", "where ~/.zfunc is in $fpath"},
          {"millstream completion fish > ~/.config/fish/completions/millstream.fish", "for fish"}}};
  return kSpec;
}

int run_completion(const base::ProgramSpec& program, const base::ParsedFlags& flags) {
  const std::string script = base::completion_script(program, flags.arguments()[0]);
  if (script.empty()) {
    std::fprintf(stderr, "The shells are bash, zsh and fish.\n");
    return 2;
  }
  std::fputs(script.c_str(), stdout);
  return 0;
}

}  // namespace millstream::cli
