#include <algorithm>

#include "base/flags.h"

namespace millstream::base {
namespace {

constexpr size_t kHelpColumns = 100;

// Appends `text` broken at blanks; continuation lines begin in column `indent`.
void append_wrapped(std::string_view text, size_t indent, std::string& out) {
  size_t line_start = out.rfind('\n') == std::string::npos ? 0 : out.rfind('\n') + 1;
  size_t column = out.size() - line_start;
  bool is_first = true;
  for (size_t at = 0; at < text.size();) {
    size_t end = std::min(text.find(' ', at), text.size());
    std::string_view word = text.substr(at, end - at);
    if (!is_first && column + 1 + word.size() > kHelpColumns) {
      out += '\n';
      out.append(indent, ' ');
      column = indent;
    } else if (!is_first) {
      out += ' ';
      ++column;
    }
    out += word;
    column += word.size();
    is_first = false;
    at = end + 1;
  }
  out += '\n';
}

std::string flag_usage(const FlagSpec& flag) {
  std::string text = flag.short_name ? std::string("-") + flag.short_name + ", " : std::string();
  text += flag.kind == FlagKind::kSwitch && flag.default_text == "on" ? "--no-" : "--";
  text += flag.name;
  if (flag.kind != FlagKind::kSwitch) {
    text += ' ';
    text += flag.value_name;
  }
  return text;
}

std::string flag_text(const FlagSpec& flag) {
  std::string text(flag.help);
  auto add = [&](std::string_view note) {
    text += text.ends_with('.') ? " " : ". ";
    text += note;
    text += '.';
  };
  if (flag.kind == FlagKind::kChoice) {
    std::string choices = "One of";
    for (std::string_view choice : flag.choices) {
      choices += ' ';
      choices += choice;
    }
    add(choices);
  }
  if (flag.is_repeated) add("May be repeated");
  if (!flag.default_text.empty() && flag.kind != FlagKind::kSwitch) {
    add("Default: " + std::string(flag.default_text));
  }
  return text;
}

// "name<padding>text" lines with the texts in one column.
void append_table(const std::vector<std::pair<std::string, std::string>>& rows, std::string& out) {
  size_t width = 0;
  for (const auto& [name, text] : rows) width = std::max(width, name.size());
  for (const auto& [name, text] : rows) {
    out += "  " + name;
    out.append(width - name.size() + 2, ' ');
    append_wrapped(text, width + 4, out);
  }
}

std::string usage_line(const ProgramSpec& program, const CommandSpec& command) {
  std::string out = std::string(program.name) + ' ' + std::string(command.name);
  if (!command.arguments.empty()) out += ' ' + std::string(command.arguments);
  if (!command.flags.empty()) out += " [OPTION...]";
  return out;
}

// A cell of a Markdown table.
std::string cell(std::string_view text) {
  std::string out;
  for (char c : text) {
    if (c == '|') out += '\\';
    out += c;
  }
  return out;
}

}  // namespace

std::string program_help(const ProgramSpec& program) {
  std::string out =
      std::string(program.name) + ": " + std::string(program.summary) + "\n\nCommands:\n";
  std::vector<std::pair<std::string, std::string>> rows;
  for (const CommandSpec& c : program.commands) rows.emplace_back(c.name, c.summary);
  append_table(rows, out);
  out += "\n`" + std::string(program.name) + " COMMAND --help` tells more about one.\n";
  return out;
}

std::string command_help(const ProgramSpec& program, const CommandSpec& command) {
  std::string out = "Usage: " + usage_line(program, command) + "\n\n";
  append_wrapped(command.summary, 0, out);
  if (!command.description.empty()) {
    out += '\n';
    append_wrapped(command.description, 0, out);
  }
  out += "\nOptions:\n";
  std::vector<std::pair<std::string, std::string>> rows;
  for (const FlagSpec& flag : command.flags) rows.emplace_back(flag_usage(flag), flag_text(flag));
  rows.emplace_back("--help", "Show this text.");
  append_table(rows, out);
  if (!command.examples.empty()) out += "\nExamples:\n";
  for (const FlagExample& example : command.examples) {
    out += "  " + std::string(example.command_line) + "\n      ";
    append_wrapped(example.what, 6, out);
  }
  return out;
}

std::string command_reference(const ProgramSpec& program) {
  std::string out = "<!-- Generated from the command table. Do not edit. -->\n# Commands\n\n";
  out += std::string(program.summary) + "\n";
  for (const CommandSpec& command : program.commands) {
    out += "\n## " + std::string(command.name) + "\n\n```\n" + usage_line(program, command) +
           "\n```\n\n";
    out += std::string(command.summary) + "\n";
    if (!command.description.empty()) out += "\n" + std::string(command.description) + "\n";
    if (!command.flags.empty()) out += "\n| Option | Meaning |\n|---|---|\n";
    for (const FlagSpec& flag : command.flags) {
      out += "| `" + cell(flag_usage(flag)) + "` | " + cell(flag_text(flag)) + " |\n";
    }
    for (const FlagExample& example : command.examples) {
      if (!example.what.empty()) out += "\n" + std::string(example.what) + ":\n";
      out += "\n```sh\n" + std::string(example.command_line) + "\n```\n";
    }
  }
  return out;
}

}  // namespace millstream::base
