// millstream browse: what is on a queue, without taking it.
#include <unistd.h>

#include <cstdio>
#include <string>

#include "cli/commands.h"
#include "cli/queue_message.h"
#include "mqi/options.h"

namespace millstream::cli {
namespace {

constexpr uint32_t kShownBytes = 256;
constexpr size_t kShownWidth = 40;

void print_row(uint64_t number, const batch::FrameMessage& m) {
  std::printf("%6llu  %-19s  %-48s  %-8s  %c%d  %10llu  %s\n",
              static_cast<unsigned long long>(number), put_time_text(m.md).c_str(),
              hexadecimal(m.md.message_id.view()).c_str(), std::string(m.md.format.view()).c_str(),
              m.md.persistence == mqi::kPersistent ? 'P' : 'N', m.md.priority,
              static_cast<unsigned long long>(m.data_bytes), one_line(m.body, kShownWidth).c_str());
}

}  // namespace

const base::CommandSpec& browse_command() {
  static const base::CommandSpec kSpec{
      .name = "browse",
      .arguments = "QUEUE",
      .summary = "Show the messages of a queue and leave them there.",
      .description =
          "A line each: number, time of the put, message identifier, format, persistence and "
          "priority, bytes of the body and its beginning. With --json descriptor, properties and "
          "the whole body; with --bodies the bodies alone. Exit code 0: there were messages; 3: "
          "there was none; 1: refused or broken; 2: usage.",
      .arguments_min = 1,
      .arguments_max = 1,
      .flags = with_flags({count_flag("So many messages at most. Without: all."),
                           {.name = "json",
                            .help = "A line of JSON each, with the whole body.",
                            .kind = base::FlagKind::kSwitch},
                           {.name = "bodies",
                            .help = "The bodies, each followed by the end of a line.",
                            .kind = base::FlagKind::kSwitch}},
                          {selection_flags(), message_client_flags()}),
      .examples = {{"millstream browse DEV.QUEUE.1 --count 20", "the first twenty"},
                   {"millstream browse ORDERS --selector \"color = 'red'\" --json",
                    "the red ones, for a program"}}};
  return kSpec;
}

int run_browse(const base::ParsedFlags& flags) {
  Result<batch::Selection> selection = selection_of(flags);
  if (!selection.ok()) {
    print_queue_error(selection.error());
    return kExitUsage;
  }
  const Result<std::unique_ptr<QueueClient>> client = open_queue_client(flags);
  if (!client.ok()) return print_queue_error(client.error());
  const bool is_json = flags.is_on("json"), is_bodies = flags.is_on("bodies");
  ReadPlan plan;
  plan.request.operation = batch::Operation::kBrowse;
  plan.request.queue = flags.arguments()[0];
  plan.request.selection = std::move(selection).value();
  plan.request.messages_max = 1000;
  plan.request.bytes_max = 4u << 20;
  if (!is_json && !is_bodies) plan.request.body_bytes_max = kShownBytes;
  plan.count_max = count_of(flags);
  uint64_t number = 0;
  const ReadResult result =
      read_messages(*client.value(), std::move(plan), [&](const batch::Answer& answer) {
        for (const batch::FrameMessage& m : answer.messages) {
          if (is_json) {
            std::printf("%s\n", base::json::write(message_json(m)).c_str());
          } else if (is_bodies) {
            std::fwrite(m.body.data(), 1, m.body.size(), stdout);
            std::fputc('\n', stdout);
          } else {
            if (number == 0) {
              std::printf("%6s  %-19s  %-48s  %-8s  %2s  %10s  %s\n", "No.", "Put (GMT)",
                          "Message id", "Format", "PP", "Bytes", "Body");
            }
            print_row(++number, m);
          }
        }
        return std::fflush(stdout) == 0;
      });
  if (result.exit_code != kExitDone) return result.exit_code;
  return result.count == 0 ? kExitNothing : kExitDone;
}

}  // namespace millstream::cli
