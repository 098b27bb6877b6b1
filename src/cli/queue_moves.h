// Moves in units of work, and what is done with dead letters: asks until the server is done.
// Thread: main.
#pragma once
#include <map>
#include <string>
#include <utility>

#include "cli/queue_client.h"

namespace millstream::cli {

struct MoveResult {
  int exit_code = kExitDone;
  uint64_t done = 0;
  std::map<std::pair<int32_t, std::string>, uint64_t> left;  // by reason and destination
};
// `count_max` 0: all. `what`: for the progress on standard error.
MoveResult move_messages(QueueClient& client, batch::Request request, uint64_t count_max,
                         std::string_view what, bool is_quiet);
// Says what stayed and why; the exit code of the command.
int report_moves(const MoveResult& result, std::string_view what, std::string_view queue,
                 bool is_quiet, bool is_json);

}  // namespace millstream::cli
