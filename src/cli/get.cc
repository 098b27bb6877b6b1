// millstream get: messages off a queue, their bodies to standard output or files.
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>

#include "cli/commands.h"
#include "cli/errors_gen.h"
#include "cli/queue_message.h"
#include "io/file.h"

namespace millstream::cli {
namespace {

class BodyWriter {
 public:
  explicit BodyWriter(const base::ParsedFlags& flags)
      : folder_(flags.text("output-dir")),
        is_json_(flags.is_on("json")),
        ends_lines_(!flags.is_on("raw") &&
                    (flags.is_on("all") || flags.integer("count") > 1 || ::isatty(STDOUT_FILENO))) {
  }

  // Everything is with the reader of standard output, or in its file, when it returns true.
  bool write(const batch::Answer& answer) {
    for (const batch::FrameMessage& m : answer.messages) {
      if (!write_one(m)) return false;
    }
    if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return true;
    std::fprintf(stderr, "Cannot write to standard output: %s\n", std::strerror(errno));
    return false;
  }

 private:
  bool write_one(const batch::FrameMessage& m) {
    if (!folder_.empty()) {
      const std::string path =
          io::join_path(folder_, hexadecimal(m.md.message_id.view()) + (is_json_ ? ".json" : ""));
      const Status written = io::write_file(path, is_json_ ? json(m) : m.body);
      if (!written.ok()) print_queue_error(written.error());
      return written.ok();
    }
    if (is_json_) {
      const std::string line = json(m);
      std::fwrite(line.data(), 1, line.size(), stdout);
      return true;
    }
    std::fwrite(m.body.data(), 1, m.body.size(), stdout);
    if (ends_lines_) std::fputc('\n', stdout);
    return true;
  }
  static std::string json(const batch::FrameMessage& m) {
    return base::json::write(message_json(m)) + "\n";
  }

  const std::string folder_;
  const bool is_json_;
  const bool ends_lines_;
};

}  // namespace

const base::CommandSpec& get_command() {
  static const base::CommandSpec kSpec{
      .name = "get",
      .arguments = "QUEUE",
      .summary = "Take messages from a queue and write their bodies to standard output.",
      .description =
          "A message leaves the queue when it has been written, and not before: a command that is "
          "killed leaves its last unit of work on the queue, so that a message may come twice but "
          "never be lost. Of one message the bytes are written as they are; of several each is "
          "followed by the end of a line, unless --raw. Exit code 0: there were messages; 3: there "
          "was none; 1: refused or broken; 2: usage.",
      .arguments_min = 1,
      .arguments_max = 1,
      .flags = with_flags(
          {{.name = "count",
            .value_name = "N",
            .help = "So many messages at most.",
            .kind = base::FlagKind::kInteger,
            .default_text = "1",
            .short_name = 'n',
            .integer_min = 1},
           {.name = "all",
            .help = "All that are there.",
            .kind = base::FlagKind::kSwitch,
            .short_name = 'a'},
           {.name = "wait",
            .value_name = "SECONDS",
            .help = "Wait so long for a message, each time when there is none.",
            .kind = base::FlagKind::kInteger,
            .default_text = "0",
            .short_name = 'w',
            .integer_max = 100'000'000},
           unit_flag("500", batch::kMessagesMax),
           {.name = "json",
            .help = "A line of JSON each: descriptor, properties and body.",
            .kind = base::FlagKind::kSwitch},
           {.name = "output-dir",
            .value_name = "FOLDER",
            .help = "A file each, named by the message identifier."},
           {.name = "raw", .help = "Nothing between the bodies.", .kind = base::FlagKind::kSwitch},
           quiet_flag()},
          {selection_flags(), message_client_flags()}),
      .examples = {{"millstream get DEV.QUEUE.1", "the first message"},
                   {"millstream get ORDERS --all --json > orders.jsonl", "everything"},
                   {"millstream get REPLIES --correlation-id 7 --wait 30", "a reply"}}};
  return kSpec;
}

int run_get(const base::ParsedFlags& flags) {
  Result<batch::Selection> selection = selection_of(flags);
  if (!selection.ok()) {
    print_queue_error(selection.error());
    return kExitUsage;
  }
  const Result<std::unique_ptr<QueueClient>> client = open_queue_client(flags);
  if (!client.ok()) return print_queue_error(client.error());
  ReadPlan plan;
  plan.is_get = true;
  plan.request.operation = batch::Operation::kGet;
  plan.request.queue = flags.arguments()[0];
  plan.request.selection = std::move(selection).value();
  plan.request.messages_max = static_cast<uint32_t>(flags.integer("unit"));
  plan.request.bytes_max = 4u << 20;
  plan.count_max = flags.is_on("all") ? 0 : static_cast<uint64_t>(flags.integer("count"));
  plan.wait_ms = flags.integer("wait") * 1000;
  BodyWriter writer(flags);
  ReadResult result;
  {
    QueueProgress progress(flags.is_on("quiet") || ::isatty(STDOUT_FILENO) != 0);
    uint64_t count = 0;
    result = read_messages(*client.value(), std::move(plan), [&](const batch::Answer& answer) {
      if (!writer.write(answer)) return false;
      count += answer.messages.size();
      progress.show("got", count, 0);
      return true;
    });
  }
  if (result.exit_code != kExitDone) return result.exit_code;
  if (!flags.is_on("quiet")) {
    std::fprintf(stderr, "%llu message%s from %s\n", static_cast<unsigned long long>(result.count),
                 result.count == 1 ? "" : "s", flags.arguments()[0].c_str());
  }
  return result.count == 0 ? kExitNothing : kExitDone;
}

}  // namespace millstream::cli
