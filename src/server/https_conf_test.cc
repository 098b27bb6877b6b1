#include "server/https_conf.h"

#include <doctest/doctest.h>

#include "format/yaml.h"
#include "server/https_port.h"

namespace millstream::server {
namespace {

HttpsConf https_conf_of(const std::string& text, base::Diagnostics& diagnostics) {
  auto root = format::parse_yaml(text, "server.conf.yaml");
  REQUIRE(root.ok());
  HttpsConf conf;
  apply_https_conf("server.conf.yaml", root.value(), conf, diagnostics);
  finish_https_conf("/work", conf);
  return conf;
}

TEST_CASE("https conf: the connector's keys, files below the work directory, passwords by name") {
  base::Diagnostics diagnostics;
  const HttpsConf conf = https_conf_of(R"(
ResourceManagers:
  HTTPSConnector:
    ListenerPort: 7999
    ListenerAddress: 127.0.0.1
    KeystoreFile: keys/server.p12
    KeystorePassword: serverKeys
    KeyPassword: literal
    KeystoreType: PKCS12
    KeyAlias: one
    TruststoreFile: /etc/trust.pem
    ReqClientAuth: true
    CRLFile: [a.crl, /b.crl]
    CipherSpec: [TLS_AES_128_GCM_SHA256, ECDHE-RSA-AES128-GCM-SHA256]
    SSLProtocol: TLS
  JVM:
    truststoreFile: jvm.pem
    truststorePass: keystore::serverKeys
    crlFileList: 'c.crl; d.crl'
Credentials:
  ServerCredentials:
    keystore:
      serverKeys: {password: secret}
    http:
      partner: {username: bob, password: pw}
      cloud: {accessToken: abc}
forceServerHTTPS: yes
)",
                                       diagnostics);
  for (const auto& d : diagnostics.all()) FAIL_CHECK(d.format());
  CHECK(conf.port == 7999);
  CHECK(conf.address == "127.0.0.1");
  CHECK(conf.tls.keystore.path == "/work/keys/server.p12");
  CHECK(conf.tls.keystore.password == "secret");
  CHECK(conf.tls.keystore.key_password == "literal");
  CHECK(conf.tls.choice.key_alias == "one");
  CHECK(conf.tls.truststore.path == "/etc/trust.pem");
  CHECK(conf.tls.client_auth == net::TlsClientAuth::kRequired);
  CHECK(conf.tls.crl_files == std::vector<std::string>{"/work/a.crl", "/b.crl"});
  CHECK(conf.tls.choice.ciphers == "TLS_AES_128_GCM_SHA256,ECDHE-RSA-AES128-GCM-SHA256");
  CHECK(conf.client.truststore.path == "/work/jvm.pem");
  CHECK(conf.client.truststore.password == "secret");
  CHECK(conf.client.crl_files == std::vector<std::string>{"/work/c.crl", "/work/d.crl"});
  CHECK(conf.forces_https);
  REQUIRE(conf.credentials.find("http", "partner"));
  CHECK(conf.credentials.find("http", "partner")->user == "bob");
  CHECK(conf.credentials.find_identity("rest", "http::cloud")->token == "abc");
  CHECK_FALSE(conf.credentials.find_identity("rest", "cloud"));
}

TEST_CASE("https conf: what the connector leaves out comes from the JVM resource manager") {
  base::Diagnostics diagnostics;
  const HttpsConf conf = https_conf_of(R"(
ResourceManagers:
  JVM: {keystoreFile: /k.p12, keystorePass: a, truststoreFile: /t.p12, truststorePass: b}
)",
                                       diagnostics);
  CHECK(conf.tls.keystore.path == "/k.p12");
  CHECK(conf.tls.truststore.password == "b");
  CHECK(conf.tls.client_auth == net::TlsClientAuth::kNone);
}

TEST_CASE("https conf: wrong values are named with their key") {
  struct Case {
    const char* text;
    const char* part;
  };
  for (const Case& c :
       {Case{"ListenerPort: many", "HTTPSConnector/ListenerPort"},
        Case{"ListenerPort: 65536", "HTTPSConnector/ListenerPort"},
        Case{"ReqClientAuth: maybe", "HTTPSConnector/ReqClientAuth"},
        Case{"KeystoreType: DER", "HTTPSConnector/KeystoreType"},
        Case{"KeystoreFile: [a]", "HTTPSConnector/KeystoreFile"},
        Case{"SSLProtocol: SSLv3", "SSLv3"}, Case{"CipherSpec: nonsense", "nonsense"}}) {
    CAPTURE(c.text);
    base::Diagnostics diagnostics;
    https_conf_of(std::string("ResourceManagers: {HTTPSConnector: {") + c.text + "}}", diagnostics);
    REQUIRE(diagnostics.all().size() == 1);
    CHECK(diagnostics.all()[0].format().find(c.part) != std::string::npos);
  }
}

}  // namespace
}  // namespace millstream::server
