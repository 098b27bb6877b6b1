// What HTTPRequest and HTTPAsyncRequest have in common: where a request goes, its headers, and the
// settings that both nodes' properties have under the same names.
// Thread: the fiber of the message; send_settings() while loading.
#pragma once
#include <string>
#include <string_view>

#include "nodes/common/http_send.h"
#include "tree/assembly.h"

namespace millstream::nodes::http {

// LocalEnvironment.Destination.HTTP; null when there is none.
tree::Element* find_http_destination(const tree::MessageAssembly& in);

// Fills the call from the message: URL (the first usable one of X-Original-HTTP-URL,
// LocalEnvironment and `url_specifier`), the overrides of LocalEnvironment, and the headers of
// HTTPRequestHeader. `call.method` is the property's.
Status read_request(tree::TreeContext& context, const tree::MessageAssembly& in,
                    const std::string& url_specifier, common::HttpCall& call);

// Content-Type by the message's domain and SOAPAction for text/xml, unless the flow has set them.
void add_default_headers(tree::TreeContext& context, const tree::MessageAssembly& in,
                         common::HttpCall& call);

// Only these methods send the message (the product's rule; RFC 9110 gives others no meaning).
inline bool sends_body(std::string_view method) {
  return method == "POST" || method == "PUT" || method == "PATCH";
}

// The failure of a request, as the product nests it: what went wrong below the request it went
// wrong for.
Status http_call_error(const common::HttpCall& call, Status cause);

template <typename Properties>
const char* method_name(const Properties& p) {
  static constexpr const char* kNames[] = {"POST", "GET",   "PUT",     "DELETE",
                                           "HEAD", "PATCH", "OPTIONS", "TRACE"};
  return kNames[static_cast<size_t>(p.http_method)];
}

template <typename Properties>
common::HttpSendSettings send_settings(const Properties& p) {
  static constexpr const char* kCompressions[] = {"none", "gzip", "zlib", "deflate"};
  common::HttpSendSettings s;
  s.timeout_s = p.timeout_for_server;
  s.follows_redirects = p.follow_redirection;
  s.keeps_alive = p.enable_keep_alive;
  s.is_http10 = p.http_version == Properties::HttpVersion::k10;
  s.proxy_location = p.http_proxy_location;
  s.compression = kCompressions[static_cast<size_t>(p.request_compression_type)];
  s.compression_bytes_min = p.minimum_request_compression_size;
  s.accepts_compressed = p.accept_compressed_responses;
  s.tls.choice = {p.protocol, p.allowed_ciphers, p.key_alias};
  s.tls.checks_host_name = p.hostname_checking;
  s.tls.checks_revocation = p.enable_crl_check;
  s.security_identity = p.security_identity;
  s.likely_url = p.url_specifier;
  return s;
}

}  // namespace millstream::nodes::http
