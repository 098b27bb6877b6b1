#include "nodes/http/cors.h"

#include <algorithm>

#include "base/ascii.h"

namespace millstream::nodes::http {
namespace {

// Every item of the comma-separated `wanted` is one of `allowed`, without regard to case.
bool are_all_allowed(std::string_view wanted, std::string_view allowed) {
  while (!wanted.empty()) {
    const size_t end = std::min(wanted.find(','), wanted.size());
    const std::string_view item = base::trim_white_space(wanted.substr(0, end));
    wanted.remove_prefix(std::min(end + 1, wanted.size()));
    if (!item.empty() && !millstream::http::list_has_token(allowed, item)) return false;
  }
  return true;
}

}  // namespace

bool Cors::allows_any() const {
  return settings_.allowed_origins.empty() ||
         (settings_.allowed_origins.size() == 1 && settings_.allowed_origins[0] == "*");
}

bool Cors::allows_origin(std::string_view origin) const {
  return allows_any() ||
         std::find(settings_.allowed_origins.begin(), settings_.allowed_origins.end(), origin) !=
             settings_.allowed_origins.end();
}

// "*" cannot be said together with credentials.
void Cors::add_origin(std::string_view origin, millstream::http::Response& response) const {
  if (allows_any() && !settings_.allows_credentials) {
    response.headers.set("Access-Control-Allow-Origin", "*");
    return;
  }
  response.headers.set("Access-Control-Allow-Origin", origin);
  response.headers.add("Vary", "Origin");
  if (settings_.allows_credentials) {
    response.headers.set("Access-Control-Allow-Credentials", "true");
  }
}

bool Cors::handle_preflight(millstream::http::RequestRef& request) const {
  const std::string_view origin = request->headers().get("Origin");
  const std::string_view method = request->headers().get("Access-Control-Request-Method");
  if (request->method() != "OPTIONS" || origin.empty() || method.empty()) return false;
  const std::string_view headers = request->headers().get("Access-Control-Request-Headers");
  const bool is_allowed = allows_origin(origin) &&
                          are_all_allowed(method, settings_.allowed_methods) &&
                          are_all_allowed(headers, settings_.allowed_headers);
  millstream::http::Response* response = request->claim_reply();
  if (!response) return true;
  response->status = is_allowed ? 204 : 403;
  if (is_allowed) {
    add_origin(origin, *response);
    response->headers.add("Access-Control-Allow-Methods", settings_.allowed_methods);
    response->headers.add("Access-Control-Allow-Headers", settings_.allowed_headers);
    if (settings_.max_age_s >= 0) {
      response->headers.add("Access-Control-Max-Age", std::to_string(settings_.max_age_s));
    }
  }
  request->send_reply();
  return true;
}

void Cors::before_send(millstream::http::Request& request, millstream::http::Response& response) {
  const std::string_view origin = request.headers().get("Origin");
  if (origin.empty() || !allows_origin(origin)) return;
  add_origin(origin, response);
  if (!settings_.exposed_headers.empty()) {
    response.headers.set("Access-Control-Expose-Headers", settings_.exposed_headers);
  }
}

}  // namespace millstream::nodes::http
