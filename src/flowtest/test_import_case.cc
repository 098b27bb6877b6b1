// The statements of an imported Java test as the sections of a flow test (test_import.h).
#include <algorithm>
#include <map>
#include <set>

#include "flowtest/esqltest_file.h"
#include "flowtest/java_source.h"
#include "flowtest/test_import.h"
#include "http/url.h"

namespace millstream::flowtest {
namespace {

using Resources = std::vector<std::pair<std::string, std::string>>;

constexpr size_t kStatementShownMax = 160;
constexpr int kHelperDepthMax = 3;

struct JavaRef {
  std::string flow, node;  // node: labels of subflows with points between
};
struct JavaMessage {
  std::string recording;  // as the test refers to it
  std::string point;      // "Compute.out #1": one that a spy has seen
  std::string number;
};

// "TestMessageAssembly actual" -> "actual"; "actual" -> "actual".
std::string last_word(std::string_view text) {
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  const size_t blank = text.rfind(' ');
  return std::string(blank == std::string_view::npos ? text : text.substr(blank + 1));
}

bool is_number(const std::string& text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

std::string without_suffix(std::string text) {  // 1L
  if (text.size() > 1 && (text.back() == 'L' || text.back() == 'l')) text.pop_back();
  return text;
}

std::string esql_text(std::string_view text) {
  std::string out = "'";
  for (char c : text) {
    if (c == '\'') out += '\'';
    out += c;
  }
  return out + "'";
}

// "/Message/JSON/Data/id" as an ignored path of ours.
std::string path_of_java(std::string path) {
  std::replace(path.begin(), path.end(), '/', '.');
  while (!path.empty() && path[0] == '.') path.erase(0, 1);
  for (std::string_view tree : {"message.", "Message.", "localEnvironment.", "LocalEnvironment.",
                                "environment.", "Environment."}) {
    if (path.starts_with(tree)) return path.substr(tree.size());
  }
  return path;
}

// One test method into the sections of a case.
class CaseWriter {
 public:
  CaseWriter(const std::vector<JavaMethod>& methods, const Resources& resources, ImportedTest& test)
      : methods_(methods), resources_(resources), test_(test) {
    for (const JavaMethod& m : methods) {
      if (m.name.empty()) run(m, kHelperDepthMax);
    }
    test_.not_translated.clear();  // fields without a value say nothing
    test_.translated = 0;
    for (const JavaMethod& m : methods) {
      if (m.is_set_up) run(m, 0);
    }
  }

  void run(const JavaMethod& method, int depth) {
    for (const JavaStatement& s : method.statements) {
      if (is_noise(s.text)) continue;
      if (translate(s.text, depth)) {
        ++test_.translated;
      } else {
        test_.not_translated.push_back("line " + std::to_string(s.line) + ": " +
                                       s.text.substr(0, kStatementShownMax));
      }
    }
  }

  std::string text(const std::string& name, const std::vector<std::string>& projects) {
    flush_calls();
    std::string out = "=== " + name + "\n";
    for (const std::string& n : test_.not_translated) out += "# not translated, " + n + "\n";
    for (const std::string& p : projects) out += "--- project " + p + "\n";
    if (flows_.size() == 1) out += "--- flow " + *flows_.begin() + "\n";
    out += body_;
    if (!ignored_.empty()) {
      out += "--- ignore\n";
      for (const std::string& path : ignored_) out += body_line(path) + "\n";
    }
    if (!has_check_) out += "--- exception\nnone\n";
    return out + "\n";
  }

 private:
  static bool is_noise(std::string_view s) {
    for (std::string_view word :
         {"TestSetup.restoreAllMocks", "System.out", "System.err", "throw new TestException",
          "Thread.sleep", "return", "import ", "package ", "break"}) {
      if (s.starts_with(word)) return true;
    }
    return false;
  }

  std::string where(const JavaRef& ref) const {
    return flows_.size() > 1 ? ref.flow + "::" + ref.node : ref.node;
  }

  // `application("A").messageFlow("F").subflowNode("S").node("N")` or the URI of a node.
  bool read_reference(std::string_view text, JavaRef& ref) {
    size_t from = 0;
    std::vector<std::string> arguments;
    std::string name;
    bool is_reference = false;
    for (std::string_view call : {"messageFlow", "subflow"}) {
      from = 0;
      if (find_java_call(text, call, from, arguments) && !arguments.empty() &&
          java_string(arguments[0], name)) {
        ref.flow = name;
        is_reference = true;
      }
    }
    // In the order they stand in.
    std::map<size_t, std::string> labels;
    for (std::string_view call : {"subflowNode", "node"}) {
      from = 0;
      while (find_java_call(text, call, from, arguments)) {
        if (arguments.empty() || !java_string(arguments[0], name)) return false;
        labels[from] = name;
      }
    }
    for (const auto& [at, label] : labels) {
      ref.node += (ref.node.empty() ? "" : ".") + label;
      is_reference = true;
    }
    return is_reference;
  }

  bool find_reference(std::string_view expression, JavaRef& ref) {
    const size_t uri = expression.find(".getURI()");
    const std::string variable(expression.substr(0, std::min(uri, expression.size())));
    if (auto known = refs_.find(variable); known != refs_.end()) {
      ref = known->second;
      constexpr std::string_view kNodes = "/nodes/";
      const size_t nodes = expression.find(kNodes);
      if (nodes != std::string_view::npos) {
        std::string_view rest = expression.substr(nodes + kNodes.size());
        ref.node = http::percent_decode(rest.substr(0, rest.find('"')));
      }
      // No line of a test can show the others.
      return std::all_of(ref.node.begin(), ref.node.end(),
                         [](char c) { return static_cast<unsigned char>(c) >= ' '; });
    }
    return read_reference(expression, ref);
  }

  bool find_recording(std::string_view text, std::string& out) const {
    std::string name;
    for (size_t at = text.find('"'); at != std::string_view::npos; at = text.find('"', at + 1)) {
      const size_t end = text.find('"', at + 1);
      if (end == std::string_view::npos) break;
      name = text.substr(at + 1, end - at - 1);
      if (name.ends_with(".mxml")) break;
      name.clear();
      at = end;
    }
    if (name.empty()) {
      for (const auto& [variable, value] : strings_) {
        if (value.ends_with(".mxml") && mentions(text, variable)) name = value;
      }
    }
    if (name.empty()) return false;
    while (name.starts_with('/')) name.erase(0, 1);
    out = name;
    for (const auto& [known, path] : resources_) {
      if (known == name) out = path;
    }
    return true;
  }

  static bool mentions(std::string_view text, std::string_view word) {
    for (size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
      const size_t end = at + word.size();
      const bool starts = at == 0 || (!std::isalnum(static_cast<unsigned char>(text[at - 1])) &&
                                      text[at - 1] != '_' && text[at - 1] != '.');
      const bool ends = end == text.size() ||
                        (!std::isalnum(static_cast<unsigned char>(text[end])) && text[end] != '_');
      if (starts && ends) return true;
    }
    return false;
  }

  // --- statements

  bool translate(const std::string& s, int depth) {
    return declare(s) || arrange(s) || act(s) || compare(s) || call_helper(s, depth);
  }

  // Assignments to variables of ours.
  bool declare(const std::string& s) {
    const size_t equals = s.find('=');
    const bool is_assignment = equals != std::string::npos && equals > 0 && s.find('(') > equals &&
                               s[equals + 1] != '=' && s[equals - 1] != '!';
    if (!is_assignment) return is_bare_declaration(s) || load(s);
    const std::string variable = last_word(std::string_view(s).substr(0, equals));
    const std::string_view left = std::string_view(s).substr(0, equals);
    std::string_view value = std::string_view(s).substr(equals + 1);
    while (value.starts_with(' ')) value.remove_prefix(1);
    std::string text;
    if (java_string(value, text)) {
      strings_[variable] = text;
      return true;
    }
    size_t from = 0;
    std::vector<std::string> arguments;
    for (std::string_view type : {"NodeSpy", "NodeStub"}) {
      from = 0;
      JavaRef ref;
      if (value.starts_with("new ") && find_java_call(value, type, from, arguments) &&
          !arguments.empty() && find_reference(arguments[0], ref)) {
        spies_[variable] = ref;
        if (!ref.flow.empty()) flows_.insert(ref.flow);
        return true;
      }
    }
    if (value.starts_with("new SpyObjectReference")) {
      JavaRef ref;
      if (!read_reference(value, ref)) return false;
      refs_[variable] = ref;
      if (!ref.flow.empty()) flows_.insert(ref.flow);
      return true;
    }
    if (read_seen_message(value, variable)) return true;
    if (value.starts_with("new TestMessageAssembly")) {
      messages_[variable] = {};
      return true;
    }
    if (value == "null") return true;
    if (value.find("getResourceAsStream") != std::string_view::npos ||
        left.starts_with("InputStream")) {
      find_recording(value, text);
      strings_[variable] = "/" + text;
      return true;
    }
    if (left.find("TestMessageAssembly") != std::string_view::npos ||
        messages_.count(variable) != 0) {
      if (!find_recording(value, text)) return false;
      messages_[variable].recording = text;
      return true;
    }
    return read_value(value, variable);
  }

  bool is_bare_declaration(const std::string& s) {
    if (s.find('(') != std::string::npos) return false;
    const bool is_ours = s.find("TestMessageAssembly ") != std::string::npos ||
                         s.find("NodeSpy ") != std::string::npos ||
                         s.find("NodeStub ") != std::string::npos ||
                         s.find("SpyObjectReference ") != std::string::npos ||
                         s.find("String ") != std::string::npos;
    return is_ours;
  }

  bool load(const std::string& s) {
    const size_t at = s.find(".buildFromRecordedMessageAssembly");
    if (at == std::string::npos) return false;
    std::string recording;
    if (!find_recording(std::string_view(s).substr(at), recording)) return false;
    messages_[last_word(std::string_view(s).substr(0, at))].recording = recording;
    return true;
  }

  // spy.propagatedMessageAssembly("out", 1), spy.receivedMessageAssembly("in", 1)
  bool read_seen_message(std::string_view value, const std::string& variable) {
    JavaMessage message;
    if (!seen_message(value, message)) return false;
    messages_[variable] = message;
    return true;
  }

  bool seen_message(std::string_view value, JavaMessage& message) {
    for (const auto& [spy, ref] : spies_) {
      if (!value.starts_with(spy + ".")) continue;
      size_t from = 0;
      std::vector<std::string> arguments;
      std::string terminal;
      const bool is_out = find_java_call(value, "propagatedMessageAssembly", from, arguments);
      if (!is_out && !find_java_call(value, "receivedMessageAssembly", from, arguments)) continue;
      if (arguments.empty() || !java_string(arguments[0], terminal)) continue;
      message.point = where(ref) + (is_out ? "." + terminal : "");
      message.number = arguments.size() > 1 ? arguments[1] : "1";
      return true;
    }
    return false;
  }

  // x = message.messagePath("JSON.Data.result").getStringValue()
  bool read_value(std::string_view value, const std::string& variable) {
    std::string path;
    if (!value_path(value, path)) return false;
    values_[variable] = {path, value.find("getStringValue") != std::string_view::npos ||
                                   value.find("getValueAsString") != std::string_view::npos};
    return true;
  }

  // "point\npath" of message.messagePath("..."); the message is one that a spy has seen.
  bool value_path(std::string_view expression, std::string& out) {
    constexpr std::pair<std::string_view, std::string_view> kCalls[] = {
        {"messagePath", "Root."},
        {"localEnvironmentPath", "LocalEnvironment."},
        {"environmentPath", "Environment."},
        {"exceptionListPath", "ExceptionList."}};
    for (const auto& [call, tree] : kCalls) {
      size_t from = 0;
      std::vector<std::string> arguments;
      std::string path;
      if (!find_java_call(expression, call, from, arguments) || arguments.empty() ||
          !java_string(arguments[0], path)) {
        continue;
      }
      const std::string owner(expression.substr(0, expression.find("." + std::string(call))));
      JavaMessage message;
      if (auto known = messages_.find(owner); known != messages_.end()) {
        message = known->second;
      } else if (!seen_message(owner, message)) {
        continue;
      }
      if (message.point.empty()) return false;
      out = message.point + " #" + message.number + "\n" + std::string(tree) + path;
      return true;
    }
    return false;
  }

  // Stops and stubs.
  bool arrange(const std::string& s) {
    for (const auto& [variable, ref] : spies_) {
      if (!s.starts_with(variable + ".")) continue;
      size_t from = 0;
      std::vector<std::string> arguments;
      if (find_java_call(s, "setStopAtInputTerminal", from, arguments)) {
        stopped_.insert(variable);
        body_ += "--- stop " + where(ref) + "\n";
        return true;
      }
      if (s.find(".onCall(") != std::string::npos) return stub(s, ref);
    }
    return false;
  }

  bool stub(const std::string& s, const JavaRef& ref) {
    size_t from = 0;
    std::vector<std::string> arguments;
    std::string number, terminal;
    if (find_java_call(s, "onCall", from, arguments) && !arguments.empty()) {
      if (!is_number(arguments[0])) return false;
      number = " #" + arguments[0];
    }
    if (find_java_call(s, "propagatesMessage", from, arguments) && arguments.size() == 3 &&
        java_string(arguments[1], terminal)) {
      const std::string& recording = messages_[arguments[2]].recording;
      body_ += "--- mock " + where(ref) + "." + terminal + number + "\n";
      if (!recording.empty()) body_ += "--- mxml\n" + body_line(recording) + "\n";
      return true;
    }
    if (find_java_call(s, "propagatesInputMessage", from, arguments) && arguments.size() == 2 &&
        java_string(arguments[1], terminal)) {
      body_ += "--- mock " + where(ref) + "." + terminal + number + "\n";
      return true;
    }
    if (find_java_call(s, "doesNotPropagate", from, arguments)) {
      body_ += "--- stop " + where(ref) + number + "\n";
      return true;
    }
    return false;
  }

  // Messages put in.
  bool act(const std::string& s) {
    for (const auto& [variable, ref] : spies_) {
      if (!s.starts_with(variable + ".")) continue;
      size_t from = 0;
      std::vector<std::string> arguments;
      std::string terminal;
      std::string target;
      if (find_java_call(s, "evaluate", from, arguments) && arguments.size() == 3) {
        target = where(ref) + (arguments[1] == "true" ? " alone" : "");
      } else if (find_java_call(s, "propagate", from, arguments) && arguments.size() == 2 &&
                 java_string(arguments[1], terminal)) {
        target = where(ref) + "." + terminal;
      } else {
        continue;
      }
      auto message = messages_.find(arguments[0]);
      const bool is_new = arguments[0].starts_with("new TestMessageAssembly");
      if (message == messages_.end() && !is_new) return false;
      flush_calls();
      body_ += "--- inject " + target + "\n";
      if (!is_new && !message->second.recording.empty()) {
        body_ += "--- mxml\n" + body_line(message->second.recording) + "\n";
      }
      return true;
    }
    return false;
  }

  bool compare(const std::string& s) {
    size_t from = 0;
    std::vector<std::string> arguments;
    if (find_java_call(s, "assertThat", from, arguments)) {
      while (arguments.size() > 2) arguments.erase(arguments.begin());  // a reason comes first
      if (arguments.size() == 2) {
        return compare_count(arguments) || compare_message(arguments) ||
               compare_value(arguments[0], arguments[1]);
      }
      return false;
    }
    from = 0;
    if (!find_java_call(s, "assertEquals", from, arguments) || arguments.size() < 2) return false;
    return compare_value(arguments[1], arguments[0]) || compare_value(arguments[0], arguments[1]);
  }

  bool compare_count(const std::vector<std::string>& arguments) {
    auto spy = spies_.find(arguments[0]);
    if (spy == spies_.end()) return false;
    size_t from = 0;
    std::vector<std::string> inner;
    std::string terminal;
    if (find_java_call(arguments[1], "nodeCallCountIs", from, inner) && inner.size() == 1) {
      // The product does not count a node that it stopped before; here that means it was reached.
      if (stopped_.count(arguments[0]) != 0) return true;
      calls_ += body_line(where(spy->second)) + " = " + inner[0] + "\n";
      return true;
    }
    if (find_java_call(arguments[1], "terminalPropagateCountIs", from, inner) &&
        inner.size() == 2 && java_string(inner[0], terminal)) {
      calls_ += body_line(where(spy->second)) + "." + terminal + " = " + inner[1] + "\n";
      return true;
    }
    return false;
  }

  bool compare_message(const std::vector<std::string>& arguments) {
    size_t from = 0;
    std::vector<std::string> inner;
    if (!find_java_call(arguments[1], "equalsMessage", from, inner) || inner.empty()) return false;
    JavaMessage actual;
    if (auto known = messages_.find(arguments[0]); known != messages_.end()) {
      actual = known->second;
    } else if (!seen_message(arguments[0], actual)) {
      return false;
    }
    const std::string& recording = messages_[inner[0]].recording;
    if (actual.point.empty() || recording.empty()) return false;
    flush_calls();
    body_ += "--- expect mxml " + actual.point + " #" + actual.number + "\n" +
             body_line(recording) + "\n";
    has_check_ = true;
    std::string path;
    std::vector<std::string> ignored;
    while (find_java_call(arguments[1], "ignorePath", from, ignored)) {
      if (!ignored.empty() && java_string(ignored[0], path)) ignored_.insert(path_of_java(path));
    }
    from = 0;
    if (find_java_call(arguments[1], "ignoreTimeStamps", from, ignored)) {
      ignored_.insert("**.CreationTime");
    }
    return true;
  }

  bool compare_value(const std::string& actual, const std::string& expected) {
    std::string path;
    bool is_text = actual.find("getStringValue") != std::string::npos ||
                   actual.find("getValueAsString") != std::string::npos;
    if (auto known = values_.find(actual); known != values_.end()) {
      path = known->second.first;
      is_text = known->second.second;
    } else if (!value_path(actual, path)) {
      return false;
    }
    std::string wanted = expected, text;
    size_t from = 0;
    std::vector<std::string> inner;
    for (std::string_view matcher : {"equalTo", "is"}) {
      from = 0;
      if (find_java_call(expected, matcher, from, inner) && inner.size() == 1) wanted = inner[0];
    }
    if (java_string(wanted, text)) {
      wanted = esql_text(text);
    } else {
      wanted = without_suffix(wanted);
      if (!is_number(wanted) && wanted != "true" && wanted != "false") return false;
      if (is_text) return false;
      if (wanted == "true") wanted = "TRUE";
      if (wanted == "false") wanted = "FALSE";
    }
    const size_t line_end = path.find('\n');
    const std::string name = path.substr(line_end + 1);
    flush_calls();
    body_ += "--- expect paths " + path.substr(0, line_end) + "\n" +
             body_line(is_text ? "text(" + name + ")" : name) + " = " + wanted + "\n";
    has_check_ = true;
    return true;
  }

  // A method of the class that takes nothing.
  bool call_helper(const std::string& s, int depth) {
    if (!s.ends_with("()") || depth >= kHelperDepthMax) return false;
    const std::string name = s.substr(0, s.size() - 2);
    for (const JavaMethod& m : methods_) {
      if (m.name != name || m.is_test) continue;
      run(m, depth + 1);
      return true;
    }
    return false;
  }

  void flush_calls() {
    if (calls_.empty()) return;
    body_ += "--- expect calls\n" + calls_;
    calls_.clear();
    has_check_ = true;
  }

  const std::vector<JavaMethod>& methods_;
  const Resources& resources_;
  ImportedTest& test_;
  std::map<std::string, JavaRef> refs_, spies_;
  std::map<std::string, JavaMessage> messages_;
  std::map<std::string, std::string> strings_;
  std::map<std::string, std::pair<std::string, bool>> values_;
  std::set<std::string> stopped_, flows_;
  std::set<std::string> ignored_;
  std::string body_, calls_;
  bool has_check_ = false;
};

}  // namespace

std::string import_java(std::string_view source, const std::string& class_name,
                        const std::vector<std::pair<std::string, std::string>>& resources,
                        const std::vector<std::string>& projects,
                        std::vector<ImportedTest>& tests) {
  const std::vector<JavaMethod> methods = read_java(source);
  std::string out = "# From " + class_name + ".java.\n\n";
  for (const JavaMethod& m : methods) {
    if (!m.is_test) continue;
    ImportedTest test;
    test.name = class_name + "." + m.name;
    CaseWriter writer(methods, resources, test);
    writer.run(m, 0);
    out += writer.text(m.name, projects);
    tests.push_back(std::move(test));
  }
  return out;
}

}  // namespace millstream::flowtest
