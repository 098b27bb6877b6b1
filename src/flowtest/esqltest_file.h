// The text form of ESQL tests, and writing expectations back into it.
//
//   # comment (before the first section of a case)
//   === name of the case
//   --- esql                   statements of a Compute Main, or whole modules when there is a
//   CREATE
//                              MODULE (the first module runs)
//   --- input xmlnsc           body of InputRoot by domain; `input blob` takes hexadecimal digits
//   --- zone Europe/Paris      server's zone; default Europe/London
//   --- property name=value    a user-defined property
//   --- messages 3             runs that many messages; expectations are about the last
//   --- expect xmlnsc|json|... the serialised body of OutputRoot (any word that is none below)
//   --- expect tree            OutputRoot without its name, in the notation of tree_text.h
//   --- expect environment     Environment, likewise; also: local_environment, exceptions
//   --- expect return          TRUE, FALSE or NULL
//   --- expect propagate       one line a PROPAGATE: terminal, then the body
//   --- expect log             one line a LOG
//   --- expect load            one line a diagnostic; each must occur in one that was reported
//   --- exception              one line an error of the chain: its id, or id and part of its text
//   --- setup                  statements before every line of `exprs`
//   --- exprs                  lines "expression => literal" (any spelling of the value), or
//                              "expression => !BIPnnnn part of text" (any error of the chain)
//
// A line of a body that would look like a heading is written with a leading backslash.
// Thread: any.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace millstream::flowtest {

struct TestSection {
  std::string kind;       // "esql", "input", "expect", ...
  std::string argument;   // "xmlnsc"
  std::string body;       // without the last line end
  size_t first_line = 0;  // index of the first body line in TestFile::lines
  size_t line_count = 0;
};

struct TestCase {
  std::string name;
  size_t line = 0;  // of its heading, from 1
  std::vector<TestSection> sections;
  const TestSection* find(std::string_view kind, std::string_view argument = {}) const;
};

// A line of a body as it is written in the file: one that looks like a heading gets a backslash.
std::string body_line(std::string_view line);

// What the sections of a kind of test file may be.
struct TestGrammar {
  std::vector<std::string_view> kinds;
  std::vector<std::string_view> expectations;  // a case has one of these
  bool has_prelude = false;  // sections before the first case, which hold for all of them
};
const TestGrammar& esqltest_grammar();

struct TestFile {
  std::string path;
  std::vector<std::string> lines;
  TestCase prelude;
  std::vector<TestCase> cases;

  static Result<TestFile> parse(std::string path, std::string_view text,
                                const TestGrammar& grammar = esqltest_grammar());
  // Replaces the body of a section; the positions of all others are kept right.
  void replace_body(const TestSection& section, std::string_view body);
  void replace_line(size_t index, std::string text) { lines[index] = std::move(text); }
  std::string text() const;
  bool has_edits() const { return !edits_.empty(); }

 private:
  struct Edit {
    size_t first_line;
    size_t line_count;
    std::vector<std::string> lines;
  };
  std::vector<Edit> edits_;
};

}  // namespace millstream::flowtest
