#include <charconv>
#include <cmath>

#include "base/json_value.h"
#include "base/utf8_check.h"

namespace millstream::base::json {
namespace {

void append_double(double v, std::string& out) {
  if (!std::isfinite(v)) {
    out += "null";
    return;
  }
  char digits[32];
  auto end = std::to_chars(digits, digits + sizeof digits, v).ptr;
  std::string_view text(digits, static_cast<size_t>(end - digits));
  out += text;
  // 1.0 stays a double when it is read again.
  if (text.find_first_of(".e") == std::string_view::npos) out += ".0";
}

class JsonWriter {
 public:
  JsonWriter(const WriteOptions& options, std::string& out) : options_(options), out_(out) {}

  void write(const Value& v, size_t level) {
    switch (v.kind()) {
      case Kind::kNull:
        out_ += "null";
        return;
      case Kind::kBool:
        out_ += v.as_bool() ? "true" : "false";
        return;
      case Kind::kInteger:
        out_ += std::to_string(v.as_integer());
        return;
      case Kind::kDouble:
        append_double(v.as_double(), out_);
        return;
      case Kind::kString:
        append_quoted(v.as_string(), out_);
        return;
      case Kind::kArray:
        write_array(v, level);
        return;
      case Kind::kObject:
        write_object(v, level);
        return;
    }
  }

 private:
  void new_line(size_t level) {
    if (!options_.is_pretty) return;
    out_ += '\n';
    out_.append(level * 2, ' ');
  }

  void write_array(const Value& v, size_t level) {
    out_ += '[';
    bool is_first = true;
    for (const Value& item : v.items()) {
      if (!is_first) out_ += ',';
      is_first = false;
      new_line(level + 1);
      write(item, level + 1);
    }
    if (!is_first) new_line(level);
    out_ += ']';
  }

  void write_object(const Value& v, size_t level) {
    out_ += '{';
    bool is_first = true;
    for (const Member& m : v.members()) {
      if (!is_first) out_ += ',';
      is_first = false;
      new_line(level + 1);
      append_quoted(m.name, out_);
      out_ += options_.is_pretty ? ": " : ":";
      write(m.value, level + 1);
    }
    if (!is_first) new_line(level);
    out_ += '}';
  }

  const WriteOptions& options_;
  std::string& out_;
};

}  // namespace

void append_quoted(std::string_view text, std::string& out) {
  static constexpr char kHex[] = "0123456789abcdef";
  out += '"';
  for (size_t i = 0; i < text.size();) {
    unsigned char c = static_cast<unsigned char>(text[i]);
    if (c >= 0x80) {
      size_t size = utf8_sequence_size(text.substr(i));
      if (size == 0) {
        out += "\xEF\xBF\xBD";  // U+FFFD
        ++i;
      } else {
        out += text.substr(i, size);
        i += size;
      }
      continue;
    }
    ++i;
    switch (c) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\r':
        out += "\\r";
        break;
      case '\t':
        out += "\\t";
        break;
      default:
        if (c < 0x20 || c == 0x7f) {
          out += "\\u00";
          out += kHex[c >> 4];
          out += kHex[c & 15];
        } else {
          out += static_cast<char>(c);
        }
    }
  }
  out += '"';
}

std::string write(const Value& value, const WriteOptions& options) {
  std::string out;
  JsonWriter(options, out).write(value, 0);
  return out;
}

}  // namespace millstream::base::json
