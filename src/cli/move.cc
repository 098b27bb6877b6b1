// millstream move: messages from one queue to another, on the server.
#include <cstdio>

#include "cli/commands.h"
#include "cli/queue_message.h"
#include "cli/queue_moves.h"

namespace millstream::cli {

const base::CommandSpec& move_command() {
  static const base::CommandSpec kSpec{
      .name = "move",
      .arguments = "QUEUE TARGET",
      .summary = "Move messages from one queue to another, in units of work.",
      .description =
          "Descriptor, properties, body and order stay as they are; this needs the right to set "
          "all context on TARGET. Only what is on the queue when the command begins is moved. A "
          "message that TARGET refuses stays, and ends the command. Killed at any moment, each "
          "message is on exactly one of the two. Exit code 0: moved; 3: there was none; 1: refused "
          "or broken; 2: usage.",
      .arguments_min = 2,
      .arguments_max = 2,
      .flags = with_flags({count_flag("So many messages at most. Without: all."),
                           unit_flag("500", batch::kMessagesMax / 2),
                           {.name = "json",
                            .help = "The counts as JSON on standard output.",
                            .kind = base::FlagKind::kSwitch},
                           quiet_flag()},
                          {selection_flags(), message_client_flags()}),
      .examples = {{"millstream move ORDERS ORDERS.OLD", "all of them"},
                   {"millstream move ORDERS RED --selector \"color = 'red'\"", "some"}}};
  return kSpec;
}

int run_move(const base::ParsedFlags& flags) {
  batch::Request request;
  request.queue = flags.arguments()[0];
  request.target = flags.arguments()[1];
  if (request.queue == request.target) {
    std::fprintf(stderr, "Both queues are %s.\n", request.queue.c_str());
    return kExitUsage;
  }
  Result<batch::Selection> selection = selection_of(flags);
  if (!selection.ok()) {
    print_queue_error(selection.error());
    return kExitUsage;
  }
  request.selection = std::move(selection).value();
  request.messages_max = static_cast<uint32_t>(flags.integer("unit"));
  const Result<std::unique_ptr<QueueClient>> client = open_queue_client(flags);
  if (!client.ok()) return print_queue_error(client.error());
  const uint64_t count = count_of(flags);
  const bool is_quiet = flags.is_on("quiet");
  const MoveResult result =
      move_messages(*client.value(), std::move(request), count, "moved", is_quiet);
  return report_moves(result, "moved", flags.arguments()[0], is_quiet, flags.is_on("json"));
}

}  // namespace millstream::cli
