#include "nodes/rest/rest_call.h"

#include <algorithm>

#include "nodes/common/api_documents.h"
#include "nodes/common/body.h"
#include "nodes/common/http_observe.h"
#include "nodes/common/http_policy.h"
#include "nodes/common/pause.h"
#include "nodes/rest/errors_gen.h"

namespace millstream::nodes::rest {
namespace {

namespace json = base::json;

constexpr const char* kTypeOfMessage = "$iib:determineFromInputMessage";

tree::Element* find_call_overrides(const tree::MessageAssembly& in) {
  tree::Element* e = in.local_environment;
  for (std::string_view step : {"Destination", "REST", "Request"}) {
    e = e ? tree::find_child(e, step) : nullptr;
  }
  return e;
}

std::string scalar_text(tree::Element* e) { return query::XPathValue::of(e).to_string(); }

// The first field below `e`; the text of an XMLNS element is none.
tree::Element* first_field(tree::Element* e) {
  tree::Element* child = tree::first_child(e);
  while (child && (child->type & tree::kTypeClassMask) == tree::kValue) {
    child = tree::next_sibling(child);
  }
  return child;
}

// A field is text. One with fields below it is a list when they are named Item, else an object,
// unless the document wants text.
json::Value value_of_field(tree::Element* e, const model::Schema* schema) {
  const uint32_t types = schema ? model::possible_types(*schema) : 0;
  const bool is_compound = (types & (model::kTypeArray | model::kTypeObject)) != 0;
  tree::Element* child = first_field(e);
  if (!child || (!is_compound && (schema || !tree::scalar_value(e).is_null()))) {
    return model::typed_value(scalar_text(e), schema);
  }
  const bool is_list = child->local_name() == "Item";
  json::Value out = is_list ? json::Value::array() : json::Value::object();
  for (; child; child = tree::next_sibling(child)) {
    const std::string name(child->local_name());
    const model::Schema* below = !schema   ? nullptr
                                 : is_list ? model::find_items(*schema)
                                           : model::find_property(*schema, name);
    json::Value value = model::typed_value(scalar_text(child), below);
    if (is_list) {
      out.push_back(std::move(value));
    } else {
      out.set(name, std::move(value));
    }
  }
  return out;
}

// Nothing for an empty result: the parameter is then not sent.
std::optional<json::Value> value_of_result(const query::XPathValue& v,
                                           const model::Schema* schema) {
  if (v.kind != query::XPathValue::Kind::kNodes) return model::typed_value(v.to_string(), schema);
  if (v.nodes.empty()) return std::nullopt;
  if (v.nodes.size() == 1) return value_of_field(v.nodes[0].element, schema);
  json::Value list = json::Value::array();
  const model::Schema* item = schema ? model::find_items(*schema) : nullptr;
  for (const query::XPathNode& n : v.nodes) {
    list.push_back(model::typed_value(scalar_text(n.element), item));
  }
  return list;
}

bool sends_data(const model::Operation& operation) {
  return operation.body.has_value() || operation.method == "POST" || operation.method == "PUT" ||
         operation.method == "PATCH";
}

// A whole URL, or one whose path the document knows.
std::string full_base_url(std::string url, const model::ApiDocument& document) {
  while (!url.empty() && url.back() == '/') url.pop_back();
  if (!url.empty() && url.find("://") == std::string::npos) url = "http://" + url;
  const size_t host = url.find("://");
  if (host != std::string::npos && url.find('/', host + 3) == std::string::npos) {
    url += document.base_path();
  }
  return url;
}

}  // namespace

Status RestCaller::call_error(const std::string& operation, const common::HttpCall& call,
                              Status cause) {
  const std::string url = (call.url.is_https ? "https://" : "http://") + call.url.authority() +
                          call.url.target.substr(0, call.url.target.find('?'));
  return base::wrap_error(base::make_error(errors::kRestError, {operation, call.method, url}),
                          std::move(cause));
}

Result<std::unique_ptr<RestCaller>> RestCaller::create(RestCallSettings settings,
                                                       flow::NodeBuildContext& context) {
  auto* documents = context.services.find<common::ApiDocuments>();
  if (!documents) return base::make_error(errors::kNoApiDocuments, {context.definition.label});
  common::MessagePlace data = MS_TRY(common::MessagePlace::parse(settings.data_location));
  std::unique_ptr<RestCaller> made(new RestCaller(std::move(data)));
  made->document_ = MS_TRY(documents->find(settings.definition_file));
  made->operation_ = made->document_->find_operation(settings.operation_name);
  if (!made->operation_) {
    return base::make_error(errors::kUnknownOperation,
                            {settings.definition_file, settings.operation_name});
  }
  if (settings.base_url.empty()) {
    settings.base_url = made->document_->base_url();
  } else {
    settings.base_url = full_base_url(settings.base_url, *made->document_);
  }
  if (settings.base_url.empty()) {
    return base::make_error(errors::kNoBaseUrl, {settings.definition_file});
  }
  MS_TRY(millstream::http::parse_url(settings.base_url));
  settings.send.likely_url = settings.base_url;
  MS_TRY(common::apply_http_policy(context, settings.send));
  made->sender_ = MS_TRY(common::HttpSender::create(settings.send, context.services));
  made->credentials_ = context.services.find<common::Credentials>();
  made->settings_ = std::move(settings);
  MS_TRY(made->read_sources(context));
  return made;
}

Status RestCaller::read_sources(flow::NodeBuildContext& context) {
  const flow::PropertySet& set = context.definition.properties;
  query::XPathNamespaces namespaces;
  for (const flow::PropertyRow& row : set.rows("nsMappingTable")) {
    namespaces.emplace_back(row.get("nsPrefix"), row.get("namespace"));
  }
  for (const flow::PropertyRow& row : set.rows("parameters")) {
    Source source;
    source.name = row.get("name");
    if (!operation_->find_parameter(source.name)) {
      return base::make_error_at(errors::kUnknownParameter, row.position,
                                 {operation_->id, source.name});
    }
    const std::string_view text = row.get("expression");
    if (text.empty()) continue;
    // A lone word is no path from the body, but the value itself.
    if (text.find_first_of("$/('\"[@*") == std::string_view::npos) {
      source.constant = text;
    } else {
      auto expression = query::XPath::compile(text, namespaces, query::is_assembly_name);
      if (!expression.ok()) {
        return base::make_error_at(errors::kBadParameterExpression, row.position,
                                   {source.name, expression.error().text});
      }
      source.expression = std::move(expression).value();
    }
    sources_.push_back(std::move(source));
  }
  return {};
}

Result<RestCaller::Values> RestCaller::collect(flow::Invocation& invocation,
                                               const tree::MessageAssembly& in,
                                               const model::Operation& operation,
                                               tree::Element* overrides) const {
  const query::XPathVariables variables = query::assembly_variables(in);
  const query::XPathInput input = common::xpath_input(invocation, in, variables);
  tree::Element* given = overrides ? tree::find_child(overrides, "Parameters") : nullptr;
  Values out;
  for (const model::Parameter& p : operation.parameters) {
    if (tree::Element* e = given ? tree::find_child(given, p.name) : nullptr) {
      out.emplace_back(&p, value_of_field(e, p.schema));
      continue;
    }
    const auto source = std::find_if(sources_.begin(), sources_.end(),
                                     [&](const Source& s) { return s.name == p.name; });
    std::optional<json::Value> value;
    if (source != sources_.end() && source->expression) {
      value = value_of_result(MS_TRY(source->expression->evaluate(input)), p.schema);
    } else if (source != sources_.end()) {
      value = model::typed_value(source->constant, p.schema);
    }
    if (value) {
      out.emplace_back(&p, *std::move(value));
    } else if (p.is_required && p.place != model::ParameterPlace::kPath) {
      return base::make_error(errors::kNoParameter, {operation.id, p.name});
    }
  }
  if (invocation.context().has_parse_error()) return invocation.context().take_parse_error();
  return out;
}

// The first way to satisfy the operation's security that has an API key; user and password or token
// of the identity are the sender's matter.
Status RestCaller::add_api_keys(const model::Operation& operation,
                                model::EncodedRequest& request) const {
  const std::string& identity = settings_.send.security_identity;
  const common::Credential* known =
      credentials_ && !identity.empty() ? credentials_->find_identity("rest", identity) : nullptr;
  if (!known || known->api_key.empty()) return {};
  for (const model::SecurityRequirement& names : operation.security) {
    for (const std::string& name : names) {
      const model::SecurityScheme* scheme = document_->find_security_scheme(name);
      if (!scheme || scheme->kind != model::SecurityScheme::Kind::kApiKey) continue;
      if (scheme->place == model::ParameterPlace::kQuery) {
        if (!request.query.empty()) request.query += '&';
        request.query += millstream::http::percent_encode(scheme->parameter) + "=" +
                         millstream::http::percent_encode(known->api_key);
      } else if (scheme->place == model::ParameterPlace::kCookie) {
        // One header has all cookies (RFC 6265, 5.4).
        const std::string cookie = scheme->parameter + "=" + known->api_key;
        const auto sent = std::find_if(request.headers.begin(), request.headers.end(),
                                       [](const auto& h) { return h.first == "Cookie"; });
        if (sent == request.headers.end()) {
          request.headers.emplace_back("Cookie", cookie);
        } else {
          sent->second += "; " + cookie;
        }
      } else {
        request.headers.emplace_back(scheme->parameter, known->api_key);
      }
      return {};
    }
  }
  return {};
}

Status RestCaller::write_data(flow::Invocation& invocation, const tree::MessageAssembly& in,
                              std::string& body) const {
  tree::TreeContext& context = invocation.context();
  tree::Element* e = data_.find(in);
  if (!e) return {};
  if (data_.is_whole_tree() || e == tree::body_of(in.root)) {
    return common::write_body(context, in.root, body);
  }
  const value::Value v = tree::scalar_value(e);
  if (v.kind == value::Kind::kBlob ||
      (v.kind == value::Kind::kCharacter && !tree::first_child(e))) {
    body = v.text();
    return {};
  }
  if (e->has_flag(tree::kFlagDomainRoot)) {
    return tree::serialise_body(context, static_cast<tree::DomainRoot*>(e), {}, body);
  }
  // A part of a body is written by its domain; what has none goes out as JSON.
  tree::DomainRoot* owner = tree::domain_root_of(e);
  const common::BodyParserChoice json_choice = MS_TRY(common::choose_body_parser("JSON", false));
  tree::SerialiseOptions options;
  options.mode = tree::BitStreamMode::kFolder;
  const tree::Domain* domain = owner && owner->domain->is_body ? owner->domain : json_choice.domain;
  return domain->serialise(context, e, options, body);
}

Result<common::HttpCall> RestCaller::prepare(flow::Invocation& invocation, const flow::Node& node,
                                             const tree::MessageAssembly& in,
                                             std::string& body) const {
  tree::Element* overrides = find_call_overrides(in);
  const model::Operation* operation = operation_;
  if (const std::string name = common::http_field_value(overrides, "Operation"); !name.empty()) {
    operation = document_->find_operation(name);
    if (!operation) {
      return base::make_error(errors::kUnknownOperation, {settings_.definition_file, name});
    }
  }
  std::string base_url = common::http_field_value(overrides, "BaseURL");
  base_url = base_url.empty() ? settings_.base_url : full_base_url(base_url, *document_);
  const Values values = MS_TRY(collect(invocation, in, *operation, overrides));
  model::EncodedRequest request = MS_TRY(model::encode_request(*operation, values));
  MS_TRY(add_api_keys(*operation, request));

  common::HttpCall call = sender_->new_call();
  call.method = operation->method;
  call.url = MS_TRY(millstream::http::parse_url(
      base_url + request.path + (request.query.empty() ? "" : "?" + request.query)));
  MS_TRY(common::HttpSender::apply_overrides(overrides, call));
  for (const auto& [name, value] : request.headers) call.headers.add(name, value);
  std::string accept = common::http_field_value(overrides, "Accept");
  if (accept.empty()) accept = settings_.accept;
  if (!accept.empty() && !call.headers.has("Accept")) call.headers.add("Accept", accept);
  if (sends_data(*operation)) {
    MS_TRY(write_data(invocation, in, body));
    std::string type = common::http_field_value(overrides, "ContentType");
    if (type.empty() && settings_.content_type != kTypeOfMessage) type = settings_.content_type;
    if (type.empty()) type = common::content_type(invocation.context(), in.root);
    if (!body.empty()) call.headers.set("Content-Type", type);
    call.sends_empty_body = body.empty();
  }
  call.body = body;
  common::add_trace_headers(invocation, node, call.headers);
  return call;
}

}  // namespace millstream::nodes::rest
