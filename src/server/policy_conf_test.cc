#include "server/policy_conf.h"

#include <doctest/doctest.h>

#include "format/yaml.h"
#include "server/server_conf.h"

namespace millstream::server {
namespace {

// A workspace with one policy project.
ace::Workspace workspace_of(const std::string& policies) {
  auto container = std::make_shared<ace::Container>();
  container->kind = ace::ContainerKind::kPolicyProject;
  container->name = "Listeners";
  container->resources.emplace_back("All.policyxml", "Listeners/All.policyxml",
                                    "<policies>\n" + policies + "</policies>");
  ace::Workspace workspace;
  workspace.containers.push_back(std::move(container));
  return workspace;
}

ServerConf conf_of(const std::string& yaml, base::Diagnostics& diagnostics) {
  auto root = format::parse_yaml(yaml, "server.conf.yaml");
  REQUIRE(root.ok());
  ServerConf conf;
  apply_policy_conf("server.conf.yaml", root.value(), conf.policies, diagnostics);
  return conf;
}

const char* const kDefaults = R"(
Defaults:
  policyProject: Listeners
  Policies:
    HTTPConnector: Plain
    HTTPSConnector: '{Listeners}:Secure'
)";

TEST_CASE("policy conf: listeners are what their policies say") {
  base::Diagnostics diagnostics;
  ServerConf conf = conf_of(kDefaults, diagnostics);
  conf.http_port = 1;
  conf.https.port = 2;
  conf.https.address = "10.0.0.1";
  conf.https.tls.keystore = {"/jvm.p12", "jvm password", ""};
  conf.https.credentials.add("keystore", "keys", {"", "secret", "", ""});
  const ace::Workspace workspace = workspace_of(R"(
<policy policyType="HTTPConnector" policyName="Plain">
  <ListenerPort>7801</ListenerPort><ListenerAddress>127.0.0.1</ListenerAddress>
  <CORSEnabled>true</CORSEnabled>
</policy>
<policy policyType="HTTPSConnector" policyName="Secure">
  <ListenerPort>7844</ListenerPort>
  <KeystoreFile>keys/own.p12</KeystoreFile><KeystorePassword>keys</KeystorePassword>
  <KeystoreType/>
  <TruststoreFile>/trust.pem</TruststoreFile><ReqClientAuth>true</ReqClientAuth>
  <CipherSpec>TLS_AES_128_GCM_SHA256</CipherSpec><SSLProtocol>TLSv1.3</SSLProtocol>
  <CRLFile>a.crl</CRLFile>
  <ListenerThreads>4</ListenerThreads>
</policy>
)");
  CHECK(apply_listener_policies(workspace, "/work", conf, diagnostics));
  CHECK(conf.http_port == 7801);
  CHECK(conf.http_address == "127.0.0.1");
  CHECK(conf.cors.is_enabled);
  CHECK(conf.https.port == 7844);
  CHECK(conf.https.address == "10.0.0.1");  // the policy says nothing about it
  CHECK(conf.https.tls.keystore.path == "/work/keys/own.p12");
  CHECK(conf.https.tls.keystore.password == "secret");
  CHECK(conf.https.tls.truststore.path == "/trust.pem");
  CHECK(conf.https.tls.client_auth == net::TlsClientAuth::kRequired);
  CHECK(conf.https.tls.choice.protocol == "TLSv1.3");
  CHECK(conf.https.tls.crl_files == std::vector<std::string>{"/work/a.crl"});
  REQUIRE(diagnostics.all().size() == 1);  // ListenerThreads
  CHECK(diagnostics.all()[0].severity == base::DiagnosticSeverity::kWarning);
  CHECK(diagnostics.all()[0].position.line == 14);
}

TEST_CASE(
    "policy conf: a policy that is missing, of another type or wrong is an error at its line") {
  struct Case {
    const char* policies;
    const char* file;
    uint32_t line;
    const char* text;
  };
  for (const Case& c : {
           Case{"", "server.conf.yaml", 3, "'Secure'"},
           Case{"<policy policyType='HTTPConnector' policyName='Secure'/>", "server.conf.yaml", 3,
                "type HTTPConnector"},
           Case{"<policy policyType='HTTPSConnector' policyName='Secure'>\n"
                "<ListenerPort>x</ListenerPort></policy>",
                "Listeners/All.policyxml", 3, "policy {Listeners}:Secure/ListenerPort"},
           Case{"<policy policyType='HTTPSConnector' policyName='Secure'>\n\n"
                "<ReqClientAuth>perhaps</ReqClientAuth></policy>",
                "Listeners/All.policyxml", 4, "perhaps"},
           Case{"<policy policyType='HTTPSConnector' policyName='Secure'>"
                "<SSLProtocol>SSLv3</SSLProtocol></policy>",
                "Listeners/All.policyxml", 2, "SSLv3"},
       }) {
    CAPTURE(c.policies);
    base::Diagnostics diagnostics;
    ServerConf conf =
        conf_of("Defaults:\n  Policies:\n    HTTPSConnector: '{Listeners}:Secure'\n", diagnostics);
    CHECK_FALSE(apply_listener_policies(workspace_of(c.policies), "", conf, diagnostics));
    REQUIRE(diagnostics.all().size() == 1);
    const base::Diagnostic& d = diagnostics.all()[0];
    CHECK(d.position.file == c.file);
    CHECK(d.position.line == c.line);
    CHECK(d.text.find(c.text) != std::string::npos);
  }
}

TEST_CASE("policy conf: default policies that nothing uses are told, security profiles refused") {
  base::Diagnostics diagnostics;
  conf_of("Defaults:\n  Policies:\n    monitoringProfile: M\n    securityProfile: S\n",
          diagnostics);
  REQUIRE(diagnostics.all().size() == 2);
  CHECK(diagnostics.all()[0].severity == base::DiagnosticSeverity::kWarning);
  CHECK(diagnostics.all()[1].severity == base::DiagnosticSeverity::kError);
  CHECK(diagnostics.all()[1].position.line == 4);
  base::Diagnostics clean;
  const ServerConf conf = conf_of("Defaults:\n  Policies:\n    HTTPConnector: ''\n", clean);
  CHECK(clean.all().empty());
  CHECK(conf.policies.http.reference.empty());
  CHECK(conf.policies.project == "DefaultPolicies");
}

}  // namespace
}  // namespace millstream::server
