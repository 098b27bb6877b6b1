// A command whose verb, object and name are known, and what runs it.
// Thread: any; a Command is not changed once it runs. Replies come on whatever thread the target
// completes on.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "queue/mqsc/command_spec.h"
#include "queue/mqsc/response.h"
#include "queue/mqsc/syntax.h"
#include "queue/objects/admin_target.h"

namespace millstream::queue::mqsc {

using Reply = std::function<void(CommandResponse)>;

struct RunOptions {
  // DEFINE of an object that exists alters the attributes that it names and tells the differences:
  // how .mqsc files of a project are applied.
  bool is_definition_mode = false;
  bool is_verify_only = false;  // syntax only; nothing is run
  bool shows_syntax = true;     // AMQ8427I behind a syntax error
};

struct Command {
  const CommandSpec* spec = nullptr;
  std::string text;
  Word name;
  bool has_name = false;
  std::vector<Clause> clauses;  // behind the name

  const Clause* find(std::string_view keyword) const;
};
using CommandPtr = std::shared_ptr<const Command>;

// Finds the command and checks the name.
SyntaxError bind_command(std::string_view text, Command& out);
// A keyword may stand once.
SyntaxError check_duplicates(const std::vector<Clause>& clauses);
// Every clause is a parameter of the command with a value of its kind; `others` may come beside.
SyntaxError check_parameters(const Command& command,
                             const std::function<bool(const Clause&)>& others = nullptr);

struct RunContext {
  objects::AdminTarget& target;
  RunOptions options;
};

// The families of commands. Each replies once. With is_verify_only they stop after the checks.
void run_define(const RunContext& context, CommandPtr command, Reply reply);
void run_alter(const RunContext& context, CommandPtr command, Reply reply);
void run_delete(const RunContext& context, CommandPtr command, Reply reply);
void run_display_object(const RunContext& context, CommandPtr command, Reply reply);
void run_messages(const RunContext& context, CommandPtr command, Reply reply);  // CLEAR, MOVE
void run_control(const RunContext& context, CommandPtr command, Reply reply);
void run_status(const RunContext& context, CommandPtr command, Reply reply);
void run_authority(const RunContext& context, CommandPtr command, Reply reply);
void run_channel_auth(const RunContext& context, CommandPtr command, Reply reply);

// Chooses among the above.
void run_command(const RunContext& context, CommandPtr command, Reply reply);

}  // namespace millstream::queue::mqsc
