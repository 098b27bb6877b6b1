// Both kinds of forms as the object that their schema describes.
#include <algorithm>
#include <optional>

#include "base/ascii.h"
#include "base/percent.h"
#include "model/body.h"
#include "model/parameters.h"
#include "text/utf8.h"

namespace millstream::model {
namespace {

bool is_list_field(const Schema* schema) {
  const uint32_t types = schema ? possible_types(*schema) : 0;
  return (types & kTypeArray) != 0 && (types & kTypeString) == 0;
}
bool is_object_field(const Schema* schema) {
  const uint32_t types = schema ? possible_types(*schema) : 0;
  return (types & kTypeObject) != 0 && (types & kTypeString) == 0;
}

void add_form_problem(ReadBody& out, const std::string& field, std::string text,
                      const FormField* source = nullptr) {
  if (out.problems.size() >= ValidationOptions::kProblemsMax) return;
  out.problems.push_back({pointer_step("", field), std::move(text),
                          source ? source->parameter.source : DocumentPlace()});
}

// --- application/x-www-form-urlencoded

bool is_pair_of(const FormField& field, const std::string& name) {
  const Parameter& p = field.parameter;
  if (p.style == ParameterStyle::kDeepObject) return name.starts_with(p.name + "[");
  if (name == p.name) return true;
  if (!p.explodes || !is_object_field(p.schema)) return false;
  std::vector<std::string> members;
  collect_property_names(*p.schema, members);
  return std::find(members.begin(), members.end(), name) != members.end();
}

// An object without a style is JSON (OpenAPI 3.0, encoding object), or the members as pairs.
bool is_json_field(const FormField& field, const std::vector<QueryPair>& pairs) {
  if (!field.content_types.empty()) return is_json_media_type(field.content_types[0]);
  if (field.has_style || !is_object_field(field.parameter.schema)) return false;
  return std::any_of(pairs.begin(), pairs.end(),
                     [&](const QueryPair& pair) { return pair.name == field.name; });
}

// --- multipart/form-data

struct FormPart {
  std::string name;
  std::string_view content_type, content;
  std::vector<std::string_view> header_names;
};

// The value of a parameter of a header: name="a\"b". Nothing when it has none.
std::optional<std::string> header_parameter(std::string_view header, std::string_view wanted) {
  for (size_t at = header.find(';'); at < header.size();) {
    size_t start = at + 1;
    while (start < header.size() && (header[start] == ' ' || header[start] == '\t')) ++start;
    const size_t equals = header.find('=', start);
    if (equals == std::string_view::npos) return std::nullopt;
    const std::string_view name = base::trim_white_space(header.substr(start, equals - start));
    std::string value;
    at = equals + 1;
    if (at < header.size() && header[at] == '"') {
      for (++at; at < header.size() && header[at] != '"'; ++at) {
        if (header[at] == '\\' && at + 1 < header.size()) ++at;
        value += header[at];
      }
      at = header.find(';', at);
    } else {
      const size_t end = std::min(header.find(';', at), header.size());
      value = base::trim_white_space(header.substr(at, end - at));
      at = end;
    }
    if (text::equals_ignoring_ascii_case(name, wanted)) return value;
  }
  return std::nullopt;
}

class MultipartReader {
 public:
  MultipartReader(std::string_view body, std::string_view boundary, const MediaType& type,
                  const BodyOptions& options)
      : body_(body), delimiter_("--" + std::string(boundary)), type_(type), options_(options) {}

  ReadBody read() {
    out_.value = json::Value::object();
    if (delimiter_.size() == 2) return refused("has no boundary in its Content-Type");
    size_t at = body_.starts_with(delimiter_) ? 0 : find_delimiter(0);
    if (at == std::string_view::npos) return refused("is not multipart: its boundary is missing");
    for (size_t count = 0;; ++count) {
      at += delimiter_.size();
      if (body_.substr(at, 2) == "--") break;
      const size_t line = body_.find('\n', at);
      const size_t next =
          line == std::string_view::npos ? std::string_view::npos : find_delimiter(line);
      if (next == std::string_view::npos) {
        return refused("is not multipart: its last boundary is missing");
      }
      if (count == BodyOptions::kFieldsMax) return refused("has too many parts");
      // The line end before the boundary belongs to the boundary.
      size_t end = next - 1;
      if (end > line && body_[end - 1] == '\r') --end;
      FormPart part;
      if (!read_part(body_.substr(line + 1, end > line ? end - line - 1 : 0), part)) {
        return refused("has a part that is no form field");
      }
      take(part);
      at = next;
    }
    return std::move(out_);
  }

 private:
  ReadBody refused(const char* why) {
    out_.problems.push_back({"", why, {}});
    return std::move(out_);
  }

  // At the beginning of a line; `from` is the line end before the first that counts, or 0.
  size_t find_delimiter(size_t from) const {
    const std::string wanted = "\n" + delimiter_;
    const size_t found = body_.find(wanted, from);
    return found == std::string_view::npos ? found : found + 1;
  }

  static bool read_part(std::string_view text, FormPart& out) {
    bool has_name = false;
    for (size_t at = 0; at < text.size();) {
      const size_t end = text.find('\n', at);
      if (end == std::string_view::npos || end > BodyOptions::kPartHeadBytesMax) return false;
      std::string_view line = text.substr(at, end - at);
      at = end + 1;
      if (line.ends_with('\r')) line.remove_suffix(1);
      if (line.empty()) {
        out.content = text.substr(at);
        return has_name;
      }
      const size_t colon = line.find(':');
      if (colon == std::string_view::npos) return false;
      const std::string_view name = line.substr(0, colon);
      const std::string_view value = base::trim_white_space(line.substr(colon + 1));
      out.header_names.push_back(name);
      if (text::equals_ignoring_ascii_case(name, "Content-Type")) out.content_type = value;
      if (!text::equals_ignoring_ascii_case(name, "Content-Disposition")) continue;
      const std::string_view kind = base::trim_white_space(value.substr(0, value.find(';')));
      const std::optional<std::string> field = header_parameter(value, "name");
      has_name = text::equals_ignoring_ascii_case(kind, "form-data") && field &&
                 text::is_valid_utf8(*field);
      out.name = field.value_or("");
    }
    // An empty part has an empty line too, which was cut off with the line end of the boundary.
    return has_name;
  }

  void take(const FormPart& part) {
    const auto field = std::find_if(type_.fields.begin(), type_.fields.end(),
                                    [&](const FormField& f) { return f.name == part.name; });
    const FormField* known = field == type_.fields.end() ? nullptr : &*field;
    const Schema* schema = known          ? known->parameter.schema
                           : type_.schema ? find_property(*type_.schema, part.name)
                                          : nullptr;
    if (known && !check_head(part, *known)) return;
    const bool is_list = is_list_field(schema);
    // Swagger 2.0's collectionFormat: the whole list in one part.
    if (is_list && known && known->has_style && !known->parameter.explodes) {
      return take_joined(part, *known);
    }
    json::Value value = value_of(part, is_list ? find_items(*schema) : schema, known);
    json::Value* before = out_.value.find(part.name);
    if (is_list && value.is_array() && !before) {
      out_.value.set(part.name, std::move(value));  // the whole list as JSON
    } else if (is_list) {
      if (!before) before = &out_.value.set(part.name, json::Value::array());
      before->push_back(std::move(value));
    } else if (before && !schema) {
      return;  // anything goes
    } else if (before) {
      add_form_problem(out_, part.name, "is there more than once", known);
    } else {
      out_.value.set(part.name, std::move(value));
    }
  }

  void take_joined(const FormPart& part, const FormField& field) {
    if (!text::is_valid_utf8(part.content)) {
      return add_form_problem(out_, part.name, "is not UTF-8", &field);
    }
    const ParameterStyle style = field.parameter.style;
    const char delimiter = style == ParameterStyle::kSpaceDelimited  ? ' '
                           : style == ParameterStyle::kPipeDelimited ? '|'
                           : style == ParameterStyle::kTabDelimited  ? '\t'
                                                                     : ',';
    json::Value& list = out_.value.set(part.name, json::Value::array());
    const Schema* item = find_items(*field.parameter.schema);
    for (size_t at = 0; at <= part.content.size() && !part.content.empty();) {
      const size_t end = std::min(part.content.find(delimiter, at), part.content.size());
      list.push_back(typed_value(part.content.substr(at, end - at), item));
      at = end + 1;
    }
  }

  bool check_head(const FormPart& part, const FormField& field) {
    if (!field.content_types.empty()) {
      std::vector<MediaType> allowed;
      for (const std::string& name : field.content_types) allowed.push_back({name});
      const std::string_view sent = part.content_type.empty() ? "text/plain" : part.content_type;
      if (!find_media_type(allowed, sent)) {
        std::string names;
        for (const std::string& name : field.content_types) {
          names += (names.empty() ? "" : ", ") + name;
        }
        add_form_problem(out_, part.name,
                         "must be of the media type " + names + ", not " + std::string(sent),
                         &field);
        return false;
      }
    }
    for (const std::string& wanted : field.required_headers) {
      const bool is_there =
          std::any_of(part.header_names.begin(), part.header_names.end(),
                      [&](auto name) { return text::equals_ignoring_ascii_case(name, wanted); });
      if (!is_there) add_form_problem(out_, part.name, "must have the header " + wanted, &field);
    }
    return true;
  }

  json::Value value_of(const FormPart& part, const Schema* schema, const FormField* field) {
    if (schema && schema->is_binary) return file_value(part.content, *schema);
    const std::string type = text::to_lower(
        base::trim_white_space(part.content_type.substr(0, part.content_type.find(';'))));
    const std::string charset = header_parameter(part.content_type, "charset").value_or("");
    if (is_xml_media_type(type) && schema) {
      ReadBody read = read_xml(part.content, charset, *schema, options_.depth_max);
      for (SchemaProblem& p : read.problems) {
        p.place.insert(0, pointer_step("", part.name));
        out_.problems.push_back(std::move(p));
      }
      return std::move(read.value);
    }
    if (!charset.empty() && !text::equals_ignoring_ascii_case(charset, "utf-8") &&
        !text::equals_ignoring_ascii_case(charset, "us-ascii")) {
      add_form_problem(out_, part.name, "is in the charset " + charset + ", not in UTF-8", field);
      return {};
    }
    const bool is_json = is_json_media_type(type) || (type.empty() && is_object_field(schema));
    if (is_json) {
      Result<json::Value> parsed = json::parse(
          part.content,
          {.depth_max = options_.depth_max, .values_max = ValidationOptions::kStepsMax});
      if (parsed.ok()) return std::move(parsed).value();
      add_form_problem(out_, part.name, "is not JSON: " + parsed.error().text, field);
      return {};
    }
    if (!schema) return json::Value("");  // any bytes
    if (text::is_valid_utf8(part.content)) return typed_value(part.content, schema);
    add_form_problem(out_, part.name, "is not UTF-8", field);
    return {};
  }

  // Only its length can be asked for: a character a byte.
  static json::Value file_value(std::string_view content, const Schema& schema) {
    const bool has_length = schema.min_length || schema.max_length;
    return json::Value(has_length ? std::string(content.size(), '.') : std::string());
  }

  const std::string_view body_;
  const std::string delimiter_;
  const MediaType& type_;
  const BodyOptions& options_;
  ReadBody out_;
};

}  // namespace

ReadBody read_form(std::string_view body, const MediaType& type, const BodyOptions& options) {
  ReadBody out;
  out.value = json::Value::object();
  const std::vector<QueryPair> pairs = split_query(body, BodyOptions::kFieldsMax + 1);
  if (pairs.size() > BodyOptions::kFieldsMax) {
    out.problems.push_back({"", "has too many fields", type.source});
    return out;
  }
  Operation fields;  // each field is as a parameter of a query
  for (const FormField& field : type.fields) {
    fields.parameters.push_back(field.parameter);
    fields.parameters.back().is_json = is_json_field(field, pairs);
  }
  RawRequest raw;
  raw.query = body;
  std::vector<ParameterValue> values = decode_parameters(fields, raw);
  for (size_t i = 0; i < values.size(); ++i) {
    if (!values[i].is_present) continue;
    const FormField& field = type.fields[i];
    if (!text::is_valid_utf8(values[i].text)) {
      add_form_problem(out, field.name, "is not UTF-8", &field);
    } else if (fields.parameters[i].is_json && values[i].value.is_string() &&
               !json::parse(values[i].text, {.depth_max = options.depth_max}).ok()) {
      add_form_problem(out, field.name, "is not JSON", &field);
    } else {
      out.value.set(field.name, std::move(values[i].value));
    }
  }
  for (const QueryPair& pair : pairs) {
    const bool is_known =
        std::any_of(type.fields.begin(), type.fields.end(),
                    [&](const FormField& field) { return is_pair_of(field, pair.name); });
    if (is_known || out.value.find(pair.name)) continue;
    const std::string text = base::percent_decode(pair.raw, true);
    if (!text::is_valid_utf8(text) || !text::is_valid_utf8(pair.name)) {
      out.problems.push_back({"", "is not UTF-8", type.source});
      break;
    }
    const Schema* schema = type.schema ? find_property(*type.schema, pair.name) : nullptr;
    out.value.set(pair.name, typed_value(text, schema));
  }
  return out;
}

ReadBody read_multipart(std::string_view body, std::string_view boundary, const MediaType& type,
                        const BodyOptions& options) {
  return MultipartReader(body, boundary, type, options).read();
}

}  // namespace millstream::model
