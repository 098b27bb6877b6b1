// Certificates made in the process, and files of them in a folder that goes with the test.
#pragma once
#include <openssl/pem.h>
#include <openssl/pkcs12.h>
#include <openssl/x509v3.h>
#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "net/tls_context.h"
#include "net/tls_engine.h"

namespace millstream::net::testing {

struct TestCertificate {
  std::shared_ptr<EVP_PKEY> key;
  std::shared_ptr<X509> x509;
};

struct CertificateWish {
  std::string common_name;
  std::vector<std::string> names;  // "DNS:example.org", "IP:127.0.0.1"
  bool is_authority = false;
  int64_t valid_from_s = -3600;  // from now
  int64_t valid_to_s = 3600;
};

inline void add_extension(X509* x509, X509* issuer, int kind, const char* value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer, x509, nullptr, nullptr, 0);
  X509_EXTENSION* e = X509V3_EXT_conf_nid(nullptr, &context, kind, value);
  X509_add_ext(x509, e, -1);
  X509_EXTENSION_free(e);
}

inline TestCertificate make_certificate(const CertificateWish& wish,
                                        const TestCertificate* issuer = nullptr) {
  static int64_t next_serial = 1;
  TestCertificate made;
  made.key.reset(EVP_EC_gen("P-256"), EVP_PKEY_free);
  made.x509.reset(X509_new(), X509_free);
  X509* x = made.x509.get();
  X509_set_version(x, 2);
  ASN1_INTEGER_set_int64(X509_get_serialNumber(x), next_serial++);
  X509_gmtime_adj(X509_getm_notBefore(x), wish.valid_from_s);
  X509_gmtime_adj(X509_getm_notAfter(x), wish.valid_to_s);
  X509_set_pubkey(x, made.key.get());
  X509_NAME_add_entry_by_txt(X509_get_subject_name(x), "CN", MBSTRING_UTF8,
                             reinterpret_cast<const unsigned char*>(wish.common_name.c_str()), -1,
                             -1, 0);
  X509* parent = issuer ? issuer->x509.get() : x;
  X509_set_issuer_name(x, X509_get_subject_name(parent));
  add_extension(x, parent, NID_basic_constraints,
                wish.is_authority ? "critical,CA:TRUE" : "CA:FALSE");
  if (wish.is_authority) add_extension(x, parent, NID_key_usage, "critical,keyCertSign,cRLSign");
  std::string names;
  for (const std::string& name : wish.names) names += (names.empty() ? "" : ",") + name;
  if (!names.empty()) add_extension(x, parent, NID_subject_alt_name, names.c_str());
  X509_sign(x, issuer ? issuer->key.get() : made.key.get(), EVP_sha256());
  return made;
}

inline std::string pem_of(const TestCertificate& c, bool with_key, const char* password = nullptr) {
  std::unique_ptr<BIO, decltype(&BIO_free)> bio(BIO_new(BIO_s_mem()), BIO_free);
  if (with_key) {
    PEM_write_bio_PKCS8PrivateKey(bio.get(), c.key.get(), password ? EVP_aes_128_cbc() : nullptr,
                                  password, password ? static_cast<int>(strlen(password)) : 0,
                                  nullptr, nullptr);
  }
  PEM_write_bio_X509(bio.get(), c.x509.get());
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &data);
  return {data, static_cast<size_t>(size)};
}

inline std::string pkcs12_of(const TestCertificate& c, const char* alias, const char* password) {
  std::unique_ptr<PKCS12, decltype(&PKCS12_free)> p12(
      PKCS12_create(password, alias, c.key.get(), c.x509.get(), nullptr, 0, 0, 0, 0, 0),
      PKCS12_free);
  unsigned char* bytes = nullptr;
  const int size = i2d_PKCS12(p12.get(), &bytes);
  std::string out(reinterpret_cast<char*>(bytes), static_cast<size_t>(size));
  OPENSSL_free(bytes);
  return out;
}

// A list of the authority that names the certificate.
inline std::string crl_of(const TestCertificate& authority, const TestCertificate* revoked) {
  std::unique_ptr<X509_CRL, decltype(&X509_CRL_free)> crl(X509_CRL_new(), X509_CRL_free);
  X509_CRL_set_version(crl.get(), 1);
  X509_CRL_set_issuer_name(crl.get(), X509_get_subject_name(authority.x509.get()));
  std::unique_ptr<ASN1_TIME, decltype(&ASN1_TIME_free)> time(ASN1_TIME_new(), ASN1_TIME_free);
  X509_gmtime_adj(time.get(), -60);
  X509_CRL_set1_lastUpdate(crl.get(), time.get());
  if (revoked) {
    X509_REVOKED* entry = X509_REVOKED_new();
    X509_REVOKED_set_serialNumber(entry, X509_get_serialNumber(revoked->x509.get()));
    X509_REVOKED_set_revocationDate(entry, time.get());
    X509_CRL_add0_revoked(crl.get(), entry);
  }
  X509_gmtime_adj(time.get(), 3600);
  X509_CRL_set1_nextUpdate(crl.get(), time.get());
  X509_CRL_sign(crl.get(), authority.key.get(), EVP_sha256());
  std::unique_ptr<BIO, decltype(&BIO_free)> bio(BIO_new(BIO_s_mem()), BIO_free);
  PEM_write_bio_X509_CRL(bio.get(), crl.get());
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &data);
  return {data, static_cast<size_t>(size)};
}

class CertificateFolder {
 public:
  CertificateFolder() {
    char name[] = "/tmp/ms_tls_XXXXXX";
    path_ = mkdtemp(name);
  }
  ~CertificateFolder() { std::filesystem::remove_all(path_); }
  std::string write(const std::string& name, const std::string& content) const {
    const std::string path = path_ + "/" + name;
    std::ofstream(path, std::ios::binary) << content;
    return path;
  }

 private:
  std::string path_;
};

// An authority and a server certificate for "localhost", as files.
struct TestPki {
  CertificateFolder folder;
  TestCertificate authority = make_certificate({"Test CA", {}, true});
  TestCertificate server =
      make_certificate({"localhost", {"DNS:localhost", "IP:127.0.0.1"}}, &authority);
  std::string authority_file = folder.write("ca.pem", pem_of(authority, false));
  std::string server_file = folder.write("server.pem", pem_of(server, true));

  TlsServerSettings server_settings() const {
    TlsServerSettings s;
    s.keystore.path = server_file;
    return s;
  }
  TlsClientSettings client_settings() const {
    TlsClientSettings s;
    s.truststore.path = authority_file;
    return s;
  }
};

// Two engines on one thread, with their outputs carried across.
struct TlsPair {
  std::unique_ptr<TlsEngine> server, client;
  TlsEngine::Outcome server_outcome{}, client_outcome{};

  TlsPair(std::shared_ptr<const TlsContext> for_server,
          std::shared_ptr<const TlsContext> for_client, const std::string& host = "localhost",
          ssl_session_st* session = nullptr)
      : server(TlsEngine::accept(std::move(for_server))),
        client(TlsEngine::connect(std::move(for_client), host, session)) {}
  static void carry(TlsEngine& from, TlsEngine& to) {
    std::string bytes(from.output());
    from.consume_output(bytes.size());
    to.feed(bytes);
    to.keep_input();
  }
  bool handshake() {
    for (int i = 0; i < 6; ++i) {
      client_outcome = client->handshake();
      carry(*client, *server);
      server_outcome = server->handshake();
      carry(*server, *client);
    }
    return client_outcome == TlsEngine::Outcome::kDone &&
           server_outcome == TlsEngine::Outcome::kDone;
  }
  // What the other side reads of what one writes.
  static std::string pass(TlsEngine& from, TlsEngine& to, std::string_view text) {
    from.write(text);
    std::string bytes(from.output()), out;
    from.consume_output(bytes.size());
    to.feed(bytes);
    char chunk[4096];
    size_t got = 0;
    while (to.read(chunk, sizeof chunk, &got) == TlsEngine::Outcome::kDone) out.append(chunk, got);
    to.keep_input();
    return out;
  }
};

}  // namespace millstream::net::testing
