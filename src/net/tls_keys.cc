#include "net/tls_keys.h"

#include <dirent.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/pkcs12.h>
#include <openssl/provider.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <strings.h>
#include <sys/stat.h>

#include <cstring>
#include <mutex>

#include "net/errors_gen.h"

namespace millstream::net {

void TlsFree::operator()(evp_pkey_st* key) const { EVP_PKEY_free(key); }
void TlsFree::operator()(x509_st* certificate) const { X509_free(certificate); }
void TlsFree::operator()(X509_crl_st* crl) const { X509_CRL_free(crl); }

std::string take_openssl_error() {
  const unsigned long code = ERR_peek_last_error();
  const char* reason = code ? ERR_reason_error_string(code) : nullptr;
  std::string text = reason ? reason : "unknown error";
  ERR_clear_error();
  return text;
}

namespace {

Status store_failure(const std::string& path, std::string why) {
  ERR_clear_error();
  return base::make_error(errors::kTlsStore, {path, std::move(why)});
}

// net stands beside io, so it reads its own files.
Result<std::string> read_tls_file(const std::string& path) {
  FILE* stream = fopen(path.c_str(), "rbe");
  if (!stream) return store_failure(path, strerror(errno));
  std::string out;
  char chunk[16 * 1024];
  size_t n;
  while ((n = fread(chunk, 1, sizeof chunk, stream)) > 0 && out.size() <= kTlsFileBytesMax) {
    out.append(chunk, n);
  }
  const bool is_bad = ferror(stream) != 0;
  fclose(stream);
  if (is_bad) return store_failure(path, "it cannot be read");
  if (out.size() > kTlsFileBytesMax) return store_failure(path, "it is larger than 16 MiB");
  return out;
}

bool begins_with(const std::string& text, std::string_view bytes) {
  return text.compare(0, bytes.size(), bytes) == 0;
}

std::string common_name(X509* certificate) {
  char name[256] = {};
  X509_NAME_get_text_by_NID(X509_get_subject_name(certificate), NID_commonName, name, sizeof name);
  ERR_clear_error();
  return name;
}

TlsCertificate share(X509* certificate) {
  X509_up_ref(certificate);
  return TlsCertificate(certificate);
}

// The key's certificate first, then issuer after issuer as far as the store has them.
void build_chain(const TlsStore& store, TlsKeyEntry& entry, X509* leaf) {
  constexpr size_t kChainMax = 10;
  entry.chain.push_back(share(leaf));
  for (X509* at = leaf; entry.chain.size() < kChainMax;) {
    if (X509_check_issued(at, at) == X509_V_OK) break;  // self-signed: the end
    X509* issuer = nullptr;
    for (const TlsCertificate& c : store.certificates) {
      if (c.get() != at && X509_check_issued(c.get(), at) == X509_V_OK) issuer = c.get();
    }
    if (!issuer) break;
    entry.chain.push_back(share(issuer));
    at = issuer;
  }
}

Status attach_chain(const std::string& path, TlsStore& store, TlsKeyEntry entry) {
  for (const TlsCertificate& c : store.certificates) {
    if (X509_check_private_key(c.get(), entry.key.get()) != 1) continue;
    ERR_clear_error();
    if (entry.alias.empty()) entry.alias = common_name(c.get());
    build_chain(store, entry, c.get());
    store.keys.push_back(std::move(entry));
    return {};
  }
  return store_failure(path, "it has a private key without the certificate of that key");
}

// Called by OpenSSL for an encrypted PEM key.
int give_password(char* buffer, int size, int, void* user) {
  const auto& password = *static_cast<const std::string*>(user);
  if (password.empty() || password.size() > static_cast<size_t>(size)) return -1;
  std::memcpy(buffer, password.data(), password.size());
  return static_cast<int>(password.size());
}

// One block of a PEM file, as PEM_read_bio has it.
struct PemBlock {
  char* name = nullptr;
  char* header = nullptr;
  unsigned char* data = nullptr;
  long size = 0;
  ~PemBlock() {
    OPENSSL_free(name);
    OPENSSL_free(header);
    OPENSSL_free(data);
  }
  bool is(std::string_view wanted) const { return wanted == name; }
};

EVP_PKEY* pem_key(PemBlock& block, std::string& password) {
  if (block.is("ENCRYPTED PRIVATE KEY")) {
    const unsigned char* at = block.data;
    std::unique_ptr<X509_SIG, decltype(&X509_SIG_free)> packed(
        d2i_X509_SIG(nullptr, &at, block.size), X509_SIG_free);
    if (!packed) return nullptr;
    std::unique_ptr<PKCS8_PRIV_KEY_INFO, decltype(&PKCS8_PRIV_KEY_INFO_free)> key(
        PKCS8_decrypt(packed.get(), password.data(), static_cast<int>(password.size())),
        PKCS8_PRIV_KEY_INFO_free);
    return key ? EVP_PKCS82PKEY(key.get()) : nullptr;
  }
  // RFC 1421 encryption, of older tools, is announced in the header.
  EVP_CIPHER_INFO cipher;
  if (PEM_get_EVP_CIPHER_INFO(block.header, &cipher) != 1 ||
      PEM_do_header(&cipher, block.data, &block.size, give_password, &password) != 1) {
    return nullptr;
  }
  const unsigned char* at = block.data;
  return d2i_AutoPrivateKey(nullptr, &at, block.size);
}

Result<TlsStore> read_pem(const TlsFile& file, const std::string& text) {
  TlsStore store;
  std::string password = file.key_password.empty() ? file.password : file.key_password;
  std::vector<TlsKeyEntry> keys;
  std::unique_ptr<BIO, decltype(&BIO_free)> bio(
      BIO_new_mem_buf(text.data(), static_cast<int>(text.size())), BIO_free);
  for (size_t count = 0;; ++count) {
    if (count > kTlsStoreEntriesMax) {
      return store_failure(file.path, "it has more than 10000 entries");
    }
    PemBlock block;
    if (PEM_read_bio(bio.get(), &block.name, &block.header, &block.data, &block.size) != 1) break;
    const unsigned char* at = block.data;
    const std::string_view name = block.name;
    if (block.is(PEM_STRING_X509) || block.is(PEM_STRING_X509_OLD) ||
        block.is(PEM_STRING_X509_TRUSTED)) {
      X509* certificate = block.is(PEM_STRING_X509_TRUSTED) ? d2i_X509_AUX(nullptr, &at, block.size)
                                                            : d2i_X509(nullptr, &at, block.size);
      if (!certificate) return store_failure(file.path, "a certificate in it is damaged");
      store.certificates.emplace_back(certificate);
    } else if (block.is(PEM_STRING_X509_CRL)) {
      X509_CRL* crl = d2i_X509_CRL(nullptr, &at, block.size);
      if (!crl) return store_failure(file.path, "a revocation list in it is damaged");
      store.crls.emplace_back(crl);
    } else if (name.size() >= 11 && name.substr(name.size() - 11) == "PRIVATE KEY") {
      EVP_PKEY* key = pem_key(block, password);
      if (!key) {
        return store_failure(file.path, password.empty()
                                            ? "the private key cannot be read without a password"
                                            : "the private key cannot be read with this password");
      }
      keys.push_back({{}, TlsKey(key), {}});
    }
  }
  const unsigned long last = ERR_peek_last_error();
  if (last != 0 && ERR_GET_REASON(last) != PEM_R_NO_START_LINE) {
    return store_failure(file.path, take_openssl_error());
  }
  ERR_clear_error();
  for (TlsKeyEntry& entry : keys) MS_TRY(attach_chain(file.path, store, std::move(entry)));
  if (store.certificates.empty() && store.crls.empty()) {
    return store_failure(file.path, "it holds no certificate");
  }
  return store;
}

std::string bag_name(const PKCS12_SAFEBAG* bag) {
  std::unique_ptr<char, void (*)(char*)> name(
      PKCS12_get_friendlyname(const_cast<PKCS12_SAFEBAG*>(bag)), [](char* p) { OPENSSL_free(p); });
  return name ? name.get() : "";
}

struct BagReader {
  const TlsFile& file;
  const std::string& password;
  TlsStore& store;
  std::vector<TlsKeyEntry> keys;
  static constexpr int kDepthMax = 4;

  bool read(const STACK_OF(PKCS12_SAFEBAG) * bags, int depth) {
    for (int i = 0; i < sk_PKCS12_SAFEBAG_num(bags); ++i) {
      if (store.certificates.size() + keys.size() > kTlsStoreEntriesMax) return false;
      const PKCS12_SAFEBAG* bag = sk_PKCS12_SAFEBAG_value(bags, i);
      switch (PKCS12_SAFEBAG_get_nid(bag)) {
        case NID_keyBag:
          add_key(EVP_PKCS82PKEY(PKCS12_SAFEBAG_get0_p8inf(bag)), bag);
          break;
        case NID_pkcs8ShroudedKeyBag: {
          const std::string& p = file.key_password.empty() ? password : file.key_password;
          PKCS8_PRIV_KEY_INFO* key = PKCS12_decrypt_skey(bag, p.data(), static_cast<int>(p.size()));
          if (!key) return false;
          add_key(EVP_PKCS82PKEY(key), bag);
          PKCS8_PRIV_KEY_INFO_free(key);
          break;
        }
        case NID_certBag:
          if (X509* certificate = PKCS12_SAFEBAG_get1_cert(bag)) {
            store.certificates.emplace_back(certificate);
          }
          break;
        case NID_safeContentsBag:
          if (depth >= kDepthMax || !read(PKCS12_SAFEBAG_get0_safes(bag), depth + 1)) return false;
          break;
        default:
          break;
      }
    }
    return true;
  }
  void add_key(EVP_PKEY* key, const PKCS12_SAFEBAG* bag) {
    if (key) keys.push_back({bag_name(bag), TlsKey(key), {}});
  }
};

bool read_safes(PKCS12* p12, BagReader& reader) {
  std::unique_ptr<STACK_OF(PKCS7), void (*)(STACK_OF(PKCS7)*)> safes(
      PKCS12_unpack_authsafes(p12),
      [](STACK_OF(PKCS7) * all) { sk_PKCS7_pop_free(all, PKCS7_free); });
  if (!safes) return false;
  for (int i = 0; i < sk_PKCS7_num(safes.get()); ++i) {
    PKCS7* part = sk_PKCS7_value(safes.get(), i);
    const int kind = OBJ_obj2nid(part->type);
    STACK_OF(PKCS12_SAFEBAG)* bags = nullptr;
    if (kind == NID_pkcs7_data) {
      bags = PKCS12_unpack_p7data(part);
    } else if (kind == NID_pkcs7_encrypted) {
      bags = PKCS12_unpack_p7encdata(part, reader.password.data(),
                                     static_cast<int>(reader.password.size()));
    } else {
      continue;
    }
    if (!bags) return false;
    const bool is_good = reader.read(bags, 0);
    sk_PKCS12_SAFEBAG_pop_free(bags, PKCS12_SAFEBAG_free);
    if (!is_good) return false;
  }
  return true;
}

// Older keytools encrypt with RC2, which OpenSSL keeps in a provider of its own.
void load_legacy_ciphers() {
  static std::once_flag once;
  std::call_once(once, [] {
    OSSL_PROVIDER_load(nullptr, "default");
    OSSL_PROVIDER_load(nullptr, "legacy");
  });
}

Result<TlsStore> read_pkcs12(const TlsFile& file, const std::string& bytes) {
  const auto* at = reinterpret_cast<const unsigned char*>(bytes.data());
  std::unique_ptr<PKCS12, decltype(&PKCS12_free)> p12(
      d2i_PKCS12(nullptr, &at, static_cast<long>(bytes.size())), PKCS12_free);
  if (!p12) return store_failure(file.path, "it is neither a PEM nor a PKCS#12 file");
  if (PKCS12_mac_present(p12.get()) &&
      PKCS12_verify_mac(p12.get(), file.password.data(), static_cast<int>(file.password.size())) !=
          1) {
    return store_failure(file.path,
                         file.password.empty() ? "it needs a password" : "the password is wrong");
  }
  for (int attempt = 0; attempt < 2; ++attempt) {
    TlsStore store;
    store.has_aliases = true;
    BagReader reader{file, file.password, store, {}};
    if (read_safes(p12.get(), reader)) {
      for (TlsKeyEntry& e : reader.keys) MS_TRY(attach_chain(file.path, store, std::move(e)));
      ERR_clear_error();
      return store;
    }
    if (attempt == 0) load_legacy_ciphers();
  }
  return store_failure(file.path, take_openssl_error());
}

// Certificates and revocation lists of all PEM files in a folder; keys that lie beside them are of
// no interest.
Result<TlsStore> read_tls_folder(const std::string& folder) {
  std::unique_ptr<DIR, int (*)(DIR*)> stream(::opendir(folder.c_str()), ::closedir);
  if (!stream) return store_failure(folder, strerror(errno));
  std::string all;
  while (const dirent* entry = ::readdir(stream.get())) {
    if (entry->d_name[0] == '.') continue;
    const std::string path = folder + "/" + entry->d_name;
    struct stat status{};
    if (::stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) continue;
    const std::string text = MS_TRY(read_tls_file(path));
    if (text.find("-----BEGIN ") == std::string::npos) continue;
    if (text.find("PRIVATE KEY-----") != std::string::npos) continue;
    all += text + "\n";
    if (all.size() > kTlsFileBytesMax) return store_failure(folder, "it has more than 16 MiB");
  }
  TlsStore store = MS_TRY(read_pem({folder, "", ""}, all));
  if (store.certificates.empty())
    return store_failure(folder, "it has no PEM file with a certificate");
  return store;
}

}  // namespace

Result<TlsStore> read_tls_store(const TlsFile& file) {
  struct stat status{};
  if (::stat(file.path.c_str(), &status) == 0 && S_ISDIR(status.st_mode)) {
    return read_tls_folder(file.path);
  }
  std::string bytes = MS_TRY(read_tls_file(file.path));
  if (!file.key_path.empty()) bytes += "\n" + MS_TRY(read_tls_file(file.key_path));
  using namespace std::string_view_literals;
  if (begins_with(bytes, "\xFE\xED\xFE\xED"sv) || begins_with(bytes, "\xCE\xCE\xCE\xCE"sv)) {
    const size_t dot = file.path.rfind('.');
    const size_t slash = file.path.rfind('/');
    const bool has_ending = dot != std::string::npos && (slash == std::string::npos || dot > slash);
    const std::string target = file.path.substr(0, has_ending ? dot : file.path.size()) + ".p12";
    return base::make_error(errors::kTlsJavaStore, {file.path, target});
  }
  if (bytes.find("-----BEGIN ") != std::string::npos) return read_pem(file, bytes);
  return read_pkcs12(file, bytes);
}

Result<const TlsKeyEntry*> find_tls_key(const TlsStore& store, const std::string& path,
                                        std::string_view alias) {
  if (store.keys.empty()) return store_failure(path, "it has no private key");
  if (alias.empty() || (!store.has_aliases && store.keys.size() == 1)) return &store.keys.front();
  std::string known;
  for (const TlsKeyEntry& e : store.keys) {
    if (e.alias.size() == alias.size() &&
        strncasecmp(e.alias.data(), alias.data(), alias.size()) == 0) {
      return &e;
    }
    known += (known.empty() ? "" : ", ") + e.alias;
  }
  return store_failure(path,
                       "it has no key with the alias '" + std::string(alias) + "', only " + known);
}

}  // namespace millstream::net
