#include "flowtest/flow_check.h"

#include <algorithm>
#include <charconv>

#include "base/ascii.h"
#include "http/headers.h"

namespace millstream::flowtest {
namespace {

constexpr std::string_view kEmptyBody = "(empty)";

std::vector<std::string> check_lines(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    lines.emplace_back(text.substr(0, end));
    text = text.substr(std::min(end + 1, text.size()));
  }
  return lines;
}

std::string trim_copy(std::string_view s) { return std::string(base::trim_white_space(s)); }

std::string without_line_end(std::string text) {
  while (text.ends_with('\n') || text.ends_with('\r')) text.pop_back();
  return text;
}

// Bytes that are no text are shown in hexadecimal digits.
std::string shown(const std::string& body) {
  const bool is_text = std::none_of(body.begin(), body.end(), [](char c) {
    const auto u = static_cast<unsigned char>(c);
    return (u < 0x20 && c != '\n' && c != '\r' && c != '\t') || u == 0x7f;
  });
  if (is_text) return body;
  std::string out = "X'";
  base::append_hex(out, body);
  return out + "'";
}

// What a body is compared as when the test does not say.
std::string mode_of(std::string_view content_type, std::string_view wanted) {
  const std::string_view type = http::parse_content_type(content_type).media_type;
  if (type.find("json") != std::string_view::npos) return "json";
  if (type.find("xml") != std::string_view::npos) return "xml";
  if (!content_type.empty()) return "text";
  const size_t first = wanted.find_first_not_of(" \t\r\n");
  const char c = first == std::string_view::npos ? ' ' : wanted[first];
  return c == '<' ? "xml" : c == '{' || c == '[' ? "json" : "text";
}

std::string error_number(const base::Error& e) {
  if (e.number != e.code->number) return "BIP" + std::to_string(e.number);
  return e.code->id;
}

bool error_matches(const base::Error& e, std::string_view id, std::string_view part) {
  const bool has_id = id == "*" || id == e.code->id || id == e.id_with_letter() ||
                      id == "BIP" + std::to_string(e.number) || id == std::to_string(e.number);
  if (!has_id) return false;
  if (part.empty() || e.text.find(part) != std::string::npos) return true;
  return std::any_of(e.inserts.begin(), e.inserts.end(), [part](const base::Insert& i) {
    return i.text.find(part) != std::string::npos;
  });
}

// The errors from the outermost to what they come from.
void chain_of(const base::Error& e, std::vector<const base::Error*>& out) {
  out.push_back(&e);
  for (const auto& cause : e.causes) chain_of(*cause, out);
}

// The literal of a value as that of its text: 400 as '400', DATE '2024-02-29' as '2024-02-29'.
std::string as_text(const std::string& literal) {
  const size_t quote = literal.find('\'');
  return quote == std::string::npos ? "'" + literal + "'" : literal.substr(quote);
}

// "A = 1" into its sides.
bool split_equation(const std::string& line, std::string& left, std::string& right) {
  const size_t equals = line.rfind(" = ");
  if (equals == std::string::npos) return false;
  left = trim_copy(std::string_view(line).substr(0, equals));
  right = trim_copy(std::string_view(line).substr(equals + 3));
  return true;
}

}  // namespace

void FlowChecker::rewrite(const FlowAction& action, std::string body) {
  rewrites_.push_back({action.section, {}, std::move(body), true});
}

void FlowChecker::check(const FlowAction& action, const StepOutcome& outcome) {
  const size_t failures_before = failures_.size(), rewrites_before = rewrites_.size();
  dispatch(action, outcome);
  if (rewrites_.size() == rewrites_before) return;
  for (size_t i = failures_before; i < failures_.size(); ++i) failures_[i].can_be_rewritten = true;
}

void FlowChecker::dispatch(const FlowAction& action, const StepOutcome& outcome) {
  using Kind = FlowAction::Kind;
  switch (action.kind) {
    case Kind::kExpectReply:
      return check_reply(action, outcome);
    case Kind::kExpectCalls:
      return check_calls(action);
    case Kind::kExpectTree:
      return check_tree(action);
    case Kind::kExpectPaths:
      return check_paths(action);
    case Kind::kExpectBackend:
      return check_backend(action);
    case Kind::kExpectLog:
      return check_log(action);
    case Kind::kExpectLoad:
      return check_load(action);
    case Kind::kExpectStatistics:
      return check_statistics(action);
    case Kind::kException:
      return check_exception(action, outcome);
    default:
      return;
  }
}

// ---------------------------------------------------------------- HTTP

void FlowChecker::compare_headers(const FlowAction& action, const HttpText& wanted,
                                  const std::vector<std::pair<std::string, std::string>>& found) {
  for (const auto& [name, value] : wanted.headers) {
    std::string values;
    bool is_there = false, is_equal = false;
    for (const auto& [n, v] : found) {
      if (!http::equals_ignore_case(n, name)) continue;
      is_there = true;
      is_equal |= v == value;
      values += (values.empty() ? "" : " | ") + v;
    }
    if (value == "none" ? is_there : !is_equal) {
      fail(action.line(), "header " + name + "\n  - " + value + "\n  + " +
                              (is_there ? values : std::string("(none)")));
    }
  }
}

bool FlowChecker::compare_bodies(const FlowAction& action, const std::string& wanted,
                                 const std::string& found, std::string_view content_type,
                                 const HttpText* around) {
  const std::string mode = action.mode.empty() ? mode_of(content_type, wanted) : action.mode;
  std::string expected = without_line_end(wanted), actual = without_line_end(shown(found));
  if (expected == actual) return true;
  if (mode != "text") {
    const DocumentKind kind = mode == "xml" ? DocumentKind::kXml : DocumentKind::kJson;
    TextForest a, b;
    if (parse_document(kind, expected, a) && parse_document(kind, actual, b)) {
      remove_paths(a, bed_.script().ignored);
      remove_paths(b, bed_.script().ignored);
      expected = print_forest(a);
      actual = print_forest(b);
      if (expected == actual) return true;
    }
  }
  fail(action.line(), "body\n" + diff_lines(expected, actual));
  std::string body;
  if (around) {
    for (const auto& [name, value] : around->headers) body += name + ": " + value + "\n";
    if (!around->headers.empty()) body += "\n";
  }
  rewrite(action, body + without_line_end(shown(found)));
  return false;
}

void FlowChecker::check_reply(const FlowAction& action, const StepOutcome& outcome) {
  const bool wants_none = action.amount == 0;
  if (!outcome.has_reply) {
    if (!wants_none) fail(action.line(), "there is no reply: the last step was no request");
    return;
  }
  if (wants_none) return fail(action.line(), "reply " + std::to_string(outcome.status));
  const HttpText text = parse_http_text(action.section->body);
  std::string content_type;
  for (const auto& [name, value] : outcome.headers) {
    if (http::equals_ignore_case(name, "Content-Type")) content_type = value;
  }
  if (outcome.status != action.amount) {
    fail(action.line(), "status\n  - " + std::to_string(action.amount) + "\n  + " +
                            std::to_string(outcome.status));
    rewrites_.push_back({action.section,
                         "--- expect reply " + std::to_string(outcome.status) +
                             (action.mode.empty() ? "" : " " + action.mode),
                         {},
                         false});
  }
  compare_headers(action, text, outcome.headers);
  // A section without any body says nothing about it.
  const bool says_body = !text.body.empty() || text.body_line > text.headers.size();
  if (!says_body && outcome.status == action.amount) return;
  Result<std::string> wanted = expand_body(text.body, bed_.folder());
  if (!wanted.ok()) return fail(action.line(), wanted.error().describe());
  if (!says_body) {
    return fail(action.line(), "the reply was\n  + " + shown(outcome.body).substr(0, 2000));
  }
  if (wanted.value() == kEmptyBody) wanted = std::string();
  compare_bodies(action, wanted.value(), outcome.body, content_type, &text);
}

void FlowChecker::check_backend(const FlowAction& action) {
  const std::vector<BackendCall> calls = bed_.backends().calls(action.word, action.target);
  const size_t number = std::max<size_t>(1, action.number);
  if (calls.size() < number) {
    return fail(action.line(), "the back end was called " + std::to_string(calls.size()) +
                                   " time(s), not " + std::to_string(number));
  }
  const BackendCall& call = calls[number - 1];
  const HttpText text = parse_http_text(action.section->body);
  compare_headers(action, text, call.headers);
  if (text.body.empty() && text.body_line == text.headers.size()) return;
  Result<std::string> wanted = expand_body(text.body, bed_.folder());
  if (!wanted.ok()) return fail(action.line(), wanted.error().describe());
  if (wanted.value() == kEmptyBody) wanted = std::string();
  std::string content_type;
  for (const auto& [name, value] : call.headers) {
    if (http::equals_ignore_case(name, "Content-Type")) content_type = value;
  }
  compare_bodies(action, wanted.value(), call.body, content_type, &text);
}

// ---------------------------------------------------------------- calls

void FlowChecker::check_calls(const FlowAction& action) {
  std::string found_body;
  bool is_equal = true;
  std::string differences;
  size_t line = action.line();
  for (const std::string& text : check_lines(action.section->body)) {
    ++line;
    std::string name, number;
    if (trim_copy(text).empty() || text[0] == '#') {
      found_body += text + "\n";
      continue;
    }
    if (!split_equation(text, name, number)) {
      fail(line, "a line is written as: NODE = 1, NODE.TERMINAL = 1 or GET http://... = 1");
      return;
    }
    uint64_t calls = 0;
    const size_t url = name.find("http");
    const size_t scheme = name.find("://");
    if (url != std::string::npos && scheme != std::string::npos && scheme > url) {
      calls = bed_.backends()
                  .calls(trim_copy(std::string_view(name).substr(0, url)), name.substr(url))
                  .size();
    } else {
      Result<NodePoint> point = bed_.probe().find(name, bed_.script().flow);
      if (!point.ok()) return fail(line, point.error().text);
      calls = bed_.probe().calls_of(point.value());
    }
    found_body += name + " = " + std::to_string(calls) + "\n";
    if (std::to_string(calls) == number) continue;
    if (is_equal) differences = "calls";
    is_equal = false;
    fail(line,
         "calls\n  - " + name + " = " + number + "\n  + " + name + " = " + std::to_string(calls));
  }
  if (!is_equal) rewrite(action, without_line_end(found_body));
}

// ---------------------------------------------------------------- trees

bool FlowChecker::find_message(const FlowAction& action, Snapshot& out) {
  Result<NodePoint> point = bed_.probe().find(action.target, bed_.script().flow);
  if (!point.ok()) {
    fail(action.line(), point.error().text);
    return false;
  }
  std::vector<Snapshot> messages = bed_.probe().messages_of(point.value());
  const size_t number = std::max<size_t>(1, action.number);
  if (messages.size() < number) {
    fail(action.line(), std::to_string(messages.size()) + " message(s) came to " + action.target +
                            ", not " + std::to_string(number));
    return false;
  }
  if (action.number == 0 && messages.size() > 1) {
    fail(action.line(), std::to_string(messages.size()) + " messages came to " + action.target +
                            ": say which with #1, #2, ...");
    return false;
  }
  out = std::move(messages[number - 1]);
  return true;
}

void FlowChecker::compare_forests(const FlowAction& action, TextForest wanted, TextForest found) {
  const std::string whole = print_forest(found);
  remove_paths(wanted, bed_.script().ignored);
  remove_paths(found, bed_.script().ignored);
  const std::string a = print_forest(wanted), b = print_forest(found);
  if (a == b) return;
  fail(action.line(), action.word + " " + action.target + "\n" + diff_lines(a, b));
  rewrite(action, whole);
}

void FlowChecker::check_recorded(const FlowAction& action, const Snapshot& found) {
  Result<RecordedAssembly> recorded = read_mxml_file(action.section->body, bed_.folder());
  if (!recorded.ok()) return fail(action.line(), recorded.error().describe());
  RecordedAssembly& r = recorded.value();
  // No two messages have these in common.
  static const std::vector<TextPath> kAlwaysIgnored = [] {
    std::vector<TextPath> paths;
    for (const char* text : {"Properties.CreationTime", "HTTPInputHeader.X-Remote-Host",
                             "Destination.HTTP.RequestIdentifier"}) {
      Result<TextPath> path = TextPath::parse(text);
      if (path.ok()) paths.push_back(std::move(path).value());
    }
    return paths;
  }();
  Snapshot copy = found;
  auto compare = [&](const char* which, TextForest& wanted, TextForest& actual) {
    remove_paths(wanted, kAlwaysIgnored);
    remove_paths(actual, kAlwaysIgnored);
    remove_paths(wanted, bed_.script().ignored);
    remove_paths(actual, bed_.script().ignored);
    const std::string a = print_forest(wanted), b = print_forest(actual);
    if (a != b)
      fail(action.line(), std::string(which) + " of " + action.target + "\n" + diff_lines(a, b));
  };
  compare("message", r.message, copy.root);
  if (action.word == "mxml") return;
  compare("local environment", r.local_environment, copy.local_environment);
  compare("environment", r.environment, copy.environment);
  compare("exception list", r.exceptions, copy.exceptions);
}

void FlowChecker::check_tree(const FlowAction& action) {
  Snapshot message;
  if (!find_message(action, message)) return;
  const std::string& what = action.word;
  if (what == "mxml" || what == "assembly") return check_recorded(action, message);
  if (what == "body") {
    Result<std::string> wanted = expand_body(action.section->body, bed_.folder());
    if (!wanted.ok()) return fail(action.line(), wanted.error().describe());
    const std::string type = message.domain == "JSON" ? "json"
                             : message.domain == "XMLNSC" || message.domain == "XMLNS"
                                 ? "text/xml"
                                 : "text/plain";
    compare_bodies(action, wanted.value(), message.body, type, nullptr);
    return;
  }
  Result<TextForest> wanted = parse_forest(action.section->body);
  if (!wanted.ok()) return fail(action.line(), wanted.error().text);
  TextForest& found = what == "tree"                ? message.root
                      : what == "environment"       ? message.environment
                      : what == "local_environment" ? message.local_environment
                                                    : message.exceptions;
  compare_forests(action, std::move(wanted).value(), std::move(found));
}

void FlowChecker::check_paths(const FlowAction& action) {
  Snapshot message;
  if (!find_message(action, message)) return;
  size_t line = action.line();
  bool is_equal = true;
  std::string body;
  for (const std::string& text : check_lines(action.section->body)) {
    ++line;
    std::string left, right;
    if (trim_copy(text).empty() || text[0] == '#') {
      body += text + "\n";
      continue;
    }
    if (!split_equation(text, left, right)) {
      return fail(line, "a line is written as: PATH = value");
    }
    std::string_view name = left;
    // text(PATH) is the value as text, of whatever type it is.
    const bool is_as_text = name.starts_with("text(") && name.ends_with(")");
    if (is_as_text) name = name.substr(5, name.size() - 6);
    const TextForest* forest = &message.root;
    auto take = [&](std::string_view tree, const TextForest& of) {
      if (!name.starts_with(tree) || name.size() <= tree.size() || name[tree.size()] != '.') return;
      name.remove_prefix(tree.size() + 1);
      forest = &of;
    };
    take("Root", message.root);
    take("LocalEnvironment", message.local_environment);
    take("Environment", message.environment);
    take("ExceptionList", message.exceptions);
    Result<TextPath> path = TextPath::parse(name);
    if (!path.ok()) return fail(line, path.error().text);
    const TextTree* found = find_path(*forest, path.value());
    std::string value = !found                    ? "MISSING"
                        : !found->value.empty()   ? found->value
                        : found->children.empty() ? "{}"
                                                  : "{...}";
    if (is_as_text && found && !found->value.empty()) value = as_text(value);
    body += left + " = " + value + "\n";
    if (value == right) continue;
    is_equal = false;
    fail(line, "path\n  - " + left + " = " + right + "\n  + " + left + " = " + value);
  }
  if (!is_equal) rewrite(action, without_line_end(body));
}

// ---------------------------------------------------------------- the rest

void FlowChecker::check_exception(const FlowAction& action, const StepOutcome& outcome) {
  std::unique_ptr<base::Error> error;
  if (action.target.empty()) {
    if (outcome.error) error = outcome.error->clone();
  } else {
    Result<NodePoint> point = bed_.probe().find(action.target, bed_.script().flow);
    if (!point.ok()) return fail(action.line(), point.error().text);
    error = bed_.probe().error_of(point.value());
  }
  const bool wants_none = trim_copy(action.section->body) == "none";
  if (!error) {
    if (!wants_none) fail(action.line(), "there was no exception");
    return;
  }
  std::vector<const base::Error*> chain;
  chain_of(*error, chain);
  std::string numbers;
  for (const base::Error* e : chain) {
    numbers += (numbers.empty() ? "" : "\n") + error_number(*e);
    if (e == chain.back()) numbers += " " + e->text.substr(0, e->text.find('\n'));
  }
  if (wants_none) return fail(action.line(), "there was an exception\n  + " + error->describe());
  size_t at = 0, line = action.line();
  for (const std::string& text : check_lines(action.section->body)) {
    ++line;
    const std::string wanted = trim_copy(text);
    if (wanted.empty()) continue;
    const size_t blank = std::min(wanted.find(' '), wanted.size());
    const std::string id = wanted.substr(0, blank);
    const std::string part = trim_copy(std::string_view(wanted).substr(blank));
    while (at < chain.size() && !error_matches(*chain[at], id, part)) ++at;
    if (at < chain.size()) {
      ++at;
      continue;
    }
    fail(line, "exception\n  - " + wanted + "\n  + " + error->describe());
    return rewrite(action, numbers);
  }
  if (trim_copy(action.section->body).empty()) {
    fail(action.line(), "exception\n  + " + error->describe());
    rewrite(action, numbers);
  }
}

void FlowChecker::check_log(const FlowAction& action) {
  const std::string log = bed_.log_text();
  size_t line = action.line();
  for (const std::string& text : check_lines(action.section->body)) {
    ++line;
    const std::string wanted = trim_copy(text);
    if (wanted.empty() || log.find(wanted) != std::string::npos) continue;
    fail(line,
         "log\n  - " + wanted + "\n  + " + (log.empty() ? "(nothing)" : without_line_end(log)));
  }
}

void FlowChecker::check_load(const FlowAction& action) {
  std::string all;
  for (const base::Diagnostic& d : bed_.diagnostics().all()) {
    all += (all.empty() ? "" : "\n") + d.format();
  }
  size_t line = action.line();
  for (const std::string& text : check_lines(action.section->body)) {
    ++line;
    const std::string wanted = trim_copy(text);
    if (wanted.empty() || all.find(wanted) != std::string::npos) continue;
    fail(line, "load\n  - " + wanted + "\n  + " + (all.empty() ? "(loads without a word)" : all));
  }
  if (trim_copy(action.section->body).empty()) {
    if (!all.empty()) fail(action.line(), "load\n  + " + all);
  }
}

void FlowChecker::check_statistics(const FlowAction& action) {
  if (!bed_.server()) return fail(action.line(), "nothing runs");
  flow::Flow* flow = nullptr;
  const std::string& wanted_flow = action.target.empty() ? bed_.script().flow : action.target;
  for (flow::Flow* f : bed_.probe().flows()) {
    if (wanted_flow.empty() || f->name() == wanted_flow) flow = flow ? flow : f;
  }
  if (!flow) return fail(action.line(), "there is no flow '" + wanted_flow + "'");
  Result<base::json::Value> parsed = base::json::parse(
      flow->statistics().snapshot_json(*flow, bed_.server()->name(), /*resets=*/false));
  if (!parsed.ok()) return fail(action.line(), parsed.error().describe());
  const base::json::Value& record = parsed.value().get("WMQIStatisticsAccounting");
  size_t line = action.line();
  for (const std::string& text : check_lines(action.section->body)) {
    ++line;
    std::string name, wanted;
    if (trim_copy(text).empty()) continue;
    if (!split_equation(text, name, wanted)) return fail(line, "a line is written as: Name = 1");
    // "Total..." of the flow, "Compute: CountOf..." of a node.
    const base::json::Value* found = nullptr;
    const size_t colon = name.rfind(": ");
    if (colon == std::string::npos) {
      found = record.get("MessageFlow").find(name);
    } else {
      for (const base::json::Value& n : record.get("Nodes").items()) {
        if (n.get("Label").as_string() == name.substr(0, colon))
          found = n.find(name.substr(colon + 2));
      }
    }
    const std::string value = !found               ? "MISSING"
                              : found->is_string() ? found->as_string()
                                                   : base::json::write(*found);
    if (value != wanted)
      fail(line, "statistics\n  - " + name + " = " + wanted + "\n  + " + name + " = " + value);
  }
}

}  // namespace millstream::flowtest
