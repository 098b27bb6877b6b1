// Sending one HTTP request and getting its answer, as all request nodes do it (HTTPRequest,
// RESTRequest, HTTPAsyncRequest): pooled connections, TLS, proxy, credentials, compression,
// redirects, time-out, and what a message's LocalEnvironment overrides.
//
//   HttpSendSettings settings;  settings.timeout_s = ...;           // from the node's properties
//   sender_ = MS_TRY(HttpSender::create(std::move(settings), context.services));   // while loading
//   HttpCall call = sender_->new_call();                            // for each message
//   call.method = "GET";  call.url = MS_TRY(millstream::http::parse_url(...));
//   MS_TRY(HttpSender::apply_overrides(destination, call));         // LocalEnvironment, optional
//   millstream::http::ClientResponse answer = MS_TRY(sender_->send(call));      // suspends the
//   fiber
//
// Failures of the transport are those of http/client.h (BIP3152 and causes). An answer with an
// error status is an answer. The answer's body is decompressed, and its Content-Encoding removed
// then. Ownership: the sender is the node's and outlives its calls; the body of a call must live
// until send() returns. Thread: create while loading; send() in a fiber of any reactor, at once by
// many.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "flow/services.h"
#include "http/client.h"
#include "http/coding.h"
#include "http/url.h"
#include "nodes/common/credentials.h"
#include "nodes/common/http_security.h"
#include "tree/assembly.h"

namespace millstream::nodes::common {

constexpr int kHttpRedirectsMax = 10;
constexpr int64_t kHttpTimeoutSecondsMax = 2'147'483;

// What the properties of a node say; the same for all its messages.
struct HttpSendSettings {
  int64_t timeout_s = 120;  // 0: none
  bool follows_redirects = false;
  bool keeps_alive = true;
  bool is_http10 = false;
  std::string proxy_location;  // "host:port" or a URL; may hold user:password@
  std::string compression;     // of the request: none, gzip, zlib, deflate
  int64_t compression_bytes_min = 0;
  bool accepts_compressed = false;
  HttpTlsChoice tls;
  // An entry of the server's Credentials: "name" of kind `identity_kind`, or "kind::name".
  std::string security_identity;
  std::string identity_kind = "http";
  std::string likely_url;  // when it is https, TLS settings are checked while loading
  // Of a policy (nodes/common/http_policy.h). Scheme, host and port of `endpoint` are taken instead
  // of those of every call; the API key is that of security_identity.
  std::optional<millstream::http::Url> endpoint;
  std::string api_key_name;  // empty: no API key is sent
  bool api_key_in_body = false;
  size_t body_bytes_max = 64 * 1024 * 1024;
};

// One request. What is not set comes from the settings.
struct HttpCall {
  std::string method = "POST";
  millstream::http::Url url;  // user_info becomes basic credentials
  millstream::http::Headers
      headers;  // as set by the flow; Authorization there wins over all credentials
  std::string_view body;
  bool sends_empty_body = false;
  // "user:password" of a message's identity; wins over security_identity.
  std::string user_info;
  std::string bearer_token;

  int64_t timeout_ns = 0;  // 0: none
  bool follows_redirects = false;
  bool keeps_alive = true;
  bool is_http10 = false;
  std::string proxy_location;
  millstream::http::Headers proxy_connect_headers;
  millstream::http::Coding compression = millstream::http::Coding::kIdentity;
  int64_t compression_bytes_min = 0;
  bool accepts_compressed = false;
  HttpTlsChoice tls;
};

class HttpSender {
 public:
  // Checks what can be checked without a request.
  static Result<std::unique_ptr<HttpSender>> create(HttpSendSettings settings,
                                                    const flow::Services& services);
  HttpCall new_call() const;
  // Reads LocalEnvironment.Destination.HTTP (or the like of another node); null: nothing. Not the
  // URL: which one wins is the node's matter. QueryString is appended to call.url, so set that
  // first.
  static Status apply_overrides(tree::Element* destination, HttpCall& call);
  // Follows redirects when asked to; call.url and call.method are then those of the last request.
  Result<millstream::http::ClientResponse> send(HttpCall& call) const;

  const HttpSendSettings& settings() const { return settings_; }

 private:
  HttpSender() = default;
  Result<millstream::http::Proxy> make_proxy(const HttpCall& call) const;
  void set_credentials(const HttpCall& call, millstream::http::ClientRequest& request) const;
  const Credential* find_identity() const;
  Status check_identity() const;
  void set_api_key(const HttpCall& call, std::string& body,
                   millstream::http::ClientRequest& request) const;
  void drop_api_key(const HttpCall& call, const std::string& with_key, const std::string& packed,
                    millstream::http::ClientRequest& request) const;

  HttpSendSettings settings_;
  millstream::http::Coding compression_ = millstream::http::Coding::kIdentity;
  HttpClientSecurity* security_ = nullptr;
  const Credentials* credentials_ = nullptr;  // may be null
};

// The pool of this reactor, shared by all nodes; connections stay with the reactor that made them.
millstream::http::ClientPool& http_client_pool();

// The text of a field of a message's tree: character and integer values; empty otherwise.
std::string http_field_value(tree::Element* parent, std::string_view name);

// The coding that a compression property of a node means; nothing for an unknown word.
std::optional<millstream::http::Coding> parse_compression(std::string_view word);

}  // namespace millstream::nodes::common
