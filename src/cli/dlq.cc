// millstream dlq: what is on a dead-letter queue, and what becomes of it.
#include <cstdio>
#include <string>

#include "admin/batch/dead_letter.h"
#include "base/clock.h"
#include "cli/commands.h"
#include "cli/errors_gen.h"
#include "cli/queue_message.h"
#include "cli/queue_moves.h"
#include "mqi/options.h"
#include "mqi/reason_codes.h"

namespace millstream::cli {
namespace {

// 2053 or MQRC_Q_FULL.
Result<int32_t> reason_of(std::string_view text) {
  for (const mqi::NumberConstant& known : mqi::reason_codes()) {
    if (known.name == text || std::to_string(known.value) == text) {
      return static_cast<int32_t>(known.value);
    }
  }
  // Feedback codes of applications are reasons, too.
  int32_t number = 0;
  for (char c : text) {
    if (c < '0' || c > '9' || number > 99'999'999) number = -1;
    if (number < 0) break;
    number = number * 10 + (c - '0');
  }
  if (number > 0) return number;
  return base::make_error(errors::kBadOption, {"reason", text, "it is no reason code"});
}

Result<batch::Selection> dead_selection_of(const base::ParsedFlags& flags) {
  batch::Selection selection = MS_TRY(selection_of(flags));
  if (flags.has("reason")) selection.reason = MS_TRY(reason_of(flags.text("reason")));
  selection.dead_queue = flags.text("original-queue");
  if (flags.has("older-than")) selection.age_s_min = flags.integer("older-than");
  return selection;
}

void print_letter(uint64_t number, const batch::FrameMessage& m,
                  const std::optional<batch::DeadLetter>& letter) {
  mqi::MessageDescriptor died;
  died.put_date = letter ? letter->put_date : m.md.put_date.view();
  died.put_time = letter ? letter->put_time : m.md.put_time.view();
  std::printf("%6llu  %-19s  %-34s  %-30s  %-48s  %9llu  %s\n",
              static_cast<unsigned long long>(number), put_time_text(died).c_str(),
              letter ? reason_text(letter->reason).c_str() : "no dead-letter header",
              letter ? letter->queue.c_str() : "", hexadecimal(m.md.message_id.view()).c_str(),
              static_cast<unsigned long long>(letter ? m.data_bytes - batch::kDeadLetterHeaderBytes
                                                     : m.data_bytes),
              letter ? letter->put_appl_name.c_str() : "");
}

int list_letters(QueueClient& client, const base::ParsedFlags& flags, batch::Request request,
                 const batch::Selection& wanted) {
  const bool is_json = flags.is_on("json");
  const uint64_t count_max =
      flags.has("count") ? static_cast<uint64_t>(flags.integer("count")) : UINT64_MAX;
  ReadPlan plan;
  request.operation = batch::Operation::kBrowse;
  request.messages_max = 1000;
  request.bytes_max = 4u << 20;
  if (!is_json) request.body_bytes_max = batch::kDeadLetterHeaderBytes;
  plan.request = std::move(request);
  uint64_t number = 0;
  const int64_t now = base::system_clock().wall_gmt_micros();
  const ReadResult result =
      read_messages(client, std::move(plan), [&](const batch::Answer& answer) {
        for (const batch::FrameMessage& m : answer.messages) {
          if (number >= count_max) break;
          const auto letter = batch::read_dead_letter(m.body);
          if (!batch::is_selected(wanted, m.md, letter ? &*letter : nullptr, now)) continue;
          if (is_json) {
            std::printf("%s\n", base::json::write(message_json(m)).c_str());
          } else {
            if (number == 0) {
              std::printf("%6s  %-19s  %-34s  %-30s  %-48s  %9s  %s\n", "No.", "Since (GMT)",
                          "Reason", "Original queue", "Message id", "Bytes", "Put by");
            }
            print_letter(number + 1, m, letter);
          }
          ++number;
        }
        return std::fflush(stdout) == 0;
      });
  if (result.exit_code != kExitDone) return result.exit_code;
  return number == 0 ? kExitNothing : kExitDone;
}

}  // namespace

const base::CommandSpec& dlq_command() {
  static const base::CommandSpec kSpec{
      .name = "dlq",
      .arguments = "list|retry|move|discard [QUEUE]",
      .summary = "List dead letters, put them where they should have gone, move or discard them.",
      .description =
          "QUEUE is the dead-letter queue of the queue manager unless it is named. `retry` puts "
          "each message without its header on its original queue, in one unit of work with its "
          "get; what is refused again stays. `move` takes them to the queue of --to, with their "
          "header unless --strip. `discard` takes nothing else than what the options select, and "
          "everything only with --all. Killed at any moment, nothing is lost or doubled. Exit code "
          "0: done; 1: refused, or some were refused again; 2: usage; 3: nothing was selected.",
      .arguments_min = 1,
      .arguments_max = 2,
      .flags = with_flags({{.name = "to", .value_name = "QUEUE", .help = "Of move: where to."},
                           {.name = "strip",
                            .help = "Of move: without the dead-letter header.",
                            .kind = base::FlagKind::kSwitch},
                           {.name = "reason",
                            .value_name = "CODE",
                            .help = "Only those that died of this: 2053 or MQRC_Q_FULL."},
                           {.name = "original-queue",
                            .value_name = "QUEUE",
                            .help = "Only those that should have gone there."},
                           {.name = "older-than",
                            .value_name = "SECONDS",
                            .help = "Only those that died so long ago.",
                            .kind = base::FlagKind::kInteger,
                            .integer_min = 1,
                            .integer_max = 1'000'000'000},
                           {.name = "all",
                            .help = "Of discard without another selection: everything.",
                            .kind = base::FlagKind::kSwitch},
                           count_flag("So many at most."),
                           unit_flag("100", batch::kMessagesMax / 2),
                           {.name = "json",
                            .help = "For programs: a line of JSON a message, or the counts.",
                            .kind = base::FlagKind::kSwitch},
                           quiet_flag()},
                          {selection_flags(), queue_client_flags()}),
      .examples = {
          {"millstream dlq list", "of the default queue manager"},
          {"millstream dlq retry --reason MQRC_Q_FULL", "when the queues have room again"},
          {"millstream dlq move --to DEAD.OLD --older-than 86400", "those of yesterday and before"},
          {"millstream dlq discard --original-queue TEST", "what is not worth keeping"}}};
  return kSpec;
}

int run_dlq(const base::ParsedFlags& flags) {
  const std::string& action = flags.arguments()[0];
  batch::Request request;
  if (action == "retry") {
    request.flags = batch::kRetry | batch::kDeadLetters;
  } else if (action == "discard") {
    request.flags = batch::kDiscard;
  } else if (action == "move") {
    request.flags = flags.is_on("strip") ? batch::kStrip : 0;
    request.target = flags.text("to");
  } else if (action != "list") {
    std::fprintf(stderr, "'%s' is none of list, retry, move, discard.\n", action.c_str());
    return kExitUsage;
  }
  if ((action == "move") != flags.has("to")) {
    std::fprintf(stderr, "--to is for move, and move needs it.\n");
    return kExitUsage;
  }
  bool is_selective = flags.is_on("all");
  for (std::string_view option : {"reason", "original-queue", "older-than", "count", "message-id",
                                  "correlation-id", "selector"}) {
    is_selective = is_selective || flags.has(option);
  }
  if (action == "discard" && !is_selective) {
    std::fprintf(stderr, "Say which dead letters to discard, or --all.\n");
    return kExitUsage;
  }
  Result<batch::Selection> selection = dead_selection_of(flags);
  if (!selection.ok()) {
    print_queue_error(selection.error());
    return kExitUsage;
  }
  request.selection = selection.value();
  if (flags.arguments().size() > 1) request.queue = flags.arguments()[1];
  if (!request.queue.empty() && request.queue == request.target) {
    std::fprintf(stderr, "Both queues are %s.\n", request.queue.c_str());
    return kExitUsage;
  }
  const Result<std::unique_ptr<QueueClient>> client = open_queue_client(flags);
  if (!client.ok()) return print_queue_error(client.error());
  if (action == "list") {
    return list_letters(*client.value(), flags, std::move(request), selection.value());
  }
  request.messages_max = static_cast<uint32_t>(flags.integer("unit"));
  const std::string queue = request.queue.empty() ? "the dead-letter queue" : request.queue;
  const std::string what = action == "retry" ? "retried" : action == "move" ? "moved" : "discarded";
  const uint64_t count = count_of(flags);
  const bool is_quiet = flags.is_on("quiet");
  const MoveResult result =
      move_messages(*client.value(), std::move(request), count, what, is_quiet);
  return report_moves(result, what, queue, is_quiet, flags.is_on("json"));
}

}  // namespace millstream::cli
