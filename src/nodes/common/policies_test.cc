#include "nodes/common/policies.h"

#include <doctest/doctest.h>

#include "nodes/common/errors_gen.h"
#include "nodes/common/http_policy.h"
#include "nodes/common/identity.h"

namespace millstream::nodes::common {
namespace {

using Pairs = std::map<std::string, std::string>;

Policy policy_of(std::string type, const Pairs& properties, std::string name = "One",
                 std::string project = "P") {
  Policy policy;
  policy.project = std::move(project);
  policy.name = std::move(name);
  policy.type = std::move(type);
  policy.position = {"P/One.policyxml", 2, 3};
  uint32_t line = 3;
  for (const auto& [key, value] : properties) {
    policy.properties[key] = {value, {"P/One.policyxml", line++, 5}};
  }
  return policy;
}

TEST_CASE("policies: found by project and name, and what is wrong is said where it is written") {
  Policies policies("P");
  policies.add(policy_of("HTTPRequest", {}));
  policies.add(policy_of("HTTPSConnector", {}, "Listener", "Q"));
  const base::Position at{"F.msgflow", 7, 1};
  auto find = [&](std::string_view reference) {
    return policies.find(reference, "HTTPRequest", "policyUrl", at);
  };
  CHECK(find("{P}:One").value()->full_name() == "{P}:One");
  CHECK(find("One").value()->full_name() == "{P}:One");
  auto problem = [&](std::string_view reference) {
    Result<const Policy*> found = find(reference);
    REQUIRE_FALSE(found.ok());
    CHECK(found.error().position.line == 7);
    return std::string(found.error().code->id);
  };
  CHECK(problem("Two") == errors::kPolicyMissing.id);
  CHECK(problem("{Q}:One") == errors::kPolicyMissing.id);
  CHECK(problem("{Q}:Listener") == errors::kPolicyType.id);
  for (const char* bad : {"{P}", "{P}One", "{P}:", "{}:One", "{P"}) {
    CHECK(problem(bad) == errors::kPolicyReference.id);
  }
  policies.add(policy_of("HTTPRequest", {}));
  Result<const Policy*> twice = find("One");
  REQUIRE_FALSE(twice.ok());
  CHECK(twice.error().code == &errors::kPolicyTwice);
  CHECK(twice.error().position.file == "P/One.policyxml");
}

TEST_CASE("policies: an HTTPRequest policy wins over the node's properties") {
  HttpSendSettings s;
  s.timeout_s = 5;
  s.tls.choice = {"SSLv3", "", "old"};
  s.likely_url = "http://node/path";
  base::Diagnostics diagnostics;
  const Policy policy = policy_of("HTTPRequest", {{"endpointUrl", "https://host.example:8443"},
                                                  {"credentialName", "partner"},
                                                  {"apiKeyName", "X-Key"},
                                                  {"apiKeyLocation", "body URL encoded"},
                                                  {"acceptSelfSignedCerts", "TRUE"},
                                                  {"timeoutForServer", "30"},
                                                  {"httpProxyLocation", "proxy:3128"},
                                                  {"protocol", "TLSv1.2"},
                                                  {"allowedCiphers", "ECDHE-RSA-AES128-GCM-SHA256"},
                                                  {"keyAlias", "client"},
                                                  {"hostnameChecking", "true"},
                                                  {"enableCRLCheck", "true"},
                                                  {"followRedirection", "true"}});
  Status status = apply_http_policy(policy, s, diagnostics);
  CHECK(status.ok());
  CHECK(diagnostics.all().empty());
  REQUIRE(s.endpoint);
  CHECK(s.endpoint->is_https);
  CHECK(s.endpoint->host == "host.example");
  CHECK(s.endpoint->port == 8443);
  CHECK(s.likely_url == "https://host.example:8443");
  CHECK(s.security_identity == "http::partner");
  CHECK(s.api_key_name == "X-Key");
  CHECK(s.api_key_in_body);
  CHECK(s.timeout_s == 30);
  CHECK(s.proxy_location == "proxy:3128");
  CHECK(s.tls.choice.protocol == "TLSv1.2");
  CHECK(s.tls.choice.key_alias == "client");
  CHECK(s.tls.checks_host_name);
  CHECK(s.tls.checks_revocation);
  CHECK(s.tls.accepts_self_signed);
  CHECK(s.follows_redirects);
}

TEST_CASE("policies: values of an HTTPRequest policy that do not fit are refused at their line") {
  for (const auto& [key, value] : Pairs{{"endpointUrl", "ftp://host"},
                                        {"acceptSelfSignedCerts", "yes"},
                                        {"apiKeyLocation", "query"},
                                        {"apiKeyName", "X Key"},
                                        {"timeoutForServer", "-1"},
                                        {"protocol", "SSLv3"},
                                        {"allowedCiphers", "nonsense"},
                                        {"hostnameChecking", "1"}}) {
    CAPTURE(key);
    HttpSendSettings s;
    base::Diagnostics diagnostics;
    Status status = apply_http_policy(policy_of("HTTPRequest", {{key, value}}), s, diagnostics);
    REQUIRE_FALSE(status.ok());
    CHECK(status.error().code == &errors::kPolicyValue);
    CHECK(status.error().position.line == 3);
    CHECK(status.error().text.find(value) != std::string::npos);
  }
  HttpSendSettings s;
  base::Diagnostics diagnostics;
  Status status =
      apply_http_policy(policy_of("HTTPRequest", {{"apiKeyName", "K"}}), s, diagnostics);
  CHECK(status.error().code == &errors::kPolicyValue);
  status = apply_http_policy(policy_of("HTTPRequest", {{"colour", "red"}}), s, diagnostics);
  CHECK(status.error().code == &errors::kPolicyProperty);
  // The path of the product's endpointUrl has no effect either: a warning.
  s = {};
  status = apply_http_policy(policy_of("HTTPRequest", {{"endpointUrl", "http://h:1/api"}}), s,
                             diagnostics);
  CHECK(status.ok());
  REQUIRE(diagnostics.all().size() == 1);
  CHECK(diagnostics.all()[0].severity == base::DiagnosticSeverity::kWarning);
}

TEST_CASE("policies: security profiles that ask nobody work, the others are refused by name") {
  auto ask = [](const Pairs& properties) {
    return propagates_identity(policy_of("SecurityProfiles", properties), "property of the node",
                               {"F.msgflow", 9, 1});
  };
  const Pairs none = {{"authentication", "NONE"}, {"authorization", "NONE"}, {"mapping", "NONE"}};
  Pairs on = none, off = none;
  on["propagation"] = "TRUE";
  off["propagation"] = "FALSE";
  CHECK(ask(on).value());
  CHECK_FALSE(ask(off).value());
  CHECK_FALSE(ask(none).value());
  for (const auto& [key, value] : Pairs{{"authentication", "LDAP"},
                                        {"authorization", "LDAP"},
                                        {"mapping", "WS-Trust v1.3 STS"},
                                        {"passwordValue", "MASK"},
                                        {"idToPropagateToTransport", "STATIC ID"}}) {
    Pairs bad = on;
    bad[key] = value;
    Result<bool> refused = ask(bad);
    REQUIRE_FALSE(refused.ok());
    CHECK(refused.error().code == &errors::kSecurityProfile);
    CHECK(refused.error().position.line == 9);
    CHECK(refused.error().text.find(value) != std::string::npos);
    CHECK(refused.error().text.find("P/One.policyxml:2") != std::string::npos);
  }
}

}  // namespace
}  // namespace millstream::nodes::common
