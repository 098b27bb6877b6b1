// Takes an MQSC script apart into commands, line by line, as runmqsc reads its input.
//
// A line whose first character that is not blank is `*` is a comment, also between continued lines.
// A command ends with its line or with a `;` outside quotes. A `+` at the end of a line continues
// the command with the first character of the next line that is not blank, a `-` with its first
// character; both do so inside quotes too.
// Limits: kCommandBytesMax; a longer command is one item kTooLong, and its rest is not looked at.
// Thread: one. Ownership: items own their text.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace millstream::queue::mqsc {

constexpr size_t kCommandBytesMax = 32'762;

struct SourcePlace {
  uint32_t line = 0;  // from 1
  uint32_t column = 0;
};

struct ScriptItem {
  enum class Kind : uint8_t { kComment, kCommand, kTooLong };
  Kind kind = Kind::kCommand;
  std::string text;                // the command, put together
  std::vector<std::string> lines;  // as they were read, for the echo
  // Where pieces of `text` come from: offset in the text and place in the script, ascending.
  std::vector<std::pair<size_t, SourcePlace>> pieces;

  SourcePlace place(size_t offset) const;
};

class ScriptReader {
 public:
  // Appends what is complete to `out`. `line` without its end.
  void push_line(std::string_view line, std::vector<ScriptItem>& out);
  // The end of the input: a command that waits for its continuation is complete.
  void finish(std::vector<ScriptItem>& out);
  bool is_inside_command() const { return is_open_; }

 private:
  void append_piece(std::string_view part, size_t column);
  void close(std::vector<ScriptItem>& out);

  ScriptItem item_;
  uint32_t line_ = 0;
  bool is_open_ = false;
  bool is_in_quotes_ = false;
  bool skips_blanks_ = false;
};

// A whole script at once.
std::vector<ScriptItem> read_script(std::string_view script);

}  // namespace millstream::queue::mqsc
