// The commands of the binary: a table entry and a function each, one file a command.
// A command returns the exit code: 0 done, 1 something is wrong with what it was given, 2 usage.
// Thread: main.
#pragma once
#include "base/flags.h"

namespace millstream::cli {

struct Command {
  const base::CommandSpec& (*spec)();
  int (*run)(const base::ParsedFlags& flags);
};

const base::CommandSpec& run_command();
int run_run(const base::ParsedFlags& flags);
const base::CommandSpec& stats_command();
int run_stats(const base::ParsedFlags& flags);
const base::CommandSpec& trace_command();
int run_trace(const base::ParsedFlags& flags);
const base::CommandSpec& check_command();
int run_check(const base::ParsedFlags& flags);
const base::CommandSpec& test_command();
int run_test(const base::ParsedFlags& flags);
const base::CommandSpec& list_command();
int run_list(const base::ParsedFlags& flags);
const base::CommandSpec& describe_command();
int run_describe(const base::ParsedFlags& flags);
const base::CommandSpec& deploy_command();
int run_deploy(const base::ParsedFlags& flags);
const base::CommandSpec& undeploy_command();
int run_undeploy(const base::ParsedFlags& flags);
const base::CommandSpec& start_command();
int run_start(const base::ParsedFlags& flags);
const base::CommandSpec& stop_command();
int run_stop(const base::ParsedFlags& flags);
const base::CommandSpec& create_workdir_command();
int run_create_workdir(const base::ParsedFlags& flags);
const base::CommandSpec& user_command();
int run_user(const base::ParsedFlags& flags);
const base::CommandSpec& put_command();
int run_put(const base::ParsedFlags& flags);
const base::CommandSpec& get_command();
int run_get(const base::ParsedFlags& flags);
const base::CommandSpec& browse_command();
int run_browse(const base::ParsedFlags& flags);
const base::CommandSpec& move_command();
int run_move(const base::ParsedFlags& flags);
const base::CommandSpec& mqsc_command();
int run_mqsc(const base::ParsedFlags& flags);
const base::CommandSpec& dlq_command();
int run_dlq(const base::ParsedFlags& flags);
const base::CommandSpec& qmgr_command();
int run_qmgr(const base::ParsedFlags& flags);
const base::CommandSpec& completion_command();
// Of all commands, so that it needs them.
int run_completion(const base::ProgramSpec& program, const base::ParsedFlags& flags);
const base::CommandSpec& version_command();
int run_version(const base::ParsedFlags& flags);

}  // namespace millstream::cli
