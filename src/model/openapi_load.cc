// The document's objects in the order of the OpenAPI specification: info, servers, paths,
// operations, parameters, bodies, replies, security.
#include <algorithm>
#include <map>
#include <set>

#include "base/ascii.h"
#include "model/errors_gen.h"
#include "model/openapi.h"

namespace millstream::model {
namespace {

constexpr const char* kMethods[] = {"get",   "put",  "post",    "delete",
                                    "patch", "head", "options", "trace"};

std::string upper_ascii(std::string_view s) {
  std::string out(s);
  for (char& c : out) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 0x20);
  }
  return out;
}
std::string lower_ascii(std::string_view s) {
  std::string out(s);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + 0x20);
  }
  return out;
}

std::string bare_media_type(std::string_view s) {
  return lower_ascii(base::trim_white_space(s.substr(0, s.find(';'))));
}

void drop_last_slash(std::string& path) {
  while (!path.empty() && path.back() == '/') path.pop_back();
}

}  // namespace

class ApiLoader {
 public:
  explicit ApiLoader(ApiDocument& out)
      : out_(out), root_(out.references_->root()), file_(out.references_->files()[0]->name) {}

  Status load() {
    MS_TRY(read_version());
    out_.schemas_ = std::make_unique<SchemaSet>(*out_.references_, out_.dialect_);
    const json::Value& info = root_.get("info");
    out_.title_ = info.get("title").as_string();
    const json::Value& version = info.get("version");
    out_.version_ = version.is_string() ? version.as_string() : json::write(version);
    out_.description_ = info.get("description").as_string();
    is_2() ? read_host() : read_servers();
    MS_TRY(read_security_schemes());
    MS_TRY(read_paths());
    out_.schemas_->finish();
    MS_TRY(finish_media_types());
    json::Value bundle = MS_TRY(bundle_document(*out_.references_, out_.dialect_, out_.warnings_));
    if (out_.files().size() > 1) out_.bundle_ = std::move(bundle);
    return out_.make_templates();
  }

 private:
  bool is_2() const { return out_.dialect_ == Dialect::kSwagger2; }
  DocumentPlace place(const json::Value& v, const std::string& pointer) const {
    return out_.references_->place_of(v, pointer);
  }
  base::Position at(const json::Value& v, const std::string& pointer) const {
    return place(v, pointer).position();
  }
  Status fail(const json::Value& v, const std::string& pointer, const char* what) const {
    return base::make_error_at(errors::kBadApiDocument, at(v, pointer), {pointer, what});
  }

  Status read_version() {
    const json::Value& root = root_;
    auto text_of = [](const json::Value& v) {
      return v.is_string() ? v.as_string() : v.is_number() ? json::write(v) : std::string();
    };
    const std::string swagger = text_of(root.get("swagger"));
    const std::string openapi = text_of(root.get("openapi"));
    if (swagger == "2.0" || swagger == "2") {
      out_.dialect_ = Dialect::kSwagger2;
    } else if (openapi.starts_with("3.0")) {
      out_.dialect_ = Dialect::kOpenApi30;
    } else if (openapi.starts_with("3.1")) {
      out_.dialect_ = Dialect::kOpenApi31;
    } else {
      return base::make_error_at(errors::kNotAnApiDocument, {file_, 1, 1},
                                 {"it has neither \"swagger\": \"2.0\" nor \"openapi\": \"3.0\" "
                                  "or \"3.1\""});
    }
    return {};
  }

  void read_host() {
    const json::Value& root = root_;
    out_.base_path_ = root.get("basePath").as_string();
    if (!out_.base_path_.empty() && out_.base_path_[0] != '/') {
      out_.base_path_.insert(out_.base_path_.begin(), '/');
    }
    drop_last_slash(out_.base_path_);
    const std::string& host = root.get("host").as_string();
    if (host.empty()) return;
    std::string scheme = "http";
    const auto& schemes = root.get("schemes").items();
    if (!schemes.empty()) scheme = schemes[0].as_string();
    out_.base_url_ = scheme + "://" + host + out_.base_path_;
  }

  void read_servers() {
    const auto& servers = root_.get("servers").items();
    if (servers.empty()) return;
    std::string url = servers[0].get("url").as_string();
    for (const json::Member& m : servers[0].get("variables").members()) {
      const std::string name = "{" + m.name + "}";
      for (size_t p; (p = url.find(name)) != std::string::npos;) {
        // The default cannot bring the variable back.
        std::string text = m.value.get("default").as_string();
        if (text.find(name) != std::string::npos) text.clear();
        url.replace(p, name.size(), text);
      }
    }
    drop_last_slash(url);
    const size_t scheme = url.find("://");
    if (scheme == std::string::npos) {
      out_.base_path_ = url;
      if (!url.empty() && url[0] != '/') out_.base_path_ = "/" + url;
      return;
    }
    out_.base_url_ = url;
    const size_t slash = url.find('/', scheme + 3);
    if (slash != std::string::npos) out_.base_path_ = url.substr(slash);
  }

  // With $ref followed; `pointer` becomes that of the target.
  Result<const json::Value*> resolved(const json::Value& v, std::string& pointer) const {
    return out_.references_->resolve(v, pointer);
  }

  Status read_security_schemes() {
    const json::Value& all =
        is_2() ? root_.get("securityDefinitions") : root_.get("components").get("securitySchemes");
    for (const json::Member& m : all.members()) {
      std::string pointer =
          pointer_step(is_2() ? "#/securityDefinitions" : "#/components/securitySchemes", m.name);
      const json::Value& v = *MS_TRY(resolved(m.value, pointer));
      SecurityScheme scheme;
      scheme.name = m.name;
      const std::string& type = v.get("type").as_string();
      const std::string http = lower_ascii(v.get("scheme").as_string());
      if (type == "apiKey") {
        scheme.kind = SecurityScheme::Kind::kApiKey;
        scheme.parameter = v.get("name").as_string();
        const std::string& in = v.get("in").as_string();
        if (in == "query") scheme.place = ParameterPlace::kQuery;
        if (in == "cookie") scheme.place = ParameterPlace::kCookie;
      } else if (type == "basic" || (type == "http" && http == "basic")) {
        scheme.kind = SecurityScheme::Kind::kBasic;
      } else if ((type == "http" && http == "bearer") || type == "oauth2" ||
                 type == "openIdConnect") {
        scheme.kind = SecurityScheme::Kind::kBearer;
      } else if (type == "http" && !http.empty()) {
        scheme.kind = SecurityScheme::Kind::kHttp;
        scheme.http_scheme = v.get("scheme").as_string();
      }
      out_.security_schemes_.push_back(std::move(scheme));
    }
    return {};
  }

  Status read_paths() {
    const json::Value* paths = root_.find("paths");
    if (!paths || !paths->is_object()) {
      if (out_.dialect_ == Dialect::kOpenApi31 && !paths) return {};
      return base::make_error_at(errors::kNotAnApiDocument, {file_, 1, 1}, {"it has no \"paths\""});
    }
    for (const json::Member& m : paths->members()) {
      if (m.name.starts_with("x-")) continue;
      std::string pointer = pointer_step("#/paths", m.name);
      if (!m.name.starts_with("/")) return fail(m.value, pointer, "a path begins with /");
      const std::string own_pointer = pointer;
      const json::Value& item = *MS_TRY(resolved(m.value, pointer));
      for (const char* method : kMethods) {
        // What stands beside $ref wins over what the target has.
        const json::Value* own = m.value.find(method);
        const json::Value* operation = own ? own : item.find(method);
        if (!operation) continue;
        MS_TRY(read_operation({m.name, method, m.value, own_pointer, item, pointer}, *operation,
                              pointer_step(own ? own_pointer : pointer, method)));
      }
    }
    return {};
  }

  // Where an operation stands: `own` is the path's value in the document, `item` what it refers to.
  struct PathItem {
    const std::string& path;
    const char* method;
    const json::Value& own;
    const std::string& own_pointer;
    const json::Value& item;
    const std::string& pointer;
  };

  Status read_operation(const PathItem& from, const json::Value& v, const std::string& pointer) {
    const std::string& path = from.path;
    if (!v.is_object()) return fail(v, pointer, "an operation is an object");
    if (out_.operations_.size() >= ApiDocument::kOperationsMax) {
      return base::make_error_at(errors::kApiDocumentTooLarge, at(v, pointer),
                                 {ApiDocument::kOperationsMax, "operations"});
    }
    Operation operation;
    operation.path = path;
    operation.method = upper_ascii(from.method);
    operation.source = place(v, pointer);
    operation.id = v.get("operationId").as_string();
    operation.has_id = !operation.id.empty();
    if (!operation.has_id) operation.id = operation.method + " " + path;
    auto [it, is_new] = ids_.try_emplace(operation.id, pointer);
    if (!is_new) {
      return base::make_error_at(errors::kDuplicateOperation, at(v, pointer),
                                 {pointer, operation.id, it->second});
    }
    operation.summary = v.get("summary").as_string();
    operation.description = v.get("description").as_string();
    operation.is_deprecated = v.get("deprecated").as_bool();
    for (const json::Value& tag : v.get("tags").items()) operation.tags.push_back(tag.as_string());
    MS_TRY(read_parameters(v, pointer_step(pointer, "parameters"), operation));
    if (&from.own != &from.item) {
      MS_TRY(read_parameters(from.own, pointer_step(from.own_pointer, "parameters"), operation));
    }
    MS_TRY(read_parameters(from.item, pointer_step(from.pointer, "parameters"), operation));
    MS_TRY(check_path_parameters(path, v, pointer, operation));
    if (!is_2()) MS_TRY(read_body(v, pointer, operation));
    MS_TRY(read_replies(v, pointer, operation));
    read_security(v, pointer, operation);
    out_.operations_.push_back(std::move(operation));
    return {};
  }

  // Those of the operation come first and win over those of the path.
  Status read_parameters(const json::Value& owner, const std::string& list_pointer,
                         Operation& operation) {
    const auto& items = owner.get("parameters").items();
    for (size_t i = 0; i < items.size(); ++i) {
      std::string pointer = pointer_step(list_pointer, std::to_string(i));
      const json::Value& v = *MS_TRY(resolved(items[i], pointer));
      if (operation.parameters.size() >= ApiDocument::kParametersMax) {
        return base::make_error_at(errors::kApiDocumentTooLarge, at(v, pointer),
                                   {ApiDocument::kParametersMax, "parameters in one operation"});
      }
      const std::string& in = v.get("in").as_string();
      if (is_2() && in == "body") {
        read_body_2(v, pointer, operation);
        continue;
      }
      if (is_2() && in == "formData") {
        read_form_field_2(v, pointer, operation);
        continue;
      }
      Parameter p;
      MS_TRY(read_parameter(v, pointer, in, p));
      const bool is_known =
          std::any_of(operation.parameters.begin(), operation.parameters.end(),
                      [&](const Parameter& o) { return o.place == p.place && o.name == p.name; });
      if (!is_known) operation.parameters.push_back(std::move(p));
    }
    return {};
  }

  Status read_parameter(const json::Value& v, const std::string& pointer, const std::string& in,
                        Parameter& p) {
    static constexpr struct {
      const char* in;
      ParameterPlace place;
      ParameterStyle style;
    } kPlaces[] = {{"path", ParameterPlace::kPath, ParameterStyle::kSimple},
                   {"query", ParameterPlace::kQuery, ParameterStyle::kForm},
                   {"header", ParameterPlace::kHeader, ParameterStyle::kSimple},
                   {"cookie", ParameterPlace::kCookie, ParameterStyle::kForm}};
    const auto* found = std::find_if(std::begin(kPlaces), std::end(kPlaces),
                                     [&](const auto& e) { return in == e.in; });
    if (found == std::end(kPlaces)) {
      return fail(v, pointer, "the parameter is in none of path, query, header and cookie");
    }
    p.name = v.get("name").as_string();
    if (p.name.empty()) return fail(v, pointer, "the parameter has no name");
    p.place = found->place;
    p.style = found->style;
    p.source = place(v, pointer);
    p.is_required = v.get("required").as_bool() || p.place == ParameterPlace::kPath;
    p.allows_empty = v.get("allowEmptyValue").as_bool();
    p.allows_reserved = v.get("allowReserved").as_bool();
    p.description = v.get("description").as_string();
    if (is_2()) {
      read_collection_format(v.get("collectionFormat").as_string(), p);
      p.schema = out_.schemas_->add(v, pointer);  // the parameter is its own schema
      return {};
    }
    MS_TRY(read_style(v, pointer, p));
    if (const json::Value* schema = v.find("schema")) {
      p.schema = out_.schemas_->add(*schema, pointer_step(pointer, "schema"));
    } else if (const json::Value* content = v.find("content")) {
      for (const json::Member& m : content->members()) {
        p.is_json = is_json_media_type(bare_media_type(m.name));
        const json::Value* schema_of_content = m.value.find("schema");
        if (schema_of_content) {
          p.schema = out_.schemas_->add(
              *schema_of_content,
              pointer_step(pointer_step(pointer_step(pointer, "content"), m.name), "schema"));
        }
        break;
      }
    }
    return {};
  }

  static void read_collection_format(const std::string& format, Parameter& p) {
    p.explodes = format == "multi";
    if (format == "ssv") p.style = ParameterStyle::kSpaceDelimited;
    if (format == "tsv") p.style = ParameterStyle::kTabDelimited;
    if (format == "pipes") p.style = ParameterStyle::kPipeDelimited;
  }

  Status read_style(const json::Value& v, const std::string& pointer, Parameter& p) {
    using Place = ParameterPlace;
    static constexpr struct {
      const char* name;
      ParameterStyle style;
      bool in_path, in_query, in_header, in_cookie;
    } kStyles[] = {{"simple", ParameterStyle::kSimple, true, false, true, false},
                   {"label", ParameterStyle::kLabel, true, false, false, false},
                   {"matrix", ParameterStyle::kMatrix, true, false, false, false},
                   {"form", ParameterStyle::kForm, false, true, false, true},
                   {"spaceDelimited", ParameterStyle::kSpaceDelimited, false, true, false, false},
                   {"pipeDelimited", ParameterStyle::kPipeDelimited, false, true, false, false},
                   {"deepObject", ParameterStyle::kDeepObject, false, true, false, false}};
    if (const json::Value* style = v.find("style")) {
      const auto* found = std::find_if(std::begin(kStyles), std::end(kStyles),
                                       [&](const auto& s) { return style->as_string() == s.name; });
      const bool fits =
          found != std::end(kStyles) && (p.place == Place::kPath     ? found->in_path
                                         : p.place == Place::kQuery  ? found->in_query
                                         : p.place == Place::kHeader ? found->in_header
                                                                     : found->in_cookie);
      if (!fits) return fail(v, pointer, "the parameter has a style that its place does not allow");
      p.style = found->style;
    }
    p.explodes = v.get("explode").as_bool(p.style == ParameterStyle::kForm);
    return {};
  }

  // {a} of the path without a parameter `a` would never reach the flow by a name.
  Status check_path_parameters(const std::string& path, const json::Value& v,
                               const std::string& pointer, Operation& operation) {
    for (size_t open = 0; (open = path.find('{', open)) != std::string::npos; ++open) {
      const size_t close = path.find('}', open);
      if (close == std::string::npos || close == open + 1) {
        return fail(v, pointer, "a brace of the path is not closed, or empty");
      }
      const std::string name = path.substr(open + 1, close - open - 1);
      const bool is_known = std::any_of(
          operation.parameters.begin(), operation.parameters.end(),
          [&](const auto& p) { return p.place == ParameterPlace::kPath && p.name == name; });
      if (is_known) continue;
      Parameter p;
      p.name = name;
      p.place = ParameterPlace::kPath;
      p.style = ParameterStyle::kSimple;
      p.explodes = false;
      p.is_required = true;
      operation.parameters.push_back(std::move(p));
    }
    return {};
  }

  void add_media_types(const json::Value& content, const std::string& pointer,
                       std::vector<MediaType>& out) {
    for (const json::Member& m : content.members()) {
      MediaType type{bare_media_type(m.name), nullptr};
      type.source = place(m.value, pointer);
      if (const json::Value* schema = m.value.find("schema")) {
        type.schema =
            out_.schemas_->add(*schema, pointer_step(pointer_step(pointer, m.name), "schema"));
      }
      if (is_form_media_type(type.name)) type.encoding = m.value.find("encoding");
      type.pointer = pointer_step(pointer, m.name);
      out.push_back(std::move(type));
    }
  }

  Status read_body(const json::Value& v, const std::string& pointer, Operation& operation) {
    const json::Value* body = v.find("requestBody");
    if (!body) return {};
    std::string at = pointer_step(pointer, "requestBody");
    const json::Value& target = *MS_TRY(resolved(*body, at));
    operation.body.emplace();
    operation.body->is_required = target.get("required").as_bool();
    operation.body->source = place(target, at);
    operation.body->description = target.get("description").as_string();
    add_media_types(target.get("content"), pointer_step(at, "content"),
                    operation.body->media_types);
    return {};
  }

  // consumes and produces, of the operation or the document; JSON when neither says.
  std::vector<std::string> media_types_2(const json::Value& operation_value, const char* key) {
    const json::Value* list = operation_value.find(key);
    if (!list) list = root_.find(key);
    std::vector<std::string> out;
    if (list) {
      for (const json::Value& m : list->items()) out.push_back(bare_media_type(m.as_string()));
    }
    if (out.empty()) out.emplace_back("application/json");
    return out;
  }

  void read_body_2(const json::Value& v, const std::string& pointer, Operation& operation) {
    operation.body.emplace();
    operation.body->is_required = v.get("required").as_bool();
    operation.body->description = v.get("description").as_string();
    operation.body->source = place(v, pointer);
    MediaType type;  // its names come in finish_body_2
    type.pointer = pointer;
    type.source = operation.body->source;
    if (const json::Value* schema = v.find("schema")) {
      type.schema = out_.schemas_->add(*schema, pointer_step(pointer, "schema"));
    }
    operation.body->media_types.push_back(std::move(type));
  }

  // The fields of a form are parameters, each its own schema.
  void read_form_field_2(const json::Value& v, const std::string& pointer, Operation& operation) {
    if (!operation.body) {
      operation.body.emplace();
      operation.body->source = place(v, pointer);
      MediaType type;
      type.pointer = pointer;
      type.source = operation.body->source;
      operation.body->media_types.push_back(std::move(type));
    }
    FormField field;
    field.name = v.get("name").as_string();
    field.parameter.name = field.name;
    field.parameter.is_required = v.get("required").as_bool();
    field.parameter.allows_empty = v.get("allowEmptyValue").as_bool();
    field.has_style = true;
    read_collection_format(v.get("collectionFormat").as_string(), field.parameter);
    field.parameter.schema = out_.schemas_->add(v, pointer);
    field.parameter.source = place(v, pointer);
    operation.body->is_required |= field.parameter.is_required;
    operation.body->media_types[0].fields.push_back(std::move(field));
  }

  // A body or form by `consumes`; a form only by the kinds of forms.
  void finish_body_2(const json::Value& v, Operation& operation) {
    const MediaType type = std::move(operation.body->media_types[0]);
    operation.body->media_types.clear();
    const bool is_form = !type.fields.empty();
    std::vector<std::string> names = media_types_2(v, "consumes");
    if (is_form) {
      std::erase_if(names, [](const std::string& name) {
        return !is_form_media_type(name) && name.find('*') == std::string::npos;
      });
      if (names.empty()) names = {"application/x-www-form-urlencoded", "multipart/form-data"};
    }
    for (std::string& name : names) {
      operation.body->media_types.push_back(type);
      operation.body->media_types.back().name = std::move(name);
    }
  }

  Status read_replies(const json::Value& v, const std::string& pointer, Operation& operation) {
    if (is_2() && operation.body) finish_body_2(v, operation);
    const std::string list = pointer_step(pointer, "responses");
    for (const json::Member& m : v.get("responses").members()) {
      if (m.name.starts_with("x-")) continue;
      std::string at = pointer_step(list, m.name);
      const json::Value& target = *MS_TRY(resolved(m.value, at));
      Reply reply;
      reply.status = upper_ascii(m.name) == "DEFAULT" ? "default" : upper_ascii(m.name);
      reply.description = target.get("description").as_string();
      reply.source = place(target, at);
      if (!is_2()) {
        add_media_types(target.get("content"), pointer_step(at, "content"), reply.media_types);
      } else if (const json::Value* schema = target.find("schema")) {
        const Schema* compiled = out_.schemas_->add(*schema, pointer_step(at, "schema"));
        for (std::string& name : media_types_2(v, "produces")) {
          MediaType type{std::move(name), compiled};
          type.pointer = at;
          type.source = reply.source;
          reply.media_types.push_back(std::move(type));
        }
      }
      MS_TRY(read_headers(target, at, reply));
      operation.replies.push_back(std::move(reply));
    }
    return {};
  }

  Status read_headers(const json::Value& v, const std::string& pointer, Reply& reply) {
    for (const json::Member& m : v.get("headers").members()) {
      std::string at = pointer_step(pointer_step(pointer, "headers"), m.name);
      const json::Value& target = *MS_TRY(resolved(m.value, at));
      ReplyHeader header{m.name, target.get("required").as_bool(), nullptr, place(target, at)};
      header.explodes = target.get("explode").as_bool();
      if (is_2()) {
        header.schema = out_.schemas_->add(target, at);
      } else if (const json::Value* schema = target.find("schema")) {
        header.schema = out_.schemas_->add(*schema, pointer_step(at, "schema"));
      }
      reply.headers.push_back(std::move(header));
    }
    return {};
  }

  void read_security(const json::Value& v, const std::string& pointer, Operation& operation) {
    const json::Value* list = v.find("security");
    std::string list_pointer = pointer_step(list ? pointer : "#", "security");
    if (!list) list = root_.find("security");
    if (!list) return;
    for (const json::Value& alternative : list->items()) {
      SecurityRequirement names;
      for (const json::Member& m : alternative.members()) {
        if (!out_.find_security_scheme(m.name)) {
          out_.schemas_->add_problem(base::make_error_at(
              errors::kUnknownScheme, at(alternative, list_pointer), {list_pointer, m.name}));
        }
        names.push_back(m.name);
      }
      operation.security.push_back(std::move(names));
    }
  }

  // What needs compiled schemas: the fields of forms, and which bodies cannot be checked.
  Status finish_media_types() {
    for (Operation& operation : out_.operations_) {
      if (operation.body) MS_TRY(finish_media_types(operation.body->media_types));
      for (Reply& reply : operation.replies) MS_TRY(finish_media_types(reply.media_types));
    }
    return {};
  }
  Status finish_media_types(std::vector<MediaType>& types) {
    for (MediaType& type : types) {
      if (is_form_media_type(type.name) && type.schema) MS_TRY(read_fields(type));
      if (can_check_body(type) || !told_.insert(type.pointer + " " + type.name).second) continue;
      out_.warnings_.push_back(base::make_error_at(errors::kUncheckedBody, type.source.position(),
                                                   {type.pointer, type.name})
                                   .take_error());
    }
    return {};
  }

  Status read_fields(MediaType& type) {
    std::vector<const SchemaProperty*> properties;
    collect_properties(*type.schema, properties);
    for (const SchemaProperty* property : properties) {
      FormField field;
      field.name = property->name;
      field.parameter.name = property->name;
      field.parameter.schema = property->schema;
      field.parameter.source = property->schema->place;
      const std::string pointer = pointer_step(pointer_step(type.pointer, "encoding"), field.name);
      if (const json::Value* v = type.encoding ? type.encoding->find(field.name) : nullptr) {
        field.has_style = v->find("style") || v->find("explode");
        MS_TRY(read_style(*v, pointer, field.parameter));
        std::string_view names = v->get("contentType").as_string();
        while (!names.empty()) {
          const size_t comma = std::min(names.find(','), names.size());
          field.content_types.push_back(bare_media_type(names.substr(0, comma)));
          names.remove_prefix(std::min(comma + 1, names.size()));
        }
        for (const json::Member& m : v->get("headers").members()) {
          std::string at = pointer_step(pointer_step(pointer, "headers"), m.name);
          const json::Value& header = *MS_TRY(resolved(m.value, at));
          if (header.get("required").as_bool()) field.required_headers.push_back(m.name);
        }
      }
      type.fields.push_back(std::move(field));
    }
    return {};
  }

  ApiDocument& out_;
  const json::Value& root_;
  const std::string& file_;
  std::set<std::string> told_;              // bodies that are not checked
  std::map<std::string, std::string> ids_;  // operationId -> its pointer
};

Result<std::shared_ptr<const ApiDocument>> ApiDocument::load(DocumentFile file,
                                                             ProjectReader reader) {
  std::shared_ptr<ApiDocument> document(new ApiDocument);
  MS_TRY(parse_document_file(file));
  document->references_ = std::make_unique<References>(std::move(file), std::move(reader));
  MS_TRY(ApiLoader(*document).load());
  return std::shared_ptr<const ApiDocument>(std::move(document));
}

Result<std::shared_ptr<const ApiDocument>> ApiDocument::parse(std::string text,
                                                              const std::string& file) {
  DocumentFile document;
  document.name = file;
  document.text = std::move(text);
  return load(std::move(document), {});
}

}  // namespace millstream::model
