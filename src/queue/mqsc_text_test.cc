// Runs tests/queue/mqsc/*.mqsctest: scripts and the output that they must have, against a target in
// memory. With MS_REBASELINE=1 the outputs found are written into the files.
//
//   === name of the case
//   --- system                 the SYSTEM objects are there
//   --- setup                  commands that run first, silently
//   --- options                words: definition verify noecho stop syntax memory (this target
//   only)
//   --- input                  the script
//   --- output                 what it must answer; the last line is `exit N`
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "queue/core/queue_for_test.h"
#include "queue/mqsc/runner.h"
#include "queue/objects/memory_target.h"
#include "queue/objects/system_objects.h"

namespace millstream::queue::mqsc {
namespace {

struct TextCase {
  std::string name;
  std::vector<std::string> lines;  // of the file, heading included
  std::string setup, options, input, output;
  bool has_system = false;
};

std::vector<TextCase> read_cases(const std::string& path, std::vector<std::string>& prelude) {
  std::vector<TextCase> out;
  std::ifstream file(path);
  std::string line, section;
  while (std::getline(file, line)) {
    if (line.rfind("=== ", 0) == 0) {
      out.push_back({});
      out.back().name = line.substr(4);
      section.clear();
    } else if (out.empty()) {
      prelude.push_back(line);
      continue;
    } else if (line.rfind("--- ", 0) == 0) {
      section = line.substr(4);
      if (section == "system") out.back().has_system = true;
    } else {
      TextCase& c = out.back();
      if (section == "setup") c.setup += line + "\n";
      if (section == "options") c.options += line + " ";
      if (section == "input") c.input += line + "\n";
      if (section == "output") c.output += line + "\n";
    }
    if (section != "output") out.back().lines.push_back(line);
  }
  for (TextCase& c : out) {
    while (c.input.size() > 1 && c.input.substr(c.input.size() - 2) == "\n\n") c.input.pop_back();
    while (!c.lines.empty() && c.lines.back().empty()) c.lines.pop_back();
  }
  return out;
}

// `settle` runs until all that was asked is answered.
std::string run_case(const TextCase& c, objects::AdminTarget& target,
                     const std::function<void()>& settle) {
  auto ignore = [](std::string_view) {};
  auto no_result = [](const ScriptResult&) {};
  if (c.has_system) run_script(target, objects::system_objects_script(), {}, ignore, no_result);
  settle();
  run_script(target, c.setup, {}, ignore, no_result);
  settle();
  ScriptOptions options;
  options.run.is_definition_mode = c.options.find("definition") != std::string::npos;
  options.run.is_verify_only = c.options.find("verify") != std::string::npos;
  options.run.shows_syntax = c.options.find("syntax") != std::string::npos;
  options.echoes = c.options.find("noecho") == std::string::npos;
  options.stops_at_error = c.options.find("stop") != std::string::npos;
  std::string found;
  run_script(
      target, c.input, options, [&](std::string_view line) { found += std::string(line) + "\n"; },
      [&](const ScriptResult& result) {
        for (const std::string& line : summary_lines(result)) found += line + "\n";
        found += "exit " + std::to_string(result.exit_code()) + "\n";
      });
  settle();
  return found;
}

std::string run_in_memory(const TextCase& c) {
  base::VirtualClock clock(1'767'225'600'000'000);  // 2026-01-01
  objects::MemoryTarget target("QM1", clock);
  return run_case(c, target, [] {});
}

// Dates, times and identifiers differ from run to run, a queue manager has monitoring on, and
// nothing here serves listeners.
std::string normalized(const std::string& text) {
  static constexpr std::string_view kVolatile[] = {
      "ALTDATE",  "ALTTIME",  "CRDATE",   "CRTIME",  "LGETDATE", "LGETTIME",
      "LPUTDATE", "LPUTTIME", "STARTDA",  "STARTTI", "QMID",     "CONNS",
      "MONQ",     "MSGAGE",   "CHKPTOPS", "SUBID",   "TPCOUNT",  "SUBCOUNT"};
  std::istringstream lines(text);
  std::string line, out;
  while (std::getline(lines, line)) {
    bool is_listener = line.find(": Listener ") != std::string::npos ||
                       line.find(" listener accepted.") != std::string::npos;
    if (is_listener) line = "listener";
    for (std::string_view keyword : kVolatile) {
      size_t begin = line.find(" " + std::string(keyword) + "(");
      size_t end = begin == std::string::npos ? begin : line.find(')', begin);
      if (end != std::string::npos) line.erase(begin, end + 1 - begin);
    }
    // Where columns were depends on the lengths of what is gone now.
    for (size_t at; (at = line.find("  ")) != std::string::npos;) line.erase(at, 1);
    while (!line.empty() && line.back() == ' ') line.pop_back();
    if (!line.empty()) out += line + "\n";
  }
  return out;
}

std::string first_difference(const std::string& expected, const std::string& found) {
  std::istringstream left(expected), right(found);
  std::string a, b;
  while (true) {
    bool has_a = static_cast<bool>(std::getline(left, a));
    bool has_b = static_cast<bool>(std::getline(right, b));
    if (!has_a && !has_b) return "";
    if (has_a != has_b || a != b) return "expected: " + a + "\nfound:    " + b;
  }
}

std::vector<std::filesystem::path> test_files() {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator("tests/queue/mqsc")) {
    if (entry.path().extension() == ".mqsctest") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::string without_blank_end(std::string text) {
  while (text.size() > 1 && text.substr(text.size() - 2) == "\n\n") text.pop_back();
  return text;
}

}  // namespace

TEST_CASE("MQSC text tests") {
  bool rebaselines = std::getenv("MS_REBASELINE") != nullptr;
  size_t count = 0;
  for (const std::filesystem::path& file : test_files()) {
    std::vector<std::string> prelude;
    std::vector<TextCase> cases = read_cases(file.string(), prelude);
    std::ostringstream rewritten;
    for (const std::string& line : prelude) rewritten << line << "\n";
    for (const TextCase& c : cases) {
      std::string found = run_in_memory(c);
      INFO(file.filename().string(), ": ", c.name);
      if (!rebaselines) CHECK(without_blank_end(c.output) == found);
      ++count;
      for (const std::string& line : c.lines) rewritten << line << "\n";
      rewritten << "--- output\n" << found << "\n";
    }
    if (rebaselines) std::ofstream(file) << rewritten.str();
  }
  CHECK(count > 30);
}

// The same scripts against the real queue manager: the target in memory must not promise what that
// does not keep.
TEST_CASE("MQSC text tests against a queue manager") {
  for (const std::filesystem::path& file : test_files()) {
    std::vector<std::string> prelude;
    for (const TextCase& c : read_cases(file.string(), prelude)) {
      if (c.options.find("memory") != std::string::npos) continue;
      QueueManagerSettings settings;
      settings.name = "QM1";
      QueueWorld world(1, settings);
      REQUIRE(world.is_ok);
      std::unique_ptr<objects::AdminTarget> target = make_admin_target(*world.manager, "admin");
      std::string found = run_case(c, *target, [&] { world.sim.run_ready(); });
      INFO(file.filename().string(), ": ", c.name);
      CHECK(first_difference(normalized(without_blank_end(c.output)), normalized(found)) == "");
    }
  }
}

}  // namespace millstream::queue::mqsc
