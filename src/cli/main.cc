// The entry of the binary: finds the command and runs it.
#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <string_view>
#include <vector>

#include "cli/commands.h"
#include "cli/payload.h"

namespace {

using millstream::base::ProgramSpec;
using millstream::cli::Command;

constexpr Command kCommands[] = {
    {millstream::cli::run_command, millstream::cli::run_run},
    {millstream::cli::deploy_command, millstream::cli::run_deploy},
    {millstream::cli::undeploy_command, millstream::cli::run_undeploy},
    {millstream::cli::start_command, millstream::cli::run_start},
    {millstream::cli::stop_command, millstream::cli::run_stop},
    {millstream::cli::create_workdir_command, millstream::cli::run_create_workdir},
    {millstream::cli::stats_command, millstream::cli::run_stats},
    {millstream::cli::trace_command, millstream::cli::run_trace},
    {millstream::cli::check_command, millstream::cli::run_check},
    {millstream::cli::test_command, millstream::cli::run_test},
    {millstream::cli::list_command, millstream::cli::run_list},
    {millstream::cli::describe_command, millstream::cli::run_describe},
    {millstream::cli::payload_command, millstream::cli::run_payload},
    {millstream::cli::user_command, millstream::cli::run_user},
    {millstream::cli::put_command, millstream::cli::run_put},
    {millstream::cli::get_command, millstream::cli::run_get},
    {millstream::cli::browse_command, millstream::cli::run_browse},
    {millstream::cli::move_command, millstream::cli::run_move},
    {millstream::cli::mqsc_command, millstream::cli::run_mqsc},
    {millstream::cli::dlq_command, millstream::cli::run_dlq},
    {millstream::cli::qmgr_command, millstream::cli::run_qmgr},
    {millstream::cli::completion_command, nullptr},
    {millstream::cli::version_command, millstream::cli::run_version},
};

ProgramSpec program_spec() {
  ProgramSpec program{
      .name = "millstream",
      .summary = "An integration server: runs App Connect Enterprise message flows.",
      .commands = {}};
  for (const Command& c : kCommands) program.commands.push_back(c.spec());
  return program;
}

int run_command_line(std::vector<std::string_view> words) {
  const ProgramSpec program = program_spec();
  if (words.size() == 2 && words[0] == "help") words = {words[1], "--help"};  // `help run`
  if (words.empty() || words[0] == "--help" || words[0] == "-h" || words[0] == "help") {
    std::fputs(millstream::base::program_help(program).c_str(), words.empty() ? stderr : stdout);
    return words.empty() ? 2 : 0;
  }
  if (words[0] == "--command-reference") {  // docs/reference/commands.md
    std::fputs(millstream::base::command_reference(program).c_str(), stdout);
    return 0;
  }
  const std::string_view word = words[0] == "--version" ? "version" : words[0];
  auto found = millstream::base::find_command(program, word);
  if (!found.ok()) {
    std::fprintf(stderr, "%s\n", found.error().text.c_str());
    return 2;
  }
  const std::vector<std::string_view> rest(words.begin() + 1, words.end());
  auto flags = millstream::base::parse_flags(*found.value(), rest);
  if (!flags.ok()) {
    std::fprintf(stderr, "%s\nSee millstream %.*s --help.\n", flags.error().text.c_str(),
                 static_cast<int>(word.size()), word.data());
    return 2;
  }
  if (flags.value().wants_help()) {
    std::fputs(millstream::base::command_help(program, *found.value()).c_str(), stdout);
    return 0;
  }
  for (const Command& c : kCommands) {
    if (c.spec().name != word) continue;
    return c.run ? c.run(flags.value()) : millstream::cli::run_completion(program, flags.value());
  }
  return 2;
}

// Started with closed standard descriptors, the process would give their numbers to sockets and
// write its log to a client.
void open_standard_descriptors() {
  for (;;) {
    const int fd = ::open("/dev/null", O_RDWR);
    if (fd < 0) return;
    if (fd <= STDERR_FILENO) continue;
    ::close(fd);
    return;
  }
}

}  // namespace

int main(int argc, char** argv) {
  open_standard_descriptors();
  return run_command_line(std::vector<std::string_view>(argv + 1, argv + argc));
}
