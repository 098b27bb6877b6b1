// The command line as a table: each command is data (options, arguments, examples), and from it
// come parsing, the help texts and the reference page.
//
//   --name VALUE   --name=VALUE   -n VALUE   --switch   --no-switch   -- (the rest are arguments)
//
// Options and arguments may be mixed. Unknown names are refused with the nearest known one.
// Lifetime: the tables are static data and outlive what is parsed. Thread: any.
#pragma once
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace millstream::base {

enum class FlagKind : uint8_t {
  kSwitch,  // --name, --no-name
  kText,
  kInteger,  // within [integer_min, integer_max]
  kChoice,   // one of choices
};

struct FlagSpec {
  std::string_view name;        // "http-port", without the dashes
  std::string_view value_name;  // "PORT"; not for switches
  std::string_view help;        // one sentence
  FlagKind kind = FlagKind::kText;
  std::string_view default_text = {};  // shown in the help, and the value when absent
  char short_name = 0;
  bool is_repeated = false;
  int64_t integer_min = 0;
  int64_t integer_max = INT64_MAX;
  std::vector<std::string_view> choices = {};
};

struct FlagExample {
  std::string_view command_line;
  std::string_view what;
};

struct CommandSpec {
  std::string_view name;
  std::string_view arguments;  // "PATH..."; as the usage line shows them
  std::string_view summary;    // one line
  std::string_view description = {};
  size_t arguments_min = 0;
  size_t arguments_max = 0;
  std::vector<FlagSpec> flags = {};
  std::vector<FlagExample> examples = {};
  std::string_view names_from = {};  // a command whose output, a line each, are its arguments
};

struct ProgramSpec {
  std::string_view name;
  std::string_view summary;
  std::vector<CommandSpec> commands;
  const CommandSpec* find(std::string_view command) const;
};

// What was given, checked against the table; absent options have their default.
class ParsedFlags {
 public:
  bool has(std::string_view name) const { return values_.find(name) != values_.end(); }  // given
  bool is_on(std::string_view name) const;
  std::string_view text(std::string_view name) const;  // the last one given
  int64_t integer(std::string_view name) const;        // kInteger with a value or default
  std::vector<std::string_view> all(std::string_view name) const;
  const std::vector<std::string>& arguments() const { return arguments_; }
  const CommandSpec& command() const { return *command_; }
  bool wants_help() const { return wants_help_; }

 private:
  friend class FlagParser;
  const CommandSpec* command_ = nullptr;
  bool wants_help_ = false;
  std::map<std::string_view, std::vector<std::string>, std::less<>> values_;
  std::vector<std::string> arguments_;
};

// `words`: what follows the command's name.
Result<ParsedFlags> parse_flags(const CommandSpec& command,
                                std::span<const std::string_view> words);
// The command a command line asks for; `word` is argv[1].
Result<const CommandSpec*> find_command(const ProgramSpec& program, std::string_view word);

std::string program_help(const ProgramSpec& program);
std::string command_help(const ProgramSpec& program, const CommandSpec& command);
// docs/reference/commands.md.
std::string command_reference(const ProgramSpec& program);
// What makes `shell` (bash, zsh, fish) complete command lines; empty for another shell.
std::string completion_script(const ProgramSpec& program, std::string_view shell);
// The nearest of `known` when it is near enough to be meant; empty otherwise.
std::string_view nearest_word(std::string_view word, std::span<const std::string_view> known,
                              size_t edits_max = SIZE_MAX);

}  // namespace millstream::base
