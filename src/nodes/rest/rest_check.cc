// Requests and replies against the document: credentials, parameters, headers, bodies.
#include "nodes/rest/rest_check.h"

#include <algorithm>
#include <set>

#include "http/headers.h"
#include "model/body.h"
#include "net/fiber.h"
#include "nodes/rest/errors_gen.h"
#include "nodes/rest/rest_api.h"
#include "text/utf8.h"

namespace millstream::nodes::rest {

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

namespace {

using model::ParameterPlace;
using model::SecurityScheme;

constexpr int kBadRequest = 400;
constexpr int kUnauthorized = 401;
constexpr int kUnsupportedMediaTypeStatus = 415;

std::string in_parentheses(const model::DocumentPlace& place) {
  const std::string text = place.text();
  return text.empty() ? text : " (" + text + ")";
}

std::string describe_problems(const std::string& what,
                              const std::vector<model::SchemaProblem>& problems) {
  std::string out;
  for (const model::SchemaProblem& p : problems) {
    if (!out.empty()) out += "; ";
    out += what + p.place + " " + p.text + in_parentheses(p.source);
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
  auto add = [&](const std::string& text) {
    if (!problems.empty()) problems += "; ";
    problems += text;
  };
  if (!v.is_present) {
    if (p.is_required) add(name + " is missing" + in_parentheses(p.source));
    return;
  }
  if (!text::is_valid_utf8(v.text)) return add(name + " is not UTF-8" + in_parentheses(p.source));
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

// The body and its own parts nest as deep as there is stack for; bytes a level, measured without
// -O.
model::BodyOptions body_options(model::Direction direction) {
  constexpr size_t kReadBytes = 1300;
  constexpr size_t kValidateBytes = 700;
  model::BodyOptions options;
  options.direction = direction;
  options.depth_max = static_cast<uint32_t>(depth_that_fits(kReadBytes, RestApi::kBodyDepthMax));
  options.validation_depth_max =
      depth_that_fits(kValidateBytes, model::ValidationOptions::kDepthMax);
  return options;
}

std::vector<model::SchemaProblem> check_body_of(std::string_view body,
                                                std::string_view content_type,
                                                const model::MediaType& type,
                                                model::Direction direction) {
  const auto [media_type, charset, boundary] = millstream::http::parse_content_type(content_type);
  return model::check_body(body, {media_type, charset, boundary}, type, body_options(direction));
}

bool has_http_scheme(const millstream::http::Request& request, std::string_view scheme) {
  const std::string_view value = request.headers().get("Authorization");
  const size_t blank = value.find(' ');
  return blank != std::string_view::npos &&
         text::equals_ignoring_ascii_case(value.substr(0, blank), scheme) &&
         value.find_first_not_of(' ', blank) != std::string_view::npos;
}

bool has_api_key(const millstream::http::Request& request, const SecurityScheme& scheme) {
  model::Operation keys;  // an API key is a parameter
  model::Parameter& key = keys.parameters.emplace_back();
  key.name = scheme.parameter;
  key.place = scheme.place;
  const std::vector<model::ParameterValue> values =
      model::decode_parameters(keys, raw_request(request, {}));
  return values[0].is_present && !values[0].text.empty();
}

// What no header says (a client certificate) is taken to be there: TLS has looked at it.
bool has_credential(const millstream::http::Request& request, const SecurityScheme& scheme) {
  switch (scheme.kind) {
    case SecurityScheme::Kind::kBasic:
      return has_http_scheme(request, "Basic");
    case SecurityScheme::Kind::kBearer:
      return has_http_scheme(request, "Bearer");
    case SecurityScheme::Kind::kHttp:
      return has_http_scheme(request, scheme.http_scheme);
    case SecurityScheme::Kind::kApiKey:
      return has_api_key(request, scheme);
    case SecurityScheme::Kind::kOther:
      break;
  }
  return true;
}

std::string_view key_place(ParameterPlace place) {
  if (place == ParameterPlace::kQuery) return "query";
  return place == ParameterPlace::kCookie ? "cookie" : "header";
}

// RFC 9110, 11.2: what is no quoted-string is left out.
std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (c >= ' ' && c <= '~') out += c;
  }
  return out + "\"";
}

std::string challenge_of(const SecurityScheme& scheme, std::string_view realm) {
  std::string_view name = scheme.http_scheme;
  if (scheme.kind == SecurityScheme::Kind::kBasic) name = "Basic";
  if (scheme.kind == SecurityScheme::Kind::kBearer) name = "Bearer";
  if (scheme.kind == SecurityScheme::Kind::kApiKey) name = "ApiKey";
  std::string out = std::string(name) + " realm=" + quoted(realm);
  if (scheme.kind == SecurityScheme::Kind::kBasic) out += ", charset=\"UTF-8\"";
  if (scheme.kind == SecurityScheme::Kind::kApiKey) {
    out += ", in=" + quoted(key_place(scheme.place)) + ", name=" + quoted(scheme.parameter);
  }
  return out;
}

std::string demand_of(const SecurityScheme& scheme) {
  switch (scheme.kind) {
    case SecurityScheme::Kind::kBasic:
      return "user and password in the header Authorization (Basic)";
    case SecurityScheme::Kind::kBearer:
      return "a token in the header Authorization (Bearer)";
    case SecurityScheme::Kind::kHttp:
      return "the header Authorization (" + scheme.http_scheme + ")";
    case SecurityScheme::Kind::kApiKey:
      return "an API key in the " + std::string(key_place(scheme.place)) + " " + scheme.parameter;
    case SecurityScheme::Kind::kOther:
      break;
  }
  return scheme.name;
}

}  // namespace

bool RestApi::has_credentials(const millstream::http::Request& request,
                              const model::Operation& operation) const {
  auto is_satisfied = [&](const model::SecurityRequirement& names) {
    return std::all_of(names.begin(), names.end(), [&](const std::string& name) {
      const SecurityScheme* scheme = document_->find_security_scheme(name);
      return scheme && has_credential(request, *scheme);
    });
  };
  return operation.security.empty() ||
         std::any_of(operation.security.begin(), operation.security.end(), is_satisfied);
}

void RestApi::refuse_without_credentials(millstream::http::RequestRef& request,
                                         const model::Operation& operation,
                                         const common::FaultWriter& faults) const {
  millstream::http::Response* response = request->claim_reply();
  if (!response) return;
  response->status = kUnauthorized;
  const std::string& realm = document_->title().empty() ? options_.name : document_->title();
  std::string demand;
  std::set<std::string> challenges;
  for (const model::SecurityRequirement& names : operation.security) {
    std::string together;
    for (const std::string& name : names) {
      const SecurityScheme* scheme = document_->find_security_scheme(name);
      if (!scheme || scheme->kind == SecurityScheme::Kind::kOther) continue;
      if (!together.empty()) together += " and ";
      together += demand_of(*scheme);
      std::string challenge = challenge_of(*scheme, realm);
      if (challenges.insert(challenge).second) {
        response->headers.add("WWW-Authenticate", challenge);
      }
    }
    if (!demand.empty() && !together.empty()) demand += ", or ";
    demand += together;
  }
  Status problem = base::make_error(errors::kNoCredential,
                                    {operation.id, demand + in_parentheses(operation.source)});
  faults.write(problem.error(), *response);
  request->send_reply();
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
    problem = base::make_error(errors::kInvalidRequest, {operation.id, problems});
    return kBadRequest;
  }
  return check_body(request, operation, problem);
}

int RestApi::check_body(const millstream::http::Request& request, const model::Operation& operation,
                        Status& problem) const {
  auto invalid = [&](const std::string& text) {
    problem = base::make_error(errors::kInvalidRequest, {operation.id, text});
    return kBadRequest;
  };
  const std::string_view body = request.body();
  if (!operation.body) {
    if (body.empty() || options_.allows_unexpected_body) return 0;
    return invalid("the operation takes no body" + in_parentheses(operation.source));
  }
  if (body.empty()) {
    if (!operation.body->is_required) return 0;
    return invalid("the body is missing" + in_parentheses(operation.body->source));
  }
  const auto& types = operation.body->media_types;
  const std::string_view content_type = request.headers().get("Content-Type");
  const model::MediaType* type = model::find_media_type(types, content_type);
  if (!type && !types.empty()) {
    problem = base::make_error(errors::kUnsupportedMediaType,
                               {operation.id, content_type, media_type_list(types)});
    return kUnsupportedMediaTypeStatus;
  }
  if (!type) return 0;
  const auto found = check_body_of(body, content_type, *type, model::Direction::kRequest);
  return found.empty() ? 0 : invalid(describe_problems("body", found));
}

Status RestApi::check_reply_headers(const model::Reply& reply, const model::Operation& operation,
                                    const millstream::http::Response& response) const {
  model::Operation described;
  for (const model::ReplyHeader& h : reply.headers) {
    if (text::equals_ignoring_ascii_case(h.name, "Content-Type")) continue;
    model::Parameter& p = described.parameters.emplace_back();
    p.name = h.name;
    p.place = ParameterPlace::kHeader;
    p.style = model::ParameterStyle::kSimple;
    p.explodes = h.explodes;
    p.is_required = h.is_required;
    p.schema = h.schema;
    p.source = h.source;
  }
  if (described.parameters.empty()) return {};
  model::RawRequest raw;
  for (size_t i = 0; i < response.headers.size(); ++i) {
    raw.headers.emplace_back(response.headers.name(i), response.headers.value(i));
  }
  std::string problems;
  for (const model::ParameterValue& v : model::decode_parameters(described, raw)) {
    check_parameter(v, problems);
  }
  if (problems.empty()) return {};
  return base::make_error(errors::kInvalidReply, {operation.id, problems});
}

Status RestApi::check_reply(const model::Operation& operation,
                            const millstream::http::Response& response) const {
  const int status = response.status;
  if (!options_.validates_replies || (options_.only_validates_2xx && status / 100 != 2)) return {};
  auto invalid = [&operation](const std::string& text, const model::DocumentPlace& place) {
    return base::make_error(errors::kInvalidReply, {operation.id, text + in_parentheses(place)});
  };
  const model::Reply* reply = operation.find_reply(status);
  if (!reply) {
    return invalid("the status " + std::to_string(status) + " is not described", operation.source);
  }
  MS_TRY(check_reply_headers(*reply, operation, response));
  const std::string_view body = response.payload();
  if (body.empty() || reply->media_types.empty()) return {};
  const std::string_view content_type = response.headers.get("Content-Type");
  const model::MediaType* type = model::find_media_type(reply->media_types, content_type);
  if (!type) {
    return invalid("the media type " + std::string(content_type) + " is not described",
                   reply->source);
  }
  const auto found = check_body_of(body, content_type, *type, model::Direction::kResponse);
  if (found.empty()) return {};
  return base::make_error(errors::kInvalidReply, {operation.id, describe_problems("body", found)});
}

}  // namespace millstream::nodes::rest
