// What RESTRequest and RESTAsyncRequest have in common: an operation of an OpenAPI document, called
// with the parameters that the node's table and the message name.
// Thread: create while loading; prepare() in a message's fiber, by many at once.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "flow/invocation.h"
#include "model/parameters.h"
#include "nodes/common/credentials.h"
#include "nodes/common/http_send.h"
#include "nodes/common/location.h"
#include "query/xpath.h"

namespace millstream::nodes::rest {

// From the properties of either node.
struct RestCallSettings {
  std::string definition_file, operation_name, base_url, accept, content_type, data_location;
  common::HttpSendSettings send;
};

// Both records have these properties under the same names.
template <typename Properties>
RestCallSettings rest_call_settings(const Properties& p) {
  static constexpr const char* kCompressions[] = {"none", "gzip", "zlib", "deflate"};
  RestCallSettings s;
  s.definition_file = p.definition_file;
  s.operation_name = p.operation_name;
  s.base_url = p.base_url;
  s.accept = p.accept;
  s.content_type = p.content_type;
  s.data_location = p.data_location;
  s.send.timeout_s = p.timeout_for_server;
  s.send.follows_redirects = p.follow_redirection;
  s.send.keeps_alive = p.enable_keep_alive;
  s.send.proxy_location = p.http_proxy_location;
  s.send.compression = kCompressions[static_cast<size_t>(p.request_compression_type)];
  s.send.compression_bytes_min = p.minimum_request_compression_size;
  s.send.accepts_compressed = p.accept_compressed_responses;
  s.send.tls.choice = {p.protocol, p.allowed_ciphers, p.key_alias};
  s.send.tls.checks_host_name = p.hostname_checking;
  s.send.tls.checks_revocation = p.enable_crl_check;
  s.send.security_identity = p.security_identity;
  s.send.identity_kind = "rest";
  return s;
}

class RestCaller {
 public:
  // The table `parameters` comes from the node's own definition.
  static Result<std::unique_ptr<RestCaller>> create(RestCallSettings settings,
                                                    flow::NodeBuildContext& context);
  // Fills method, URL, headers and `body`, which must live as long as the call. What
  // LocalEnvironment.Destination.REST.Request says (Operation, BaseURL, Parameters, Timeout, ...)
  // wins over the node.
  Result<common::HttpCall> prepare(flow::Invocation& invocation, const flow::Node& node,
                                   const tree::MessageAssembly& in, std::string& body) const;
  const common::HttpSender& sender() const { return *sender_; }
  const std::string& operation_name() const { return operation_->id; }

  // The transport failed: the error as the node throws it.
  static Status call_error(const std::string& operation, const common::HttpCall& call,
                           Status cause);

 private:
  struct Source {
    std::string name;
    std::optional<query::XPath> expression;  // absent: `constant`
    std::string constant;
  };
  using Values = std::vector<std::pair<const model::Parameter*, model::json::Value>>;

  explicit RestCaller(common::MessagePlace data) : data_(std::move(data)) {}
  Status read_sources(flow::NodeBuildContext& context);
  Result<Values> collect(flow::Invocation& invocation, const tree::MessageAssembly& in,
                         const model::Operation& operation, tree::Element* overrides) const;
  Status add_api_keys(const model::Operation& operation, model::EncodedRequest& request) const;
  Status write_data(flow::Invocation& invocation, const tree::MessageAssembly& in,
                    std::string& body) const;

  RestCallSettings settings_;
  std::shared_ptr<const model::ApiDocument> document_;
  const model::Operation* operation_ = nullptr;
  std::vector<Source> sources_;
  common::MessagePlace data_;
  std::unique_ptr<common::HttpSender> sender_;
  const common::Credentials* credentials_ = nullptr;  // may be null
};

}  // namespace millstream::nodes::rest
