// Shell completion from the command table.
#include <algorithm>

#include "base/flags.h"

namespace millstream::base {
namespace {

enum class Candidates : uint8_t { kNone, kFiles, kFolders, kWords, kCommand };

// What can stand for an argument or the value of an option.
struct Completion {
  Candidates kind = Candidates::kNone;
  std::vector<std::string> words;  // kWords
  std::string command;             // kCommand: its output, one a line
};

bool holds(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// By how the usage line shows it: PATH and FILE are files, lower case alternatives are words.
Completion of_usage(std::string_view usage) {
  Completion out;
  if (holds(usage, "FOLDER")) out.kind = Candidates::kFolders;
  if (holds(usage, "PATH") || holds(usage, "FILE")) out.kind = Candidates::kFiles;
  if (out.kind != Candidates::kNone) return out;
  std::string word;
  for (char c : std::string(usage) + "|") {
    const bool is_lower = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
    if (is_lower) {
      word += c;
    } else if (!word.empty()) {
      out.words.push_back(std::move(word));
      word.clear();
    }
  }
  // Upper case stands for something that is not known here.
  const bool has_upper =
      std::any_of(usage.begin(), usage.end(), [](char c) { return c >= 'A' && c <= 'Z'; });
  if (has_upper) out.words.clear();
  if (!out.words.empty()) out.kind = Candidates::kWords;
  return out;
}

Completion of_arguments(const ProgramSpec& program, const CommandSpec& command) {
  if (!command.names_from.empty()) {
    Completion out;
    out.kind = Candidates::kCommand;
    out.command = std::string(program.name) + " " + std::string(command.names_from);
    return out;
  }
  return of_usage(command.arguments);
}

Completion of_flag(const FlagSpec& flag) {
  if (flag.kind != FlagKind::kChoice) return of_usage(flag.value_name);
  Completion out;
  out.kind = Candidates::kWords;
  for (std::string_view choice : flag.choices) out.words.emplace_back(choice);
  return out;
}

std::string joined(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& w : words) out += (out.empty() ? "" : " ") + w;
  return out;
}

std::string shown_name(const FlagSpec& flag) {
  const bool is_on = flag.kind == FlagKind::kSwitch && flag.default_text == "on";
  return (is_on ? "no-" : "") + std::string(flag.name);
}

// ---------------------------------------------------------------- bash

std::string bash_reply(const Completion& c) {
  switch (c.kind) {
    case Candidates::kFiles:
      return "_millstream_files -f";
    case Candidates::kFolders:
      return "_millstream_files -d";
    case Candidates::kWords:
      return "_millstream_words \"" + joined(c.words) + "\"";
    case Candidates::kCommand:
      return "_millstream_words \"$(" + c.command + " 2>/dev/null)\"";
    case Candidates::kNone:
      break;
  }
  return ":";
}

std::string bash_script(const ProgramSpec& program) {
  std::string commands, values, arguments;
  for (const CommandSpec& command : program.commands) {
    const std::string name(command.name);
    commands += (commands.empty() ? "" : " ") + name;
    std::string options = "--help";
    for (const FlagSpec& flag : command.flags) {
      options += " --" + shown_name(flag);
      if (flag.kind == FlagKind::kSwitch) continue;
      values += "    " + name + ":--" + std::string(flag.name);
      if (flag.short_name) values += "|" + name + ":-" + std::string(1, flag.short_name);
      values += ") " + bash_reply(of_flag(flag)) + "; return ;;\n";
    }
    arguments += "    " + name + ") if [[ $cur == -* ]]; then _millstream_words \"" + options +
                 "\"; else " + bash_reply(of_arguments(program, command)) + "; fi ;;\n";
  }
  return "# Completion of " + std::string(program.name) +
         " for bash. In ~/.bashrc: eval \"$(millstream completion bash)\"\n"
         "_millstream_words() { COMPREPLY=($(compgen -W \"$1\" -- \"$cur\")); }\n"
         "_millstream_files() {\n"
         "  compopt -o filenames 2>/dev/null\n"
         "  local IFS=$'\\n'\n"
         "  COMPREPLY=($(compgen \"$1\" -- \"$cur\"))\n"
         "}\n"
         "_millstream() {\n"
         "  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} command= i\n"
         "  COMPREPLY=()\n"
         "  # bash takes --name=value for three words.\n"
         "  if [[ $cur == \"=\" ]]; then cur=; "
         "elif [[ $prev == \"=\" ]]; then prev=${COMP_WORDS[COMP_CWORD-2]}; fi\n"
         "  for ((i = 1; i < COMP_CWORD; i++)); do\n"
         "    if [[ ${COMP_WORDS[i]} != -* ]]; then command=${COMP_WORDS[i]}; break; fi\n"
         "  done\n"
         "  if [[ -z $command ]]; then _millstream_words \"help " +
         commands +
         "\"; return; fi\n"
         "  case $command:$prev in\n" +
         values +
         "  esac\n"
         "  case $command in\n"
         "    help) _millstream_words \"" +
         commands + "\" ;;\n" + arguments +
         "  esac\n"
         "}\n"
         "complete -F _millstream " +
         std::string(program.name) + "\n";
}

// ---------------------------------------------------------------- zsh

std::string escaped(std::string_view text, std::string_view special) {
  std::string out;
  for (char c : text) {
    if (c == '\'') {
      out += "'\\''";
      continue;
    }
    if (special.find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

std::string zsh_action(const Completion& c) {
  switch (c.kind) {
    case Candidates::kFiles:
      return "_files";
    case Candidates::kFolders:
      return "_files -/";
    case Candidates::kWords:
      return "(" + joined(c.words) + ")";
    case Candidates::kCommand:
      return "{compadd -- ${(f)\"$(" + c.command + " 2>/dev/null)\"}}";
    case Candidates::kNone:
      break;
  }
  return " ";
}

std::string zsh_script(const ProgramSpec& program) {
  const std::string name(program.name);
  std::string commands, cases;
  for (const CommandSpec& command : program.commands) {
    commands += "    '" + std::string(command.name) + ":" + escaped(command.summary, ":\\") + "'\n";
    cases +=
        "    " + std::string(command.name) + ")\n      _arguments '--help[Show a text about it.]'";
    for (const FlagSpec& flag : command.flags) {
      cases +=
          " \\\n        '" + std::string(flag.is_repeated ? "*" : "") + "--" + shown_name(flag);
      if (flag.kind != FlagKind::kSwitch) cases += "=";
      cases += "[" + escaped(flag.help, "[]:\\") + "]";
      if (flag.kind != FlagKind::kSwitch) {
        cases += ":" + std::string(flag.value_name) + ":" + zsh_action(of_flag(flag));
      }
      cases += "'";
    }
    const Completion arguments = of_arguments(program, command);
    if (arguments.kind != Candidates::kNone) {
      cases += " \\\n        '*:argument:" + escaped(zsh_action(arguments), "") + "'";
    }
    cases += " ;;\n";
  }
  return "#compdef " + name + "\n# Completion of " + name +
         " for zsh. As _millstream in a folder of $fpath, or: source <(millstream completion zsh)\n"
         "_millstream() {\n"
         "  local -a commands\n"
         "  commands=(\n" +
         commands +
         "  )\n"
         "  if (( CURRENT == 2 )); then _describe command commands; return; fi\n"
         "  local command=$words[2]\n"
         "  shift words\n"
         "  (( CURRENT-- ))\n"
         "  case $command in\n" +
         cases +
         "  esac\n"
         "}\n"
         // Loaded by the first completion, the file itself is what completes it.
         "if [[ $funcstack[1] == _millstream ]]; then _millstream \"$@\"; "
         "else compdef _millstream " +
         name + "; fi\n";
}

// ---------------------------------------------------------------- fish

std::string fish_values(const Completion& c) {
  switch (c.kind) {
    case Candidates::kFiles:
      return " -F";
    case Candidates::kFolders:
      return " -a '(__fish_complete_directories)'";
    case Candidates::kWords:
      return " -a '" + joined(c.words) + "'";
    case Candidates::kCommand:
      return " -a '(" + c.command + " 2>/dev/null)'";
    case Candidates::kNone:
      break;
  }
  return "";
}

std::string fish_text(std::string_view text) {
  std::string out;
  for (char c : text) {
    if (c == '\'' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

std::string fish_script(const ProgramSpec& program) {
  const std::string start = "complete -c " + std::string(program.name);
  std::string out = "# Completion of " + std::string(program.name) +
                    " for fish. In ~/.config/fish/completions/millstream.fish\n" + start + " -f\n";
  for (const CommandSpec& command : program.commands) {
    const std::string name(command.name);
    out += start + " -n __fish_use_subcommand -a " + name + " -d '" + fish_text(command.summary) +
           "'\n";
    const std::string within = start + " -n '__fish_seen_subcommand_from " + name + "'";
    const Completion arguments = of_arguments(program, command);
    if (arguments.kind != Candidates::kNone) out += within + fish_values(arguments) + "\n";
    for (const FlagSpec& flag : command.flags) {
      out += within + " -l " + shown_name(flag);
      if (flag.short_name) out += std::string(" -s ") + flag.short_name;
      if (flag.kind != FlagKind::kSwitch) out += " -r" + fish_values(of_flag(flag));
      out += " -d '" + fish_text(flag.help) + "'\n";
    }
  }
  return out;
}

}  // namespace

std::string completion_script(const ProgramSpec& program, std::string_view shell) {
  if (shell == "bash") return bash_script(program);
  if (shell == "zsh") return zsh_script(program);
  if (shell == "fish") return fish_script(program);
  return {};
}

}  // namespace millstream::base
