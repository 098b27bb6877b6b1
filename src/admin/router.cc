#include "admin/router.h"

#include <algorithm>

#include "http/url.h"

namespace millstream::admin {
namespace {

bool is_parameter(std::string_view segment) {
  return segment.size() > 2 && segment.front() == '{' && segment.back() == '}';
}

// False when there are too many. "/a/b/" is "/a/b".
bool split_path(std::string_view path, std::vector<std::string_view>& segments) {
  while (!path.empty() && path.back() == '/') path.remove_suffix(1);
  while (!path.empty()) {
    path.remove_prefix(1);  // the slash
    const size_t end = std::min(path.find('/'), path.size());
    if (segments.size() == Router::kSegmentsMax) return false;
    segments.push_back(path.substr(0, end));
    path.remove_prefix(end);
  }
  return true;
}

}  // namespace

void Router::add(std::string_view method, std::string_view path_template, AdminHandler handler,
                 HandlerPlace place, RouteRules rules) {
  Route route{std::string(method), std::string(path_template), {}, std::move(handler), place,
              std::move(rules)};
  std::vector<std::string_view> segments;
  split_path(route.path_template, segments);
  route.segments.assign(segments.begin(), segments.end());
  routes_.push_back(std::move(route));
}

Router::Match Router::find(std::string_view method, std::string_view path) const {
  Match match;
  if (path.empty() || path.front() != '/') return match;
  std::vector<std::string_view> segments;
  if (!split_path(path, segments)) return match;
  if (method == "HEAD") method = "GET";
  std::string best;  // one letter a segment, literals sort first
  for (const Route& route : routes_) {
    if (route.segments.size() != segments.size()) continue;
    std::string rank;
    bool fits = true;
    for (size_t i = 0; fits && i < segments.size(); ++i) {
      const bool takes_any = is_parameter(route.segments[i]);
      fits = takes_any ? !segments[i].empty() : route.segments[i] == segments[i];
      rank += takes_any ? 'p' : 'l';
    }
    if (!fits) continue;
    if (match.allowed.find(route.method) == std::string::npos) {
      match.allowed += (match.allowed.empty() ? "" : ", ") + route.method;
    }
    if (route.method != method || (match.route && rank >= best)) continue;
    match.route = &route;
    best = rank;
  }
  if (!match.route) return match;
  for (size_t i = 0; i < segments.size(); ++i) {
    const std::string_view name = match.route->segments[i];
    if (!is_parameter(name)) continue;
    match.parameters.emplace_back(name.substr(1, name.size() - 2),
                                  http::percent_decode(segments[i]));
  }
  return match;
}

}  // namespace millstream::admin
