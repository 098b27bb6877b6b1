#include "base/flags.h"

#include <doctest/doctest.h>

namespace millstream::base {
namespace {

const ProgramSpec& test_program() {
  static const ProgramSpec kProgram{
      .name = "mill",
      .summary = "Grinds.",
      .commands = {
          {.name = "run",
           .arguments = "PATH...",
           .summary = "Run what is in the folders.",
           .arguments_min = 1,
           .arguments_max = 3,
           .flags =
               {{.name = "http-port",
                 .value_name = "PORT",
                 .help = "Port to listen on",
                 .kind = FlagKind::kInteger,
                 .default_text = "7800",
                 .short_name = 'p',
                 .integer_max = 65535},
                {.name = "set",
                 .value_name = "K=V",
                 .help = "Set a property.",
                 .is_repeated = true},
                {.name = "partial", .value_name = "", .help = "Go on", .kind = FlagKind::kSwitch},
                {.name = "pool",
                 .value_name = "",
                 .help = "Do not keep connections.",
                 .kind = FlagKind::kSwitch,
                 .default_text = "on"},
                {.name = "format",
                 .value_name = "F",
                 .help = "Form.",
                 .kind = FlagKind::kChoice,
                 .default_text = "text",
                 .choices = {"text", "json"}}},
           .examples = {{"mill run examples", "Runs the examples."}}},
          {.name = "version", .arguments = "", .summary = "Print the version."}}};
  return kProgram;
}

Result<ParsedFlags> parse_run(std::vector<std::string_view> words) {
  return parse_flags(*test_program().find("run"), words);
}

std::string failure_of(std::vector<std::string_view> words) {
  Result<ParsedFlags> r = parse_run(std::move(words));
  REQUIRE_FALSE(r.ok());
  return r.error().id_with_letter() + ": " + r.error().text;
}

TEST_CASE("flags: values in every form, mixed with arguments") {
  for (const std::vector<std::string_view>& words : std::vector<std::vector<std::string_view>>{
           {"a", "--http-port", "80", "b"}, {"--http-port=80", "a", "b"}, {"-p", "80", "a", "b"}}) {
    Result<ParsedFlags> r = parse_run(words);
    REQUIRE(r.ok());
    CHECK(r.value().integer("http-port") == 80);
    CHECK(r.value().has("http-port"));
    CHECK(r.value().arguments() == std::vector<std::string>{"a", "b"});
  }
}

TEST_CASE("flags: defaults, switches and repetition") {
  Result<ParsedFlags> r = parse_run({"a"});
  REQUIRE(r.ok());
  CHECK(r.value().integer("http-port") == 7800);
  CHECK_FALSE(r.value().has("http-port"));
  CHECK_FALSE(r.value().is_on("partial"));
  CHECK(r.value().is_on("pool"));
  CHECK(r.value().all("set").empty());

  r = parse_run({"a", "--partial", "--no-pool", "--set", "x=1", "--set=y=2"});
  REQUIRE(r.ok());
  CHECK(r.value().is_on("partial"));
  CHECK_FALSE(r.value().is_on("pool"));
  CHECK(r.value().all("set") == std::vector<std::string_view>{"x=1", "y=2"});
  r = parse_run({"a", "--partial", "--no-partial"});
  REQUIRE(r.ok());
  CHECK_FALSE(r.value().is_on("partial"));  // the last one counts
}

TEST_CASE("flags: two dashes end the options, one dash is an argument") {
  Result<ParsedFlags> r = parse_run({"-", "--", "--partial"});
  REQUIRE(r.ok());
  CHECK(r.value().arguments() == std::vector<std::string>{"-", "--partial"});
  CHECK_FALSE(r.value().is_on("partial"));
}

TEST_CASE("flags: what is wrong is named") {
  CHECK(failure_of({"a", "--htp-port", "1"}) ==
        "MS1010E: Unknown option '--htp-port'; did you mean '--http-port'?");
  CHECK(failure_of({"a", "--zzzzzzzz"}) == "MS1010E: Unknown option '--zzzzzzzz'");
  CHECK(failure_of({"a", "-x"}) == "MS1010E: Unknown option '-x'");
  CHECK(failure_of({"a", "--http-port"}) ==
        "MS1011E: The option '--http-port' needs a value: --http-port PORT");
  CHECK(failure_of({"a", "--http-port", "--partial"}).starts_with("MS1011E"));
  CHECK(failure_of({"a", "--partial=1"}).starts_with("MS1012E"));
  CHECK(failure_of({"a", "--no-http-port"}).starts_with("MS1010E"));
  for (std::string_view bad : {"", "x", "1x", "-1", "65536", "99999999999999999999", "0x10"}) {
    CHECK(failure_of({"a", "--http-port", bad}).ends_with("an integer from 0 to 65535"));
  }
  CHECK(failure_of({"a", "--format", "xml"}) ==
        "MS1013E: The option '--format' does not accept 'xml': one of text json");
  CHECK(failure_of({"a", "-p", "1", "-p", "2"}).starts_with("MS1014E"));
  CHECK(failure_of({}) == "MS1017E: 'run' needs PATH...");
  CHECK(failure_of({"a", "b", "c", "d"}) == "MS1018E: 'run' does not know what to do with 'd'");
}

TEST_CASE("flags: help needs no arguments") {
  Result<ParsedFlags> r = parse_run({"--help"});
  REQUIRE(r.ok());
  CHECK(r.value().wants_help());
}

TEST_CASE("flags: commands") {
  CHECK(find_command(test_program(), "version").value()->name == "version");
  Result<const CommandSpec*> r = find_command(test_program(), "rnu");
  REQUIRE_FALSE(r.ok());
  CHECK(r.error().text == "Unknown command 'rnu'; did you mean 'run'?");
  CHECK(find_command(test_program(), "").error().code->id == std::string_view("MS1016"));
}

TEST_CASE("flags: help texts come from the table") {
  CHECK(program_help(test_program()) ==
        "mill: Grinds.\n\nCommands:\n  run      Run what is in the folders.\n"
        "  version  Print the version.\n\n`mill COMMAND --help` tells more about one.\n");
  CHECK(command_help(test_program(), *test_program().find("run")) ==
        "Usage: mill run PATH... [OPTION...]\n\nRun what is in the folders.\n\nOptions:\n"
        "  -p, --http-port PORT  Port to listen on. Default: 7800.\n"
        "  --set K=V             Set a property. May be repeated.\n"
        "  --partial             Go on\n"
        "  --no-pool             Do not keep connections.\n"
        "  --format F            Form. One of text json. Default: text.\n"
        "  --help                Show this text.\n\nExamples:\n"
        "  mill run examples\n      Runs the examples.\n");
  std::string page = command_reference(test_program());
  CHECK(page.find("| `-p, --http-port PORT` | Port to listen on. Default: 7800. |") !=
        std::string::npos);
}

TEST_CASE("flags: long help texts are wrapped") {
  static const std::string kLong = [] {
    std::string s = "word";
    for (int i = 0; i < 60; ++i) s += " word";
    return s;
  }();
  CommandSpec command{.name = "c", .arguments = "", .summary = "S."};
  command.flags.push_back({.name = "f", .value_name = "V", .help = kLong});
  std::string help = command_help(test_program(), command);
  size_t widest = 0;
  for (size_t at = 0; at < help.size();) {
    size_t end = help.find('\n', at);
    widest = std::max(widest, end - at);
    at = end + 1;
  }
  CHECK(widest <= 100);
}

}  // namespace
}  // namespace millstream::base
