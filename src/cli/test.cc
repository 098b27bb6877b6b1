// millstream test: tests written as text.
#include <cstdio>

#include "cli/commands.h"
#include "flowtest/esqltest.h"
#include "mqi/constants.h"

namespace millstream::cli {

const base::CommandSpec& test_command() {
  static const base::CommandSpec kSpec{
      .name = "test",
      .arguments = "PATH...",
      .summary = "Run ESQL tests (.esqltest files) and compare what comes out.",
      .description =
          "PATH is a file, or a folder that is searched for .esqltest files. The exit code is 1 "
          "when a test failed or none was found. The form of the files is in "
          "docs/guide/esql-tests.md.",
      .arguments_min = 1,
      .arguments_max = 1000,
      .flags = {{.name = "filter",
                 .value_name = "TEXT",
                 .help = "Only cases whose \"file: name\" contains this."},
                {.name = "rebaseline",
                 .help = "Write what was found into the files instead of comparing.",
                 .kind = base::FlagKind::kSwitch},
                {.name = "verbose",
                 .help = "A line for each case that passes, too.",
                 .kind = base::FlagKind::kSwitch,
                 .short_name = 'v'}},
      .examples = {
          {"millstream test tests/", "every test below a folder"},
          {"millstream test orders.esqltest --filter totals -v", "some cases, with a line each"}}};
  return kSpec;
}

int run_test(const base::ParsedFlags& flags) {
  flowtest::EsqlTestOptions options;
  options.rebaseline = flags.is_on("rebaseline");
  options.filter = flags.text("filter");
  options.is_verbose = flags.is_on("verbose");
  options.find_constant = mqi::find_mq_constant;
  auto summary = flowtest::run_esqltests(flags.arguments(), options, [](std::string_view line) {
    std::printf("%.*s\n", static_cast<int>(line.size()), line.data());
  });
  if (!summary.ok()) {
    std::fprintf(stderr, "%s\n", summary.error().describe().c_str());
    return 1;
  }
  const flowtest::EsqlTestSummary& s = summary.value();
  if (s.rewritten > 0) std::printf("%zu case(s) rewritten\n", s.rewritten);
  std::printf("%zu passed, %zu failed\n", s.passed, s.failed);
  if (s.passed + s.failed == 0) {
    std::fprintf(
        stderr, "%s\n",
        options.filter.empty()
            ? "No test was found: there is no case in a .esqltest file of these paths."
            : ("No test was found: --filter '" + options.filter + "' matches no case.").c_str());
    return 1;
  }
  return s.failed == 0 ? 0 : 1;
}

}  // namespace millstream::cli
