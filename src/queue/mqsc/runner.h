// Runs MQSC commands against a queue manager: one at a time for REST, a whole script as runmqsc
// does.
//
// Output of a script has runmqsc's shape: each line is echoed (a number of six columns and ` : ` in
// front of a command, blanks and ` : ` in front of its further lines and of comments), the answer
// follows, and at the end the counts. Banner and prompt are the caller's.
// Exit codes are runmqsc's: kExitOk, kExitFailed when a command failed, kExitNotRun when the script
// did not run.
// Thread: any; commands of one Runner run one after another.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "queue/mqsc/command.h"

namespace millstream::queue::mqsc {

constexpr int kExitOk = 0;
constexpr int kExitFailed = 10;
constexpr int kExitNotRun = 20;

// One command; `command` without continuation. END, QUIT and EXIT answer nothing.
void run_text(objects::AdminTarget& target, const RunOptions& options, std::string_view command,
              Reply reply);

struct ScriptOptions {
  RunOptions run;
  bool echoes = true;           // runmqsc -e: no
  bool stops_at_error = false;  // the rest is not run
};
struct ScriptResult {
  uint32_t commands = 0;
  uint32_t syntax_errors = 0;
  uint32_t failures = 0;   // valid, but not carried out
  bool has_ended = false;  // END, QUIT or EXIT was read
  int exit_code() const { return syntax_errors + failures == 0 ? kExitOk : kExitFailed; }
};
using ScriptOutput = std::function<void(std::string_view line)>;
using ScriptDone = std::function<void(const ScriptResult& result)>;

// The script's text has to stay until `done`. The target too.
void run_script(objects::AdminTarget& target, std::string_view script, const ScriptOptions& options,
                ScriptOutput output, ScriptDone done);
// The lines at the end of runmqsc's output.
std::vector<std::string> summary_lines(const ScriptResult& result);

// A session that is fed line by line, for standard input. Each push_line() answers through
// `output` before `done` is called; one at a time.
class ScriptSession : public std::enable_shared_from_this<ScriptSession> {
 public:
  static std::shared_ptr<ScriptSession> create(objects::AdminTarget& target,
                                               const ScriptOptions& options, ScriptOutput output);
  void push_line(std::string_view line, std::function<void()> done);
  void finish(std::function<void()> done);
  const ScriptResult& result() const { return result_; }
  // Waits for more lines of the same command.
  bool is_inside_command() const { return reader_.is_inside_command(); }

 private:
  ScriptSession(objects::AdminTarget& target, const ScriptOptions& options, ScriptOutput output);
  void run_items();
  // True: the item ended at once.
  bool run_item(ScriptItem& item);
  void answered(const ScriptItem& item, CommandResponse response);
  void echo(const ScriptItem& item);

  objects::AdminTarget& target_;
  ScriptOptions options_;
  ScriptOutput output_;
  ScriptReader reader_;
  std::vector<ScriptItem> items_;
  size_t next_ = 0;
  ScriptResult result_;
  std::function<void()> done_;
  bool is_running_ = false;
};

}  // namespace millstream::queue::mqsc
