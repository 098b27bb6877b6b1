// Users of the queue manager, and how their passwords are kept: an scrypt hash for those who send
// the password (over TLS), and SCRAM verifiers beside it for those who prove that they know it.
// Nothing that is kept gives the password back.
//
// Stored as versioned bytes, a record each, under key(). Groups are names that users carry; members
// of `mqm` may do everything. The user `mqm` is the server itself and cannot log in.
// Limits: kUserNameBytesMax, kPasswordBytesMax, kUserGroupsMax, and the costs that decode() takes.
// Thread: any; a User is not changed once it is in a table. make_password() is slow and hungry
// (tens of milliseconds and 32 MB): never on a reactor.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/credential_crypto.h"
#include "base/random.h"
#include "base/result.h"

namespace millstream::queue::security {

constexpr size_t kUserNameBytesMax = 64;
constexpr size_t kPasswordBytesMin = 8;
constexpr size_t kPasswordBytesMax = 256;
constexpr size_t kUserGroupsMax = 100;
constexpr std::string_view kAdministrators = "mqm";

struct PasswordHash {
  base::ScryptCost cost;
  std::string salt;
  std::string hash;
};

struct ScramVerifier {
  base::Digest digest = base::Digest::kSha256;
  uint32_t iterations = 0;
  std::string salt;
  std::string stored_key;
  std::string server_key;
};

struct User {
  std::string name;
  std::vector<std::string> groups;
  std::string description;
  bool is_disabled = false;
  PasswordHash password;
  std::vector<ScramVerifier> scram;  // of each digest one
  int64_t altered_gmt_ms = 0;

  bool is_administrator() const;
  const ScramVerifier* find_scram(base::Digest digest) const;  // null: none

  std::string key() const { return name; }
  std::string encode() const;
  static Result<User> decode(std::string_view bytes);
};

Status check_user_name(std::string_view name);  // of groups too
Status check_new_password(std::string_view password);

struct PasswordCost {
  base::ScryptCost scrypt;
  uint32_t scram_iterations = 65'536;
};
// Replaces hash and verifiers of `user`. The password's rules are checked.
Status make_password(User& user, std::string_view password, const PasswordCost& cost,
                     const base::CredentialCrypto& crypto, base::Random& random);
// Slow, too.
Result<bool> is_password(const PasswordHash& hash, std::string_view password,
                         const base::CredentialCrypto& crypto);
Result<ScramVerifier> make_scram_verifier(base::Digest digest, std::string_view password,
                                          std::string_view salt, uint32_t iterations,
                                          const base::CredentialCrypto& crypto);

// 20 random characters in groups of five: 100 bits.
std::string generate_password(base::Random& random);
// "admin", member of mqm, still without a password: the user that a new server has.
User first_user();

}  // namespace millstream::queue::security
