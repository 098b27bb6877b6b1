#include "net/credential_crypto.h"

#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include "net/errors_gen.h"

namespace millstream::net {
namespace {

// Above what any cost that is accepted needs (queue/security bounds it).
constexpr uint64_t kScryptMemoryMax = 512u << 20;

const EVP_MD* openssl_digest(base::Digest d) {
  return d == base::Digest::kSha256 ? EVP_sha256() : EVP_sha512();
}

Status crypto_failure(const char* function) {
  char text[200];
  ERR_error_string_n(ERR_get_error(), text, sizeof text);
  ERR_clear_error();
  return base::make_error(errors::kCredentialCrypto, {function, text});
}

const unsigned char* bytes_of(std::string_view s) {
  return reinterpret_cast<const unsigned char*>(s.data());
}
unsigned char* bytes_of(std::string& s) { return reinterpret_cast<unsigned char*>(s.data()); }

class OpensslCredentialCrypto final : public base::CredentialCrypto {
 public:
  Status scrypt(std::string_view password, std::string_view salt, const base::ScryptCost& cost,
                size_t size, std::string& out) const override {
    out.resize(size);
    if (EVP_PBE_scrypt(password.data(), password.size(), bytes_of(salt), salt.size(),
                       uint64_t{1} << cost.log2_cost, cost.block, cost.parallel, kScryptMemoryMax,
                       bytes_of(out), size) != 1) {
      return crypto_failure("scrypt");
    }
    return {};
  }

  Status pbkdf2(base::Digest digest, std::string_view password, std::string_view salt,
                uint32_t iterations, std::string& out) const override {
    out.resize(base::digest_size(digest));
    if (PKCS5_PBKDF2_HMAC(password.data(), static_cast<int>(password.size()), bytes_of(salt),
                          static_cast<int>(salt.size()), static_cast<int>(iterations),
                          openssl_digest(digest), static_cast<int>(out.size()),
                          bytes_of(out)) != 1) {
      return crypto_failure("PBKDF2");
    }
    return {};
  }

  Status hmac(base::Digest digest, std::string_view key, std::string_view data,
              std::string& out) const override {
    std::string result(base::digest_size(digest), '\0');
    if (!HMAC(openssl_digest(digest), key.data(), static_cast<int>(key.size()), bytes_of(data),
              data.size(), bytes_of(result), nullptr)) {
      return crypto_failure("HMAC");
    }
    out = std::move(result);
    return {};
  }

  Status hash(base::Digest digest, std::string_view data, std::string& out) const override {
    std::string result(base::digest_size(digest), '\0');
    if (EVP_Digest(data.data(), data.size(), bytes_of(result), nullptr, openssl_digest(digest),
                   nullptr) != 1) {
      return crypto_failure("a digest");
    }
    out = std::move(result);
    return {};
  }
};

}  // namespace

const base::CredentialCrypto& credential_crypto() {
  static const OpensslCredentialCrypto crypto;
  return crypto;
}

}  // namespace millstream::net
