#include "model/parameters.h"

#include <algorithm>
#include <charconv>

#include "base/ascii.h"
#include "base/percent.h"
#include "format/json_token.h"
#include "text/utf8.h"

namespace millstream::model {
namespace {

constexpr uint32_t kJsonDepthMax = 60;

// A list as it was sent. Clients encode the delimiter as well as the data, so an encoded one counts
// where no plain one is.
std::vector<std::string> split_list(std::string_view raw, char delimiter, bool is_encoded,
                                    bool plus_is_space) {
  auto decode = [&](std::string_view s) {
    return is_encoded ? base::percent_decode(s, plus_is_space) : std::string(s);
  };
  std::vector<std::string> out;
  const bool is_plain = raw.find(delimiter) != std::string_view::npos;
  const std::string whole = is_plain ? std::string() : decode(raw);
  const std::string_view text = is_plain ? raw : std::string_view(whole);
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min(text.find(delimiter, at), text.size());
    std::string_view item = text.substr(at, end - at);
    // In a header, "a, b": blanks after the comma belong to the list.
    if (!is_encoded) item = base::trim_white_space(item);
    out.push_back(is_plain ? decode(item) : std::string(item));
    at = end + 1;
  }
  if (out.size() == 1 && out[0].empty()) out.clear();
  return out;
}

char delimiter_of(ParameterStyle style) {
  switch (style) {
    case ParameterStyle::kSpaceDelimited:
      return ' ';
    case ParameterStyle::kPipeDelimited:
      return '|';
    case ParameterStyle::kTabDelimited:
      return '\t';
    default:
      return ',';
  }
}

json::Value list_value(const std::vector<std::string>& items, const Schema* schema) {
  const Schema* item = schema ? find_items(*schema) : nullptr;
  json::Value out = json::Value::array();
  for (const std::string& text : items) out.push_back(typed_value(text, item));
  return out;
}

void set_member(json::Value& object, const std::string& name, std::string_view text,
                const Schema* schema) {
  object.set(name, typed_value(text, schema ? find_property(*schema, name) : nullptr));
}

// "a,1,b,2" or, exploded, "a=1,b=2".
json::Value object_value(const std::vector<std::string>& items, bool explodes,
                         const Schema* schema) {
  json::Value out = json::Value::object();
  for (size_t i = 0; i < items.size(); ++i) {
    if (explodes) {
      const size_t equals = std::min(items[i].find('='), items[i].size());
      const std::string_view text =
          std::string_view(items[i]).substr(std::min(equals + 1, items[i].size()));
      set_member(out, items[i].substr(0, equals), text, schema);
    } else if (i + 1 < items.size()) {
      set_member(out, items[i], items[i + 1], schema);
      ++i;
    }
  }
  return out;
}

bool may_be(const Schema* schema, uint32_t type) {
  return schema && (possible_types(*schema) & type) != 0;
}
// What a list or object may also be is told apart by nothing: text wins.
bool is_list(const Schema* schema) {
  return may_be(schema, kTypeArray) && !may_be(schema, kTypeString);
}
bool is_object(const Schema* schema) {
  return may_be(schema, kTypeObject) && !may_be(schema, kTypeString);
}

// An enumeration without a type says it by its values.
uint32_t scalar_types(const Schema& schema) {
  uint32_t types = possible_types(schema);
  if (types != 0 || !schema.enumeration) return types;
  for (const json::Value& v : schema.enumeration->items()) {
    if (v.is_integer()) types |= kTypeInteger;
    if (v.is_number() && !v.is_integer()) types |= kTypeNumber;
    if (v.is_bool()) types |= kTypeBoolean;
    if (v.is_null()) types |= kTypeNull;
    if (v.is_string()) types |= kTypeString;
  }
  return types;
}

class ParameterDecoder {
 public:
  ParameterDecoder(const Operation& operation, const RawRequest& request)
      : operation_(operation), request_(request), query_(split_query(request.query)) {}

  ParameterValue decode(const Parameter& p) {
    ParameterValue out;
    out.parameter = &p;
    switch (p.place) {
      case ParameterPlace::kPath:
        decode_path(p, out);
        break;
      case ParameterPlace::kQuery:
        decode_query(p, out);
        break;
      case ParameterPlace::kHeader:
        decode_header(p, out);
        break;
      case ParameterPlace::kCookie:
        decode_cookie(p, out);
        break;
    }
    out.has_value = out.is_present;
    if (!out.is_present && p.schema && p.schema->default_value) {
      out.has_value = true;
      out.value = *p.schema->default_value;
      out.text = text_of(out.value);
    }
    return out;
  }

 private:
  void take(const Parameter& p, std::string_view raw, char delimiter, bool is_encoded,
            bool plus_is_space, ParameterValue& out) {
    out.is_present = true;
    out.text = is_encoded ? base::percent_decode(raw, plus_is_space) : std::string(raw);
    if (p.is_json) {
      Result<json::Value> value = json::parse(out.text, {.depth_max = kJsonDepthMax});
      out.value = value.ok() ? std::move(value).value() : json::Value(out.text);
    } else if (is_list(p.schema)) {
      out.value = list_value(split_list(raw, delimiter, is_encoded, plus_is_space), p.schema);
    } else if (is_object(p.schema)) {
      out.value =
          object_value(split_list(raw, delimiter, is_encoded, plus_is_space), p.explodes, p.schema);
    } else {
      out.value = typed_value(out.text, p.schema);
    }
  }

  void decode_path(const Parameter& p, ParameterValue& out) {
    if (!request_.path) return;
    for (const auto& [name, raw] : *request_.path) {
      if (name != p.name) continue;
      std::string_view text = raw;
      if (p.style == ParameterStyle::kLabel) {
        if (text.starts_with('.')) text.remove_prefix(1);
        return take(p, text, p.explodes ? '.' : ',', true, false, out);
      }
      if (p.style == ParameterStyle::kMatrix) return decode_matrix(p, text, out);
      return take(p, text, delimiter_of(p.style), true, false, out);
    }
  }

  // ";id=1,2", exploded ";id=1;id=2", objects ";a=1;b=2".
  void decode_matrix(const Parameter& p, std::string_view raw, ParameterValue& out) {
    if (raw.starts_with(';')) raw.remove_prefix(1);
    const std::string prefix = p.name + "=";
    if (!p.explodes || (!is_list(p.schema) && !is_object(p.schema))) {
      if (raw == p.name) raw = {};
      if (raw.starts_with(prefix)) raw.remove_prefix(prefix.size());
      return take(p, raw, ',', true, false, out);
    }
    out.is_present = true;
    out.text = base::percent_decode(raw);
    std::vector<std::string> items = split_list(raw, ';', true, false);
    if (is_object(p.schema)) {
      out.value = object_value(items, true, p.schema);
      return;
    }
    for (std::string& item : items) {
      if (item.starts_with(prefix)) item.erase(0, prefix.size());
    }
    out.value = list_value(items, p.schema);
  }

  void decode_query(const Parameter& p, ParameterValue& out) {
    if (p.style == ParameterStyle::kDeepObject) return decode_deep_object(p, out);
    if (is_object(p.schema) && p.explodes && p.style == ParameterStyle::kForm && !p.is_json) {
      return decode_exploded_object(p, out);
    }
    std::vector<std::string_view> found;
    for (const QueryPair& pair : query_) {
      if (pair.name == p.name) found.push_back(pair.raw);
    }
    if (found.empty()) return;
    if (!p.explodes || !is_list(p.schema) || p.is_json) {
      return take(p, found[0], delimiter_of(p.style), true, true, out);
    }
    out.is_present = true;
    std::vector<std::string> items;
    for (std::string_view raw : found) {
      items.push_back(base::percent_decode(raw, true));
      if (!out.text.empty()) out.text += ',';
      out.text += items.back();
    }
    out.value = list_value(items, p.schema);
  }

  // name[member]=a
  void decode_deep_object(const Parameter& p, ParameterValue& out) {
    json::Value object = json::Value::object();
    for (const QueryPair& pair : query_) {
      const std::string& name = pair.name;
      const size_t open = p.name.size();
      if (name.size() < open + 3 || !name.starts_with(p.name) || name[open] != '[' ||
          name.back() != ']') {
        continue;
      }
      const std::string member = name.substr(open + 1, name.size() - open - 2);
      add_repeated(object, member, base::percent_decode(pair.raw, true),
                   p.schema ? find_property(*p.schema, member) : nullptr);
    }
    if (object.members().empty()) return;
    take_object(std::move(object), out);
  }

  // Each member is a query parameter of its own; those of other parameters are not members.
  void decode_exploded_object(const Parameter& p, ParameterValue& out) {
    std::vector<std::string> known;
    collect_property_names(*p.schema, known);
    const bool is_open = known.empty() || p.schema->additional_properties;
    json::Value object = json::Value::object();
    for (const QueryPair& pair : query_) {
      const bool is_member = std::find(known.begin(), known.end(), pair.name) != known.end();
      if (!is_member && !(is_open && !operation_.find_parameter(pair.name))) continue;
      add_repeated(object, pair.name, base::percent_decode(pair.raw, true),
                   find_property(*p.schema, pair.name));
    }
    if (object.members().empty()) return;
    take_object(std::move(object), out);
  }

  static void take_object(json::Value object, ParameterValue& out) {
    out.is_present = true;
    for (const json::Member& m : object.members()) {
      if (!out.text.empty()) out.text += ',';
      out.text += m.name + "," + text_of(m.value);
    }
    out.value = std::move(object);
  }

  static void add_repeated(json::Value& object, const std::string& name, std::string text,
                           const Schema* schema) {
    if (!is_list(schema)) {
      object.set(name, typed_value(text, schema));
      return;
    }
    json::Value* list = object.find(name);
    if (!list) list = &object.set(name, json::Value::array());
    list->push_back(typed_value(text, find_items(*schema)));
  }

  void decode_header(const Parameter& p, ParameterValue& out) {
    std::string joined;
    bool is_found = false;
    for (const auto& [name, value] : request_.headers) {
      if (!text::equals_ignoring_ascii_case(name, p.name)) continue;
      if (is_found) joined += ',';
      joined += value;
      is_found = true;
    }
    if (!is_found) return;
    take(p, joined, delimiter_of(p.style), false, false, out);
  }

  void decode_cookie(const Parameter& p, ParameterValue& out) {
    std::vector<std::string> items;
    std::string_view rest = request_.cookies;
    while (!rest.empty()) {
      const size_t end = std::min(rest.find(';'), rest.size());
      const std::string_view pair = base::trim_white_space(rest.substr(0, end));
      rest.remove_prefix(std::min(end + 1, rest.size()));
      const size_t equals = std::min(pair.find('='), pair.size());
      if (base::percent_decode(pair.substr(0, equals)) != p.name) continue;
      const std::string_view raw =
          equals < pair.size() ? pair.substr(equals + 1) : pair.substr(0, 0);
      if (!p.explodes || !is_list(p.schema)) return take(p, raw, ',', true, false, out);
      items.push_back(base::percent_decode(raw));
    }
    if (items.empty()) return;
    out.is_present = true;
    for (const std::string& item : items) out.text += (out.text.empty() ? "" : ",") + item;
    out.value = list_value(items, p.schema);
  }

  const Operation& operation_;
  const RawRequest& request_;
  const std::vector<QueryPair> query_;
};

}  // namespace

std::vector<QueryPair> split_query(std::string_view query, size_t pairs_max) {
  std::vector<QueryPair> out;
  for (size_t at = 0; at < query.size() && out.size() < pairs_max;) {
    const size_t end = std::min(query.find('&', at), query.size());
    const std::string_view pair = query.substr(at, end - at);
    at = end + 1;
    if (pair.empty()) continue;
    const size_t equals = std::min(pair.find('='), pair.size());
    out.push_back({base::percent_decode(pair.substr(0, equals), true),
                   equals < pair.size() ? pair.substr(equals + 1) : std::string_view()});
  }
  return out;
}

json::Value typed_value(std::string_view text, const Schema* schema) {
  const uint32_t types = schema ? scalar_types(*schema) : 0;
  if ((types & (kTypeInteger | kTypeNumber)) != 0) {
    format::JsonNumber number;
    const char* end = text.data() + text.size();
    if (!text.empty() && format::scan_json_number(text.data(), end, number) == end) {
      int64_t integer = 0;
      auto [p, e] = std::from_chars(text.data(), end, integer);
      if (e == std::errc() && p == end) return json::Value(integer);
      const bool is_integer = text.find_first_of(".eE") == std::string_view::npos;
      double real = 0;
      auto [q, f] = std::from_chars(text.data(), end, real);
      const bool is_real = f == std::errc() && q == end;
      if (is_real && (is_integer || (types & kTypeNumber) != 0)) return json::Value(real);
    }
  }
  if ((types & kTypeBoolean) != 0) {
    if (text == "true") return json::Value(true);
    if (text == "false") return json::Value(false);
  }
  const bool is_null = types != 0 && (types & kTypeNull) != 0 && (types & kTypeString) == 0;
  if (is_null && (text.empty() || text == "null")) return json::Value();
  return json::Value(text);
}

std::string text_of(const json::Value& value) {
  if (value.is_string()) return value.as_string();
  if (value.is_null()) return {};
  if (value.is_array()) {
    std::string out;
    for (const json::Value& item : value.items()) {
      if (!out.empty()) out += ',';
      out += text_of(item);
    }
    return out;
  }
  return json::write(value);
}

std::vector<ParameterValue> decode_parameters(const Operation& operation,
                                              const RawRequest& request) {
  ParameterDecoder decoder(operation, request);
  std::vector<ParameterValue> out;
  out.reserve(operation.parameters.size());
  for (const Parameter& p : operation.parameters) out.push_back(decoder.decode(p));
  return out;
}

}  // namespace millstream::model
