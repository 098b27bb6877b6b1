#include "nodes/rest/rest_api.h"

#include "base/ascii.h"
#include "base/log.h"
#include "base/percent.h"
#include "http/url.h"
#include "net/fiber.h"
#include "nodes/rest/errors_gen.h"
#include "nodes/rest/rest_check.h"
#include "text/utf8.h"

namespace millstream::nodes::rest {
namespace {

namespace json = base::json;
using value::Value;

constexpr int kNoContent = 204;
constexpr int kFound = 302;
constexpr int kNotFound = 404;
constexpr int kMethodNotAllowedStatus = 405;
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
    if (!has_credentials(*request, operation)) {
      refuse_without_credentials(request, operation, *faults);
      return false;
    }
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

// Files stand at the paths they have in the project, so that their references lead to each other.
bool RestApi::serve_file(millstream::http::RequestRef& request, std::string_view base_path,
                         const std::string& name) const {
  if (options_.document_name.empty()) return false;
  const auto& files = document_->files();
  for (size_t i = 0; i < files.size(); ++i) {
    const model::DocumentFile& file = *files[i];
    const bool is_named = i == 0 && name == options_.document_name;
    if (!is_named && (file.path.empty() || name != file.path)) continue;
    if (is_named && files.size() > 1 && file.path.find('/') != std::string::npos) {
      millstream::http::Response* response = request->claim_reply();
      if (!response) return true;
      response->status = kFound;
      std::string place(base_path);
      for (std::string_view rest = file.path; !rest.empty();) {
        const size_t slash = std::min(rest.find('/'), rest.size());
        place += "/" + millstream::http::percent_encode(rest.substr(0, slash));
        rest.remove_prefix(std::min(slash + 1, rest.size()));
      }
      response->headers.add("Location", place);
      request->send_reply();
      return true;
    }
    request->reply(
        200, file.is_yaml ? "application/yaml; charset=utf-8" : "application/json; charset=utf-8",
        file.text);
    return true;
  }
  return false;
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
  if (serve_file(request, base_path, base::percent_decode(name))) return true;
  if (name == "api-docs" || (is_base && query == "doc")) {
    request->reply(200, "text/html; charset=utf-8",
                   documentation_page(*document_, base_path, options_.document_name));
    return true;
  }
  return false;
}

}  // namespace millstream::nodes::rest
