#include "flowtest/esqltest_file.h"

#include <algorithm>

#include "flowtest/errors_gen.h"

namespace millstream::flowtest {
namespace {

std::string_view trim_blanks(std::string_view s) {
  while (!s.empty() && (s.front() == ' ' || s.front() == '\t')) s.remove_prefix(1);
  while (!s.empty() && (s.back() == ' ' || s.back() == '\t' || s.back() == '\r'))
    s.remove_suffix(1);
  return s;
}

bool is_heading(std::string_view line) {
  return line.starts_with("=== ") || line.starts_with("--- ");
}

std::vector<std::string> split_lines(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    size_t end = text.find('\n');
    lines.emplace_back(text.substr(0, end));
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  }
  return lines;
}

// Body lines that look like headings are written with a backslash.
std::string unescape_line(const std::string& line) {
  bool is_escaped =
      line.size() > 1 && line[0] == '\\' && (is_heading(line.substr(1)) || line[1] == '\\');
  return is_escaped ? line.substr(1) : line;
}

bool is_one_of(std::string_view word, const std::vector<std::string_view>& words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

bool has_expectation(const TestCase& test, const TestGrammar& grammar) {
  return std::any_of(test.sections.begin(), test.sections.end(),
                     [&](const TestSection& s) { return is_one_of(s.kind, grammar.expectations); });
}

// Blank lines that part the sections belong to no body.
void drop_last_blanks(TestSection& s) {
  while (s.body.ends_with('\n')) {
    s.body.pop_back();
    --s.line_count;
  }
  if (s.line_count == 1 && trim_blanks(s.body).empty()) s.line_count = 0;
}

}  // namespace

std::string body_line(std::string_view line) {
  const bool is_escaped = is_heading(line) || line.starts_with("\\");
  return (is_escaped ? "\\" : "") + std::string(line);
}

const TestSection* TestCase::find(std::string_view kind, std::string_view argument) const {
  for (const TestSection& s : sections) {
    if (s.kind == kind && (argument.empty() || s.argument == argument)) return &s;
  }
  return nullptr;
}

const TestGrammar& esqltest_grammar() {
  static const TestGrammar kGrammar{
      {"esql", "input", "zone", "property", "expect", "exception", "setup", "exprs", "messages"},
      {"expect", "exception", "exprs"}};
  return kGrammar;
}

Result<TestFile> TestFile::parse(std::string path, std::string_view text,
                                 const TestGrammar& grammar) {
  TestFile file;
  file.path = std::move(path);
  file.lines = split_lines(text);
  auto fail = [&](size_t i, std::string_view what) {
    return base::make_error_at(errors::kTestFile, {file.path, static_cast<uint32_t>(i + 1), 1},
                               {base::Insert(file.path), base::Insert(i + 1), base::Insert(what)});
  };
  auto sections = [&]() -> std::vector<TestSection>& {
    return file.cases.empty() ? file.prelude.sections : file.cases.back().sections;
  };
  for (size_t i = 0; i < file.lines.size(); ++i) {
    const std::string& line = file.lines[i];
    if (line.starts_with("=== ")) {
      file.cases.push_back({std::string(trim_blanks(std::string_view(line).substr(4))), i + 1, {}});
    } else if (line.starts_with("--- ")) {
      if (file.cases.empty() && !grammar.has_prelude) {
        return fail(i, "a section stands before the first '=== name'");
      }
      std::string_view rest = trim_blanks(std::string_view(line).substr(4));
      size_t blank = rest.find(' ');
      TestSection s;
      s.kind = rest.substr(0, blank);
      if (!is_one_of(s.kind, grammar.kinds)) return fail(i, "unknown section '" + s.kind + "'");
      if (blank != std::string_view::npos) s.argument = trim_blanks(rest.substr(blank));
      s.first_line = i + 1;
      sections().push_back(std::move(s));
    } else if (!sections().empty()) {
      TestSection& s = sections().back();
      if (s.line_count++ > 0) s.body += '\n';
      s.body += unescape_line(line);
    } else if (!trim_blanks(line).empty() && line[0] != '#') {
      return fail(i, "expected '=== name', '--- section' or a comment");
    }
  }
  for (TestSection& s : file.prelude.sections) drop_last_blanks(s);
  for (TestCase& c : file.cases) {
    if (!has_expectation(c, grammar)) return fail(c.line - 1, "the case expects nothing");
    for (TestSection& s : c.sections) drop_last_blanks(s);
  }
  return file;
}

void TestFile::replace_body(const TestSection& section, std::string_view body) {
  Edit e{section.first_line, section.line_count, split_lines(body)};
  for (std::string& line : e.lines) line = body_line(line);
  edits_.push_back(std::move(e));
}

std::string TestFile::text() const {
  std::vector<Edit> edits = edits_;
  std::sort(edits.begin(), edits.end(),
            [](const Edit& a, const Edit& b) { return a.first_line < b.first_line; });
  std::string out;
  size_t next = 0;
  auto copy_to = [&](size_t end) {
    for (; next < end && next < lines.size(); ++next) out += lines[next] + "\n";
  };
  for (const Edit& e : edits) {
    copy_to(e.first_line);
    for (const std::string& line : e.lines) out += line + "\n";
    next = e.first_line + e.line_count;
  }
  copy_to(lines.size());
  return out;
}

}  // namespace millstream::flowtest
