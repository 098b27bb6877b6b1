// What is read from key and trust stores: PEM files and PKCS#12 files, told apart by their bytes,
// whatever their name or declared type. JKS files are refused with the command that converts them.
// Ownership: entries own OpenSSL objects. Blocking (files); not for a reactor thread. Thread: any.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

struct evp_pkey_st;
struct x509_st;
struct X509_crl_st;

namespace millstream::net {

// A file of keys or certificates, or a folder of PEM files with certificates and revocation lists;
// an empty path means none.
struct TlsFile {
  std::string path;
  std::string password;
  std::string key_password;   // of the key inside, when it is another one
  std::string key_path = {};  // PEM: the file of the key, when it is another one
  bool operator==(const TlsFile&) const = default;
};

inline constexpr uint64_t kTlsFileBytesMax = 16 << 20;
inline constexpr size_t kTlsStoreEntriesMax = 10'000;

struct TlsFree {
  void operator()(evp_pkey_st* key) const;
  void operator()(x509_st* certificate) const;
  void operator()(X509_crl_st* crl) const;
};
using TlsKey = std::unique_ptr<evp_pkey_st, TlsFree>;
using TlsCertificate = std::unique_ptr<x509_st, TlsFree>;
using TlsCrl = std::unique_ptr<X509_crl_st, TlsFree>;

// A private key with its certificate and those of its issuers that the store has, in order.
struct TlsKeyEntry {
  std::string alias;  // friendly name; the certificate's common name in PEM files
  TlsKey key;
  std::vector<TlsCertificate> chain;
};

struct TlsStore {
  bool has_aliases = false;  // PKCS#12; a PEM file has none
  std::vector<TlsKeyEntry> keys;
  std::vector<TlsCertificate> certificates;  // all of them, those of the keys too
  std::vector<TlsCrl> crls;
};

Result<TlsStore> read_tls_store(const TlsFile& file);

// The entry with this alias (no regard to case, as in Java), the first for an empty one. A PEM file
// with one key has no names to choose by: the alias does not matter then.
Result<const TlsKeyEntry*> find_tls_key(const TlsStore& store, const std::string& path,
                                        std::string_view alias);

// The newest error of OpenSSL in words; empties its queue.
std::string take_openssl_error();

}  // namespace millstream::net
