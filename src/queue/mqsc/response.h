// What a command answers, before it is text or JSON.
// Thread: any (no sharing).
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "queue/mqsc/script_reader.h"

namespace millstream::queue::mqsc {

enum class FieldKind : uint8_t { kText, kNumber, kFlag, kList };

struct Field {
  std::string keyword;  // of a flag the word that is shown: NOTRIGGER
  std::string value;
  FieldKind kind = FieldKind::kText;
  std::vector<std::string> items;  // of a list
  bool is_named_number =
      false;         // a number that is shown as a word: MAXDEPTH has none, EXPIRY(UNLIMITED)
  std::string flag;  // of a flag: the keyword that it belongs to
};

struct Row {
  std::vector<Field> fields;
};

struct CommandResponse {
  int32_t completion = 0;
  int32_t reason = 0;
  bool is_syntax_error = false;
  std::string explanation;          // of a syntax error: what is wrong
  std::vector<std::string> syntax;  // and what would be right
  SourcePlace place;                // of a syntax error; line 0: the column in the command, from 1
  std::string title;                // in front of each row: "AMQ8409I: Display Queue details."
  std::vector<Row> rows;
  std::vector<std::string> messages;  // lines behind the rows
};

// A row in two columns as runmqsc shows it: three blanks, the second column from column 44 on. What
// does not fit has a line of its own, a list a line an item.
std::vector<std::string> row_lines(const Row& row);
// Everything a command answers, line by line.
std::vector<std::string> response_lines(const CommandResponse& response);

Field text_field(std::string_view keyword, std::string value);
Field number_field(std::string_view keyword, int64_t value);
Field blank_field(std::string_view keyword);
Field list_field(std::string_view keyword, std::vector<std::string> items);
// "2026-11-30" and "14.05.09" of a time in GMT; blank for 0.
Field date_field(std::string_view keyword, int64_t gmt_ms);
Field time_field(std::string_view keyword, int64_t gmt_ms);

}  // namespace millstream::queue::mqsc
