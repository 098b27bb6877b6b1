// TLS between two engines in memory.
#include <doctest/doctest.h>

#include "net/errors_gen.h"
#include "net/tls_for_test.h"
#include "net/tls_reload.h"

namespace millstream::net {
namespace {

using testing::make_certificate;
using testing::TestPki;
using testing::TlsPair;

std::shared_ptr<const TlsContext> server_context(const TlsServerSettings& settings) {
  auto made = TlsContext::create_server(settings);
  if (!made.ok()) FAIL(made.error().describe());
  return std::move(made).take_value();
}
std::shared_ptr<const TlsContext> client_context(const TlsClientSettings& settings) {
  auto made = TlsContext::create_client(settings);
  if (!made.ok()) FAIL(made.error().describe());
  return std::move(made).take_value();
}

TEST_CASE("tls: both versions carry data both ways") {
  TestPki pki;
  for (const char* version : {"TLSv1.2", "TLSv1.3"}) {
    CAPTURE(version);
    TlsClientSettings client = pki.client_settings();
    client.choice.protocol = version;
    TlsPair pair(server_context(pki.server_settings()), client_context(client));
    REQUIRE(pair.handshake());
    CHECK(pair.server->version() == version);
    CHECK(pair.client->version() == version);
    const std::string large(100'000, 'x');
    CHECK(pair.server->protocol_chosen().empty());
    CHECK(TlsPair::pass(*pair.client, *pair.server, "hello") == "hello");
    CHECK((TlsPair::pass(*pair.server, *pair.client, large) == large));
    pair.client->close_notify();
    TlsPair::carry(*pair.client, *pair.server);
    char byte;
    size_t got = 0;
    CHECK(pair.server->read(&byte, 1, &got) == TlsEngine::Outcome::kClosed);
  }
}

std::string client_failure(const TestPki& pki, const TlsServerSettings& server,
                           const std::string& host = "localhost", TlsClientSettings client = {}) {
  if (client.truststore.path.empty()) client.truststore.path = pki.authority_file;
  TlsPair pair(server_context(server), client_context(client), host);
  if (pair.handshake()) return "";
  return pair.client->failure();
}

TEST_CASE("tls: certificates that are not good enough end the handshake with the reason") {
  TestPki pki;
  TlsServerSettings server = pki.server_settings();
  CHECK(client_failure(pki, server).empty());
  CHECK(client_failure(pki, server, "127.0.0.1").empty());
  CHECK(client_failure(pki, server, "other.example").find("ostname mismatch") != std::string::npos);
  CHECK(client_failure(pki, server, "127.0.0.2").find("IP address mismatch") != std::string::npos);
  TlsClientSettings careless;
  careless.checks_host_name = false;
  CHECK(client_failure(pki, server, "other.example", careless).empty());

  auto expired =
      make_certificate({"localhost", {"DNS:localhost"}, false, -7200, -3600}, &pki.authority);
  server.keystore.path = pki.folder.write("expired.pem", testing::pem_of(expired, true));
  CHECK(client_failure(pki, server).find("expired") != std::string::npos);

  auto stranger = make_certificate({"Other CA", {}, true});
  auto foreign = make_certificate({"localhost", {"DNS:localhost"}}, &stranger);
  server.keystore.path = pki.folder.write("foreign.pem", testing::pem_of(foreign, true));
  CHECK(client_failure(pki, server).find("unable to get local issuer") != std::string::npos);
  // The certificate itself may be what is trusted.
  TlsClientSettings pinned;
  pinned.truststore.path = server.keystore.path;
  CHECK(client_failure(pki, server, "localhost", pinned).empty());
}

TEST_CASE("tls: a certificate that signed itself will do when the client says so") {
  TestPki pki;
  TlsServerSettings server = pki.server_settings();
  auto serve = [&](const char* file, const testing::TestCertificate& certificate) {
    server.keystore.path = pki.folder.write(file, testing::pem_of(certificate, true));
  };
  TlsClientSettings lenient;
  lenient.accepts_self_signed = true;
  serve("own.pem", make_certificate({"localhost", {"DNS:localhost"}}));
  CHECK_FALSE(client_failure(pki, server).empty());
  CHECK(client_failure(pki, server, "localhost", lenient).empty());
  // Nothing else is let pass with it: another name, another date, another signer.
  CHECK(client_failure(pki, server, "other.example", lenient).find("ostname mismatch") !=
        std::string::npos);
  serve("old.pem", make_certificate({"localhost", {"DNS:localhost"}, false, -7200, -3600}));
  CHECK(client_failure(pki, server, "localhost", lenient).find("expired") != std::string::npos);
  auto stranger = make_certificate({"Other CA", {}, true});
  serve("foreign.pem", make_certificate({"localhost", {"DNS:localhost"}}, &stranger));
  CHECK_FALSE(client_failure(pki, server, "localhost", lenient).empty());
}

TEST_CASE("tls: revocation lists") {
  TestPki pki;
  auto other = make_certificate({"other", {}}, &pki.authority);
  TlsClientSettings client;
  client.crl_files = {pki.folder.write("all.crl", testing::crl_of(pki.authority, &other))};
  CHECK(client_failure(pki, pki.server_settings(), "localhost", client).empty());
  client.crl_files = {pki.folder.write("bad.crl", testing::crl_of(pki.authority, &pki.server))};
  CHECK(client_failure(pki, pki.server_settings(), "localhost", client).find("revoked") !=
        std::string::npos);
  client.crl_files = {};
  client.checks_revocation = true;
  CHECK(client_failure(pki, pki.server_settings(), "localhost", client).find("CRL") !=
        std::string::npos);
  client.crl_files = {pki.authority_file};
  client.truststore.path = pki.authority_file;
  auto made = TlsContext::create_client(client);
  REQUIRE_FALSE(made.ok());
  CHECK(made.error().code == &errors::kTlsStore);
}

TEST_CASE("tls: client certificates, optional and required") {
  TestPki pki;
  auto known = make_certificate({"client one", {}}, &pki.authority);
  const std::string known_file = pki.folder.write("client.pem", testing::pem_of(known, true));
  for (const char* version : {"TLSv1.2", "TLSv1.3"}) {
    for (TlsClientAuth auth : {TlsClientAuth::kOptional, TlsClientAuth::kRequired}) {
      for (bool has_key : {false, true}) {
        CAPTURE(version);
        CAPTURE(has_key);
        TlsServerSettings server = pki.server_settings();
        server.truststore.path = pki.authority_file;
        server.client_auth = auth;
        TlsClientSettings client = pki.client_settings();
        client.choice.protocol = version;
        if (has_key) client.keystore.path = known_file;
        TlsPair pair(server_context(server), client_context(client));
        const bool is_good = auth == TlsClientAuth::kOptional || has_key;
        CHECK(pair.handshake() == is_good);
        if (!is_good) continue;
        const TlsPeer& peer = pair.server->peer();
        CHECK(peer.has_certificate == has_key);
        CHECK(peer.subject == (has_key ? "CN=client one" : ""));
        if (has_key) CHECK(peer.issuer == "CN=Test CA");
      }
    }
  }
  TlsServerSettings trustless = pki.server_settings();
  trustless.client_auth = TlsClientAuth::kRequired;
  CHECK(TlsContext::create_server(trustless).error().code == &errors::kTlsNoTrust);
}

TEST_CASE("tls: the certificate for the name that the client asks for") {
  TestPki pki;
  auto second =
      make_certificate({"two", {"DNS:two.example", "DNS:*.many.example"}}, &pki.authority);
  TlsServerSettings server = pki.server_settings();
  server.keystore.path = pki.folder.write(
      "both.pem", testing::pem_of(pki.server, true) + testing::pem_of(second, true));
  for (const char* host : {"localhost", "two.example", "a.many.example"}) {
    CAPTURE(host);
    CHECK(client_failure(pki, server, host).empty());
  }
  CHECK_FALSE(client_failure(pki, server, "three.example").empty());
  // The alias chooses what is shown to those who ask for nothing known.
  server.choice.key_alias = "two";
  TlsClientSettings client = pki.client_settings();
  client.checks_host_name = false;
  TlsPair pair(server_context(server), client_context(client), "unknown.example");
  REQUIRE(pair.handshake());
  CHECK(pair.client->peer().subject == "CN=two");
  server.choice.key_alias = "three";
  auto made = TlsContext::create_server(server);
  REQUIRE_FALSE(made.ok());
  CHECK(made.error().text.find("no key with the alias 'three', only localhost, two") !=
        std::string::npos);
}

TEST_CASE("tls: protocols and ciphers as the product writes them") {
  TestPki pki;
  TlsServerSettings server = pki.server_settings();
  server.choice.ciphers = "SSL_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256;TLS_AES_128_GCM_SHA256";
  TlsPair pair(server_context(server), client_context(pki.client_settings()));
  REQUIRE(pair.handshake());
  CHECK(pair.client->cipher() == "TLS_AES_128_GCM_SHA256");
  server.choice.ciphers = "ECDHE-ECDSA-AES256-GCM-SHA384";
  TlsPair older(server_context(server), client_context(pki.client_settings()));
  REQUIRE(older.handshake());
  CHECK(older.client->version() == "TLSv1.2");
  CHECK(older.client->cipher() == "ECDHE-ECDSA-AES256-GCM-SHA384");
  CHECK(check_tls_choice({"TLS", "", ""}).ok());
  for (const char* old : {"SSL", "SSLv3", "TLSv1", "TLSv1.1", "nonsense"}) {
    CAPTURE(old);
    Status status = check_tls_choice({old, "", ""});
    REQUIRE_FALSE(status.ok());
    CHECK(status.error().code == &errors::kTlsProtocol);
  }
  for (const char* bad : {"TLS_NO_SUCH", "no-such-cipher", "TLS_AES_9"}) {
    CAPTURE(bad);
    Status status = check_tls_choice({"TLS", bad, ""});
    REQUIRE_FALSE(status.ok());
    CHECK(status.error().code == &errors::kTlsCipher);
  }
  CHECK_FALSE(check_tls_choice({"TLSv1.2", "TLS_AES_128_GCM_SHA256", ""}).ok());
}

TEST_CASE("tls: PKCS#12 stores with passwords and aliases; JKS is refused with the way out") {
  TestPki pki;
  TlsServerSettings server = pki.server_settings();
  server.keystore.path = pki.folder.write("s.p12", testing::pkcs12_of(pki.server, "key1", "pw"));
  server.keystore.password = "pw";
  server.choice.key_alias = "KEY1";
  CHECK(client_failure(pki, server).empty());
  server.choice.key_alias = "key2";
  CHECK_FALSE(TlsContext::create_server(server).ok());
  server.choice.key_alias = "";
  server.keystore.password = "wrong";
  auto made = TlsContext::create_server(server);
  REQUIRE_FALSE(made.ok());
  CHECK(made.error().text.find("the password is wrong") != std::string::npos);
  server.keystore.password = "";
  made = TlsContext::create_server(server);
  REQUIRE_FALSE(made.ok());
  CHECK(made.error().text.find("it needs a password") != std::string::npos);

  server.keystore = {pki.folder.write("e.pem", testing::pem_of(pki.server, true, "secret")),
                     "secret", ""};
  CHECK(client_failure(pki, server).empty());
  server.keystore.password = "wrong";
  CHECK_FALSE(TlsContext::create_server(server).ok());

  server.keystore.path = pki.folder.write("old.jks", std::string("\xFE\xED\xFE\xED\0\0\0\2", 8));
  made = TlsContext::create_server(server);
  REQUIRE_FALSE(made.ok());
  CHECK(made.error().code == &errors::kTlsJavaStore);
  CHECK(made.error().text.find("keytool -importkeystore -srckeystore " + server.keystore.path) !=
        std::string::npos);
  CHECK(made.error().text.find("old.p12 -deststoretype PKCS12") != std::string::npos);
}

TEST_CASE("tls: stores that hold nothing of use") {
  TestPki pki;
  for (const std::string& content :
       {std::string(), std::string("no store"), std::string(5000, '\x30'),
        std::string("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"),
        testing::pem_of(pki.authority, false)}) {
    TlsServerSettings server = pki.server_settings();
    server.keystore.path = pki.folder.write("bad", content);
    auto made = TlsContext::create_server(server);
    REQUIRE_FALSE(made.ok());
    CHECK(made.error().code == &errors::kTlsStore);
  }
  TlsServerSettings server = pki.server_settings();
  server.keystore.path += ".missing";
  CHECK_FALSE(TlsContext::create_server(server).ok());
}

TEST_CASE("tls: sessions are resumed, also with client certificates") {
  TestPki pki;
  for (const char* version : {"TLSv1.2", "TLSv1.3"}) {
    CAPTURE(version);
    TlsServerSettings server = pki.server_settings();
    server.truststore.path = pki.authority_file;
    server.client_auth = TlsClientAuth::kRequired;
    TlsClientSettings client = pki.client_settings();
    client.choice.protocol = version;
    client.keystore.path = pki.server_file;
    auto for_server = server_context(server);
    auto for_client = client_context(client);
    TlsPair first(for_server, for_client);
    REQUIRE(first.handshake());
    CHECK_FALSE(first.server->is_resumed());
    CHECK(TlsPair::pass(*first.server, *first.client, "x") == "x");
    TlsSession session = first.client->take_session();
    REQUIRE(session);
    TlsPair second(for_server, for_client, "localhost", session.get());
    REQUIRE(second.handshake());
    CHECK(second.server->is_resumed());
    CHECK(second.server->peer().subject == "CN=localhost");
  }
}

TEST_CASE("tls: bytes that are no TLS end the connection, in any pieces") {
  TestPki pki;
  auto context = server_context(pki.server_settings());
  for (const std::string& bytes :
       {std::string("GET / HTTP/1.1\r\n\r\n"), std::string(100'000, '\0'),
        std::string("\x16\x03\x01\xff\xff", 5) + std::string(70'000, 'x')}) {
    auto engine = TlsEngine::accept(context);
    TlsEngine::Outcome outcome = TlsEngine::Outcome::kWantInput;
    for (size_t at = 0; at < bytes.size() && outcome == TlsEngine::Outcome::kWantInput;
         at += 1000) {
      engine->feed(std::string_view(bytes).substr(at, 1000));
      outcome = engine->handshake();
      engine->keep_input();
    }
    CHECK(outcome == TlsEngine::Outcome::kFailed);
    CHECK_FALSE(engine->failure().empty());
    char byte;
    size_t got = 0;
    CHECK(engine->read(&byte, 1, &got) == TlsEngine::Outcome::kFailed);
  }
}

TEST_CASE("tls: files that change make a new context, bad ones keep the old") {
  TestPki pki;
  auto tls = TlsServer::create(pki.server_settings()).take_value();
  // A time before the first look at the files: the test alone reads them anew.
  constexpr int64_t kNow = -1;
  auto first = tls->current(kNow);
  CHECK_FALSE(tls->reload());
  pki.folder.write("server.pem", "broken");
  CHECK_FALSE(tls->reload());
  CHECK(tls->current(kNow) == first);
  auto renewed = make_certificate({"renewed", {"DNS:localhost"}}, &pki.authority);
  pki.folder.write("server.pem", testing::pem_of(renewed, true));
  CHECK(tls->reload());
  TlsPair pair(tls->current(kNow), client_context(pki.client_settings()));
  REQUIRE(pair.handshake());
  CHECK(pair.client->peer().subject == "CN=renewed");

  // Other settings, too, unless they cannot be used.
  TlsServerSettings other = pki.server_settings();
  other.keystore.path = "missing.pem";
  auto before = tls->current(kNow);
  CHECK_FALSE(tls->configure(other).ok());
  CHECK(tls->current(kNow) == before);
  auto moved = make_certificate({"moved", {"DNS:localhost"}}, &pki.authority);
  other.keystore.path = pki.folder.write("moved.pem", testing::pem_of(moved, true));
  REQUIRE(tls->configure(other).ok());
  TlsPair next(tls->current(kNow), client_context(pki.client_settings()));
  REQUIRE(next.handshake());
  CHECK(next.client->peer().subject == "CN=moved");
}

}  // namespace
}  // namespace millstream::net
