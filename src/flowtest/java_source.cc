#include "flowtest/java_source.h"

#include <algorithm>
#include <cctype>

#include "base/ascii.h"

namespace millstream::flowtest {
namespace {

bool is_word_char(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$';
}

// The source with comments as blanks; line ends stay.
std::string without_comments(std::string_view source) {
  std::string out(source);
  for (size_t i = 0; i < out.size(); ++i) {
    if (out[i] == '"' || out[i] == '\'') {
      const char quote = out[i];
      for (++i; i < out.size() && out[i] != quote && out[i] != '\n'; ++i) {
        if (out[i] == '\\') ++i;
      }
    } else if (out.compare(i, 2, "//") == 0) {
      for (; i < out.size() && out[i] != '\n'; ++i) out[i] = ' ';
    } else if (out.compare(i, 2, "/*") == 0) {
      const size_t end = std::min(out.find("*/", i + 2), out.size() - 2) + 2;
      for (; i < end; ++i) out[i] = out[i] == '\n' ? '\n' : ' ';
      --i;
    }
  }
  return out;
}

// The name before the parenthesis of a method's head; empty when it is no method.
std::string method_name(std::string_view head) {
  const size_t open = head.find('(');
  if (open == std::string_view::npos) return {};
  std::string_view before = base::trim_white_space(head.substr(0, open));
  size_t start = before.size();
  while (start > 0 && is_word_char(before[start - 1])) --start;
  const std::string_view name = before.substr(start);
  for (std::string_view word : {"if", "for", "while", "switch", "catch", "try", "synchronized"}) {
    if (name == word) return {};
  }
  // `new Thread() {` and lambdas are no methods either: a type stands before the name.
  const std::string_view type = base::trim_white_space(before.substr(0, start));
  if (name.empty() || type.empty() || type.ends_with("new") || type.ends_with('.') ||
      head.find('=') < open) {
    return {};
  }
  return std::string(name);
}

bool has_annotation(std::string_view head, std::string_view name) {
  const size_t at = head.find(name);
  return at != std::string_view::npos &&
         (at + name.size() == head.size() || !is_word_char(head[at + name.size()]));
}

class JavaReader {
 public:
  explicit JavaReader(std::string_view source) : text_(without_comments(source)) {
    methods_.emplace_back();  // fields
  }

  std::vector<JavaMethod> read() {
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == '\n') ++line_;
      if (c == '"' || c == '\'') {
        skip_quoted(c);
      } else if (c == '(') {
        ++parentheses_;
      } else if (c == ')') {
        --parentheses_;
      } else if (parentheses_ > 0) {
        continue;
      } else if (c == '{') {
        open_block();
      } else if (c == '}') {
        close_block();
      } else if (c == ';') {
        end_statement();
      }
    }
    return std::move(methods_);
  }

 private:
  void skip_quoted(char quote) {
    for (++at_; at_ < text_.size() && text_[at_] != quote && text_[at_] != '\n'; ++at_) {
      if (text_[at_] == '\\') ++at_;
    }
  }

  // What stands since the last boundary.
  std::string_view pending() {
    const std::string_view all = text_;
    return base::trim_white_space(all.substr(start_, at_ - start_));
  }
  void begin() {
    start_ = at_ + 1;
    while (start_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[start_])))
      ++start_;
    start_line_ = line_ + static_cast<size_t>(
                              std::count(text_.begin() + static_cast<ptrdiff_t>(at_),
                                         text_.begin() + static_cast<ptrdiff_t>(start_), '\n'));
  }

  void open_block() {
    const std::string_view head = pending();
    const std::string name = method_depth_ == 0 ? method_name(head) : std::string();
    ++depth_;
    if (!name.empty()) {
      JavaMethod method;
      method.name = name;
      method.is_test = has_annotation(head, "@Test") || has_annotation(head, "@ParameterizedTest");
      method.is_set_up = has_annotation(head, "@BeforeEach") || has_annotation(head, "@Before");
      method.line = start_line_;
      methods_.push_back(std::move(method));
      method_depth_ = depth_;
    }
    begin();
  }

  void close_block() {
    if (depth_ == method_depth_) method_depth_ = 0;
    --depth_;
    begin();
  }

  void end_statement() {
    std::string text;
    for (char c : pending()) {
      const bool is_blank = std::isspace(static_cast<unsigned char>(c)) != 0;
      if (!is_blank) {
        text += c;
      } else if (!text.empty() && text.back() != ' ') {
        text += ' ';
      }
    }
    if (!text.empty()) {
      JavaMethod& owner = method_depth_ == 0 ? methods_.front() : methods_.back();
      owner.statements.push_back({std::move(text), start_line_});
    }
    begin();
  }

  const std::string text_;
  std::vector<JavaMethod> methods_;
  size_t at_ = 0, start_ = 0, line_ = 1, start_line_ = 1;
  int depth_ = 0, method_depth_ = 0, parentheses_ = 0;
};

}  // namespace

std::vector<JavaMethod> read_java(std::string_view source) { return JavaReader(source).read(); }

bool find_java_call(std::string_view text, std::string_view function, size_t& from,
                    std::vector<std::string>& arguments) {
  size_t at = from;
  for (;; at += function.size()) {
    at = text.find(function, at);
    if (at == std::string_view::npos) return false;
    const bool is_start = at == 0 || !is_word_char(text[at - 1]);
    size_t open = at + function.size();
    while (open < text.size() && text[open] == ' ') ++open;
    if (is_start && open < text.size() && text[open] == '(') {
      at = open;
      break;
    }
  }
  arguments.clear();
  int depth = 0;
  size_t start = at + 1;
  for (size_t i = at; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"' || c == '\'') {
      for (++i; i < text.size() && text[i] != c; ++i) {
        if (text[i] == '\\') ++i;
      }
    } else if (c == '(' || c == '{' || c == '[') {
      ++depth;
    } else if (c == ')' || c == '}' || c == ']') {
      if (--depth > 0) continue;
      const std::string_view last = base::trim_white_space(text.substr(start, i - start));
      if (!last.empty() || !arguments.empty()) arguments.emplace_back(last);
      from = i + 1;
      return true;
    } else if (c == ',' && depth == 1) {
      arguments.emplace_back(base::trim_white_space(text.substr(start, i - start)));
      start = i + 1;
    }
  }
  return false;
}

bool java_string(std::string_view text, std::string& out) {
  text = base::trim_white_space(text);
  if (text.size() < 2 || text.front() != '"' || text.back() != '"') return false;
  out.clear();
  for (size_t i = 1; i + 1 < text.size(); ++i) {
    if (text[i] == '"') return false;  // two literals with something between
    const bool is_escape = text[i] == '\\' && i + 2 < text.size();
    if (is_escape) ++i;
    const bool is_control = is_escape && (text[i] == 'n' || text[i] == 't' || text[i] == 'r');
    if (is_control || static_cast<unsigned char>(text[i]) < ' ') return false;
    out += text[i];
  }
  return true;
}

}  // namespace millstream::flowtest
