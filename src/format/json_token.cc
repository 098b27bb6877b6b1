#include "format/json_token.h"

#include <cstring>
#include <vector>

#include "text/utf8.h"

namespace millstream::format {
namespace {

bool is_json_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

// Four hexadecimal digits; negative when they are not.
int32_t read_hex4(std::string_view s, size_t at) {
  if (at + 4 > s.size()) return -1;
  int32_t v = 0;
  for (size_t i = at; i < at + 4; ++i) {
    char c = s[i];
    int digit = c >= '0' && c <= '9'   ? c - '0'
                : c >= 'a' && c <= 'f' ? c - 'a' + 10
                : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                       : -1;
    if (digit < 0) return -1;
    v = v * 16 + digit;
  }
  return v;
}

bool report(JsonProblem* problem, size_t offset, const char* reason) {
  if (problem) *problem = {JsonProblem::Kind::kSyntax, offset, reason};
  return false;
}

// The escape at raw[at] (a backslash); advances `at` past it.
bool decode_escape(std::string_view raw, size_t& at, char*& out, JsonProblem* problem) {
  size_t start = at;
  char c = at + 1 < raw.size() ? raw[at + 1] : '\0';
  at += 2;
  switch (c) {
    case '"':
    case '\\':
    case '/':
      *out++ = c;
      return true;
    case 'b':
      *out++ = '\b';
      return true;
    case 'f':
      *out++ = '\f';
      return true;
    case 'n':
      *out++ = '\n';
      return true;
    case 'r':
      *out++ = '\r';
      return true;
    case 't':
      *out++ = '\t';
      return true;
    case 'u':
      break;
    default:
      return report(problem, start, "the escape sequence is not one of JSON");
  }
  int32_t unit = read_hex4(raw, at);
  if (unit < 0) return report(problem, start, "\\u is not followed by four hexadecimal digits");
  at += 4;
  char32_t code = static_cast<char32_t>(unit);
  if (unit >= 0xDC00 && unit <= 0xDFFF) {
    return report(problem, start, "a low surrogate has no high surrogate before it");
  }
  if (unit >= 0xD800 && unit <= 0xDBFF) {
    int32_t low =
        at + 1 < raw.size() && raw[at] == '\\' && raw[at + 1] == 'u' ? read_hex4(raw, at + 2) : -1;
    if (low < 0xDC00 || low > 0xDFFF) {
      return report(problem, start, "a high surrogate has no low surrogate after it");
    }
    at += 6;
    code = 0x10000 + ((static_cast<char32_t>(unit) - 0xD800) << 10) +
           (static_cast<char32_t>(low) - 0xDC00);
  }
  out += text::encode_utf8(code, out);
  return true;
}

class JsonChecker {
 public:
  JsonChecker(std::string_view s, const JsonLimits& limits) : s_(s), limits_(limits) {}

  std::optional<JsonProblem> run() {
    if (size_t bad = text::find_invalid_utf8(s_); bad != std::string_view::npos) {
      // Everything before the bad byte is still checked first: the earlier problem is the one.
      JsonChecker before(s_.substr(0, bad), limits_);
      before.check();
      bool is_earlier = before.problem_ && before.problem_->offset < bad && !before.hit_end_;
      if (is_earlier) return before.problem_;
      return JsonProblem{JsonProblem::Kind::kSyntax, bad, "the text is not valid UTF-8"};
    }
    check();
    return problem_;
  }

 private:
  bool fail(const char* reason, JsonProblem::Kind kind = JsonProblem::Kind::kSyntax) {
    return fail_at(at_, reason, kind);
  }
  bool fail_at(size_t at, const char* reason, JsonProblem::Kind kind = JsonProblem::Kind::kSyntax) {
    problem_ = JsonProblem{kind, at, reason};
    return false;
  }
  bool fail_end(const char* reason) {
    hit_end_ = true;
    return fail_at(s_.size(), reason);
  }
  void skip_space() {
    while (at_ < s_.size() && is_json_space(s_[at_])) ++at_;
  }
  bool at_end() const { return at_ >= s_.size(); }

  bool check_string() {
    size_t start = at_;
    for (++at_; at_ < s_.size(); ++at_) {
      unsigned char c = static_cast<unsigned char>(s_[at_]);
      if (c < 0x20) return fail("a control character stands in a string");
      if (c == '"') {
        // Decoding finds bad escapes; an escaped quote was skipped below.
        std::string_view raw = s_.substr(start + 1, at_ - start - 1);
        ++at_;
        if (raw.find('\\') == std::string_view::npos) return true;
        scratch_.resize(raw.size());
        JsonProblem p;
        if (decode_json_string(raw, scratch_.data(), &p) != std::string_view::npos) return true;
        return fail_at(start + 1 + p.offset, p.reason);
      }
      if (c == '\\') ++at_;
    }
    return fail_end("the string is not closed");
  }

  bool check_literal(std::string_view word) {
    if (s_.substr(at_, word.size()) != word) return fail("a value is expected");
    at_ += word.size();
    return true;
  }

  bool check_number() {
    JsonNumber n;
    const char* begin = s_.data() + at_;
    const char* end = scan_json_number(begin, s_.data() + s_.size(), n);
    if (!end) return fail("the number is malformed");
    if (!n.is_in_range()) {
      return fail("the number is beyond the range of DECIMAL", JsonProblem::Kind::kNumberRange);
    }
    at_ += static_cast<size_t>(end - begin);
    return true;
  }

  bool check_scalar() {
    switch (s_[at_]) {
      case '"':
        return check_string();
      case 't':
        return check_literal("true");
      case 'f':
        return check_literal("false");
      case 'n':
        return check_literal("null");
      case '-':
      case '0':
      case '1':
      case '2':
      case '3':
      case '4':
      case '5':
      case '6':
      case '7':
      case '8':
      case '9':
        return check_number();
      default:
        return fail("a value is expected");
    }
  }

  // The member name and its colon.
  bool check_name() {
    skip_space();
    if (at_end()) return fail_end("the object is not closed");
    if (s_[at_] != '"') return fail("a member name in double quotes is expected");
    if (!check_string()) return false;
    skip_space();
    if (at_end()) return fail_end("the object is not closed");
    if (s_[at_] != ':') return fail("a colon is expected after the member name");
    ++at_;
    return true;
  }

  bool open_container(bool& is_value_next) {
    bool is_object = s_[at_] == '{';
    if (open_.size() >= limits_.depth_max) {
      return fail("the nesting is deeper than the limit", JsonProblem::Kind::kDepth);
    }
    open_.push_back(is_object);
    ++at_;
    skip_space();
    if (at_end())
      return fail_end(is_object ? "the object is not closed" : "the array is not closed");
    if (s_[at_] == (is_object ? '}' : ']')) {
      ++at_;
      open_.pop_back();
      is_value_next = false;
      return true;
    }
    is_value_next = true;
    return !is_object || check_name();
  }

  // After a value inside a container: the comma before the next one, or closing brackets.
  bool finish_value(bool& is_value_next) {
    while (!open_.empty()) {
      skip_space();
      bool is_object = open_.back();
      if (at_end()) {
        return fail_end(is_object ? "the object is not closed" : "the array is not closed");
      }
      char c = s_[at_];
      if (c == ',') {
        ++at_;
        is_value_next = true;
        return !is_object || check_name();
      }
      if (c != (is_object ? '}' : ']')) {
        return fail(is_object ? "a comma or } is expected" : "a comma or ] is expected");
      }
      ++at_;
      open_.pop_back();
    }
    is_value_next = false;
    return true;
  }

  bool check() {
    skip_space();
    if (at_end()) return fail_end("the text is empty");
    if (!limits_.allows_scalar_root && s_[at_] != '{' && s_[at_] != '[') {
      return fail("the outermost value is not an object or array");
    }
    bool is_value_next = true;
    while (is_value_next) {
      skip_space();
      if (at_end()) return fail_end("a value is expected");
      if (s_[at_] == '{' || s_[at_] == '[') {
        if (!open_container(is_value_next)) return false;
        if (is_value_next) continue;
      } else if (!check_scalar()) {
        return false;
      }
      if (!finish_value(is_value_next)) return false;
    }
    skip_space();
    return at_end() || fail("there is text after the end of the document");
  }

  std::string_view s_;
  const JsonLimits& limits_;
  size_t at_ = 0;
  std::vector<bool> open_;
  std::string scratch_;
  bool hit_end_ = false;
  std::optional<JsonProblem> problem_;
};

}  // namespace

size_t decode_json_string(std::string_view raw, char* out, JsonProblem* problem) {
  char* begin = out;
  size_t at = 0;
  while (at < raw.size()) {
    const void* hit = std::memchr(raw.data() + at, '\\', raw.size() - at);
    size_t stop =
        hit ? static_cast<size_t>(static_cast<const char*>(hit) - raw.data()) : raw.size();
    std::memmove(out, raw.data() + at, stop - at);
    out += stop - at;
    at = stop;
    if (hit && !decode_escape(raw, at, out, problem)) return std::string_view::npos;
  }
  return static_cast<size_t>(out - begin);
}

std::optional<JsonProblem> check_json(std::string_view document, const JsonLimits& limits) {
  return JsonChecker(document, limits).run();
}

TextPosition text_position(std::string_view text, size_t offset) {
  TextPosition p;
  if (offset > text.size()) offset = text.size();
  for (size_t i = 0; i < offset; ++i) {
    unsigned char c = static_cast<unsigned char>(text[i]);
    if (c == '\n') {
      ++p.line;
      p.column = 1;
    } else if ((c & 0xC0) != 0x80) {
      ++p.column;
    }
  }
  return p;
}

}  // namespace millstream::format
