// millstream test: tests written as text.
#include <algorithm>
#include <cstdio>
#include <thread>

#include "cli/commands.h"
#include "flowtest/esqltest.h"
#include "flowtest/file_watch.h"
#include "flowtest/flowtest.h"
#include "flowtest/test_files.h"
#include "flowtest/test_import.h"
#include "io/file.h"
#include "io/folder_watch.h"
#include "mqi/constants.h"

namespace millstream::cli {
namespace {

constexpr int kSettleMs = 100;

}  // namespace

const base::CommandSpec& test_command() {
  static const base::CommandSpec kSpec{
      .name = "test",
      .arguments = "PATH...",
      .summary =
          "Run tests of flows (.flowtest) and of ESQL (.esqltest) and compare what comes out.",
      .description =
          "PATH is a file, or a folder that is searched for .flowtest and .esqltest files. The "
          "exit "
          "code is 1 when a test failed or none was found. The forms of the files are in "
          "docs/guide/flow-tests.md and docs/guide/esql-tests.md.",
      .arguments_min = 1,
      .arguments_max = 1000,
      .flags = {{.name = "filter",
                 .value_name = "TEXT",
                 .help = "Only cases whose \"file: name\" contains this."},
                {.name = "rebaseline",
                 .help = "Write what was found into the files instead of comparing.",
                 .kind = base::FlagKind::kSwitch},
                {.name = "jobs",
                 .value_name = "N",
                 .help = "Flow tests that run at once; as many as the machine has cores.",
                 .kind = base::FlagKind::kInteger,
                 .short_name = 'j'},
                {.name = "json",
                 .help = "Print the result of every case as JSON.",
                 .kind = base::FlagKind::kSwitch},
                {.name = "junit", .value_name = "FILE", .help = "Write the results as JUnit XML."},
                {.name = "coverage",
                 .help = "Print which nodes, terminals and lines of ESQL no flow test reached.",
                 .kind = base::FlagKind::kSwitch},
                {.name = "coverage-json",
                 .value_name = "FILE",
                 .help = "Write the coverage as JSON."},
                {.name = "coverage-lcov",
                 .value_name = "FILE",
                 .help = "Write the coverage of ESQL lines in LCOV's form."},
                {.name = "watch",
                 .help = "Run again whenever a file of the tests or their projects changes.",
                 .kind = base::FlagKind::kSwitch},
                {.name = "import",
                 .help = "Write flow tests for the ACE test projects in PATH instead of running "
                         "tests, and say what could not be translated.",
                 .kind = base::FlagKind::kSwitch},
                {.name = "output",
                 .value_name = "DIR",
                 .help = "Where --import writes to; beside each test project when not given."},
                {.name = "verbose",
                 .help = "A line for each case that passes, too.",
                 .kind = base::FlagKind::kSwitch,
                 .short_name = 'v'}},
      .examples = {
          {"millstream test tests/", "every test below a folder"},
          {"millstream test orders.flowtest --filter totals -v", "some cases, with a line each"},
          {"millstream test . --junit results.xml --coverage", "for a build"},
          {"millstream test --import MyTests/ --output tests/", "tests of the Toolkit"}}};
  return kSpec;
}

namespace {

struct TestRun {
  size_t passed = 0, failed = 0, rewritten = 0;
  std::vector<flowtest::TestOutcome> outcomes;
};

void print_line(std::string_view line) {
  std::printf("%.*s\n", static_cast<int>(line.size()), line.data());
}

Status run_esql(const base::ParsedFlags& flags, TestRun& run) {
  flowtest::EsqlTestOptions options;
  options.rebaseline = flags.is_on("rebaseline");
  options.filter = flags.text("filter");
  options.is_verbose = flags.is_on("verbose") && !flags.is_on("json");
  options.find_constant = mqi::find_mq_constant;
  const bool is_quiet = flags.is_on("json");
  flowtest::EsqlTestSummary s =
      MS_TRY(flowtest::run_esqltests(flags.arguments(), options, [is_quiet](std::string_view line) {
        if (!is_quiet) print_line(line);
      }));
  run.passed += s.passed;
  run.failed += s.failed;
  run.rewritten += s.rewritten;
  std::move(s.outcomes.begin(), s.outcomes.end(), std::back_inserter(run.outcomes));
  return {};
}

Status run_flows(const base::ParsedFlags& flags, const std::vector<std::string>& files,
                 flowtest::Coverage* coverage, TestRun& run) {
  flowtest::FlowTestOptions options;
  options.rebaseline = flags.is_on("rebaseline");
  options.filter = flags.text("filter");
  options.coverage = coverage;
  options.jobs = static_cast<int>(flags.integer("jobs"));
  if (options.jobs <= 0) options.jobs = static_cast<int>(std::thread::hardware_concurrency());
  const bool is_quiet = flags.is_on("json"), is_verbose = flags.is_on("verbose");
  flowtest::FlowTestSummary s =
      MS_TRY(flowtest::run_flowtests(files, options, [&](const flowtest::TestOutcome& outcome) {
        if (is_quiet) return;
        if (outcome.has_failed()) print_line(flowtest::failure_text(outcome));
        if (!outcome.has_failed() && is_verbose)
          print_line("ok " + outcome.file + ": " + outcome.name);
        std::fflush(stdout);
      }));
  for (const flowtest::TestOutcome& o : s.outcomes) ++(o.has_failed() ? run.failed : run.passed);
  run.rewritten += s.rewritten;
  std::move(s.outcomes.begin(), s.outcomes.end(), std::back_inserter(run.outcomes));
  return {};
}

Status write_reports(const base::ParsedFlags& flags, const flowtest::Coverage& coverage,
                     const TestRun& run) {
  if (!flags.text("junit").empty()) {
    MS_TRY(io::write_file(std::string(flags.text("junit")), flowtest::report_junit(run.outcomes)));
  }
  if (!flags.text("coverage-json").empty()) {
    MS_TRY(io::write_file(std::string(flags.text("coverage-json")),
                          base::json::write(coverage.json(), {.is_pretty = true}) + "\n"));
  }
  if (!flags.text("coverage-lcov").empty()) {
    MS_TRY(io::write_file(std::string(flags.text("coverage-lcov")), coverage.lcov()));
  }
  if (flags.is_on("coverage") && !flags.is_on("json")) {
    std::printf("%s", coverage.table().c_str());
  }
  return {};
}

Status run_all(const base::ParsedFlags& flags, TestRun& run) {
  const flowtest::TestFiles files = MS_TRY(flowtest::find_test_files(flags.arguments()));
  if (!files.esqltests.empty()) MS_TRY(run_esql(flags, run));
  flowtest::Coverage coverage;
  const bool has_coverage = flags.is_on("coverage") || !flags.text("coverage-json").empty() ||
                            !flags.text("coverage-lcov").empty();
  if (!files.flowtests.empty()) {
    MS_TRY(run_flows(flags, files.flowtests, has_coverage ? &coverage : nullptr, run));
  }
  return write_reports(flags, coverage, run);
}

int import_tests(const base::ParsedFlags& flags) {
  size_t tests = 0, complete = 0;
  for (const std::string& path : flags.arguments()) {
    auto files = flowtest::import_test_projects(path, std::string(flags.text("output")));
    if (!files.ok()) {
      std::fprintf(stderr, "%s\n", files.error().describe().c_str());
      return 1;
    }
    for (const flowtest::ImportedFile& file : files.value()) {
      std::printf("%s\n", file.path.c_str());
      for (const flowtest::ImportedTest& test : file.tests) {
        const size_t missing = test.not_translated.size();
        std::printf("  %s: %zu of %zu statements\n", test.name.c_str(), test.translated,
                    test.translated + missing);
        for (const std::string& what : test.not_translated)
          std::printf("    not %s\n", what.c_str());
        ++tests;
        complete += missing == 0;
      }
    }
  }
  std::printf("%zu test(s) written, %zu of them whole\n", tests, complete);
  return tests == 0 ? 1 : 0;
}

// One run with its reports; the exit code.
int run_once(const base::ParsedFlags& flags) {
  TestRun run;
  Status status = run_all(flags, run);
  if (!status.ok()) {
    std::fprintf(stderr, "%s\n", status.error().describe().c_str());
    return 1;
  }
  if (flags.is_on("json")) {
    print_line(base::json::write(flowtest::report_json(run.outcomes), {.is_pretty = true}));
  } else {
    if (run.rewritten > 0) std::printf("%zu case(s) rewritten\n", run.rewritten);
    std::printf("%zu passed, %zu failed\n", run.passed, run.failed);
  }
  if (run.passed + run.failed == 0) {
    const std::string filter(flags.text("filter"));
    std::fprintf(stderr, "%s\n",
                 filter.empty()
                     ? "No test was found: there is no case in a .flowtest or .esqltest "
                       "file of these paths."
                     : ("No test was found: --filter '" + filter + "' matches no case.").c_str());
    return 1;
  }
  return run.failed == 0 ? 0 : 1;
}

}  // namespace

int run_test(const base::ParsedFlags& flags) {
  if (flags.is_on("import")) return import_tests(flags);
  if (!flags.is_on("watch")) return run_once(flags);
  Result<io::FolderWatch> watch =
      io::FolderWatch::open(flowtest::folders_of_tests(flags.arguments()));
  if (!watch.ok()) {
    std::fprintf(stderr, "%s\n", watch.error().describe().c_str());
    return 1;
  }
  for (;;) {
    run_once(flags);
    std::printf("Waiting for changes; Ctrl-C ends.\n");
    std::fflush(stdout);
    watch.value().wait(-1);
    // An editor saves in several steps.
    while (watch.value().wait(kSettleMs) == io::FolderWatch::Event::kChange) {
    }
  }
}

}  // namespace millstream::cli
