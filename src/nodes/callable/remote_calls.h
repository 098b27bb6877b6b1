// Calls between servers over HTTP: one POST a call, to kPath of the other server.
//
// Request: headers name the version of the form, application, endpoint, depth and time left; the
// body is the message and its LocalEnvironment (nodes/common/tree_codec.h). Answer: the header
// X-Millstream-Outcome says what the body is: reply (both trees), exception (an exception list), or
// error (a text). Both sides know a secret, sent as a bearer token; use https between machines. The
// certificate of the other server must be trusted, and be for its host name.
// A call is sent once: when the connection breaks after that, it may or may not have been made.
// Thread: create while starting; the rest in fibers of any reactor.
#pragma once
#include <map>
#include <memory>
#include <string>

#include "flow/services.h"
#include "http/request.h"
#include "nodes/callable/callable_flows.h"
#include "nodes/common/http_send.h"

namespace millstream::nodes::callable {

struct RemoteCallSettings {
  std::string secret;
  // "Application/endpoint", or "Application/*", to "http://host:port".
  std::map<std::string, std::string> servers;
  bool comes_by_https = false;   // calls of others: by the HTTPS port alone
  bool checks_host_name = true;  // of the certificates of other servers
  std::string key_alias;         // of the client certificate for them; empty: the first
  bool is_empty() const { return secret.empty() && servers.empty(); }
};

class RemoteCallService final : public RemoteCalls {
 public:
  static constexpr const char* kPath = "/millstream/callable-flows";
  static constexpr const char* kFormVersion = "1";
  static constexpr size_t kSecretBytesMin = 16;

  // Settings have been checked (server_conf); an error is one of TLS.
  static Result<std::unique_ptr<RemoteCallService>> create(RemoteCallSettings settings,
                                                           CallableFlows& flows,
                                                           const flow::Services& services);
  std::string find_server(const std::string& application,
                          const std::string& endpoint) const override;
  Result<std::string> call(const std::string& server, const Call& call, std::string_view request,
                           int64_t deadline_ns) override;
  // A request of another server, to kPath. Answers it.
  void serve(millstream::http::RequestRef request);

 private:
  RemoteCallService(RemoteCallSettings settings, CallableFlows& flows,
                    std::unique_ptr<common::HttpSender> sender)
      : settings_(std::move(settings)), flows_(flows), sender_(std::move(sender)) {}
  bool is_admitted(const millstream::http::Request& request) const;

  const RemoteCallSettings settings_;
  CallableFlows& flows_;
  const std::unique_ptr<common::HttpSender> sender_;
};

// Exceptions as an exception list in the form of tree_codec, and back.
Result<std::string> encode_exception(const base::Error& error);
Status decode_exception(std::string_view bytes);

}  // namespace millstream::nodes::callable
