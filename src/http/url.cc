#include "http/url.h"

#include "base/percent.h"
#include "http/chars.h"
#include "http/errors_gen.h"
#include "http/headers.h"

namespace millstream::http {

std::string Url::authority() const {
  std::string out = host.find(':') != std::string::npos ? "[" + host + "]" : host;
  if (port != (is_https ? 443 : 80)) out += ":" + std::to_string(port);
  return out;
}

Result<Url> parse_url(std::string_view text) {
  auto fail = [&](const char* why) { return base::make_error(errors::kBadUrl, {text, why}); };
  Url url;
  size_t scheme = text.find("://");
  if (scheme == std::string_view::npos) return fail("it does not begin with http://");
  if (equals_ignore_case(text.substr(0, scheme), "https")) {
    url.is_https = true;
    url.port = 443;
  } else if (!equals_ignore_case(text.substr(0, scheme), "http")) {
    return fail("the scheme is not http or https");
  }
  std::string_view rest = text.substr(scheme + 3);
  rest = rest.substr(0, rest.find('#'));
  for (char c : rest) {
    if (!is_target_char(c)) return fail("it has a space, a control or a non-ASCII character");
  }
  size_t end = std::min(rest.find_first_of("/?"), rest.size());
  std::string_view authority = rest.substr(0, end);
  rest.remove_prefix(end);
  url.target = rest.empty() || rest.front() != '/' ? "/" + std::string(rest) : std::string(rest);
  size_t at = authority.rfind('@');
  if (at != std::string_view::npos) {
    url.user_info = percent_decode(authority.substr(0, at));
    authority.remove_prefix(at + 1);
  }
  std::string_view port;
  if (!authority.empty() && authority.front() == '[') {
    size_t close = authority.find(']');
    if (close == std::string_view::npos) return fail("']' is missing");
    url.host = authority.substr(1, close - 1);
    authority.remove_prefix(close + 1);
    if (!authority.empty() && authority.front() != ':') return fail("text behind ']'");
    if (!authority.empty()) port = authority.substr(1);
  } else {
    size_t colon = authority.find(':');
    url.host = authority.substr(0, colon);
    if (colon != std::string_view::npos) port = authority.substr(colon + 1);
  }
  if (url.host.empty()) return fail("it has no host");
  if (port.empty()) return url;
  int number = 0;
  for (char c : port) {
    if (c < '0' || c > '9' || number > 65535) return fail("the port is not a number up to 65535");
    number = number * 10 + (c - '0');
  }
  if (number == 0 || number > 65535) return fail("the port is not a number up to 65535");
  url.port = number;
  return url;
}

Result<Url> resolve_redirect(const Url& from, std::string_view location) {
  if (location.find("://") != std::string_view::npos) return parse_url(location);
  std::string scheme = from.is_https ? "https:" : "http:";
  if (location.substr(0, 2) == "//") return parse_url(scheme + std::string(location));
  std::string base = scheme + "//" + from.authority();
  if (!location.empty() && location.front() == '/') return parse_url(base + std::string(location));
  std::string_view path = std::string_view(from.target).substr(0, from.target.find('?'));
  if (!location.empty() && location.front() == '?') {
    return parse_url(base + std::string(path) + std::string(location));
  }
  path = path.substr(0, path.rfind('/') + 1);
  return parse_url(base + std::string(path) + std::string(location));
}

std::string percent_decode(std::string_view text, bool plus_is_space) {
  return base::percent_decode(text, plus_is_space);
}

std::string percent_encode(std::string_view text) {
  static const char kDigits[] = "0123456789ABCDEF";
  std::string out;
  for (char c : text) {
    bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                    c == '-' || c == '.' || c == '_' || c == '~';
    if (is_plain) {
      out += c;
    } else {
      out += '%';
      out += kDigits[static_cast<uint8_t>(c) >> 4];
      out += kDigits[static_cast<uint8_t>(c) & 15];
    }
  }
  return out;
}

std::vector<std::pair<std::string, std::string>> parse_query(std::string_view query) {
  std::vector<std::pair<std::string, std::string>> out;
  while (!query.empty() && out.size() < kQueryParametersMax) {
    size_t end = std::min(query.find('&'), query.size());
    std::string_view part = query.substr(0, end);
    query.remove_prefix(std::min(end + 1, query.size()));
    if (part.empty()) continue;
    size_t equal = part.find('=');
    std::string_view value = equal == std::string_view::npos ? "" : part.substr(equal + 1);
    out.emplace_back(percent_decode(part.substr(0, equal), true), percent_decode(value, true));
  }
  return out;
}

}  // namespace millstream::http
