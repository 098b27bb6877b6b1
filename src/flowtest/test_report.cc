#include "flowtest/test_report.h"

#include <cstdio>
#include <map>

#include "base/markup.h"
#include "text/utf8.h"

namespace millstream::flowtest {
namespace {

constexpr size_t kLogLinesMax = 20;

std::string seconds_text(double seconds) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3f", seconds);
  return text;
}

}  // namespace

std::string failure_text(const TestOutcome& outcome) {
  std::string out;
  for (const TestFailure& f : outcome.failures) {
    out += (out.empty() ? "" : "\n") + outcome.file + ":" + std::to_string(f.line) + ": " +
           outcome.name + ": " + f.text;
  }
  std::string_view log = outcome.log;
  for (size_t lines = 0; !log.empty() && lines < kLogLinesMax; ++lines) {
    const size_t end = std::min(log.find('\n'), log.size());
    out += "\n  log: " + std::string(log.substr(0, end));
    log = log.substr(std::min(end + 1, log.size()));
  }
  return out;
}

base::json::Value report_json(const std::vector<TestOutcome>& outcomes) {
  using base::json::Value;
  Value out = Value::object();
  size_t failed = 0;
  for (const TestOutcome& o : outcomes) failed += o.has_failed();
  out.set("passed", outcomes.size() - failed);
  out.set("failed", failed);
  Value& tests = out.set("tests", Value::array());
  for (const TestOutcome& o : outcomes) {
    Value& test = tests.push_back(Value::object());
    test.set("file", o.file);
    test.set("line", o.line);
    test.set("name", o.name);
    test.set("passed", !o.has_failed());
    test.set("seconds", o.seconds);
    if (!o.has_failed()) continue;
    Value& failures = test.set("failures", Value::array());
    for (const TestFailure& f : o.failures) {
      Value& failure = failures.push_back(Value::object());
      failure.set("line", f.line);
      failure.set("text", f.text);
    }
    if (!o.log.empty()) test.set("log", o.log);
  }
  return out;
}

std::string report_junit(const std::vector<TestOutcome>& outcomes) {
  std::map<std::string, std::vector<const TestOutcome*>> files;
  for (const TestOutcome& o : outcomes) files[o.file].push_back(&o);
  std::string out = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n";
  for (const auto& [file, tests] : files) {
    size_t failed = 0;
    double seconds = 0;
    for (const TestOutcome* o : tests) {
      failed += o->has_failed();
      seconds += o->seconds;
    }
    out += "  <testsuite name=\"" + base::escape_attribute(file) + "\" tests=\"" +
           std::to_string(tests.size()) + "\" failures=\"" + std::to_string(failed) + "\" time=\"" +
           seconds_text(seconds) + "\">\n";
    for (const TestOutcome* o : tests) {
      out += "    <testcase classname=\"" + base::escape_attribute(file) + "\" name=\"" +
             base::escape_attribute(o->name) + "\" file=\"" + base::escape_attribute(file) +
             "\" line=\"" + std::to_string(o->line) + "\" time=\"" + seconds_text(o->seconds) +
             "\"";
      if (!o->has_failed()) {
        out += "/>\n";
        continue;
      }
      out += ">\n";
      for (const TestFailure& f : o->failures) {
        const std::string first = f.text.substr(0, f.text.find('\n'));
        out += "      <failure message=\"" + base::escape_attribute(first) + "\">" +
               base::escape_attribute(file + ":" + std::to_string(f.line) + ": " + f.text) +
               "</failure>\n";
      }
      if (!o->log.empty())
        out += "      <system-out>" + base::escape_attribute(o->log) + "</system-out>\n";
      out += "    </testcase>\n";
    }
    out += "  </testsuite>\n";
  }
  return out + "</testsuites>\n";
}

}  // namespace millstream::flowtest
