#include "net/tls_context.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <strings.h>

#include <algorithm>
#include <atomic>
#include <cstring>

#include "net/errors_gen.h"
#include "net/tls_engine.h"

namespace millstream::net {

namespace {

struct TlsVersions {
  int first = TLS1_2_VERSION;
  int last = TLS1_3_VERSION;
};

bool is_word(std::string_view text, std::string_view word) {
  return text.size() == word.size() && strncasecmp(text.data(), word.data(), word.size()) == 0;
}

Result<TlsVersions> versions_of(const std::string& protocol) {
  for (const char* any :
       {"", "TLS", "SSL_TLS", "SSL_TLSv2", "TLSv1.2+", "TLSv1.2,TLSv1.3", "TLSv1.3,TLSv1.2"}) {
    if (is_word(protocol, any)) return TlsVersions{};
  }
  if (is_word(protocol, "TLSv1.2")) return TlsVersions{TLS1_2_VERSION, TLS1_2_VERSION};
  if (is_word(protocol, "TLSv1.3")) return TlsVersions{TLS1_3_VERSION, TLS1_3_VERSION};
  return base::make_error(errors::kTlsProtocol, {protocol});
}

struct TlsCipherLists {
  std::string tls12;  // empty: none named
  std::string tls13;
};

Result<TlsCipherLists> cipher_lists(const std::string& text) {
  TlsCipherLists out;
  size_t at = 0;
  while (at < text.size()) {
    size_t end = std::min(text.find_first_of(":;, \t", at), text.size());
    std::string name = text.substr(at, end - at);
    at = end + 1;
    if (name.empty()) continue;
    if (name.compare(0, 4, "SSL_") == 0) name.replace(0, 4, "TLS_");  // IBM's JDK
    std::string* list = &out.tls12;
    if (name.compare(0, 8, "TLS_AES_") == 0 || name.compare(0, 11, "TLS_CHACHA2") == 0) {
      list = &out.tls13;
    } else if (name.compare(0, 4, "TLS_") == 0) {
      const char* known = OPENSSL_cipher_name(name.c_str());
      if (!known || std::strcmp(known, "(NONE)") == 0) {
        return base::make_error(errors::kTlsCipher, {name});
      }
      name = known;
    }
    *list += (list->empty() ? "" : ":") + name;
  }
  return out;
}

Status set_choice(SSL_CTX* context, const TlsChoice& choice) {
  TlsVersions versions = MS_TRY(versions_of(choice.protocol));
  const TlsCipherLists lists = MS_TRY(cipher_lists(choice.ciphers));
  // A list that has ciphers of one version only means that version only.
  if (lists.tls12.empty() && !lists.tls13.empty()) versions.first = TLS1_3_VERSION;
  if (!lists.tls12.empty() && lists.tls13.empty()) versions.last = TLS1_2_VERSION;
  if (versions.first > versions.last) {
    return base::make_error(errors::kTlsCipher, {choice.ciphers});
  }
  if (!lists.tls12.empty() && SSL_CTX_set_cipher_list(context, lists.tls12.c_str()) != 1) {
    ERR_clear_error();
    return base::make_error(errors::kTlsCipher, {choice.ciphers});
  }
  if (!lists.tls13.empty() && SSL_CTX_set_ciphersuites(context, lists.tls13.c_str()) != 1) {
    ERR_clear_error();
    return base::make_error(errors::kTlsCipher, {choice.ciphers});
  }
  SSL_CTX_set_min_proto_version(context, versions.first);
  SSL_CTX_set_max_proto_version(context, versions.last);
  return {};
}

SSL_CTX* new_context(const SSL_METHOD* method) {
  SSL_CTX* context = SSL_CTX_new(method);
  if (!context) return nullptr;
  SSL_CTX_set_options(context, SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION |
                                   SSL_OP_CIPHER_SERVER_PREFERENCE | SSL_OP_IGNORE_UNEXPECTED_EOF);
  SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE |
                                SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_NO_AUTO_CHAIN);
  SSL_CTX_set_read_ahead(context, 1);
  return context;
}

Status use_key(SSL_CTX* context, const TlsFile& file, const TlsKeyEntry& entry) {
  bool is_good = SSL_CTX_use_certificate(context, entry.chain.front().get()) == 1 &&
                 SSL_CTX_use_PrivateKey(context, entry.key.get()) == 1;
  for (size_t i = 1; is_good && i < entry.chain.size(); ++i) {
    is_good = SSL_CTX_add1_chain_cert(context, entry.chain[i].get()) == 1;
  }
  if (is_good) return {};
  return base::make_error(errors::kTlsStore, {file.path, take_openssl_error()});
}

Status use_trust(SSL_CTX* context, const TlsStore* trust, bool names_authorities) {
  if (!trust) {
    if (SSL_CTX_set_default_verify_paths(context) == 1) return {};
    return base::make_error(errors::kTlsStore, {"system certificates", take_openssl_error()});
  }
  X509_STORE* store = SSL_CTX_get_cert_store(context);
  for (const TlsCertificate& c : trust->certificates) {
    X509_STORE_add_cert(store, c.get());
    if (names_authorities) SSL_CTX_add_client_CA(context, c.get());
  }
  // A certificate in the trust store is trusted as it is, also when its issuer is not there.
  X509_STORE_set_flags(store, X509_V_FLAG_PARTIAL_CHAIN);
  ERR_clear_error();
  return {};
}

Status use_crls(SSL_CTX* context, const std::vector<std::string>& files, bool checks_always) {
  X509_STORE* store = SSL_CTX_get_cert_store(context);
  for (const std::string& path : files) {
    const TlsStore found = MS_TRY(read_tls_store({path, {}, {}}));
    if (found.crls.empty()) {
      return base::make_error(errors::kTlsStore, {path, "it has no certificate revocation list"});
    }
    for (const TlsCrl& crl : found.crls) X509_STORE_add_crl(store, crl.get());
  }
  if (!files.empty() || checks_always) X509_STORE_set_flags(store, X509_V_FLAG_CRL_CHECK);
  ERR_clear_error();
  return {};
}

int choose_protocol(SSL*, const unsigned char** out, unsigned char* out_size,
                    const unsigned char* in, unsigned in_size, void* user) {
  const auto& context = *static_cast<const TlsContext*>(user);
  static const unsigned char kBoth[] = "\x02h2\x08http/1.1";
  static const unsigned char kHttp1[] = "\x08http/1.1";
  const unsigned char* own = context.offers_http2() ? kBoth : kHttp1;
  const unsigned own_size = context.offers_http2() ? 12 : 9;
  unsigned char* chosen = nullptr;
  if (SSL_select_next_proto(&chosen, out_size, own, own_size, in, in_size) !=
      OPENSSL_NPN_NEGOTIATED) {
    return SSL_TLSEXT_ERR_NOACK;
  }
  *out = chosen;
  return SSL_TLSEXT_ERR_OK;
}

int choose_certificate(SSL* ssl, int*, void* user) {
  const auto& context = *static_cast<const TlsContext*>(user);
  const char* name = SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name);
  if (name) SSL_set_SSL_CTX(ssl, context.for_host(name));
  return SSL_TLSEXT_ERR_OK;
}

void set_client_auth(SSL_CTX* context, TlsClientAuth auth) {
  int mode = SSL_VERIFY_NONE;
  if (auth != TlsClientAuth::kNone) mode = SSL_VERIFY_PEER;
  if (auth == TlsClientAuth::kRequired) mode |= SSL_VERIFY_FAIL_IF_NO_PEER_CERT;
  SSL_CTX_set_verify(context, mode, nullptr);
}

// Dates, host name and revocation have errors of their own, which stand.
int accept_self_signed(int is_good, X509_STORE_CTX* context) {
  if (is_good == 1) return 1;
  if (X509_STORE_CTX_get_error(context) != X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT) return 0;
  X509_STORE_CTX_set_error(context, X509_V_OK);
  return 1;
}

}  // namespace

TlsContext::TlsContext()
    : id_([] {
        static std::atomic<uint64_t> next{1};
        return next.fetch_add(1, std::memory_order_relaxed);
      }()) {}

TlsContext::~TlsContext() {
  for (ssl_ctx_st* context : contexts_) SSL_CTX_free(context);
}

ssl_ctx_st* TlsContext::for_host(const char* name) const {
  for (ssl_ctx_st* context : contexts_) {
    X509* certificate = SSL_CTX_get0_certificate(context);
    if (X509_check_host(certificate, name, 0, 0, nullptr) == 1) return context;
  }
  return contexts_.front();
}

Result<std::shared_ptr<const TlsContext>> TlsContext::create_server(
    const TlsServerSettings& settings) {
  std::shared_ptr<TlsContext> made(new TlsContext);
  made->offers_http2_ = settings.offers_http2;
  const TlsStore keys = MS_TRY(read_tls_store(settings.keystore));
  const TlsKeyEntry* first =
      MS_TRY(find_tls_key(keys, settings.keystore.path, settings.choice.key_alias));
  TlsStore trust;
  const bool asks_client = settings.client_auth != TlsClientAuth::kNone;
  if (asks_client && settings.truststore.path.empty()) {
    return base::make_error(errors::kTlsNoTrust);
  }
  if (asks_client) trust = MS_TRY(read_tls_store(settings.truststore));
  std::vector<const TlsKeyEntry*> entries{first};
  for (const TlsKeyEntry& e : keys.keys) {
    if (&e != first) entries.push_back(&e);
  }
  for (const TlsKeyEntry* entry : entries) {
    SSL_CTX* context = new_context(TLS_server_method());
    if (!context) return base::make_error(errors::kTlsStore, {"OpenSSL", take_openssl_error()});
    made->contexts_.push_back(context);
    MS_TRY(set_choice(context, settings.choice));
    MS_TRY(use_key(context, settings.keystore, *entry));
    SSL_CTX_set_session_id_context(context, reinterpret_cast<const unsigned char*>("millstream"),
                                   10);
    // Sessions are resumed by tickets alone: nothing is kept here.
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_alpn_select_cb(context, choose_protocol, made.get());
    SSL_CTX_set_tlsext_servername_callback(context, choose_certificate);
    SSL_CTX_set_tlsext_servername_arg(context, made.get());
    set_client_auth(context, settings.client_auth);
    if (asks_client) {
      MS_TRY(use_trust(context, &trust, /*names_authorities=*/true));
      MS_TRY(use_crls(context, settings.crl_files, false));
    }
  }
  return std::shared_ptr<const TlsContext>(std::move(made));
}

Result<std::shared_ptr<const TlsContext>> TlsContext::create_client(
    const TlsClientSettings& settings) {
  std::shared_ptr<TlsContext> made(new TlsContext);
  made->checks_host_name_ = settings.checks_host_name;
  SSL_CTX* context = new_context(TLS_client_method());
  if (!context) return base::make_error(errors::kTlsStore, {"OpenSSL", take_openssl_error()});
  made->contexts_.push_back(context);
  MS_TRY(set_choice(context, settings.choice));
  if (!settings.keystore.path.empty()) {
    const TlsStore keys = MS_TRY(read_tls_store(settings.keystore));
    const TlsKeyEntry* entry =
        MS_TRY(find_tls_key(keys, settings.keystore.path, settings.choice.key_alias));
    MS_TRY(use_key(context, settings.keystore, *entry));
  } else if (!settings.choice.key_alias.empty()) {
    return base::make_error(errors::kTlsNoKeystore, {settings.choice.key_alias});
  }
  TlsStore trust;
  const bool has_trust = !settings.truststore.path.empty();
  if (has_trust) trust = MS_TRY(read_tls_store(settings.truststore));
  MS_TRY(use_trust(context, has_trust ? &trust : nullptr, false));
  MS_TRY(use_crls(context, settings.crl_files, settings.checks_revocation));
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER,
                     settings.accepts_self_signed ? accept_self_signed : nullptr);
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL_STORE);
  SSL_CTX_sess_set_new_cb(context, TlsEngine::keep_session);
  return std::shared_ptr<const TlsContext>(std::move(made));
}

Status check_tls_choice(const TlsChoice& choice) {
  std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context(new_context(TLS_client_method()),
                                                            SSL_CTX_free);
  return set_choice(context.get(), choice);
}

}  // namespace millstream::net
