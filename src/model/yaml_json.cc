#include <charconv>
#include <cmath>
#include <limits>

#include "format/json_token.h"
#include "format/yaml.h"
#include "model/openapi.h"

namespace millstream::model {
namespace {

using format::YamlNode;

// Core schema: what an unquoted text means.
json::Value scalar_of(const YamlNode& node) {
  const std::string& text = node.text;
  if (node.is_quoted) return json::Value(text);
  if (text == "true" || text == "True" || text == "TRUE") return json::Value(true);
  if (text == "false" || text == "False" || text == "FALSE") return json::Value(false);
  if (text == ".inf" || text == "+.inf")
    return json::Value(std::numeric_limits<double>::infinity());
  if (text == "-.inf") return json::Value(-std::numeric_limits<double>::infinity());
  const bool has_sign = !text.empty() && (text[0] == '+' || text[0] == '-');
  const char* end = text.data() + text.size();
  const char* first = text.data() + (has_sign && text[0] == '+' ? 1 : 0);
  int64_t integer = 0;
  if (auto [p, e] = std::from_chars(first, end, integer); e == std::errc() && p == end) {
    return json::Value(integer);
  }
  if (text.starts_with("0x") || text.starts_with("0o")) {
    const int radix = text[1] == 'x' ? 16 : 8;
    auto [p, e] = std::from_chars(text.data() + 2, end, integer, radix);
    if (e == std::errc() && p == end && p != text.data() + 2) return json::Value(integer);
  }
  double number = 0;
  const size_t digit = text.find_first_of("0123456789");
  const bool is_plain =
      digit != std::string::npos && text.find_first_not_of("0123456789+-.eE") == std::string::npos;
  if (is_plain) {
    auto [p, e] = std::from_chars(first, end, number);
    if (e == std::errc() && p == end) return json::Value(number);
  }
  return json::Value(text);
}

json::Value value_of(const YamlNode& node) {
  json::Value out;
  switch (node.kind) {
    case YamlNode::Kind::kNull:
      break;
    case YamlNode::Kind::kScalar:
      out = scalar_of(node);
      break;
    case YamlNode::Kind::kSequence:
      out = json::Value::array();
      for (const YamlNode& item : node.items) out.push_back(value_of(item));
      break;
    case YamlNode::Kind::kMapping:
      out = json::Value::object();
      for (const format::YamlEntry& e : node.entries) {
        out.append_new_member(e.key, value_of(e.value));
      }
      break;
  }
  out.set_line(node.line);
  return out;
}

}  // namespace

Result<json::Value> yaml_to_json(std::string_view text, const std::string& file) {
  return value_of(MS_TRY(format::parse_yaml(text, file)));
}

}  // namespace millstream::model
