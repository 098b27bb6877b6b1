#include "flowtest/esqltest.h"

#include <fstream>
#include <sstream>

#include "flowtest/errors_gen.h"
#include "flowtest/esqltest_case.h"
#include "flowtest/esqltest_file.h"
#include "flowtest/test_files.h"
#include "flowtest/tree_text.h"

namespace millstream::flowtest {
namespace {

// Runs all cases of one file.
class FileRunner {
 public:
  FileRunner(TestFile& file, const EsqlTestOptions& options,
             const std::function<void(std::string_view)>& out, EsqlTestSummary& summary)
      : file_(file), options_(options), out_(out), summary_(summary) {}
  void run(const TestCase& test);
  bool has_rewritten() const { return has_rewritten_; }

 private:
  void run_program(const TestCase& test, const TestSection& esql);
  void run_table(const TestCase& test, const TestSection& table);
  Result<std::string> evaluate(const TestCase& test, std::string_view setup,
                               std::string_view expression);
  bool table_line_matches(const TestCase& test, std::string_view expected,
                          const Result<std::string>& actual);
  Result<std::string> actual_of(CaseRun& run, const TestSection& expect);
  void check_load(CaseRun& run, const TestSection& expect);
  void check_error(const Status& status, const TestSection& expect);
  void fail(size_t line, std::string_view what);
  void finish(size_t line, std::string name);
  void mismatch(const TestSection& s, std::string_view expected, const std::string& actual);

  TestFile& file_;
  const EsqlTestOptions& options_;
  const std::function<void(std::string_view)>& out_;
  EsqlTestSummary& summary_;
  const TestCase* test_ = nullptr;
  std::vector<TestFailure> failures_;  // of the case at hand
  bool has_failed_ = false;
  bool has_rewritten_ = false;
  bool is_counted_ = false;  // the case at hand, among those rewritten
};

void FileRunner::fail(size_t line, std::string_view what) {
  has_failed_ = true;
  failures_.push_back({line, std::string(what)});
  out_(file_.path + ":" + std::to_string(line) + ": " + test_->name + ": " + std::string(what));
}

// Counts what has come to its end.
void FileRunner::finish(size_t line, std::string name) {
  ++(has_failed_ ? summary_.failed : summary_.passed);
  summary_.outcomes.push_back({file_.path, std::move(name), line, 0, std::move(failures_), {}});
  failures_.clear();
}

void FileRunner::mismatch(const TestSection& s, std::string_view expected,
                          const std::string& actual) {
  if (options_.rebaseline) {
    if (s.body == actual) return;
    file_.replace_body(s, actual);
    has_rewritten_ = true;
    if (!is_counted_) ++summary_.rewritten;
    is_counted_ = true;
    return;
  }
  fail(s.first_line, s.kind + (s.argument.empty() ? "" : " " + s.argument) +
                         "\n  expected: " + std::string(expected) + "\n  found:    " + actual);
}

std::string join_lines(const std::vector<std::string>& lines) {
  std::string out;
  for (const std::string& line : lines) out += (out.empty() ? "" : "\n") + line;
  return out;
}

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  std::istringstream in{std::string(text)};
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

// Whether some error of the chain has this id and contains the rest of the line.
bool chain_has(const base::Error& e, std::string_view wanted) {
  size_t blank = wanted.find(' ');
  std::string_view id = wanted.substr(0, blank);
  std::string_view part =
      blank == std::string_view::npos ? std::string_view() : wanted.substr(blank + 1);
  bool has_id = id == "*" || id == e.code->id || id == e.id_with_letter() ||
                id == "BIP" + std::to_string(e.number);
  if (has_id && e.text.find(part) != std::string::npos) return true;
  for (const auto& cause : e.causes) {
    if (chain_has(*cause, wanted)) return true;
  }
  return false;
}

std::string innermost_id(const base::Error& e) {
  const base::Error& inner = e.innermost();
  std::string id = inner.code->id;
  if (inner.number != inner.code->number) id = "BIP" + std::to_string(inner.number);
  return id;
}

Result<std::string> FileRunner::actual_of(CaseRun& run, const TestSection& expect) {
  esql::EvalContext context = run.eval_context();
  const std::string& what = expect.argument;
  if (what == "tree") return children_text(context, run.output().root);
  if (what == "environment") return children_text(context, run.environment());
  if (what == "local_environment") return children_text(context, run.output().local_environment);
  if (what == "exceptions") return children_text(context, run.output().exception_list);
  if (what == "return") {
    return std::string(run.result() == esql::Tri::kTrue    ? "TRUE"
                       : run.result() == esql::Tri::kFalse ? "FALSE"
                                                           : "NULL");
  }
  if (what == "propagate") return join_lines(run.host().propagated);
  if (what == "log") return join_lines(run.host().logged);
  return run.output_body();
}

void FileRunner::check_load(CaseRun& run, const TestSection& expect) {
  bool all = true;
  for (const std::string& line : lines_of(expect.body)) {
    all = all && run.diagnostics().find(line) != std::string::npos;
  }
  if (!all || run.diagnostics().empty()) mismatch(expect, expect.body, run.diagnostics());
}

void FileRunner::check_error(const Status& status, const TestSection& expect) {
  if (status.ok()) return fail(expect.first_line, "expected an exception, but there was none");
  for (const std::string& line : lines_of(expect.body)) {
    if (line.empty() || chain_has(status.error(), line)) continue;
    if (options_.rebaseline) return mismatch(expect, "", innermost_id(status.error()));
    return mismatch(expect, line, status.error().describe());
  }
  if (expect.body.empty()) mismatch(expect, "", innermost_id(status.error()));
}

void FileRunner::run_program(const TestCase& test, const TestSection& esql) {
  CaseRun run(test, options_);
  Status status = run.prepare(esql.body);
  if (!status.ok()) return fail(test.line, status.error().describe());
  bool expects_load = false;
  for (const TestSection& s : test.sections) {
    if (s.kind != "expect" || s.argument != "load") continue;
    check_load(run, s);
    expects_load = true;
  }
  if (run.has_load_errors()) {
    if (!expects_load) fail(esql.first_line, run.diagnostics());
    return;
  }
  status = run.run();
  const TestSection* exception = test.find("exception");
  if (exception) {
    check_error(status, *exception);
  } else if (!status.ok()) {
    return fail(test.line, status.error().describe());
  }
  for (const TestSection& s : test.sections) {
    if (s.kind != "expect" || s.argument == "load") continue;
    Result<std::string> actual = actual_of(run, s);
    if (!actual.ok()) {
      fail(s.first_line, actual.error().describe());
      continue;
    }
    bool is_tree = s.argument == "tree" || s.argument == "environment" ||
                   s.argument == "local_environment" || s.argument == "exceptions";
    std::string expected = is_tree ? normalise_tree_text(s.body) : s.body;
    if (expected != actual.value()) mismatch(s, expected, actual.value());
  }
}

// The value of an expression as a literal.
Result<std::string> FileRunner::evaluate(const TestCase& test, std::string_view setup,
                                         std::string_view expression) {
  CaseRun run(test, options_);
  std::string source = std::string(setup) + "\nSET Environment.result VALUE = ";
  MS_TRY(run.prepare(source.append(expression).append("\n;")));
  if (run.has_load_errors()) {
    return base::make_error(errors::kTestSource, {base::Insert(run.diagnostics())});
  }
  MS_TRY(run.run());
  esql::EvalContext context = run.eval_context();
  tree::Element* result = tree::find_child(run.environment(), "result");
  return result ? value_text(context, tree::scalar_value(result)) : std::string("NULL");
}

// "!BIP2450 part of the text", any error of the chain; or a literal, in any spelling of the value.
bool FileRunner::table_line_matches(const TestCase& test, std::string_view expected,
                                    const Result<std::string>& actual) {
  if (expected.starts_with("!")) {
    std::string_view wanted = expected.substr(1);
    return !actual.ok() && (wanted.empty() || chain_has(actual.error(), wanted));
  }
  if (!actual.ok()) return false;
  if (expected == actual.value()) return true;
  Result<std::string> same = evaluate(test, {}, expected);
  return same.ok() && same.value() == actual.value();
}

void FileRunner::run_table(const TestCase& test, const TestSection& table) {
  const TestSection* setup = test.find("setup");
  std::string_view setup_text = setup ? std::string_view(setup->body) : std::string_view();
  std::vector<std::string> lines = lines_of(table.body);
  for (size_t i = 0; i < lines.size(); ++i) {
    const std::string& line = lines[i];
    if (line.empty() || line[0] == '#') continue;
    size_t arrow = line.rfind(" => ");
    has_failed_ = false;
    size_t number = table.first_line + i + 1;
    if (arrow == std::string::npos) {
      fail(number, "expected 'expression => value'");
    } else {
      std::string_view expected = std::string_view(line).substr(arrow + 4);
      std::string_view expression = std::string_view(line).substr(0, arrow);
      Result<std::string> actual = evaluate(test, setup_text, expression);
      if (!table_line_matches(test, expected, actual)) {
        std::string kept = actual.ok() ? actual.value() : "!" + innermost_id(actual.error());
        if (options_.rebaseline) {
          const std::string written = line.substr(0, arrow) + " => " + kept;
          if (written != line) {
            file_.replace_line(table.first_line + i, written);
            has_rewritten_ = true;
            ++summary_.rewritten;
          }
        } else {
          fail(number, std::string(expression) + "\n  expected: " + std::string(expected) +
                           "\n  found:    " + (actual.ok() ? kept : actual.error().describe()));
        }
      }
    }
    finish(number, test.name + ": " + line);
  }
}

void FileRunner::run(const TestCase& test) {
  test_ = &test;
  has_failed_ = false;
  is_counted_ = false;
  const TestSection* esql = test.find("esql");
  if (esql) {
    run_program(test, *esql);
    finish(test.line, test.name);
    if (!has_failed_ && options_.is_verbose) out_("ok " + file_.path + ": " + test.name);
  }
  for (const TestSection& s : test.sections) {
    if (s.kind == "exprs") run_table(test, s);
  }
  if (!esql && !test.find("exprs")) {
    fail(test.line, "neither an esql nor an exprs section");
    finish(test.line, test.name);
  }
}

Status run_file(const std::string& path, const EsqlTestOptions& options,
                const std::function<void(std::string_view)>& out, EsqlTestSummary& summary) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream content;
  content << in.rdbuf();
  if (!in) return base::make_error(errors::kTestIo, {base::Insert(path)});
  TestFile file = MS_TRY(TestFile::parse(path, content.str()));
  FileRunner runner(file, options, out, summary);
  for (const TestCase& test : file.cases) {
    bool is_wanted = options.filter.empty() ||
                     (path + ": " + test.name).find(options.filter) != std::string::npos;
    if (is_wanted) runner.run(test);
  }
  if (!runner.has_rewritten()) return {};
  std::ofstream result(path, std::ios::binary | std::ios::trunc);
  result << file.text();
  result.close();
  if (!result) return base::make_error(errors::kTestIo, {base::Insert(path)});
  return {};
}

}  // namespace

Result<EsqlTestSummary> run_esqltests(const std::vector<std::string>& paths,
                                      const EsqlTestOptions& options,
                                      const std::function<void(std::string_view)>& out) {
  EsqlTestSummary summary;
  const TestFiles files = MS_TRY(find_test_files(paths));
  for (const std::string& path : files.esqltests) MS_TRY(run_file(path, options, out, summary));
  return summary;
}

}  // namespace millstream::flowtest
