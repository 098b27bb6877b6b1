#include "nodes/rest/rest_api.h"

#include "base/ascii.h"
#include "base/log.h"
#include "http/url.h"
#include "net/fiber.h"
#include "nodes/rest/errors_gen.h"
#include "text/utf8.h"

namespace millstream::nodes::rest {
namespace {

namespace json = base::json;
using model::ParameterPlace;
using value::Value;

constexpr int kNoContent = 204;
constexpr int kBadRequest = 400;
constexpr int kNotFound = 404;
constexpr int kMethodNotAllowedStatus = 405;
constexpr int kUnsupportedMediaTypeStatus = 415;
constexpr int kInternalError = 500;
constexpr int kNotImplementedStatus = 501;

void reply_with_fault(millstream::http::RequestRef& request, int status, const Status& problem,
                      const common::FaultWriter& faults, std::string_view allow = {}) {
  millstream::http::Response* response = request->claim_reply();
  if (!response) return;
  response->status = status;
  if (!allow.empty()) response->headers.add("Allow", allow);
  faults.write(problem.error(), *response);
  request->send_reply();
}

// What is below the base path: "" for the base path itself.
std::string_view path_below(const millstream::http::Request& request, std::string_view base_path) {
  std::string_view path = request.path();
  if (path.starts_with(base_path)) path.remove_prefix(base_path.size());
  return path;
}

model::RawRequest raw_request(const millstream::http::Request& request,
                              const model::PathMatch& match) {
  model::RawRequest raw;
  raw.path = &match.parameters;
  raw.query = request.query();
  raw.cookies = request.headers().get("Cookie");
  for (size_t i = 0; i < request.headers().size(); ++i) {
    raw.headers.emplace_back(request.headers().name(i), request.headers().value(i));
  }
  return raw;
}

std::string describe_problems(const std::string& what,
                              const std::vector<model::SchemaProblem>& problems) {
  std::string out;
  for (const model::SchemaProblem& p : problems) {
    if (!out.empty()) out += "; ";
    out += what + p.place + " " + p.text;
  }
  return out;
}

std::string_view place_name(ParameterPlace place) {
  switch (place) {
    case ParameterPlace::kPath:
      return "path parameter ";
    case ParameterPlace::kQuery:
      return "query parameter ";
    case ParameterPlace::kHeader:
      return "header ";
    case ParameterPlace::kCookie:
      break;
  }
  return "cookie ";
}

// OpenAPI 3: what these headers say is not a parameter's to say.
bool is_reserved_header(const model::Parameter& p) {
  return p.place == ParameterPlace::kHeader &&
         (text::equals_ignoring_ascii_case(p.name, "Accept") ||
          text::equals_ignoring_ascii_case(p.name, "Content-Type") ||
          text::equals_ignoring_ascii_case(p.name, "Authorization"));
}

void check_parameter(const model::ParameterValue& v, std::string& problems) {
  const model::Parameter& p = *v.parameter;
  if (is_reserved_header(p)) return;
  const std::string name = std::string(place_name(p.place)) + p.name;
  auto add = [&problems](const std::string& text) {
    if (!problems.empty()) problems += "; ";
    problems += text;
  };
  if (!v.is_present) {
    if (p.is_required) add(name + " is missing");
    return;
  }
  if (!text::is_valid_utf8(v.text)) return add(name + " is not UTF-8");
  if (v.text.empty() && p.allows_empty) return;
  if (!p.schema) return;
  const auto found = model::validate(*p.schema, v.value, {.direction = model::Direction::kRequest});
  if (!found.empty()) add(describe_problems(name, found));
}

std::string media_type_list(const std::vector<model::MediaType>& list) {
  std::string out;
  for (const model::MediaType& m : list) {
    if (!out.empty()) out += ", ";
    out += m.name;
  }
  return out.empty() ? "none" : out;
}

// A flow replies from deep inside its nodes, where less of the fiber's stack is left.
int depth_that_fits(size_t bytes_a_level, int depth_max) {
  constexpr size_t kSpareBytes = 24 * 1024;
  const size_t left = net::stack_remaining_bytes();
  const size_t fitting = left > kSpareBytes ? (left - kSpareBytes) / bytes_a_level : 0;
  return static_cast<int>(std::min(fitting, static_cast<size_t>(depth_max)));
}

// Looks at the reply of the flow before the client does.
class CheckedReply final : public millstream::http::ReplyFilter {
 public:
  CheckedReply(std::shared_ptr<const RestApi> api, const model::Operation& operation,
               std::shared_ptr<const common::FaultWriter> faults)
      : api_(std::move(api)), operation_(operation), faults_(std::move(faults)) {}

  void before_send(millstream::http::Request&, millstream::http::Response& response) override {
    Status status = api_->check_reply(operation_, response);
    if (status.ok()) return;
    base::log_error(status.error());
    response.clear();
    response.status = kInternalError;
    faults_->write(status.error(), response);
  }

 private:
  const std::shared_ptr<const RestApi> api_;  // owns the operation
  const model::Operation& operation_;
  const std::shared_ptr<const common::FaultWriter> faults_;
};

}  // namespace

struct RestApi::Names {
  explicit Names(base::NameTable& table)
      : rest(table.intern_qname("", "REST")),
        input(table.intern_qname("", "Input")),
        method(table.intern_qname("", "Method")),
        operation(table.intern_qname("", "Operation")),
        path(table.intern_qname("", "Path")),
        uri(table.intern_qname("", "URI")),
        parameters(table.intern_qname("", "Parameters")),
        item(table.intern_qname("", "Item")),
        destination(table.intern_qname("", "Destination")),
        router_list(table.intern_qname("", "RouterList")),
        destination_data(table.intern_qname("", "DestinationData")),
        label_name(table.intern_qname("", "labelName")) {}
  const base::QName *rest, *input, *method, *operation, *path, *uri, *parameters, *item;
  const base::QName *destination, *router_list, *destination_data, *label_name;
};

RestApi::RestApi(std::shared_ptr<const model::ApiDocument> document, RestApiOptions options,
                 base::NameTable& names)
    : document_(std::move(document)),
      options_(std::move(options)),
      names_(std::make_shared<Names>(names)),
      validates_requests_(options_.validates_requests) {
  for (const model::Operation& o : document_->operations()) {
    for (const model::Parameter& p : o.parameters) names.intern_qname("", p.name);
  }
}

std::shared_ptr<RestApi> RestApi::create(std::shared_ptr<const model::ApiDocument> document,
                                         RestApiOptions options, base::NameTable& names) {
  return std::shared_ptr<RestApi>(new RestApi(std::move(document), std::move(options), names));
}

bool RestApi::admit(millstream::http::RequestRef& request, std::string_view base_path,
                    const std::shared_ptr<const common::FaultWriter>& faults) {
  const std::string_view path = path_below(*request, base_path);
  const std::string_view method = request->method();
  const model::PathMatch match = document_->match(method, path);
  if (!match.has_path) {
    if (serve_document(request, base_path, path)) return false;
    reply_with_fault(request, kNotFound, base::make_error(errors::kUnknownPath, {path}), *faults);
    return false;
  }
  if (!match.operation && method == "OPTIONS") {
    if (millstream::http::Response* response = request->claim_reply()) {
      response->status = kNoContent;
      response->headers.add("Allow", match.allow + ", OPTIONS");
      request->send_reply();
    }
    return false;
  }
  if (!match.operation) {
    reply_with_fault(request, kMethodNotAllowedStatus,
                     base::make_error(errors::kMethodNotAllowed, {path, method, match.allow}),
                     *faults, match.allow);
    return false;
  }
  const model::Operation& operation = *match.operation;
  if (options_.implemented.count(operation.id) == 0) {
    reply_with_fault(request, kNotImplementedStatus,
                     base::make_error(errors::kNotImplemented, {operation.id}), *faults);
    return false;
  }
  if (validates_requests_) {
    Status problem;
    const int status = check_request(*request, operation, match, problem);
    if (status != 0) {
      reply_with_fault(request, status, problem, *faults);
      return false;
    }
  }
  if (options_.validates_replies) {
    request->add_reply_filter(
        std::make_shared<CheckedReply>(shared_from_this(), operation, faults));
  }
  return true;
}

int RestApi::check_request(const millstream::http::Request& request,
                           const model::Operation& operation, const model::PathMatch& match,
                           Status& problem) const {
  std::string problems;
  for (const model::ParameterValue& v :
       model::decode_parameters(operation, raw_request(request, match))) {
    check_parameter(v, problems);
  }
  if (!problems.empty()) {
    problem = base::make_error(errors::kInvalidRequest, {problems});
    return kBadRequest;
  }
  return check_body(request, operation, problem);
}

int RestApi::check_body(const millstream::http::Request& request, const model::Operation& operation,
                        Status& problem) const {
  auto invalid = [&problem](const std::string& text) {
    problem = base::make_error(errors::kInvalidRequest, {text});
    return kBadRequest;
  };
  const std::string_view body = request.body();
  if (!operation.body) {
    if (body.empty() || options_.allows_unexpected_body) return 0;
    return invalid("the operation takes no body");
  }
  const bool is_empty = body.empty();
  if (is_empty) return operation.body->is_required ? invalid("the body is missing") : 0;
  const auto& types = operation.body->media_types;
  const std::string_view content_type = request.headers().get("Content-Type");
  const model::MediaType* type = model::find_media_type(types, content_type);
  if (!type && !types.empty()) {
    problem = base::make_error(errors::kUnsupportedMediaType,
                               {operation.id, content_type, media_type_list(types)});
    return kUnsupportedMediaTypeStatus;
  }
  if (!type || !type->schema) return 0;
  json::Value value;
  const auto [bare, charset, boundary] = millstream::http::parse_content_type(content_type);
  if (model::is_json_media_type(text::to_lower(bare))) {
    // The flow would read other values out of the same bytes than those that are checked here.
    if (!charset.empty() && !text::equals_ignoring_ascii_case(charset, "utf-8") &&
        !text::equals_ignoring_ascii_case(charset, "us-ascii")) {
      return invalid("the body is JSON in the charset " + std::string(charset) + ", not in UTF-8");
    }
    Result<json::Value> parsed = json::parse(
        body, {.depth_max = kBodyDepthMax, .values_max = model::ValidationOptions::kStepsMax});
    if (!parsed.ok()) return invalid("the body is not JSON: " + parsed.error().text);
    value = std::move(parsed).value();
  } else if (text::equals_ignoring_ascii_case(bare, "application/x-www-form-urlencoded")) {
    value = model::decode_form(body, type->schema);
  } else {
    return 0;
  }
  const auto found =
      model::validate(*type->schema, value, {.direction = model::Direction::kRequest});
  return found.empty() ? 0 : invalid(describe_problems("body", found));
}

Status RestApi::check_reply(const model::Operation& operation,
                            const millstream::http::Response& response) const {
  const int status = response.status;
  if (!options_.validates_replies || (options_.only_validates_2xx && status / 100 != 2)) return {};
  auto invalid = [&operation](const std::string& text) {
    return base::make_error(errors::kInvalidReply, {operation.id, text});
  };
  const model::Reply* reply = operation.find_reply(status);
  if (!reply) return invalid("the status " + std::to_string(status) + " is not described");
  for (const model::ReplyHeader& h : reply->headers) {
    if (h.is_required && !response.headers.has(h.name)) {
      return invalid("the header " + h.name + " is missing");
    }
  }
  const std::string_view body = response.payload();
  if (body.empty() || reply->media_types.empty()) return {};
  const std::string_view content_type = response.headers.get("Content-Type");
  const model::MediaType* type = model::find_media_type(reply->media_types, content_type);
  if (!type) return invalid("the media type " + std::string(content_type) + " is not described");
  const std::string bare =
      text::to_lower(millstream::http::parse_content_type(content_type).media_type);
  if (!type->schema || !model::is_json_media_type(bare)) return {};
  constexpr size_t kParseBytes = 1200, kValidateBytes = 700;  // a level, measured without -O
  const auto depth = static_cast<uint32_t>(depth_that_fits(kParseBytes, kBodyDepthMax));
  Result<json::Value> value = json::parse(body, {.depth_max = depth});
  if (!value.ok()) return invalid("the body is not JSON: " + value.error().text);
  model::ValidationOptions options{model::Direction::kResponse};
  options.depth_max = depth_that_fits(kValidateBytes, model::ValidationOptions::kDepthMax);
  const auto found = model::validate(*type->schema, value.value(), options);
  return found.empty() ? Status() : invalid(describe_problems("body", found));
}

namespace {

tree::Element* add_rest_folder(tree::TreeContext& context, tree::Element* parent,
                               const base::QName* name) {
  tree::Element* e = tree::make_element(context, name, tree::kName);
  tree::link_child(parent, e);
  return e;
}

tree::Element* add_rest_field(tree::TreeContext& context, tree::Element* parent,
                              const base::QName* name, std::string_view text) {
  tree::Element* e = tree::make_element(context, name, tree::kNameValue);
  e->scalar = Value::make_character(context.arena.copy(text));
  tree::link_child(parent, e);
  return e;
}

// Items of a list and members of an object stand below the parameter's text.
void add_parts(tree::TreeContext& context, tree::Element* parent, const json::Value& value,
               const base::QName* item_name) {
  for (const json::Value& item : value.items()) {
    tree::Element* e = add_rest_field(context, parent, item_name, model::text_of(item));
    add_parts(context, e, item, item_name);
  }
  for (const json::Member& m : value.members()) {
    tree::Element* e =
        add_rest_field(context, parent, context.names.qname(m.name), model::text_of(m.value));
    add_parts(context, e, m.value, item_name);
  }
}

std::string full_uri(const millstream::http::Request& request) {
  const std::string_view target = request.head().target;
  if (!target.starts_with('/')) return std::string(target);
  const std::string_view host = request.headers().get("Host");
  return (request.is_secure() ? "https://" : "http://") +
         std::string(host.empty() ? std::string_view("localhost") : host) + std::string(target);
}

}  // namespace

void RestApi::describe(const millstream::http::Request& request, std::string_view base_path,
                       tree::TreeContext& context, tree::Element* local_environment) const {
  const model::PathMatch match = document_->match(request.method(), path_below(request, base_path));
  if (!match.operation) return;
  const model::Operation& operation = *match.operation;
  const Names& n = *names_;
  tree::Element* destination = tree::find_child(local_environment, n.destination);
  if (!destination) destination = add_rest_folder(context, local_environment, n.destination);
  tree::Element* list = add_rest_folder(context, destination, n.router_list);
  tree::Element* entry = add_rest_folder(context, list, n.destination_data);
  add_rest_field(context, entry, n.label_name, operation.id);

  tree::Element* rest = add_rest_folder(context, local_environment, n.rest);
  tree::Element* input = add_rest_folder(context, rest, n.input);
  add_rest_field(context, input, n.method, request.method());
  add_rest_field(context, input, n.operation, operation.id);
  add_rest_field(context, input, n.path, operation.path);
  add_rest_field(context, input, n.uri, full_uri(request));
  tree::Element* parameters = add_rest_folder(context, input, n.parameters);
  for (const model::ParameterValue& v :
       model::decode_parameters(operation, raw_request(request, match))) {
    if (!v.has_value) continue;
    // Text inside the tree is UTF-8; what is not cannot be shown as text.
    const std::string text = text::is_valid_utf8(v.text) ? v.text : std::string();
    tree::Element* e =
        add_rest_field(context, parameters, context.names.qname(v.parameter->name), text);
    if (text::is_valid_utf8(v.text)) add_parts(context, e, v.value, n.item);
  }
}

bool RestApi::serve_document(millstream::http::RequestRef& request, std::string_view base_path,
                             std::string_view path) const {
  const std::string_view method = request->method();
  if (method != "GET" && method != "HEAD") return false;
  const std::string_view query = request->query();
  const bool is_base = path.empty() || path == "/";
  const std::string_view name = path.starts_with('/') ? path.substr(1) : path;
  const std::string_view host = request->headers().get("Host");
  if (name == "openapi.json" || name == "swagger.json" ||
      (is_base && (query == "openapi" || query == "swagger"))) {
    request->reply(200, "application/json; charset=utf-8",
                   served_document(*document_, base_path, host));
    return true;
  }
  if (!options_.document_name.empty() && name == options_.document_name) {
    request->reply(200,
                   document_->is_yaml() ? "application/yaml; charset=utf-8"
                                        : "application/json; charset=utf-8",
                   document_->source());
    return true;
  }
  if (name == "api-docs" || (is_base && query == "doc")) {
    request->reply(200, "text/html; charset=utf-8",
                   documentation_page(*document_, base_path, options_.document_name));
    return true;
  }
  return false;
}

}  // namespace millstream::nodes::rest
