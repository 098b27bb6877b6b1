#include "nodes/common/http_policy.h"

#include <charconv>
#include <optional>

#include "nodes/common/errors_gen.h"

namespace millstream::nodes::common {
namespace {

class HttpPolicyReader {
 public:
  HttpPolicyReader(const Policy& policy, HttpSendSettings& out, base::Diagnostics& diagnostics)
      : policy_(policy), out_(out), diagnostics_(diagnostics) {}

  Status run() {
    for (const auto& [name, property] : policy_.properties) MS_TRY(read(name, property));
    MS_TRY(check_tls());
    if (!out_.api_key_name.empty() && !policy_.find("credentialName")) {
      return policy_value_error(policy_, "apiKeyName",
                                "the key itself comes from credentialName, which is not set");
    }
    return {};
  }

 private:
  Status read(const std::string& name, const PolicyProperty& p) {
    if (name == "endpointUrl") return read_endpoint(p);
    if (name == "apiKeyName") return read_key_name(p);
    if (name == "apiKeyLocation") return read_key_location(p);
    if (name == "timeoutForServer") return read_timeout(p);
    if (name == "acceptSelfSignedCerts") return read_flag(name, out_.tls.accepts_self_signed);
    if (name == "hostnameChecking") return read_flag(name, out_.tls.checks_host_name);
    if (name == "enableCRLCheck") return read_flag(name, out_.tls.checks_revocation);
    if (name == "followRedirection") return read_flag(name, out_.follows_redirects);
    if (name == "credentialName") {
      out_.security_identity =
          p.value.find("::") == std::string::npos ? "http::" + p.value : p.value;
      return {};
    }
    std::string* const text = name == "httpProxyLocation" ? &out_.proxy_location
                              : name == "protocol"        ? &out_.tls.choice.protocol
                              : name == "allowedCiphers"  ? &out_.tls.choice.ciphers
                              : name == "keyAlias"        ? &out_.tls.choice.key_alias
                                                          : nullptr;
    if (!text) {
      return base::make_error_at(errors::kPolicyProperty, p.position,
                                 {policy_.type, name, p.value, policy_.full_name()});
    }
    *text = p.value;
    return {};
  }

  // What the node says itself may be old: that is an error only when the URL is https.
  Status check_tls() const {
    const PolicyProperty* protocol = policy_.find("protocol");
    if (protocol) {
      Status status = net::check_tls_choice({protocol->value, {}, {}});
      if (!status.ok()) return policy_value_error(policy_, "protocol", reason_of(status));
    }
    if (const PolicyProperty* ciphers = policy_.find("allowedCiphers")) {
      const std::string version = protocol ? protocol->value : std::string();
      Status status = net::check_tls_choice({version, ciphers->value, {}});
      if (!status.ok()) return policy_value_error(policy_, "allowedCiphers", reason_of(status));
    }
    return {};
  }

  static std::string reason_of(const Status& status) {
    std::string text = status.error().text;
    if (text.ends_with('.')) text.pop_back();
    return text;
  }

  Status read_flag(const std::string& name, bool& out) const {
    const std::string& text = policy_.find(name)->value;
    const bool is_on = millstream::http::equals_ignore_case(text, "true");
    if (!is_on && !millstream::http::equals_ignore_case(text, "false")) {
      return policy_value_error(policy_, name, "use true or false");
    }
    out = is_on;
    return {};
  }

  Status read_timeout(const PolicyProperty& p) {
    int64_t seconds = 0;
    const char* end = p.value.data() + p.value.size();
    const auto [stop, error] = std::from_chars(p.value.data(), end, seconds);
    if (error != std::errc() || stop != end || seconds < 0 || seconds > kHttpTimeoutSecondsMax) {
      return policy_value_error(policy_, "timeoutForServer", "use a number of seconds");
    }
    out_.timeout_s = seconds;
    return {};
  }

  Status read_endpoint(const PolicyProperty& p) {
    Result<millstream::http::Url> url = millstream::http::parse_url(p.value);
    if (!url.ok()) {
      return policy_value_error(policy_, "endpointUrl", "use a URL such as https://host:port");
    }
    if (url.value().target != "/") {
      // As in the product: the path is that of the node or the message.
      Status status =
          base::make_error(errors::kPolicyEndpointPath, {policy_.full_name(), url.value().target});
      diagnostics_.warning(p.position, status.error().code->id, status.error().text);
    }
    out_.endpoint = std::move(url).take_value();
    out_.likely_url = p.value;
    return {};
  }

  Status read_key_name(const PolicyProperty& p) {
    for (const char c : p.value) {
      // A name that both a header field and a form can have.
      const bool is_good = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                           (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
      if (!is_good) {
        return policy_value_error(policy_, "apiKeyName", "use letters, digits, '-', '_' and '.'");
      }
    }
    out_.api_key_name = p.value;
    return {};
  }

  // "header", or "body URL encoded" in any of the ways to join its words.
  Status read_key_location(const PolicyProperty& p) {
    std::string words;
    for (const char c : p.value) {
      if (c == ' ' || c == '_' || c == '-') continue;
      words += static_cast<char>(c >= 'A' && c <= 'Z' ? c | 0x20 : c);
    }
    if (words == "header" || words == "bodyurlencoded") {
      out_.api_key_in_body = words != "header";
      return {};
    }
    return policy_value_error(policy_, "apiKeyLocation", "use header or body_url_encoded");
  }

  const Policy& policy_;
  HttpSendSettings& out_;
  base::Diagnostics& diagnostics_;
};

}  // namespace

Status apply_http_policy(const Policy& policy, HttpSendSettings& settings,
                         base::Diagnostics& diagnostics) {
  return HttpPolicyReader(policy, settings, diagnostics).run();
}

Status apply_http_policy(const flow::NodeBuildContext& context, HttpSendSettings& settings) {
  const Policy* policy = MS_TRY(find_node_policy(context, "policyUrl", kHttpRequestPolicy));
  return policy ? apply_http_policy(*policy, settings, context.diagnostics) : Status();
}

}  // namespace millstream::nodes::common
