#include <charconv>
#include <unordered_set>

#include "base/errors_gen.h"
#include "base/json_value.h"
#include "base/utf8_check.h"

namespace millstream::base::json {
namespace {

// Recursive descent in the order of RFC 8259; the depth is bounded before every recursion.
class JsonParser {
 public:
  JsonParser(std::string_view text, const ParseOptions& options) : text_(text), options_(options) {}

  Result<Value> parse_document() {
    skip_blanks();
    Value v = MS_TRY(parse_value(0));
    skip_blanks();
    if (at_ != text_.size()) return fail("nothing may follow the value");
    return v;
  }

 private:
  Status fail(std::string_view what) const {
    uint32_t column = static_cast<uint32_t>(at_ - line_start_) + 1;
    return make_error_at(errors::kJsonSyntax, {options_.file, line_, column}, {what});
  }

  void skip_blanks() {
    for (; at_ < text_.size(); ++at_) {
      char c = text_[at_];
      if (c == '\n') {
        ++line_;
        line_start_ = at_ + 1;
      } else if (c != ' ' && c != '\t' && c != '\r') {
        return;
      }
    }
  }

  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  bool take(char c) {
    if (peek() != c || at_ >= text_.size()) return false;
    ++at_;
    return true;
  }

  Result<Value> parse_value(uint32_t depth) {
    if (++values_ > options_.values_max) {
      return fail("more than " + std::to_string(options_.values_max) + " values");
    }
    if (depth > options_.depth_max) {
      return fail("nested deeper than " + std::to_string(options_.depth_max) + " levels");
    }
    if (at_ >= text_.size()) return fail("the text ends where a value should begin");
    uint32_t line = line_;
    Value v = MS_TRY(parse_by_first(depth));
    v.set_line(line);
    return v;
  }

  Result<Value> parse_by_first(uint32_t depth) {
    switch (peek()) {
      case '{':
        return parse_object(depth);
      case '[':
        return parse_array(depth);
      case '"':
        return Value(MS_TRY(parse_string()));
      case 't':
        return parse_word("true", Value(true));
      case 'f':
        return parse_word("false", Value(false));
      case 'n':
        return parse_word("null", Value());
      default:
        return parse_number();
    }
  }

  Result<Value> parse_word(std::string_view word, Value v) {
    if (text_.substr(at_, word.size()) != word) return fail("not a value");
    at_ += word.size();
    return v;
  }

  Result<Value> parse_object(uint32_t depth) {
    Value v = Value::object();
    std::unordered_set<std::string> names;
    ++at_;
    skip_blanks();
    if (take('}')) return v;
    while (true) {
      skip_blanks();
      if (peek() != '"') return fail("expected a member name in quotes");
      std::string name = MS_TRY(parse_string());
      if (!names.insert(name).second) return fail("the member \"" + name + "\" is there twice");
      skip_blanks();
      if (!take(':')) return fail("expected ':'");
      skip_blanks();
      // set() would look for the name again, which makes large objects quadratic.
      v.append_new_member(std::move(name), MS_TRY(parse_value(depth + 1)));
      skip_blanks();
      if (take('}')) return v;
      if (!take(',')) return fail("expected ',' or '}'");
    }
  }

  Result<Value> parse_array(uint32_t depth) {
    Value v = Value::array();
    ++at_;
    skip_blanks();
    if (take(']')) return v;
    while (true) {
      skip_blanks();
      v.push_back(MS_TRY(parse_value(depth + 1)));
      skip_blanks();
      if (take(']')) return v;
      if (!take(',')) return fail("expected ',' or ']'");
    }
  }

  size_t take_digits() {
    size_t first = at_;
    while (peek() >= '0' && peek() <= '9') ++at_;
    return at_ - first;
  }

  Result<Value> parse_number() {
    size_t first = at_;
    take('-');
    if (peek() == '0') {
      ++at_;
    } else if (take_digits() == 0) {
      return fail("not a value");
    }
    bool is_integral = true;
    if (take('.')) {
      is_integral = false;
      if (take_digits() == 0) return fail("expected a digit after the decimal point");
    }
    if (peek() == 'e' || peek() == 'E') {
      is_integral = false;
      ++at_;
      if (peek() == '+' || peek() == '-') ++at_;
      if (take_digits() == 0) return fail("expected a digit in the exponent");
    }
    const char* begin = text_.data() + first;
    const char* end = text_.data() + at_;
    int64_t integer = 0;
    if (is_integral && std::from_chars(begin, end, integer).ec == std::errc())
      return Value(integer);
    double number = 0;
    if (std::from_chars(begin, end, number).ec != std::errc()) return fail("number out of range");
    return Value(number);
  }

  Result<std::string> parse_string() {
    std::string out;
    ++at_;
    while (at_ < text_.size()) {
      char c = text_[at_];
      if (c == '"') {
        ++at_;
        return out;
      }
      if (static_cast<unsigned char>(c) < 0x20) return fail("a control character in a string");
      if (c == '\\') {
        MS_TRY(parse_escape(out));
        continue;
      }
      size_t size = utf8_sequence_size(text_.substr(at_));
      if (size == 0) return fail("not UTF-8");
      out.append(text_, at_, size);
      at_ += size;
    }
    return fail("the text ends inside a string");
  }

  Status parse_escape(std::string& out) {
    static constexpr std::string_view kFrom = "\"\\/bfnrt", kTo = "\"\\/\b\f\n\r\t";
    ++at_;
    if (take('u')) {
      uint32_t code = MS_TRY(parse_hex4());
      if (code >= 0xDC00 && code < 0xE000) return fail("a lone low surrogate");
      if (code >= 0xD800 && code < 0xDC00) {
        if (!take('\\') || !take('u')) return fail("a lone high surrogate");
        uint32_t low = MS_TRY(parse_hex4());
        if (low < 0xDC00 || low >= 0xE000) return fail("a lone high surrogate");
        code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
      }
      append_utf8(code, out);
      return {};
    }
    size_t which = at_ < text_.size() ? kFrom.find(text_[at_]) : std::string_view::npos;
    if (which == std::string_view::npos) return fail("an unknown escape");
    out += kTo[which];
    ++at_;
    return {};
  }

  Result<uint32_t> parse_hex4() {
    uint32_t code = 0;
    if (at_ + 4 > text_.size()) return fail("expected four hexadecimal digits");
    auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + at_ + 4, code, 16);
    if (error != std::errc() || end != text_.data() + at_ + 4) {
      return fail("expected four hexadecimal digits");
    }
    at_ += 4;
    return code;
  }

  static void append_utf8(uint32_t c, std::string& out) {
    auto tail = [&](int shift) { out += static_cast<char>(0x80 | ((c >> shift) & 0x3F)); };
    if (c < 0x80) {
      out += static_cast<char>(c);
    } else if (c < 0x800) {
      out += static_cast<char>(0xC0 | (c >> 6));
      tail(0);
    } else if (c < 0x10000) {
      out += static_cast<char>(0xE0 | (c >> 12));
      tail(6);
      tail(0);
    } else {
      out += static_cast<char>(0xF0 | (c >> 18));
      tail(12);
      tail(6);
      tail(0);
    }
  }

  std::string_view text_;
  const ParseOptions& options_;
  size_t at_ = 0;
  size_t values_ = 0;
  size_t line_start_ = 0;
  uint32_t line_ = 1;
};

}  // namespace

Result<Value> parse(std::string_view text, const ParseOptions& options) {
  return JsonParser(text, options).parse_document();
}

}  // namespace millstream::base::json
