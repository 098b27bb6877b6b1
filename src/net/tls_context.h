// The configuration of one side of TLS, ready for use: keys, trust, protocol versions, ciphers.
// TLS 1.2 and 1.3 only. Immutable and shared by connections and reactors; replaced whole when files
// change (net/tls_reload.h). Thread: any; create() reads files, so it blocks.
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "net/tls_keys.h"

struct ssl_ctx_st;

namespace millstream::net {

enum class TlsClientAuth : uint8_t { kNone, kOptional, kRequired };

// What both sides choose. `protocol` and `ciphers` as the product writes them: TLS, TLSv1.2,
// TLSv1.3, ...; names of OpenSSL or IANA (also Java's SSL_ ones) with ':' ';' ',' or blanks
// between.
struct TlsChoice {
  std::string protocol;
  std::string ciphers;
  std::string key_alias;
  bool operator==(const TlsChoice&) const = default;
};

struct TlsServerSettings {
  TlsFile keystore;
  TlsFile truststore;
  std::vector<std::string> crl_files;
  TlsClientAuth client_auth = TlsClientAuth::kNone;
  TlsChoice choice;
  bool offers_http2 = true;
  bool operator==(const TlsServerSettings&) const = default;
};

struct TlsClientSettings {
  TlsFile keystore;    // empty: no client certificate
  TlsFile truststore;  // empty: the certification authorities of the system
  std::vector<std::string> crl_files;
  TlsChoice choice;
  bool checks_host_name = true;
  bool checks_revocation = false;  // also without CRL files: then nothing passes
  // A certificate that has signed itself will do, unless something else is wrong with it.
  bool accepts_self_signed = false;
};

class TlsContext {
 public:
  static Result<std::shared_ptr<const TlsContext>> create_server(const TlsServerSettings& settings);
  static Result<std::shared_ptr<const TlsContext>> create_client(const TlsClientSettings& settings);
  ~TlsContext();
  TlsContext(const TlsContext&) = delete;
  TlsContext& operator=(const TlsContext&) = delete;

  ssl_ctx_st* get() const { return contexts_.front(); }
  uint64_t id() const { return id_; }  // of this context alone, in the life of the process
  bool checks_host_name() const { return checks_host_name_; }
  bool offers_http2() const { return offers_http2_; }
  // The context for the name that a client asks for: the certificate that is for it, else the
  // first one.
  ssl_ctx_st* for_host(const char* name) const;

 private:
  TlsContext();
  const uint64_t id_;
  std::vector<ssl_ctx_st*> contexts_;  // one a certificate; a client has one
  bool checks_host_name_ = false;
  bool offers_http2_ = false;
};

// What is wrong with a protocol or cipher list; for checks while loading.
Status check_tls_choice(const TlsChoice& choice);

}  // namespace millstream::net
