// The cryptography behind passwords, as an interface, because all use of OpenSSL is in net
// (net/credential_crypto.h) and users are the queue manager's. Thread: any.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace millstream::base {

enum class Digest : uint8_t { kSha256 = 1, kSha512 = 2 };  // the numbers are stored
constexpr size_t digest_size(Digest d) { return d == Digest::kSha256 ? 32 : 64; }

// Memory is 128 * block * 2^log2_cost bytes.
struct ScryptCost {
  uint8_t log2_cost = 15;
  uint8_t block = 8;
  uint8_t parallel = 1;
};

class CredentialCrypto {
 public:
  virtual ~CredentialCrypto() = default;
  // RFC 7914. Slow and hungry on purpose: never on a reactor.
  virtual Status scrypt(std::string_view password, std::string_view salt, const ScryptCost& cost,
                        size_t size, std::string& out) const = 0;
  // RFC 8018 with HMAC; digest_size() bytes. Slow, too.
  virtual Status pbkdf2(Digest digest, std::string_view password, std::string_view salt,
                        uint32_t iterations, std::string& out) const = 0;
  virtual Status hmac(Digest digest, std::string_view key, std::string_view data,
                      std::string& out) const = 0;
  virtual Status hash(Digest digest, std::string_view data, std::string& out) const = 0;
};

// Takes as long for any two texts of the same sizes; sizes are no secret.
inline bool equals_in_constant_time(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  volatile unsigned char differs = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    differs = differs | (static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b[i]));
  }
  return differs == 0;
}

// Overwrites a secret before its memory is given back.
inline void wipe(std::string& secret) {
  volatile char* p = secret.data();
  for (size_t i = 0; i < secret.size(); ++i) p[i] = 0;
  secret.clear();
}

}  // namespace millstream::base
