#include "server/admin_conf.h"

#include <doctest/doctest.h>

#include "format/yaml.h"

namespace millstream::server {
namespace {

AdminConf admin_conf_of(const std::string& text, base::Diagnostics& diagnostics) {
  auto root = format::parse_yaml(text, "server.conf.yaml");
  REQUIRE(root.ok());
  AdminConf conf;
  apply_admin_conf("server.conf.yaml", root.value(), conf, diagnostics);
  nodes::common::Credentials known;
  nodes::common::Credential secret;
  secret.password = "of the store";
  known.add("adminRestApi", "sslpwd", std::move(secret));
  finish_admin_conf("/work", known, conf);
  return conf;
}

}  // namespace

TEST_CASE("admin conf: certificates below the work directory, passwords by name, roles") {
  base::Diagnostics diagnostics;
  const AdminConf conf = admin_conf_of(R"(
RestAdminListener:
  port: 7643
  sslCertificate: keys/admin.p12
  sslPassword: adminRestApi::sslpwd
  caPath: /etc/ca
  requireClientCert: true
  authorizationEnabled: true
Security:
  Permissions:
    viewers: 'read+:write-:execute-'
    most: 'all+:write-'
)",
                                       diagnostics);
  CHECK(diagnostics.error_count() == 0);
  CHECK(conf.port == 7643);
  CHECK(conf.tls.keystore.path == "/work/keys/admin.p12");
  CHECK(conf.tls.keystore.password == "of the store");
  CHECK(conf.tls.truststore.path == "/etc/ca");
  CHECK(conf.tls.client_auth == net::TlsClientAuth::kRequired);
  CHECK(conf.needs_login);
  REQUIRE(conf.roles.size() == 2);
  CHECK(conf.roles.at("viewers").may(admin::AdminRight::kRead));
  CHECK_FALSE(conf.roles.at("viewers").may(admin::AdminRight::kExecute));
  CHECK(conf.roles.at("most").may(admin::AdminRight::kExecute));
  CHECK_FALSE(conf.roles.at("most").may(admin::AdminRight::kWrite));
}

TEST_CASE("admin conf: what cannot be understood is an error, for it would leave a port open") {
  for (const char* text :
       {"RestAdminListener: {basicAuth: perhaps}", "RestAdminListener: {port: 70000}",
        "RestAdminListener: {authorizationMode: ldap}", "RestAdminListener: {tlsTrustStore: a}",
        "Security: {Permissions: {a: read}}", "Security: {Permissions: {a: 'own+'}}",
        "Security: {Permissions: [a]}", "Millstream: {Administration: {AllowAnonymous: 7}}"}) {
    base::Diagnostics diagnostics;
    (void)admin_conf_of(text, diagnostics);
    CHECK_MESSAGE(diagnostics.error_count() > 0, text);
  }
}

TEST_CASE("admin conf: beyond this machine a port needs a login and TLS, or a key that says not") {
  AdminConf conf;
  for (const char* host : {"localhost", "127.0.0.1", "127.8.8.8", "::1"}) {
    CHECK(check_admin_conf(conf, host).ok());
  }
  for (const char* host : {"0.0.0.0", "::", "*", "192.0.2.1", "127.evil.example"}) {
    CHECK_FALSE(check_admin_conf(conf, host).ok());
  }
  conf.needs_login = true;
  CHECK_FALSE(check_admin_conf(conf, "0.0.0.0").ok());
  conf.tls.keystore.path = "/keys";
  CHECK(check_admin_conf(conf, "0.0.0.0").ok());
  conf.needs_login = false;
  CHECK_FALSE(check_admin_conf(conf, "0.0.0.0").ok());
  conf.tls.client_auth = net::TlsClientAuth::kRequired;
  CHECK_FALSE(check_admin_conf(conf, "0.0.0.0").ok());  // of which authority?
  conf.tls.truststore.path = "/authorities";
  CHECK(check_admin_conf(conf, "0.0.0.0").ok());
  AdminConf open;
  open.allows_anonymous = true;
  CHECK(check_admin_conf(open, "0.0.0.0").ok());
}

}  // namespace millstream::server
