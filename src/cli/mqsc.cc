// millstream mqsc: commands for a queue manager from standard input, as runmqsc takes them.
#include <unistd.h>

#include <cstdio>
#include <iostream>
#include <string>

#include "cli/commands.h"
#include "cli/queue_message.h"
#include "io/file.h"
#include "queue/mqsc/runner.h"

namespace millstream::cli {
namespace {

constexpr int kMqscNotRun = queue::mqsc::kExitNotRun;

void print_text(const std::string& text) { std::fwrite(text.data(), 1, text.size(), stdout); }

Result<std::string> read_script_text(const base::ParsedFlags& flags) {
  if (flags.has("file")) return io::read_file(std::string(flags.text("file")));
  std::string text;
  char block[64 << 10];
  size_t n = 0;
  while ((n = std::fread(block, 1, sizeof block, stdin)) > 0) text.append(block, n);
  return text;
}

int fail_mqsc(const base::Error& error) {
  print_queue_error(error);
  return kMqscNotRun;
}

// A command at a time, for a person; each is sent when its last line is there.
int talk(QueueClient& client, batch::Request request) {
  queue::mqsc::ScriptResult sum;
  queue::mqsc::ScriptReader reader;
  request.flags &= ~(batch::kEcho | batch::kSummary);
  std::string line;
  bool has_ended = false;
  while (!has_ended && std::getline(std::cin, line)) {
    std::vector<queue::mqsc::ScriptItem> items;
    reader.push_line(line, items);
    for (const queue::mqsc::ScriptItem& item : items) {
      if (item.kind != queue::mqsc::ScriptItem::Kind::kCommand) continue;
      request.text.clear();
      for (const std::string& part : item.lines) request.text += part + "\n";
      const Result<batch::Answer> answer = client.call(request);
      if (!answer.ok()) return fail_mqsc(answer.error());
      if (answer.value().is_failed()) return print_queue_refusal(answer.value()), kMqscNotRun;
      print_text(answer.value().text);
      has_ended = (answer.value().flags & batch::kNoMore) != 0;
      sum.commands += static_cast<uint32_t>(answer.value().done);
      for (const batch::Failure& f : answer.value().failures) {
        (f.where == "syntax" ? sum.syntax_errors : sum.failures) += static_cast<uint32_t>(f.count);
      }
    }
    std::fflush(stdout);
  }
  for (const std::string& text : queue::mqsc::summary_lines(sum)) std::printf("%s\n", text.c_str());
  return sum.exit_code();
}

}  // namespace

const base::CommandSpec& mqsc_command() {
  static const base::CommandSpec kSpec{
      .name = "mqsc",
      .arguments = "[QMGR]",
      .summary = "Run MQSC commands, from standard input or a file, on a queue manager.",
      .description =
          "Output and exit codes are those of runmqsc: 0 all commands were carried out, 10 one was "
          "not, 20 none was run. --export writes the queue manager as a script that makes it anew.",
      .arguments_min = 0,
      .arguments_max = 1,
      .flags = with_flags({{.name = "no-echo",
                            .help = "Do not print the commands.",
                            .kind = base::FlagKind::kSwitch,
                            .short_name = 'e'},
                           {.name = "file",
                            .value_name = "FILE",
                            .help = "Read the commands from this file.",
                            .short_name = 'f'},
                           {.name = "verify",
                            .help = "Check the commands only.",
                            .kind = base::FlagKind::kSwitch,
                            .short_name = 'v'},
                           {.name = "client",
                            .help = "For scripts made for runmqsc; this is a client anyway.",
                            .kind = base::FlagKind::kSwitch,
                            .short_name = 'c'},
                           {.name = "stop-at-error",
                            .help = "Leave out what follows a command that failed.",
                            .kind = base::FlagKind::kSwitch},
                           {.name = "export",
                            .help = "Write the queue manager as a script instead.",
                            .kind = base::FlagKind::kSwitch},
                           {.name = "all-objects",
                            .help = "With --export: also what a new queue manager has anyway.",
                            .kind = base::FlagKind::kSwitch},
                           {.name = "all-attributes",
                            .help = "With --export: also attributes at their defaults.",
                            .kind = base::FlagKind::kSwitch}},
                          {queue_client_flags()}),
      .examples = {{"echo 'DISPLAY QLOCAL(*) CURDEPTH' | millstream mqsc", "one command"},
                   {"millstream mqsc QM1 -e -f queues.mqsc", "a script"},
                   {"millstream mqsc QM1 --export > qm1.mqsc", "all definitions as a script"}}};
  return kSpec;
}

int run_mqsc(const base::ParsedFlags& flags) {
  const std::string name = flags.arguments().empty() ? "" : flags.arguments()[0];
  const Result<std::unique_ptr<QueueClient>> client = open_queue_client(flags, name);
  if (!client.ok()) return fail_mqsc(client.error());
  batch::Request request;
  const bool is_export = flags.is_on("export");
  request.operation = is_export ? batch::Operation::kExport : batch::Operation::kMqsc;
  if (flags.is_on("all-objects")) request.flags |= batch::kAllObjects;
  if (flags.is_on("all-attributes")) request.flags |= batch::kAllAttributes;
  if (!flags.is_on("no-echo")) request.flags |= batch::kEcho;
  if (flags.is_on("verify")) request.flags |= batch::kVerifyOnly;
  if (flags.is_on("stop-at-error")) request.flags |= batch::kStopAtError;
  request.flags |= batch::kSummary;
  const bool is_talk = !is_export && !flags.has("file") && ::isatty(STDIN_FILENO) != 0;
  if (is_talk) {
    std::printf("Starting MQSC%s%s.\n\n", name.empty() ? "" : " for queue manager ", name.c_str());
    return talk(*client.value(), std::move(request));
  }
  if (!is_export) {
    Result<std::string> script = read_script_text(flags);
    if (!script.ok()) return fail_mqsc(script.error());
    request.text = std::move(script).value();
  }
  const Result<batch::Answer> answer = client.value()->call(request);
  if (!answer.ok()) return fail_mqsc(answer.error());
  if (answer.value().is_failed()) {
    print_queue_refusal(answer.value());
    return kMqscNotRun;
  }
  if (!is_export) {
    std::printf("Starting MQSC for queue manager %s.\n\n\n", answer.value().detail.c_str());
  }
  print_text(answer.value().text);
  return answer.value().exit_code;
}

}  // namespace millstream::cli
