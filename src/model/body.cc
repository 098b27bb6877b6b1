#include "model/body.h"

#include "model/parameters.h"
#include "text/ccsid.h"
#include "text/utf8.h"

namespace millstream::model {
namespace {

constexpr uint32_t kScalarTypes =
    kTypeNull | kTypeBoolean | kTypeInteger | kTypeNumber | kTypeString;

bool is_scalar(const Schema& schema) {
  const uint32_t types = possible_types(schema);
  return types != 0 && (types & ~kScalarTypes) == 0;
}

// Nothing but "some bytes", or anything.
bool asks_nothing(const Schema& s) {
  return (s.types == 0 || s.types == kTypeString) && !s.is_never && !s.reference &&
         s.format == Format::kNone && !s.enumeration && !s.constant && !s.pattern &&
         !s.min_length && !s.max_length && s.properties.empty() && s.required.empty() &&
         !s.has_closed_properties && !s.additional_properties && !s.items && s.all_of.empty() &&
         s.any_of.empty() && s.one_of.empty() && !s.not_schema && !s.if_schema;
}

bool is_utf8_charset(std::string_view charset) {
  return charset.empty() || text::equals_ignoring_ascii_case(charset, "utf-8") ||
         text::equals_ignoring_ascii_case(charset, "us-ascii");
}

class BodyCheck {
 public:
  BodyCheck(std::string_view body, const BodyLabel& label, const MediaType& type,
            const BodyOptions& options)
      : body_(body), label_(label), type_(type), options_(options) {}

  std::vector<SchemaProblem> run() {
    const BodyFormat format = body_format(text::to_lower(label_.media_type));
    const bool is_form = format == BodyFormat::kForm || format == BodyFormat::kMultipart;
    if (is_form) {
      check_form(format);
      return std::move(problems_);
    }
    if (!type_.schema) return {};
    switch (format) {
      case BodyFormat::kJson:
        check_json();
        break;
      case BodyFormat::kXml: {
        ReadBody read = read_xml(body_, label_.charset, *type_.schema, options_.depth_max);
        problems_ = std::move(read.problems);
        if (problems_.empty()) check_value(*type_.schema, read.value, "");
        break;
      }
      case BodyFormat::kText:
        check_text();
        break;
      case BodyFormat::kForm:
      case BodyFormat::kMultipart:
      case BodyFormat::kOther:
        break;
    }
    return std::move(problems_);
  }

 private:
  void complain(std::string text) { problems_.push_back({"", std::move(text), type_.source}); }

  void check_value(const Schema& schema, const json::Value& value, const std::string& place) {
    ValidationOptions options{options_.direction};
    options.depth_max = options_.validation_depth_max;
    for (SchemaProblem& p : validate(schema, value, options)) {
      p.place.insert(0, place);
      problems_.push_back(std::move(p));
    }
  }

  // The flow would read other values out of the same bytes than those that are checked here.
  void check_json() {
    if (type_.schema->is_binary) return;
    if (!is_utf8_charset(label_.charset)) {
      return complain("is JSON in the charset " + std::string(label_.charset) + ", not in UTF-8");
    }
    Result<json::Value> parsed = json::parse(
        body_, {.depth_max = options_.depth_max, .values_max = ValidationOptions::kStepsMax});
    if (!parsed.ok()) return complain("is not JSON: " + parsed.error().text);
    check_value(*type_.schema, parsed.value(), "");
  }

  void check_text() {
    if (!is_scalar(*type_.schema) || type_.schema->is_binary) return;
    std::string converted;
    std::string_view text = body_;
    if (!is_utf8_charset(label_.charset)) {
      const auto ccsid = text::ccsid_of_encoding(label_.charset);
      if (!ccsid || !text::to_utf8(body_, *ccsid, converted).ok()) {
        return complain("cannot be read as " + std::string(label_.charset));
      }
      text = converted;
    }
    if (!text::is_valid_utf8(text)) return complain("is not UTF-8");
    check_value(*type_.schema, typed_value(text, type_.schema), "");
  }

  void check_form(BodyFormat format) {
    if (!type_.schema && type_.fields.empty()) return;
    ReadBody read = format == BodyFormat::kForm
                        ? read_form(body_, type_, options_)
                        : read_multipart(body_, label_.boundary, type_, options_);
    problems_ = std::move(read.problems);
    for (SchemaProblem& p : problems_) {
      if (!p.source.file) p.source = type_.source;
    }
    if (!problems_.empty()) return;
    if (type_.schema) return check_value(*type_.schema, read.value, "");
    for (const FormField& field : type_.fields) {
      const json::Value* value = read.value.find(field.name);
      if (value && !(field.parameter.allows_empty && value->as_string().empty())) {
        check_value(*field.parameter.schema, *value, pointer_step("", field.name));
      } else if (!value && field.parameter.is_required) {
        problems_.push_back({"", "must have the field " + field.name, field.parameter.source});
      }
    }
  }

  const std::string_view body_;
  const BodyLabel& label_;
  const MediaType& type_;
  const BodyOptions& options_;
  std::vector<SchemaProblem> problems_;
};

}  // namespace

BodyFormat body_format(std::string_view media_type) {
  if (is_json_media_type(media_type)) return BodyFormat::kJson;
  if (is_xml_media_type(media_type)) return BodyFormat::kXml;
  if (media_type == "application/x-www-form-urlencoded") return BodyFormat::kForm;
  if (media_type == "multipart/form-data") return BodyFormat::kMultipart;
  return media_type.starts_with("text/") ? BodyFormat::kText : BodyFormat::kOther;
}

bool can_check_body(const MediaType& type) {
  if (!type.schema || type.schema->is_binary || asks_nothing(*type.schema)) return true;
  // Of a range, what comes decides.
  if (type.name.find('*') != std::string::npos) return true;
  const BodyFormat format = body_format(type.name);
  if (format == BodyFormat::kText) return is_scalar(*type.schema);
  return format != BodyFormat::kOther;
}

std::vector<SchemaProblem> check_body(std::string_view body, const BodyLabel& label,
                                      const MediaType& type, const BodyOptions& options) {
  return BodyCheck(body, label, type, options).run();
}

}  // namespace millstream::model
