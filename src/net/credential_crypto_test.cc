#include "net/credential_crypto.h"

#include <doctest/doctest.h>

#include "base/ascii.h"

namespace millstream::net {
namespace {

std::string crypto_hex(const std::string& bytes) {
  std::string out;
  base::append_hex(out, bytes);
  return out;
}

TEST_CASE("credential crypto: the vectors of RFC 7914, 4231 and 6070's successor") {
  const base::CredentialCrypto& c = credential_crypto();
  std::string out;
  REQUIRE(
      c.scrypt("password", "NaCl", {.log2_cost = 10, .block = 8, .parallel = 16}, 64, out).ok());
  CHECK(crypto_hex(out) ==
        "fdbabe1c9d3472007856e7190d01e9fe7c6ad7cbc8237830e77376634b373162"
        "2eaf30d92e22a3886ff109279d9830dac727afb94a83ee6d8360cbdfa2cc0640");
  REQUIRE(c.hmac(base::Digest::kSha256, "Jefe", "what do ya want for nothing?", out).ok());
  CHECK(crypto_hex(out) == "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  REQUIRE(c.hmac(base::Digest::kSha512, "Jefe", "what do ya want for nothing?", out).ok());
  CHECK(crypto_hex(out).substr(0, 32) == "164b7a7bfcf819e2e395fbe73b56e0a3");
  REQUIRE(c.pbkdf2(base::Digest::kSha256, "passwd", "salt", 1, out).ok());  // RFC 7914, 11
  CHECK(crypto_hex(out) == "55ac046e56e3089fec1691c22544b605f94185216dde0465e68b9d57c20dacbc");
  REQUIRE(c.hash(base::Digest::kSha256, "abc", out).ok());
  CHECK(crypto_hex(out) == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  // More memory than is allowed is an error, not a crash.
  CHECK_FALSE(c.scrypt("p", "s", {.log2_cost = 30, .block = 8, .parallel = 1}, 32, out).ok());
}

TEST_CASE("credential crypto: comparison and wiping") {
  CHECK(base::equals_in_constant_time("", ""));
  CHECK(base::equals_in_constant_time("abc", "abc"));
  CHECK_FALSE(base::equals_in_constant_time("abc", "abd"));
  CHECK_FALSE(base::equals_in_constant_time("abc", "ab"));
  CHECK_FALSE(base::equals_in_constant_time(std::string_view("a\0", 2), "a"));
  std::string secret = "secret";
  base::wipe(secret);
  CHECK(secret.empty());
}

}  // namespace
}  // namespace millstream::net
