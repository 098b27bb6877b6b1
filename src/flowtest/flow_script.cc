#include "flowtest/flow_script.h"

#include <algorithm>
#include <charconv>

#include "base/ascii.h"
#include "flowtest/errors_gen.h"
#include "flowtest/esqltest.h"
#include "io/file.h"
#include "value/datetime.h"

namespace millstream::flowtest {
namespace {

constexpr size_t kExpandedBytesMax = 256u << 20;

// The first word; `rest` is what follows it.
std::string_view take_word(std::string_view& rest) {
  rest = base::trim_white_space(rest);
  const size_t end = std::min(rest.find(' '), rest.size());
  std::string_view word = rest.substr(0, end);
  rest = base::trim_white_space(rest.substr(end));
  return word;
}

bool parse_number(std::string_view text, int64_t& out) {
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc() && end == text.data() + text.size() && !text.empty();
}

bool is_upper_word(std::string_view word) {
  return !word.empty() && std::all_of(word.begin(), word.end(),
                                      [](char c) { return (c >= 'A' && c <= 'Z') || c == '-'; });
}

// Takes " #3" or " #3+" from the end of `text`.
void take_number(std::string_view& text, FlowAction& action) {
  const size_t hash = text.rfind(" #");
  if (hash == std::string_view::npos) return;
  std::string_view digits = text.substr(hash + 2);
  const bool is_and_later = digits.ends_with('+');
  if (is_and_later) digits.remove_suffix(1);
  int64_t number = 0;
  if (!parse_number(digits, number) || number <= 0) return;
  action.number = static_cast<size_t>(number);
  action.is_and_later = is_and_later;
  text = base::trim_white_space(text.substr(0, hash));
}

void take_mode(std::string_view& text, FlowAction& action) {
  for (std::string_view mode : {"text", "xml", "json"}) {
    if (!text.ends_with(mode)) continue;
    std::string_view before = text.substr(0, text.size() - mode.size());
    if (!before.empty() && before.back() != ' ') continue;
    action.mode = mode;
    text = base::trim_white_space(before);
  }
}

class ScriptReader {
 public:
  ScriptReader(const TestFile& file, FlowScript& script) : file_(file), script_(script) {}

  Status read(const TestSection& s) {
    section_ = &s;
    argument_ = s.argument;
    if (MS_TRY(read_setting())) return {};
    if (MS_TRY(read_part())) return {};
    FlowAction action;
    action.section = &s;
    if (s.kind == "mock") {
      MS_TRY(read_mock(action));
    } else if (s.kind == "stop") {
      action.kind = FlowAction::Kind::kStop;
      take_number(argument_, action);
    } else if (s.kind == "backend") {
      action.kind = FlowAction::Kind::kBackend;
      read_method_and_url(action);
    } else if (s.kind == "request") {
      action.kind = FlowAction::Kind::kRequest;
      read_method_and_url(action);
      if (action.word.empty() || !argument_.starts_with('/')) {
        return fail("a request is written as: request POST /path");
      }
    } else if (s.kind == "inject") {
      action.kind = FlowAction::Kind::kInject;
    } else if (s.kind == "advance") {
      action.kind = FlowAction::Kind::kAdvance;
      if (!parse_duration(argument_, action.amount)) {
        return fail("a time is written as 500ms, 30s, 5m, 2h or 1d");
      }
    } else if (s.kind == "exception") {
      action.kind = FlowAction::Kind::kException;
    } else {
      MS_TRY(read_expect(action));
    }
    action.target = argument_;
    const bool needs_target =
        s.kind == "mock" || s.kind == "stop" || s.kind == "backend" || s.kind == "inject";
    if (needs_target && action.target.empty()) return fail("what it is about is missing");
    script_.actions.push_back(std::move(action));
    has_message_ = s.kind == "mock" || s.kind == "inject";
    return {};
  }

 private:
  Status fail(std::string_view what) const {
    return base::make_error_at(
        errors::kTestFile, {file_.path, static_cast<uint32_t>(section_->first_line), 1},
        {base::Insert(file_.path), base::Insert(section_->first_line), base::Insert(what)});
  }

  Result<bool> read_setting() {
    const std::string& kind = section_->kind;
    if (kind == "project") {
      script_.projects.emplace_back(argument_);
    } else if (kind == "flow") {
      script_.flow = argument_;
    } else if (kind == "property") {
      if (argument_.find('=') == std::string_view::npos) {
        return fail("a property is written as: property NAME=VALUE");
      }
      script_.properties.emplace_back(argument_);
    } else if (kind == "network") {
      script_.is_network_allowed = true;
      script_.is_clock_real = true;
    } else if (kind == "conf") {
      script_.conf = section_;
    } else if (kind == "clock") {
      MS_TRY(read_clock());
    } else if (kind == "ignore") {
      MS_TRY(read_ignored());
    } else if (kind == "msgflow" || kind == "subflow") {
      if (argument_.empty()) return fail("the name of the flow is missing");
      std::string path(argument_);
      std::replace(path.begin(), path.end(), '.', '/');
      script_.files.push_back({path + "." + kind, section_});
    } else if (kind == "esql") {
      const std::string name = argument_.empty() ? "Test" + std::to_string(script_.files.size())
                                                 : std::string(argument_);
      script_.files.push_back({name + (name.ends_with(".esql") ? "" : ".esql"), section_});
    } else if (kind == "file") {
      if (argument_.empty() || argument_.find("..") != std::string_view::npos ||
          argument_.starts_with('/')) {
        return fail("the path of a file lies below the project");
      }
      script_.files.push_back({std::string(argument_), section_});
    } else {
      return false;
    }
    if (!script_.actions.empty() && kind != "ignore") {
      return fail("settings stand before the first mock, step or expectation");
    }
    return true;
  }

  Status read_clock() {
    script_.is_clock_real = argument_ == "real";
    if (script_.is_clock_real) return {};
    std::string text(argument_);
    int64_t fields[6] = {0, 1, 1, 0, 0, 0};
    size_t field = 0;
    for (size_t i = 0; i < text.size() && field < 6;) {
      size_t end = std::min(text.find_first_of("-T: Z", i), text.size());
      if (!parse_number(std::string_view(text).substr(i, end - i), fields[field++])) {
        return fail("a time is written as 2024-02-29 12:34:56 (GMT), or real");
      }
      i = end + 1;
    }
    if (field < 3) return fail("a time is written as 2024-02-29 12:34:56 (GMT), or real");
    script_.clock_micros = ((value::days_from_civil(fields[0], static_cast<int>(fields[1]),
                                                    static_cast<int>(fields[2])) *
                                 24 +
                             fields[3]) *
                                60 +
                            fields[4]) *
                               60'000'000 +
                           fields[5] * 1'000'000;
    return {};
  }

  Status read_ignored() {
    std::string_view rest = section_->body;
    while (!rest.empty()) {
      const size_t end = std::min(rest.find('\n'), rest.size());
      std::string_view line = base::trim_white_space(rest.substr(0, end));
      rest = rest.substr(std::min(end + 1, rest.size()));
      if (line.empty() || line[0] == '#') continue;
      Result<TextPath> path = TextPath::parse(line);
      if (!path.ok()) return fail("this is no path: " + std::string(line));
      script_.ignored.push_back(std::move(path).value());
    }
    return {};
  }

  Result<bool> read_part() {
    const std::string& kind = section_->kind;
    const TestSection* MessageParts::* part = nullptr;
    if (kind == "body") part = &MessageParts::body;
    if (kind == "tree") part = &MessageParts::tree;
    if (kind == "environment") part = &MessageParts::environment;
    if (kind == "local_environment") part = &MessageParts::local_environment;
    if (kind == "exceptions") part = &MessageParts::exceptions;
    if (kind == "mxml") part = &MessageParts::mxml;
    if (!part) return false;
    if (!has_message_) return fail("a part of a message stands below a mock or an inject");
    if (kind == "body" && argument_.empty()) return fail("a body is written as: body XMLNSC");
    script_.actions.back().parts.*part = section_;
    return true;
  }

  Status read_mock(FlowAction& action) {
    take_number(argument_, action);
    const size_t word = argument_.rfind(" throws");
    if (word == std::string_view::npos) {
      action.kind = FlowAction::Kind::kMock;
      return {};
    }
    action.kind = FlowAction::Kind::kThrow;
    std::string_view number = base::trim_white_space(argument_.substr(word + 7));
    for (std::string_view prefix : {"BIP", "MS"}) {
      if (number.starts_with(prefix)) number.remove_prefix(prefix.size());
    }
    action.amount = 3001;
    if (!number.empty() && !parse_number(number, action.amount)) {
      return fail("an exception is written as: mock NODE throws 3001");
    }
    argument_ = base::trim_white_space(argument_.substr(0, word));
    return {};
  }

  void read_method_and_url(FlowAction& action) {
    take_number(argument_, action);
    std::string_view rest = argument_;
    std::string_view word = take_word(rest);
    if (!is_upper_word(word)) return;
    action.word = word;
    argument_ = rest;
  }

  Status read_expect(FlowAction& action) {
    std::string_view what = take_word(argument_);
    action.word = what;
    if (what == "reply") {
      action.kind = FlowAction::Kind::kExpectReply;
      take_mode(argument_, action);
      std::string_view status = take_word(argument_);
      if (status != "none" && !parse_number(status, action.amount)) {
        return fail("a reply is written as: expect reply 200, or: expect reply none");
      }
    } else if (what == "calls") {
      action.kind = FlowAction::Kind::kExpectCalls;
    } else if (what == "log") {
      action.kind = FlowAction::Kind::kExpectLog;
    } else if (what == "load") {
      action.kind = FlowAction::Kind::kExpectLoad;
      script_.expects_load = true;
    } else if (what == "statistics") {
      action.kind = FlowAction::Kind::kExpectStatistics;
    } else if (what == "backend") {
      action.kind = FlowAction::Kind::kExpectBackend;
      take_mode(argument_, action);
      read_method_and_url(action);
      if (argument_.empty()) return fail("the URL of the back end is missing");
    } else if (what == "paths") {
      action.kind = FlowAction::Kind::kExpectPaths;
      take_number(argument_, action);
    } else if (what == "body" || what == "tree" || what == "environment" ||
               what == "local_environment" || what == "exceptions" || what == "mxml" ||
               what == "assembly") {
      action.kind = FlowAction::Kind::kExpectTree;
      if (what == "body") take_mode(argument_, action);
      take_number(argument_, action);
      if (argument_.empty()) return fail("the node or terminal is missing");
    } else {
      return fail("unknown expectation '" + std::string(what) + "'");
    }
    return {};
  }

  const TestFile& file_;
  FlowScript& script_;
  const TestSection* section_ = nullptr;
  std::string_view argument_;
  bool has_message_ = false;
};

// "Content-Type: text/xml"
bool split_header(std::string_view line, std::pair<std::string, std::string>& out) {
  const size_t colon = line.find(':');
  if (colon == std::string_view::npos || colon == 0) return false;
  std::string_view name = line.substr(0, colon);
  const bool is_token = std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_';
  });
  if (!is_token || (colon + 1 < line.size() && line[colon + 1] != ' ')) return false;
  out = {std::string(name), std::string(base::trim_white_space(line.substr(colon + 1)))};
  return true;
}

}  // namespace

const TestGrammar& flowtest_grammar() {
  static const TestGrammar kGrammar{
      {"project",    "flow",    "property", "clock",  "network",     "conf",
       "ignore",     "msgflow", "subflow",  "esql",   "file",        "mock",
       "stop",       "backend", "body",     "tree",   "environment", "local_environment",
       "exceptions", "mxml",    "request",  "inject", "advance",     "expect",
       "exception"},
      {"expect", "exception"},
      true};
  return kGrammar;
}

HttpText parse_http_text(std::string_view text) {
  HttpText out;
  std::string_view rest = text;
  size_t lines = 0;
  std::vector<std::pair<std::string, std::string>> headers;
  while (!rest.empty()) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    std::string_view line = base::trim_white_space(rest.substr(0, end));
    std::string_view behind = rest.substr(std::min(end + 1, rest.size()));
    if (line.empty()) {
      rest = behind;
      ++lines;
      break;
    }
    std::pair<std::string, std::string> header;
    if (!split_header(line, header)) {
      headers.clear();
      rest = text;
      lines = 0;
      break;
    }
    headers.push_back(std::move(header));
    rest = behind;
    ++lines;
  }
  out.headers = std::move(headers);
  out.body = rest;
  out.body_line = lines;
  return out;
}

bool parse_duration(std::string_view text, int64_t& nanoseconds) {
  const size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  int64_t amount = 0;
  if (digits > 9 || !parse_number(text.substr(0, digits), amount)) return false;
  const std::string_view unit = base::trim_white_space(text.substr(digits));
  constexpr std::pair<std::string_view, int64_t> kUnits[] = {{"ms", 1'000'000},
                                                             {"s", 1'000'000'000},
                                                             {"m", 60'000'000'000},
                                                             {"h", 3'600'000'000'000},
                                                             {"d", 86'400'000'000'000}};
  for (const auto& [name, ns] : kUnits) {
    if (unit != name || amount > INT64_MAX / 4 / ns) continue;
    nanoseconds = amount * ns;
    return true;
  }
  return false;
}

Result<std::string> expand_body(std::string_view body, const std::string& folder) {
  if (body.find('@') == std::string_view::npos) return std::string(body);
  std::string out;
  bool joins = true;  // no line end before the next line
  for (std::string_view rest = body; !rest.empty();) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    std::string_view line = rest.substr(0, end);
    rest = rest.substr(std::min(end + 1, rest.size()));
    if (line.starts_with("@file ")) {
      out += MS_TRY(io::read_file(io::join_path(folder, base::trim_white_space(line.substr(6)))));
      joins = true;
    } else if (line.starts_with("@repeat ")) {
      std::string_view text = line.substr(8);
      int64_t count = 0;
      const std::string_view digits = take_word(text);
      if (!parse_number(digits, count) || count < 0 ||
          out.size() + static_cast<size_t>(count) * text.size() > kExpandedBytesMax) {
        return base::make_error(errors::kBadRepeat, {digits});
      }
      for (int64_t i = 0; i < count; ++i) out += text;
      joins = true;
    } else {
      if (!joins) out += '\n';
      out += line;
      joins = false;
    }
  }
  return out;
}

Result<FlowScript> read_script(const TestFile& file, const TestCase& test) {
  FlowScript script;
  script.clock_micros = kTestClockMicros;
  ScriptReader common_reader(file, script);
  for (const TestSection& s : file.prelude.sections) MS_TRY(common_reader.read(s));
  // Mocks of the file come first, then the settings of the case.
  std::vector<FlowAction> common = std::exchange(script.actions, {});
  ScriptReader reader(file, script);
  for (const TestSection& s : test.sections) MS_TRY(reader.read(s));
  script.actions.insert(script.actions.begin(), std::make_move_iterator(common.begin()),
                        std::make_move_iterator(common.end()));
  return script;
}

}  // namespace millstream::flowtest
