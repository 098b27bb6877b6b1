// The shape of a command: words and clauses, before anything is known of their meaning.
//
//   DEFINE QLOCAL('DEV.QUEUE.1') MAXDEPTH(10) NOTRIGGER DESCR('It''s mine')
//
// Words fold to upper case unless they are quoted. Clauses are separated by blanks or commas, the
// values of one by blanks or commas too; a value with blanks, commas, parentheses or quotes has to
// be quoted. Offsets are in the text of the command.
// Limits: kClausesMax, kValuesMax.
// Thread: any.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace millstream::queue::mqsc {

constexpr size_t kClausesMax = 500;
constexpr size_t kValuesMax = 1'000;

struct Word {
  std::string text;
  bool is_quoted = false;
  size_t begin = 0;
  size_t end = 0;  // behind the last character, quotes included
};
struct Clause {
  Word keyword;
  bool has_values = false;
  std::vector<Word> values;
  size_t end = 0;
  const std::string& value() const { return values.front().text; }
};

struct SyntaxError {
  bool is_set = false;
  std::string id = "AMQ8405I";  // or AMQ8411E, AMQ8412E, AMQ8413E
  std::string text;             // what is wrong, a sentence
  size_t begin = 0;             // of what is wrong
  size_t end = 0;
};

// What stays before the first error is in `out`.
SyntaxError parse_clauses(std::string_view text, std::vector<Clause>& out);
SyntaxError syntax_error(const Word& word, std::string text, std::string id = "AMQ8405I");
// All of a command: for what is missing.
Word whole_word(std::string_view command);
// A value as MQSC reads it again: quoted unless it needs none.
std::string quoted(std::string_view value);
bool needs_quotes(std::string_view value);
std::string upper_case(std::string_view text);

}  // namespace millstream::queue::mqsc
