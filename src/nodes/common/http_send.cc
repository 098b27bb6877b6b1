#include "nodes/common/http_send.h"

#include <charconv>

#include "base/base64.h"
#include "http/response.h"
#include "net/reactor.h"
#include "nodes/common/errors_gen.h"
#include "nodes/common/http_observe.h"

namespace millstream::nodes::common {

using millstream::http::ClientRequest;
using millstream::http::ClientResponse;
using millstream::http::Coding;
using millstream::http::Url;

millstream::http::ClientPool& http_client_pool() {
  thread_local std::unique_ptr<millstream::http::ClientPool> pool;
  if (!pool) pool = std::make_unique<millstream::http::ClientPool>(*net::Reactor::current());
  return *pool;
}

std::string http_field_value(tree::Element* parent, std::string_view name) {
  tree::Element* e = parent ? tree::find_child(parent, name) : nullptr;
  if (!e) return {};
  const value::Value v = tree::scalar_value(e);
  if (v.kind == value::Kind::kCharacter) return std::string(v.text());
  if (v.kind == value::Kind::kBoolean) return v.boolean() ? "true" : "false";
  return v.kind == value::Kind::kInteger ? std::to_string(v.integer) : std::string();
}

std::optional<Coding> parse_compression(std::string_view word) {
  if (word.empty() || millstream::http::equals_ignore_case(word, "none")) return Coding::kIdentity;
  if (millstream::http::equals_ignore_case(word, "gzip")) return Coding::kGzip;
  if (millstream::http::equals_ignore_case(word, "zlib")) return Coding::kZlib;
  if (millstream::http::equals_ignore_case(word, "deflate")) return Coding::kRawDeflate;
  return std::nullopt;
}

namespace {

std::optional<int64_t> parse_send_integer(const std::string& text) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

bool is_send_yes(const std::string& text) {
  return millstream::http::equals_ignore_case(text, "true") ||
         millstream::http::equals_ignore_case(text, "yes") || text == "1";
}

void append_query(tree::Element* destination, Url& url) {
  tree::Element* query = tree::find_child(destination, "QueryString");
  if (!query) return;
  char separator = url.target.find('?') == std::string::npos ? '?' : '&';
  for (tree::Element* e = tree::first_child(query); e; e = tree::next_sibling(e)) {
    const value::Value v = tree::scalar_value(e);
    std::string text;
    if (v.kind == value::Kind::kCharacter) text = v.text();
    if (v.kind == value::Kind::kInteger) text = std::to_string(v.integer);
    url.target += separator;
    url.target += millstream::http::percent_encode(e->local_name()) + "=" +
                  millstream::http::percent_encode(text);
    separator = '&';
  }
}

void override_tls(tree::Element* destination, HttpTlsChoice& tls) {
  std::string text = http_field_value(destination, "SSLProtocol");
  if (!text.empty()) tls.choice.protocol = text;
  text = http_field_value(destination, "SSLCiphers");
  if (!text.empty()) tls.choice.ciphers = text;
  text = http_field_value(destination, "KeyAlias");
  if (!text.empty()) tls.choice.key_alias = text;
  text = http_field_value(destination, "HostnameChecking");
  if (!text.empty()) tls.checks_host_name = is_send_yes(text);
}

bool sends_body(const std::string& method) {
  return method == "POST" || method == "PUT" || method == "PATCH" || method == "DELETE";
}

// RFC 6454: credentials are for the origin that they were given for.
bool is_same_origin(const Url& a, const Url& b) {
  return a.is_https == b.is_https && a.port == b.port &&
         millstream::http::equals_ignore_case(a.host, b.host);
}

Status unpack(ClientResponse& response, size_t bytes_max) {
  const Coding coding = millstream::http::parse_coding(response.headers.get("Content-Encoding"));
  if (coding == Coding::kIdentity || coding == Coding::kUnknown || response.body.empty()) return {};
  net::Buffer plain;
  const size_t size = MS_TRY(millstream::http::decompress(
      coding, response.body, net::Reactor::current()->buffers(), plain, bytes_max));
  // Header fields and reason lie in the old buffer: they are made to own their text first.
  response.headers.remove("Content-Encoding");
  response.headers.set("Content-Length", std::to_string(size));
  response.reason = millstream::http::reason_phrase(response.status);
  response.buffer = std::move(plain);
  response.body = {response.buffer.data(), size};
  return {};
}

}  // namespace

Result<std::unique_ptr<HttpSender>> HttpSender::create(HttpSendSettings settings,
                                                       const flow::Services& services) {
  std::unique_ptr<HttpSender> made(new HttpSender);
  const std::optional<Coding> coding = parse_compression(settings.compression);
  if (!coding) {
    return base::make_error(errors::kPropertyValue, {"compression", settings.compression,
                                                     "use none, gzip, zlib or deflate"});
  }
  made->compression_ = *coding;
  made->security_ = services.find<HttpClientSecurity>();
  if (!made->security_) made->security_ = &HttpClientSecurity::system();
  made->credentials_ = services.find<Credentials>();
  made->settings_ = std::move(settings);
  const HttpSendSettings& s = made->settings_;
  MS_TRY(made->make_proxy(made->new_call()));
  const bool is_https = millstream::http::equals_ignore_case(s.likely_url.substr(0, 8), "https://");
  if (is_https) {
    if (s.tls.checks_revocation && made->security_->settings().crl_files.empty()) {
      return base::make_error(errors::kNoRevocationLists);
    }
    MS_TRY(made->security_->context_for(s.tls));
  }
  MS_TRY(made->check_identity());
  return made;
}

const Credential* HttpSender::find_identity() const {
  return credentials_ && !settings_.security_identity.empty()
             ? credentials_->find_identity(settings_.identity_kind, settings_.security_identity)
             : nullptr;
}

Status HttpSender::check_identity() const {
  if (settings_.security_identity.empty()) return {};
  const Credential* known = find_identity();
  if (!known) {
    return base::make_error(errors::kNoCredentials,
                            {settings_.identity_kind, settings_.security_identity});
  }
  if (!settings_.api_key_name.empty() && known->api_key.empty()) {
    return base::make_error(errors::kNoApiKey, {settings_.security_identity});
  }
  return {};
}

HttpCall HttpSender::new_call() const {
  HttpCall call;
  call.timeout_ns = settings_.timeout_s * net::kSecond;
  call.follows_redirects = settings_.follows_redirects;
  call.keeps_alive = settings_.keeps_alive;
  call.is_http10 = settings_.is_http10;
  call.proxy_location = settings_.proxy_location;
  call.compression = compression_;
  call.compression_bytes_min = settings_.compression_bytes_min;
  call.accepts_compressed = settings_.accepts_compressed;
  call.tls = settings_.tls;
  return call;
}

Status HttpSender::apply_overrides(tree::Element* destination, HttpCall& call) {
  if (!destination) return {};
  tree::Element* line = tree::find_child(destination, "RequestLine");
  std::string text = http_field_value(line, "Method");
  if (!text.empty()) call.method = text;
  text = http_field_value(line, "HTTPVersion");
  if (!text.empty()) call.is_http10 = text.find("1.0") != std::string::npos;
  text = http_field_value(line, "RequestURI");
  if (!text.empty()) call.url.target = text.front() == '/' ? text : "/" + text;
  append_query(destination, call.url);
  // Something that is no number must not switch the time-out off.
  std::optional<int64_t> number = parse_send_integer(http_field_value(destination, "Timeout"));
  if (number && *number >= 0 && *number <= kHttpTimeoutSecondsMax) {
    call.timeout_ns = *number * net::kSecond;
  }
  number = parse_send_integer(http_field_value(destination, "TimeoutMillis"));
  if (number && *number >= 0 && *number <= kHttpTimeoutSecondsMax * 1000) {
    call.timeout_ns = *number * net::kMillisecond;
  }
  text = http_field_value(destination, "KeepAlive");
  if (!text.empty()) call.keeps_alive = is_send_yes(text);
  text = http_field_value(destination, "ProxyURL");
  if (!text.empty()) call.proxy_location = text;
  if (tree::Element* fields = tree::find_child(destination, "ProxyConnectHeaders")) {
    for (tree::Element* e = tree::first_child(fields); e; e = tree::next_sibling(e)) {
      const value::Value v = tree::scalar_value(e);
      if (v.kind == value::Kind::kCharacter)
        call.proxy_connect_headers.set(e->local_name(), v.text());
    }
  }
  text = http_field_value(destination, "Compression");
  if (!text.empty()) {
    const std::optional<Coding> coding = parse_compression(text);
    if (!coding) {
      return base::make_error(errors::kPropertyValue,
                              {"LocalEnvironment.Destination.HTTP.Compression", text,
                               "use none, gzip, zlib or deflate"});
    }
    call.compression = *coding;
  }
  number = parse_send_integer(http_field_value(destination, "MinimumCompressionSize"));
  if (number && *number >= 0) call.compression_bytes_min = *number;
  text = http_field_value(destination, "AcceptCompressedResponses");
  if (!text.empty()) call.accepts_compressed = is_send_yes(text);
  override_tls(destination, call.tls);
  return {};
}

Result<millstream::http::Proxy> HttpSender::make_proxy(const HttpCall& call) const {
  millstream::http::Proxy proxy;
  const std::string& location = call.proxy_location;
  if (location.empty()) return proxy;
  Url url = MS_TRY(millstream::http::parse_url(
      location.find("://") == std::string::npos ? "http://" + location : location));
  if (url.is_https) {
    return base::make_error(errors::kPropertyValue,
                            {"httpProxyLocation", location, "the proxy itself is reached by http"});
  }
  proxy.host = url.host;
  proxy.port = url.port;
  proxy.connect_headers = call.proxy_connect_headers;
  std::string user_info = url.user_info;
  if (user_info.empty() && credentials_) {
    // By the place of the proxy, else one for all.
    const Credential* known =
        credentials_->find("httpproxy", proxy.host + ":" + std::to_string(proxy.port));
    if (!known) known = credentials_->find("httpproxy", "HTTPPROXY");
    if (known) user_info = known->user + ":" + known->password;
  }
  if (!user_info.empty()) proxy.authorization = "Basic " + base::base64_encode(user_info);
  return proxy;
}

// What the flow has set wins, then the message's identity, the URL, the node's identity.
void HttpSender::set_credentials(const HttpCall& call, ClientRequest& request) const {
  if (request.headers.has("Authorization")) return;
  std::string user_info = !call.user_info.empty() ? call.user_info : call.url.user_info;
  std::string token = call.bearer_token;
  const Credential* known = find_identity();
  if (token.empty() && user_info.empty() && known) {
    token = known->token;
    if (token.empty() && !known->user.empty()) user_info = known->user + ":" + known->password;
  }
  if (!token.empty()) {
    request.headers.add("Authorization", "Bearer " + token);
  } else if (!user_info.empty()) {
    request.headers.add("Authorization", "Basic " + base::base64_encode(user_info));
  }
}

// For a request to somebody else.
void HttpSender::drop_api_key(const HttpCall& call, const std::string& with_key,
                              const std::string& packed, ClientRequest& request) const {
  if (!settings_.api_key_in_body) {
    request.headers.remove(settings_.api_key_name);
  } else if (!request.body.empty() && !with_key.empty()) {
    request.body = call.body;
    if (!packed.empty()) request.headers.remove("Content-Encoding");
  }
}

// A header field of that name that the flow has set wins. `body` holds what goes out then.
void HttpSender::set_api_key(const HttpCall& call, std::string& body,
                             ClientRequest& request) const {
  const Credential* known = settings_.api_key_name.empty() ? nullptr : find_identity();
  if (!known) return;
  if (!settings_.api_key_in_body) {
    if (!request.headers.has(settings_.api_key_name)) {
      request.headers.add(settings_.api_key_name, known->api_key);
    }
  } else if (sends_body(call.method)) {
    body = call.body;
    body += (body.empty() ? "" : "&") + settings_.api_key_name + "=" +
            millstream::http::percent_encode(known->api_key);
    request.body = body;
  }
}

Result<ClientResponse> HttpSender::send(HttpCall& call) const {
  if (settings_.endpoint) {
    call.url.is_https = settings_.endpoint->is_https;
    call.url.host = settings_.endpoint->host;
    call.url.port = settings_.endpoint->port;
  }
  ClientRequest request;
  request.method = call.method;
  request.url = call.url;
  request.headers = call.headers;
  request.body = call.body;
  request.sends_empty_body = call.sends_empty_body;
  request.is_http10 = call.is_http10;
  request.must_keep_alive = call.keeps_alive;
  request.body_bytes_max = settings_.body_bytes_max;
  request.proxy = MS_TRY(make_proxy(call));
  if (call.timeout_ns > 0) {
    request.deadline_ns = net::Reactor::current()->refresh_now() + call.timeout_ns;
  }
  std::string with_key, packed;
  set_api_key(call, with_key, request);
  if (call.compression != Coding::kIdentity && !request.body.empty() &&
      request.body.size() >= static_cast<size_t>(call.compression_bytes_min) &&
      !request.headers.has("Content-Encoding")) {
    MS_TRY(millstream::http::compress(call.compression, request.body, packed));
    request.body = packed;
    request.headers.set("Content-Encoding", millstream::http::coding_name(call.compression));
  }
  if (call.accepts_compressed && !request.headers.has("Accept-Encoding")) {
    request.headers.add("Accept-Encoding", "gzip, deflate");
  }
  set_credentials(call, request);
  for (int redirects = 0;; ++redirects) {
    if (request.url.is_https && !request.tls)
      request.tls = MS_TRY(security_->context_for(call.tls));
    millstream::http::ClientPool& pool = http_client_pool();
    const int64_t started_ns = net::Reactor::current()->refresh_now();
    Result<ClientResponse> received = pool.send(request);
    record_client_call(pool, net::Reactor::current()->refresh_now() - started_ns, received.ok());
    ClientResponse response = MS_TRY(std::move(received));
    if (!call.follows_redirects || !millstream::http::is_redirect(response)) {
      if (call.accepts_compressed) MS_TRY(unpack(response, settings_.body_bytes_max));
      return response;
    }
    const std::string_view location = response.headers.get("Location");
    if (redirects == kHttpRedirectsMax) {
      return base::make_error(errors::kTooManyRedirects, {kHttpRedirectsMax, location});
    }
    request.method = millstream::http::redirect_method(response.status, request.method);
    if (!sends_body(request.method)) {
      request.body = {};
      request.headers.remove("Content-Encoding");
    }
    Url next = MS_TRY(millstream::http::resolve_redirect(request.url, location));
    if (!is_same_origin(next, request.url)) {
      request.headers.remove("Authorization");
      request.headers.remove("Host");
      if (!settings_.api_key_name.empty()) drop_api_key(call, with_key, packed, request);
    }
    request.url = std::move(next);
    call.url = request.url;
    call.method = request.method;
  }
}

}  // namespace millstream::nodes::common
