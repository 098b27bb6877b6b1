#include "wire/amqp/client/url.h"

#include <charconv>

#include "http/url.h"
#include "wire/amqp/client/errors_gen.h"

namespace millstream::wire::amqp::client {
namespace {

constexpr std::string_view kPlainScheme = "amqp://";
constexpr std::string_view kTlsScheme = "amqps://";

Status bad_url(std::string_view text, std::string_view why) {
  return base::make_error(errors::kBadUrl, {text, why});
}

}  // namespace

bool is_broker_url(std::string_view text) {
  return text.starts_with(kPlainScheme) || text.starts_with(kTlsScheme);
}

Result<BrokerUrl> parse_broker_url(std::string_view text) {
  if (!is_broker_url(text)) return bad_url(text, "it begins with neither amqp:// nor amqps://");
  BrokerUrl url;
  url.has_tls = text.starts_with(kTlsScheme);
  url.port = url.has_tls ? kTlsPort : kPlainPort;
  std::string_view rest = text.substr((url.has_tls ? kTlsScheme : kPlainScheme).size());
  if (size_t slash = rest.find('/'); slash != std::string_view::npos) {
    if (slash + 1 != rest.size()) return bad_url(text, "a path means nothing here");
    rest.remove_suffix(1);
  }
  if (size_t at = rest.rfind('@'); at != std::string_view::npos) {
    std::string_view user = rest.substr(0, at);
    rest.remove_prefix(at + 1);
    if (size_t colon = user.find(':'); colon != std::string_view::npos) {
      url.password = http::percent_decode(user.substr(colon + 1));
      user = user.substr(0, colon);
    }
    url.user = http::percent_decode(user);
  }
  std::string_view port;
  if (rest.starts_with('[')) {
    size_t end = rest.find(']');
    if (end == std::string_view::npos) return bad_url(text, "the bracket is not closed");
    url.host = rest.substr(1, end - 1);
    rest.remove_prefix(end + 1);
    if (!rest.empty() && rest[0] != ':') return bad_url(text, "there is no port behind the host");
    port = rest.empty() ? rest : rest.substr(1);
  } else {
    size_t colon = rest.find(':');
    url.host = rest.substr(0, colon);
    if (colon != std::string_view::npos) port = rest.substr(colon + 1);
  }
  if (url.host.empty()) return bad_url(text, "there is no host");
  if (port.empty()) return url;
  auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), url.port);
  if (error != std::errc() || end != port.data() + port.size() || url.port < 1 ||
      url.port > 65535) {
    return bad_url(text, "the port is no number from 1 to 65535");
  }
  return url;
}

}  // namespace millstream::wire::amqp::client
