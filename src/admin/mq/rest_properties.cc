#include "admin/mq/rest_properties.h"

#include <charconv>
#include <cmath>
#include <limits>

#include "base/ascii.h"

namespace millstream::admin {
namespace {

using mqi::PropertyType;
using mqi::PropertyView;

struct TypeName {
  std::string_view name;
  PropertyType type;
};
// The first of a type is the one that is written.
constexpr TypeName kTypeNames[] = {
    {"boolean", PropertyType::kBoolean}, {"byte", PropertyType::kInt8},
    {"short", PropertyType::kInt16},     {"integer", PropertyType::kInt32},
    {"long", PropertyType::kInt64},      {"float", PropertyType::kFloat32},
    {"double", PropertyType::kFloat64},  {"string", PropertyType::kString},
    {"bytes", PropertyType::kBytes},     {"i1", PropertyType::kInt8},
    {"i2", PropertyType::kInt16},        {"i4", PropertyType::kInt32},
    {"int", PropertyType::kInt32},       {"i8", PropertyType::kInt64},
    {"r4", PropertyType::kFloat32},      {"r8", PropertyType::kFloat64},
    {"bin.hex", PropertyType::kBytes},
};

constexpr std::string_view kBlanks = " \t";

std::string_view trim_blanks(std::string_view text) {
  const size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

bool find_type(std::string_view name, PropertyType& type) {
  for (const TypeName& known : kTypeNames) {
    if (known.name != name) continue;
    type = known.type;
    return true;
  }
  return false;
}

struct Part {
  std::string text;
  bool is_quoted = false;
  char end = '\0';  // what stood behind it: ';', ',' or nothing
};

// Up to the next ';' or ',' outside of quotation marks.
bool take_part(std::string_view& rest, Part& part) {
  part = {};
  while (!rest.empty() && kBlanks.find(rest.front()) != std::string_view::npos) {
    rest.remove_prefix(1);
  }
  if (rest.starts_with('"')) {
    part.is_quoted = true;
    size_t at = 1;
    for (; at < rest.size() && rest[at] != '"'; ++at) {
      if (rest[at] == '\\' && at + 1 < rest.size()) ++at;
      part.text += rest[at];
    }
    if (at >= rest.size()) return false;  // no end
    rest.remove_prefix(at + 1);
    while (!rest.empty() && kBlanks.find(rest.front()) != std::string_view::npos) {
      rest.remove_prefix(1);
    }
    if (!rest.empty() && rest.front() != ';' && rest.front() != ',') return false;
  } else {
    const size_t end = std::min(rest.find_first_of(";,"), rest.size());
    part.text = trim_blanks(rest.substr(0, end));
    rest.remove_prefix(end);
  }
  if (!rest.empty()) {
    part.end = rest.front();
    rest.remove_prefix(1);
  }
  return true;
}

bool int_value(std::string_view text, PropertyType type, PropertyView& out) {
  int64_t lowest = std::numeric_limits<int64_t>::min();
  int64_t highest = std::numeric_limits<int64_t>::max();
  if (type == PropertyType::kInt8) lowest = -128, highest = 127;
  if (type == PropertyType::kInt16) lowest = -32768, highest = 32767;
  if (type == PropertyType::kInt32) lowest = INT32_MIN, highest = INT32_MAX;
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return false;
  if (value < lowest || value > highest) return false;
  out = PropertyView::make(type, value);
  return true;
}

bool real_value(std::string_view text, PropertyType type, PropertyView& out) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return false;
  const bool is_single = type == PropertyType::kFloat32;
  if (is_single && std::isfinite(value) && !std::isfinite(static_cast<float>(value))) return false;
  out = is_single ? PropertyView::float32(static_cast<float>(value)) : PropertyView::float64(value);
  return true;
}

bool bytes_value(std::string_view text, std::string& scratch, PropertyView& out) {
  scratch.clear();
  if (!base::append_bytes_of_hex(scratch, text)) return false;
  out = PropertyView::bytes(scratch);
  return true;
}

bool property_value(std::string_view text, PropertyType type, std::string& scratch,
                    PropertyView& out) {
  switch (type) {
    case PropertyType::kBoolean:
      if (text != "true" && text != "false" && text != "1" && text != "0") return false;
      out = PropertyView::boolean(text == "true" || text == "1");
      return true;
    case PropertyType::kInt8:
    case PropertyType::kInt16:
    case PropertyType::kInt32:
    case PropertyType::kInt64:
      return int_value(text, type, out);
    case PropertyType::kFloat32:
    case PropertyType::kFloat64:
      return real_value(text, type, out);
    case PropertyType::kBytes:
      return bytes_value(text, scratch, out);
    default:
      out = PropertyView::string(text);
      return true;
  }
}

std::string real_text(const PropertyView& value) {
  char text[64];
  const auto end = value.type == PropertyType::kFloat32
                       ? std::to_chars(text, text + sizeof text, static_cast<float>(value.real))
                       : std::to_chars(text, text + sizeof text, value.real);
  return std::string(text, end.ptr);
}

}  // namespace

bool read_user_properties(std::string_view field, mqi::PropertyList& out, std::string& problem) {
  std::string_view rest = field;
  std::string scratch;
  while (!trim_blanks(rest).empty()) {
    Part name, second, third;
    const bool is_whole = take_part(rest, name) && name.end == ';' && take_part(rest, second) &&
                          second.end == ';' && take_part(rest, third) && third.end != ';';
    if (!is_whole) {
      problem = "a property is name;value;type";
      return false;
    }
    PropertyType type{};
    const Part* value = &second;
    if (third.is_quoted || !find_type(third.text, type)) {
      value = &third;  // name;type;value is understood, too
      if (second.is_quoted || !find_type(second.text, type)) {
        problem = "the type of " + name.text + " is none of boolean, byte, short, integer, long, " +
                  "float, double, string and bytes";
        return false;
      }
    }
    PropertyView view;
    if (!property_value(value->text, type, scratch, view)) {
      problem = "the value of " + name.text + " is not of its type";
      return false;
    }
    Status status = out.set(name.text, view);
    if (!status.ok()) {
      problem = status.error().text;
      return false;
    }
  }
  return true;
}

std::string write_user_property(std::string_view name, const PropertyView& value) {
  std::string out(name);
  out += ';';
  PropertyType type = value.type;
  if (value.is_null()) type = PropertyType::kString;
  if (value.is_boolean()) {
    out += value.integer != 0 ? "true" : "false";
  } else if (value.is_integer()) {
    out += std::to_string(value.integer);
  } else if (value.is_float()) {
    out += real_text(value);
  } else if (value.is_bytes()) {
    base::append_hex(out, value.text());
  } else {
    out += '"';
    for (char c : value.is_null() ? std::string_view() : value.text()) {
      if (c == '"' || c == '\\') out += '\\';
      out += c;
    }
    out += '"';
  }
  for (const TypeName& known : kTypeNames) {
    if (known.type != type) continue;
    out += ';';
    out += known.name;
    break;
  }
  return out;
}

}  // namespace millstream::admin
